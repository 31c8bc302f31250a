//! The quantities that tcplab computes with, a type for each, the two [`Endpoint`]s of a path, and
//! the only source of randomness.
//!
//! Time and rate are integers (nanoseconds, bits per second), so the same seed gives the same
//! bytes on every machine. Each quantity is written and read as people write it: `200 ms`,
//! `24 Mbit/s`, `10 MB`, `0.3 %`. Prefixes are decimal (SI): 1 kB is 1,000 B; binary ones are
//! spelled out (`1 KiB` is 1,024 B). Other ways to write units are read too (`10M`, `10Mbps`,
//! `64KB`); what could mean two things is refused with both.
//!
//! [`Probe`] is the datagram that `tcplab latency` and its server exchange.

mod bytes;
mod csv_field;
mod durations;
mod endpoint;
pub mod ends;
pub mod number;
mod offset;
mod parse;
mod probability;
mod probe;
mod rate;
mod rng;
pub mod rounded;
mod server_design;
pub mod text;
mod time;
mod unit;
mod visible;

pub use bytes::Bytes;
pub use csv_field::csv_field;
pub use durations::Durations;
pub use endpoint::Endpoint;
pub use offset::Offset;
pub use parse::{NUMBER_PATTERN, UnitError};
pub use probability::Probability;
pub use probe::{PROBE_BYTES, Probe, ProbeTimes, host_mark};
pub use rate::Rate;
pub use rng::Rng;
pub use server_design::ServerDesign;
pub use time::{Instant, Span};
pub use visible::{visible, visible_line};

/// The remedy wherever a process has all the descriptors that it may have.
pub const MORE_DESCRIPTORS: &str = "raise the limit on descriptors (`ulimit -n 1024`)";

/// The remedy wherever the system refuses a thread or a process.
pub const MORE_PROCESSES: &str = "end other programs of this user, or raise the limit on processes \
                                  (`ulimit -u`, or `pids.max` of the control group)";
