//! How large a full segment of one direction is.

use tcplab_units::{Bytes, Instant, Offset};
use tcplab_wire::TcpFlags;

use crate::fold::folded;
use crate::observers::event::SendEvent;
use crate::packet::Packet;
use crate::{MergedReport, MssChange, SegmentKind, TooBigReport};

#[cfg(test)]
mod tests;

/// The timestamp option with padding (RFC 7323 appendix A), part of the agreed segment (RFC 6691).
const TIMESTAMPS: u32 = 12;
/// What a SYN without the option means (RFC 9293 section 3.7.1), by IPv4 and by IPv6.
const DEFAULT: (u32, u32) = (536, 1220);
/// The segments of one smaller size after which that is the full size.
const CERTAIN: u8 = 4;
/// The most changes reported.
const CHANGES: usize = 16;
/// Payloads of Ethernet's 1500 bytes with IPv4 or IPv6, with timestamps or without, and of jumbo
/// frames: without a SYN, a multiple of one of these counts as several segments.
const USUAL: [u32; 8] = [1448, 1460, 1428, 1440, 8948, 8960, 8928, 8940];
/// No single segment without a SYN seen is taken to be larger.
const LARGEST_USUAL: u32 = 8960;
/// No smaller one is taken to be full: half of IPv4's default; it may be a message.
const LEAST_USUAL: u32 = DEFAULT.0 / 2;

/// The size of a full segment, bytes of data: as negotiated, or less where the path allowed less.
#[derive(Debug, Default)]
pub(crate) struct FullSize {
    /// Maximum segment size in the sender's and in the receiver's SYN.
    offered: [Option<u16>; 2],
    /// What both allow, less the options; 0 until the first data.
    agreed: u32,
    /// The size in use; 0 while unknown.
    in_use: u32,
    /// The largest single segment seen since the size in use last became smaller.
    largest: u32,
    /// How many of the size in use were seen.
    full: u8,
    run: Run,
    changes: Vec<MssChange>,
    too_big: Option<Box<TooBigReport>>,
    merged: Option<Box<MergedReport>>,
}
folded! { FullSize { offered, agreed, in_use, largest, full, run, changes, too_big, merged } }

/// Segments of one size, smaller than full ones, that others followed at once.
#[derive(Debug, Default)]
struct Run {
    size: u32,
    count: u8,
    at: Instant,
    frame: u64,
    end: Offset,
    /// One of them is a retransmission.
    again: bool,
}
folded! { Run { size, count, at, frame, end, again } }

impl FullSize {
    /// Bytes of data in a full segment; `None` while unknown.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let least = if self.agreed == u32::MAX { LEAST_USUAL } else { 1 };
        (self.in_use >= least).then_some(u64::from(self.in_use))
    }
    pub(crate) fn changes(&self) -> Vec<MssChange> {
        self.changes.clone()
    }
    /// What ICMP last reported.
    pub(crate) fn too_big(&self) -> Option<TooBigReport> {
        self.too_big.as_deref().copied()
    }
    /// What ICMP last reported of packets that were merged on the path.
    pub(crate) fn merged(&self) -> Option<MergedReport> {
        self.merged.as_deref().copied()
    }
    #[cold]
    pub(crate) fn on_merged(&mut self, report: MergedReport) {
        self.merged = Some(Box::new(report));
    }
    #[cold]
    pub(crate) fn on_too_big(&mut self, report: TooBigReport) {
        self.too_big = Some(Box::new(report));
    }

    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        if sent.packet.syn() {
            self.offered[0] = offered(sent.packet);
        }
        let payload = u32::try_from(sent.payload).unwrap_or(u32::MAX);
        if payload == 0 {
            return;
        }
        if self.agreed == 0 {
            self.agree(sent.packet, payload);
        }
        if sent.range.start > sent.high {
            self.look_at_gap(sent.range.start.since(sent.high).as_u64());
        }
        if payload == self.in_use {
            self.largest = payload;
            self.full = self.full.saturating_add(1);
            self.run.count = 0;
        } else if payload > self.in_use {
            self.grow(payload);
        } else if !sent.packet.flags.contains(TcpFlags::PSH)
            && !sent.packet.fin()
            && payload >= LEAST_USUAL
            && sent.kind != SegmentKind::WindowProbe
        {
            self.look_at_smaller(payload, *sent);
        }
    }
    /// A SYN of the opposite direction, with an ACK or without.
    #[cold]
    pub(crate) fn on_peer_syn(&mut self, syn: &Packet) {
        self.offered[1] = offered(syn);
    }

    #[cold]
    fn agree(&mut self, packet: &Packet, payload: u32) {
        let smallest = self.offered.into_iter().flatten().min();
        let options = if packet.timestamps.is_some() { TIMESTAMPS } else { 0 };
        self.agreed = match smallest {
            Some(mss) => u32::from(mss).saturating_sub(options).max(1),
            None => u32::MAX,
        };
        if smallest.is_some() {
            self.in_use = self.agreed;
        } else {
            self.in_use = single(payload).unwrap_or(0);
        }
    }

    /// Larger than the size in use: several segments in one packet, or the size grew.
    #[inline(never)]
    fn grow(&mut self, payload: u32) {
        self.run.count = 0;
        if self.agreed != u32::MAX && payload > self.agreed {
            self.largest = self.largest.max(self.in_use);
            return;
        }
        if self.agreed == u32::MAX && self.merges(payload) {
            return;
        }
        let size = if self.agreed == u32::MAX { single(payload) } else { Some(payload) };
        let Some(size) = size.filter(|&size| size > self.in_use) else { return };
        self.in_use = size;
        self.largest = size;
        self.full = 1;
        if self.agreed == u32::MAX {
            // What varies without a SYN is an application's writes.
            self.changes.pop();
        }
        // A size that was smaller only for a while is no lasting change.
        let changes = &mut self.changes;
        let size = Bytes::new(u64::from(size));
        while changes.last().is_some_and(|change| change.from <= size) {
            changes.pop();
        }
        if let Some(last) = changes.last_mut() {
            last.to = last.to.max(size);
        }
    }

    /// Data that were not captured: by their length full segments.
    #[cold]
    fn look_at_gap(&mut self, missing: u64) {
        if self.agreed != u32::MAX && missing.is_multiple_of(u64::from(self.in_use.max(1))) {
            self.largest = self.largest.max(self.in_use);
        }
    }

    /// Whether a payload of this many bytes, without a SYN seen, is several segments of the size in
    /// use, merged by the sender or receiver; a size below IPv4's default may be a message's.
    fn merges(&self, payload: u32) -> bool {
        let is_multiple = self.in_use >= DEFAULT.0 && payload.is_multiple_of(self.in_use);
        is_multiple && !USUAL.contains(&payload)
    }

    /// A sender that has more to send, as it had who did not push, fills its segments.
    #[inline(never)]
    fn look_at_smaller(&mut self, payload: u32, sent: SendEvent<'_>) {
        let run = &mut self.run;
        let again = sent.kind.is_retransmission();
        if run.count == 0 || run.size != payload {
            let (at, frame) = (sent.packet.at, sent.packet.frame);
            *run = Run { size: payload, count: 1, at, frame, end: sent.range.end, again };
            return;
        }
        if sent.range.start < run.end {
            return;
        }
        run.count += 1;
        run.again |= again;
        run.end = sent.range.end;
        if run.count < CERTAIN {
            return;
        }
        run.count = 0;
        let (at, frame) = (run.at, run.frame);
        // A sender whose segments were never full wrote messages. Without a SYN an unusual size may
        // be several segments that were merged, and one of a usual size a message.
        let is_proven = run.again || self.full >= CERTAIN;
        let was_full = self.largest >= self.in_use
            && (self.agreed != u32::MAX || is_proven && USUAL.contains(&self.largest));
        if was_full && self.changes.len() < CHANGES {
            let (from, to) = (Bytes::new(self.largest.into()), Bytes::new(payload.into()));
            self.changes.push(MssChange { at, frame, from, to });
        }
        self.in_use = payload;
        self.largest = payload;
        self.full = CERTAIN;
    }
}

fn offered(syn: &Packet) -> Option<u16> {
    let default = if syn.src().is_ipv4() { DEFAULT.0 } else { DEFAULT.1 };
    match syn.mss {
        None if syn.options_cut => None,
        mss => mss.or(u16::try_from(default).ok()),
    }
}

/// The segment size by a packet of this many bytes without a SYN: a usual size it is a multiple of.
fn single(payload: u32) -> Option<u32> {
    let several = USUAL.into_iter().find(|&size| payload > size && payload.is_multiple_of(size));
    several.or((payload <= LARGEST_USUAL).then_some(payload))
}
