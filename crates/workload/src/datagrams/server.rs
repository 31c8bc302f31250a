//! The end that answers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tcplab_units::Instant;

use super::contents::Contents;
use super::ledger::{Call, Ledger, Made};
use super::mark::DatagramMark;
use super::spec::Datagrams;
use super::want::DatagramWant;
use crate::report::{AppReport, OK, Role};

/// An iterative server: it reads a datagram and answers it, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Server {
    contents: Contents,
    phase: Phase,
    /// The answer at hand.
    datagram: Vec<u8>,
    /// What it has read before: at most as many as the client sends.
    known: BTreeSet<DatagramMark>,
    ledger: Ledger,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Receive,
    Send(DatagramMark),
    Close,
    Over,
}

impl Server {
    pub(super) fn new(spec: &Datagrams, seed: u64) -> Server {
        Server {
            contents: Contents::new(spec, seed),
            phase: if spec.server.is_some() { Phase::Over } else { Phase::Receive },
            datagram: Vec::new(),
            known: BTreeSet::new(),
            ledger: Ledger::new(Role::Receiver, false),
        }
    }

    pub(super) fn want(&mut self, now: Instant) -> DatagramWant<'_> {
        if matches!(self.phase, Phase::Over) {
            return DatagramWant::Nothing;
        }
        self.ledger.begin(now);
        match self.phase {
            Phase::Receive => DatagramWant::Receive(None),
            Phase::Send(_) => DatagramWant::Send(&self.datagram),
            Phase::Close | Phase::Over => DatagramWant::Close,
        }
    }

    pub(super) fn received(&mut self, datagram: &[u8], now: Instant) {
        self.ledger.gave(datagram, now);
        let is_genuine = |mark: &DatagramMark| {
            mark.request > 0 && mark.attempt > 0 && self.contents.request(*mark) == datagram
        };
        let about = match DatagramMark::read(datagram).filter(is_genuine) {
            None => {
                self.ledger.counts.damaged += 1;
                "no request".into()
            }
            Some(mark) => {
                self.phase = Phase::Send(mark);
                self.datagram = self.contents.answer(mark);
                // It cannot know whether its answer to another try arrived.
                let tries = [0, u32::MAX].map(|attempt| DatagramMark { attempt, ..mark });
                let is_repeated = self.known.range(tries[0]..=tries[1]).next().is_some();
                self.ledger.counts.duplicates += u64::from(is_repeated);
                match (self.known.insert(mark), is_repeated) {
                    (true, false) => mark.to_string(),
                    (true, true) => format!("{mark}, asked before"),
                    (false, _) => format!("{mark}, a copy"),
                }
            }
        };
        let bytes = datagram.len();
        let made = Made { bytes, about, ..Made::plain(Call::Receive, OK) };
        self.ledger.returned(made, now);
    }

    pub(super) fn sent(&mut self, now: Instant) {
        self.ledger.took(&self.datagram, now);
        self.answered(OK, self.datagram.len(), now);
    }

    pub(super) fn failed(&mut self, errno: Cow<'static, str>, now: Instant) {
        match self.phase {
            Phase::Send(_) => self.answered(errno, 0, now),
            Phase::Receive => self.ledger.returned(Made::plain(Call::Receive, errno), now),
            Phase::Close | Phase::Over => self.phase = Phase::Over,
        }
    }

    fn answered(&mut self, result: impl Into<Cow<'static, str>>, bytes: usize, now: Instant) {
        let Phase::Send(mark) = self.phase else { return };
        self.phase = Phase::Receive;
        let (asked, about) = (format!("{} B", self.datagram.len()), format!("answer to {mark}"));
        let made = Made { bytes, asked, about, ..Made::plain(Call::Send, result) };
        self.ledger.returned(made, now);
    }

    pub(super) fn did(&mut self, now: Instant) {
        self.ledger.returned(Made::plain(Call::Close, OK), now);
        self.phase = Phase::Over;
    }

    pub(super) fn stop(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            self.ledger.abandon();
            self.phase = Phase::Close;
        }
    }

    pub(super) fn report(&self) -> AppReport {
        self.ledger.report()
    }
}
