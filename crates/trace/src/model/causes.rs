//! Counts of what segments below the highest sequence number were.

use serde::Serialize;
use tcplab_units::Bytes;

use super::Sightings;

/// How often each cause occurred in one direction.
///
/// Where the kernel handed large pieces to the tap, counts are of segments on the wire.
///
/// Beside the sender the causes are as sure as its timers and the acknowledgements are seen. Behind
/// the loss they are judged by what the receiver sent and when the answer came: recovery and
/// timeout are told apart well, but a probe from a timeout only by the silence that is left of it
/// here, and which timeout in a row it is not at all, for what is lost does not come here. What was
/// lost to the last packet, and sent again, is found only where IP identifications count.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Causes {
    /// Sent again on three duplicate acknowledgements (RFC 5681 section 3.2).
    pub by_duplicates: Sightings,
    /// Sent again on SACK evidence (RFC 6675).
    pub by_sack: Sightings,
    /// Sent again on the order of arrival in time (RACK, RFC 8985 section 6.2).
    pub by_rack: Sightings,
    /// Sent again on ICMP's word that it was too large for the path (RFC 1191, RFC 8201).
    pub by_icmp: Sightings,
    /// Tail loss probes (RFC 8985 section 7) that repeat data.
    pub probes: Sightings,
    /// Tail loss probes with new data.
    pub new_probes: Sightings,
    /// Retransmission timeouts (RFC 6298).
    pub timeouts: Sightings,
    /// The most timeouts in a row for the same segment.
    pub most_backed_off: u64,
    /// Sent again after a timeout, as acknowledgements came back.
    pub after_timeout: Sightings,
    /// Of all these, repetitions of what had been sent again before: the retransmission was lost.
    pub lost_again: Sightings,
    /// SYNs sent again.
    pub syns: Sightings,
    /// FINs sent again, without data.
    pub fins: Sightings,
    /// Retransmissions that were needless, as D-SACK (RFC 2883) tells.
    pub needless_by_dsack: Sightings,
    /// Retransmissions that were needless, as timestamps tell (Eifel, RFC 3522).
    pub needless_by_timestamp: Sightings,
    /// At a tap behind the loss: sent again, the original never seen here, and no acknowledgement
    /// that tells why. (Where there are any, such segments are counted above.)
    pub holes_filled: Sightings,
    /// Overtaken on the way.
    pub reordered: Sightings,
    /// By how many bytes at most.
    pub farthest: Bytes,
    /// Made by the network out of one.
    pub network_duplicates: Sightings,
    /// Written twice by whoever captured.
    pub tap_duplicates: Sightings,
    /// Acknowledged and never seen here: the capture missed them.
    pub missed_by_tap: Sightings,
    /// Their bytes.
    pub missed_bytes: Bytes,
}

impl Causes {
    /// Packets that repeat data, SYN or FIN because the sender sent them again.
    pub fn retransmissions(&self) -> u64 {
        [
            &self.by_duplicates,
            &self.by_sack,
            &self.by_rack,
            &self.by_icmp,
            &self.probes,
            &self.timeouts,
            &self.after_timeout,
            &self.holes_filled,
        ]
        .iter()
        .map(|seen| seen.count)
        .sum()
    }
}
