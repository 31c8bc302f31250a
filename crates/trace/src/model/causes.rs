//! Counts of what segments below the highest sequence number were.

use serde::Serialize;
use tcplab_units::Bytes;

use super::Occurrences;

/// How often each cause occurred in one direction.
///
/// Where the kernel handed large pieces to the capture point, counts are of segments on the wire.
///
/// Beside the sender the causes are as sure as its timers and the acknowledgements are seen. Behind
/// the loss they are judged by what the receiver sent and when the answer came: recovery and
/// timeout are told apart well, but a probe from a timeout only by the silence that is left of it
/// here, and which timeout in a row it is not at all, for what is lost does not come here. What was
/// lost to the last packet, and retransmitted, is found only where IP identifications count.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Causes {
    /// Sent again on three duplicate acknowledgements (RFC 5681 section 3.2).
    pub by_duplicate_acks: Occurrences,
    /// Sent again on SACK evidence (RFC 6675).
    pub by_sack: Occurrences,
    /// Sent again on the order of arrival in time (RACK, RFC 8985 section 6.2).
    pub by_rack: Occurrences,
    /// Sent again on ICMP's word that it was too large for the path (RFC 1191, RFC 8201).
    pub by_icmp: Occurrences,
    /// Tail loss probes (RFC 8985 section 7) that repeat data.
    pub tail_loss_probes: Occurrences,
    /// Tail loss probes with new data.
    pub tail_loss_probes_new_data: Occurrences,
    /// Retransmission timeouts (RFC 6298).
    pub timeouts: Occurrences,
    /// The most timeouts in a row for the same segment.
    pub backoff_max: u64,
    /// Sent again after a timeout, as acknowledgements came back.
    pub after_timeout: Occurrences,
    /// Of all these, retransmissions of what had been retransmitted before: the retransmission was
    /// lost.
    pub lost_retransmissions: Occurrences,
    /// SYNs retransmitted.
    pub syn_retransmissions: Occurrences,
    /// FINs retransmitted, without data.
    pub fin_retransmissions: Occurrences,
    /// Retransmissions that were spurious, as D-SACK (RFC 2883) tells.
    pub spurious_by_dsack: Occurrences,
    /// Retransmissions that were spurious, as timestamps tell (Eifel, RFC 3522).
    pub spurious_by_timestamp: Occurrences,
    /// At a capture point behind the loss: retransmitted, the original never seen here, and no
    /// acknowledgement that tells why. (Where there are any, such segments are counted above.)
    pub originals_not_captured: Occurrences,
    /// Overtaken on the way.
    pub out_of_order: Occurrences,
    /// By how many bytes at most.
    pub out_of_order_max: Bytes,
    /// Made by the network out of one.
    pub network_duplicates: Occurrences,
    /// Written twice by whoever captured.
    pub capture_duplicates: Occurrences,
    /// Acknowledged and never seen here: the capture missed them.
    pub acked_not_captured: Occurrences,
    /// Their bytes.
    pub acked_not_captured_bytes: Bytes,
}

impl Causes {
    /// Packets that repeat data, SYN or FIN because the sender sent them again.
    pub fn retransmissions(&self) -> u64 {
        [
            &self.by_duplicate_acks,
            &self.by_sack,
            &self.by_rack,
            &self.by_icmp,
            &self.tail_loss_probes,
            &self.timeouts,
            &self.after_timeout,
            &self.originals_not_captured,
        ]
        .iter()
        .map(|seen| seen.count)
        .sum()
    }
}
