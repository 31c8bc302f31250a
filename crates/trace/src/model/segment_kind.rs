//! What a segment is.

/// Why a segment was sent, as far as this capture point shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Data not seen before.
    New,
    /// Retransmitted on evidence, without waiting for a timer: SACK or duplicate acknowledgements
    /// (RFC 6675, RFC 8985), or an ICMP "packet too big" (RFC 1191).
    FastRetransmission,
    /// Retransmitted by a timer: no ACK prompted it (RFC 6298; RFC 8985 section 7).
    TimeoutRetransmission,
    /// Sent again after a timeout, prompted by the acknowledgements that follow it.
    AfterTimeoutRetransmission,
    /// Retransmitted, cause unknown: no ACK that passed here prompted it, and no timer can have run
    /// out. Its original, or what prompted it, may not have passed this capture point.
    UnexplainedRetransmission,
    /// Fills a gap: captured after later data, and nothing decides whether it was retransmitted or
    /// reordered. No retransmission is counted.
    FillsGap,
    /// Out of order: sent in order, reordered by the network.
    OutOfOrder,
    /// A duplicate made by the network.
    NetworkDuplicate,
    /// A frame that a radio sent again, as no acknowledgement of the link had come (IEEE 802.11); a
    /// receiver that has it drops it.
    LinkRetry,
    /// A SYN, SYN-ACK or FIN without data once more, too soon for a timer: with the answer to a
    /// packet of the peer (BSD repeats a FIN so), or because one packet came twice.
    RepeatedControl,
    /// A frame captured twice.
    CaptureDuplicate,
    /// A zero-window probe (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// A keep-alive: old data or none, just below the acknowledged data (RFC 9293 section 3.8.4).
    KeepAlive,
}

impl SegmentKind {
    /// Whether its sender retransmitted it.
    pub fn is_retransmission(self) -> bool {
        match self {
            SegmentKind::FastRetransmission
            | SegmentKind::TimeoutRetransmission
            | SegmentKind::AfterTimeoutRetransmission
            | SegmentKind::UnexplainedRetransmission
            | SegmentKind::RepeatedControl => true,
            SegmentKind::New
            | SegmentKind::FillsGap
            | SegmentKind::OutOfOrder
            | SegmentKind::NetworkDuplicate
            | SegmentKind::LinkRetry
            | SegmentKind::CaptureDuplicate
            | SegmentKind::WindowProbe
            | SegmentKind::KeepAlive => false,
        }
    }

    /// Whether it is another packet once more, which its sender sent once.
    pub fn is_copy(self) -> bool {
        matches!(
            self,
            SegmentKind::NetworkDuplicate | SegmentKind::LinkRetry | SegmentKind::CaptureDuplicate
        )
    }

    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            SegmentKind::New => "new",
            SegmentKind::FastRetransmission => "fast-retransmission",
            SegmentKind::TimeoutRetransmission => "timeout-retransmission",
            SegmentKind::AfterTimeoutRetransmission => "after-timeout-retransmission",
            SegmentKind::UnexplainedRetransmission => "unexplained-retransmission",
            SegmentKind::FillsGap => "fills-gap",
            SegmentKind::OutOfOrder => "out-of-order",
            SegmentKind::NetworkDuplicate => "network-duplicate",
            SegmentKind::LinkRetry => "link-retry",
            SegmentKind::RepeatedControl => "repeated-control",
            SegmentKind::CaptureDuplicate => "capture-duplicate",
            SegmentKind::WindowProbe => "window-probe",
            SegmentKind::KeepAlive => "keep-alive",
        }
    }
}
