//! Which flow a packet belongs to.

use std::net::IpAddr;

use tcplab_wire::{Fragment, FrameView, IpPacket, protocol};

use crate::behaviour::Transit;

/// A number that all packets of a flow have in common, any 64 bits, from a hash that `key` picks.
///
/// A flow is what RFC 8290 §4.1 says: addresses, protocol, and the ports of TCP and UDP. Fragments
/// go by addresses and protocol alone, because only the first has ports. Each flow of cross traffic
/// is one, and so is all that cannot be read.
pub(super) fn flow_hash(key: u64, transit: &Transit) -> u64 {
    let mut hash = Hash(key);
    if let Some(number) = transit.cross_flow {
        hash.add(u64::from(number));
        return hash.0;
    }
    let Some(ip) = FrameView::of_packet(&transit.packet.bytes).ip() else {
        hash.add(UNREADABLE);
        return hash.0;
    };
    hash.add_address(ip.src());
    hash.add_address(ip.dst());
    hash.add(u64::from(ip.protocol()));
    if let Some(ports) = ports(&ip) {
        hash.add(u64::from(ports));
    }
    hash.0
}

/// The numbers of cross traffic begin at 1.
const UNREADABLE: u64 = 0;

/// Both ports, of a whole packet of a protocol that has them in its first four bytes.
fn ports(ip: &IpPacket<'_>) -> Option<u32> {
    let has_ports = matches!(ip.protocol(), protocol::TCP | protocol::UDP);
    if !has_ports || ip.fragment() != Fragment::default() {
        return None;
    }
    ip.payload().first_chunk().map(|ports| u32::from_be_bytes(*ports))
}

/// Word by word, mixed with the finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of
/// every word and of the key reaches every bit of the hash.
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
    }
    fn add_address(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.add(u64::from(address.to_bits())),
            IpAddr::V6(address) => {
                self.add((address.to_bits() >> 64) as u64);
                self.add(address.to_bits() as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    use tcplab_units::{Bytes, Instant};
    use tcplab_wire::{IpRepr, Ipv4Repr, Ipv6Repr, TcpRepr};

    use super::*;
    use crate::Packet;

    fn hash(bytes: Vec<u8>) -> u64 {
        flow_hash(7, &Transit::new(Packet::new(1, bytes), Instant::ZERO))
    }

    fn ipv4(last: u8) -> IpRepr {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, last), Ipv4Addr::new(10, 0, 0, 99));
        Ipv4Repr { src, dst, id: 1, ttl: 64, ecn: tcplab_wire::Ecn::NotEct }.into()
    }
    fn ipv6(last: u16) -> IpRepr {
        let (src, dst) = ([0xfd00, 0, 0, 0, 0, 0, 0, last].into(), [0xfd00, 0, 0, 0, 0, 0, 0, 99]);
        let dst = dst.into();
        Ipv6Repr { src, dst, hop_limit: 64, ecn: tcplab_wire::Ecn::NotEct }.into()
    }
    fn tcp(ip: &IpRepr, src_port: u16, payload: &[u8]) -> Vec<u8> {
        TcpRepr { src_port, dst_port: 80, ..TcpRepr::default() }.to_packet(ip, payload)
    }
    /// The same as a datagram: only the protocol differs.
    fn udp(mut packet: Vec<u8>) -> Vec<u8> {
        packet[9] = protocol::UDP;
        packet
    }
    /// As a fragment that `offset` eight-byte words precede.
    fn fragment(mut packet: Vec<u8>, offset: u8) -> Vec<u8> {
        packet[6..8].copy_from_slice(&[0x20, offset]);
        packet
    }

    #[test]
    fn flow_hash_distinguishes_addresses_ports_and_protocols() {
        let flows = [
            hash(tcp(&ipv4(1), 1000, b"")),
            hash(tcp(&ipv4(1), 1001, b"")),
            hash(tcp(&ipv4(2), 1000, b"")),
            hash(tcp(&ipv6(1), 1000, b"")),
            hash(tcp(&ipv6(2), 1000, b"")),
            hash(udp(tcp(&ipv4(1), 1000, b""))),
            hash(fragment(tcp(&ipv4(1), 1000, b""), 0)),
            hash(fragment(tcp(&ipv4(2), 1000, b""), 0)),
            hash(vec![]),
        ];
        assert_eq!(BTreeSet::from(flows).len(), flows.len());

        assert_eq!(hash(tcp(&ipv4(1), 1000, b"more")), flows[0], "bytes do not matter");
        assert_eq!(hash(tcp(&ipv6(1), 1000, b"more")), flows[3]);
        let later = fragment(tcp(&ipv4(1), 2000, b""), 9);
        assert_eq!(hash(later), flows[6], "fragments have no ports");
        for scrap in [vec![0x45], vec![0; 1500], vec![0x60; 39], vec![0xff; 60]] {
            assert_eq!(hash(scrap), flows[8], "what cannot be read is one flow");
        }
        let unseen = Transit::new(Packet::of_size(1, Bytes::new(1500)), Instant::ZERO);
        assert_eq!(flow_hash(7, &unseen), flows[8]);
        let cross = |number, id| Transit {
            cross_flow: Some(number),
            ..Transit::new(Packet::of_size(id, Bytes::new(1500)), Instant::ZERO)
        };
        let first = flow_hash(7, &cross(1, 1));
        assert_eq!(flow_hash(7, &cross(1, 2)), first);
        assert_ne!(flow_hash(7, &cross(2, 1)), first, "each flow of cross traffic is one");
        assert!(!flows.contains(&first));
        assert_ne!(flow_hash(8, &cross(1, 1)), first, "the key decides");
    }

    /// 10⁵ flows over 100 bins: χ² with 99 degrees of freedom has mean 99, σ = 14; five σ.
    #[test]
    fn flows_spread_evenly() {
        let mut bins = [0_u32; 100];
        for port in 0..1_000 {
            for host in 0..100 {
                let hash = hash(tcp(&ipv4(host), port, b""));
                bins[((u128::from(hash) * 100) >> 64) as usize] += 1;
            }
        }
        let chi_squared: f64 = bins.iter().map(|n| (f64::from(*n) - 1e3).powi(2) / 1e3).sum();
        assert!((29.0..169.0).contains(&chi_squared), "{chi_squared}");
    }
}
