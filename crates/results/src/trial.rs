//! A trial: one repetition of a case, and its result.

use serde::{Deserialize, Serialize};
use tcplab_scenario::metrics;
use tcplab_workload::LoadReport;

use crate::{EndRow, Ending, EpisodeRow, FindingRow, FlowRow, InterruptionRow, Metrics, OptionRow};

/// One repetition of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// From 1.
    pub number: u32,
    /// Its own seed.
    pub seed: u64,
    /// Its directory, relative to the run's.
    pub directory: String,
    /// One value each.
    pub metrics: Metrics,
    /// How many connections its metrics are of together, where they are several. Episodes,
    /// interruptions, findings and ends are of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<usize>,
    /// Recovery episodes of the transfer's direction.
    pub episodes: Vec<EpisodeRow>,
    /// Interruptions of the path during the transfer, and what they cost.
    pub interruptions: Vec<InterruptionRow>,
    /// Statements about it with their evidence.
    pub findings: Vec<FindingRow>,
    /// What each end did, the client first. Runs of older versions do not say.
    pub ends: Vec<EndRow>,
    /// How the connection ended. See `ends`.
    pub ending: Option<Ending>,
    /// The result of the load, where the workload is one.
    pub load: Option<Box<LoadReport>>,
    /// Socket options worth telling: asked for, or changed while it ran.
    pub options: Vec<OptionRow>,
    /// How its path misbehaved beyond the stated bounds; nothing if it is good.
    pub flaws: Vec<String>,
    /// How many attempts before it were rejected as flawed.
    pub put_aside: u32,
    /// What else made the trial less than perfect.
    pub warnings: Vec<String>,
    /// What its bytes went through, where that was not TCP, such as `a pipe`: then there are no
    /// packets.
    pub medium: Option<String>,
    /// Whether its captures, samples and path's log were kept. Where they were not, what is in
    /// memory of it are metrics and remarks; its directory, `run.json` and the tables have it all.
    pub has_packets: bool,
    /// The result of each flow, where there are several; everything else is about the first that is
    /// not in the background. If that has several connections, the metrics are their medians, and
    /// what the capture shows is of the first.
    pub flows: Vec<FlowRow>,
}

impl Trial {
    /// A trial of which nothing is known but these warnings.
    pub fn empty(warnings: Vec<String>) -> Trial {
        Trial { warnings, has_packets: true, ..Trial::default() }
    }

    /// The flow whose metrics it has, where there are flows: the first that is not in the
    /// background.
    pub fn subject_flow(&self) -> Option<&FlowRow> {
        self.flows.iter().find(|flow| !flow.background)
    }

    /// Whether its ends exchanged datagrams, and there was no connection.
    pub fn has_datagrams(&self) -> bool {
        self.metrics.find(metrics::UNANSWERED).is_some()
    }
}
