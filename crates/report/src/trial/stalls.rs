//! The stalls of a transfer and their causes.

use tcplab_trace::{Flow, Stall};
use tcplab_units::rounded::{self, bytes, decimal};

/// The longest stalls have rows.
const MOST: usize = 20;

pub(crate) struct Stalls {
    pub(crate) rows: Vec<StallView>,
    /// Stalls without a row.
    pub(crate) more: usize,
}

pub(crate) struct StallView {
    pub(crate) at: String,
    pub(crate) time: String,
    pub(crate) cause: &'static str,
    pub(crate) in_flight: String,
    pub(crate) frames: (u64, u64),
}

impl Stalls {
    pub(crate) fn of(flow: &Flow) -> Option<Stalls> {
        let mut stalls: Vec<&Stall> = flow.stalls.iter().collect();
        stalls.sort_by_key(|stall| std::cmp::Reverse(stall.until.since(stall.from)));
        stalls.truncate(MOST);
        stalls.sort_by_key(|stall| stall.from);
        let more = flow.stalls.len() - stalls.len();
        let rows: Vec<StallView> = stalls.into_iter().map(stall_view).collect();
        (!rows.is_empty()).then_some(Stalls { rows, more })
    }
}

fn stall_view(stall: &Stall) -> StallView {
    StallView {
        at: decimal(stall.from.as_secs_f64(), 3),
        time: rounded::span(stall.until.since(stall.from)),
        cause: stall.cause.name(),
        in_flight: bytes(stall.in_flight),
        frames: stall.frames,
    }
}
