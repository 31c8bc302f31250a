//! How many blocks a run has, once that is known.

use std::ops::RangeInclusive;

use tcplab_results::Stopping;

use super::directory::RunDirectory;
use super::files::BLOCKS;
use crate::error::LabError;
use crate::json::to_json;

impl RunDirectory {
    /// The reason for the number of blocks; none where the plan fixes it, or while it is not known.
    pub fn stopping(&self) -> Option<Stopping> {
        self.plan().until.as_ref()?;
        serde_json::from_slice(&std::fs::read(self.path().join(BLOCKS)).ok()?).ok()
    }

    /// The numbers of the trials that each case has in the end, at most.
    pub(crate) fn numbers(&self) -> RangeInclusive<u32> {
        self.plan().first..=self.blocks()
    }

    /// The final number of trials of each case; the maximum while that is not known.
    pub fn blocks(&self) -> u32 {
        self.stopping().map_or(self.plan().trials, |stopping| stopping.blocks)
    }

    /// Writes down how many blocks there are.
    pub(crate) fn set_stopping(&self, stopping: &Stopping) -> Result<(), LabError> {
        self.replace(BLOCKS, &to_json(stopping)).map(drop)
    }
}
