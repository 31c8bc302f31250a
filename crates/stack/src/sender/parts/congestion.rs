//! The congestion control and how much of its window is used.

use tcplab_units::Instant;

use crate::congestion::CongestionControl;

/// The congestion control and what surrounds it.
#[derive(Debug)]
pub(crate) struct Congestion {
    pub(crate) control: Box<dyn CongestionControl>,
    /// Whether it sets window and pacing itself (`cong_control`).
    pub(crate) sets_window: bool,
    pub(crate) usage: Usage,
}

impl Congestion {
    pub(crate) fn new(control: Box<dyn CongestionControl>) -> Congestion {
        Congestion { control, sets_window: false, usage: Usage::default() }
    }
}

/// How much of the window was used (RFC 7661).
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// The round ends when this position is acknowledged (`cwnd_usage_seq`).
    pub(crate) round: u64,
    /// The most segments out while the window was not full (`snd_cwnd_used`).
    pub(crate) segments: u32,
    /// The idle time that was handled: when its last segment left.
    pub(crate) restarted: Option<Instant>,
    /// When the window was last full, or changed (`snd_cwnd_stamp`).
    pub(crate) since: Instant,
}
