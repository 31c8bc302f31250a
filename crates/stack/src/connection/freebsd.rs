//! What FreeBSD does otherwise with segments that are out of place.

use tcplab_units::Instant;
use tcplab_wire::{OptionLayout, TcpFlags};

use super::{Connection, ConnectionError};
use crate::state::State;
use crate::{Segment, SendCause};

impl Connection {
    pub(super) fn option_layout(&self) -> OptionLayout {
        match self.config.freebsd {
            Some(_) => OptionLayout::FreeBsd,
            None => OptionLayout::Linux,
        }
    }

    /// The receive buffer becomes whole segments, options counted among their bytes (`tcp_mss`).
    pub(super) fn round_buffer_up(&mut self) {
        if self.config.freebsd.is_some() {
            let mss = self.terms.sending_mss + self.terms.options_len();
            self.receiver.window.round_buffer_up(mss);
        }
    }

    /// Whether a segment with SYN and FIN is dropped (`drop_synfin`).
    pub(super) fn drops_syn_fin(&self, segment: &Segment) -> bool {
        self.config.freebsd.as_ref().is_some_and(|rules| rules.drop_synfin && has_both(segment))
    }

    /// Whether a segment is neither a RST nor a SYN out of its place; one that is, is answered here
    /// (`tcp_do_segment` with RFC 5961 or, where the settings say so, RFC 793;
    /// `syncache_chkrst` for a connection of a listening socket).
    pub(super) fn passes_freebsd(&mut self, now: Instant, segment: &Segment) -> bool {
        let Some(rules) = self.config.freebsd.clone() else { return true };
        let flags = segment.header.flags;
        let embryonic = self.state == State::SynReceived && !self.handshake.is_active;
        let start = self.peer_position(segment.header.seq);
        let acknowledged = self.receiver.window.updated_at as i64;
        let window = match self.state {
            State::SynReceived if embryonic => self.receiver.window.offered,
            _ => self.receiver.room(),
        };
        let inside = (acknowledged..acknowledged + window as i64).contains(&start)
            || window == 0 && start == acknowledged;
        if flags.contains(TcpFlags::RST) {
            if !inside {
                return false;
            }
            if rules.insecure_rst || start == acknowledged {
                self.reset_by_peer(now, embryonic);
            } else {
                self.send_ack(now, SendCause::ChallengeAck);
            }
            return false;
        }
        if flags.contains(TcpFlags::SYN) && self.state.is_synchronized() {
            if rules.insecure_syn && inside {
                self.send_reset(now);
                self.fail(now, ConnectionError::Reset);
            } else {
                self.send_ack(now, SendCause::ChallengeAck);
            }
            return false;
        }
        true
    }

    /// Whether an ACK carries the FIN once more that was sent and is not acknowledged
    /// (`tcp_output`: the flags of the state go with every segment).
    pub(super) fn repeats_fin(&self, cause: SendCause) -> bool {
        let closing = matches!(self.state, State::FinWait1 | State::Closing | State::LastAck);
        let sent = self.sender.sent() == self.stream().end;
        self.config.freebsd.is_some() && cause != SendCause::ChallengeAck && closing && sent
    }

    /// Whether the handshake of a client has lasted as long as it may (`keepinit`).
    pub(super) fn is_handshake_over(&self, now: Instant) -> bool {
        let most = self.config.freebsd.as_ref().map(|rules| rules.keep_init);
        let sent = self.handshake.sent;
        self.handshake.is_active && most.is_some_and(|most| now.since(sent) >= most)
    }

    /// The timer of the handshake expires when it has lasted as long as it may, at the latest.
    pub(super) fn end_handshake_in_time(&mut self) {
        if let Some(rules) = &self.config.freebsd {
            let end = self.timers.jiffies.deadline(self.handshake.sent, rules.keep_init);
            self.handshake.retransmit_at =
                Instant::earlier(self.handshake.retransmit_at, Some(end));
        }
    }

    fn reset_by_peer(&mut self, now: Instant, embryonic: bool) {
        match self.state {
            State::SynReceived if embryonic => self.enter(now, State::Closed),
            State::SynReceived => self.fail(now, ConnectionError::Refused),
            _ => self.fail(now, ConnectionError::Reset),
        }
    }

    /// `tcp_twcheck`: a RST is ignored (RFC 1337), and what has no ACK; a FIN prolongs the state;
    /// all but a bare acknowledgement in its place is acknowledged.
    pub(super) fn handle_in_time_wait_of_freebsd(&mut self, now: Instant, segment: &Segment) {
        let header = &segment.header;
        if header.flags.contains(TcpFlags::RST) || !header.flags.contains(TcpFlags::ACK) {
            return;
        }
        let next = self.receiver.next() as i64;
        let start = self.peer_position(header.seq);
        if header.flags.contains(TcpFlags::FIN) && start + i64::from(segment.len()) + 1 == next {
            self.begin_time_wait(now);
        }
        let bare = header.flags == TcpFlags::ACK && segment.is_empty();
        let acks_all = self.numbers.own.position(header.ack) == self.sent() as i64;
        if !(bare && acks_all && start == next) {
            self.send_ack(now, SendCause::Ack);
        }
    }
}

fn has_both(segment: &Segment) -> bool {
    segment.header.flags.contains(TcpFlags::SYN | TcpFlags::FIN)
}
