//! Trials that are there, put where a new plan wants them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_quantities::PLAN_DOCUMENT;
use tcplab_recording::Recording;
use tcplab_scenario::{Case, Scenario, trial_seed};

use super::files::{
    BLOCKS, ENVIRONMENT, EnvironmentFile, FILES, FLAWED, PARTIAL, PLAN, RUN, SCENARIO_FILE, TRIALS,
    read_plan, read_scenario, remove, replace_in, trial_directory,
};
use super::trial_files::{Identity, TrialStatus, is_failed, without_packets};
use crate::error::LabError;
use crate::json::to_json;
use crate::plan::{Plan, is_simulated, of_kernel, tcplab};

/// What a run is to become; while this is there, it is on its way.
pub(super) const EXTENSION: &str = "extension.json";
/// Trials that are not those of the plan, for a later one.
pub(super) const UNUSED: &str = "unused";

/// What a run is to become.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Target {
    pub(super) plan: Plan,
    pub(super) source: String,
    pub(super) files: BTreeMap<String, String>,
    pub(super) environment: Vec<(String, String)>,
}

impl Target {
    pub(super) fn of(
        plan: Plan,
        scenario: &Scenario,
        environment: Vec<(String, String)>,
    ) -> Target {
        let text = |content: &Vec<u8>| String::from_utf8_lossy(content).into_owned();
        let files = scenario.files.iter().map(|(name, content)| (name.clone(), text(content)));
        Target { plan, source: scenario.source.clone(), files: files.collect(), environment }
    }

    /// Writes its files into `path`.
    pub(super) fn write(&self, path: &Path) -> Result<(), LabError> {
        replace_in(path, SCENARIO_FILE, self.source.as_bytes())?;
        if self.files.is_empty() {
            remove(&path.join(FILES))?;
        } else {
            replace_in(path, FILES, &to_json(&self.files))?;
        }
        replace_in(path, ENVIRONMENT, &EnvironmentFile::json(&self.environment))?;
        // Last, as it makes the directory a run.
        replace_in(path, PLAN, &to_json(&PLAN_DOCUMENT.of(&self.plan))).map(drop)
    }
}

/// What of a run could be used again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Extension {
    /// Trials that are there and belong to the new plan.
    pub reused: usize,
    /// Others that are there, by why they do not: the reason, and how many.
    pub unused: Vec<(String, usize)>,
}

impl Extension {
    /// Which trials are reused and which not, a line each.
    pub fn lines(&self) -> Vec<String> {
        let used = format!("{} existing trials reused", self.reused);
        let unused = self.unused.iter().map(|(why, count)| match count {
            1 => format!("1 trial not reused: it {why}"),
            count => format!("{count} trials not reused: each {why}"),
        });
        std::iter::once(used).chain(unused).collect()
    }
}

/// Finishes an interrupted extension.
pub(super) fn finish(path: &Path) -> Result<(), LabError> {
    apply(path).map(drop)
}

/// Every step can be done again, so a kill between any two of them is no harm.
pub(super) fn apply(path: &Path) -> Result<Option<Extension>, LabError> {
    let Ok(text) = fs::read(path.join(EXTENSION)) else { return Ok(None) };
    let target: Target = serde_json::from_slice(&text).map_err(|error| LabError::NotARun {
        path: path.into(),
        what: format!("{EXTENSION} is damaged: {error}"),
    })?;
    // It is no longer a finished one.
    remove(&path.join(RUN))?;
    target.write(path)?;
    let plan = read_plan(path)?;
    let scenario = plan.of(read_scenario(path, &plan.name)?);
    let extension = Arrangement::new(path, &plan, &scenario).arrange()?;
    remove(&path.join(BLOCKS))?;
    remove(&path.join(EXTENSION))?;
    Ok(Some(extension))
}

/// Puts trials where the plan wants them.
pub(super) struct Arrangement<'a> {
    path: &'a Path,
    plan: &'a Plan,
    /// The cases by their hash.
    cases: BTreeMap<&'a str, Vec<&'a Case>>,
    /// Numbers of trials by their seed.
    numbers: BTreeMap<u64, u32>,
    tcplab: String,
    kernel: String,
}

impl<'a> Arrangement<'a> {
    pub(super) fn new(path: &'a Path, plan: &'a Plan, scenario: &'a Scenario) -> Arrangement<'a> {
        let mut cases: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
        for case in &scenario.cases {
            cases.entry(&case.hash).or_default().push(case);
        }
        let numbers = plan.numbers().map(|number| (trial_seed(plan.seed, number), number));
        Arrangement {
            path,
            plan,
            cases,
            numbers: numbers.collect(),
            tcplab: tcplab(),
            kernel: of_kernel(),
        }
    }

    fn arrange(&self) -> Result<Extension, LabError> {
        let mut unused: BTreeMap<String, usize> = BTreeMap::new();
        // After this, no trial occupies the place of another.
        for place in self.all(TRIALS)? {
            if !self.places(&place).is_ok_and(|places| places.contains(&place)) {
                self.put_away(&place)?;
            }
        }
        for place in self.all(UNUSED)? {
            match self.places(&place) {
                Ok(places) => match places.iter().find(|target| !target.exists()) {
                    Some(target) => fs::rename(&place, target)
                        .map_err(LabError::file("move the trial to", target))?,
                    None => *unused.entry("is there twice".into()).or_default() += 1,
                },
                Err(why) => *unused.entry(why).or_default() += 1,
            }
        }
        let mut reused = 0;
        for place in self.all(TRIALS)? {
            reused += 1;
            self.forget(&place)?;
        }
        let mut unused: Vec<(String, usize)> = unused.into_iter().collect();
        unused.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(Extension { reused, unused })
    }

    /// The trials in a folder of the run, in order.
    pub(super) fn all(&self, folder: &str) -> Result<Vec<PathBuf>, LabError> {
        let folder = self.path.join(folder);
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&folder).map_err(LabError::file("list", &folder))?.flatten();
        let is_one = |path: &PathBuf| {
            !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PARTIAL))
        };
        let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
        all.sort();
        Ok(all)
    }

    /// Where the plan wants a trial, or why it does not.
    pub(super) fn places(&self, directory: &Path) -> Result<Vec<PathBuf>, String> {
        let known =
            TrialStatus::of(directory).ok_or("was not finished, or another version made it")?;
        let Identity { case, seed, tcplab, kernel, images, snaplen } = &known.identity;
        let cases = self.cases.get(case.as_str()).ok_or("belongs to no case of the new plan")?;
        let number = *self
            .numbers
            .get(seed)
            .ok_or("is of another seed than the new plan, or beyond its number of trials")?;
        let simulated = cases.iter().any(|case| is_simulated(self.plan.world, case));
        if *tcplab != self.tcplab {
            return Err(format!("was made by tcplab {tcplab}, this is {}", self.tcplab));
        }
        match kernel {
            None if !simulated => {
                return Err("ran in virtual time, the new plan does not".into());
            }
            Some(_) if simulated => {
                return Err("ran on the kernel, the new plan does not".into());
            }
            Some(kernel) if *kernel != self.kernel => {
                return Err("ran on another kernel, processor or TCP settings".into());
            }
            Some(_) if is_failed(directory) => {
                return Err("failed, and may go well when it is run again".into());
            }
            _ => {}
        }
        if simulated && cases.iter().any(|case| self.plan.images(case) != *images) {
            return Err("ran on another kernel in virtual time, or on a model".into());
        }
        let keeps_less = |case: &&Case| {
            let most = |snaplen: Option<u32>| snaplen.unwrap_or(u32::MAX);
            most(*snaplen) < most(self.plan.snaplen_of(case))
        };
        let lacks_packets = !known.has_packets() || cases.iter().any(keeps_less);
        if self.plan.keep.has(number) && lacks_packets {
            return Err("has not kept as much of its packets as the new plan does".into());
        }
        let place = |case: &&Case| trial_directory(&case.name, number);
        Ok(cases.iter().map(|case| self.path.join(place(case))).collect())
    }

    /// Moves a trial, with its rejected attempts, to the unused trials.
    fn put_away(&self, place: &Path) -> Result<(), LabError> {
        let folder = self.path.join(UNUSED);
        fs::create_dir_all(&folder).map_err(LabError::file("make", &folder))?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let free = |name: &str| {
            let names = std::iter::once(name.to_owned());
            let mut names = names.chain((2..).map(|copy| format!("{name}+{copy}")));
            names.find(|name| !folder.join(name).exists()).map(|name| folder.join(name))
        };
        for (from, name) in
            self.rejected_attempts(&name).into_iter().chain([(place.to_owned(), name)])
        {
            let Some(target) = free(&name) else { continue };
            fs::rename(&from, &target).map_err(LabError::file("move the trial to", &target))?;
        }
        Ok(())
    }

    /// The rejected attempts of the trial of this name.
    fn rejected_attempts(&self, name: &str) -> Vec<(PathBuf, String)> {
        let of = |attempt: u32| {
            let attempt = format!("{name}-{attempt}");
            (self.path.join(FLAWED).join(&attempt), format!("flawed-{attempt}"))
        };
        (1..=u32::MAX).map(of).take_while(|(place, _)| place.exists()).collect()
    }

    /// Lets go of packets that the plan does not keep, of good trials.
    fn forget(&self, place: &Path) -> Result<(), LabError> {
        let Some(known) = TrialStatus::of(place) else { return Ok(()) };
        let number = self.numbers.get(&known.identity.seed);
        if number.is_some_and(|number| self.plan.keep.has(*number)) || !known.may_forget() {
            return Ok(());
        }
        without_packets(self.path, place)?;
        Ok(Recording::open(place)?.forget_packets()?)
    }
}
