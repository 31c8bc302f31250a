//! What is known of a trial: kept beside its recording, so that it is analysed once, by whoever
//! ran it; and why another has failed.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tcplab_recording::Recording;
use tcplab_scenario::{Case, trial_seed};
use tcplab_units::Span;

use crate::analyse::examine;
use crate::directory::replace_in;
use crate::{Failure, LabError, RunDirectory, Trial, environment, worlds};

/// What came of a trial.
const TRIAL: &str = "trial.json";
/// Why there is none.
const FAILED: &str = "failed.json";
/// The last file of a recording.
const DONE: &str = "DONE";
const CAPTURE: &str = "client.pcapng";

/// What decides about a trial: the same identity, the same experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// See [`Case::hash`].
    pub(crate) case: String,
    /// The trial's own seed.
    pub(crate) seed: u64,
    /// Version and revision of tcplab.
    pub(crate) tcplab: String,
    /// On the kernel, which it is and how it is set; see [`environment::of_kernel`]. Nothing of
    /// this machine matters in virtual time.
    pub(crate) kernel: Option<String>,
    /// How much of each packet its captures have.
    pub(crate) snaplen: Option<u32>,
}

/// A trial as its directory has it.
#[derive(Debug, Serialize, Deserialize)]
struct Analysed {
    identity: Identity,
    /// The program that has analysed it: another may find something else.
    by: String,
    trial: Trial,
}

/// A failed one.
#[derive(Debug, Serialize, Deserialize)]
struct Failed {
    identity: Identity,
    failure: Failure,
}

/// What can be told of a trial from its directory alone.
#[derive(Debug, Deserialize)]
pub(crate) struct Known {
    pub(crate) identity: Identity,
    #[serde(default)]
    trial: Option<Kept>,
}

#[derive(Debug, Deserialize)]
struct Kept {
    #[serde(default = "yes")]
    has_packets: bool,
    #[serde(default)]
    flaws: Vec<String>,
}

fn yes() -> bool {
    true
}

impl Known {
    /// Of the trial in `directory`; none of one that another version made.
    pub(crate) fn of(directory: &Path) -> Option<Known> {
        if !is_whole(directory) && !is_failed(directory) {
            return None;
        }
        read(&directory.join(TRIAL)).or_else(|| read(&directory.join(FAILED)))
    }

    /// Whether its packets are there and need not be.
    pub(crate) fn may_forget(&self) -> bool {
        self.trial.as_ref().is_some_and(|trial| trial.has_packets && trial.flaws.is_empty())
    }

    /// Whether its packets are there.
    pub(crate) fn has_packets(&self) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.has_packets)
    }
}

/// Whether there is a trial in `directory`, with its packets or what came of them.
pub(crate) fn is_whole(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).exists();
    has(DONE) && (has(CAPTURE) || has(TRIAL)) && !has(FAILED)
}

/// Whether it holds a trial that failed.
pub(crate) fn is_failed(directory: &Path) -> bool {
    directory.join(FAILED).exists()
}

impl RunDirectory {
    /// What decides about a trial that is run now.
    pub(crate) fn identity(&self, case: &Case, number: u32) -> Identity {
        let plan = self.plan();
        let is_virtual = worlds::is_virtual(&plan.world, case);
        Identity {
            case: case.hash.clone(),
            seed: trial_seed(plan.seed, number),
            tcplab: environment::tcplab(),
            kernel: (!is_virtual).then(environment::of_kernel),
            snaplen: plan.snaplen,
        }
    }

    /// The round trip of the idle path of a case as it was measured, if it was.
    fn round_trip(&self, case: &Case) -> Option<Span> {
        if worlds::is_virtual(&self.plan().world, case) {
            return None;
        }
        let calibration = self.calibration()?;
        let mut checks = calibration.paths.iter().filter(|it| it.cases.contains(&case.name));
        checks.find_map(|check| check.round_trip)
    }

    /// Analyses the trial that was made in `stage`, and lets go of packets that are not kept.
    pub(crate) fn settle(&self, stage: &Path, case: &Case, number: u32) -> Result<(), LabError> {
        let recording = Recording::open(stage)?;
        let mut trial = examine(&recording, case, self.round_trip(case))?;
        trial.put_aside = self.flawed(&case.name, number);
        trial.has_packets = self.plan().keep.has(number) || !trial.flaws.is_empty();
        let keeps = trial.has_packets;
        let identity = self.identity(case, number);
        put(&stage.join(TRIAL), &Analysed { identity, by: program(), trial })?;
        if !keeps {
            recording.forget_packets()?;
        }
        Ok(())
    }

    /// What came of a trial. One that another program has analysed is analysed again, if its
    /// packets are there.
    ///
    /// # Errors
    /// When it is missing or unreadable.
    pub fn trial(&self, case: &Case, number: u32) -> Result<Trial, LabError> {
        let name = RunDirectory::trial_directory(&case.name, number);
        let place = self.path().join(&name);
        let recording = Recording::open(&place)?;
        let known: Option<Analysed> = read(&place.join(TRIAL));
        let is_current = |known: &Analysed| known.by == program();
        let analysed = match known {
            Some(known) if is_current(&known) || !recording.has_packets() => known,
            known => {
                let mut trial = examine(&recording, case, self.round_trip(case))?;
                trial.put_aside = self.flawed(&case.name, number);
                // Who made the trial stays who made it.
                let identity = match known {
                    Some(known) => known.identity,
                    None => Identity { tcplab: String::new(), ..self.identity(case, number) },
                };
                let analysed = Analysed { identity, by: program(), trial };
                let text = serde_json::to_vec(&analysed).expect("plain data has a JSON form");
                replace_in(self.path(), &format!("{name}/{TRIAL}"), |out| {
                    std::io::Write::write_all(out, &text)
                })?;
                // What is read is told the same each time.
                serde_json::from_slice(&text).expect("what was written can be read")
            }
        };
        let seed = trial_seed(self.plan().seed, number);
        Ok(Trial { number, seed, directory: name, ..analysed.trial })
    }

    /// All that is known of a trial: from its directory where not all is in memory.
    ///
    /// # Errors
    /// When it is missing or unreadable.
    pub fn whole<'t>(&self, trial: &'t Trial) -> Result<Cow<'t, Trial>, LabError> {
        if trial.has_packets {
            return Ok(Cow::Borrowed(trial));
        }
        match self.case_of(trial) {
            Some(case) => self.trial(case, trial.number).map(Cow::Owned),
            None => Ok(Cow::Borrowed(trial)),
        }
    }

    /// The case that a trial is of, by its directory.
    pub(crate) fn case_of(&self, trial: &Trial) -> Option<&Case> {
        let own = |case: &&Case| {
            trial.directory.contains(&case.name)
                && RunDirectory::trial_directory(&case.name, trial.number) == trial.directory
        };
        self.scenario().cases.iter().find(own)
    }

    /// Puts a trial that failed, and what there is of it, in its place.
    pub(crate) fn keep_failure(
        &self,
        stage: &Path,
        case: &Case,
        number: u32,
        reason: String,
    ) -> Result<(), LabError> {
        let directory = RunDirectory::trial_directory(&case.name, number);
        let attempts = self.flawed(&case.name, number) + 1;
        let seed = trial_seed(self.plan().seed, number);
        let failure = Failure { number, seed, directory, attempts, reason };
        let failed = Failed { identity: self.identity(case, number), failure };
        put(&stage.join(FAILED), &failed)?;
        let target = self.path().join(&failed.failure.directory);
        fs::rename(stage, &target).map_err(LabError::file("move the trial to", &target))
    }

    /// Why a trial failed; none of one that did not.
    pub fn failure(&self, case: &str, number: u32) -> Option<Failure> {
        let directory = RunDirectory::trial_directory(case, number);
        let failed: Failed = read(&self.path().join(&directory).join(FAILED))?;
        Some(Failure { number, directory, ..failed.failure })
    }
}

/// Writes down of the trial in `place` of the run in `path` that its packets are not kept.
pub(crate) fn without_packets(path: &Path, place: &Path) -> Result<(), LabError> {
    let Some(mut known) = read::<Analysed>(&place.join(TRIAL)) else { return Ok(()) };
    known.trial.has_packets = false;
    let name = place.join(TRIAL);
    let name = name.strip_prefix(path).unwrap_or(&name).to_string_lossy();
    let text = serde_json::to_vec(&known).expect("plain data has a JSON form");
    replace_in(path, &name, |out| std::io::Write::write_all(out, &text)).map(drop)
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn put(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_vec(value).expect("plain data has a JSON form");
    fs::write(path, text).map_err(LabError::file("write", path))
}

/// This very program: tcplab's revision, and when it was built, which tells apart what was changed
/// since that revision.
fn program() -> String {
    let built = std::env::current_exe().and_then(fs::metadata).and_then(|it| it.modified());
    let built = built.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!("{}, built {}", environment::tcplab(), built.map_or(0, |at| at.as_nanos()))
}
