//! The threads that record a trial, whatever moves its packets, and the end of the trial.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use tcplab_path::{PathEvent, PathSpec};
use tcplab_recording::{
    AppLog, EndpointRecord, RecordingError, RecordingWriter, TrialRecord, WorldRecord,
};
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::LoadReport;

use super::watch::Watch;
use crate::addresses::addresses;
use crate::clock::Clock;
use crate::device::Device;
use crate::endpoint::Outcome;
use crate::recorder::{BEHIND_ENDPOINTS, RecorderQueue, recorder_queue};
use crate::sampler::Sampled;
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{TrialError, sampler, threads};

/// The thread that writes a recording, until the queue and the sampler are dropped.
pub(crate) type RecorderThread = JoinHandle<Result<RecordingWriter, RecordingError>>;

/// The recorder and the sampler of a trial.
pub(crate) struct RecordingThreads {
    clock: Clock,
    recorder: RecorderThread,
    /// Returns how many samples were missed.
    sampler: JoinHandle<u64>,
}

/// What is known when packets have come to rest.
pub(super) struct Moved {
    /// The world, without what the endpoints, the recorder and the sampler know.
    pub(super) world: WorldRecord,
    /// Frames that are not in the captures of client and server.
    pub(super) frames_lost: [u64; 2],
    /// How the path was changed meanwhile.
    pub(super) path_events: Vec<PathEvent>,
    /// The devices of the endpoints, where they go with the last descriptor: sockets whose options
    /// are not read yet would see a path with the least MTU.
    pub(super) devices: Option<[Device; 2]>,
}

impl Moved {
    /// Through a path that nobody changed.
    pub(super) fn unsteered(world: WorldRecord, frames_lost: [u64; 2]) -> Moved {
        Moved { world, frames_lost, path_events: Vec::new(), devices: None }
    }
}

impl RecordingThreads {
    /// Starts them: they write what is put into the queue, and samples of the `sockets` that come.
    pub(crate) fn start(
        request: &TrialRequest,
        clock: Clock,
        sockets: Receiver<(Endpoint, Sampled)>,
    ) -> Result<(RecordingThreads, RecorderQueue), TrialError> {
        let (queue, recorder) = recorder_queue(request.snaplen);
        let (sampled, samples) = mpsc::channel();
        let descriptions = addresses(&request.case).map(|address| address.to_string());
        let epoch = clock.epoch_nanos();
        let writer =
            RecordingWriter::create(&request.directory, epoch, &descriptions, request.snaplen)?;
        let write = move || recorder.write_down(writer, &samples, BEHIND_ENDPOINTS);
        let recorder = threads::start("the recorder's thread", write)?;
        let interval = request.case.sampling.tcp_info;
        let keep = move |looked| {
            let _ = sampled.send(looked);
        };
        let sampler = sampler::start(clock, request.tuning.real_time, interval, sockets, keep)?;
        Ok((RecordingThreads { clock, recorder, sampler }, queue))
    }

    /// Whether the recorder has failed: before the queue is dropped it ends on an error only.
    pub(crate) fn have_failed(&self) -> bool {
        self.recorder.is_finished()
    }

    /// Ends a trial whose packets have come to rest: writes the rest of its recording, and says
    /// whether what arrived is what was sent. `stays` are dropped, and the endpoints' namespaces
    /// with them. `have_failed` is its value before the queue was dropped.
    pub(crate) fn end(
        self,
        request: &TrialRequest,
        shared: &TrialState,
        watch: Watch<'_>,
        stays: [Sender<()>; 2],
        have_failed: bool,
        moved: Moved,
    ) -> Result<(), TrialError> {
        let RecordingThreads { clock, recorder, sampler } = self;
        let Moved { world, frames_lost, path_events, devices } = moved;
        // Until here the namespaces were needed: the last acknowledgements come from the kernel.
        drop(stays);
        if have_failed {
            recorder.join().map_err(|_| TrialError::panicked())??;
            return Err(TrialError::Stopped);
        }
        let [client, server] = watch.outcomes()?;
        drop(devices);
        let samples_missed = sampler.join().unwrap_or_default();
        let mut writer = recorder.join().map_err(|_| TrialError::panicked())??;
        let capture_drops = missed_frames(&mut writer, frames_lost);
        let device_drops = world.device_drops + client.device_drops + server.device_drops;
        let world = WorldRecord { device_drops, capture_drops, samples_missed, ..world };
        let connections = [&client.connections, &server.connections];
        let flows = shared.flows.as_ref().map(|flows| (flows, flows.logs(connections)));
        let verified = flows.as_ref().map(|(flows, logs)| flows.verify(logs));
        let app = flows.and_then(|(_, logs)| AppLog::of_flows(logs)).zip(verified);
        let Outcome { report: by_client, record: client, load, .. } = client;
        let Outcome { report: by_server, record: server, served, .. } = server;
        let load = load.map(|load| LoadReport { server: served.unwrap_or_default(), ..load });
        let (app, verified) = app.unwrap_or_else(|| shared.log([by_client, by_server], load));
        let record = TrialRecord {
            case: request.case.name.clone(),
            case_hash: request.case.hash.clone(),
            path_events,
            client,
            server,
            ..record(clock, request.seed, request.case.path.clone(), world)
        };
        writer.finish(&app, &record)?;
        Ok(request.case.accept(verified)?)
    }
}

/// Counts frames of client and server that the writer never got; how many are missing in all.
pub(crate) fn missed_frames(writer: &mut RecordingWriter, frames_lost: [u64; 2]) -> u64 {
    for (endpoint, frames) in Endpoint::BOTH.into_iter().zip(frames_lost) {
        writer.missed(endpoint, frames);
    }
    writer.capture_drops()
}

/// A record that ends now, without a case and without endpoints.
pub(crate) fn record(clock: Clock, seed: u64, path: PathSpec, world: WorldRecord) -> TrialRecord {
    TrialRecord {
        tcplab: env!("CARGO_PKG_VERSION").into(),
        case: String::new(),
        case_hash: String::new(),
        seed,
        path,
        path_events: Vec::new(),
        second_path: None,
        epoch_nanos: clock.epoch_nanos(),
        duration: clock.now().since(Instant::ZERO),
        client: EndpointRecord::default(),
        server: EndpointRecord::default(),
        world,
    }
}
