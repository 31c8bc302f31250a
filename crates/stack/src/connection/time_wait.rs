//! TIME-WAIT: what still arrives, and when the addresses may be used again.

use tcplab_units::{Instant, Span};
use tcplab_wire::{SeqNumber, TcpFlags};

use super::Connection;
use crate::state::State;
use crate::{Segment, SendCause};

/// How far beyond the last number a connection begins that takes the place of one in TIME-WAIT
/// (`tcp_timewait_state_process`, `tcp_twsk_unique`): a window, and SYN and FIN.
const BEYOND: u32 = 65_535 + 2;

/// A client may use the addresses again only if its timestamp clock has moved on for certain
/// (RFC 6191 section 2, `tcp_tw_reuse`).
const CLOCK_MOVED: Span = Span::from_secs(1);

/// With what a connection may take the place of one in TIME-WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reuse {
    /// Its initial sequence number.
    pub initial_sequence: SeqNumber,
    /// The peer's clock as last received, and when.
    pub recent_timestamp: Option<(u32, Instant)>,
}

impl Connection {
    /// Whether a SYN that arrives in TIME-WAIT may open a new connection: it does not if it could
    /// be an old one (RFC 9293 section 3.6.1, RFC 6191 section 2). If it may, drop this one, and
    /// hand the SYN to whoever listens.
    pub fn may_be_reopened_by(&self, now: Instant, syn: &Segment) -> Option<Reuse> {
        let header = &syn.header;
        let others = TcpFlags::ACK | TcpFlags::RST;
        let is_syn =
            header.flags.contains(TcpFlags::SYN) && header.flags.without(others) == header.flags;
        if self.state != State::TimeWait || !is_syn || !self.is_fresh(now, syn) {
            return None;
        }
        let later = self.peer_position(header.seq) > self.receiver.next() as i64;
        let clock_moved = header
            .timestamps
            .filter(|_| self.terms.timestamps)
            .is_some_and(|(value, _)| self.timestamps.behind(value) < 0);
        (later || clock_moved).then(|| self.reuse())
    }

    /// Whether, while this one is in TIME-WAIT, a new connection to the same peer may be opened
    /// from the same addresses (`tcp_tw_reuse`, RFC 6191).
    pub fn may_be_reused(&self, now: Instant) -> Option<Reuse> {
        let heard = self.timestamps.heard_at().filter(|_| self.terms.timestamps)?;
        let moved = now.since(heard) > CLOCK_MOVED;
        (self.state == State::TimeWait && moved).then(|| self.reuse())
    }

    fn reuse(&self) -> Reuse {
        let last = self.numbers.own.sequence_number(self.sent() as i64);
        Reuse {
            initial_sequence: last.advanced_by(BEYOND),
            recent_timestamp: self.timestamps.recent().zip(self.timestamps.heard_at()),
        }
    }

    /// An earlier connection between the same addresses received the peer's clock: nothing older is
    /// accepted.
    pub fn remember_timestamp(&mut self, recent: Option<(u32, Instant)>) {
        if self.state == State::SynSent && self.terms.timestamps {
            self.timestamps.remember(recent);
        }
    }

    pub(super) fn begin_time_wait(&mut self, now: Instant) {
        self.buffer.clear();
        self.timers.over_at =
            Some(self.timers.jiffies.deadline(now, self.config.handshake.time_wait));
    }

    /// `tcp_timewait_state_process`.
    pub(super) fn handle_in_time_wait(&mut self, now: Instant, segment: &Segment) {
        let header = &segment.header;
        let flags = header.flags;
        let fresh = self.is_fresh(now, segment);
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
