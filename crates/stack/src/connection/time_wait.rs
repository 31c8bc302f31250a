//! TIME-WAIT: segments that still arrive.

use tcplab_units::Instant;
use tcplab_wire::{SeqNumber, TcpFlags};

use super::Connection;
use crate::state::State;
use crate::{Segment, SendCause};

/// How far above the last number of a connection in TIME-WAIT its successor begins: the largest
/// window without scale, and two (`tcp_timewait_state_process`).
const ABOVE_OLD: u32 = 65_535 + 2;

impl Connection {
    pub(super) fn begin_time_wait(&mut self, now: Instant) {
        self.buffer.clear();
        self.timers.over_at =
            Some(self.timers.jiffies.deadline(now, self.config.handshake.time_wait));
    }

    /// Whether a segment that arrives in TIME-WAIT begins a new connection: a SYN above all that
    /// arrived, or with a newer timestamp (RFC 9293 section 3.10.7.4, RFC 6191,
    /// `tcp_timewait_state_process`; `tcp_twcheck`). Where somebody listens, this one then gives
    /// way: [`Connection::give_way`].
    pub fn gives_way(&self, now: Instant, segment: &Segment) -> bool {
        let header = &segment.header;
        let controls = TcpFlags::SYN | TcpFlags::ACK | TcpFlags::RST;
        let opens = header.flags.without(header.flags.without(controls)) == TcpFlags::SYN;
        let is_above = self.peer_position(header.seq) > self.receiver.next() as i64;
        let is_newer = match header.timestamps.filter(|_| self.terms.timestamps) {
            Some((value, _)) if self.config.freebsd.is_none() => self.timestamps.behind(value) < 0,
            _ => false,
        };
        self.state == State::TimeWait
            && opens
            && (is_above || is_newer)
            && (self.config.freebsd.is_some() || self.is_not_older(now, segment))
            && !self.drops_syn_fin(segment)
    }

    /// Ends in favour of a new connection between the same ports. What the initial sequence number
    /// of that is to be, so that it is above all numbers of this one (RFC 1122 section 4.2.2.13);
    /// `None`: any (FreeBSD).
    pub fn give_way(&mut self, now: Instant) -> Option<SeqNumber> {
        let next = self.numbers.own.sequence_number(self.sent() as i64);
        self.enter(now, State::Closed);
        self.config.freebsd.is_none().then(|| next.advanced_by(ABOVE_OLD))
    }

    /// `tcp_timewait_state_process`.
    pub(super) fn handle_in_time_wait(&mut self, now: Instant, segment: &Segment) {
        let header = &segment.header;
        let flags = header.flags;
        let fresh = self.is_not_older(now, segment);
        let resets = flags.contains(TcpFlags::RST);
        let controls = TcpFlags::SYN | TcpFlags::FIN;
        let bare = segment.is_empty() && flags.without(controls) == flags;
        let in_place = self.peer_position(header.seq) == self.receiver.next() as i64;
        if fresh && in_place && (bare || resets) {
            if resets {
                // RFC 1337 would ignore it; Linux does not by default (`tcp_rfc1337`).
                self.enter(now, State::Closed);
            } else {
                self.begin_time_wait(now);
                if let Some((value, _)) = header.timestamps.filter(|_| self.terms.timestamps) {
                    self.timestamps.hear(now, value);
                }
            }
            return;
        }
        if resets {
            return;
        }
        // A SYN without ACK may be an old one: it does not prolong anything.
        if !fresh || flags.contains(TcpFlags::ACK) {
            self.begin_time_wait(now);
        }
        if !bare && !flags.contains(TcpFlags::SYN) || self.may_challenge(now) {
            self.send_ack(now, SendCause::Ack);
        }
    }
}
