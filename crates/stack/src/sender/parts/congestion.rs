//! The congestion control and how much of its window is used.

use tcplab_units::Instant;

use crate::congestion::CongestionControl;

/// The congestion control and what surrounds it.
#[derive(Debug)]
pub(in crate::sender) struct Congestion {
    pub(in crate::sender) control: Box<dyn CongestionControl>,
    /// Whether it sets window and pacing itself (`cong_control`).
    pub(in crate::sender) sets_window: bool,
    pub(in crate::sender) usage: Usage,
}

impl Congestion {
    pub(in crate::sender) fn new(control: Box<dyn CongestionControl>) -> Congestion {
        Congestion { control, sets_window: false, usage: Usage::default() }
    }
}

/// How much of the window was used (RFC 7661).
#[derive(Debug, Default)]
pub(in crate::sender) struct Usage {
    /// The round ends when this position is acknowledged (`cwnd_usage_seq`).
    pub(in crate::sender) round: u64,
    /// The most segments out while the window was not full (`snd_cwnd_used`).
    pub(in crate::sender) segments: u32,
    /// The idle time that was handled: when its last segment left.
    pub(in crate::sender) restarted: Option<Instant>,
    /// When the window was last full, or changed (`snd_cwnd_stamp`).
    pub(in crate::sender) since: Instant,
}
