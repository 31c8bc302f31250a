//! Closing: half of it, all of it, or at once.

use tcplab_units::{Instant, Span};
use tcplab_wire::TcpFlags;

use super::{Connection, ConnectionError, Transmit};
use crate::state::State;
use crate::{Segment, SendCause};

impl Connection {
    /// The application sends no more: the FIN follows the last byte written
    /// (`shutdown(SHUT_WR)`, RFC 9293 section 3.6).
    pub fn shutdown(&mut self, now: Instant) {
        match self.state {
            // The FIN waits for the handshake.
            State::SynReceived => self.writer.closed_half = true,
            State::Established | State::CloseWait => self.close_half(now),
            State::SynSent => {
                self.output.queue.clear();
                self.enter(now, State::Closed);
            }
            _ => {}
        }
    }

    /// The application reads no more (`shutdown(SHUT_RD)`). Once it sends no more either, arriving
    /// data is answered with a RST, as nobody will read it (RFC 9293 section 3.10.7.4 seventh,
    /// `tcp_rcv_state_process`); not by FreeBSD, which discards it.
    pub fn shutdown_reading(&mut self) {
        self.writer.reads_no_more = self.config.freebsd.is_none();
    }

    fn close_half(&mut self, now: Instant) {
        let (state, fin) = self.state.after_close();
        if fin {
            self.writer.closed_half = true;
            self.writer.more_follows = false;
            self.buffer.push();
            self.enter(now, state);
        }
    }

    /// The application releases the connection: what was written is still sent, but arriving data
    /// is answered with a RST. If data is unread, or SO_LINGER is on with time zero, the connection
    /// is reset (RFC 2525 section 2.17, `__tcp_close`).
    ///
    /// With SO_LINGER the caller waits: until [`Connection::has_unacknowledged`] is false, or until
    /// the time is over.
    pub fn close(&mut self, now: Instant) {
        if self.writer.orphaned {
            return;
        }
        let unread = self.receiver.discard();
        if self.state == State::Closed {
            self.writer.orphaned = true;
            return;
        }
        if unread || self.options.linger == Some(Span::ZERO) {
            self.writer.orphaned = true;
            if self.state.resets_on_abort() || unread {
                self.send_reset(now);
            }
            self.buffer.clear();
            self.enter(now, State::Closed);
            return;
        }
        self.shutdown(now);
        self.writer.orphaned = true;
        if self.state == State::FinWait2 {
            self.begin_fin_wait_2(now);
        }
    }

    /// Breaks the connection off: a RST is sent where there is a connection (RFC 9293 section
    /// 3.10.5, `tcp_disconnect`).
    pub fn abort(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        let unsent = matches!(self.state, State::Closing | State::LastAck)
            && self.sender.sent() < self.stream().end;
        if self.state.resets_on_abort() || unsent {
            self.send_reset(now);
        }
        self.receiver.discard();
        self.writer.orphaned = true;
        self.fail(now, ConnectionError::Aborted);
    }

    /// Whether anything that was written, or the FIN, is not acknowledged: what SO_LINGER waits
    /// for.
    pub fn has_unacknowledged(&self) -> bool {
        let closing = matches!(self.state, State::FinWait1 | State::Closing | State::LastAck);
        self.state != State::Closed && (closing || self.buffer.len() > 0)
    }

    /// A RST of the own accord (`tcp_send_active_reset`).
    pub(super) fn send_reset(&mut self, now: Instant) {
        let mut header = self.header(now, self.bare(), TcpFlags::ACK | TcpFlags::RST);
        let with_dsack = self.receiver.has_twice();
        if self.config.freebsd.is_some() {
            // `tcp_drop`: what is closed offers no window and reports no blocks.
            header.window = 0;
        } else {
            header.sack = self.sack_option(self.blocks_that_fit());
        }
        self.tell_marks(now, &mut header, with_dsack);
        self.counters.segments_out += 1;
        self.output.queue.clear();
        let segment = Segment { ecn: self.codepoint(false), ..Segment::bare(header) };
        self.output.queue.push_back(Transmit::single(segment, SendCause::Reset));
    }

    /// FIN-WAIT-2 ends by itself once the application has released the connection
    /// (`tcp_fin_timeout`), not before.
    pub(super) fn begin_fin_wait_2(&mut self, now: Instant) {
        if self.writer.orphaned {
            let least = self.sender.rto() * 7 / 2;
            let span = self.options.fin_wait_2.unwrap_or(self.config.handshake.fin_wait_2);
            self.timers.over_at = Some(self.timers.jiffies.deadline(now, span.max(least)));
        }
    }
}
