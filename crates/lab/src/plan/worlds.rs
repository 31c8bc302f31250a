//! Which world a trial runs in.

use tcplab_results::StackUsed;
use tcplab_scenario::{Case, Profile, STANDS_FOR_THE_KERNEL, Scenario, Stack};
use tcplab_testbed::{Launcher, may_isolate};

use crate::error::LabError;

/// In which world to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum World {
    /// The kernel where the case's stacks are the kernel's; virtual time where one is a model, and
    /// for all where this machine does not let the kernel be had.
    #[default]
    Auto,
    /// The kernel.
    Kernel,
    /// Virtual time; a model stands for the kernel.
    Sim,
}

/// The name of the real world, in plans and results.
pub(crate) const KERNEL: &str = "kernel";
/// The name of the virtual one.
pub(crate) const SIM: &str = "sim";
/// Each case in its own.
pub(crate) const BOTH: &str = "kernel and sim";

/// Why the kernel's TCP cannot be had here.
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

/// The world of a whole run: [`KERNEL`], [`SIM`] or [`BOTH`]; and, where the kernel was refused,
/// what is to be told of that. `refused` is asked where it decides.
pub(crate) fn of_run(
    scenario: &Scenario,
    asked: World,
    refused: impl FnOnce() -> Option<Refusal>,
) -> Result<(&'static str, Option<String>), LabError> {
    let modelled = scenario.cases.iter().filter(|case| case.is_modelled()).count();
    let real = scenario.cases.iter().find_map(|case| Some((case.name.clone(), only_real(case)?)));
    match asked {
        World::Sim => match real {
            Some((case, what)) => Err(LabError::NotSimulated { case, what }),
            None => Ok((SIM, None)),
        },
        World::Auto if modelled == scenario.cases.len() => Ok((SIM, None)),
        World::Auto => match (refused(), real) {
            (Some(Refusal { why, remedy }), Some((case, what))) => {
                Err(LabError::KernelNeeded { case, what, why, remedy })
            }
            (Some(refusal), None) => Ok((SIM, Some(told(&refusal)))),
            (None, _) if modelled > 0 => Ok((BOTH, None)),
            (None, _) => Ok((KERNEL, None)),
        },
        World::Kernel if modelled == 0 => Ok((KERNEL, None)),
        World::Kernel => {
            let case = scenario.cases.iter().find(|case| case.is_modelled());
            let case = case.map(|case| case.name.clone()).unwrap_or_default();
            Err(LabError::NotOnKernel { case })
        }
    }
}

/// Why a case is for the kernel only, if it is.
fn only_real(case: &Case) -> Option<&'static str> {
    if case.workload.load.is_some() {
        return Some(
            "puts a load on a server, which there is on the kernel only: it is processes and \
             threads, and a model has none",
        );
    }
    case.path.same_host.then_some(
        "is on the same host, which there is on the kernel only: what its loopback costs is \
         processor time, of which a model has none",
    )
}

/// That a model stands for the kernel, why, and how to get the kernel.
fn told(refusal: &Refusal) -> String {
    let Refusal { why, remedy } = refusal;
    let remedy = remedy.as_ref().map(|remedy| format!("; for the kernel: {remedy}"));
    format!(
        "The model {STANDS_FOR_THE_KERNEL} stands for the kernel, in virtual time: {why}{}",
        remedy.unwrap_or_default()
    )
}

/// Whose TCP spoke at both ends of a case in a run in `world`.
pub(crate) fn stacks(world: &str, case: &Case, kernel: &str) -> Vec<StackUsed> {
    let is_virtual = is_virtual(world, case);
    [("client", &case.client), ("server", &case.server)]
        .into_iter()
        .map(|(end, spec)| match (Profile::named(spec.profile()), is_virtual) {
            (Ok(profile), true) => StackUsed {
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

/// Whether a case of a run in `world` runs in virtual time.
pub(crate) fn is_virtual(world: &str, case: &Case) -> bool {
    match world {
        SIM => true,
        BOTH => case.is_modelled(),
        _ => false,
    }
}

/// The world of a case of a run in `world`.
pub(crate) fn of_case(world: &str, case: &Case) -> &'static str {
    if is_virtual(world, case) { SIM } else { KERNEL }
}
