//! The link emulator: what a network path does to packets, with the ground truth of it.
//!
//! A path has two directed links. A [`Link`] is a row of elements (bottleneck, interruption,
//! loss, delay) through which packets travel; for each it gives a [`Verdict`]: what became of it,
//! when, and why. There is no clock, no socket and no randomness but the seed in here, so the
//! same code runs under virtual and under real time, and the same packets at the same times get
//! the same verdicts in both.
//!
//! A path is written as a [`PathSpec`], part of a scenario file, of which each direction gives a
//! checked [`LinkPlan`]:
//!
//! ```
//! use tcplab_path::{Cause, Direction, Fate, Link, Packet, PathSpec};
//! use tcplab_units::{Bytes, Instant};
//!
//! let path: PathSpec = serde_json::from_str(
//!     r#"{ "rate": "12 Mbit/s", "delay": "5 ms", "queue": "1 packet" }"#,
//! )?;
//! let mut link = Link::new(&path.link(Direction::Forward)?, 1, Direction::Forward);
//!
//! // Three packets at once: one is sent, one waits, one finds no room. 1,500 B take 1 ms.
//! for id in 0..3 {
//!     link.handle_packet(Instant::ZERO, Packet::new(id, vec![0; 1500]));
//! }
//!
//! let mut seen = Vec::new();
//! while let Some(now) = link.poll_at() {
//!     while let Some(departure) = link.poll(now) {
//!         let verdict = departure.verdict;
//!         seen.push((verdict.id, verdict.left.as_nanos() / 1_000_000, verdict.fate));
//!     }
//! }
//! let full = Cause::QueueFull { packets: 1, bytes: Bytes::new(1500) };
//! let dropped = (2, 0, Fate::Dropped(full));
//! assert_eq!(seen, [dropped, (0, 6, Fate::Delivered), (1, 7, Fate::Delivered)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sizes are those of IP packets, without link-layer framing, in rates and in limits alike.
//!
//! A new element is a file with its `Behaviour`, an [`ElementPlan`], and a key of [`PathSpec`].

mod behaviour;
mod bottleneck;
mod direction;
mod elements;
mod event;
mod fault;
mod link;
mod mahimahi;
mod outlook;
mod packet;
mod queue;
mod schedule;
mod spec;
pub mod tc;
#[cfg(test)]
mod testing;
mod text_or_table;
mod verdict;

pub use bottleneck::{
    BottleneckPlan, RateSpec, RateTable, ServerPlan, TokenBucketPlan, TracePlan, WifiPlan,
    WifiSpec, WifiStandard,
};
pub use direction::{Direction, Directions};
pub use elements::{
    Arrivals, BlackholePlan, BlackholeSpec, BlackholeTable, CorruptSpec, CorruptionPlan, CrossFlow,
    CrossSpec, DelayPlan, DelaySpec, DropNextEvent, DropNextPlan, DropPlan, DropRule, DropSpec,
    DuplicateSpec, DuplicationPlan, GilbertElliott, HeldBack, InterruptionPlan, InterruptionSpec,
    InterruptionTimes, InterruptionsSpec, JitterLaw, JitterPlan, JitterSpec, JitterTable,
    LossBurst, LossChange, LossChangesPlan, LossPlan, LossSpec, LossTable, MarkPlan, MtuPlan,
    MtuSpec, NatPlan, NatSpec, Nth, PacketKind, PacketPart, PolicerSpec, PortDelay, PortDelayPlan,
    ReorderSpec, ReorderingPlan, RulePlan, TableLaw,
};
pub use event::{PathChange, PathEvent};
pub use fault::PathError;
pub use link::{ElementPlan, Link, LinkPlan, LonePassage};
pub use mahimahi::{TraceError, parse_mahimahi, to_mahimahi};
pub use outlook::{Moment, Outage, Outlook, Wait};
pub use packet::Packet;
pub use queue::{
    BdpMultiple, CodelControl, CodelPlan, CodelSpec, DEFAULT_QUEUE, FqCodelPlan, FqCodelSpec,
    PiePlan, PieSpec, QueueLimit, QueuePlan, QueueSize, QueueSizeError, QueueSpec, QueueTable,
    RedPlan, RedSpec, SMALLEST_QUEUE, StepMarkPlan,
};
pub use schedule::{Quantity, Schedule, Step};
pub use spec::{Backend, LinkSpec, PathSpec, StageSpec};
pub use verdict::{Cause, Departure, Discipline, FIRST_MADE_ID, Fate, Transmission, Verdict};
