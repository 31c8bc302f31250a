//! One connection of a host, from its plan to its end.

use std::collections::VecDeque;

use tcplab_recording::GuestReport;
use tcplab_scenario::PlannedConnection;
use tcplab_units::{Endpoint, Instant};

use super::super::guest::FromGuest;
use crate::calls::Driven;
use crate::host::Host;
use crate::packets::{self, ADDRESSES, Address};

/// One end of a connection, begun or not.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) host: Host,
    /// Where the other end is.
    pub(super) peer: Address,
    /// Its time, unless it waits for the place of another.
    pub(super) start: Option<Instant>,
    /// The client's port.
    pub(super) port: u16,
    pub(super) phase: Phase,
    /// Whether its acceptance or its failure was reported.
    is_accepted: bool,
    has_failed: bool,
    /// When its timers are due.
    pub(super) timer: Option<Instant>,
}

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has not begun.
    Planned,
    /// Its application runs.
    Begun,
    /// Its end was reported, even if it had not begun.
    Ended,
    /// Its place is given away.
    Replaced,
}

impl Slot {
    pub(super) fn new(host: Host, planned: &PlannedConnection, end: Endpoint) -> Slot {
        let other = end.other().index();
        Slot {
            host,
            peer: Address { ip: ADDRESSES[other], port: planned.ports[other] },
            start: planned.start,
            port: planned.ports[0],
            phase: Phase::Planned,
            is_accepted: false,
            has_failed: false,
            timer: None,
        }
    }

    /// Runs its application; what its stack sends goes into `sent`.
    pub(super) fn serve(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        self.host.drive(now);
        loop {
            self.transmit(now, sent);
            // An application that waits for room continues once all that can has left.
            if self.host.drive(now) != Driven::Returned {
                break;
            }
        }
    }

    /// What its stack sends goes into `sent`.
    pub(super) fn transmit(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        while let Some((segment, _, marking)) = self.host.poll_transmit(now) {
            let mut packet = Vec::new();
            packets::write(&segment, [self.host.address, self.peer], marking, &mut packet);
            sent.push_back((now, FromGuest::Packet(packet)));
        }
    }

    /// Nobody will connect to it any more.
    pub(super) fn give_up(&mut self) {
        if self.host.calls.connected.is_none() {
            self.host.calls.is_over = true;
        }
    }

    /// Whether its application is done, and, where its calls may not fail, its connection needs the
    /// path no more: a FIN that was lost is still retransmitted.
    fn is_over(&self) -> bool {
        let Slot { host, .. } = self;
        // An absent server does nothing. One that waits for a client is not done.
        let is_done = host.calls.is_over || (self.phase == Phase::Begun && host.absent.is_some());
        is_done && (host.may_fail() || host.is_over())
    }

    /// What happened to it that was not reported, by its number in the plan.
    pub(super) fn report(&mut self, nth: usize, end: Endpoint) -> Option<GuestReport> {
        let was_connected = self.host.calls.connected.is_some();
        if was_connected && end == Endpoint::Server && !self.is_accepted {
            self.is_accepted = true;
            return Some(GuestReport::Accepted(nth));
        }
        if !self.has_failed
            && !self.host.calls.is_over
            && let Some(error) = self.host.error().filter(|_| self.host.has_failed())
        {
            self.has_failed = true;
            let message = format!("its connection was lost: {error}");
            return Some(GuestReport::Failed { message, remedy: None });
        }
        let has_ended = matches!(self.phase, Phase::Ended | Phase::Replaced);
        if !has_ended && self.is_over() {
            self.phase = Phase::Ended;
            return Some(GuestReport::Ended { nth, was_connected });
        }
        None
    }

    /// Gives its place away, once: whether it was free.
    pub(super) fn yield_place(&mut self) -> bool {
        let is_free = self.phase == Phase::Ended && self.host.is_over();
        if is_free {
            self.phase = Phase::Replaced;
        }
        is_free && !self.host.has_failed()
    }

    /// Whether its application has a log: it has begun, or waited for a place.
    pub(super) fn is_logged(&self) -> bool {
        self.phase != Phase::Planned || self.start.is_none()
    }
}
