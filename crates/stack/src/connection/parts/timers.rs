//! The timers of a connection besides those of its two halves.

use tcplab_units::Instant;

use crate::jiffies::Jiffies;

/// Timers and times.
#[derive(Debug)]
pub(crate) struct Timers {
    pub(crate) jiffies: Jiffies,
    pub(crate) keep_alive: KeepAlive,
    /// When FIN-WAIT-2 or TIME-WAIT is over.
    pub(crate) over_at: Option<Instant>,
    /// When a possible attack was last answered.
    pub(crate) last_challenge: Option<Instant>,
}

impl Timers {
    pub(crate) fn new(jiffies: Jiffies) -> Timers {
        Timers { jiffies, keep_alive: KeepAlive::default(), over_at: None, last_challenge: None }
    }
}

/// Keep-alive probes.
#[derive(Debug, Default)]
pub(crate) struct KeepAlive {
    pub(crate) at: Option<Instant>,
    /// Probes not answered.
    pub(crate) probes: u8,
}
