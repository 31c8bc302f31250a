//! A path that is used without a trial, in a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use tcplab_path::{Backend, Direction, LinkPlan, PathSpec};
use tcplab_recording::quality::{self, Measure};
use tcplab_recording::{RecordingWriter, Summary, Traffic, WorldRecord};

use crate::bridge::{Bridge, BridgeReport, BridgeState, Counters};
use crate::capture_directory::prepare_capture;
use crate::clock::Clock;
use crate::device::Device;
use crate::message::serde_name;
use crate::recorder::{BEHIND_PROGRAMS, recorder_queue};
use crate::scheduling::{Scheduling, be_prompt_throughout, stay_awake};
use crate::steering_link::SteeredEnd;
use crate::traffic::traffic_of;
use crate::trial::{self, RecorderThread};
use crate::trimmed::Trimmed;
use crate::{DeviceKind, TrialError, Tuning, threads};

/// How a path is to be used by itself.
#[derive(Debug)]
pub struct Moving {
    /// Its keys.
    pub path: PathSpec,
    /// Of all its randomness.
    pub seed: u64,
    /// How frames are moved.
    pub tuning: Tuning,
    /// Why the path will not behave as asked, as far as is known before: recorded together with
    /// what is found at the end.
    pub doubts: Vec<String>,
    /// Where a recording is to be made: a directory that does not exist yet, or is empty.
    pub capture: Option<PathBuf>,
    /// How many bytes of each packet its captures keep; all where no number is given.
    pub snaplen: Option<u32>,
    /// Whether the recording is for those who watch alone: of its files only the latest part stays
    /// on the disk, and its directory goes with the process that asked for it.
    pub is_passing: bool,
    /// Who changes the path meanwhile.
    pub steered: Option<SteeredEnd>,
}

impl Moving {
    pub(crate) fn plans(&self) -> Result<[LinkPlan; 2], TrialError> {
        if self.path.backend == Some(Backend::Netem) {
            return Err(TrialError::reported(
                "this path is for netem, and only trials are run through it",
                "leave out `backend`, or print it for a box of your own: `tcplab path tc`",
            ));
        }
        let link = |direction| self.path.link(direction);
        Ok([link(Direction::Forward)?, link(Direction::Reverse)?])
    }

    /// Makes the directory for the recording.
    pub(crate) fn prepare(&self) -> Result<(), TrialError> {
        self.capture.as_deref().map_or(Ok(()), prepare_capture)
    }

    /// The directory that is removed at the end.
    pub(crate) fn passing(&self) -> Option<&Path> {
        self.capture.as_deref().filter(|_| self.is_passing)
    }
}

/// An end of the path.
pub(crate) struct End {
    pub(crate) device: Device,
    /// For the recording, such as its address.
    pub(crate) name: String,
}

/// A path at work.
pub(crate) struct Mover {
    clock: Clock,
    seed: u64,
    path: PathSpec,
    doubts: Vec<String>,
    names: [String; 2],
    counters: Arc<Counters>,
    on_path: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(BridgeReport, Scheduling), TrialError>>,
    recorder: Option<RecorderThread>,
}

impl Mover {
    /// Starts to move frames between the two ends. To be called in the namespace of the devices'
    /// other ends.
    pub(crate) fn start(moving: &Moving, ends: [End; 2]) -> Result<Mover, TrialError> {
        let plans = moving.plans()?;
        let clock = Clock::start();
        let [near, far] = ends;
        let names = [near.name, far.name];
        let devices = [near.device, far.device];
        let (queue, recorder) = match &moving.capture {
            None => (None, None),
            Some(directory) => {
                let (queue, mut writing) = recorder_queue(moving.snaplen);
                let epoch = clock.epoch_nanos();
                let mut writer = RecordingWriter::create(directory, epoch, &names, moving.snaplen)
                    .map_err(TrialError::Capture)?;
                if moving.is_passing {
                    writer = writer.passing();
                    writing.trim(Trimmed::of(directory).map_err(cannot_release(directory))?);
                }
                // Nobody takes samples of sockets that are not ours.
                let (_, no_samples) = mpsc::channel();
                let write = move || writing.write_down(writer, &no_samples, BEHIND_PROGRAMS);
                let recorder = threads::start("the recorder's thread", write)?;
                (Some(queue), Some(recorder))
            }
        };
        let stop = Arc::new(AtomicBool::new(false));
        let on_path = Arc::new(AtomicUsize::new(0));
        let (tell_counters, counters) = mpsc::channel();
        let (seed, tuning) = (moving.seed, moving.tuning);
        let steered = moving.steered.as_ref().map(|end| end.steered(plans.clone())).transpose()?;
        let (stopped, packets) = (Arc::clone(&stop), Arc::clone(&on_path));
        let thread = threads::start("the thread that moves packets", move || {
            let bridge = Bridge::new(clock, devices, &plans, seed, tuning, queue);
            let bridge = match steered {
                Some(steered) => bridge.steered(steered, seed),
                None => bridge,
            };
            let _ = tell_counters.send(bridge.counters());
            run(bridge, tuning, &stopped, &packets)
        })?;
        let Ok(counters) = counters.recv() else { return Err(panicked()) };
        let (path, doubts) = (moving.path.clone(), moving.doubts.clone());
        Ok(Mover { clock, seed, path, doubts, names, counters, on_path, stop, thread, recorder })
    }

    /// What has gone through until now.
    pub(crate) fn traffic(&self) -> Traffic {
        traffic_of(&self.counters, self.clock.now())
    }

    /// Packets that were on the path 20 ms ago or later.
    pub(crate) fn on_path(&self) -> usize {
        self.on_path.load(Ordering::Relaxed)
    }

    /// Whether it ended by itself, which is an error that [`Mover::finish`] returns.
    pub(crate) fn has_failed(&self) -> bool {
        let is_over = self.recorder.as_ref().is_some_and(JoinHandle::is_finished);
        self.thread.is_finished() || is_over
    }

    /// Ends it. `describe` adds to the record what it knows: devices, privilege, drops.
    pub(crate) fn finish(
        self,
        kind: DeviceKind,
        describe: impl FnOnce(&mut WorldRecord),
    ) -> Result<Summary, TrialError> {
        let traffic = self.traffic();
        self.stop.store(true, Ordering::Relaxed);
        let moved = self.thread.join().map_err(|_| panicked())?;
        let writer = self.recorder.map(|recorder| recorder.join().map_err(|_| panicked()));
        // Without its recorder the mover continues, so the recorder's error is the first.
        let mut writer = writer.transpose()?.transpose().map_err(TrialError::Capture)?;
        let (moved, scheduling) = moved?;
        let traffic = Traffic { at: traffic.at, ..traffic_of(&self.counters, traffic.at) };
        let mut world = WorldRecord {
            name: "kernel".into(),
            device: serde_name(&kind),
            scheduling: serde_name(&scheduling),
            notes: self.doubts.clone(),
            ..moved.world()
        };
        describe(&mut world);
        if let Some(writer) = &mut writer {
            world.capture_drops = trial::missed_frames(writer, moved.frames_lost);
        }
        let mut record = trial::record(self.clock, self.seed, self.path, world.clone());
        record.path_events = moved.path_events;
        let path = record.steered_path();
        if let Some(writer) = writer {
            [record.client.address, record.server.address] = self.names;
            writer.finish_without_application(&record).map_err(TrialError::Capture)?;
        }
        let measure = Measure::of(&path, record.duration);
        let mut warnings = self.doubts;
        warnings.extend(quality::flaws(&world, &measure));
        Ok(Summary { traffic, world, warnings })
    }
}

fn run(
    mut bridge: Bridge,
    tuning: Tuning,
    stop: &AtomicBool,
    packets: &AtomicUsize,
) -> Result<(BridgeReport, Scheduling), TrialError> {
    let scheduling = be_prompt_throughout(tuning.real_time);
    let awake = stay_awake();
    bridge.run(|&BridgeState { on_path, .. }| {
        packets.store(on_path, Ordering::Relaxed);
        stop.load(Ordering::Relaxed)
    })?;
    drop(awake);
    Ok((bridge.finish(), scheduling))
}

/// Why the beginnings of a recording's files cannot be given back: a file system whose files only
/// grow, or something else.
fn cannot_release(directory: &Path) -> impl FnOnce(std::io::Error) -> TrialError {
    let name = directory.display().to_string();
    move |error| {
        if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
            return TrialError::setup(format!("prepare the recording in {name}"))(error);
        }
        let what = format!("the file system of {name} cannot take back the beginning of a file");
        let remedy = "name another place for temporary files (TMPDIR), or --capture DIR";
        TrialError::reported(format!("{what}: {error}"), remedy)
    }
}

fn panicked() -> TrialError {
    TrialError::setup("go on")(std::io::Error::other("a thread of the path panicked"))
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn only_what_the_file_system_cannot_do_is_laid_to_it() {
        let said = |number| {
            let error = cannot_release(Path::new("/tmp/x"))(Error::from_raw_os_error(number));
            (error.to_string(), error.remedy().unwrap_or_default())
        };
        let (grows, remedy) = said(libc::EOPNOTSUPP);
        assert!(grows.starts_with("the file system of /tmp/x cannot take back"), "{grows}");
        assert!(remedy.contains("TMPDIR"), "{remedy}");
        let (full, remedy) = said(libc::EMFILE);
        assert!(full.starts_with("cannot prepare the recording in /tmp/x: Too many"), "{full}");
        assert_eq!(remedy, "raise the limit on descriptors (`ulimit -n`)");
    }
}
