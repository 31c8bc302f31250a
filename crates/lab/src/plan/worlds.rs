//! Which world a trial runs in.

use tcplab_results::{RunWorld, StackUsed, World};
use tcplab_scenario::{Case, KERNEL_MODEL, Profile, Scenario, Stack};
use tcplab_sim::CONGESTION_CONTROLS;
use tcplab_testbed::{Launcher, has_congestion, may_isolate};
use tcplab_workload::{IfRefused, SocketOptions};

use crate::error::LabError;

/// Why trials cannot run on this kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In a sentence.
    pub why: String,
    /// What would help.
    pub remedy: Option<String>,
}

/// Whether trials can run on this machine's kernel: tried, not guessed.
pub fn kernel_refused(launcher: &Launcher) -> Option<Refusal> {
    let error = may_isolate(launcher).err()?;
    Some(Refusal { why: error.to_string(), remedy: error.remedy() })
}

/// The world of a run, and why a model replaces the kernel, if one does. Without `asked`, each case
/// runs where its stacks are; all run in virtual time where this machine refuses the kernel.
/// `refused` is called only where that decides.
pub(super) fn of_run(
    scenario: &Scenario,
    asked: Option<World>,
    refused: impl FnOnce() -> Option<Refusal>,
) -> Result<(RunWorld, Option<String>), LabError> {
    let modelled = scenario.cases.iter().filter(|case| case.is_virtual()).count();
    let real = scenario.cases.iter().find_map(|case| Some((case.name.clone(), only_real(case)?)));
    match asked {
        Some(World::Simulated) => match real {
            Some((case, what)) => Err(LabError::NotSimulated { case, what }),
            None => Ok((RunWorld::Simulated, None)),
        },
        None if modelled == scenario.cases.len() => Ok((RunWorld::Simulated, None)),
        None => match (refused(), real) {
            (Some(Refusal { why, remedy }), Some((case, what))) => {
                Err(LabError::KernelNeeded { case, what, why, remedy })
            }
            (Some(refusal), None) => Ok((RunWorld::Simulated, Some(fallback(&refusal)))),
            (None, _) if modelled > 0 => Ok((RunWorld::Both, None)),
            (None, _) => Ok((RunWorld::Kernel, None)),
        },
        Some(World::Kernel) if modelled == 0 => Ok((RunWorld::Kernel, None)),
        Some(World::Kernel) => {
            let case = scenario.cases.iter().find(|case| case.is_virtual());
            let case = case.map(|case| case.name.clone()).unwrap_or_default();
            Err(LabError::NotOnKernel { case })
        }
    }
}

/// Refuses a case whose congestion control this kernel, or a model, does not have, unless it says
/// to go on without.
pub(super) fn check_congestion(scenario: &Scenario, world: RunWorld) -> Result<(), LabError> {
    for case in &scenario.cases {
        let flows = case.flows.iter().flat_map(|flow| [&flow.spec.client, &flow.spec.server]);
        let ends = [&case.client, &case.server].map(|end| [&end.socket, &end.accepted]);
        let sockets = ends.into_iter().chain(flows.map(|end| [&end.socket, &end.accepted]));
        let asked = sockets.flatten().filter(|it| it.if_refused == IfRefused::Fail);
        let case_name = || case.name.clone();
        for name in asked.filter_map(SocketOptions::congestion) {
            match world_of(world, case) {
                World::Kernel => has_congestion(name)
                    .map_err(|source| LabError::NoCongestion { case: case_name(), source })?,
                World::Simulated if !CONGESTION_CONTROLS.contains(&name) => {
                    let name = name.to_owned();
                    return Err(LabError::NoModelledCongestion { case: case_name(), name });
                }
                World::Simulated => {}
            }
        }
    }
    Ok(())
}

/// Why a case is for the kernel only, if it is.
fn only_real(case: &Case) -> Option<&'static str> {
    if case.kernels().is_some() {
        return None;
    }
    if case.workload.load.is_some() {
        return Some("is a load on a server, which needs the kernel's processes and threads");
    }
    case.path.same_host.then_some(
        "is on the same host, which needs the kernel: its loopback costs processor time, and a model \
         has none",
    )
}

/// Why a model replaces the kernel, and how to get the kernel.
fn fallback(refusal: &Refusal) -> String {
    let Refusal { why, remedy } = refusal;
    let remedy = remedy.as_ref().map(|remedy| format!("; to use the kernel: {remedy}"));
    format!(
        "Simulated with the {KERNEL_MODEL} model, not on the kernel: {why}{}",
        remedy.unwrap_or_default()
    )
}

/// The TCP stacks of a case in a run in `world`.
pub(crate) fn stacks(world: RunWorld, case: &Case, kernel: &str) -> Vec<StackUsed> {
    [("client", &case.client), ("server", &case.server)]
        .into_iter()
        .map(|(end, spec)| match (Profile::named(spec.profile()), world_of(world, case)) {
            _ if case.kernels().is_some() => {
                StackUsed { end: end.into(), name: spec.stack.to_string(), ..StackUsed::default() }
            }
            (Ok(profile), World::Simulated) => StackUsed {
                end: end.into(),
                name: profile.name.into(),
                is_model: true,
                like: profile.like,
                title: profile.title,
                source: profile.source,
                for_kernel: spec.stack == Stack::Linux,
            },
            _ => StackUsed { end: end.into(), name: kernel.into(), ..StackUsed::default() },
        })
        .collect()
}

/// Where a case of a run in `world` runs.
pub(crate) fn world_of(world: RunWorld, case: &Case) -> World {
    match world {
        RunWorld::Simulated => World::Simulated,
        RunWorld::Both if case.is_virtual() => World::Simulated,
        RunWorld::Kernel | RunWorld::Both => World::Kernel,
    }
}

/// Whether a case of a run in `world` runs in virtual time.
pub(crate) fn is_simulated(world: RunWorld, case: &Case) -> bool {
    world_of(world, case) == World::Simulated
}
