//! The internet checksum.

use std::net::IpAddr;

/// A one's complement sum in the making (RFC 1071). Kept in the byte order of the machine, which
/// section 2(B) of the RFC shows to be harmless, and in 64 bits, which no packet overflows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum(u64);

impl Sum {
    /// This and `bytes`. When several parts are summed, all but the last must be of even length.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Sum {
        let (words, rest) = bytes.as_chunks::<4>();
        // It cannot wrap, and where nothing checks that, the compiler sums several words at once.
        let sum = |sum: u64, &word: &[u8; 4]| sum.wrapping_add(u32::from_ne_bytes(word).into());
        let mut sum = words.iter().fold(self.0, sum);
        let (halves, odd) = rest.as_chunks::<2>();
        for &half in halves {
            sum += u64::from(u16::from_ne_bytes(half));
        }
        if let [last] = odd {
            sum += u64::from(u16::from_ne_bytes([*last, 0]));
        }
        Sum(sum)
    }
    /// The sum itself, as a header field holds it: what offloading leaves of the pseudo-header.
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::from_be(sum as u16)
    }
    /// The checksum to write into a zero field; 0 if a right one was summed, too.
    pub fn complement(self) -> u16 {
        !self.folded()
    }
}

/// The internet checksum of `bytes`: 0 if they hold a right checksum of themselves.
pub fn internet(bytes: &[u8]) -> u16 {
    Sum::default().with(bytes).complement()
}

/// The sum of the pseudo-header that the checksums of TCP and UDP cover besides the segment of
/// `len` bytes (RFC 9293 section 3.1; RFC 8200 section 8.1).
///
/// # Panics
/// If one address is IPv4 and the other IPv6.
pub fn pseudo_header(src: IpAddr, dst: IpAddr, protocol: u8, len: u32) -> Sum {
    let addresses = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            Sum::default().with(&src.octets()).with(&dst.octets())
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            Sum::default().with(&src.octets()).with(&dst.octets())
        }
        _ => panic!("a packet from {src} to {dst} cannot be"),
    };
    // Both layouts sum to the same: zeroes around the protocol, and a length of 16 or 32 bits.
    addresses.with(&[0, protocol]).with(&len.to_be_bytes())
}

/// The checksum of a TCP or UDP segment from `src` to `dst`; 0 if the segment holds a right one.
/// UDP writes 0xffff for a checksum of 0 (RFC 768), which is left to the caller.
pub fn transport(src: IpAddr, dst: IpAddr, protocol: u8, segment: &[u8]) -> u16 {
    pseudo_header(src, dst, protocol, segment.len() as u32).with(segment).complement()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plainest way to the same number: 16-bit words, carry added back at once.
    fn by_the_book(bytes: &[u8]) -> u16 {
        let mut sum: u16 = 0;
        for pair in bytes.chunks(2) {
            let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            let (wrapped, carry) = sum.overflowing_add(word);
            sum = wrapped + u16::from(carry);
        }
        !sum
    }

    #[test]
    fn the_example_of_rfc_1071() {
        let sum = Sum::default().with(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.folded(), 0xddf2);
        assert_eq!(sum.complement(), 0x220d);
    }

    #[test]
    fn a_published_ipv4_header() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(internet(&header), 0);
        let mut blank = header;
        blank[10..12].fill(0);
        assert_eq!(internet(&blank), 0xb861);
    }

    #[test]
    fn nothing_sums_to_nothing() {
        assert_eq!(internet(&[]), 0xffff);
        assert_eq!(internet(&[0xff, 0xff]), 0);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_book(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(internet(&bytes), by_the_book(&bytes));
        }

        #[test]
        fn parts_sum_as_the_whole(pairs: Vec<[u8; 2]>, rest: Vec<u8>) {
            let first: Vec<u8> = pairs.concat();
            let whole = [first.clone(), rest.clone()].concat();
            let parts = Sum::default().with(&first).with(&rest);
            proptest::prop_assert_eq!(parts.complement(), internet(&whole));
        }
    }
}
