//! The queue of errors of a socket: what `recvmsg` with MSG_ERRQUEUE reads.

use std::collections::VecDeque;

use crate::constants::constant;
use crate::subject::{ControlData, ControlMessage, Outcome};

/// What is sent without being copied, and what waits to be told of it.
///
/// Devices that look into packets, as packetdrill's does, copy what they are given, and tell so;
/// the buffers are the sender's again when the peer has acknowledged them
/// (`msg_zerocopy_callback` when the last segment is freed).
#[derive(Default)]
pub(super) struct Errors {
    next_id: u32,
    /// Sends that are not acknowledged: the position behind each.
    pending: VecDeque<(u64, u32)>,
    /// Ranges of sends that are complete.
    complete: VecDeque<(u32, u32)>,
    /// How often something was put in.
    puts: u64,
}

impl Errors {
    /// A send with MSG_ZEROCOPY gave bytes up to `end`.
    pub(super) fn sent(&mut self, end: u64) {
        self.pending.push_back((end, self.next_id));
        self.next_id = self.next_id.wrapping_add(1);
    }

    /// All below `position` is acknowledged. Neighbours are told of as one
    /// (`skb_zerocopy_notify_extend`).
    pub(super) fn acknowledged(&mut self, position: u64) {
        while let Some((_, id)) = self.pending.pop_front_if(|(end, _)| *end <= position) {
            self.puts += 1;
            match self.complete.back_mut() {
                Some((_, last)) if last.wrapping_add(1) == id => *last = id,
                _ => self.complete.push_back((id, id)),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.complete.is_empty()
    }

    /// How often something was put in.
    pub(super) fn puts(&self) -> u64 {
        self.puts
    }

    /// `recvmsg` with MSG_ERRQUEUE (`ip_recv_error`).
    pub(super) fn receive(&mut self) -> Outcome {
        let Some((first, last)) = self.complete.pop_front() else {
            return Outcome::error("EAGAIN");
        };
        let named = |name| constant(name).unwrap_or_default();
        let origin = named("SO_EE_ORIGIN_ZEROCOPY");
        let code = named("SO_EE_CODE_ZEROCOPY_COPIED");
        let data = ControlData::Error([0, origin, 0, code, first.into(), last.into()]);
        let control = ControlMessage { level: named("SOL_IP"), kind: named("IP_RECVERR"), data };
        Outcome { values: vec![named("MSG_ERRQUEUE")], control: vec![control], ..Outcome::value(0) }
    }
}
