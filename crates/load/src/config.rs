//! What load there is to be.

use std::sync::Arc;
use std::time::Duration;

use crate::reference::Reference;
use crate::target::Target;

/// How long answers are looked for before a thread sleeps. Measured with nginx on the next
/// processor: 5 to 100 µs make 20 % more requests a second than sleeping at once.
const AWAKE: Duration = Duration::from_micros(20);

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The next one as soon as the one before is answered, on each connection.
    Closed,
    /// A fixed rate over all connections, evenly spaced, independent of the server.
    Open {
        /// Requests a second, more than 0.
        per_second: f64,
    },
}

/// How long a connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// As long as the server lets it be.
    Keep,
    /// For one request.
    EachRequest,
}

/// The length of the test, after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// For a time.
    Time(Duration),
    /// For this many requests.
    Count(u64),
}

/// What an answer is compared with.
#[derive(Debug, Clone)]
pub enum Check {
    /// All with the first good one.
    First,
    /// All with this.
    Expected(Arc<Reference>),
    /// Nothing: answers may differ.
    Nothing,
}

/// The configuration of a load.
#[derive(Debug, Clone)]
pub struct Config {
    /// The server and the request.
    pub target: Target,
    /// When.
    pub pace: Pace,
    /// Connections at once, at least 1.
    pub connections: usize,
    /// How long each is used.
    pub renewal: Renewal,
    /// The warm-up, which is not measured: caches and congestion windows fill meanwhile.
    pub warm_up: Duration,
    /// The length of the test after the warm-up.
    pub length: Length,
    /// How long an answer may take, from when its request is sent or its connection begun: not from
    /// when it was due, since a request that waits for a connection would have less time for its
    /// answer than others.
    pub timeout: Duration,
    /// Threads that do it; no more than there are connections.
    pub threads: usize,
    /// What answers are compared with.
    pub check: Check,
    /// How long a thread looks for an answer before it sleeps. Nothing where computing takes no
    /// time, as in virtual time: what is looked for there does not come.
    pub awake: Duration,
}

impl Config {
    /// Ten seconds on ten connections, in a closed loop.
    pub fn new(target: Target) -> Config {
        Config {
            target,
            pace: Pace::Closed,
            connections: 10,
            renewal: Renewal::Keep,
            warm_up: Duration::ZERO,
            length: Length::Time(Duration::from_secs(10)),
            timeout: Duration::from_secs(10),
            threads: 1,
            check: Check::First,
            awake: AWAKE,
        }
    }
}
