//! The run directory: what is where, and how a trial is put into it whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tcplab_quantities::CALIBRATION_DOCUMENT;
use tcplab_recording::{Recording, make_private_directory};
use tcplab_results::Calibration;
use tcplab_scenario::Scenario;

use super::arrangement::{self, Target};
use super::files::{
    ENVIRONMENT, EnvironmentFile, FLAWED, PARTIAL, PLAN, RUN, TRIALS, folder_of, fresh, lock,
    newest, newest_in, read_plan, read_scenario, replace_in, trial_directory,
};
use super::trial_files::{is_failed, is_whole};
use crate::error::LabError;
use crate::json::to_json;
use crate::plan::Plan;

/// What was verified before the trials.
const CALIBRATION: &str = "calibration.json";
/// Trials that are not counted.
pub(super) const WARM_UP: &str = "warm-up";
/// What was wrong with a rejected attempt of a trial.
const FLAWS: &str = "flaws.json";

/// An opened run directory. No other process can open it meanwhile.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    plan: Plan,
    scenario: Scenario,
    /// Held as long as this lives; the kernel lets go of it when the process dies.
    _lock: File,
}

impl RunDirectory {
    /// Makes `runs/<name>/<time>-<hash>/` for `plan`.
    ///
    /// # Errors
    /// When the directory or a file in it cannot be made.
    pub fn create(
        runs: &Path,
        plan: Plan,
        scenario: Scenario,
        environment: &[(String, String)],
    ) -> Result<RunDirectory, LabError> {
        let scenario = plan.of(scenario);
        let hash: String = blake3::hash(&to_json(&plan)).to_hex().chars().take(8).collect();
        let time: String =
            plan.started.chars().filter(|c| !matches!(c, '-' | ':')).take(15).collect();
        let path = fresh(&folder_of(runs, &plan.name), &format!("{time}-{hash}"))?;
        let lock = lock(&path)?;
        let run = RunDirectory { path, plan, scenario, _lock: lock };
        match run.write_initial_files(environment) {
            Ok(()) => Ok(run),
            Err(error) => {
                let _ = run.discard();
                Err(error)
            }
        }
    }

    fn write_initial_files(&self, environment: &[(String, String)]) -> Result<(), LabError> {
        let trials = self.path.join(TRIALS);
        make_private_directory(&trials).map_err(LabError::file("make", &trials))?;
        let environment = environment.to_vec();
        Target::of(self.plan.clone(), &self.scenario, environment).write(&self.path)
    }

    /// Opens an existing run; an extension that was begun is finished first.
    ///
    /// # Errors
    /// When it is none, may not be read, is being worked on, or its scenario means something else
    /// to this version.
    pub fn open(path: &Path) -> Result<RunDirectory, LabError> {
        let not_a_run = |what: String| LabError::NotARun { path: path.into(), what };
        match path.join(PLAN).try_exists() {
            Ok(true) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(LabError::file("read", path)(error));
            }
            _ => {
                let what = if path.is_dir() {
                    "no plan.json"
                } else if path.exists() {
                    "it is a file, not a directory"
                } else {
                    "no such directory"
                };
                return Err(not_a_run(what.into()));
            }
        }
        let lock = lock(path)?;
        arrangement::finish(path)?;
        let plan = read_plan(path)?;
        let scenario = read_scenario(path, &plan.name)?;
        let scenario = plan.of(scenario);
        let cases: Vec<&str> = scenario.cases.iter().map(|case| case.hash.as_str()).collect();
        if cases != plan.cases {
            return Err(not_a_run("this version reads its scenario differently".into()));
        }
        Ok(RunDirectory { path: path.into(), plan, scenario, _lock: lock })
    }

    /// The newest run below `runs` that is not finished; of one scenario, or of any.
    ///
    /// # Errors
    /// When there is none.
    pub fn newest_unfinished(runs: &Path, name: Option<&str>) -> Result<PathBuf, LabError> {
        newest(runs, name, |path| path.join(PLAN).exists() && !path.join(RUN).exists()).ok_or_else(
            || LabError::NothingToResume {
                path: name.map_or_else(|| runs.to_owned(), |name| runs.join(name)),
            },
        )
    }

    /// The newest finished run below `runs`; of one scenario, or of any.
    pub fn newest_finished(runs: &Path, name: Option<&str>) -> Option<PathBuf> {
        newest(runs, name, |path| path.join(RUN).exists())
    }

    /// The finished run that `place` names: itself, or the newest in the folder of a scenario,
    /// which is named by its path or, below `runs`, by the scenario alone. Where none is finished,
    /// the newest that is not, or that may not be read; any other place as it is: for an error
    /// that names it.
    pub fn named(place: &Path, runs: &Path) -> PathBuf {
        let is_finished = |path: &Path| path.join(RUN).exists();
        if place.is_file() || is_finished(place) || place.join(PLAN).exists() {
            return place.into();
        }
        let folders = [place.to_owned(), runs.join(place)];
        let is_begun = |path: &Path| path.join(PLAN).exists();
        let is_closed = |path: &Path| {
            let there = path.join(PLAN).try_exists();
            there.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
        };
        newest_in(&folders, is_finished)
            .or_else(|| newest_in(&folders, is_begun))
            .or_else(|| newest_in(&folders[1..], is_closed))
            .unwrap_or_else(|| place.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is to do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The scenario of the run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The environment recorded at the start.
    pub(crate) fn environment(&self) -> Result<Vec<(String, String)>, LabError> {
        let file = self.path.join(ENVIRONMENT);
        let text = fs::read(&file).map_err(LabError::file("read", &file))?;
        let read: EnvironmentFile<'_> = serde_json::from_slice(&text)
            .map_err(|error| LabError::NotARun { path: file, what: error.to_string() })?;
        Ok(read.environment.into_owned())
    }

    /// What was found before the trials, if that was looked for.
    pub(crate) fn calibration(&self) -> Option<Calibration> {
        let text = fs::read(self.path.join(CALIBRATION)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes down what was found before the trials.
    pub(crate) fn set_calibration(&self, calibration: &Calibration) -> Result<(), LabError> {
        self.replace(CALIBRATION, &to_json(&CALIBRATION_DOCUMENT.of(calibration))).map(drop)
    }

    /// Whether the trial is there, whole, or known to fail.
    pub(crate) fn has_trial(&self, case: &str, number: u32) -> bool {
        let place = self.path.join(trial_directory(case, number));
        is_failed(&place) || is_whole(&place)
    }

    /// The recording of a trial.
    ///
    /// # Errors
    /// When it is missing or incomplete.
    pub fn recording(&self, case: &str, number: u32) -> Result<Recording, LabError> {
        Ok(Recording::open(&self.path.join(trial_directory(case, number)))?)
    }

    /// An empty directory to make a trial in; a leftover of an earlier attempt is removed.
    pub(crate) fn stage_trial(&self, case: &str, number: u32) -> Result<PathBuf, LabError> {
        let stage = self.path.join(TRIALS).join(format!("{PARTIAL}{case}-{number}"));
        // A link is removed and not followed.
        if fs::symlink_metadata(&stage).is_ok() {
            fs::remove_dir_all(&stage).map_err(LabError::file("remove", &stage))?;
        }
        make_private_directory(&stage).map_err(LabError::file("make", &stage))?;
        Ok(stage)
    }

    /// Puts a finished trial in its place.
    pub(crate) fn keep_trial(&self, stage: &Path, case: &str, number: u32) -> Result<(), LabError> {
        Recording::open(stage)?;
        let target = self.path.join(trial_directory(case, number));
        fs::rename(stage, &target).map_err(LabError::file("move the trial to", &target))
    }

    /// Puts a trial aside whose path misbehaved, as `flawed/<case>-<number>-<attempt>`, with what
    /// was wrong with it. It is not analysed.
    pub(crate) fn set_aside(
        &self,
        stage: &Path,
        case: &str,
        number: u32,
        flaws: &[String],
    ) -> Result<(), LabError> {
        let reasons = stage.join(FLAWS);
        fs::write(&reasons, to_json(&flaws)).map_err(LabError::file("write", &reasons))?;
        let place = self.path.join(FLAWED);
        fs::create_dir_all(&place).map_err(LabError::file("make", &place))?;
        let target = self.aside(case, number, self.flawed(case, number) + 1);
        fs::rename(stage, &target).map_err(LabError::file("move the trial to", &target))
    }

    /// Puts a trial that is not counted into `warm-up/`, in the place of one of before.
    pub(crate) fn keep_warm_up(
        &self,
        stage: &Path,
        case: &str,
        number: u32,
    ) -> Result<(), LabError> {
        let place = self.path.join(WARM_UP);
        fs::create_dir_all(&place).map_err(LabError::file("make", &place))?;
        let target = place.join(format!("{case}-{number}"));
        if target.exists() {
            fs::remove_dir_all(&target).map_err(LabError::file("remove", &target))?;
        }
        fs::rename(stage, &target).map_err(LabError::file("move the trial to", &target))
    }

    /// How many attempts of the trial were rejected.
    pub(crate) fn flawed(&self, case: &str, number: u32) -> u32 {
        let is_there = |attempt: &u32| self.aside(case, number, *attempt).exists();
        (1..=u32::MAX).take_while(is_there).last().unwrap_or(0)
    }

    fn aside(&self, case: &str, number: u32, attempt: u32) -> PathBuf {
        self.path.join(FLAWED).join(format!("{case}-{number}-{attempt}"))
    }

    /// Removes trials and files that were never finished.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn sweep(&self) -> Result<(), LabError> {
        for place in [self.path.clone(), self.path.join(TRIALS)] {
            for entry in fs::read_dir(&place).map_err(LabError::file("list", &place))?.flatten() {
                if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                    let path = entry.path();
                    let removed = if path.is_dir() {
                        fs::remove_dir_all(&path)
                    } else {
                        fs::remove_file(&path)
                    };
                    removed.map_err(LabError::file("remove", &path))?;
                }
            }
        }
        Ok(())
    }

    /// Removes a trial; an interrupted removal leaves no partial trial in its place.
    pub(crate) fn remove_trial(&self, case: &str, number: u32) -> Result<(), LabError> {
        let place = self.path.join(trial_directory(case, number));
        let aside = self.path.join(TRIALS).join(format!("{PARTIAL}{case}-{number}"));
        match fs::rename(&place, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved
                .and_then(|()| fs::remove_dir_all(&aside))
                .map_err(LabError::file("remove", &place)),
        }
    }

    /// How many of the plan's trials are there, those that failed not counted.
    pub fn kept(&self) -> usize {
        let is_kept = |case: &str, number| is_whole(&self.path.join(trial_directory(case, number)));
        let of = |case: &tcplab_scenario::Case| {
            self.plan.numbers().filter(|&number| is_kept(&case.name, number)).count()
        };
        self.scenario.cases.iter().map(of).sum()
    }

    /// Removes the run, and the directories above it that are then empty: for a run that holds
    /// nothing yet.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn discard(self) -> Result<(), LabError> {
        fs::remove_dir_all(&self.path).map_err(LabError::file("remove", &self.path))?;
        // The scenario's directory and that of all runs; one that holds something stays.
        for above in self.path.ancestors().skip(1).take(2) {
            let _ = fs::remove_dir(above);
        }
        Ok(())
    }

    /// The path of a folder to be made.
    ///
    /// # Errors
    /// When a leftover of an earlier attempt cannot be removed.
    pub fn stage_folder(&self, name: &str) -> Result<PathBuf, LabError> {
        self.remove(&format!("{PARTIAL}{name}"))?;
        Ok(self.path.join(format!("{PARTIAL}{name}")))
    }

    /// Puts a folder that is finished in its place, instead of what was there.
    ///
    /// # Errors
    /// When that cannot be removed, or the folder not be moved.
    pub fn keep_folder(&self, stage: &Path, name: &str) -> Result<PathBuf, LabError> {
        let target = self.path.join(name);
        // At no moment is there half of either: a kill leaves one of them, or none.
        let old = self.path.join(format!("{PARTIAL}old-{name}"));
        self.remove(&format!("{PARTIAL}old-{name}"))?;
        if target.exists() {
            fs::rename(&target, &old).map_err(LabError::file("move", &target))?;
        }
        fs::rename(stage, &target).map_err(LabError::file("move the folder to", &target))?;
        self.remove(&format!("{PARTIAL}old-{name}"))?;
        Ok(target)
    }

    /// Removes a file or a folder of the run, if it is there.
    ///
    /// # Errors
    /// When it is there and stays.
    pub fn remove(&self, name: &str) -> Result<(), LabError> {
        let path = self.path.join(name);
        let removed = if path.is_dir() {
            // Half a folder does not stand where a whole one did.
            let aside = self.path.join(format!("{PARTIAL}gone"));
            let _ = fs::remove_dir_all(&aside);
            fs::rename(&path, &aside).and_then(|()| fs::remove_dir_all(&aside))
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LabError::file("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a file of the run, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written; what stood there before still does.
    pub fn replace(&self, name: &str, content: &[u8]) -> Result<PathBuf, LabError> {
        replace_in(&self.path, name, content)
    }
}
