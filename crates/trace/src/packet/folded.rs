//! Packets in few bytes: what is short is put together into a few numbers.

use tcplab_units::Instant;
use tcplab_wire::{ChecksumState, SeqNumber, TcpFlags};

use super::{Ends, Packet};
use crate::fold::{Fold, Folder, Unfolder};

/// The bits of the flags in the first number.
const FLAGS: u32 = 9;
/// The states of a checksum, by their number there.
const CHECKSUMS: [ChecksumState; 4] =
    [ChecksumState::Right, ChecksumState::Partial, ChecksumState::Wrong, ChecksumState::Unknown];

/// All but the ends: the place where it is kept knows them.
impl Fold for Packet {
    fn fold(&self, to: &mut Folder) {
        let &Packet {
            at,
            frame,
            ends: _,
            from_low,
            seq,
            ack,
            flags,
            window,
            payload,
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ref sack,
            fast_open,
            multipath,
            checksum,
            ip_id,
            ttl,
            copies_usual,
            options_cut,
            congestion_marked,
            wanted,
            plain,
        } = self;
        let marks = [
            from_low,
            ack.is_some(),
            timestamps.is_some(),
            plain,
            ip_id.is_some(),
            mss.is_some(),
            window_scale.is_some(),
            fast_open.is_some(),
            sack_permitted,
            !sack.is_empty(),
            multipath,
            copies_usual,
            options_cut,
            congestion_marked,
            wanted,
        ];
        let marks = marks.into_iter().rev().fold(0, |all, mark| all << 1 | u64::from(mark));
        to.number((marks << 2 | checksum as u64) << FLAGS | u64::from(flags.bits()));
        to.time(at);
        to.number(frame);
        to.number(seq.as_u32().into());
        to.number(together([window.into(), payload]));
        let [high, low] = ip_id.unwrap_or(0).to_be_bytes();
        to.number(u32::from_be_bytes([window_scale.unwrap_or(0), ttl, high, low]).into());
        if let Some(ack) = ack {
            to.number(ack.as_u32().into());
        }
        if let Some((value, echo)) = timestamps {
            to.number(together([value, echo]));
        }
        if mss.is_some() || fast_open.is_some() {
            to.number(together([mss.unwrap_or(0).into(), fast_open.unwrap_or(0).into()]));
        }
        if !sack.is_empty() {
            sack.fold(to);
        }
    }

    fn unfold(from: &mut Unfolder<'_>) -> Packet {
        let first = from.number();
        let flags = TcpFlags::from_bits(first as u16);
        let mut marks = first >> FLAGS;
        let checksum = CHECKSUMS[marks as usize % CHECKSUMS.len()];
        marks >>= 1;
        let [
            from_low,
            has_ack,
            has_timestamps,
            plain,
            has_ip_id,
            has_mss,
            has_window_scale,
            has_fast_open,
            sack_permitted,
            has_sack,
            multipath,
            copies_usual,
            options_cut,
            congestion_marked,
            wanted,
        ] = std::array::from_fn(|_| {
            marks >>= 1;
            marks & 1 != 0
        });
        let (at, frame): (Instant, u64) = (from.time(), from.number());
        let seq = SeqNumber::new(from.number() as u32);
        let [window, payload] = apart(from.number());
        let [window_scale, ttl, high, low] = (from.number() as u32).to_be_bytes();
        let ip_id = u16::from_be_bytes([high, low]);
        let ack = has_ack.then(|| SeqNumber::new(from.number() as u32));
        let timestamps = has_timestamps.then(|| apart(from.number()).into());
        let [mss, fast_open] = if has_mss || has_fast_open { apart(from.number()) } else { [0; 2] };
        Packet {
            at,
            frame,
            ends: Ends::NONE,
            from_low,
            seq,
            ack,
            flags,
            window: window as u16,
            payload,
            mss: has_mss.then_some(mss as u16),
            window_scale: has_window_scale.then_some(window_scale),
            sack_permitted,
            timestamps,
            sack: if has_sack { Fold::unfold(from) } else { Default::default() },
            fast_open: has_fast_open.then_some(fast_open as u8),
            multipath,
            checksum,
            ip_id: has_ip_id.then_some(ip_id),
            ttl,
            copies_usual,
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

/// Two numbers as one, the smaller the second is.
fn together([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
fn apart(both: u64) -> [u32; 2] {
    [both as u32, (both >> 32) as u32]
}
