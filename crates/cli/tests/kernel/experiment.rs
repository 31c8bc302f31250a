//! Runs a scenario and reads its files.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_path::{Cause, Direction, Fate};
use tcplab_recording::{AppLog, Recording, TrialRecord, TruthRow, capture_file};
use tcplab_results::{Run, Trial};
use tcplab_units::Endpoint;
use tcplab_workload::Role;
use tempfile::TempDir;

use crate::frames::{Sent, Tap};
use crate::program::{Ended, Io, allowed, tcplab};

/// A path that nothing but interruptions (and random loss, where asked for) takes packets from: the
/// queue holds all that the receiver's window lets in flight.
pub(crate) const QUIET_PATH: &str = r#"
[path]
rate  = "20 Mbit/s"
delay = "10 ms"
queue = "2000 packets"
"#;

/// A scenario that takes no time.
pub(crate) const TINY: &str = r#"
title = "Tiny"

[path]
delay = "1 ms"

[workload]
upload = "100 kB"

[repeat]
trials = 1
"#;

/// Runs a scenario that starts as [`TINY`] does, in that place.
pub(crate) fn tiny(home: &Path, rest: &str, options: &[&str]) -> Ended {
    fs::write(home.join("tiny.toml"), format!("{TINY}{rest}")).unwrap();
    let mut arguments = vec!["run", "tiny.toml", "--no-calibration"];
    arguments.extend(options);
    tcplab(home, &arguments)
}

/// A finished run.
#[derive(Debug)]
pub(crate) struct Experiment {
    home: TempDir,
    directory: PathBuf,
    run: Run,
}

/// What a failed test judged is worth a look.
impl Drop for Experiment {
    #[expect(clippy::print_stderr, reason = "for whoever looks into the failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.home.disable_cleanup(true);
            eprintln!("the run is kept in {}", self.directory.display());
        }
    }
}

impl Experiment {
    /// Runs `scenario` with all claims holding; `None` where this machine does not allow it.
    pub(crate) fn run(scenario: &str, io: Io) -> Option<Experiment> {
        if !allowed(io) {
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("made.toml"), scenario).unwrap();
        let ended =
            tcplab(home.path(), &["run", "made.toml", "--no-calibration", "--io", io.name()]);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let directory = only_entry(&home.path().join("runs/made"));
        let run = serde_json::from_slice(&fs::read(directory.join("run.json")).unwrap()).unwrap();
        Some(Experiment { home, directory, run })
    }

    /// Where the run is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Every trial with its recording.
    pub(crate) fn trials(&self) -> Vec<Recorded<'_>> {
        let trials = self.run.cases.iter().flat_map(|case| &case.trials);
        trials.map(|row| Recorded::read(&self.directory, row)).collect()
    }
}

/// The one thing in a directory.
pub(crate) fn only_entry(directory: &Path) -> PathBuf {
    let entries: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{}: {entries:?}", directory.display());
    entries.into_iter().next().unwrap()
}

/// A trial's recording, and what the run says of it.
#[derive(Debug)]
pub(crate) struct Recorded<'r> {
    pub(crate) row: &'r Trial,
    pub(crate) directory: PathBuf,
    pub(crate) recording: Recording,
    pub(crate) truth: Vec<TruthRow>,
    pub(crate) app: AppLog,
    pub(crate) record: TrialRecord,
    /// The captures of client and server.
    pub(crate) taps: [Tap; 2],
}

impl<'r> Recorded<'r> {
    fn read(run: &Path, row: &'r Trial) -> Recorded<'r> {
        let directory = run.join(&row.directory);
        let recording = Recording::open(&directory).unwrap();
        let tap = |end: Endpoint| Tap::read(&directory.join(capture_file(end)));
        Recorded {
            row,
            truth: recording.truth().unwrap(),
            app: recording.app().unwrap(),
            record: recording.record().unwrap(),
            taps: Endpoint::BOTH.map(tap),
            directory,
            recording,
        }
    }

    /// Which trial, for messages.
    pub(crate) fn name(&self) -> String {
        let place = self.directory.file_name().unwrap().to_string_lossy();
        format!("{place} through {}", self.record.world.device)
    }

    /// Who sends the payload.
    pub(crate) fn sender(&self) -> Endpoint {
        match self.app.client.role {
            Role::Sender => Endpoint::Client,
            Role::Receiver => Endpoint::Server,
        }
    }

    /// The way of the payload.
    pub(crate) fn forward(&self) -> Direction {
        match self.sender() {
            Endpoint::Client => Direction::Forward,
            Endpoint::Server => Direction::Reverse,
        }
    }

    /// The packets of the stream that the path dropped, in the order sent; but not the SYN, whose
    /// loss is the handshake's affair.
    pub(crate) fn drops(&self) -> Vec<(Sent, Cause)> {
        let sent = self.taps[self.sender() as usize].sent();
        sent.into_iter()
            .filter(|packet| !packet.syn)
            .filter_map(|packet| {
                let row = self.truth.iter().find(|row| {
                    row.verdict.direction == self.forward() && row.frame == Some(packet.frame)
                });
                match row.expect("each packet sent has its verdict").verdict.fate {
                    Fate::Dropped(cause) => Some((packet, cause)),
                    Fate::Delivered | Fate::StillOnLink | Fate::Absorbed => None,
                }
            })
            .collect()
    }

    /// The value of a metric, as the run tells it.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let found = self.row.metrics.value_named(name);
        found.unwrap_or_else(|| panic!("{}: no {name}", self.name()))
    }
}
