//! Reassembly of IPv4 fragments.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tcplab_units::{Instant, Span};
use tcplab_wire::{FrameView, IpPacket, checksum};

/// How long fragments wait for the rest of their packet (`ipfrag_time`).
const PATIENCE: Span = Span::from_secs(30);
/// The largest packet there can be, bytes.
const LARGEST: usize = 0xffff;

/// Packets being reassembled at one end (RFC 791 section 3.2).
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// By sender, protocol and identification.
    begun: BTreeMap<(IpAddr, u8, u16), Begun>,
}

#[derive(Debug)]
struct Begun {
    at: Instant,
    /// The header of the first piece.
    header: Vec<u8>,
    /// Pieces of data by where they begin.
    pieces: BTreeMap<usize, Vec<u8>>,
    /// All data, once the last piece has come.
    len: Option<usize>,
}

impl Reassembly {
    /// A packet arrived: what it makes whole, if it is a fragment; the packet itself, if not.
    pub(crate) fn add(&mut self, now: Instant, packet: Vec<u8>) -> Option<Vec<u8>> {
        let ip = match FrameView::of_packet(&packet) {
            FrameView::Anomalous { ip: Some(ip), .. } => ip,
            view => match view.ip() {
                Some(ip) => ip,
                None => return Some(packet),
            },
        };
        let (offset, more) = place(&ip);
        if ip.version() != 4 || (offset == 0 && !more) {
            return Some(packet);
        }
        if !ip.is_whole() || !ip.header_checksum_is_right() {
            return None;
        }
        self.begun.retain(|_, begun| now.since(begun.at) <= PATIENCE);
        let key = (ip.src(), ip.protocol(), ip.id()?);
        let begun = self.begun.entry(key).or_insert_with(|| Begun {
            at: now,
            header: Vec::new(),
            pieces: BTreeMap::new(),
            len: None,
        });
        if !begun.add(&ip, offset, more) {
            // Of pieces that overlap none is believed (`inet_frag_queue_insert`).
            self.begun.remove(&key);
            return None;
        }
        let whole = begun.whole()?;
        self.begun.remove(&key);
        Some(whole)
    }
}

impl Begun {
    /// Whether the piece goes with the others; one that is there already does.
    fn add(&mut self, ip: &IpPacket<'_>, offset: usize, more: bool) -> bool {
        let data = ip.payload();
        let end = offset + data.len();
        let is_odd = data.is_empty() || (more && !data.len().is_multiple_of(8)) || end > LARGEST;
        if is_odd || self.len.is_some_and(|len| end > len || (!more && end != len)) {
            return false;
        }
        if let Some(known) = self.pieces.get(&offset) {
            return known.len() == data.len();
        }
        let before = self.pieces.range(..offset).next_back();
        let meets_before = before.is_some_and(|(at, piece)| at + piece.len() > offset);
        let meets_after = self.pieces.range(offset..).next().is_some_and(|(at, _)| *at < end);
        if meets_before || meets_after {
            return false;
        }
        if offset == 0 {
            self.header = ip.bytes()[..ip.header_len()].to_vec();
        }
        if !more {
            self.len = Some(end);
        }
        self.pieces.insert(offset, data.to_vec());
        true
    }

    /// The packet, if nothing is missing.
    fn whole(&self) -> Option<Vec<u8>> {
        let there: usize = self.pieces.values().map(Vec::len).sum();
        if self.header.is_empty() || self.len != Some(there) {
            return None;
        }
        let mut packet = self.header.clone();
        self.pieces.values().for_each(|piece| packet.extend_from_slice(piece));
        let total = u16::try_from(packet.len()).ok()?;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[6..8].fill(0);
        packet[10..12].fill(0);
        let sum = checksum::internet(&packet[..self.header.len()]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        Some(packet)
    }
}

/// Where a piece begins, in bytes, and whether more follows.
fn place(ip: &IpPacket<'_>) -> (usize, bool) {
    let fragment = ip.fragment();
    (fragment.offset as usize, fragment.more)
}

#[cfg(test)]
mod tests {
    use tcplab_path::{Direction, ElementPlan, Link, LinkPlan, MtuPlan, Packet};
    use tcplab_units::Bytes;
    use tcplab_wire::{Ecn, Ipv4Repr, TcpRepr};

    use super::*;

    fn packet(id: u16, data: usize) -> Vec<u8> {
        let ip = Ipv4Repr {
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, 0, 2].into(),
            id,
            ttl: 64,
            ecn: Ecn::Ect0,
        };
        let data: Vec<u8> = (0..data).map(|n| (n % 251) as u8).collect();
        let mut packet = TcpRepr::default().to_packet(&ip.into(), &data);
        Ipv4Repr::let_fragment(&mut packet);
        packet
    }

    /// As the path cuts it.
    fn pieces(packet: &[u8], mtu: u64) -> Vec<Vec<u8>> {
        let plan = MtuPlan { size: Bytes::new(mtu), answer: true };
        let elements = vec![ElementPlan::Mtu(plan)];
        let mut link = Link::new(&LinkPlan { elements }, 1, Direction::Forward);
        link.handle_packet(Instant::ZERO, Packet::new(1, packet.to_vec()));
        let out = std::iter::from_fn(|| link.poll(Instant::ZERO));
        out.map(|departure| departure.packet.bytes).collect()
    }

    #[test]
    fn fragments_in_any_order_are_reassembled() {
        for (mtu, count) in [(1_400, 2), (576, 3), (68, 31)] {
            let packet = packet(7, 1_448);
            let mut pieces = pieces(&packet, mtu);
            assert_eq!(pieces.len(), count);
            for turn in 0..2 {
                let mut reassembly = Reassembly::default();
                let last = pieces.pop().expect("there are several");
                // Copies do no harm.
                for piece in pieces.iter().chain([&pieces[0]]) {
                    assert_eq!(reassembly.add(Instant::ZERO, piece.clone()), None);
                }
                let whole = reassembly.add(Instant::ZERO, last.clone());
                assert_eq!(whole, Some(packet.clone()), "MTU {mtu}, turn {turn}");
                pieces.insert(0, last);
            }
        }
    }

    #[test]
    fn fragments_of_other_packets_are_kept_apart_and_expire() {
        let (one, other) = (packet(1, 1_448), packet(2, 1_448));
        let mut reassembly = Reassembly::default();
        let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
        let [first, second] = &pieces(&one, 1_400)[..] else { panic!("two pieces") };
        let [_, stranger] = &pieces(&other, 1_400)[..] else { panic!("two pieces") };
        assert_eq!(reassembly.add(at(0), first.clone()), None);
        assert_eq!(reassembly.add(at(1), stranger.clone()), None);
        assert_eq!(reassembly.add(at(31), second.clone()), None, "the first is forgotten");
        assert_eq!(reassembly.add(at(32), first.clone()), Some(one));
        let untouched = packet(3, 100);
        assert_eq!(reassembly.add(at(32), untouched.clone()), Some(untouched));
    }

    #[test]
    fn pieces_that_overlap_are_believed_in_nothing() {
        let packet = packet(1, 1_448);
        let mut reassembly = Reassembly::default();
        let (coarse, fine) = (pieces(&packet, 1_400), pieces(&packet, 576));
        assert_eq!(reassembly.add(Instant::ZERO, coarse[0].clone()), None);
        assert_eq!(reassembly.add(Instant::ZERO, fine[1].clone()), None);
        assert_eq!(reassembly.add(Instant::ZERO, coarse[1].clone()), None);
    }
}
