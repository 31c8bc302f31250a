//! The files with the result of a trial, beside its recording.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tcplab_quantities::TRIAL_DOCUMENT;
use tcplab_results::{Failure, Trial};

use super::files::replace_in;
use crate::error::LabError;

/// The result of a trial.
pub(crate) const TRIAL: &str = "trial.json";
/// Why there is none.
pub(super) const FAILED: &str = "failed.json";
/// The last file of a recording.
const DONE: &str = "DONE";
pub(super) const CAPTURE: &str = "client.pcapng";

/// What decides about a trial: the same identity, the same experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// See [`Case::hash`].
    pub(crate) case: String,
    /// The trial's own seed.
    pub(crate) seed: u64,
    /// Version and revision of tcplab.
    pub(crate) tcplab: String,
    /// On the kernel, which it is and how it is set; see `environment::of_kernel`. Nothing of
    /// this machine matters in virtual time.
    pub(crate) kernel: Option<String>,
    /// In virtual time, the hashes of the kernels of client and server; none of a model.
    #[serde(default)]
    pub(crate) images: [Option<String>; 2],
    /// How much of each packet its captures have.
    pub(crate) snaplen: Option<u32>,
}

/// A trial as its directory has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredTrial {
    pub(crate) identity: Identity,
    /// The program that has analysed it: another may find something else.
    pub(crate) by: String,
    pub(crate) trial: Trial,
}

/// A failed one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFailure {
    pub(super) identity: Identity,
    pub(super) failure: Failure,
}

/// What the directory of a trial shows by itself.
#[derive(Debug, Deserialize)]
pub(crate) struct TrialStatus {
    pub(crate) identity: Identity,
    #[serde(default)]
    trial: Option<KeptParts>,
}

#[derive(Debug, Deserialize)]
struct KeptParts {
    #[serde(default = "yes")]
    has_packets: bool,
    #[serde(default)]
    flaws: Vec<String>,
}

fn yes() -> bool {
    true
}

impl TrialStatus {
    /// Of the trial in `directory`; none of one that another version made.
    pub(crate) fn of(directory: &Path) -> Option<TrialStatus> {
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

/// Whether there is a trial in `directory`, with its packets or their result.
pub(crate) fn is_whole(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).exists();
    has(DONE) && (has(CAPTURE) || has(TRIAL)) && !has(FAILED)
}

/// Whether it holds a trial that failed.
pub(crate) fn is_failed(directory: &Path) -> bool {
    directory.join(FAILED).exists()
}

/// Writes down of the trial in `place` of the run in `path` that its packets are not kept.
pub(crate) fn without_packets(path: &Path, place: &Path) -> Result<(), LabError> {
    let Some(mut known) = read::<StoredTrial>(&place.join(TRIAL)) else { return Ok(()) };
    known.trial.has_packets = false;
    let name = place.join(TRIAL);
    let name = name.strip_prefix(path).unwrap_or(&name).to_string_lossy();
    replace_in(path, &name, &in_a_line(&TRIAL_DOCUMENT.of(&known))).map(drop)
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The JSON text of plain data, as short as can be.
pub(super) fn in_a_line(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data has a JSON form")
}

pub(super) fn put(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    fs::write(path, in_a_line(value)).map_err(LabError::file("write", path))
}
