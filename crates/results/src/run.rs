//! A run and everything that it came to, but for the packets. `run.json` holds it.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use tcplab_scenario::Plot;

use crate::{Calibration, Case, Claim, Comparison, RunWorld, Stopping};

/// Everything about a run that fits in a table; the packets stay in the trials' directories.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Run {
    /// The scenario's name: its file name without the ending.
    pub name: String,
    /// The scenario's title.
    pub title: String,
    /// The document it comes from.
    pub reference: Option<String>,
    /// The scenario file as it was run.
    pub scenario: String,
    /// Where its cases ran.
    pub world: RunWorld,
    /// Why a model replaces the kernel, and how to get the kernel.
    #[serde(default)]
    pub fallback: Option<String>,
    /// When it was started, UTC, RFC 3339.
    pub started: String,
    /// The seed of the run.
    pub seed: u64,
    /// The names of the cases, where not all of the scenario's were run.
    #[serde(default)]
    pub only: Vec<String>,
    /// How many blocks came first and are not counted.
    #[serde(default)]
    pub warm_up: u32,
    /// Why there are so many blocks, where the scenario did not fix their number.
    #[serde(default)]
    pub stopping: Option<Stopping>,
    /// What is between the endpoints, a sentence per direction.
    pub path: Vec<String>,
    /// The machine and what ran: (name, value), in the order to show.
    pub environment: Vec<(String, String)>,
    /// How the paths were verified before the trials; none if they were not.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The cells of the matrix, in the order of the scenario.
    pub cases: Vec<Case>,
    /// The scenario's expectations and how they went.
    pub claims: Vec<Claim>,
    /// The comparisons that the scenario asks for, in its order.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// What is drawn over what was varied. Runs of older versions do not say.
    #[serde(default)]
    pub plots: Vec<Plot>,
}

/// The description of a path between two ends on the same host.
pub const SAME_HOST: &str = "no path: both ends talk over the loopback of the same host";

impl Run {
    /// Whether there is a path between the ends of any case.
    pub fn has_path(&self) -> bool {
        self.path.is_empty() || self.path.iter().any(|line| !line.ends_with(SAME_HOST))
    }
}

impl Run {
    /// Serializes it with other `cases` in the place of its own.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize_with<S: Serializer>(
        &self,
        serializer: S,
        cases: &impl Serialize,
    ) -> Result<S::Ok, S::Error> {
        let Run {
            name,
            title,
            reference,
            scenario,
            world,
            fallback,
            started,
            seed,
            only,
            warm_up,
            stopping,
            path,
            environment,
            calibration,
            cases: _,
            claims,
            comparisons,
            plots,
        } = self;
        let mut run = serializer.serialize_struct("Run", 18)?;
        run.serialize_field("name", name)?;
        run.serialize_field("title", title)?;
        run.serialize_field("reference", reference)?;
        run.serialize_field("scenario", scenario)?;
        run.serialize_field("world", world)?;
        run.serialize_field("fallback", fallback)?;
        run.serialize_field("started", started)?;
        run.serialize_field("seed", seed)?;
        if !only.is_empty() {
            run.serialize_field("only", only)?;
        }
        if *warm_up > 0 {
            run.serialize_field("warm_up", warm_up)?;
        }
        if stopping.is_some() {
            run.serialize_field("stopping", stopping)?;
        }
        run.serialize_field("path", path)?;
        run.serialize_field("environment", environment)?;
        run.serialize_field("calibration", calibration)?;
        run.serialize_field("cases", cases)?;
        run.serialize_field("claims", claims)?;
        if !comparisons.is_empty() {
            run.serialize_field("comparisons", comparisons)?;
        }
        run.serialize_field("plots", plots)?;
        run.end()
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(serializer, &self.cases)
    }
}
