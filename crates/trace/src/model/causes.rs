//! Counts of segments below the highest sequence number, by cause.

use tcplab_units::{Bytes, Instant, Span};

use super::{Occurrences, Range};

/// Counts by cause in one direction.
///
/// Counts are of segments on the wire, also where offloading made the capture see larger packets.
///
/// At the sender, causes are as certain as its timers and ACKs are visible. Behind the loss they
/// follow from the receiver's ACKs and the time of the answer: fast retransmission and timeout are
/// distinguished well, a probe from a timeout only by the remaining silence, and consecutive
/// timeouts not at all. Data lost up to the last packet are found only where IP identifications
/// count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Causes {
    /// Retransmitted on three duplicate ACKs (RFC 5681 section 3.2).
    pub by_duplicate_acks: Occurrences,
    /// Retransmitted on SACK evidence (RFC 6675).
    pub by_sack: Occurrences,
    /// Retransmitted by RACK (RFC 8985 section 6.2).
    pub by_rack: Occurrences,
    /// Retransmitted on ICMP "packet too big" (RFC 1191, RFC 8201).
    pub by_icmp: Occurrences,
    /// Tail loss probes (RFC 8985 section 7) with old data.
    pub tail_loss_probes: Occurrences,
    /// Tail loss probes with new data.
    pub tail_loss_probes_new_data: Occurrences,
    /// Retransmission timeouts (RFC 6298).
    pub timeouts: Occurrences,
    /// Of these, those after ACKs that had revealed the loss to the sender.
    pub ignored_acks: IgnoredAcks,
    /// The most consecutive timeouts of one segment.
    pub backoff_max: u64,
    /// Segments, SYNs aside, whose timer expired several times in a row.
    pub backoffs: Backoffs,
    /// Retransmitted after a timeout, triggered by ACKs.
    pub after_timeout: Occurrences,
    /// SYNs and FINs repeated too soon for a timer.
    pub control_repeated: Occurrences,
    /// Of all these, retransmissions of data retransmitted before: a retransmission was lost.
    pub lost_retransmissions: Occurrences,
    /// SYNs retransmitted.
    pub syn_retransmissions: Occurrences,
    /// FINs retransmitted, without data.
    pub fin_retransmissions: Occurrences,
    /// Spurious retransmissions reported by D-SACK (RFC 2883).
    pub spurious_by_dsack: Occurrences,
    /// Spurious retransmissions shown by timestamps (Eifel, RFC 3522).
    pub spurious_by_timestamp: Occurrences,
    /// All spurious retransmissions, however they are known.
    pub spurious: SpuriousRetransmissions,
    /// Retransmissions without a visible cause.
    pub retransmissions_unexplained: Occurrences,
    /// Of all these, retransmissions of data below the first captured: sent, and lost, before the
    /// capture began.
    pub before_capture: Occurrences,
    /// Captured after later data; unknown whether retransmitted or out of order.
    pub gaps_filled: Occurrences,
    /// Out of order.
    pub out_of_order: Occurrences,
    /// The largest displacement, bytes.
    pub out_of_order_max: Bytes,
    /// Packets without data that passed before data that their sender had sent earlier: ACKs that a
    /// device sends first. The data kept their order.
    pub early_acks: Occurrences,
    /// Duplicates made by the network.
    pub network_duplicates: Occurrences,
    /// Frames that a radio sent again and that the capture heard before (the bit Retry of IEEE
    /// 802.11).
    pub link_retries: Occurrences,
    /// Frames captured twice.
    pub capture_duplicates: Occurrences,
    /// Acknowledged but not captured.
    pub acked_not_captured: Occurrences,
    /// Their bytes.
    pub acked_not_captured_bytes: Bytes,
}

/// Timeouts of a sender that did not react to ACKs which had reached it and revealed the loss.
///
/// Beside the sender, ACKs have reached it. In the middle the timestamp that it echoes proves it
/// (RFC 7323 section 4.3), as long as nothing was lost before. Elsewhere nothing is counted: the
/// ACKs may be lost, or the sender's reaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IgnoredAcks {
    /// After three duplicate ACKs without SACK (RFC 5681 section 3.2).
    pub after_duplicate_acks: Occurrences,
    /// After SACK blocks that showed the segment lost, or three duplicate ACKs with SACK in use
    /// (RFC 6675 sections 4 and 5).
    pub after_sack: Occurrences,
    /// After a partial ACK in fast recovery (RFC 6582 section 3.2, step 3).
    pub after_partial_ack: Occurrences,
    /// Duplicate ACKs that came before these timeouts.
    pub duplicate_acks: u64,
    /// New data that the sender sent between revelation and timeout.
    pub sent: Bytes,
    /// The time between revelation and timeout.
    pub waited: Span,
}

impl IgnoredAcks {
    /// How many timeouts.
    pub fn timeouts(&self) -> u64 {
        self.after_duplicate_acks.count + self.after_sack.count + self.after_partial_ack.count
    }
}

/// Segments whose retransmission timer expired several times in a row (RFC 6298 section 5.5).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backoffs {
    /// How many segments.
    pub segments: u64,
    /// The time from the begin of their silence to their last timeout.
    pub time: Span,
    /// The one with the most timeouts; of equals the first.
    pub longest: Option<Backoff>,
}

/// Timeouts of one segment in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backoff {
    /// The segment.
    pub range: Range,
    /// How many timeouts.
    pub timeouts: u64,
    /// Since when nothing got through.
    pub since: Instant,
    /// The last timeout.
    pub until: Instant,
    /// How long each timer ran; of the first [`Occurrences::NAMED`].
    pub waits: Vec<Span>,
    /// The last frame before the silence, and these retransmissions.
    pub frames: Vec<u64>,
}

/// Spurious retransmissions, each counted once, however many ACKs show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpuriousRetransmissions {
    /// How many, and the first of them.
    pub sent: Occurrences,
    /// Of these, those by the retransmission timer.
    pub timeouts: u64,
    /// Of these, tail loss probes.
    pub probes: u64,
    /// Of these, fast retransmissions.
    pub fast: u64,
    /// Of these, retransmissions after a timeout.
    pub after_timeout: u64,
    /// Of these, those of data that had been acknowledged before.
    pub acknowledged: u64,
    /// Their payload.
    pub bytes: Bytes,
    /// The first [`Occurrences::NAMED`] frames that show it.
    pub shown_by: Vec<u64>,
}

/// The rule by which an ACK reveals a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossRule {
    /// Three duplicate ACKs (RFC 5681 section 3.2).
    DuplicateAcks,
    /// SACK blocks (RFC 6675 section 4).
    Sack,
    /// A partial ACK in fast recovery (RFC 6582 section 3.2).
    PartialAck,
}

impl Causes {
    /// All retransmissions of data, SYN or FIN.
    pub fn retransmissions(&self) -> u64 {
        [
            &self.by_duplicate_acks,
            &self.by_sack,
            &self.by_rack,
            &self.by_icmp,
            &self.tail_loss_probes,
            &self.timeouts,
            &self.after_timeout,
            &self.control_repeated,
            &self.retransmissions_unexplained,
        ]
        .iter()
        .map(|seen| seen.count)
        .sum()
    }
}
