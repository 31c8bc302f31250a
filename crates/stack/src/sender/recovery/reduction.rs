//! A window reduction in progress.

/// Segments counted since it began.
#[derive(Debug, Default)]
pub(in crate::sender) struct Reduction {
    /// Delivered (`prr_delivered`).
    pub(in crate::sender) delivered: u32,
    /// Sent (`prr_out`).
    pub(in crate::sender) sent: u32,
    /// What xnu allows beyond what was sent: one, and one more for each duplicate ACK.
    pub(in crate::sender) earned: u32,
}
