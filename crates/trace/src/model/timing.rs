//! Round trips.

use tcplab_units::Span;

/// The RTTs of one direction's data, from its passing the capture point to the acknowledgement's.
///
/// Only unambiguous samples count (Karn's rule, RFC 6298 section 3): data sent once, or with an
/// echoed timestamp that shows the answered transmission (RFC 7323 section 4). Each ACK gives one
/// sample, of its newest data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoundTrips {
    /// By cumulative acknowledgement.
    pub by_ack: u64,
    /// By SACK block.
    pub by_sack: u64,
    /// Of repeated data, and what was acknowledged with them, by the echoed timestamp.
    pub by_timestamp: u64,
    /// Smallest, over all samples.
    pub min: Option<Span>,
    /// Largest.
    pub max: Option<Span>,
    /// Arithmetic mean.
    pub mean: Option<Span>,
    /// Samples of ACKs that acknowledge data, not SYN or FIN alone: a FIN may wait for the
    /// application, and its ACK for the receiver's timer, long after the transfer.
    pub of_data: u64,
    /// Arithmetic mean of those.
    pub mean_of_data: Option<Span>,
    /// Half were not longer; within 2 % from a microsecond up to two minutes.
    pub median: Option<Span>,
    /// 95 of 100 were not longer; as exact.
    pub p95: Option<Span>,
    /// SRTT at the end (RFC 6298 section 2), fed as Linux feeds its own: with the oldest data that
    /// an acknowledgement takes in, and by timestamps where nothing else serves.
    pub smoothed: Option<Span>,
    /// RTTVAR at the end, as in Linux (`tcp_rtt_estimator`: `mdev_us`, shown by `ss`).
    pub variation: Option<Span>,
    /// The retransmission timeout that Linux would have had at the end (`__tcp_set_rto`, at least
    /// 200 ms more than the smoothed RTT), without backoff and not rounded up to the
    /// kernel's tick; none where the capture point is known not to have stood beside the sender.
    pub timeout: Option<Span>,
}

impl RoundTrips {
    /// All samples.
    pub fn samples(&self) -> u64 {
        self.by_ack + self.by_sack + self.by_timestamp
    }
}
