//! The tail loss probe outstanding (RFC 8985 section 7).

/// A probe.
#[derive(Debug, Default)]
pub(crate) struct LossProbe {
    /// Where new data began when it was sent (`tlp_high_seq`); `None`: no probe.
    pub(crate) high: Option<u64>,
    /// Whether it retransmitted a segment.
    pub(crate) retransmits: bool,
}

impl LossProbe {
    pub(crate) fn end(&mut self) {
        self.high = None;
    }

    pub(crate) fn is_retransmission(&self) -> bool {
        self.high.is_some() && self.retransmits
    }
}
