//! A scenario's two runs, and where they are kept.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_kernels::KernelName;
use tcplab_results::World;
use tcplab_scenario::{Case, EndpointSpec, KERNEL_MODEL, Keep, Profile, Scenario};

use crate::error::LabError;
use crate::plan::{KernelChoice, Overrides, Plan, environment, plan, sysctl};
use crate::run::begin;
use crate::store::RunDirectory;

/// What is kept of each packet, bytes: the largest headers of IPv4 and TCP are 20 and 60. Nothing
/// that is compared is read from the data, which makes up nearly all of a capture.
const HEADERS: u32 = 96;

/// What to do about a scenario that chooses what is compared.
pub(crate) const NO_STACK: &str = "leave `stack` out of the scenario";

/// A scenario on the kernel and on the model.
#[derive(Debug)]
pub struct Pair {
    /// The kernel's run.
    pub kernel: RunDirectory,
    /// The model's.
    pub model: RunDirectory,
}

/// What the model is compared with.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// This machine's kernel, in real time.
    ThisKernel,
    /// A kernel in virtual time, with the model of the profile of that name (`linux-6.12`).
    Virtual(&'a KernelName, &'static str),
}

impl Pair {
    /// The runs of `scenario` below `place`. A run begun there with the same cases, seeds and
    /// kernel is resumed, trial by trial. The model's trials are repeated: they take little time,
    /// and the model may have changed.
    ///
    /// # Errors
    /// When a stack of the scenario is a model's already or another kernel's, when it has no
    /// connection, when there is no such kernel, or when a directory cannot be made or read.
    pub fn prepare(
        place: &Path,
        scenario: &Scenario,
        against: Against<'_>,
        trials: Option<u32>,
        seed: Option<u64>,
    ) -> Result<Pair, LabError> {
        if let Some(case) = scenario.cases.iter().find(|case| case.workload.datagrams.is_some()) {
            return Err(LabError::NotTcp { case: case.name.clone() });
        }
        let others = |case: &&Case| case.is_virtual();
        if let Some(case) = scenario.cases.iter().find(others) {
            let case = case.name.clone();
            return Err(match against {
                Against::Virtual(..) => LabError::OtherStack { case },
                Against::ThisKernel => LabError::NotOnKernel { case, remedy: NO_STACK },
            });
        }
        let side = |folder: &str, world: World, kernel: KernelChoice| {
            let overrides = Overrides { trials, seed, kernel, ..Overrides::default() };
            // Only `auto` asks whether the kernel is refused; here its first trial shows it.
            let plan = plan(scenario, Some(world), || None, overrides)?;
            // What is compared is read from packets, and both have as many trials.
            let (until, snaplen, keep) = (None, Some(HEADERS), Keep::All);
            Ok::<_, LabError>((place.join(folder), Plan { until, snaplen, keep, ..plan }))
        };
        let (real, simulated) = (World::Kernel, World::Simulated);
        // What virtual time refuses is reported before anything is made.
        let [kernel, model] = match against {
            Against::ThisKernel => [
                side(real.name(), real, KernelChoice::Model)?,
                side(simulated.name(), simulated, KernelChoice::Model)?,
            ],
            Against::Virtual(name, profile) => [
                side(&format!("linux-{name}"), simulated, KernelChoice::Named(name.clone()))?,
                side(&format!("model-{profile}"), simulated, KernelChoice::Profile(profile))?,
            ],
        };
        let begin = |(runs, plan): (PathBuf, Plan)| begin(&runs, scenario.clone(), plan);
        let kernel = match known(&kernel.0, &kernel.1)? {
            Some(known) => known,
            None => begin(kernel)?,
        };
        if let Some(old) = known(&model.0, &model.1)? {
            old.discard()?;
        }
        Ok(Pair { kernel, model: begin(model)? })
    }
}

/// The congestion control that this machine uses by default, and the model's, where they differ and
/// cases name none: then one control would be compared with another, not the model with the kernel.
/// The third is the number of these cases.
pub fn differing_defaults(scenario: &Scenario) -> Option<(String, String, usize)> {
    const DEFAULT: &str = "net.ipv4.tcp_congestion_control";
    let names_it =
        |end: &EndpointSpec| end.socket.congestion().is_some() || end.sysctl.contains_key(DEFAULT);
    let leaves_it = |case: &&Case| {
        let ends: Vec<_> = case.all_flows().iter().flat_map(|flow| case.ends_of(flow)).collect();
        !ends.iter().any(names_it)
    };
    let kernel = sysctl(DEFAULT)?;
    let model = Profile::named(KERNEL_MODEL).ok()?.config.window.congestion;
    let cases = scenario.cases.iter().filter(leaves_it).count();
    (kernel != model && cases > 0).then_some((kernel, model, cases))
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
    let what = |plan: &Plan| {
        (plan.world, plan.seed, plan.trials, plan.cases.clone(), plan.kernels.clone())
    };
    what(known) == what(asked)
}

/// Whether the run began on the kernel that runs now.
fn is_this_kernel(run: &RunDirectory) -> Result<bool, LabError> {
    let of = |rows: Vec<(String, String)>| -> Vec<(String, String)> {
        rows.into_iter().filter(|(name, _)| name.starts_with("kernel")).collect()
    };
    Ok(of(run.environment()?) == of(environment()))
}
