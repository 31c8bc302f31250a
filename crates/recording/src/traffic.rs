//! The traffic of a path that is used without a trial, and how well it was moved.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_units::Instant;

use crate::WorldRecord;

/// What has gone through a path until now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Since it was set up.
    #[serde(rename = "at_ns")]
    pub at: Instant,
    /// From near to far, or from the first interface to the second.
    pub forward: DirectionTraffic,
    /// The reverse direction.
    pub reverse: DirectionTraffic,
}

/// What has gone through one direction. Packets are those of a wire: a large piece that the kernel
/// hands over counts as the segments it is cut into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DirectionTraffic {
    /// Packets that came to it.
    pub packets_in: u64,
    /// Their bytes of IP.
    pub bytes_in: u64,
    /// Packets that came out.
    pub packets_out: u64,
    /// Their bytes of IP.
    pub bytes_out: u64,
    /// Of these packets, those that the path made: copies, fragments behind the first, and answers.
    pub made_out: u64,
    /// Packets that the path dropped.
    pub dropped: u64,
    /// Of these, those that the path made; cross traffic, too.
    pub made_dropped: u64,
    /// These by cause; those for which there are any.
    pub dropped_for: BTreeMap<&'static str, u64>,
}

/// A path that was used without a trial, at its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What went through.
    pub traffic: Traffic,
    /// How well it was moved.
    pub world: WorldRecord,
    /// Why the path may not have behaved as asked; none if all is well.
    pub warnings: Vec<String>,
}
