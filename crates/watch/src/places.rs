//! Where the recording of a trial is.

use std::path::PathBuf;

/// Where the recording of a trial is made, and where it will be.
#[derive(Debug, Clone)]
pub struct Places {
    /// The run.
    pub run: PathBuf,
    /// The case's name.
    pub case: String,
    /// The number of the trial in its case.
    pub number: u32,
}

impl Places {
    /// Where it is now.
    pub fn now(&self) -> Option<PathBuf> {
        tcplab_lab::place_of_trial(&self.run, &self.case, self.number)
    }
    /// Whether nothing is added to it any more.
    pub fn is_done(&self) -> bool {
        self.now().is_none_or(|place| place.join("DONE").exists())
    }
}
