//! Completing a checksum that the kernel left half done.

use super::OffloadError;
use crate::checksum::internet;

/// Where a UDP header keeps its checksum.
const UDP_CHECKSUM: u16 = 6;

/// Completes a checksum of which only the pseudo-header was summed (Linux `CHECKSUM_PARTIAL`,
/// `skb_checksum_help`): sums `packet` from `start` to its end, the half-done sum included, and
/// stores the complement at `start + offset`. Works for every protocol that uses the internet
/// checksum. UDP cannot say 0, which means "none" there, and says 0xffff instead (RFC 768).
///
/// # Errors
/// If the place of the checksum lies outside the packet, which stays unchanged.
pub fn complete_checksum(packet: &mut [u8], start: u16, offset: u16) -> Result<(), OffloadError> {
    let at = usize::from(start) + usize::from(offset);
    let len = packet.len();
    if at + 2 > len {
        return Err(OffloadError::ChecksumOutside { start, offset, len });
    }
    let sum = match internet(&packet[usize::from(start)..]) {
        0 if offset == UDP_CHECKSUM => 0xffff,
        sum => sum,
    };
    packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}
