//! Writing a recording while the trial runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tcplab_path::{Direction, Verdict};
use tcplab_units::Instant;

use crate::capture::EndCapture;
use crate::{
    APP_FILE, AppLog, DONE_FILE, Endpoint, RESULT_FILE, RecordingError, SAMPLES_FILE, Sample,
    TRUTH_FILE, TrialRecord, TruthRow, csv,
};

/// Takes what happens in a trial, in order of time, and writes its recording.
///
/// A frame's comment says what the path did with it, which is known later than the frame; so
/// frames wait here, in order, until the path has judged them.
#[derive(Debug)]
pub struct RecordingWriter {
    directory: PathBuf,
    captures: [EndCapture; 2],
    truth: Output,
    samples: Output,
}

impl RecordingWriter {
    /// Starts a recording in an existing directory. The zero of all instants is `epoch_nanos`
    /// nanoseconds after the Unix epoch; `addresses` are those of client and server.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn create(
        directory: &Path,
        epoch_nanos: u64,
        addresses: &[String; 2],
    ) -> Result<RecordingWriter, RecordingError> {
        let capture = |end: Endpoint| {
            let output = Output::create(directory, end.capture_file())?;
            EndCapture::start(output, epoch_nanos, end, &addresses[end.index()])
        };
        let mut samples = Output::create(directory, SAMPLES_FILE)?;
        samples.put(csv::header().as_bytes())?;
        Ok(RecordingWriter {
            directory: directory.into(),
            captures: [capture(Endpoint::Client)?, capture(Endpoint::Server)?],
            truth: Output::create(directory, TRUTH_FILE)?,
            samples,
        })
    }

    /// `endpoint` sent a packet, which the path knows as `id`.
    ///
    /// # Errors
    /// When the recording cannot be written, such as on a full disk.
    pub fn left(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        id: u64,
        bytes: Vec<u8>,
    ) -> Result<(), RecordingError> {
        self.captures[endpoint.index()].left(at, id, bytes);
        self.settle(endpoint)
    }

    /// `endpoint` was handed a packet.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn entered(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        bytes: Vec<u8>,
    ) -> Result<(), RecordingError> {
        self.captures[endpoint.index()].entered(at, bytes);
        self.settle(endpoint)
    }

    /// The path has judged a packet.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn judged(&mut self, verdict: &Verdict) -> Result<(), RecordingError> {
        let endpoint = match verdict.direction {
            Direction::Forward => Endpoint::Client,
            Direction::Reverse => Endpoint::Server,
        };
        self.captures[endpoint.index()].judged(verdict);
        self.settle(endpoint)
    }

    /// A socket was looked at.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`].
    pub fn sampled(&mut self, sample: &Sample) -> Result<(), RecordingError> {
        self.samples.put(csv::row(sample).as_bytes())
    }

    /// Ends the recording. Packets that were never judged stay without a verdict.
    ///
    /// # Errors
    /// As for [`RecordingWriter::left`]. Without an error everything is on the disk, and `DONE`
    /// says so.
    pub fn finish(mut self, app: &AppLog, record: &TrialRecord) -> Result<(), RecordingError> {
        for endpoint in Endpoint::BOTH {
            self.captures[endpoint.index()].give_up_waiting();
            self.settle(endpoint)?;
        }
        let RecordingWriter { directory, captures, truth, samples } = self;
        for capture in captures {
            capture.finish(Instant::ZERO + record.duration, record.world.device_drops)?.sync()?;
        }
        truth.sync()?;
        samples.sync()?;
        write_json(&directory, APP_FILE, app)?;
        write_json(&directory, RESULT_FILE, record)?;
        Output::create(&directory, DONE_FILE)?.sync()
    }

    /// Writes the frames of one capture whose fate is known, up to the first one that waits.
    fn settle(&mut self, endpoint: Endpoint) -> Result<(), RecordingError> {
        let truth = &mut self.truth;
        self.captures[endpoint.index()].settle(|frame, verdict| {
            let row = TruthRow { frame, verdict: *verdict };
            let mut line = serde_json::to_vec(&row).expect("plain data has a JSON form");
            line.push(b'\n');
            truth.put(&line)
        })
    }
}

/// A file being written that names itself in errors.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    pub(crate) fn create(directory: &Path, name: &str) -> Result<Output, RecordingError> {
        let path = directory.join(name);
        match File::create_new(&path) {
            Ok(file) => Ok(Output { file: BufWriter::with_capacity(1 << 18, file), path }),
            Err(source) => Err(RecordingError::File { verb: "make", path, source }),
        }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.file.write_all(bytes).map_err(|source| self.cannot_write(source))
    }

    /// Everything to the disk.
    pub(crate) fn sync(mut self) -> Result<(), RecordingError> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        synced.map_err(|source| self.cannot_write(source))
    }

    pub(crate) fn cannot_write(&self, source: io::Error) -> RecordingError {
        RecordingError::File { verb: "write", path: self.path.clone(), source }
    }
}

/// For writers that know nothing of recordings.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn write_json(directory: &Path, name: &str, value: &impl Serialize) -> Result<(), RecordingError> {
    let mut output = Output::create(directory, name)?;
    let mut text = serde_json::to_vec_pretty(value).expect("plain data has a JSON form");
    text.push(b'\n');
    output.put(&text)?;
    output.sync()
}
