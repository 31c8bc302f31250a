//! What can be set of how frames are moved.

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

/// How frames are moved, whatever the path does to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// The last stretch before a packet is due is waited out awake: to wake up from sleep takes 30
    /// to 100 µs on common machines. At most [`Tuning::LONGEST_SPIN`]; zero: it always sleeps.
    pub spin: Span,
    /// Segments of one flow that are due within this of one another may be handed over as one
    /// super-packet, as a network card that moderates its interrupts and the kernel's receive
    /// offload would hand them over. Nothing waits for it: only what is due when the bridge gets to
    /// it is merged. Zero: never; yet a path that holds no packet passes super-packets on as they
    /// came.
    pub coalesce: Span,
    /// Packets are handed over so much before they are due: what reading, writing, and waking up
    /// always cost is compensated this way.
    pub lead: Span,
    /// Whether to run before all ordinary threads where that is allowed (`SCHED_FIFO`).
    pub real_time: bool,
}

impl Tuning {
    /// To be awake for longer before a packet is due gains nothing: waking up takes less anywhere
    /// but on a machine that is overloaded. And who runs before all ordinary threads and never
    /// sleeps is stopped by the kernel for 50 ms of each second in which others want to run
    /// (Documentation/scheduler/sched-rt-group.rst).
    pub const LONGEST_SPIN: Span = Span::from_millis(1);
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            spin: Span::from_micros(60),
            coalesce: Span::from_micros(50),
            lead: Span::ZERO,
            real_time: true,
        }
    }
}
