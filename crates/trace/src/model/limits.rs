//! What limited a transfer: limits, stalls, and the metrics of RFC 6349.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tcplab_quantities::{self as quantities, Quantity};
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::Confidence;

/// The limit of one direction's rate during a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// No data to send: all data are acknowledged or in flight, and neither window is full.
    Application,
    /// The advertised window is full (RFC 9293 section 3.8.6). Linux's own account
    /// (`tcpi_rwnd_limited`) leaves out the time in which a sender that paces waits for its pacing
    /// timer as well (`tcp_write_xmit` asks `tcp_pacing_check` before `tcp_snd_wnd_test`): for BBR
    /// it may be half of this. When that timer ran out while the window was full, no packet shows.
    ReceiveWindow,
    /// Less than either window is in flight, and sending continues when ACKs free room: the send
    /// buffer is full of unacknowledged data. At the receiver this looks like a full window.
    SendBuffer,
    /// The congestion window grows by leaps each RTT (RFC 5681 section 3.1).
    SlowStart,
    /// The congestion window is full and the next ACK is awaited (`tcp_cwnd_test` in Linux), though
    /// the path could carry more.
    Congestion,
    /// The path carries no more, in recovery too: data arrive at its bottleneck's rate, or a queue
    /// stands. Or a pacing timer spaces the packets of a sender with data and room in its windows:
    /// it sends at what it takes for the path's rate.
    Path,
    /// Waiting for a retransmission timer.
    Timeout,
}

impl Limit {
    /// The time under it.
    pub fn quantity(self) -> &'static Quantity {
        match self {
            Limit::Application => &quantities::LIMITED_BY_APPLICATION,
            Limit::ReceiveWindow => &quantities::LIMITED_BY_RECEIVE_WINDOW,
            Limit::SendBuffer => &quantities::LIMITED_BY_SEND_BUFFER,
            Limit::SlowStart => &quantities::LIMITED_BY_SLOW_START,
            Limit::Congestion => &quantities::LIMITED_BY_CONGESTION_WINDOW,
            Limit::Path => &quantities::LIMITED_BY_PATH,
            Limit::Timeout => &quantities::LIMITED_BY_TIMEOUT,
        }
    }
    /// All, in the order of [`LimitShares`].
    pub const ALL: [Limit; 7] = [
        Limit::Application,
        Limit::ReceiveWindow,
        Limit::SendBuffer,
        Limit::SlowStart,
        Limit::Congestion,
        Limit::Path,
        Limit::Timeout,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Application => "application",
            Limit::ReceiveWindow => "receive window",
            Limit::SendBuffer => "send buffer",
            Limit::SlowStart => "slow start",
            Limit::Congestion => "congestion window",
            Limit::Path => "path rate",
            Limit::Timeout => "timeout",
        }
    }
}

/// Consecutive round trips with one limit, or one long wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitPeriod {
    /// The limit of most of its time.
    pub limit: Limit,
    /// Its time by limit; limits alternate within a round trip.
    pub shares: LimitShares,
    /// From.
    pub from: Instant,
    /// Until; the next period begins here.
    pub until: Instant,
    /// Data newly acknowledged in it.
    pub acked: Bytes,
    /// The frames at its edges.
    pub frames: (u64, u64),
}

/// The time of a transfer by limit, from the first data to the last ACK.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitShares {
    /// The time under each of [`Limit::ALL`].
    pub spans: [Span; 7],
    /// Of the application's time, that with nothing in flight: outside Linux's `tcpi_busy_time`.
    pub idle: Span,
    /// The confidence: lower away from the sender, whose reactions are then dated by estimate.
    pub confidence: Confidence,
}

/// With a name for each limit: `limited_by_path_ns`.
impl Serialize for LimitShares {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for limit in Limit::ALL {
            map.serialize_entry(limit.quantity().key, &self.of(limit).as_nanos())?;
        }
        map.serialize_entry(quantities::IDLE_NS.key, &self.idle.as_nanos())?;
        map.serialize_entry(quantities::LIMITS_CONFIDENCE.key, &self.confidence)?;
        map.end()
    }
}

impl LimitShares {
    /// Time under `limit`.
    pub fn of(&self, limit: Limit) -> Span {
        self.spans[limit as usize]
    }
    /// All the time.
    pub fn total(&self) -> Span {
        self.spans.iter().fold(Span::ZERO, |sum, &span| sum + span)
    }
    /// The time with something in flight.
    pub fn busy(&self) -> Span {
        self.total().saturating_sub(self.idle)
    }
    /// Adds the times of another stretch.
    pub fn add(&mut self, other: &LimitShares) {
        for (sum, &span) in self.spans.iter_mut().zip(&other.spans) {
            *sum += span;
        }
        self.idle += other.idle;
    }
    /// The share of `limit` in all the time, 0 to 1; 0 if there was none.
    pub fn share(&self, limit: Limit) -> f64 {
        let total = self.total().as_secs_f64();
        if total > 0.0 { self.of(limit).as_secs_f64() / total } else { 0.0 }
    }
    /// The limit with the largest share, if there was any time.
    pub fn largest(&self) -> Option<Limit> {
        let longest = Limit::ALL.into_iter().max_by_key(|&limit| self.of(limit))?;
        (self.of(longest) > Span::ZERO).then_some(longest)
    }
}

/// A stall: no progress for longer than the smaller of two smoothed RTTs and the retransmission
/// timeout (TAPO, "Demystifying and Mitigating TCP Stalls at the Server Side", section 3). What an
/// answer takes beside the way there and back is one from 10 ms on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// The last packet before it; of a late answer, when the request had arrived as seen from the
    /// capture point: its ACK, or as much after it as the way to that end takes there and back.
    pub from: Instant,
    /// The packet that ended it.
    pub until: Instant,
    /// The frames of these two.
    pub frames: (u64, u64),
    /// Why.
    pub cause: StallCause,
    /// Bytes in flight meanwhile.
    pub in_flight: Bytes,
}

/// The cause of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StallCause {
    /// The sender's application took long before its answer, or before the first data of all.
    SenderIdle,
    /// The sender's application paused within an answer.
    SenderSlow,
    /// No request from the other side.
    NoRequest,
    /// Zero window.
    ZeroWindow,
    /// The window had room for less than a segment, and nothing was in flight.
    ReceiveWindow,
    /// Packets or ACKs were late; nothing was retransmitted.
    PacketDelay,
    /// A timeout because a retransmission was lost.
    DoubleLoss,
    /// A timeout because the last segments before a pause were lost.
    TailLoss,
    /// A timeout because fewer than four segments were in flight: too few for duplicate ACKs.
    SmallWindow,
    /// Too few in flight because of a small receive window.
    SmallReceiveWindow,
    /// A timeout because everything in flight was lost.
    ContinuousLoss,
    /// A timeout although the data arrived: acknowledgements were late or lost.
    AckLoss,
    /// A timeout although ACKs had revealed the loss to the sender: it did not react.
    IgnoredAcks,
    /// A timeout of another kind.
    Timeout,
    /// Unknown.
    Undetermined,
}

impl StallCause {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            StallCause::SenderIdle => "sender idle",
            StallCause::SenderSlow => "sender slow",
            StallCause::NoRequest => "no request",
            StallCause::ZeroWindow => "zero window",
            StallCause::ReceiveWindow => "receive window",
            StallCause::PacketDelay => "packet delay",
            StallCause::DoubleLoss => "lost retransmission",
            StallCause::TailLoss => "tail loss",
            StallCause::SmallWindow => "small flight",
            StallCause::SmallReceiveWindow => "small receive window",
            StallCause::ContinuousLoss => "window lost",
            StallCause::AckLoss => "ACK loss",
            StallCause::IgnoredAcks => "ACKs ignored",
            StallCause::Timeout => "timeout",
            StallCause::Undetermined => "undetermined",
        }
    }
}

/// The sums over the stalls of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallSum {
    /// Which.
    pub cause: StallCause,
    /// How many.
    pub count: u64,
    /// How long, together.
    pub time: Span,
    /// The longest.
    pub longest: Stall,
}

/// The metrics of RFC 6349 section 4 for one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Transfer {
    /// First data to the acknowledgement of the last.
    pub time: Span,
    /// Bytes acknowledged.
    pub acked: Bytes,
    /// Those over the time.
    pub goodput: Option<Rate>,
    /// All data bytes over the time, retransmissions included.
    pub throughput: Option<Rate>,
    /// The path's capacity, from the spacing of acknowledged data: the baseline.
    pub capacity: Option<Rate>,
    /// Actual time over the time at the path's capacity: the transfer time ratio.
    pub time_ratio: Option<f64>,
    /// Data bytes not retransmitted over all, percent.
    pub efficiency: Option<f64>,
    /// The smallest round trip: the other baseline.
    pub baseline: Option<Span>,
    /// Buffer delay: mean RTT of the data above the baseline, percent.
    pub buffer_delay: Option<f64>,
}

impl Transfer {
    /// Less data than these few full segments of Ethernet have no rate: their time is that of one
    /// packet.
    pub const LEAST: Bytes = Bytes::new(4 * 1_460);
}

/// Data sent and acknowledged over time: intervals of equal length from the first packet on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// The length of an interval; it grows so that there are at most [`Series::MOST`].
    pub interval: Span,
    /// When the first begins.
    pub from: Instant,
    /// Data bytes sent in each, repeats counted.
    pub sent: Vec<u64>,
    /// Bytes newly acknowledged in each.
    pub acked: Vec<u64>,
}

impl Series {
    /// As many intervals are kept.
    pub const MOST: usize = 512;
}
