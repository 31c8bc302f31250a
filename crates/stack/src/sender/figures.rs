//! The statistics of a [`super::Sender`].

use tcplab_units::Span;

use super::parts::{Counters, DeliveryRate};
use super::scoreboard::Outstanding;

/// A sender's statistics, for `TCP_INFO` and the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Smoothed RTT (`tcpi_rtt`).
    pub(crate) srtt: Option<Span>,
    /// Its deviation as `tcpi_rttvar` has it.
    pub(crate) rttvar: Span,
    /// The RTT minimum of the last five minutes (`tcpi_min_rtt`).
    pub(crate) min_rtt: Option<Span>,
    /// The retransmission timer.
    pub(crate) timeout: TimeoutFigures,
    /// Window probes unanswered (`tcpi_probes`).
    pub(crate) probes: u32,
    /// Segments outstanding.
    pub(crate) outstanding: Outstanding,
    /// The reordering expected (`tcpi_reordering`), segments.
    pub(crate) reordering: u32,
    /// How often reordering was seen (`tcpi_reord_seen`).
    pub(crate) reorderings: u64,
    /// D-SACKs received (`tcpi_dsack_dups`).
    pub(crate) dsacks: u64,
    /// What was sent.
    pub(crate) counters: Counters,
    /// Segments delivered so far (`tcpi_delivered`).
    pub(crate) delivered: u64,
    /// The latest delivery rate (`tcpi_delivery_rate`).
    pub(crate) delivery: Option<DeliveryRate>,
    /// How often a reduction was undone.
    pub(crate) undone: u64,
}

/// The retransmission timer's statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeoutFigures {
    /// The timeout, backed off (`tcpi_rto`).
    pub(crate) rto: Span,
    /// How often it is backed off (`tcpi_backoff`).
    pub(crate) backoff: u32,
    /// Timeouts in a row (`tcpi_retransmits`).
    pub(crate) in_a_row: u32,
    /// All timeouts (`tcpi_total_rto`).
    pub(crate) total: u64,
}
