//! A bisection on disk.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tcplab_quantities::BISECTION_DOCUMENT;
use tcplab_recording::make_private_directory;
use tcplab_scenario::Scenario;

use super::document::Bisection;
use super::error::BisectError;
use crate::error::LabError;
use crate::json::to_json;
use crate::store::{folder_of, lock, replace_in};

/// The bisection's file in its directory.
const FILE: &str = "bisect.json";

/// A bisection and its directory. No other process can open it meanwhile.
#[derive(Debug)]
pub struct BisectRecord {
    /// What is known; see [`BisectRecord::save`].
    pub bisection: Bisection,
    path: PathBuf,
    _lock: File,
}

impl BisectRecord {
    /// Opens the record of this bisection below `runs`, or begins it; a record of the same
    /// scenario, commits and settings goes on.
    ///
    /// # Errors
    /// If it cannot be made or read, or another process has it.
    pub fn open(
        runs: &Path,
        scenario: &Scenario,
        asked: Bisection,
    ) -> Result<BisectRecord, BisectError> {
        let name = format!("bisect-{}-{}", asked.scenario, key(scenario, &asked));
        let path = folder_of(runs, &name);
        if !path.exists() {
            fs::create_dir_all(runs).map_err(LabError::file("make", runs))?;
            make_private_directory(&path).map_err(LabError::file("make", &path))?;
        }
        let lock = lock(&path)?;
        let file = path.join(FILE);
        let bisection = if file.exists() {
            let text = fs::read(&file).map_err(LabError::file("read", &file))?;
            let unreadable = |what: String| BisectError::Record { path: path.clone(), what };
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?
        } else {
            asked
        };
        let record = BisectRecord { bisection, path, _lock: lock };
        record.save()?;
        Ok(record)
    }

    /// Its directory, which the runs of the steps go to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self) -> Result<(), BisectError> {
        let text = to_json(&BISECTION_DOCUMENT.of(&self.bisection));
        replace_in(&self.path, FILE, &text)?;
        Ok(())
    }
}

/// Hash of what decides about the answer.
fn key(scenario: &Scenario, asked: &Bisection) -> String {
    let text = to_json(&(&scenario.source, &scenario.files, asked));
    blake3::hash(&text).to_hex()[..8].to_owned()
}
