//! TIME-WAIT: segments that still arrive.

use tcplab_units::Instant;
use tcplab_wire::TcpFlags;

use super::Connection;
use crate::state::State;
use crate::{Segment, SendCause};

impl Connection {
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
