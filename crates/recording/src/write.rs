//! Writing a recording while the trial runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tcplab_path::Verdict;
use tcplab_quantities::{APPLICATIONS_DOCUMENT, RECORDING_DOCUMENT};
use tcplab_units::{Endpoint, Instant};

use crate::capture::{Captured, EndCapture};
use crate::files::{APP_FILE, DONE_FILE, RESULT_FILE, SAMPLES_FILE, TRUTH_FILE, flow_samples_file};
use crate::output::{Output, write_json};
use crate::{AppLog, RecordingError, Sample, TrialRecord, capture_file, csv, truth_row};

/// Takes what happens in a trial, in order of time, and writes its recording.
///
/// Frames wait here, in order, for the verdict of the path, which becomes their comment.
#[derive(Debug)]
pub struct RecordingWriter {
    directory: PathBuf,
    /// Whether captures, samples and the path's log are removed soon.
    is_passing: bool,
    captures: [EndCapture; 2],
    truth: Output,
    /// The row being made, in a buffer that is reused.
    row: Vec<u8>,
    samples: Output,
    /// Whether anything was sampled.
    has_samples: bool,
    /// The samples of flows with files of their own, by name.
    flow_samples: BTreeMap<String, Output>,
}

impl RecordingWriter {
    /// Starts a recording in an existing directory. The zero of all instants is `epoch_nanos`
    /// nanoseconds after the Unix epoch; `addresses` are those of client and server. Captures keep
    /// the first `snaplen` bytes of each packet, or all.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn create(
        directory: &Path,
        epoch_nanos: u64,
        addresses: &[String; 2],
        snaplen: Option<u32>,
    ) -> Result<RecordingWriter, RecordingError> {
        let capture = |end: Endpoint| {
            let output = Output::create(directory, capture_file(end))?;
            EndCapture::start(
                output,
                epoch_nanos,
                end,
                &addresses[end.index()],
                snaplen.unwrap_or(0),
            )
        };
        let mut samples = Output::create(directory, SAMPLES_FILE)?;
        samples.put(csv::header().as_bytes())?;
        Ok(RecordingWriter {
            directory: directory.into(),
            is_passing: false,
            captures: [capture(Endpoint::Client)?, capture(Endpoint::Server)?],
            truth: Output::create(directory, TRUTH_FILE)?,
            row: Vec::new(),
            samples,
            has_samples: false,
            flow_samples: BTreeMap::new(),
        })
    }

    /// The same, but captures, samples and the path's log will be removed as soon as they were
    /// read: [`RecordingWriter::finish`] does not wait until the disk has them.
    #[must_use]
    pub fn passing(self) -> RecordingWriter {
        RecordingWriter { is_passing: true, ..self }
    }

    /// Bytes that the captures keep of a packet at most.
    pub fn snaplen(&self) -> usize {
        self.captures[0].snap_len()
    }

    /// `endpoint` sent a packet, which the path knows as `id`; ids count up.
    ///
    /// # Errors
    /// When the recording cannot be written, such as on a full disk.
    pub fn left(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        id: u64,
        packet: Captured<'_>,
    ) -> Result<(), RecordingError> {
        self.captures[endpoint.index()].left(at, id, packet, None);
        self.settle(endpoint)
    }

    /// Like [`RecordingWriter::left`], with why the endpoint sent the packet: the ground truth has
    /// it as `because`.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn left_because(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        id: u64,
        packet: Captured<'_>,
        because: &'static str,
    ) -> Result<(), RecordingError> {
        self.captures[endpoint.index()].left(at, id, packet, Some(because));
        self.settle(endpoint)
    }

    /// `endpoint` received a packet that the path changed or made.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn entered(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        packet: Captured<'_>,
    ) -> Result<(), RecordingError> {
        self.captures[endpoint.index()].entered(at, packet);
        self.settle(endpoint)
    }

    /// `endpoint` sent or received a packet, through a path that gives no verdicts.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn seen(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        is_sent: bool,
        packet: Captured<'_>,
    ) -> Result<(), RecordingError> {
        let capture = &mut self.captures[endpoint.index()];
        if is_sent {
            capture.left_unobserved(at, packet);
        } else {
            capture.entered(at, packet);
        }
        self.settle(endpoint)
    }

    /// `endpoint` received the packet `id` as the other sent it. Comes before its
    /// [`verdict`](RecordingWriter::verdict). If the sent frame is not known, the received one
    /// counts as missed.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn arrived(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        id: u64,
    ) -> Result<(), RecordingError> {
        let [client, server] = &mut self.captures;
        let (receiver, sender) = match endpoint {
            Endpoint::Client => (client, server),
            Endpoint::Server => (server, client),
        };
        match sender.sent(id) {
            Some(packet) => receiver.entered(at, packet),
            None => receiver.missed(1),
        }
        self.settle(endpoint)
    }

    /// Counts frames that passed `endpoint` and are missing in its capture.
    pub fn missed(&mut self, endpoint: Endpoint, frames: u64) {
        self.captures[endpoint.index()].missed(frames);
    }

    /// Frames missing in both captures.
    pub fn capture_drops(&self) -> u64 {
        self.captures.iter().map(EndCapture::frames_missed).sum()
    }

    /// What became of a packet on the path.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn verdict(&mut self, verdict: &Verdict) -> Result<(), RecordingError> {
        let endpoint = verdict.direction.sender();
        if self.captures[endpoint.index()].verdict(verdict) {
            self.settle(endpoint)
        } else {
            put_row(&mut self.truth, &mut self.row, None, None, verdict)
        }
    }

    /// No verdict will come on packets before `id`: frames need not wait for them.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn gone(&mut self, id: u64) -> Result<(), RecordingError> {
        for endpoint in Endpoint::BOTH {
            self.captures[endpoint.index()].give_up_waiting(id);
            self.settle(endpoint)?;
        }
        Ok(())
    }

    /// A sample of a socket.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn sampled(&mut self, sample: &Sample) -> Result<(), RecordingError> {
        self.has_samples = true;
        self.samples.put(csv::row(sample).as_bytes())
    }

    /// A sample of a socket of another flow than the main one.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn sampled_of(&mut self, flow: &str, sample: &Sample) -> Result<(), RecordingError> {
        if !self.flow_samples.contains_key(flow) {
            let mut output = Output::create(&self.directory, &flow_samples_file(flow))?;
            output.put(csv::header().as_bytes())?;
            self.flow_samples.insert(flow.into(), output);
        }
        let output = self.flow_samples.get_mut(flow).expect("it was made");
        output.put(csv::row(sample).as_bytes())
    }

    /// Flushes all that was written to its files, for whoever reads them as they grow: each file
    /// then ends with a whole frame or row.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        self.captures.iter_mut().try_for_each(EndCapture::flush)?;
        self.truth.flush()?;
        self.samples.flush()?;
        self.flow_samples.values_mut().try_for_each(Output::flush)
    }

    /// Ends the recording. Packets that have no verdict by then stay without one.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`]. Without an error everything that stays is on the
    /// disk, and `DONE` says so.
    pub fn finish(self, app: &AppLog, record: &TrialRecord) -> Result<(), RecordingError> {
        self.end(Some(app), record)
    }

    /// Ends the recording of applications that were not tcplab's: it has no `app.json`.
    ///
    /// # Errors
    /// As for [`RecordingWriter::finish`].
    pub fn finish_without_application(self, record: &TrialRecord) -> Result<(), RecordingError> {
        self.end(None, record)
    }

    fn end(mut self, app: Option<&AppLog>, record: &TrialRecord) -> Result<(), RecordingError> {
        self.gone(u64::MAX)?;
        let RecordingWriter { directory, captures, truth, samples, flow_samples, .. } = self;
        if !self.has_samples {
            let path = directory.join(SAMPLES_FILE);
            fs::remove_file(&path).map_err(|source| RecordingError::File {
                verb: "remove",
                path,
                source,
            })?;
        }
        let close = if self.is_passing { Output::close } else { Output::sync };
        for capture in captures {
            let end = Instant::ZERO + record.duration;
            close(capture.finish(end, record.world.device_drops)?)?;
        }
        close(truth)?;
        close(samples)?;
        flow_samples.into_values().try_for_each(close)?;
        if let Some(app) = app {
            write_json(&directory, APP_FILE, &APPLICATIONS_DOCUMENT, app)?;
        }
        write_json(&directory, RESULT_FILE, &RECORDING_DOCUMENT, record)?;
        Output::create(&directory, DONE_FILE)?.sync()
    }

    /// Writes the frames of one capture up to the first one that waits for its verdict.
    fn settle(&mut self, endpoint: Endpoint) -> Result<(), RecordingError> {
        let RecordingWriter { captures, truth, row, .. } = self;
        captures[endpoint.index()]
            .settle(|frame, verdict, because| put_row(truth, row, Some(frame), because, verdict))
    }
}

/// Writes a row of the ground truth, made in a buffer that is reused.
fn put_row(
    truth: &mut Output,
    line: &mut Vec<u8>,
    frame: Option<u64>,
    because: Option<&str>,
    verdict: &Verdict,
) -> Result<(), RecordingError> {
    line.clear();
    truth_row::write(frame, because, verdict, line);
    line.push(b'\n');
    truth.put(line)
}
