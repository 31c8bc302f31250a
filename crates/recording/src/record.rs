//! The small JSON files of a recording.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tcplab_path::Verdict;
use tcplab_units::Span;
use tcplab_workload::AppReport;

/// `app.json`: what both applications did and saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppLog {
    /// The end that connected.
    pub client: AppReport,
    /// The end that accepted.
    pub server: AppReport,
}

/// `result.json`: how the trial was set up and how the world behaved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// tcplab's version.
    pub tcplab: String,
    /// The case it was a trial of, with its hash.
    pub case: String,
    /// See `case`.
    pub case_hash: String,
    /// The seed of this trial.
    pub seed: u64,
    /// The zero of all its times: nanoseconds since the Unix epoch.
    pub epoch_nanos: u64,
    /// From zero to the end of the recording.
    pub duration: Span,
    /// The client as it was in truth.
    pub client: EndpointRecord,
    /// The server as it was in truth.
    pub server: EndpointRecord,
    /// What the world says of itself.
    pub world: WorldRecord,
}

/// A row of `path.jsonl`: the path's verdict on one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthRow {
    /// The packet's frame number in the capture of the endpoint that sent it, from 1.
    pub frame: u64,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// An endpoint as it was in truth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointRecord {
    /// Such as `10.98.0.1`.
    pub address: String,
    /// Socket options that were asked for, and what they were when read back.
    pub options: Vec<OptionRecord>,
    /// The `net.ipv4.tcp_*` settings of its namespace that were in force.
    pub sysctls: BTreeMap<String, String>,
}

/// A socket option: asked for and read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRecord {
    /// As in the scenario, such as `congestion`.
    pub name: String,
    /// As in the scenario; none where it was left to the system.
    pub requested: Option<String>,
    /// As the socket had it at the end of the trial.
    pub effective: String,
}

/// What the world says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorldRecord {
    /// `kernel` or `sim`.
    pub name: String,
    /// Such as `tun`: how frames got out of an endpoint and in.
    pub device: String,
    /// Such as `held` or `user-namespace`.
    pub privilege: String,
    /// Such as `real-time` or `short-slices`: how the thread that moves frames is scheduled.
    pub scheduling: String,
    /// How late packets were handed over after the path let them go.
    pub lateness: Lateness,
    /// Frames that the world itself lost, outside the path: should be none.
    pub device_drops: u64,
    /// Samples that were due and could not be taken in time.
    pub samples_missed: u64,
}

/// How late packets were handed over, against the time the path asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Packets handed over.
    pub packets: u64,
    /// Half of them were later than this.
    pub median: Span,
    /// One in a hundred was.
    pub p99: Span,
    /// None was.
    pub max: Span,
}

impl Lateness {
    /// Sums up the lateness of each packet, in any order.
    pub fn of(mut each: Vec<Span>) -> Lateness {
        each.sort_unstable();
        let at = |per_cent: usize| {
            each.get((each.len() * per_cent / 100).min(each.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        Lateness {
            packets: each.len() as u64,
            median: at(50),
            p99: at(99),
            max: each.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_by_rank() {
        let each = (1..=200).rev().map(Span::from_micros).collect();
        let lateness = Lateness::of(each);
        assert_eq!(lateness.packets, 200);
        assert_eq!(lateness.median, Span::from_micros(101));
        assert_eq!(lateness.p99, Span::from_micros(199));
        assert_eq!(lateness.max, Span::from_micros(200));
        assert_eq!(Lateness::of(Vec::new()), Lateness::default());
    }
}
