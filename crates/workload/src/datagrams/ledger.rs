//! What one end writes down of its calls and datagrams.

use std::borrow::Cow;

use tcplab_units::Instant;

use crate::log::{Log, Returned};
use crate::report::{AppReport, DatagramReport, OK, Role};
use crate::stream::{self, Stream};

/// The calls that an end makes; as steps of a program, for the log.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    Connect,
    Send,
    Receive,
    Close,
}

/// A call that has returned, and what it was about.
pub(super) struct Made {
    pub(super) call: Call,
    pub(super) result: Cow<'static, str>,
    pub(super) bytes: usize,
    pub(super) asked: String,
    pub(super) about: String,
}

impl Made {
    pub(super) fn plain(call: Call, result: impl Into<Cow<'static, str>>) -> Made {
        Made { call, result: result.into(), bytes: 0, asked: String::new(), about: String::new() }
    }
}

/// The log of an end and its sums.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    role: Role,
    connected: bool,
    log: Log,
    written: Stream,
    read: Stream,
    pub(super) started: Option<Instant>,
    finished: Option<Instant>,
    /// When the call began that has not returned.
    call: Option<Instant>,
    pub(super) counts: DatagramReport,
}

impl Ledger {
    pub(super) fn new(role: Role, connected: bool) -> Ledger {
        Ledger {
            role,
            connected,
            log: Log::default(),
            written: Stream::new(),
            read: Stream::new(),
            started: None,
            finished: None,
            call: None,
            counts: DatagramReport::default(),
        }
    }

    /// A call begins, if it has not.
    pub(super) fn begin(&mut self, now: Instant) {
        self.started.get_or_insert(now);
        self.call.get_or_insert(now);
    }

    /// The call at hand never returns.
    pub(super) fn abandon(&mut self) {
        self.call = None;
    }

    /// When the call at hand began.
    pub(super) fn began(&self, now: Instant) -> Instant {
        self.call.unwrap_or(now)
    }

    pub(super) fn took(&mut self, datagram: &[u8], now: Instant) {
        self.counts.sent += 1;
        self.written.moved(datagram, now, false);
    }

    pub(super) fn gave(&mut self, datagram: &[u8], now: Instant) {
        self.counts.received += 1;
        self.read.moved(datagram, now, false);
    }

    /// The call at hand has returned.
    pub(super) fn returned(&mut self, made: Made, now: Instant) {
        let Made { call, result, bytes, asked, about } = made;
        let began = self.call.take().unwrap_or(now);
        if matches!(call, Call::Close) && result == OK {
            self.finished = Some(now);
        }
        let name = match (call, self.connected) {
            (Call::Connect, _) => "connect",
            (Call::Send, false) => "sendto",
            (Call::Send, true) => "send",
            (Call::Receive, false) => "recvfrom",
            (Call::Receive, true) => "recv",
            (Call::Close, _) => "close",
        };
        // Each datagram has a row of its own, as long as there is room.
        let step = self.log.own_step(call as usize);
        let bytes = bytes as u64;
        self.log.write_about(
            Returned { step, call: name, result, bytes, began, ended: now },
            about,
            || asked,
        );
    }

    pub(super) fn report(&self) -> AppReport {
        AppReport {
            started: self.started,
            finished: self.finished,
            log: self.log.rows(),
            datagrams: Some(self.counts.clone()),
            ..stream::report(self.role, &self.written, &self.read)
        }
    }
}
