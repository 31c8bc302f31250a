//! A scenario's two runs, and where they are kept.

use std::fs;
use std::path::Path;

use tcplab_results::World;
use tcplab_scenario::{Keep, Scenario};

use crate::error::LabError;
use crate::plan::{Overrides, Plan, environment, plan};
use crate::run::begin;
use crate::store::RunDirectory;

/// What is kept of each packet, bytes: the largest headers of IPv4 and TCP are 20 and 60. Nothing
/// that is compared is read from the data, which makes up nearly all of a capture.
const HEADERS: u32 = 96;

/// A scenario in both worlds.
#[derive(Debug)]
pub struct Pair {
    /// The kernel's run.
    pub kernel: RunDirectory,
    /// The model's.
    pub model: RunDirectory,
}

impl Pair {
    /// The runs of `scenario` below `place`. A run begun there with the same cases, seeds and
    /// kernel is resumed, trial by trial. The model's trials are repeated: they take little time,
    /// and the model may have changed.
    ///
    /// # Errors
    /// When a stack of the scenario is a model's already, so that the kernel cannot run it, when it
    /// has no connection, or when a directory cannot be made or read.
    pub fn prepare(
        place: &Path,
        scenario: &Scenario,
        trials: Option<u32>,
        seed: Option<u64>,
    ) -> Result<Pair, LabError> {
        if let Some(case) = scenario.cases.iter().find(|case| case.workload.datagrams.is_some()) {
            return Err(LabError::NotTcp { case: case.name.clone() });
        }
        let overrides = Overrides { trials, seed, ..Overrides::default() };
        let run = |world: World| -> Result<RunDirectory, LabError> {
            // Only `auto` asks whether the kernel is refused; here its first trial shows it.
            let (runs, plan) = (
                place.join(world.name()),
                plan(scenario, Some(world), || None, overrides.clone())?,
            );
            // What is compared is read from packets, and both worlds have as many trials.
            let (until, snaplen, keep) = (None, Some(HEADERS), Keep::All);
            let plan = Plan { until, snaplen, keep, ..plan };
            match known(&runs, &plan)? {
                Some(known) if world == World::Simulated => known.discard()?,
                Some(known) => return Ok(known),
                None => {}
            }
            begin(&runs, scenario.clone(), plan)
        };
        // What virtual time refuses is reported before anything is made.
        plan(scenario, Some(World::Simulated), || None, overrides.clone())?;
        Ok(Pair { kernel: run(World::Kernel)?, model: run(World::Simulated)? })
    }
}

/// The newest run below `runs` that does what `plan` asks.
fn known(runs: &Path, plan: &Plan) -> Result<Option<RunDirectory>, LabError> {
    let Ok(entries) = fs::read_dir(runs.join(&plan.name)) else { return Ok(None) };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.into_iter().rev() {
        match RunDirectory::open(&path) {
            Ok(run) if is_same(run.plan(), plan) && is_this_kernel(&run)? => return Ok(Some(run)),
            // Other trials, or none that this version can read.
            Ok(_) | Err(LabError::NotARun { .. } | LabError::Scenario(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn is_same(known: &Plan, asked: &Plan) -> bool {
    let what = |plan: &Plan| (plan.world, plan.seed, plan.trials, plan.cases.clone());
    what(known) == what(asked)
}

/// Whether the run began on the kernel that runs now.
fn is_this_kernel(run: &RunDirectory) -> Result<bool, LabError> {
    let of = |rows: Vec<(String, String)>| -> Vec<(String, String)> {
        rows.into_iter().filter(|(name, _)| name.starts_with("kernel")).collect()
    };
    Ok(of(run.environment()?) == of(environment()))
}
