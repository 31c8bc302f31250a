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

mod bottleneck;
mod conveyor;
mod corruption;
mod cross_traffic;
mod delay;
mod direction;
mod drop_rules;
mod duplication;
mod ecn;
mod element;
mod interruption;
mod link;
mod loss;
mod mark;
mod mtu;
mod outlook;
mod packet;
mod plan;
mod policer;
mod queue;
mod reordering;
mod schedule;
mod spec;
pub mod tc;
mod text_or_table;
mod trace;
mod verdict;
mod wifi;

pub use bottleneck::{BottleneckPlan, RateSpec, RateTable, ServerPlan, TokenBucketPlan, TracePlan};
pub use corruption::{CorruptSpec, CorruptionPlan, PacketPart};
pub use cross_traffic::{Arrivals, CrossFlow, CrossSpec};
pub use delay::{DelayPlan, DelaySpec, JitterLaw, JitterPlan, JitterSpec, JitterTable, TableLaw};
pub use direction::{Direction, Directions};
pub use drop_rules::{DropPlan, DropRule, DropSpec, Nth, PacketKind, RulePlan};
pub use duplication::{DuplicateSpec, DuplicationPlan};
pub use interruption::{
    BlackholePlan, BlackholeSpec, BlackholeTable, InterruptionPlan, InterruptionSpec,
    InterruptionTimes, InterruptionsSpec,
};
pub use link::Link;
pub use loss::{GilbertElliott, LossBurst, LossPlan, LossSpec, LossTable};
pub use mark::MarkPlan;
pub use mtu::{MtuPlan, MtuSpec, MtuTable};
pub use outlook::{Moment, Outage, Outlook};
pub use packet::Packet;
pub use plan::{ElementPlan, LinkPlan};
pub use policer::PolicerSpec;
pub use queue::{
    BdpMultiple, CodelControl, CodelPlan, CodelSpec, FqCodelPlan, FqCodelSpec, PiePlan, PieSpec,
    QueueLimit, QueuePlan, QueueSize, QueueSizeError, QueueSpec, QueueTable, RedPlan, RedSpec,
    SMALLEST_QUEUE, StepMarkPlan,
};
pub use reordering::{HeldBack, ReorderSpec, ReorderingPlan};
pub use schedule::{Quantity, Schedule, Step};
pub use spec::{Backend, DEFAULT_QUEUE, LinkSpec, PathError, PathSpec, StageSpec};
pub use trace::{TraceError, parse_mahimahi, to_mahimahi};
pub use verdict::{Cause, Departure, Discipline, FIRST_MADE_ID, Fate, Transmission, Verdict};
pub use wifi::{WifiPlan, WifiSpec, WifiStandard};
