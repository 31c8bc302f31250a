//! A trial as its caller asks for it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use tcplab_scenario::Case;
use tcplab_units::{Bytes, Instant};

use crate::{DeviceKind, Tuning};

/// How to start a process that calls `serve`: commonly this very program with a
/// subcommand of its own.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Launcher {
    /// The command of a process with a `task`, which takes requests and gives answers.
    pub(crate) fn command(&self, task: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args([task, &std::process::id().to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }
}

/// One trial to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialRequest {
    /// The cell of the matrix.
    pub case: Case,
    /// The trial's own seed.
    pub seed: u64,
    /// An existing, empty directory for the recording.
    pub directory: PathBuf,
    /// How frames get out of the endpoints; the best allowed one where none is named.
    pub device: Option<DeviceKind>,
    /// How frames are moved.
    #[serde(default)]
    pub tuning: Tuning,
    /// How many bytes of each packet the captures keep; all where no number is given.
    #[serde(default)]
    pub snaplen: Option<u32>,
    /// Whether the path can be [steered](crate::Steering): each packet's bytes then go through it,
    /// which takes longer.
    #[serde(default)]
    pub steerable: bool,
}

/// The progress of a running trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Since the trial's zero.
    pub at: Instant,
    /// Data that has arrived.
    pub received: Bytes,
}
