//! How a run is asked for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use tcplab_lab::{Bench, Overrides, Plan, Refusal};
use tcplab_results::World;
use tcplab_scenario::Scenario;
use tcplab_testbed::Launcher;

/// Starts trials on kernels by the `program`, the `tcplab` command. Models need none.
pub(crate) fn launcher(program: Option<PathBuf>) -> Launcher {
    tcplab_actions::launcher(program.unwrap_or_else(|| PathBuf::from("tcplab")))
}

/// How trials are run.
pub(crate) fn bench(program: Option<PathBuf>, jobs: Option<usize>) -> Bench {
    let usual = Bench::new(launcher(program));
    Bench { jobs: jobs.unwrap_or(usual.jobs).max(1), ..usual }
}

/// A world by its name; none where the scenario decides.
pub(crate) fn world(name: &str) -> Result<Option<World>> {
    Ok(match name {
        "auto" => None,
        "sim" => Some(World::Simulated),
        "kernel" => Some(World::Kernel),
        other => bail!("no world `{other}`: use auto, sim or kernel"),
    })
}

/// The plan of a run in this world.
pub(crate) fn plan(
    scenario: &Scenario,
    world: Option<World>,
    launcher: &Launcher,
    overrides: Overrides,
) -> Result<Plan> {
    let refused = || -> Option<Refusal> { tcplab_lab::kernel_refused(launcher) };
    Ok(tcplab_lab::plan(scenario, world, refused, overrides)?)
}
