//! Packets in few bytes: an option takes some only where there is one.

use tcplab_units::Instant;
use tcplab_wire::{ChecksumState, SackBlocks, SeqNumber, TcpFlags};

use super::{Ends, MultipathOption, Packet};
use crate::fold::{Fold, Folder, Unfolder};

/// Where the other marks stand beside the flags, the checksum's state last.
const MARKS: u32 = 9;
const CHECKSUM: u32 = 30;
const CHECKSUMS: [ChecksumState; 4] =
    [ChecksumState::Right, ChecksumState::Partial, ChecksumState::Wrong, ChecksumState::Unknown];
const OPTIONS: [MultipathOption; 3] =
    [MultipathOption::Other, MultipathOption::RemoveAddress, MultipathOption::FastClose];

/// All but the ends: the place where it is kept knows them.
impl Fold for Packet {
    fn fold(&self, to: &mut Folder) {
        let &Packet { at, frame, seq, ack, window, payload, mss, timestamps, ttl, .. } = self;
        let mut written = Written { bytes: [0; Written::MOST], len: 0 };
        written.number(u64::from(marks_of(self)) | u64::from(seq.as_u32()) << 32, 8);
        written.number(at.as_nanos(), 8);
        written.number(frame, if frame > u32::MAX.into() { 8 } else { 4 });
        written.number(u64::from(window) | u64::from(ttl) << 16, 3);
        if payload > 0 {
            written.number(payload.into(), 4);
        }
        if let Some(ack) = ack {
            written.number(ack.as_u32().into(), 4);
        }
        if let Some((value, echo)) = timestamps {
            let both = u64::from(value) | u64::from(echo) << 32;
            written.number(both, if echo > 0 { 8 } else { 4 });
        }
        if let Some(mss) = mss {
            written.number(mss.into(), 2);
        }
        if let Some(scale) = self.window_scale {
            written.number(scale.into(), 1);
        }
        if let Some(cookie) = self.fast_open {
            written.number(cookie.into(), 1);
        }
        if let Some(option) = self.multipath {
            written.number(option as u64, 1);
        }
        if let Some(id) = self.ip_id {
            written.number(id.into(), 2);
        }
        to.raw(&written.bytes[..written.len]);
        if !self.sack.is_empty() {
            self.sack.fold(to);
        }
    }

    fn unfold(from: &mut Unfolder<'_>) -> Packet {
        let first = from.raw(8);
        let marks = first as u32;
        let [
            has_payload,
            has_ack,
            has_timestamps,
            has_echo,
            has_mss,
            has_window_scale,
            has_fast_open,
            has_ip_id,
            has_sack,
            from_low,
            sack_permitted,
            has_multipath,
            copies_usual,
            options_cut,
            congestion_marked,
            wanted,
            plain,
            long_frame,
            coarse,
            radio_retry,
        ] = std::array::from_fn(|place| marks >> (MARKS as usize + place) & 1 != 0);
        let at = Instant::from_nanos(from.raw(8));
        let frame = from.raw(if long_frame { 8 } else { 4 });
        let short = from.raw(3);
        let mut number = |is_there: bool, bytes| is_there.then(|| from.raw(bytes));
        let payload = number(has_payload, 4).unwrap_or(0) as u32;
        let ack = number(has_ack, 4).map(|ack| SeqNumber::new(ack as u32));
        let clocks = number(has_timestamps, if has_echo { 8 } else { 4 });
        let timestamps = clocks.map(|both| (both as u32, (both >> 32) as u32));
        let mss = number(has_mss, 2).map(|mss| mss as u16);
        let window_scale = number(has_window_scale, 1).map(|scale| scale as u8);
        let fast_open = number(has_fast_open, 1).map(|cookie| cookie as u8);
        let multipath =
            number(has_multipath, 1).map(|option| OPTIONS[option as usize % OPTIONS.len()]);
        let ip_id = number(has_ip_id, 2).map(|id| id as u16);
        let sack = if has_sack { Fold::unfold(from) } else { SackBlocks::default() };
        Packet {
            at,
            frame,
            ends: Ends::NONE,
            from_low,
            seq: SeqNumber::new((first >> 32) as u32),
            ack,
            flags: TcpFlags::from_bits(marks as u16),
            window: short as u16,
            payload,
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            sack,
            fast_open,
            multipath,
            checksum: CHECKSUMS[(marks >> CHECKSUM) as usize % CHECKSUMS.len()],
            ip_id,
            ttl: (short >> 16) as u8,
            copies_usual,
            radio_retry,
            coarse,
            options_cut,
            congestion_marked,
            wanted,
            plain,
        }
    }

    fn heap(&self) -> usize {
        0
    }
}

/// Flags, marks and the checksum's state as one number.
fn marks_of(packet: &Packet) -> u32 {
    let marks = [
        packet.payload > 0,
        packet.ack.is_some(),
        packet.timestamps.is_some(),
        packet.timestamps.is_some_and(|(_, echo)| echo > 0),
        packet.mss.is_some(),
        packet.window_scale.is_some(),
        packet.fast_open.is_some(),
        packet.ip_id.is_some(),
        !packet.sack.is_empty(),
        packet.from_low,
        packet.sack_permitted,
        packet.multipath.is_some(),
        packet.copies_usual,
        packet.options_cut,
        packet.congestion_marked,
        packet.wanted,
        packet.plain,
        packet.frame > u32::MAX.into(),
        packet.coarse,
        packet.radio_retry,
    ];
    let marks = marks.into_iter().rev().fold(0, |all, mark| all << 1 | u32::from(mark));
    (packet.checksum as u32) << CHECKSUM | marks << MARKS | u32::from(packet.flags.bits())
}

/// The numbers of a packet, one after the other.
struct Written {
    bytes: [u8; Written::MOST],
    len: usize,
}

impl Written {
    /// All that there can be, and seven more.
    const MOST: usize = 64;

    /// Adds so many bytes of a number; zeros behind them are written over.
    #[inline(always)]
    fn number(&mut self, number: u64, bytes: usize) {
        self.bytes[self.len..self.len + 8].copy_from_slice(&number.to_le_bytes());
        self.len += bytes;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tcplab_wire::SackBlock;

    use super::*;

    fn again(packets: &[Packet]) -> Vec<Packet> {
        let mut folder = Folder::default();
        packets.to_vec().fold(&mut folder);
        Fold::unfold(&mut Unfolder::new(&folder.finish()))
    }

    prop_compose! {
        fn packet()(
            (at, frame, seq, flags) in any::<(u64, u64, u32, u16)>(),
            (ack, payload, window, ttl) in any::<(Option<u32>, u32, u16, u8)>(),
            (mss, window_scale, fast_open) in any::<(Option<u16>, Option<u8>, Option<u8>)>(),
            (timestamps, ip_id) in any::<(Option<(u32, u32)>, Option<u16>)>(),
            bits in any::<[bool; 9]>(),
            multipath in prop::sample::select(vec![None, Some(OPTIONS[0]), Some(OPTIONS[2])]),
            checksum in prop::sample::select(CHECKSUMS.to_vec()),
            blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        ) -> Packet {
            let [
                from_low, sack_permitted, radio_retry, copies_usual, options_cut, congestion_marked,
                wanted, plain, coarse,
            ] = bits;
            let block = |(left, right)| {
                SackBlock { left: SeqNumber::new(left), right: SeqNumber::new(right) }
            };
            Packet {
                at: Instant::from_nanos(at), frame, ends: Ends::NONE, from_low,
                seq: SeqNumber::new(seq), ack: ack.map(SeqNumber::new),
                flags: TcpFlags::from_bits(flags), window, payload, mss, window_scale,
                sack_permitted, timestamps, sack: blocks.into_iter().map(block).collect(),
                fast_open, multipath, checksum, ip_id, ttl, copies_usual, options_cut,
                congestion_marked, wanted, plain, coarse, radio_retry,
            }
        }
    }

    proptest! {
        #[test]
        fn folded_packets_come_back(packets in prop::collection::vec(packet(), 0..4)) {
            prop_assert_eq!(format!("{:?}", again(&packets)), format!("{packets:?}"));
        }
    }

    #[test]
    fn packet_takes_few_bytes() {
        let mut folder = Folder::default();
        let syn = Packet {
            flags: TcpFlags::SYN,
            ack: None,
            timestamps: Some((7, 0)),
            mss: Some(1_460),
            window_scale: Some(7),
            ip_id: Some(1),
            ..crate::tests::frames::packet(Instant::from_nanos(5))
        };
        syn.fold(&mut folder);
        assert!(folder.finish().len() <= 40);
    }
}
