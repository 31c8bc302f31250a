//! Explicit congestion notification: marking a packet instead of dropping it.

use super::transit::Transit;

/// Marks the packet as having met congestion (CE), if its endpoints allow that (RFC 3168 §5: ECT(0)
/// or ECT(1)); one that is marked already counts as marked. Whether it is marked now.
pub(crate) fn mark(transit: &mut Transit) -> bool {
    let Some(codepoint) = codepoint(&transit.packet.bytes) else { return false };
    match codepoint {
        NOT_ECT => return false,
        CE => return true,
        _ => set_ce(&mut transit.packet.bytes),
    }
    transit.marked = true;
    true
}

const NOT_ECT: u8 = 0b00;
const CE: u8 = 0b11;

/// The ECN field of an IP packet: the low two bits of the second byte (IPv4, RFC 3168 §5), or of
/// the traffic class that lies across the first two (IPv6, RFC 8200 §3).
fn codepoint(packet: &[u8]) -> Option<u8> {
    match packet.first()? >> 4 {
        4 => (packet.len() >= 20).then(|| packet[1] & 0b11),
        6 => (packet.len() >= 40).then(|| (packet[1] >> 4) & 0b11),
        _ => None,
    }
}

/// Of a packet whose header is there.
fn set_ce(packet: &mut [u8]) {
    if packet[0] >> 4 == 6 {
        packet[1] |= CE << 4;
        return;
    }
    let before = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= CE;
    let after = u16::from_be_bytes([packet[0], packet[1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    packet[10..12].copy_from_slice(&updated(checksum, before, after).to_be_bytes());
}

/// The checksum of a header of which one word has changed (RFC 1624 §3, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;
    use tcplab_units::Instant;

    /// A header of 20 bytes with a right checksum and the given ECN field.
    fn ipv4(ecn: u8) -> Vec<u8> {
        let mut header =
            vec![0x45, ecn, 0, 20, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let sum = ones_complement_sum(&header);
        header[10..12].copy_from_slice(&(!sum).to_be_bytes());
        header
    }

    fn ones_complement_sum(bytes: &[u8]) -> u16 {
        let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn only_ect_packets_are_marked_with_valid_checksums() {
        for (ecn, is_marked, changed) in
            [(0b00, false, false), (0b01, true, true), (0b10, true, true), (0b11, true, false)]
        {
            // The upper bits, DSCP, stay as they were.
            let before = ipv4(0b1011_1000 | ecn);
            let mut transit = Transit::new(Packet::new(1, before.clone()), Instant::ZERO);
            assert_eq!((mark(&mut transit), transit.marked), (is_marked, changed), "{ecn:02b}");
            let after = transit.packet.bytes;
            assert_eq!(ones_complement_sum(&after), 0xffff, "{ecn:02b}");
            assert_eq!(after[1] >> 2, before[1] >> 2);
            assert_eq!(after[1] & 0b11, if is_marked { 0b11 } else { ecn });
        }
    }

    #[test]
    fn ipv6_has_it_across_two_bytes_and_scraps_have_none() {
        let mut packet = vec![0; 40];
        packet[..2].copy_from_slice(&[0x60, 0x20]);
        let mut transit = Transit::new(Packet::new(1, packet), Instant::ZERO);
        assert!(mark(&mut transit));
        assert_eq!(transit.packet.bytes[..2], [0x60, 0x30]);
        for scrap in [vec![], vec![0x45], vec![0x45; 19], vec![0x60; 39], vec![0xff; 60]] {
            assert!(!mark(&mut Transit::new(Packet::new(1, scrap), Instant::ZERO)));
        }
    }
}
