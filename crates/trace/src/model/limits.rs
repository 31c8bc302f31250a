//! What held a transfer back: limits, stalls, and the metrics of RFC 6349.

use serde::Serialize;
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::Confidence;

/// What bounded the rate of one direction during a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Nothing was to be sent: the application had no data, everything is acknowledged or on its
    /// way, and neither window is full.
    Application,
    /// The advertised window is full (RFC 9293 section 3.8.6). Linux's own account
    /// (`tcpi_rwnd_limited`) leaves out the time in which a sender that paces waits for its pacing
    /// timer as well (`tcp_write_xmit` asks `tcp_pacing_check` before `tcp_snd_wnd_test`): for BBR
    /// it may be half of this. When that timer ran out while the window was full, no packet shows.
    ReceiveWindow,
    /// Less than either window is in flight, and sending goes on when acknowledgements have freed
    /// room: the send buffer is full of what is in flight already. Beside the receiver it cannot
    /// be told from a full window.
    SendBuffer,
    /// The congestion window grows from round trip to round trip (RFC 5681 section 3.1).
    SlowStart,
    /// The congestion window is full: after loss, or still below what the path would carry.
    Congestion,
    /// The path carries no more: acknowledgements come back at the rate of its narrowest link, a
    /// queue stands, or the sender paces itself at that rate.
    Path,
    /// Waiting for a timer to run out.
    Timeout,
}

impl Limit {
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

/// A stretch of RTTs with one limit, or one long wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LimitPeriod {
    /// Which: the one that bounded most of each round trip in it.
    pub limit: Limit,
    /// How its time is shared out; within a round trip, limits take turns.
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

/// How the time of a transfer, from the first data to the last acknowledgement, is shared out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LimitShares {
    /// The time under each of [`Limit::ALL`].
    pub spans: [Span; 7],
    /// Of the application's time, that with nothing in flight: when Linux does not call the
    /// connection busy (`tcpi_busy_time`).
    pub idle: Span,
    /// How sure they are: less where the capture point did not stand beside the sender, whose
    /// reactions then are judged by when they ought to have come.
    pub confidence: Confidence,
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

/// A time in which a transfer stood still (TAPO, "Demystifying and Mitigating TCP Stalls at the
/// Server Side", section 3): longer than the smaller of two smoothed RTTs and the
/// retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// The packet before it.
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

/// Why a transfer stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StallCause {
    /// The sender of data had nothing to send at first: its application thought about the answer.
    SenderIdle,
    /// Nothing to send in the middle of an answer: the application could not keep up.
    SenderSlow,
    /// The other side asked for nothing.
    NoRequest,
    /// The receive window was closed.
    ZeroWindow,
    /// Packets or acknowledgements were slow; nothing was retransmitted.
    PacketDelay,
    /// A timeout because a retransmission was lost.
    DoubleLoss,
    /// A timeout because the last segments before a pause were lost.
    TailLoss,
    /// A timeout because fewer than four segments were in flight: too few for duplicate
    /// acknowledgements.
    SmallWindow,
    /// The same, because the receive window was that small.
    SmallReceiveWindow,
    /// A timeout because everything in flight was lost.
    ContinuousLoss,
    /// A timeout although the data arrived: acknowledgements were late or lost.
    AckLoss,
    /// A timeout of another kind.
    Timeout,
    /// Nothing tells.
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
            StallCause::PacketDelay => "packet delay",
            StallCause::DoubleLoss => "lost retransmission",
            StallCause::TailLoss => "tail loss",
            StallCause::SmallWindow => "small flight",
            StallCause::SmallReceiveWindow => "small receive window",
            StallCause::ContinuousLoss => "window lost",
            StallCause::AckLoss => "ACK loss",
            StallCause::Timeout => "timeout",
            StallCause::Undetermined => "undetermined",
        }
    }
}

/// The sums over the stalls of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Transfer {
    /// First data to the acknowledgement of the last.
    pub time: Span,
    /// Bytes acknowledged.
    pub acked: Bytes,
    /// Those over the time.
    pub goodput: Option<Rate>,
    /// All data bytes over the time, repeats counted.
    pub throughput: Option<Rate>,
    /// The path's capacity, as the closest even spacing of acknowledged data shows: the baseline.
    pub capacity: Option<Rate>,
    /// Actual time over the time at the path's capacity: the transfer time ratio.
    pub time_ratio: Option<f64>,
    /// Data bytes not retransmitted over all, per cent.
    pub efficiency: Option<f64>,
    /// The smallest round trip: the other baseline.
    pub baseline: Option<Span>,
    /// How much longer the mean round trip was, per cent.
    pub buffer_delay: Option<f64>,
}

/// Data sent and acknowledged over time: intervals of equal length from the first packet on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Series {
    /// The length of an interval; it grows with the connection so that there are at most
    /// [`Series::MOST`].
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
