//! How a run is asked for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use tcplab_lab::{Bench, KernelChoice, Overrides, Plan, Refusal, VirtualKernels};
use tcplab_results::{RunWorld, World};
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

/// The world of this name; none where the scenario decides.
pub(crate) fn world(
    name: &str,
    kernel: &KernelChoice,
    scenario: &Scenario,
) -> Result<Option<World>> {
    Ok(match name {
        "auto" => kernel.world(scenario),
        "sim" => Some(World::Simulated),
        "kernel" => Some(World::Kernel),
        other => bail!("no world `{other}`: use auto, sim or kernel"),
    })
}

/// The plan of a run in this world; `kernel` stands for `linux` in virtual time, as `--kernel` has
/// it. The `program` runs what is on kernels.
pub(crate) fn plan(
    scenario: &Scenario,
    world: &str,
    kernel: &str,
    program: Option<&PathBuf>,
    overrides: Overrides,
) -> Result<Plan> {
    let kernel: KernelChoice = kernel.parse()?;
    let world = self::world(world, &kernel, scenario)?;
    let launcher = launcher(program.cloned());
    let refused = || -> Option<Refusal> { tcplab_lab::kernel_refused(&launcher) };
    let plan = tcplab_lab::plan(scenario, world, refused, Overrides { kernel, ..overrides })?;
    let VirtualKernels { newest, named, .. } = &plan.kernels;
    let is_modelled = plan.world == RunWorld::Simulated && newest.is_none() && named.is_empty();
    match program {
        _ if is_modelled => Ok(plan),
        Some(program) if program.is_file() => Ok(plan),
        Some(program) => bail!(
            "the command `tcplab`, which runs trials on kernels, is not at {}; set TCPLAB to its \
             path",
            program.display()
        ),
        None => bail!(
            "no command `tcplab`, which runs trials on kernels, beside this interpreter or on \
             PATH; install the package, or set TCPLAB to its path"
        ),
    }
}
