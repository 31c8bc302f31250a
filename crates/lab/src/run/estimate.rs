//! What a run would do, how long that takes and how much room, before it is begun.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tcplab_path::{Direction, PathSpec};
use tcplab_results::{RunWorld, World};
use tcplab_scenario::{Case, Keep, PlannedConnection, Scenario, Stack, TrialId, Until, trial_seed};
use tcplab_units::rounded::counted;
use tcplab_units::{Bytes, Instant, Span, rounded};
use tcplab_workload::WorkloadSpec;

use super::calibration::LASTING;
use super::cost::{Cost, costs};
use super::room::lack_of_room;
use crate::bench::Bench;
use crate::compare::{unanswerable, undecidable};
use crate::error::LabError;
use crate::plan::{Plan, is_exact, is_simulated, stacks, world_of};
use crate::store::{Extension, RunDirectory, plan_extension, trial_directory};
use crate::verify;

/// How many blocks and seeds are listed one by one.
const LISTED: u32 = 3;
/// What verifying paths takes on the kernel, and each path that differs, besides the time for which
/// packets are on it.
const VERIFYING: [f64; 2] = [2.0, 1.5];
/// What is left of a trial without packets: 23 kB beside its recording (`app.json`, `result.json`,
/// `trial.json`), and 14 kB of `run.json`, tables and report. Measured: 10,000 transfers of 10 MB.
const RESULTS: f64 = 37_000.0;

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEstimate {
    /// The scenario's name.
    pub name: String,
    /// Where its cases run.
    pub world: RunWorld,
    /// Why a model replaces the kernel.
    pub fallback: Option<String>,
    /// Which combinations of levels are cases.
    pub design: String,
    /// The cases.
    pub cases: Vec<CaseEstimate>,
    /// The number of the first block: 1, unless a trial is run again by itself.
    pub first: u32,
    /// Blocks, each of them one trial of every case; at most, where `until` says how many.
    pub blocks: u32,
    /// When there are enough, where their number is not fixed.
    pub until: Option<Until>,
    /// Blocks on the kernel that come first and are not counted.
    pub warm_up: u32,
    /// How often a trial is run again that fails or is flawed, on the kernel.
    pub retries: u32,
    /// The seed of all randomness.
    pub seed: u64,
    /// Those of the first blocks: every case has the same in a block.
    pub seeds: Vec<u64>,
    /// The order in the first blocks, by name.
    pub order: Vec<Vec<String>>,
    /// Of which trials the packets are kept.
    pub keep: Keep,
    /// How many trials run at once in virtual time.
    pub jobs: usize,
    /// Trials that are there already.
    pub there: usize,
    /// What of an extended run is not used again: why, and how many.
    pub unused: Vec<(String, usize)>,
    /// Trials that are still to be run, at most.
    pub missing: usize,
    /// How long these take, about, seconds: at least and at most; with what comes before and after.
    pub seconds: (f64, f64),
    /// Of this, verifying the paths before the first trial on the kernel.
    pub calibration_seconds: f64,
    /// The blocks that are not counted.
    pub warm_up_seconds: f64,
    /// Reading all trials again, and drawing the report, after the last.
    pub report_seconds: f64,
    /// How much room they take, about, bytes, at most.
    pub bytes: f64,
    /// What the run cannot show, however it goes.
    pub warnings: Vec<String>,
}

/// A case that would be run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseEstimate {
    /// Its name.
    pub name: String,
    /// The factors and their levels.
    pub levels: Vec<(String, String)>,
    /// Where its trials run.
    pub world: World,
    /// The estimated time of a trial, wall-clock seconds.
    pub seconds: f64,
}

/// What a run in its directory has still to do. The time is found out in `patience`.
pub fn estimate(run: &RunDirectory, bench: &Bench, patience: Duration) -> RunEstimate {
    let (plan, scenario) = (run.plan(), run.scenario());
    let is_there = |case: &Case, number: u32| run.has_trial(&case.name, number);
    let blocks = run.blocks();
    look_ahead(scenario, plan, bench, patience, (blocks, &is_there)).on_disk_of(run.path())
}

/// What a new run of `plan` below the directory `runs` would do.
pub fn estimate_plan(
    scenario: &Scenario,
    plan: &Plan,
    runs: &Path,
    bench: &Bench,
    patience: Duration,
) -> RunEstimate {
    let scenario = plan.of(scenario.clone());
    look_ahead(&scenario, plan, bench, patience, (plan.trials, &|_, _| false)).on_disk_of(runs)
}

/// What would be done if the run in `path` were extended; see [`crate::extend()`].
///
/// # Errors
/// As for extending it.
pub fn estimate_extension<E: From<LabError>>(
    path: &Path,
    change: impl FnOnce(&Plan, Scenario) -> Result<(Plan, Scenario), E>,
    bench: &Bench,
    patience: Duration,
) -> Result<RunEstimate, E> {
    let (plan, scenario, Extension { unused, .. }, reused) = plan_extension(path, change)?;
    let is_there = |case: &Case, number: u32| reused.contains(&trial_directory(&case.name, number));
    let estimate = look_ahead(&scenario, &plan, bench, patience, (plan.trials, &is_there));
    Ok(RunEstimate { unused, ..estimate.on_disk_of(path) })
}

/// Whether a trial of a case is there.
type IsThere<'a> = &'a dyn Fn(&Case, u32) -> bool;

/// What there is to do, given how many blocks there can be, and which trials are there.
fn look_ahead(
    scenario: &Scenario,
    plan: &Plan,
    bench: &Bench,
    patience: Duration,
    (blocks, is_there): (u32, IsThere<'_>),
) -> RunEstimate {
    let count = blocks - (plan.first - 1);
    let cases = &scenario.cases;
    let costs = costs(plan, cases, patience);
    let order = scenario.trial_order(plan.seed);
    let order: Vec<Vec<String>> = order
        .chunks(cases.len())
        .take(LISTED.min(count) as usize)
        .map(|block| block.iter().map(|id: &TrialId| cases[id.case].name.clone()).collect())
        .collect();
    let mut there = 0;
    let mut sums = [Sums::default(), Sums::default()];
    let mut report = [0.0; 2];
    let least = plan.until.as_ref().map_or(blocks, |until| until.min.min(blocks));
    for (case, cost) in cases.iter().zip(&costs) {
        let simulated = is_simulated(plan.world, case);
        for number in plan.first..=blocks {
            let drawn = if plan.keep.has(number) { cost.report } else { 0.0 };
            report[1] += drawn;
            if number <= least {
                report[0] += drawn;
            }
            if is_there(case, number) {
                there += 1;
                continue;
            }
            sums[1].add(cost, simulated, plan.keep.has(number));
            if number <= least {
                sums[0].add(cost, simulated, plan.keep.has(number));
            }
        }
    }
    let before = if sums[1].real > 0 { before(plan, cases, &costs, bench) } else { [0.0; 2] };
    let waited = |sums: &Sums, report: f64| {
        let trials = sums.seconds + sums.virtually / bench.jobs.min(sums.simulated.max(1)) as f64;
        before.iter().sum::<f64>() + trials + report
    };
    RunEstimate {
        name: plan.name.clone(),
        world: plan.world,
        fallback: plan.fallback.clone(),
        design: scenario.design.clone(),
        cases: cases.iter().zip(&costs).map(|(case, cost)| of_case(plan, case, cost)).collect(),
        first: plan.first,
        blocks: count,
        until: plan.until.clone(),
        warm_up: plan.warm_up,
        retries: plan.retries,
        seed: plan.seed,
        seeds: (0..LISTED.min(count)).map(|nth| trial_seed(plan.seed, plan.first + nth)).collect(),
        order,
        keep: plan.keep,
        jobs: bench.jobs,
        there,
        unused: Vec::new(),
        missing: sums[1].simulated + sums[1].real,
        seconds: (waited(&sums[0], report[0]), waited(&sums[1], report[1])),
        calibration_seconds: before[0],
        warm_up_seconds: before[1],
        report_seconds: report[1],
        bytes: sums[1].bytes,
        warnings: warnings(plan, scenario, count),
    }
}

/// What the run cannot show, and what cannot end.
fn warnings(plan: &Plan, scenario: &Scenario, blocks: u32) -> Vec<String> {
    let cases = &scenario.cases;
    let is_by_chance =
        |case: &Case| !is_exact(&stacks((plan.world, &plan.kernels), case, "this machine's"), case);
    let by_chance: Vec<Case> = cases.iter().filter(|case| is_by_chance(case)).cloned().collect();
    let unanswerable = unanswerable(scenario, &is_by_chance, blocks);
    let undecidable = scenario.compares.iter().map(|it| undecidable(&by_chance, it, blocks));
    let has_no_kernel = plan.world != RunWorld::Kernel && plan.kernels.newest.is_none();
    let is_chosen = plan.kernels.is_model_chosen;
    let stood_in = has_no_kernel.then(|| stood_in(cases, is_chosen)).flatten();
    undecidable.chain([unanswerable, overdue(cases), stood_in]).flatten().collect()
}

/// In how many cases a model stands where the scenario asks for the newest kernel that is built;
/// how to get one, unless the model was chosen.
fn stood_in(cases: &[Case], is_chosen: bool) -> Option<String> {
    let asks =
        |case: &&Case| [&case.client, &case.server].iter().any(|it| it.stack == Stack::Newest);
    let asking = cases.iter().filter(asks).count();
    let [why, remedy] = if is_chosen {
        ["", ""]
    } else {
        [", as no kernel is built", "; build one with `tcplab kernel build 7.2`"]
    };
    (asking > 0).then(|| {
        format!(
            "in {asking} of {} a model stands for `linux-newest`{why}: what is claimed of a kernel \
             is claimed of the model{remedy}",
            counted(cases.len(), "case", "cases")
        )
    })
}

/// That trials cannot end within their limit: of how many cases, and why in the first of them.
fn overdue(cases: &[Case]) -> Option<String> {
    let late: Vec<_> = cases.iter().filter_map(why_overdue).collect();
    let why = late.first()?;
    let all = counted(cases.len(), "case", "cases");
    Some(format!("{} of {all} cannot end in time: {why}; raise `[limits] trial`", late.len()))
}

/// Why a trial of the case cannot end within its limit: a round trip takes longer, or the path's
/// mean rate does not carry so much. Of what the trial waits for, and what no rule makes up.
fn why_overdue(case: &Case) -> Option<String> {
    let limit = case.limits.trial;
    if case.second_path.is_some() || case.workload.load.is_some() {
        return None;
    }
    let flows = case.all_flows();
    let is_awaited = |it: &PlannedConnection| {
        let flow = &flows[it.flow].spec;
        !flow.background && flow.traffic.is_none()
    };
    let awaited: Vec<_> = case.connections(1).into_iter().filter(is_awaited).collect();
    let takes = |what: String| format!("{what}, and a trial may take {limit}");
    let further = awaited.iter().map(|it| case.path.delay_between_ports(it.ports)).max()?;
    let round_trip = case.path.round_trip() + further * 2;
    if round_trip > limit {
        return Some(takes(format!("a round trip takes {}", in_words(round_trip.as_secs_f64()))));
    }
    Direction::BOTH.into_iter().find_map(|direction| {
        let is_own = |it: &&WorkloadSpec| Direction::from_sender(it.sending_side()) == direction;
        let own = awaited.iter().map(|it| &it.workload).filter(is_own);
        let amount = own.map(|it| it.amount().as_u64()).fold(0, u64::saturating_add);
        let link = case.path.link(direction).ok()?;
        let rate = link.mean_rate(Instant::ZERO, Instant::ZERO + limit)?;
        (rate.bytes_in(limit).as_u64() < amount).then(|| {
            let all = rounded::bytes(Bytes::new(amount));
            takes(match rate.bits_per_second() {
                0 => format!("{all} do not pass at less than 1 bit/s"),
                bits => format!(
                    "{all} take about {} at {}",
                    in_words(amount as f64 * 8.0 / bits as f64),
                    rounded::rate(rate),
                ),
            })
        })
    })
}

fn of_case(plan: &Plan, case: &Case, cost: &Cost) -> CaseEstimate {
    CaseEstimate {
        name: case.name.clone(),
        levels: case.levels.clone(),
        world: world_of(plan.world, case),
        seconds: cost.seconds,
    }
}

/// What many trials take together.
#[derive(Default)]
struct Sums {
    /// Trials in virtual time, and what they take one after the other.
    simulated: usize,
    virtually: f64,
    /// Trials on the kernel, and what they take.
    real: usize,
    seconds: f64,
    bytes: f64,
}

impl Sums {
    fn add(&mut self, cost: &Cost, is_virtual: bool, is_kept: bool) {
        if is_virtual {
            self.simulated += 1;
            self.virtually += cost.seconds;
        } else {
            self.real += 1;
            self.seconds += cost.seconds;
        }
        self.bytes += RESULTS + if is_kept { cost.bytes } else { 0.0 };
    }
}

/// The times before the first trial on the kernel: calibration and warm-up.
fn before(plan: &Plan, cases: &[Case], costs: &[Cost], bench: &Bench) -> [f64; 2] {
    let is_real = |case: &&Case| !is_simulated(plan.world, case);
    let mut paths = Vec::new();
    for case in cases.iter().filter(is_real).filter(|case| !case.path.same_host) {
        if !paths.contains(&&case.path) {
            paths.push(&case.path);
        }
    }
    let waits = |path: &&PathSpec| verify::waits(path, plan.seed, LASTING).unwrap_or_default();
    let verified = match (bench.calibrate, paths.len()) {
        (false, _) | (_, 0) => 0.0,
        (true, number) => {
            let waits: f64 = paths.iter().map(waits).map(Span::as_secs_f64).sum();
            VERIFYING[0] + VERIFYING[1] * number as f64 + waits
        }
    };
    let of_block = cases.iter().zip(costs).filter(|(case, _)| is_real(case));
    let block: f64 = of_block.map(|(_, cost)| cost.seconds).sum();
    [verified, block * f64::from(plan.warm_up)]
}

impl RunEstimate {
    /// In a line, such as `7 cases × 5 trials: about 4 min`.
    pub fn in_short(&self) -> String {
        let cases = match self.cases.len() {
            1 => "1 case".to_owned(),
            cases => format!("{cases} cases"),
        };
        let trials = match (&self.until, self.blocks) {
            (Some(until), blocks) if until.min < blocks => {
                format!("{} to {blocks} trials", until.min)
            }
            (_, 1) => "1 trial".to_owned(),
            (_, blocks) => format!("{blocks} trials"),
        };
        let there = match self.there {
            0 => String::new(),
            there => format!(", {there} of them there already"),
        };
        format!("{cases} × {trials}{there}: {}", self.waiting())
    }

    /// In a line, with its room, such as `7 cases × 5 trials: about 4 min, about 12 MB`.
    pub fn with_room(&self) -> String {
        let room = if self.missing > 0 { format!(", {}", self.room()) } else { String::new() };
        format!("{}{room}", self.in_short())
    }

    /// With a warning if the disk of this directory has less room.
    fn on_disk_of(mut self, directory: &Path) -> RunEstimate {
        self.warnings.extend(lack_of_room(Bytes::new(round(self.bytes)), directory));
        self
    }

    /// How much room it takes, such as `about 12 MB`.
    pub fn room(&self) -> String {
        format!("about {}", Bytes::new(round(self.bytes)))
    }

    /// Such as `about 4 min`.
    fn waiting(&self) -> String {
        if self.missing == 0 {
            return "nothing to run".into();
        }
        match (in_words(self.seconds.0), in_words(self.seconds.1)) {
            (least, most) if least == most => format!("about {most}"),
            (least, most) => format!("about {least} to {most}"),
        }
    }
}

/// A time as people say it.
pub fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 1.5 => "a second".into(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

impl fmt::Display for RunEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.in_short())?;
        if let Some(fallback) = &self.fallback {
            writeln!(f, "  {fallback}")?;
        }
        writeln!(f, "\ndesign   {}", self.design)?;
        let width = self.cases.iter().map(|case| case.name.chars().count()).max().unwrap_or(0);
        for (index, case) in self.cases.iter().enumerate() {
            let levels: Vec<String> =
                case.levels.iter().map(|(key, level)| format!("{key} = {level}")).collect();
            let head = if index == 0 { "cases" } else { "" };
            let line =
                format!("{head:<8} {:width$}  {}  {}", case.name, case.world, levels.join(", "));
            writeln!(f, "{}", line.trim_end())?;
        }
        match &self.until {
            Some(until) => writeln!(
                f,
                "blocks   {} to {}, until half the interval of {} is {} of its mean in every case",
                until.min, until.max, until.metric, until.ci
            )?,
            None => writeln!(f, "blocks   {}", self.blocks)?,
        }
        if self.warm_up > 0 {
            writeln!(f, "warm-up  {} blocks on the kernel, not counted", self.warm_up)?;
        }
        let numbers = self.first..;
        for (number, (block, seed)) in numbers.zip(self.order.iter().zip(&self.seeds)) {
            let head = if number == self.first { "order" } else { "" };
            let shown: Vec<&str> = block.iter().take(8).map(String::as_str).collect();
            let more = if block.len() > shown.len() { ", …" } else { "" };
            writeln!(f, "{head:<8} block {number}, seed {seed}: {}{more}", shown.join(", "))?;
        }
        if self.blocks as usize > self.order.len() {
            writeln!(f, "{:<8} and so on, from seed {}", "", self.seed)?;
        }
        let jobs = match (self.world.has(World::Simulated), self.world.has(World::Kernel)) {
            (true, false) => format!(", {} trials at once", self.jobs),
            (true, true) => format!(", {} trials at once in virtual time", self.jobs),
            _ => ", one trial at a time".into(),
        };
        writeln!(f, "world    {}{jobs}", self.world)?;
        writeln!(f, "existing {} trials; {} to run", self.there, self.missing)?;
        for (why, count) in &self.unused {
            writeln!(f, "unused   {count}: {why}")?;
        }
        let kept = match self.keep {
            Keep::All => "all trials",
            Keep::First => "the first trial of each case",
            Keep::None => "no trial",
        };
        writeln!(f, "room     {}, with the packets of {kept}", self.room())?;
        writeln!(f, "time     {}", self.waiting())?;
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning  {warning}"))
    }
}

/// To two figures.
fn round(bytes: f64) -> u64 {
    let step = 10f64.powf((bytes.max(1.0).log10() - 1.0).floor().max(0.0));
    ((bytes / step).round() * step) as u64
}

#[cfg(test)]
mod tests;
