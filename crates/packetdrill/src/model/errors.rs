//! The queue of errors of a socket: what `recvmsg` with MSG_ERRQUEUE reads.

use std::collections::VecDeque;

use tcplab_units::Instant;

use super::START;
use crate::constants::constant;
use crate::subject::{ControlData, ControlMessage, Outcome};

/// Bits of SO_TIMESTAMPING: when what was written left the host's TCP, its device, and arrived;
/// whether that is reported; with a number; without the data.
const SCHEDULED: i64 = 0x100;
const SENT: i64 = 2;
const ARRIVED: i64 = 0x200;
const REPORTED: i64 = 0x10;
const NUMBERED: i64 = 0x80;
const WITHOUT_DATA: i64 = 0x800;
/// What else may stand there without a meaning here: hardware's times, and those of what arrives.
const IDLE: i64 = 1 | 4 | 8 | 0x40;

/// `SCM_TSTAMP_SND`, `SCM_TSTAMP_SCHED`, `SCM_TSTAMP_ACK`.
const IS_SENT: i64 = 0;
const IS_SCHEDULED: i64 = 1;
const IS_ARRIVED: i64 = 2;

/// Reports of what was sent: that buffers are free again, and when bytes left and
/// arrived.
///
/// Devices that look into packets, as packetdrill's does, copy what they are given, and report so;
/// the buffers are the sender's again when the peer has acknowledged them
/// (`msg_zerocopy_callback` when the last segment is freed).
#[derive(Default)]
pub(super) struct Errors {
    next_id: u32,
    /// Sends without copy that are not acknowledged: the position behind each.
    pending: VecDeque<(u64, u32)>,
    /// SO_TIMESTAMPING.
    timestamping: i64,
    /// What was acknowledged when numbers were asked for.
    first: u64,
    /// Writes that are not acknowledged: the position behind each, and whether it left.
    writes: VecDeque<(u64, bool)>,
    queue: VecDeque<Entry>,
    /// How often something was put in.
    puts: u64,
}

enum Entry {
    /// A range of sends without copy is complete.
    Complete(u32, u32),
    /// When something became of the last byte of a write.
    Time { at: Instant, what: i64, number: i64, with_data: bool },
}

impl Errors {
    /// SO_TIMESTAMPING; `acknowledged` bytes are. Whether all of it has a meaning here.
    pub(super) fn set_timestamping(&mut self, bits: i64, acknowledged: u64) -> bool {
        let known = SCHEDULED | SENT | ARRIVED | REPORTED | NUMBERED | WITHOUT_DATA | IDLE;
        if bits & NUMBERED != 0 && self.timestamping & NUMBERED == 0 {
            self.first = acknowledged;
        }
        self.timestamping = bits;
        bits & !known == 0
    }

    /// A write gave bytes up to `end`, without copy or not.
    pub(super) fn sent(&mut self, end: u64, zero_copy: bool) {
        if zero_copy {
            self.pending.push_back((end, self.next_id));
            self.next_id = self.next_id.wrapping_add(1);
        }
        if self.timestamping & (SCHEDULED | SENT | ARRIVED) != 0 {
            self.writes.push_back((end, false));
        }
    }

    /// What ends at `position` leaves.
    pub(super) fn left(&mut self, now: Instant, position: u64) {
        let mut leaving = Vec::new();
        for (end, left) in self.writes.iter_mut().filter(|(end, left)| !left && *end <= position) {
            *left = true;
            leaving.push(*end);
        }
        for end in leaving {
            self.report(now, end, SCHEDULED, IS_SCHEDULED);
            self.report(now, end, SENT, IS_SENT);
        }
    }

    fn report(&mut self, now: Instant, end: u64, bit: i64, what: i64) {
        if self.timestamping & bit == 0 || self.timestamping & REPORTED == 0 {
            return;
        }
        let numbered = self.timestamping & NUMBERED != 0;
        let number = if numbered { (end - 1).saturating_sub(self.first) as i64 } else { 0 };
        let with_data = self.timestamping & WITHOUT_DATA == 0;
        self.puts += 1;
        self.queue.push_back(Entry::Time { at: now - START, what, number, with_data });
    }

    /// Everything below `position` is acknowledged. Neighbours are reported as one
    /// (`skb_zerocopy_notify_extend`).
    pub(super) fn acknowledged(&mut self, now: Instant, position: u64) {
        while let Some((end, _)) = self.writes.front().copied().filter(|(end, _)| *end <= position)
        {
            self.writes.pop_front();
            self.report(now, end, ARRIVED, IS_ARRIVED);
        }
        while let Some((_, id)) = self.pending.front().copied().filter(|(end, _)| *end <= position)
        {
            self.pending.pop_front();
            self.puts += 1;
            match self.queue.back_mut() {
                Some(Entry::Complete(_, last)) if last.wrapping_add(1) == id => *last = id,
                _ => self.queue.push_back(Entry::Complete(id, id)),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How often something was put in.
    pub(super) fn puts(&self) -> u64 {
        self.puts
    }

    /// `recvmsg` with MSG_ERRQUEUE into a buffer of `len` bytes (`ip_recv_error`).
    pub(super) fn receive(&mut self, len: u32, is_v6: bool) -> Outcome {
        let named = |name| constant(name).unwrap_or_default();
        let error = |data| ControlMessage {
            level: named(if is_v6 { "SOL_IPV6" } else { "SOL_IP" }),
            kind: named(if is_v6 { "IPV6_RECVERR" } else { "IP_RECVERR" }),
            data: ControlData::Error(data),
        };
        let queue = named("MSG_ERRQUEUE");
        match self.queue.pop_front() {
            None => Outcome::error("EAGAIN"),
            Some(Entry::Complete(first, last)) => {
                let origin = named("SO_EE_ORIGIN_ZEROCOPY");
                let code = named("SO_EE_CODE_ZEROCOPY_COPIED");
                let control = vec![error([0, origin, 0, code, first.into(), last.into()])];
                Outcome { values: vec![queue], control, ..Outcome::value(0) }
            }
            Some(Entry::Time { at, what, number, with_data }) => {
                let time = ControlMessage {
                    level: named("SOL_SOCKET"),
                    kind: named("SCM_TIMESTAMPING"),
                    data: ControlData::Time(at),
                };
                let origin = named("SO_EE_ORIGIN_TIMESTAMPING");
                let control = vec![time, error([named("ENOMSG"), origin, 0, 0, what, number])];
                // The packet itself comes along, headers and all, and is cut off.
                let cut = if with_data && len == 0 { named("MSG_TRUNC") } else { 0 };
                Outcome { values: vec![queue | cut], control, ..Outcome::value(0) }
            }
        }
    }
}
