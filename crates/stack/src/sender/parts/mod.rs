//! What a sender remembers. None of these knows the sender.

mod alarm;
mod rate;

use tcplab_units::{Instant, Rate, Span};

pub(super) use self::alarm::{Alarm, Purpose};
pub(super) use self::rate::{Delivered, Delivery, RateMeter};
use super::interface::ToSend;
use crate::congestion::{CongestionControl, State};

/// The congestion control and what surrounds it.
#[derive(Debug)]
pub(super) struct Congestion {
    pub(super) control: Box<dyn CongestionControl>,
    /// Whether it sets window and pacing itself (`cong_control`).
    pub(super) sets_window: bool,
    pub(super) usage: Usage,
}

impl Congestion {
    pub(super) fn new(control: Box<dyn CongestionControl>) -> Congestion {
        Congestion { control, sets_window: false, usage: Usage::default() }
    }
}

/// How much of the window was used (RFC 7661).
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The round ends when this position is acknowledged (`cwnd_usage_seq`).
    pub(super) round: u64,
    /// The most segments out while the window was not full (`snd_cwnd_used`).
    pub(super) segments: u32,
    /// The idle time that was handled: when its last segment left.
    pub(super) restarted: Option<Instant>,
    /// When the window was last full, or changed (`snd_cwnd_stamp`).
    pub(super) since: Instant,
}

/// What an acknowledgement allows to be retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Retransmit {
    /// Nothing.
    #[default]
    Nothing,
    /// What is marked lost.
    Lost,
    /// New data first; what is marked lost only if there is none (F-RTO).
    AfterNew,
}

/// What leaves next.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// A segment that a timer sent, not yet handed out.
    pub(super) waiting: Option<ToSend>,
    /// What may be retransmitted.
    pub(super) retransmit: Retransmit,
    /// Whether new data left since the sender last had nothing to send.
    pub(super) bursting: bool,
    /// Up to where the buffer that leaves next took from the one behind it.
    pub(super) grown: Option<u64>,
    /// Where the last small segment ends (`snd_sml`).
    pub(super) small_end: u64,
    /// Whether the next new segment carries CWR.
    pub(super) cwr_queued: bool,
    /// What left so far.
    pub(super) counters: Counters,
}

/// Counters that only grow. Bytes are data bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counters {
    /// Segments retransmitted (`tcpi_total_retrans`).
    pub(super) retransmissions: u64,
    /// Bytes sent, retransmissions included (`tcpi_bytes_sent`).
    pub(super) bytes_sent: u64,
    /// Bytes retransmitted (`tcpi_bytes_retrans`).
    pub(super) bytes_retransmitted: u64,
    /// Segments with data sent, retransmissions included (`tcpi_data_segs_out`).
    pub(super) data_segments: u64,
}

/// When the next segment may leave (`tcp_update_skb_after_send`).
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// The next segment leaves no earlier (`tcp_wstamp_ns`).
    next: Instant,
    /// Whether something waits for that.
    pub(super) waits: bool,
    /// Whether segments are paced at all.
    pub(super) on: bool,
    /// SO_MAX_PACING_RATE.
    pub(super) most: Option<Rate>,
}

impl Pacing {
    /// Whether nothing may leave yet; if so, remembers that something waits.
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        self.waits = self.on && self.next > now;
        self.waits
    }

    /// When what waits may leave.
    pub(super) fn at(&self) -> Option<Instant> {
        self.waits.then_some(self.next)
    }

    /// How long until then.
    pub(super) fn delay(&self, now: Instant) -> Span {
        if self.on { self.next.since(now) } else { Span::ZERO }
    }

    /// When a segment was last sent, or the next may.
    pub(super) fn last(&self) -> Instant {
        self.next
    }

    /// `len` data bytes leave. Up to half of the time since the last is credited for being late.
    pub(super) fn send(&mut self, now: Instant, len: u64, rate: Option<Rate>) {
        let before = self.next;
        self.next = before.max(now);
        let Some(rate) = rate.filter(|rate| self.on && rate.bits_per_second() > 0) else { return };
        let nanos = u128::from(len) * 8_000_000_000 / u128::from(rate.bits_per_second());
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX >> 1);
        let credit = self.next.since(before).as_nanos();
        self.next += Span::from_nanos(nanos - credit.min(nanos / 2));
    }
}

/// Segment sizes, data bytes.
#[derive(Debug, Default)]
pub(super) struct PathMtu {
    /// A full segment by MSS and path MTU.
    pub(super) known: u32,
    /// The most since a black hole is suspected.
    pub(super) suspected: Option<u32>,
    /// A full segment by both, before the peer's window limits it.
    pub(super) full: u32,
    /// What options take of a segment now, besides those that are in every one.
    pub(super) options: u32,
    /// Everything below is retransmitted because it was too large, and for no other reason.
    pub(super) cut_to: u64,
}

impl PathMtu {
    pub(super) fn new(mss: u32) -> PathMtu {
        PathMtu { known: mss, full: mss, ..PathMtu::default() }
    }

    /// A full segment follows from what is known and what is suspected.
    pub(super) fn resize(&mut self) {
        self.full = self.known.min(self.suspected.unwrap_or(u32::MAX));
    }
}

/// The peer as its acknowledgements show it.
#[derive(Debug, Default)]
pub(super) struct Peer {
    /// Its window from the first outstanding byte on, bytes.
    pub(super) window: u64,
    /// The largest window so far, bytes.
    pub(super) largest_window: u64,
    /// Where the segment began that carried the window (SND.WL1).
    pub(super) window_sequence: u64,
    /// The timestamp echoed last.
    pub(super) echo: Option<u32>,
    /// When the last segment of the peer arrived.
    pub(super) heard_at: Instant,
    pub(super) probe: WindowProbe,
}

impl Peer {
    /// Whether it echoed a timestamp older than `stamp`: it answers what was sent before that.
    pub(super) fn echoes_before(&self, stamp: u32) -> bool {
        self.echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }
}

/// Zero window probes since the last segment of the peer.
#[derive(Debug, Default)]
pub(super) struct WindowProbe {
    /// Probes not answered (`icsk_probes_out`).
    pub(super) out: u32,
    /// How often the interval was doubled.
    pub(super) backoff: u32,
    /// When the first was due (`icsk_probes_tstamp`).
    pub(super) since: Option<Instant>,
}

/// A reduction that may be undone.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// The first outstanding byte when the window was reduced; `None`: nothing to undo
    /// (`undo_marker`).
    pub(super) marker: Option<u64>,
    /// Retransmissions since, less those a D-SACK showed to be spurious; `None`: there were none
    /// (`undo_retrans`).
    pub(super) retransmitted: Option<u32>,
    /// The threshold before; 0: the reduction stands.
    pub(super) prior_ssthresh: u32,
    /// The timestamp of the first retransmission (`retrans_stamp`).
    pub(super) stamp: Option<u32>,
    /// Reductions undone so far.
    pub(super) count: u64,
    /// What a BSD stack restores if the first timeout was spurious.
    pub(super) before: Option<BadRetransmit>,
}

/// A sender before its first timeout in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct BadRetransmit {
    /// An acknowledgement before this shows that the timeout was spurious (`t_badrxtwin`).
    pub(super) until: Instant,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) high: u64,
    pub(super) state: State,
}

impl Undo {
    /// There is nothing to undo any more.
    pub(super) fn clear(&mut self) {
        self.marker = None;
        self.stamp = None;
    }

    /// Whether D-SACKs showed every retransmission to be spurious.
    pub(super) fn all_spurious(&self) -> bool {
        self.retransmitted == Some(0)
    }

    /// A D-SACK showed `segments` retransmissions to be spurious.
    pub(super) fn count_spurious(&mut self, segments: u32) {
        self.retransmitted = self.retransmitted.map(|count| count.saturating_sub(segments));
    }
}
