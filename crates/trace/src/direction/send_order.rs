//! The order in which a sender sent packets: from IP identifications and timestamps.
//!
//! Many senders count packets in the IPv4 identification (Linux: `inet_id`; a piece of `n` segments
//! advances it by `n`), which gives the order exactly. Timestamps (RFC 7323) give it by the
//! sender's clock, in ticks of 1 ms or more. Identifications may be anything (RFC 6864), and IPv6
//! has none, so they are used only once they were seen to count. A value that is missing shows no
//! lost packet: many hosts count all their packets with one counter.

use std::cmp::Ordering;

use tcplab_units::Span;

use super::earlier_packets::EarlierPackets;
use super::passed_packet::{PassedPacket, SendStamp, number};
use super::sender_model::SHORTEST_TIMER;
use crate::fold::folded;
use crate::packet::{AT_ONCE, Packet, SOONEST};
use crate::{SegmentKind, Sign};

/// The largest step between packets of a counter; random numbers come as near once in 32.
const NEAR: u16 = 1_024;
/// Near steps before identifications are trusted.
const ENOUGH: u8 = 2;
/// Of this many steps one may be far: SYN-ACKs with zero (Linux), or a counter per host.
const FAR_ONES: u8 = 8;
/// Packets remembered to find copies: copies are made in a queue. Once copies were seen, [more
/// are](EarlierPackets).
const REMEMBERED: usize = 8;
/// From one duplicate in four frames on, the capture duplicates; no network does so often.
pub(crate) const SHARE: u64 = 4;
/// A direction is judged alone after this many packets.
const JUDGED_AFTER: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DuplicatedBy {
    Network,
    Radio,
    Capture,
}

impl DuplicatedBy {
    pub(super) fn kind(self) -> SegmentKind {
        match self {
            DuplicatedBy::Network => SegmentKind::NetworkDuplicate,
            DuplicatedBy::Radio => SegmentKind::LinkRetry,
            DuplicatedBy::Capture => SegmentKind::CaptureDuplicate,
        }
    }
}

/// A duplicate: its origin, the original's frame and the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) by: DuplicatedBy,
    pub(crate) of: u64,
    pub(crate) sign: Sign,
    pub(crate) after: Span,
}

/// The identifications and timestamps of one sender.
#[derive(Debug, Default)]
pub(crate) struct SendOrder {
    /// The newest identification.
    newest: Option<u16>,
    near: u8,
    far: u8,
    packets: u64,
    copies: u64,
    recent: [PassedPacket; REMEMBERED],
    next: u8,
    /// The packet is part of a remembered one and need not be remembered.
    is_part: bool,
    /// What passed before them, where copies were seen.
    earlier: Option<Box<EarlierPackets>>,
}
folded! { SendOrder { newest, near, far, packets, copies, recent, next, is_part, earlier } }

impl SendOrder {
    /// Follows a packet; `takes_room`: has data, SYN or FIN.
    #[inline(always)]
    pub(crate) fn passed(&mut self, packet: &Packet, takes_room: bool) {
        self.packets += 1;
        if let Some(id) = packet.ip_id {
            if self.newest == Some(id.wrapping_sub(1)) && id != 0 && self.near < u8::MAX - 1 {
                // The usual case of `count`: a step of one.
                self.near += 1;
                self.newest = Some(id);
            } else {
                self.count(id);
            }
        }
        if !takes_room {
            if packet.copies_usual {
                self.remember_ack(packet);
            }
        } else if packet.copies_usual | self.is_part | self.earlier.is_some() {
            self.remember_where_copies_are(packet);
        } else {
            self.remember(packet);
        }
    }

    #[inline(always)]
    fn remember(&mut self, packet: &Packet) {
        self.recent[usize::from(self.next)] = PassedPacket::of(packet);
        self.next = (self.next + 1) % REMEMBERED as u8;
    }

    #[inline(never)]
    fn remember_where_copies_are(&mut self, packet: &Packet) {
        if !std::mem::take(&mut self.is_part) {
            let left = self.recent[usize::from(self.next)];
            self.earlier.get_or_insert_default().add(left, packet.at);
            self.remember(packet);
        }
    }

    #[cold]
    fn remember_ack(&mut self, packet: &Packet) {
        let numbered = self.is_numbered(packet);
        self.earlier.get_or_insert_default().acks.passed(packet, numbered);
    }

    /// Remembered packets, the newest of those before [`REMEMBERED`] first.
    fn remembered(&self) -> impl Iterator<Item = &PassedPacket> {
        let earlier = self.earlier.iter().flat_map(|earlier| earlier.newest_first());
        self.recent.iter().filter(|passed| passed.stamp.frame > 0).chain(earlier)
    }

    /// Whether its identification differs from those of other packets.
    fn is_numbered(&self, packet: &Packet) -> bool {
        number(packet).is_some() && self.near + self.far > 0
    }

    fn count(&mut self, id: u16) {
        // Counters skip zero when they wrap.
        if id == 0 && self.newest.is_none_or(|newest| newest.wrapping_neg() > NEAR) {
            return;
        }
        let Some(newest) = self.newest else {
            self.newest = Some(id);
            return;
        };
        let step = id.wrapping_sub(newest) as i16;
        if step == 0 {
            return;
        }
        let counter = if step.unsigned_abs() <= NEAR { &mut self.near } else { &mut self.far };
        *counter += 1;
        if *counter == u8::MAX {
            self.near /= 2;
            self.far /= 2;
        }
        if step > 0 || step.unsigned_abs() > NEAR {
            self.newest = Some(id);
        }
    }

    /// Whether identifications count.
    fn counts(&self) -> bool {
        self.near >= ENOUGH && self.near / FAR_ONES >= self.far.saturating_sub(1)
    }

    /// The packet's step from the newest identification; none if they do not count.
    pub(crate) fn step(&self, packet: &Packet) -> Option<i16> {
        let step = number(packet)?.wrapping_sub(self.newest?) as i16;
        (self.counts() && step.unsigned_abs() <= NEAR).then_some(step)
    }

    /// Whether the packet was sent before or after another, and by which evidence; none if unknown.
    pub(crate) fn order(&self, packet: &Packet, other: &SendStamp) -> Option<(Ordering, Sign)> {
        if let (Some(id), Some(than)) = (number(packet), other.id)
            && self.counts()
            && id != than
        {
            return Some(((id.wrapping_sub(than) as i16).cmp(&0), Sign::IpId));
        }
        let (Some((clock, _)), Some(than)) = (packet.timestamps, other.clock) else { return None };
        match (clock.wrapping_sub(than) as i32).cmp(&0) {
            Ordering::Equal => None,
            order => Some((order, Sign::Timestamp)),
        }
    }

    /// The stamp of the first remembered packet with the same data.
    pub(crate) fn stamp_of_same(&self, packet: &Packet) -> Option<SendStamp> {
        let this = PassedPacket::of(packet);
        let same = |passed: &&PassedPacket| passed.seq == this.seq && passed.len == this.len;
        let stamps = self.remembered().filter(same).map(|passed| passed.stamp);
        stamps.min_by_key(SendStamp::order)
    }

    /// The large packet, captured before it was cut, that this one is a piece of, as it comes soon
    /// behind it. If `joins`, data of its whole range were captured: then also a piece of this one,
    /// captured before the receiver's card or kernel joined them.
    pub(crate) fn cut_or_joined(&mut self, packet: &Packet, joins: bool) -> Option<Duplicate> {
        let this = PassedPacket::of(packet);
        let is_of_same =
            |passed: &&PassedPacket| passed.has_piece(&this) || joins && this.has_piece(passed);
        let is_soon = |passed: &&PassedPacket| packet.at.since(passed.stamp.at) < SOONEST;
        let soon = self.remembered().filter(|_| this.len > 0).filter(is_soon);
        let original = soon.filter(is_of_same).map(|passed| passed.stamp).next()?;
        self.is_part = true;
        self.copied(DuplicatedBy::Capture);
        let (of, after) = (original.frame, packet.at.since(original.at));
        Some(Duplicate { by: DuplicatedBy::Capture, of, sign: Sign::IpId, after })
    }

    /// Whether the packet, not yet followed, duplicates an earlier one: by identification, or equal
    /// within half of `round_trip`, as no sender retransmits so soon.
    pub(crate) fn copy(&self, packet: &Packet, round_trip: Option<Span>) -> Option<Duplicate> {
        let this = PassedPacket::of(packet);
        let same = |passed: &&PassedPacket| {
            let clock = passed.stamp.clock == this.stamp.clock;
            let rest = passed.seq == this.seq && passed.len == this.len;
            rest && clock && passed.ack == this.ack && passed.stamp.id == this.stamp.id
        };
        let recent = self.recent.iter().filter(|passed| passed.stamp.frame > 0).filter(same);
        let recent = recent.max_by_key(|passed| passed.stamp.order());
        let mut earlier = self.earlier.iter().flat_map(|earlier| earlier.newest_first());
        let original = recent.or_else(|| earlier.find(same))?;
        let after = packet.at.since(original.stamp.at);
        let varies = self.near + self.far > 0 || after <= AT_ONCE;
        // Some senders retransmit with the same identification when a timer expires.
        let sign = if varies && after < SHORTEST_TIMER && this.stamp.id.is_some() {
            Sign::IpId
        } else if after < round_trip.map_or(SOONEST, |least| least / 2) {
            // A millisecond clock may show the same value for a retransmission.
            if this.stamp.clock.is_some() { Sign::Timestamp } else { Sign::Time }
        } else {
            return None;
        };
        let (of, ttl) = (original.stamp.frame, original.ttl);
        let usual = packet.copies_usual
            || self.packets >= JUDGED_AFTER && (self.copies + 1) * SHARE >= self.packets;
        let by = if packet.radio_retry {
            DuplicatedBy::Radio
        } else if after <= AT_ONCE && (usual || ttl != packet.ttl) {
            DuplicatedBy::Capture
        } else {
            DuplicatedBy::Network
        };
        Some(Duplicate { by, of, sign, after })
    }

    pub(crate) fn copied(&mut self, by: DuplicatedBy) {
        self.copies += u64::from(by != DuplicatedBy::Radio);
        self.earlier.get_or_insert_default();
    }

    /// Whether a packet without data is a copy of the previous one, by its identification; or of
    /// one of the latest, where many frames are duplicated.
    #[inline]
    pub(crate) fn repeats(&self, packet: &Packet) -> bool {
        let is_previous = number(packet).is_some_and(|id| Some(id) == self.newest);
        let differs = self.near + self.far > 0 || packet.radio_retry;
        is_previous && differs || packet.copies_usual && self.is_copied_ack(packet)
    }

    #[cold]
    fn is_copied_ack(&self, packet: &Packet) -> bool {
        let earlier = self.earlier.as_ref();
        earlier.is_some_and(|earlier| earlier.acks.holds(packet, self.is_numbered(packet)))
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Instant;

    use super::*;

    /// A packet of one sender, with one byte.
    fn packet(frame: u64) -> Packet {
        Packet {
            frame,
            seq: tcplab_wire::SeqNumber::new(frame as u32),
            ack: None,
            window: 1,
            payload: 1,
            ..crate::tests::frames::packet(Instant::from_nanos(frame))
        }
    }

    fn numbered(ids: &[u16]) -> SendOrder {
        let mut send_order = SendOrder::default();
        for &id in ids {
            send_order.passed(&Packet { ip_id: Some(id), ..packet(1) }, true);
        }
        send_order
    }

    #[test]
    fn send_order_identifications_must_count() {
        for (name, ids, counts) in [
            ("one by one", &[7, 8, 9, 10][..], true),
            ("through the wrap", &[65_534, 65_535, 0, 1], true),
            ("large pieces", &[7, 52, 97], true),
            ("one out of order", &[7, 9, 8, 10], true),
            ("a SYN-ACK's zero first", &[0, 40_000, 40_001, 40_002], true),
            ("zeros between", &[40_000, 0, 40_001, 0, 40_002], true),
            ("all zero", &[0, 0, 0, 0, 0], false),
            ("at random", &[9_000, 61_000, 23_000, 2_000, 40_000], false),
            ("nothing to go by", &[7], false),
        ] {
            assert_eq!(numbered(ids).counts(), counts, "{name}");
        }
    }

    #[test]
    fn send_order_identification_before_timestamp() {
        let revealing = |id, clock| SendStamp {
            id: (id != 0).then_some(id),
            clock: Some(clock),
            ..SendStamp::default()
        };
        let asked =
            |id, clock| Packet { ip_id: Some(id), timestamps: Some((clock, 0)), ..packet(1) };
        let counting = numbered(&[1, 2, 3, 4]);
        let silent = numbered(&[0, 0, 0, 0]);
        let number = |order| Some((order, Sign::IpId));
        let clock = |order| Some((order, Sign::Timestamp));
        assert_eq!(counting.order(&asked(3, 9), &revealing(4, 8)), number(Ordering::Less));
        assert_eq!(counting.order(&asked(1, 9), &revealing(65_535, 9)), number(Ordering::Greater));
        assert_eq!(silent.order(&asked(0, 8), &revealing(0, 9)), clock(Ordering::Less));
        assert_eq!(silent.order(&asked(0, 1), &revealing(0, u32::MAX)), clock(Ordering::Greater));
        assert_eq!(silent.order(&asked(0, 9), &revealing(0, 9)), None);
    }
}
