//! What the peer said last: its window, and whether it answers.

use tcplab_units::Instant;

/// The peer as its acknowledgements show it.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// Its window from the first outstanding byte on, bytes.
    pub(crate) window: u64,
    /// The largest window so far, bytes.
    pub(crate) largest_window: u64,
    /// Where the segment began that carried the window (SND.WL1).
    pub(crate) window_sequence: u64,
    /// The timestamp echoed last.
    pub(crate) echo: Option<u32>,
    /// When the peer was last heard from.
    pub(crate) heard_at: Instant,
    pub(crate) probe: WindowProbe,
}

impl Peer {
    /// Whether it echoed a timestamp older than `stamp`: it answers what was sent before that.
    pub(crate) fn echoes_before(&self, stamp: u32) -> bool {
        self.echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }
}

/// Zero window probes since the peer was last heard from.
#[derive(Debug, Default)]
pub(crate) struct WindowProbe {
    /// Probes not answered (`icsk_probes_out`).
    pub(crate) out: u32,
    /// How often the interval was doubled.
    pub(crate) backoff: u32,
    /// When the first was due (`icsk_probes_tstamp`).
    pub(crate) since: Option<Instant>,
}
