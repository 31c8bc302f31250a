//! A transmission before and after it was classified.

use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use crate::fold::folded;
use crate::{LossRule, Proof, Range, SegmentKind, Sign, Timer};

#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) range: Range,
    /// By its form it may be a tail loss probe.
    pub(crate) may_be_probe: bool,
    /// It ends with less than a full segment, and without FIN.
    pub(crate) small: bool,
    /// The round trip from the capture point to the sender.
    pub(crate) beyond: Span,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct RetransmittedPacket {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) range: Range,
    /// Which transmission of these data it is, as far as captured.
    pub(crate) nth: u32,
    /// The frame of the previous captured one.
    pub(crate) before: Option<u64>,
    /// How many of them were lost before the capture point.
    pub(crate) unseen: u32,
    /// It is the highest data sent: only a timer can have triggered it.
    pub(crate) alone: bool,
    /// The round trip from the capture point to the sender.
    pub(crate) beyond: Span,
    pub(crate) syn: bool,
    /// It is a FIN without data.
    pub(crate) bare_fin: bool,
    /// The data that it acknowledges end here, in the other direction's numbers.
    pub(crate) ack: Option<SeqNumber>,
    /// The timestamp that it echoes.
    pub(crate) echo: Option<u32>,
    /// The capture point is the sender's.
    pub(crate) at_sender: bool,
    /// Everything that the sender sent so far was captured.
    pub(crate) whole: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Classification {
    pub(crate) kind: SegmentKind,
    pub(crate) timer: Option<Timer>,
    pub(crate) proof: Proof,
}

impl Classification {
    pub(super) fn repeated_fin(proof: Proof) -> Classification {
        Classification { kind: SegmentKind::RepeatedControl, timer: None, proof }
    }
    /// What prompted a retransmission was lost, or came from beyond the capture point; `prompt`:
    /// the last ACK.
    pub(super) fn unexplained(prompt: Option<u64>, nth: u32) -> Classification {
        let kind = SegmentKind::UnexplainedRetransmission;
        let proof = Proof { by: Sign::Time, frame: prompt, nth, ..Proof::default() };
        Classification { kind, timer: None, proof }
    }
    pub(crate) fn new_data() -> Classification {
        Classification {
            kind: SegmentKind::New,
            timer: None,
            proof: Proof { nth: 1, ..Proof::default() },
        }
    }
}

/// ACKs revealed a loss, and the sender waited for its timer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ignored {
    pub(crate) by: LossRule,
    /// The ACK that was enough.
    pub(crate) frame: u64,
    /// From its arrival to the timer.
    pub(crate) waited: Span,
    /// Duplicate ACKs that came in all.
    pub(crate) duplicates: u64,
    /// Bytes of new data sent meanwhile.
    pub(crate) sent: u64,
    /// The sender received it; otherwise it may have been lost.
    pub(crate) has_arrived: bool,
}
folded! { Ignored { by, frame, waited, duplicates, sent, has_arrived } }
