//! The tail loss probe outstanding (RFC 8985 section 7).

/// A probe.
#[derive(Debug, Default)]
pub(in crate::sender) struct LossProbe {
    /// Where new data began when it was sent (`tlp_high_seq`); `None`: no probe.
    pub(in crate::sender) high: Option<u64>,
    /// Whether it retransmitted a segment.
    pub(in crate::sender) retransmits: bool,
}

impl LossProbe {
    pub(in crate::sender) fn end(&mut self) {
        self.high = None;
    }

    pub(in crate::sender) fn is_retransmission(&self) -> bool {
        self.high.is_some() && self.retransmits
    }
}
