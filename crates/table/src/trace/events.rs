//! A row for each packet that tells the sender of data something new, and for each verdict that
//! comes later.

use tcplab_trace::{Ack, FlowId, Range, Spurious};
use tcplab_units::{Bytes, Instant, Offset};

use super::names;
use crate::column::{Cells, Column, Values};

pub(super) struct EventRow {
    pub(super) flow: FlowId,
    pub(super) at: Instant,
    pub(super) frame: u64,
    pub(super) what: What,
}

pub(super) enum What {
    Ack { ack: Box<Ack>, kind: AckKind, new: Bytes },
    Spurious { about: u64, why: Spurious },
}

/// What an acknowledgement tells.
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
    /// It was overtaken on its way.
    Old,
}

/// The acknowledgement before, in the same direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    pub(super) ack: Offset,
    pub(super) window: Option<Bytes>,
}

impl AckKind {
    /// What `ack` tells after `before`; none if nothing.
    pub(super) fn of(ack: &Ack, before: Option<Before>) -> Option<AckKind> {
        let Some(before) = before else { return Some(AckKind::Ack) };
        if ack.ack > before.ack {
            Some(AckKind::Ack)
        } else if ack.ack < before.ack {
            Some(AckKind::Old)
        } else if ack.duplicate {
            Some(AckKind::Duplicate)
        } else if !ack.sack.is_empty() || ack.dsack.is_some() {
            Some(AckKind::Sack)
        } else {
            (ack.window != before.window && ack.window.is_some()).then_some(AckKind::Window)
        }
    }
}

impl EventRow {
    fn ack(&self) -> Option<&Ack> {
        match &self.what {
            What::Ack { ack, .. } => Some(ack),
            What::Spurious { .. } => None,
        }
    }
    fn kind(&self) -> &'static str {
        match &self.what {
            What::Ack { kind: AckKind::Ack, .. } => "ack",
            What::Ack { kind: AckKind::Duplicate, .. } => "duplicate-ack",
            What::Ack { kind: AckKind::Sack, .. } => "sack",
            What::Ack { kind: AckKind::Window, .. } => "window",
            What::Ack { kind: AckKind::Old, .. } => "old-ack",
            What::Spurious { .. } => "needless",
        }
    }
    /// Our verdict in the words of tshark.
    fn tshark_flag(&self) -> Option<&'static str> {
        let What::Ack { ack, kind, .. } = &self.what else { return None };
        match kind {
            _ if ack.window == Some(Bytes::ZERO) => Some("tcp.analysis.zero_window"),
            AckKind::Duplicate => Some("tcp.analysis.duplicate_ack"),
            AckKind::Window if !ack.has_data => Some("tcp.analysis.window_update"),
            AckKind::Ack | AckKind::Sack | AckKind::Window | AckKind::Old => None,
        }
    }
}

pub(crate) const COLUMNS: &[Column<EventRow>] = &[
    Column {
        name: "connection",
        doc: "The connection's number, from 0, in the order of first packets",
        values: Values::Few,
        cells: Cells::Number(|row| row.flow.connection as u64),
    },
    Column {
        name: "direction",
        doc: "Whose data it is about: forward (client to server) or reverse",
        values: Values::Few,
        cells: Cells::Text(|row| names::direction(row.flow.forward).into()),
    },
    Column {
        name: "frame",
        doc: "The frame that tells it, from 1",
        values: Values::Near,
        cells: Cells::Number(|row| row.frame),
    },
    Column {
        name: "at_ns",
        doc: "When it was told, in nanoseconds from the trace's zero",
        values: Values::Near,
        cells: Cells::Number(|row| row.at.as_nanos()),
    },
    Column {
        name: "kind",
        doc: "ack (more was received), duplicate-ack, sack (nothing but SACK blocks), window \
              (nothing but another window), old-ack (overtaken on its way), or needless (a \
              retransmission that came before turns out to have been needless)",
        values: Values::Few,
        cells: Cells::Text(|row| row.kind().into()),
    },
    Column {
        name: "ack",
        doc: "Everything before this sequence number was received, from the initial one; empty for \
              needless",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| row.ack().map(|ack| ack.ack.as_u64())),
    },
    Column {
        name: "newly_acked_bytes",
        doc: "By how much that is more than before; empty for needless",
        values: Values::Few,
        cells: Cells::NumberIfAny(|row| match &row.what {
            What::Ack { new, .. } => Some(new.as_u64()),
            What::Spurious { .. } => None,
        }),
    },
    Column {
        name: "window_bytes",
        doc: "The advertised window; empty if its scale is not known, and for needless",
        values: Values::Few,
        cells: Cells::NumberIfAny(|row| row.ack()?.window.map(Bytes::as_u64)),
    },
    Column {
        name: "sack",
        doc: "SACK blocks as they stand, without the D-SACK, such as 1449-2897 4345-5793; empty if \
              there are none",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| blocks(&row.ack()?.sack).map(Into::into)),
    },
    Column {
        name: "dsack",
        doc: "The D-SACK block: what was received twice; empty if there is none",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.ack()?.dsack.map(|block| block.to_string().into())),
    },
    Column {
        name: "has_data",
        doc: "Whether the packet carries data of its own",
        values: Values::Few,
        cells: Cells::Flag(|row| row.ack().is_some_and(|ack| ack.has_data)),
    },
    Column {
        name: "about_frame",
        doc: "For needless: the frame of the retransmission, as in segments; else empty",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| match row.what {
            What::Spurious { about, .. } => Some(about),
            What::Ack { .. } => None,
        }),
    },
    Column {
        name: "why",
        doc: "For needless, what says so: d-sack, echo (of the original's timestamp) or \
              acknowledged (the data had been acknowledged at this tap before); else empty",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| match row.what {
            What::Spurious { why, .. } => Some(names::spurious(why).0.into()),
            What::Ack { .. } => None,
        }),
    },
    Column {
        name: "tshark_flag",
        doc: "The field of tshark that says the same, or comes nearest: \
              tcp.analysis.duplicate_ack, tcp.analysis.window_update, tcp.analysis.zero_window; \
              empty if it has none",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.tshark_flag().map(Into::into)),
    },
    Column {
        name: "comment",
        doc: "What the capture's comments say of the packet; empty if nothing",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.ack()?.comment.clone().map(Into::into)),
    },
];

fn blocks(blocks: &[Range]) -> Option<String> {
    let texts: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}
