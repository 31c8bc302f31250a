//! A segment arrives: whether it is accepted.

use tcplab_units::{Instant, Span};
use tcplab_wire::{SeqNumber, TcpFlags, TcpRepr};

use super::{Connection, ConnectionError, Transmit};
use crate::reset::reset_for;
use crate::state::State;
use crate::{Segment, SendCause};

/// How fast the peer's timestamp clock may be, per second (`tcp_tsval_replay`).
const CLOCK_PER_SECOND: u64 = 1_200;

impl Connection {
    /// A segment arrives. Poll for what is to be sent before the next is handled. Where the machine
    /// has no buffer for it, it is dropped.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if self.output.pool.as_ref().is_some_and(|pool| pool.admit().is_none()) {
            return;
        }
        self.counters.segment_arrived(segment);
        if self.drops_syn_fin(segment) {
            return;
        }
        let freebsd = self.config.freebsd.is_some();
        match self.state {
            State::Closed => {}
            State::TimeWait if freebsd => self.handle_in_time_wait_of_freebsd(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            State::TimeWait => self.handle_in_time_wait(now, segment),
            State::SynReceived => {
                let passes = !freebsd || self.passes_freebsd(now, segment);
                if passes && self.handle_in_syn_received(now, segment) {
                    self.handle_synchronized(now, segment);
                }
            }
            _ => {
                if freebsd && !self.passes_freebsd(now, segment) {
                    return;
                }
                if !self.answers_again(now, segment) && self.validate(now, segment) {
                    self.handle_synchronized(now, segment);
                }
            }
        }
    }

    /// Where one of the peer's numbers stands; 0 is its SYN.
    pub(super) fn peer_position(&self, seq: SeqNumber) -> i64 {
        self.numbers.peer.as_ref().map_or(0, |numbers| numbers.position(seq))
    }

    /// The peer's number at `position`.
    pub(super) fn peer_number(&self, position: u64) -> Option<SeqNumber> {
        self.numbers.peer.as_ref().map(|numbers| numbers.sequence_number(position as i64))
    }

    /// Whether a segment's timestamp is not older than the last, where no connection is open: not
    /// yet, or not any more (`tcp_paws_reject`). One without the option is believed.
    pub(super) fn is_not_older(&self, now: Instant, segment: &Segment) -> bool {
        let stamped = segment.header.timestamps.filter(|_| self.terms.timestamps);
        stamped.is_none_or(|(value, _)| self.timestamps.is_not_older(now, value))
    }

    /// Whether a segment's timestamp is not too old (RFC 7323 section 5.3; a duplicate
    /// acknowledgement is allowed more, `tcp_disordered_ack`). One without the option is believed.
    fn is_fresh(&self, now: Instant, segment: &Segment) -> bool {
        let Some((value, _)) = segment.header.timestamps.filter(|_| self.terms.timestamps) else {
            return true;
        };
        if self.timestamps.accepts(now, value) {
            return true;
        }
        let header = &segment.header;
        let in_place = segment.is_empty()
            && header.flags.without(TcpFlags::PSH | TcpFlags::ECE | TcpFlags::CWR) == TcpFlags::ACK
            && self.peer_position(header.seq) == self.receiver.next() as i64;
        let duplicate = in_place
            && self.numbers.own.position(header.ack) == self.sender.una() as i64
            && self.window_of(header) == self.sender.peer_window();
        let replay = self.sender_rto().as_micros() * CLOCK_PER_SECOND / 1_000_000;
        duplicate && i64::from(self.timestamps.behind(value)) <= replay as i64
    }

    /// The sender's timeout; before there is one, that of the handshake.
    pub(super) fn sender_rto(&self) -> Span {
        if self.state.is_synchronized() { self.sender.rto() } else { self.handshake.timeout }
    }

    /// The window that a segment offers, bytes.
    pub(super) fn window_of(&self, header: &TcpRepr) -> u64 {
        let scale = if header.flags.contains(TcpFlags::SYN) { 0 } else { self.terms.peer_scale };
        u64::from(header.window) << scale
    }

    /// Whether a segment may be worked on (`tcp_validate_incoming`; RFC 9293 section 3.10.7.4,
    /// first to fourth). What may not is answered here.
    fn validate(&mut self, now: Instant, segment: &Segment) -> bool {
        let header = &segment.header;
        let flags = header.flags;
        let (resets, syn) = (flags.contains(TcpFlags::RST), flags.contains(TcpFlags::SYN));
        let known = TcpFlags::ACK | TcpFlags::RST | TcpFlags::SYN;
        if flags.without(known) == flags {
            return false;
        }
        let start = self.peer_position(header.seq);
        let fin = flags.contains(TcpFlags::FIN);
        let controls = u32::from(syn) + u32::from(fin);
        let end = start + i64::from(segment.len() + controls);
        // A RST counts even if it is old.
        if !resets && !self.is_fresh(now, segment) {
            self.answer_unacceptable(now, segment, start, end);
            return false;
        }
        let acceptable = match (u64::try_from(start), u64::try_from(end)) {
            (Ok(start), Ok(end)) => self.receiver.is_acceptable(start, end, fin),
            (Err(_), Ok(end)) => self.receiver.is_acceptable(0, end, fin),
            _ => false,
        };
        if resets {
            self.handle_reset(now, start, acceptable);
            return false;
        }
        if !acceptable {
            self.answer_unacceptable(now, segment, start, end);
            return false;
        }
        if syn {
            // RFC 5961 section 4.2.
            self.reflect_syn(segment);
            self.challenge(now);
            self.handshake.reflects = false;
            return false;
        }
        if let Some(numbers) = &mut self.numbers.peer {
            numbers.advance(header.seq);
        }
        true
    }

    /// A segment that is too old or out of the window is answered with an ACK, which a SYN and
    /// bare acknowledgements cannot make leave more often than challenges may
    /// (`tcp_send_dupack`, `tcp_oow_rate_limited`).
    fn answer_unacceptable(&mut self, now: Instant, segment: &Segment, start: i64, end: i64) {
        if segment.header.flags.contains(TcpFlags::SYN) {
            self.challenge(now);
            return;
        }
        if start == end && !self.may_challenge(now) {
            return;
        }
        if let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(end)) {
            self.note_repeated(start);
            self.receiver.answer_unacceptable(start, end);
        }
        self.send_ack(now, SendCause::DuplicateAck);
    }

    /// A RST: only one that could not be guessed breaks the connection off (RFC 5961 section 3.2;
    /// `tcp_reset_check` for peers that send FIN and RST with one number).
    fn handle_reset(&mut self, now: Instant, start: i64, acceptable: bool) {
        let next = self.receiver.next() as i64;
        let closed = matches!(self.state, State::CloseWait | State::LastAck | State::Closing);
        let exact = acceptable && start == next
            || closed && start == next - 1
            || acceptable
                && self.receiver.sack
                && self.receiver.highest_block().is_some_and(|highest| highest as i64 == start);
        if exact {
            self.fail(now, self.error_of_reset());
        } else if acceptable {
            self.challenge(now);
        }
    }

    /// The error that a reset leaves (`tcp_reset`).
    pub(super) fn error_of_reset(&self) -> ConnectionError {
        match self.state {
            State::CloseWait => ConnectionError::BrokenPipe,
            _ => ConnectionError::Reset,
        }
    }

    /// Answers a possible attack (RFC 5961 section 7).
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.may_challenge(now) {
            self.send_ack(now, SendCause::ChallengeAck);
        }
    }

    /// Whether the last such answer was long enough ago (`__tcp_oow_rate_limited`).
    pub(super) fn may_challenge(&mut self, now: Instant) -> bool {
        let now = self.timers.jiffies.now(now);
        let interval = self.config.handshake.challenge_ack_interval;
        let allowed = self.timers.last_challenge.is_none_or(|last| now.since(last) >= interval);
        if allowed {
            self.timers.last_challenge = Some(now);
        }
        allowed
    }

    /// Answers `segment` with a RST.
    pub(super) fn send_reset_for(&mut self, segment: &Segment) {
        if let Some(reset) = reset_for(segment) {
            self.counters.segments_out += 1;
            self.output.queue.push_back(Transmit::single(reset, SendCause::ResetAnswer));
        }
    }
}
