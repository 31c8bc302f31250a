//! The congestion control of a sender, and how that is known.

use std::collections::BTreeSet;

use serde::Serialize;
use tcplab_sim::CONGESTION_CONTROLS;

/// Those of Linux (`net/ipv4/tcp_*.c`), whether or not this machine has them.
const OF_LINUX: [&str; 17] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// The congestion control of a sender, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// As Linux calls it; none where nothing decides.
    pub name: Option<String>,
    /// What says so, or why it is not known.
    pub basis: String,
}

impl Congestion {
    /// A name with its source.
    pub fn known(name: &str, basis: impl Into<String>) -> Congestion {
        Congestion { name: Some(name.into()), basis: basis.into() }
    }

    /// The names that Linux and the models have, sorted.
    pub fn names() -> BTreeSet<&'static str> {
        OF_LINUX.into_iter().chain(CONGESTION_CONTROLS).collect()
    }

    /// Why it is not known.
    pub fn unknown(why: impl Into<String>) -> Congestion {
        Congestion { name: None, basis: why.into() }
    }
}
