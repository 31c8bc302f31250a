//! Which world a trial runs in.

use tcplab_path::Backend;
use tcplab_results::{RunWorld, StackUsed, World};
use tcplab_scenario::{Case, KERNEL_MODEL, Profile, Scenario, Stack};
use tcplab_sim::{CONGESTION_CONTROLS, check_route_and_modules};
use tcplab_testbed::{Launcher, NO_MPTCP, has_congestion, has_mptcp, may_isolate};
use tcplab_units::Endpoint;
use tcplab_workload::{IfRefused, SocketOptions};

use super::kernels::{KernelChoice, VirtualKernels};
use crate::error::{BY_NETEM, LabError};

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

/// What runs the trials in virtual time where this kernel is refused: the newest kernel that was
/// built, or the model.
///
/// # Errors
/// When that kernel's image is not the one that was built.
pub fn kernel_substitute() -> Result<String, LabError> {
    Ok(match VirtualKernels::choose(&KernelChoice::Newest)?.newest {
        Some(newest) => format!("Linux {} in virtual time", newest.release),
        None => format!("the model {KERNEL_MODEL}"),
    })
}

/// The world of a run, and why a model replaces the kernel, if one does. Without `asked`, each case
/// runs where its stacks are; all run in virtual time where this machine refuses the kernel.
/// `refused` is called only where that decides.
pub(super) fn of_run(
    scenario: &Scenario,
    kernels: &VirtualKernels,
    asked: Option<World>,
    refused: impl FnOnce() -> Option<Refusal>,
) -> Result<(RunWorld, Option<String>), LabError> {
    let modelled = scenario.cases.iter().filter(|case| case.is_virtual()).count();
    let only = |case: &Case| Some((case.name.clone(), only_real(case, kernels)?));
    let real = scenario.cases.iter().find_map(only);
    match asked {
        Some(World::Simulated) => match real {
            Some((case, what)) => Err(LabError::NotSimulated { case, what }),
            None => Ok((RunWorld::Simulated, None)),
        },
        None if modelled == scenario.cases.len() => match real {
            Some((case, what)) => Err(LabError::NotSimulated { case, what }),
            None => Ok((RunWorld::Simulated, None)),
        },
        None => match (refused(), real) {
            (Some(Refusal { why, remedy }), Some((case, what))) => {
                Err(LabError::KernelNeeded { case, what, why, remedy })
            }
            (Some(refusal), None) => Ok((RunWorld::Simulated, Some(fallback(&refusal, kernels)))),
            (None, _) if modelled > 0 => {
                let real = scenario.cases.iter().filter(|case| case.is_virtual()).find_map(only);
                match real {
                    Some((case, what)) => Err(LabError::NotSimulated { case, what }),
                    None => Ok((RunWorld::Both, None)),
                }
            }
            (None, _) => Ok((RunWorld::Kernel, None)),
        },
        Some(World::Kernel) if modelled == 0 => Ok((RunWorld::Kernel, None)),
        Some(World::Kernel) => {
            let case = scenario.cases.iter().find(|case| case.is_virtual());
            let case = case.map(|case| case.name.clone()).unwrap_or_default();
            Err(LabError::NotOnKernel { case, remedy: "omit `--world`, or use `--world sim`" })
        }
    }
}

/// Refuses a case whose congestion control this kernel, or a model, does not have, unless it says
/// to go on without.
pub(super) fn check_congestion(
    scenario: &Scenario,
    kernels: &VirtualKernels,
    world: RunWorld,
) -> Result<(), LabError> {
    for it in &scenario.cases {
        for end in Endpoint::BOTH {
            let flows = it.flows.iter().map(|flow| match end {
                Endpoint::Client => &flow.spec.client,
                Endpoint::Server => &flow.spec.server,
            });
            let own = it.end(end);
            let sockets = [&own.socket, &own.accepted].into_iter();
            let sockets = sockets.chain(flows.flat_map(|end| [&end.socket, &end.accepted]));
            let asked = sockets.filter(|socket| socket.if_refused == IfRefused::Fail);
            let names = asked.filter_map(SocketOptions::congestion);
            for name in names.chain(own.route.congctl.as_deref()) {
                let case = || it.name.clone();
                match world_of(world, it) {
                    World::Kernel => has_congestion(name)
                        .map_err(|source| LabError::NoCongestion { case: case(), source })?,
                    // A kernel in virtual time says itself what it does not have.
                    World::Simulated if kernels.of_end(own).is_some() => {}
                    World::Simulated if !CONGESTION_CONTROLS.contains(&name) => {
                        let name = name.to_owned();
                        return Err(LabError::NoModelledCongestion { case: case(), name });
                    }
                    World::Simulated => {}
                }
            }
        }
    }
    Ok(())
}

/// Refuses what would slow this machine's kernel down.
pub(super) fn check_sampling(scenario: &Scenario, world: RunWorld) -> Result<(), LabError> {
    let too_often = |case: &&Case| case.sampling.each_ack && world_of(world, case) == World::Kernel;
    match scenario.cases.iter().find(too_often) {
        Some(case) => Err(LabError::SampledAtAcks { case: case.name.clone() }),
        None => Ok(()),
    }
}

/// Refuses a case whose ends are asked for what their stacks do not have: attributes of routes,
/// parameters of kernel modules, Multipath TCP, a second path.
pub(super) fn check_ends(
    scenario: &Scenario,
    kernels: &VirtualKernels,
    world: RunWorld,
) -> Result<(), LabError> {
    for it in &scenario.cases {
        let case = it.name.clone();
        let world = world_of(world, it);
        if world == World::Kernel && it.second_path.is_some() {
            return Err(LabError::SecondPath { case });
        }
        for end in Endpoint::BOTH {
            let (spec, endpoint) = (it.end(end), end.name());
            let is_kernel = world == World::Kernel || kernels.of_end(spec).is_some();
            let has_multipath = is_kernel && (world == World::Simulated || has_mptcp());
            if it.is_multipath() && !has_multipath {
                let why = if is_kernel { NO_MPTCP } else { "a model has no Multipath TCP" };
                return Err(LabError::NoMptcp { case, endpoint, why });
            }
            if !is_kernel {
                check_route_and_modules(spec).map_err(|source| LabError::NotModelled {
                    case: case.clone(),
                    endpoint,
                    source,
                })?;
            } else if let (World::Kernel, Some(name)) = (world, spec.module.keys().next()) {
                return Err(LabError::OfTheMachine { case, name: name.clone() });
            }
        }
    }
    Ok(())
}

/// Why a case is for a kernel only, and cannot run on one in virtual time.
fn only_real(case: &Case, kernels: &VirtualKernels) -> Option<&'static str> {
    if !case.workload.through.has_packets() {
        return Some("measures what the processor takes to move data, which takes no virtual time");
    }
    if case.path.backend == Some(Backend::Netem) {
        return Some(BY_NETEM);
    }
    let is_load = case.workload.load.is_some();
    if kernels.of_case(case).iter().all(Option::is_some) {
        return (is_load && case.path.same_host).then_some(
            "is a load on the same host: it lasts as long as the processor takes for requests, which \
             take no virtual time",
        );
    }
    if is_load {
        return Some("is a load on a server, which needs the processes and threads of a kernel");
    }
    case.path.same_host.then_some("is on the same host, which needs a kernel")
}

/// What replaces this machine's kernel, why, and how to get the kernel.
fn fallback(refusal: &Refusal, kernels: &VirtualKernels) -> String {
    let Refusal { why, remedy } = refusal;
    let remedy = remedy.as_ref().map(|remedy| format!("; to use the kernel: {remedy}"));
    let instead = match &kernels.newest {
        Some(newest) => format!("On {} in virtual time", newest.in_words()),
        None => format!("Simulated with the {KERNEL_MODEL} model"),
    };
    format!("{instead}, not on the kernel: {why}{}", remedy.unwrap_or_default())
}

/// The TCP stacks of a case in a run; `kernel` is this machine's.
pub(crate) fn stacks(
    (world, kernels): (RunWorld, &VirtualKernels),
    case: &Case,
    kernel: &str,
) -> Vec<StackUsed> {
    let world = world_of(world, case);
    [("client", &case.client), ("server", &case.server)]
        .into_iter()
        .map(|(end, spec)| match (Profile::named(spec.profile()), world) {
            (Ok(profile), World::Simulated) => match kernels.of_end(spec) {
                Some(kernel) => {
                    StackUsed { end: end.into(), name: kernel.in_words(), ..StackUsed::default() }
                }
                None => StackUsed {
                    end: end.into(),
                    name: profile.name.into(),
                    is_model: true,
                    like: profile.like,
                    title: profile.title,
                    source: profile.source,
                    for_kernel: matches!(spec.stack, Stack::Linux | Stack::Newest),
                },
            },
            _ => StackUsed { end: end.into(), name: kernel.into(), ..StackUsed::default() },
        })
        .collect()
}

/// Whether every seed gives the same trial of a case with these stacks.
pub(crate) fn is_exact(stacks: &[StackUsed], case: &Case) -> bool {
    stacks.iter().all(|stack| stack.is_model) && !tcplab_sim::leaves_to_chance(case)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(rest: &str) -> Scenario {
        let source = format!("title = \"t\"\n[path]\n[workload]\nupload = \"1 B\"\n{rest}");
        Scenario::parse(&source, "t").unwrap()
    }

    /// A path by netem has no emulator in virtual time: it would be another path.
    #[test]
    fn netem_is_of_real_time_only() {
        let beside = "[matrix]\n\"path.backend\" = [\"tcplab\", \"netem\"]\n";
        let modelled = "[matrix.by]\nus = {}\nnetem = { \"path.backend\" = \"netem\",";
        let modelled = format!("{modelled} \"client.stack\" = \"model:linux-6.18\" }}\n");
        let refusal = || Some(Refusal { why: "it has none".into(), remedy: None });
        let (no, yes): (fn() -> _, fn() -> _) = (|| None, refusal);
        let kernels = VirtualKernels::default();
        let run = |rest: &str, asked, refused: fn() -> Option<Refusal>| {
            of_run(&scenario(rest), &kernels, asked, refused).map(|(world, _)| world)
        };
        for (rest, asked, refused) in
            [(beside, Some(World::Simulated), no), (&modelled, None, no), (beside, None, yes)]
        {
            let error = run(rest, asked, refused).unwrap_err();
            assert!(error.to_string().contains("`backend = \"netem\"`"), "{error}");
            if refused().is_none() {
                assert!(error.remedy().unwrap().contains("leave out `backend`"), "{error}");
            }
        }
        for (rest, asked, refused, world) in [
            (beside, None, no, RunWorld::Kernel),
            (beside, Some(World::Kernel), no, RunWorld::Kernel),
            ("", None, yes, RunWorld::Simulated),
        ] {
            assert_eq!(run(rest, asked, refused).unwrap(), world);
        }
    }
}
