//! Fast Open (RFC 7413): a handshake that carries data.

use tcplab_units::Instant;
use tcplab_wire::{TcpFlags, TcpRepr};

use super::Connection;
use super::parts::Fast;
use crate::fast_open::{FastClient, FastLesson};
use crate::segment::Offered;
use crate::send_buffer::Manner;
use crate::{Segment, SendCause};

impl Connection {
    /// What goes with the SYN: a cookie, and as much data as there is room for.
    pub(super) fn take_fast(&mut self, client: &FastClient) {
        let len = client.data.len();
        let mut with_syn = 0;
        while with_syn < len {
            let offered = Offered::Shared(&client.data);
            let manner =
                Manner { sent: 1, mss: len, goal: len, more: false, goes_on: with_syn > 0 };
            let taken = self.buffer.append(offered, with_syn, manner);
            if taken == 0 {
                break;
            }
            with_syn += taken;
        }
        self.writer.pushed_to = self.buffer.end();
        let (cookie, more) = (client.cookie, client.more);
        self.handshake.fast = Fast { cookie, with_syn, more, ..Fast::default() };
    }

    /// What the SYN-ACK taught about the server, once.
    pub fn take_fast_lesson(&mut self) -> Option<FastLesson> {
        self.handshake.fast.lesson.take()
    }

    /// Whether data was taken with the SYN, and the handshake is not over.
    pub fn is_opening_fast(&self) -> bool {
        self.handshake.fast.pending
    }

    /// The SYN-ACK acknowledges `position`: what of the data arrived with the SYN, and what is to
    /// be remembered (`tcp_rcv_fastopen_synack`). Data that did not arrive is retransmitted at
    /// once.
    pub(super) fn hear_fast_answer(&mut self, now: Instant, syn_ack: &Segment, position: u64) {
        let header = &syn_ack.header;
        let fast = &mut self.handshake.fast;
        if fast.cookie.is_none() && fast.with_syn == 0 {
            return;
        }
        let all = position == 1 + u64::from(fast.with_syn);
        fast.taken = all && fast.with_syn > 0;
        let asked = fast.cookie;
        let given = header.fast_open.filter(|given| asked.is_some() && !given.is_request());
        let answered = fast.with_syn == 0 && self.handshake.retransmissions == 0;
        // FreeBSD: unless the data was taken (`tcp_fastopen_disable_path`).
        let refused = if self.config.freebsd.is_some() { !fast.taken } else { answered };
        let in_vain = given.is_none() && refused;
        self.handshake.fast.lesson = Some(FastLesson {
            mss: header.mss.unwrap_or(super::opening::DEFAULT_MSS as u16),
            cookie: given,
            refused: asked.filter(|_| in_vain).map(|cookie| cookie.is_experimental()),
        });
        self.buffer.release(position);
        self.counters.bytes_acked += position - 1;
        if all {
            self.take_data_of_syn(now, syn_ack);
        }
    }

    /// Data that came with the peer's SYN (`tcp_fastopen_add_skb`).
    pub(super) fn take_data_of_syn(&mut self, now: Instant, syn: &Segment) {
        let fin = syn.header.flags.contains(TcpFlags::FIN);
        if syn.is_empty() && !fin {
            return;
        }
        let closed = self.receiver.take_with_syn(&syn.data, fin);
        self.counters.bytes_received += u64::from(syn.len());
        self.handshake.fast.taken |= !self.handshake.is_active;
        if closed {
            self.handle_fin(now);
        }
    }

    /// The first acknowledgement of a connection that took data with the SYN
    /// (`tcp_rcv_synrecv_state_fastopen`).
    pub(super) fn finish_fast_handshake(&mut self, now: Instant, header: &TcpRepr) {
        if !std::mem::take(&mut self.handshake.fast.pending) {
            return;
        }
        let rtt = self.finish_handshake(now, header.timestamps);
        self.sender.hear_handshake(now, rtt);
        self.sender.set_first_pacing_rate();
    }

    /// Whether a segment is the SYN of a connection whose SYN-ACK was lost; if so, retransmits it.
    pub(super) fn answers_again(&mut self, now: Instant, segment: &Segment) -> bool {
        let flags = segment.header.flags;
        let control = TcpFlags::SYN | TcpFlags::ACK | TcpFlags::RST;
        let is_syn = flags.without(flags.without(control)) == TcpFlags::SYN;
        let again =
            self.handshake.fast.pending && is_syn && self.peer_position(segment.header.seq) == 0;
        if again && self.may_challenge(now) {
            self.send_syn(now, SendCause::HandshakeRetransmission);
        }
        again
    }
}
