//! The end that asks.

use std::borrow::Cow;

use tcplab_units::Instant;

use super::contents::Contents;
use super::ledger::{Call, Ledger, Made};
use super::mark::DatagramMark;
use super::spec::Datagrams;
use super::spec::after;
use super::want::DatagramWant;
use crate::report::{AppReport, Exchange, OK, RequestReport, Role};

/// A client that asks one thing after the other.
#[derive(Debug, Clone)]
pub(super) struct Client {
    spec: Datagrams,
    contents: Contents,
    phase: Phase,
    /// The datagram at hand.
    datagram: Vec<u8>,
    /// Whether sending the try at hand has failed before.
    has_failed: bool,
    requests: Vec<RequestReport>,
    ledger: Ledger,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Connect,
    /// Until the next request is due.
    Pause(Instant),
    /// The next try of the request at hand.
    Send,
    /// Its answer, until then.
    Await(Instant),
    Close,
    Over,
}

impl Client {
    pub(super) fn new(spec: &Datagrams, seed: u64) -> Client {
        Client {
            spec: spec.clone(),
            contents: Contents::new(spec, seed),
            phase: if spec.connected { Phase::Connect } else { Phase::Pause(Instant::ZERO) },
            datagram: Vec::new(),
            has_failed: false,
            requests: Vec::new(),
            ledger: Ledger::new(Role::Sender, spec.connected),
        }
    }

    pub(super) fn want(&mut self, now: Instant) -> DatagramWant<'_> {
        if let Phase::Pause(until) = self.phase {
            if until > now {
                return DatagramWant::Sleep(until);
            }
            self.requests.push(RequestReport { asked: now, ..RequestReport::default() });
            self.prepare();
        }
        if matches!(self.phase, Phase::Over) {
            return DatagramWant::Nothing;
        }
        self.ledger.begin(now);
        match self.phase {
            Phase::Connect => DatagramWant::Connect,
            Phase::Send => DatagramWant::Send(&self.datagram),
            Phase::Await(until) => DatagramWant::Receive(Some(until)),
            Phase::Pause(_) | Phase::Close | Phase::Over => DatagramWant::Close,
        }
    }

    /// The next try of the last request is to be sent.
    fn prepare(&mut self) {
        self.phase = Phase::Send;
        self.has_failed = false;
        self.datagram = self.contents.request(self.mark());
    }

    /// The mark of the try that is to be sent.
    fn mark(&self) -> DatagramMark {
        DatagramMark { request: self.requests.len() as u32, attempt: self.tries() + 1 }
    }

    /// How often the request at hand was sent.
    fn tries(&self) -> u32 {
        self.requests.last().map_or(0, |request| request.tries.len() as u32)
    }

    pub(super) fn sent(&mut self, now: Instant) {
        let about = self.mark().to_string();
        let began = self.ledger.began(now);
        let Some(request) = self.requests.last_mut() else { return };
        if request.tries.is_empty() {
            request.asked = began;
        }
        request.tries.push(now);
        let wait = self.spec.wait(request.tries.len() as u32);
        self.phase = Phase::Await(after(now, wait));
        self.ledger.took(&self.datagram, now);
        let bytes = self.datagram.len();
        let made = Made { call: Call::Send, result: OK.into(), bytes, asked: self.size(), about };
        self.ledger.returned(made, now);
    }

    /// What a call that sends is asked for.
    fn size(&self) -> String {
        self.spec.request.to_string()
    }

    /// What a call that waits is asked for.
    fn patience(&self) -> String {
        self.spec.wait(self.tries()).to_string()
    }

    pub(super) fn received(&mut self, datagram: &[u8], now: Instant) {
        self.ledger.gave(datagram, now);
        let at_hand = self.requests.len();
        let mark = DatagramMark::read(datagram).filter(|mark| self.is_genuine(*mark, datagram));
        let about = match mark {
            None => {
                self.ledger.counts.damaged += 1;
                "no answer to anything".into()
            }
            Some(mark) => {
                let number = mark.request as usize;
                let request = &mut self.requests[number - 1];
                if request.answered.is_some() {
                    request.duplicates += 1;
                    self.ledger.counts.duplicates += 1;
                    format!("one more answer to {mark}")
                } else if number < at_hand {
                    request.late += 1;
                    self.ledger.counts.late += 1;
                    format!("late answer to {mark}")
                } else {
                    request.answered = Some(now);
                    request.answer_to = Some(mark.attempt);
                    format!("answer to {mark}")
                }
            }
        };
        let (bytes, asked) = (datagram.len(), self.patience());
        self.ledger
            .returned(Made { call: Call::Receive, result: OK.into(), bytes, asked, about }, now);
        if self.requests.last().is_some_and(|request| request.answered.is_some()) {
            self.go_on(now);
        }
    }

    /// Whether it answers a try that was made, byte by byte.
    fn is_genuine(&self, mark: DatagramMark, datagram: &[u8]) -> bool {
        let number = mark.request as usize;
        let asked = number.checked_sub(1).and_then(|index| self.requests.get(index));
        asked.is_some_and(|it| (1..=it.tries.len()).contains(&(mark.attempt as usize)))
            && self.contents.answer(mark) == datagram
    }

    /// The request at hand is over.
    fn go_on(&mut self, now: Instant) {
        let done = self.requests.len() as u64;
        self.phase = if done >= self.spec.count {
            Phase::Close
        } else {
            let first = self.ledger.started.unwrap_or(now);
            Phase::Pause(self.spec.next(done, first, now))
        };
    }

    pub(super) fn did(&mut self, now: Instant) {
        let (call, next) = match self.phase {
            Phase::Connect => (Call::Connect, Phase::Pause(now)),
            _ => (Call::Close, Phase::Over),
        };
        self.ledger.returned(Made::plain(call, OK), now);
        self.phase = next;
    }

    pub(super) fn failed(&mut self, errno: Cow<'static, str>, now: Instant) {
        match self.phase {
            Phase::Connect => {
                self.ledger.returned(Made::plain(Call::Connect, errno), now);
                self.phase = Phase::Close;
            }
            Phase::Send => {
                // The next call on a socket returns its pending error, whatever that call is for;
                // what it was to send, it has not sent then (`sock_alloc_send_pskb`).
                let about = self.mark().to_string();
                let made =
                    Made { asked: self.size(), about, ..Made::plain(Call::Send, errno.clone()) };
                self.ledger.returned(made, now);
                if std::mem::replace(&mut self.has_failed, true) {
                    self.give_up(&errno, now);
                }
            }
            Phase::Await(_) => {
                let (request, attempt) = (self.requests.len() as u32, self.tries());
                let about = format!("no answer to {}", DatagramMark { request, attempt });
                let asked = self.patience();
                let made = Made { asked, about, ..Made::plain(Call::Receive, errno.clone()) };
                self.ledger.returned(made, now);
                if errno != "EAGAIN" {
                    self.give_up(&errno, now);
                } else if self.tries() <= self.spec.retries {
                    self.prepare();
                } else {
                    self.go_on(now);
                }
            }
            Phase::Pause(_) | Phase::Close | Phase::Over => self.phase = Phase::Over,
        }
    }

    /// There is no server to answer.
    fn give_up(&mut self, errno: &str, now: Instant) {
        if let Some(request) = self.requests.last_mut() {
            request.error = Some(errno.into());
        }
        self.go_on(now);
    }

    pub(super) fn report(&self) -> AppReport {
        let mut report = self.ledger.report();
        let exchange =
            |request: &RequestReport| Exchange { asked: request.asked, answered: request.answered };
        report.exchanges = self.requests.iter().map(exchange).collect();
        if let Some(counts) = &mut report.datagrams {
            counts.requests.clone_from(&self.requests);
        }
        report
    }
}
