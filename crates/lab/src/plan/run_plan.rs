//! What a run is to do.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use tcplab_results::{RunWorld, World};
use tcplab_scenario::{Case, Keep, RecordingSpec, Scenario, Snaplen, TRIALS_MAX, Until};

use super::kernels::{KernelChoice, KernelUsed, VirtualKernels};
use super::quick;
use super::worlds::{self, Refusal};
use crate::error::LabError;

/// What a run is to do, settled when it starts. Resuming does the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// Where its cases run.
    pub world: RunWorld,
    /// Why virtual time replaces this machine's kernel, and how to get the kernel.
    pub fallback: Option<String>,
    /// The kernels in virtual time.
    #[serde(default)]
    pub kernels: VirtualKernels,
    /// When it was started, UTC, RFC 3339.
    pub started: String,
    /// The seed of the run.
    pub seed: u64,
    /// Trials of each case; with `until`, the maximum.
    pub trials: u32,
    /// The number of the first of them: 1, unless one trial is run again by itself.
    pub first: u32,
    /// The names of the cases, where not all of the scenario's are run.
    pub only: Vec<String>,
    /// When there are enough, where their number is not fixed.
    pub until: Option<Until>,
    /// Blocks on the kernel that come first and do not count.
    pub warm_up: u32,
    /// How often a trial is run again that failed, or whose path misbehaved.
    pub retries: u32,
    /// How many bytes of each packet the captures keep; all where no number is given.
    pub snaplen: Option<u32>,
    /// Which packets are kept as far as somebody has chosen it. Where nobody has chosen how much of
    /// each, paths that damage packets have them kept whole.
    #[serde(default)]
    pub recording: RecordingSpec,
    /// Of which trials the packets are kept.
    pub keep: Keep,
    /// tcplab's version.
    pub tcplab: String,
    /// The hashes of the cases, in order: a resumed run must have the same.
    pub cases: Vec<String>,
}

/// What is run otherwise than the scenario says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// A fixed number of trials per case, whatever the interval.
    pub trials: Option<u32>,
    /// As few trials as tell something: one on the kernel; in virtual time as many as the scenario
    /// has, or fewer where that is much work.
    pub quick: bool,
    /// The seed of all randomness.
    pub seed: Option<u64>,
    /// The cases of these names alone; all, where there are none.
    pub cases: Vec<String>,
    /// The trial of this number alone, as it is in the whole run; with all its packets.
    pub trial: Option<u32>,
    /// Which packets are kept where the scenario does not say.
    pub recording: RecordingSpec,
    /// How much of each packet is kept, whatever the scenario says.
    pub snaplen: Option<Snaplen>,
    /// What stands for `linux` in virtual time.
    pub kernel: KernelChoice,
}

/// What `scenario` asks for, settled. Whether the kernel is `refused` here is asked where that
/// decides, see [`crate::kernel_refused`].
///
/// # Errors
/// When a number of trials is none, the world cannot be that of the scenario's stacks, there is no
/// case or kernel of a name, or this kernel has no congestion control of a name.
pub fn plan(
    scenario: &Scenario,
    world: Option<World>,
    refused: impl FnOnce() -> Option<Refusal>,
    overrides: Overrides,
) -> Result<Plan, LabError> {
    let mut numbers = overrides.trial.into_iter().chain(overrides.trials);
    if let Some(asked) = numbers.find(|it| !(1..=TRIALS_MAX).contains(it)) {
        return Err(LabError::Trials { asked });
    }
    let chosen = chosen(scenario, &overrides.cases)?;
    let scenario = chosen.as_ref().unwrap_or(scenario);
    let kernels = VirtualKernels::choose(&overrides.kernel)?.with_named(scenario)?;
    let (world, fallback) = worlds::of_run(scenario, &kernels, world, refused)?;
    let kernels = kernels.used_by(simulated(scenario, world))?;
    worlds::check_congestion(scenario, &kernels, world)?;
    worlds::check_sampling(scenario, world)?;
    worlds::check_ends(scenario, &kernels, world)?;
    let quick = overrides.quick.then(|| quick::trials(scenario, &kernels, world));
    let fixed = overrides.trial.or(overrides.trials).or(quick);
    let trials = fixed.unwrap_or(scenario.trials);
    let first = overrides.trial.unwrap_or(1);
    let count = scenario.cases.len() * (trials - first + 1) as usize;
    let chosen = RecordingSpec { keep: None, snaplen: overrides.snaplen };
    let recording = chosen.or(&scenario.recording).or(&overrides.recording);
    Ok(Plan {
        name: scenario.name.clone(),
        world,
        fallback,
        kernels,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seed: overrides.seed.unwrap_or(scenario.seed),
        trials,
        first,
        only: overrides.cases,
        until: if fixed.is_some() { None } else { scenario.until.clone() },
        warm_up: if world.has(World::Kernel) { scenario.warm_up } else { 0 },
        retries: scenario.retries,
        snaplen: Some(recording.snaplen.unwrap_or(Snaplen::HEADERS).most()),
        keep: match overrides.trial {
            Some(_) => Keep::All,
            None => recording.kept_of(count),
        },
        recording,
        tcplab: env!("CARGO_PKG_VERSION").into(),
        cases: scenario.cases.iter().map(|case| case.hash.clone()).collect(),
    })
}

/// The cases that run in virtual time.
fn simulated(scenario: &Scenario, world: RunWorld) -> impl Iterator<Item = &Case> {
    scenario.cases.iter().filter(move |case| worlds::is_simulated(world, case))
}

/// The scenario with the cases of these names alone, where there are any.
fn chosen(scenario: &Scenario, names: &[String]) -> Result<Option<Scenario>, LabError> {
    let known = || scenario.cases.iter().map(|case| case.name.clone());
    if let Some(asked) = names.iter().find(|name| !known().any(|known| known == **name)) {
        return Err(LabError::NoCase { asked: asked.clone(), known: known().collect() });
    }
    Ok((!names.is_empty()).then(|| scenario.clone().only(names)))
}

impl Plan {
    /// The numbers of the trials of each case, at most.
    pub(crate) fn numbers(&self) -> RangeInclusive<u32> {
        self.first..=self.trials
    }

    /// How many bytes of each packet the captures of a case keep; all where no number is given.
    pub(crate) fn snaplen_of(&self, case: &Case) -> Option<u32> {
        let is_usual = self.snaplen.is_some() && self.recording.snaplen.is_none();
        if is_usual { Some(Plan::usual_snaplen(case)) } else { self.snaplen }
    }

    /// How many bytes of each packet of a case its analysis needs.
    pub(crate) fn usual_snaplen(case: &Case) -> u32 {
        if case.damages_packets() { Snaplen::Whole.most() } else { Snaplen::HEADERS.most() }
    }

    /// The hashes of the kernels that a case has in virtual time, of client and server; none on
    /// this machine's kernel, and of a model.
    pub(crate) fn images(&self, case: &Case) -> [Option<String>; 2] {
        self.kernels_of(case).map(|kernel| kernel.map(|it| it.image_hash.clone()))
    }

    /// The kernels that a case has in virtual time, of client and server; none on this machine's
    /// kernel, and of a model.
    pub(crate) fn kernels_of(&self, case: &Case) -> [Option<&KernelUsed>; 2] {
        match worlds::world_of(self.world, case) {
            World::Simulated => self.kernels.of_case(case),
            World::Kernel => [None, None],
        }
    }

    /// What was chosen to stand for `linux` in virtual time, for a run of `scenario` to go on so.
    pub fn kernel_choice(&self, scenario: &Scenario) -> KernelChoice {
        self.kernels.choice(simulated(scenario, self.world))
    }

    /// What stands for `linux` at an end of a case in virtual time, as `--kernel` takes it. None
    /// where nothing does.
    pub(crate) fn for_linux(&self, case: &Case) -> Option<&str> {
        match worlds::world_of(self.world, case) {
            World::Simulated => self.kernels.for_linux(case),
            World::Kernel => None,
        }
    }

    /// Whether a kernel in virtual time is at an end of a case.
    pub(crate) fn has_kernel(&self, case: &Case) -> bool {
        self.kernels_of(case).iter().any(Option::is_some)
    }

    /// The scenario as this plan has it run.
    pub(crate) fn of(&self, scenario: Scenario) -> Scenario {
        let mut scenario = if self.only.is_empty() { scenario } else { scenario.only(&self.only) };
        for case in &mut scenario.cases {
            self.kernels.settle(&mut case.client);
            self.kernels.settle(&mut case.server);
        }
        let Plan { trials, first, .. } = *self;
        Scenario { trials, first, until: self.until.clone(), ..scenario }
    }
}
