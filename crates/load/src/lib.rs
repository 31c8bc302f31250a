//! Load tests of servers: connect time, latency, response time, data rate.
//!
//! Requests are either sent one after the other on each connection (closed loop), or at a constant
//! rate whatever the server does (open loop). In the open loop each request has a time at which it
//! is due, and what it takes is counted from that time: a server that pauses for a second
//! delays all that was due meanwhile, and all of it is seen. A closed loop would send one request
//! less and report one slow answer ("coordinated omission").
//!
//! Probes over UDP measure the latency to a host, each way by itself, also while data is carried.
//!
//! Every answer is checked: its status, its length, its content.

mod bulk;
mod config;
mod connection;
mod error;
mod keepalive;
mod latency;
mod outcome;
mod probes;
mod reference;
mod reply;
mod run;
mod schedule;
mod target;
mod times;
mod worker;

pub use bulk::{
    Acknowledged, BulkConfig, BulkOutcome, Direction, EarlyCause, EarlyEnd, Watch, Window, bulk,
    bulk_watched,
};
pub use config::{Check, Config, Length, Pace, Renewal};
pub use error::{Fault, LoadError};
pub use keepalive::notice_vanished;
pub use latency::Latencies;
pub use outcome::{BodySeen, Outcome, Progress};
pub use probes::{
    Beside, Clock, LatencyConfig, LatencyOutcome, LatencyProgress, LiveLatency, Phase, ProbeEvent,
    Sample, SeriesPoint, Way, latency,
};
pub use reference::Reference;
pub use run::run;
pub use target::{Protocol, Target, TargetError, look_up};

/// For the fuzzer: reads an answer as a client does, cut as `cuts` says, and gives the verdict.
#[doc(hidden)]
pub mod foreign {
    pub use crate::reply::verdict;
}
