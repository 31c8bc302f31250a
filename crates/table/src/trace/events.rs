//! A row for each packet that has news for the sender of data, and for each later verdict on a
//! segment.

use tcplab_trace::{Ack, BareReset, FlowId, Range, Spurious};
use tcplab_units::{Bytes, Instant, Offset};

use super::names;
use crate::column::{Column, columns};

pub(super) struct EventRow {
    pub(super) flow: FlowId,
    pub(super) at: Instant,
    pub(super) frame: u64,
    pub(super) what: What,
}

pub(super) enum What {
    Ack {
        ack: Box<Ack>,
        kind: AckKind,
        new: Bytes,
    },
    /// It acknowledges nothing.
    Reset(BareReset),
    Spurious {
        about: u64,
        why: Spurious,
    },
}

/// What an acknowledgement reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckKind {
    /// More was received.
    Ack,
    /// A duplicate.
    Duplicate,
    /// Nothing but SACK blocks.
    Sack,
    /// Nothing but another window.
    Window,
    /// It arrived out of order.
    Old,
    /// Nothing new.
    Repeated,
    /// That the connection is aborted.
    Reset,
}

/// The acknowledgement before, in the same direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    pub(super) ack: Offset,
    pub(super) window: Option<Bytes>,
}

impl AckKind {
    /// What `ack` reports after `before`.
    pub(super) fn of(ack: &Ack, before: Option<Before>) -> AckKind {
        if ack.reset {
            return AckKind::Reset;
        }
        let Some(before) = before else { return AckKind::Ack };
        if ack.ack > before.ack {
            AckKind::Ack
        } else if ack.ack < before.ack {
            AckKind::Old
        } else if ack.duplicate {
            AckKind::Duplicate
        } else if !ack.sack.is_empty() || ack.dsack.is_some() {
            AckKind::Sack
        } else if ack.window != before.window && ack.window.is_some() {
            AckKind::Window
        } else {
            AckKind::Repeated
        }
    }
}

impl EventRow {
    /// The row of a reset that acknowledges nothing, for the direction whose data it cuts off: that
    /// towards its sender, as of any packet.
    pub(super) fn of_reset(flow: FlowId, reset: BareReset) -> EventRow {
        EventRow { flow, at: reset.at, frame: reset.frame, what: What::Reset(reset) }
    }
    fn ack(&self) -> Option<&Ack> {
        match &self.what {
            What::Ack { ack, .. } => Some(ack),
            What::Reset(_) | What::Spurious { .. } => None,
        }
    }
    fn kind(&self) -> &'static str {
        match &self.what {
            What::Ack { kind: AckKind::Ack, .. } => "ack",
            What::Ack { kind: AckKind::Duplicate, .. } => "duplicate-ack",
            What::Ack { kind: AckKind::Sack, .. } => "sack",
            What::Ack { kind: AckKind::Window, .. } => "window-update",
            What::Ack { kind: AckKind::Old, .. } => "old-ack",
            What::Ack { kind: AckKind::Repeated, .. } => "repeated-ack",
            What::Reset(_) | What::Ack { kind: AckKind::Reset, .. } => "reset",
            What::Spurious { .. } => "spurious",
        }
    }
    /// The kind in the words of Wireshark.
    fn wireshark_flag(&self) -> Option<&'static str> {
        let What::Ack { ack, kind, .. } = &self.what else { return None };
        match kind {
            _ if ack.window == Some(Bytes::ZERO) => Some("tcp.analysis.zero_window"),
            AckKind::Duplicate => Some("tcp.analysis.duplicate_ack"),
            AckKind::Window if !ack.has_data => Some("tcp.analysis.window_update"),
            AckKind::Ack
            | AckKind::Sack
            | AckKind::Window
            | AckKind::Old
            | AckKind::Repeated
            | AckKind::Reset => None,
        }
    }
}

pub(super) const COLUMNS: &[Column<EventRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into()),
        "Whose data it is about: forward (client to server) or reverse; its acknowledgements \
         and a reset that cuts it off come from the other end";
    FRAME Near Whole(|row| row.frame);
    AT_NS Near Whole(|row| row.at.as_nanos());
    KIND Few Text(|row| row.kind().into()),
        "ack (acknowledges more), duplicate-ack, sack (only SACK blocks), window-update (only \
         another window), old-ack (arrived out of order), repeated-ack (nothing new; in JSON only), \
         reset (RST, with or without an acknowledgement), or spurious (a retransmission before turns \
         out to be spurious)";
    ACK Near WholeIfAny(|row| row.ack().map(|ack| ack.ack.as_u64())),
        "The acknowledgement number, relative to the initial sequence number; empty for spurious, \
         and for a reset without one";
    NEWLY_ACKED_BYTES Few WholeIfAny(|row| match &row.what {
        What::Ack { new, .. } => Some(new.as_u64()),
        What::Reset(_) | What::Spurious { .. } => None,
    }),
        "How many bytes it acknowledges for the first time; empty where ack is";
    WINDOW_BYTES Few WholeIfAny(|row| row.ack()?.window.map(Bytes::as_u64)),
        "The advertised window; empty if its scale is not known and it is not zero, and for \
         reset and spurious";
    SACK_STARTS Few Wholes(|row| edges(row, |block| block.start));
    SACK_ENDS Few Wholes(|row| edges(row, |block| block.end));
    DSACK_START Near WholeIfAny(|row| Some(row.ack()?.dsack?.start.as_u64()));
    DSACK_END Near WholeIfAny(|row| Some(row.ack()?.dsack?.end.as_u64()));
    HAS_DATA Few Flag(|row| row.ack().is_some_and(|ack| ack.has_data));
    ABOUT_FRAME Near WholeIfAny(|row| match row.what {
        What::Spurious { about, .. } => Some(about),
        What::Ack { .. } | What::Reset(_) => None,
    }),
        "For spurious: the frame of the retransmission, as in segments; else empty";
    EVIDENCE Few TextIfAny(|row| match row.what {
        What::Spurious { why, .. } => Some(names::spurious(why).0.into()),
        What::Ack { .. } | What::Reset(_) => None,
    }),
        "For spurious, what shows it: dsack, timestamp (it echoes the original's), or \
         acknowledged (the data had been acknowledged before); else empty";
    WIRESHARK_FLAG Few TextIfAny(|row| row.wireshark_flag().map(Into::into)),
        "Wireshark's flag for it, or the nearest: tcp.analysis.duplicate_ack, \
         tcp.analysis.window_update, tcp.analysis.zero_window; empty if there is none";
    COMMENT Few TextIfAny(|row| match &row.what {
        What::Ack { ack, .. } => ack.comment.clone().map(Into::into),
        What::Reset(reset) => reset.comment.clone().map(Into::into),
        What::Spurious { .. } => None,
    });
};

/// One edge of each SACK block.
fn edges(row: &EventRow, edge: fn(&Range) -> Offset) -> Vec<u64> {
    let blocks = row.ack().map_or(&[][..], |ack| &ack.sack);
    blocks.iter().map(|block| edge(block).as_u64()).collect()
}
