//! Runs a scenario and reads its files.

use std::path::{Path, PathBuf};

use tcplab_path::{Cause, Direction, Fate};
use tcplab_recording::{AppLog, Recording, TrialRecord, TruthRow, capture_file};
use tcplab_results::{Run, Trial};
use tcplab_units::Endpoint;
use tcplab_workload::Role;

use crate::frames::{Sent, Tap};
use crate::home::{Ended, Home};
use crate::program::{Io, allowed};

/// Only interruptions (and random loss, if configured) drop packets: the queue has room for the
/// whole receive window.
pub(crate) const QUIET_PATH: &str = r#"
[path]
rate  = "20 Mbit/s"
delay = "10 ms"
queue = "2000 packets"
"#;

/// A very short scenario.
pub(crate) const TINY: &str = r#"
title    = "Tiny"
path     = { delay = "1 ms" }
workload = { upload = "100 kB" }
repeat   = { trials = 1 }
"#;

/// Runs [`TINY`] and `rest`.
pub(crate) fn tiny(home: &Home, rest: &str, options: &str) -> Ended {
    home.write("tiny.toml", format!("{TINY}{rest}"));
    home.run(&format!("run tiny.toml --no-calibration {options}"))
}

#[derive(Debug)]
pub(crate) struct Experiment {
    home: Home,
    directory: PathBuf,
    run: Run,
}

/// The run of a failed test stays.
impl Drop for Experiment {
    #[expect(clippy::print_stderr, reason = "for whoever looks into the failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.home.0.disable_cleanup(true);
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
        let home = Home::with("made.toml", scenario);
        // The tests verify checksums; on loopback the kernel copies headers alone.
        let whole = if scenario.contains("same_host") { "" } else { "--snaplen whole" };
        home.answer(&format!("run made.toml --no-calibration {whole} --io {}", io.name()));
        let directory = home.only("runs/made");
        let run = serde_json::from_slice(&home.bytes(directory.join("run.json"))).unwrap();
        Some(Experiment { home, directory, run })
    }

    /// The directory with the scenario, `made.toml`.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn result(&self) -> &Run {
        &self.run
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Every trial with its recording.
    pub(crate) fn trials(&self) -> Vec<Recorded<'_>> {
        let trials = self.run.cases.iter().flat_map(|case| &case.trials);
        trials.map(|row| Recorded::read(&self.directory, row)).collect()
    }
}

/// A trial's recording, and its row in the run.
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

    pub(crate) fn name(&self) -> String {
        let place = self.directory.file_name().unwrap().to_string_lossy();
        format!("{place} through {}", self.record.world.device)
    }

    pub(crate) fn sender(&self) -> Endpoint {
        match self.app.client.role {
            Role::Sender => Endpoint::Client,
            Role::Receiver => Endpoint::Server,
        }
    }

    /// The direction of the payload.
    pub(crate) fn forward(&self) -> Direction {
        match self.sender() {
            Endpoint::Client => Direction::Forward,
            Endpoint::Server => Direction::Reverse,
        }
    }

    /// The packets of the stream that the path dropped, in order, without the SYN.
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

    pub(crate) fn metric(&self, name: &str) -> f64 {
        let found = self.row.metrics.value_named(name);
        found.unwrap_or_else(|| panic!("{}: no {name}", self.name()))
    }
}
