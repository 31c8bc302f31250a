//! A window reduction in progress.

/// Segments counted since it began.
#[derive(Debug, Default)]
pub(crate) struct Reduction {
    /// Delivered (`prr_delivered`).
    pub(crate) delivered: u32,
    /// Sent (`prr_out`).
    pub(crate) sent: u32,
    /// What xnu allows beyond what was sent: one, and one more for each duplicate ACK.
    pub(crate) earned: u32,
}
