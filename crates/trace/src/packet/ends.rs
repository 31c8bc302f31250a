//! The two ends of a connection as one key.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tcplab_wire::TcpPacket;

/// The two ends of a connection, whichever of them sends; the lower one first.
///
/// Address and port in one word each for IPv4; five words for IPv6.
#[derive(Debug, Clone, Copy, Eq, PartialOrd, Ord)]
pub(crate) struct Ends([u64; 5]);

impl PartialEq for Ends {
    #[inline]
    fn eq(&self, other: &Ends) -> bool {
        // Without branches, and without the call that comparing arrays would be.
        self.0.iter().zip(other.0).fold(0, |differing, (own, other)| differing | (own ^ other)) == 0
    }
}

impl Ends {
    /// The ends of no packet.
    pub(crate) const NONE: Ends = Ends([u64::MAX; 5]);

    /// The ends of a packet, and whether the lower one sent it.
    #[inline]
    pub(crate) fn of(tcp: &TcpPacket<'_>) -> (Ends, bool) {
        let (from, to) = (tcp.src_port(), tcp.dst_port());
        match tcp.ip().ipv4_ends() {
            Some((src, dst)) => {
                let src = u64::from(src.to_bits()) << 16 | u64::from(from);
                let dst = u64::from(dst.to_bits()) << 16 | u64::from(to);
                (Ends([src.min(dst), src.max(dst), 0, 0, 0]), src <= dst)
            }
            None => Ends::of_ipv6((tcp.src(), from), (tcp.dst(), to)),
        }
    }

    #[inline(never)]
    fn of_ipv6(from: (IpAddr, u16), to: (IpAddr, u16)) -> (Ends, bool) {
        let ends = (bits(from.0), from.1) <= (bits(to.0), to.1);
        let (low, high) = if ends { (from, to) } else { (to, from) };
        let ([a, b], [c, d]) = (bits(low.0), bits(high.0));
        (Ends([a, b, c, d, V6 | u64::from(low.1) << 16 | u64::from(high.1)]), ends)
    }

    /// The ends of what was sent from one to the other, and whether the lower one sent it.
    pub(crate) fn between(from: (IpAddr, u16), to: (IpAddr, u16)) -> (Ends, bool) {
        match (from.0, to.0) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                let src = u64::from(src.to_bits()) << 16 | u64::from(from.1);
                let dst = u64::from(dst.to_bits()) << 16 | u64::from(to.1);
                (Ends([src.min(dst), src.max(dst), 0, 0, 0]), src <= dst)
            }
            _ => Ends::of_ipv6(from, to),
        }
    }

    pub(crate) fn low(&self) -> SocketAddr {
        self.end(0, [self.0[0], self.0[1]], (self.0[4] >> 16) as u16)
    }
    pub(crate) fn high(&self) -> SocketAddr {
        self.end(1, [self.0[2], self.0[3]], self.0[4] as u16)
    }

    /// All there is of them, for IPv4: both addresses, then both ports. The addresses are mixed:
    /// in the order in which networks are scanned, nodes of a tree would stay half empty.
    pub(crate) fn v4(&self) -> Option<[u32; 3]> {
        let [low, high, .., ports] = self.0;
        let both = (low << 16) as u32 | u32::from(high as u16);
        let mixed = |end: u64| ((end >> 16) as u32).wrapping_mul(MIX);
        (ports == 0).then_some([mixed(low), mixed(high), both])
    }
    /// The ends of which that is all.
    pub(crate) fn of_v4([low, high, ports]: [u32; 3]) -> Ends {
        let address = |mixed: u32| u64::from(mixed.wrapping_mul(UNMIX)) << 16;
        let (low, high) = (address(low), address(high));
        Ends([low | u64::from(ports >> 16), high | u64::from(ports as u16), 0, 0, 0])
    }

    /// All there is of them, for IPv6; mixed for the same reason.
    pub(crate) fn v6(&self) -> [u64; 5] {
        let [low, below, high, under, ports] = self.0;
        let mixed = |word: u64| word.wrapping_mul(MIX_V6);
        [mixed(low), mixed(below), mixed(high), mixed(under), ports]
    }
    /// The ends of which that is all.
    pub(crate) fn of_v6([low, below, high, under, ports]: [u64; 5]) -> Ends {
        let word = |mixed: u64| mixed.wrapping_mul(UNMIX_V6);
        Ends([word(low), word(below), word(high), word(under), ports])
    }

    fn end(&self, which: usize, v6: [u64; 2], port: u16) -> SocketAddr {
        if self.0[4] == 0 {
            let word = self.0[which];
            return (Ipv4Addr::from_bits((word >> 16) as u32), word as u16).into();
        }
        (Ipv6Addr::from_bits(u128::from(v6[0]) << 64 | u128::from(v6[1])), port).into()
    }

    /// A hash: multiplied and folded, as wyhash does.
    #[inline]
    pub(crate) fn hash(&self) -> usize {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            (product >> 64) as u64 ^ product as u64
        };
        let [low, high, third, fourth, ports] = self.0;
        let rest = if ports == 0 { 0 } else { fold(third ^ ODD[1], fourth ^ ODD[0]) ^ ports };
        let mixed = fold(low ^ ODD[0], high.rotate_left(32) ^ ODD[1]) ^ rest;
        fold(mixed, ODD[0]) as usize
    }
}

const V6: u64 = 0xffff << 48;
/// An odd number, and what undoes multiplying by it, modulo 2³².
const MIX: u32 = 0x9e37_79b1;
const UNMIX: u32 = 0x0e8b_2f51;
/// The same modulo 2⁶⁴.
const MIX_V6: u64 = 0x9e37_79b9_7f4a_7c15;
const UNMIX_V6: u64 = 0xf1de_83e1_9937_733d;

fn bits(address: IpAddr) -> [u64; 2] {
    let bits = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    [(bits >> 64) as u64, bits as u64]
}

#[cfg(test)]
mod tests {
    use tcplab_wire::{Ecn, FrameView, IpRepr, Ipv4Repr, Ipv6Repr, TcpRepr};

    use super::*;

    fn ends(src: &str, dst: &str) -> (Ends, bool) {
        let (src, dst): (SocketAddr, SocketAddr) = (src.parse().unwrap(), dst.parse().unwrap());
        let ip: IpRepr = match (src.ip(), dst.ip()) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct }.into()
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                Ipv6Repr { src, dst, hop_limit: 64, ecn: Ecn::NotEct }.into()
            }
            _ => panic!("two families"),
        };
        let tcp = TcpRepr { src_port: src.port(), dst_port: dst.port(), ..TcpRepr::default() };
        Ends::of(&FrameView::of_packet(&tcp.to_packet(&ip, &[])).tcp().unwrap())
    }

    #[test]
    fn ends_both_directions_equal() {
        for (low, high) in [
            ("10.0.0.1:5000", "10.0.0.2:80"),
            ("10.0.0.1:80", "10.0.0.1:5000"),
            ("0.0.0.0:0", "255.255.255.255:65535"),
            ("[2001:db8::1]:1", "[2001:db8::2]:1"),
            ("[2001:db8::1]:1", "[2001:db8::1]:65535"),
            ("[::]:0", "[::ffff:10.0.0.1]:0"),
        ] {
            let (there, back) = (ends(low, high), ends(high, low));
            assert_eq!((there.0, there.1, back.1), (back.0, true, false));
            assert_eq!(there.0.low().to_string(), low);
            assert_eq!(there.0.high().to_string(), high);
            assert!(there.0.v4().is_none_or(|v4| Ends::of_v4(v4) == there.0));
        }
    }

    #[test]
    fn ends_different_addresses_differ() {
        let one = ends("10.0.0.1:5000", "10.0.0.2:80").0;
        assert_ne!(one, ends("10.0.0.2:5000", "10.0.0.1:80").0);
        assert_ne!(one, ends("10.0.0.1:5001", "10.0.0.2:80").0);
        assert_ne!(one, ends("[::ffff:10.0.0.1]:5000", "[::ffff:10.0.0.2]:80").0);
        assert_ne!(
            ends("[2001:db8::1]:1", "[2001:db8::2]:1").0,
            ends("[2001:db9::1]:1", "[2001:db8::2]:1").0
        );
    }
}
