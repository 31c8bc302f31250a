//! The layers of data segments, by why they were sent: one colour and name in every graph.

use tcplab_trace::{Segment, SegmentKind};

use crate::path_data::STROKES;

/// One layer.
pub(crate) struct KindLayer {
    pub(crate) class: &'static str,
    pub(crate) label: &'static str,
    kinds: fn(SegmentKind) -> bool,
}

impl KindLayer {
    pub(crate) fn has(&self, segment: &Segment) -> bool {
        (self.kinds)(segment.kind)
    }
}

/// Each segment is in one; the lowermost first.
pub(crate) const KINDS: [KindLayer; 5] = [
    KindLayer { class: "data", label: "data", kinds: |kind| kind == SegmentKind::New },
    KindLayer { class: "other", label: "out of order, late, duplicate or probe", kinds: other },
    KindLayer { class: "fast", label: "retransmission", kinds: resent },
    KindLayer {
        class: "fills",
        label: "retransmission, cause unknown",
        kinds: |kind| kind == SegmentKind::UnexplainedRetransmission,
    },
    KindLayer {
        class: "timeout",
        label: "timeout retransmission",
        kinds: |kind| kind == SegmentKind::TimeoutRetransmission,
    },
];

/// Neither new data nor a retransmission for a loss.
fn other(kind: SegmentKind) -> bool {
    kind != SegmentKind::New && !kind.is_retransmission()
}

fn resent(kind: SegmentKind) -> bool {
    matches!(
        kind,
        SegmentKind::FastRetransmission
            | SegmentKind::AfterTimeoutRetransmission
            | SegmentKind::RepeatedControl
    )
}

/// Up to how many segments of a layer are drawn separately: of retransmissions more.
pub(crate) fn budget(segments: &[&Segment]) -> usize {
    let is_repeated = segments.iter().any(|segment| segment.kind != SegmentKind::New);
    if is_repeated { 4 * STROKES } else { STROKES }
}
