//! Reading a recording back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tcplab_path::Fate;
use tcplab_units::Endpoint;

use crate::files::{APP_FILE, DONE_FILE, RESULT_FILE, SAMPLES_FILE, TRUTH_FILE, flow_samples_file};
use crate::lost::Losses;
use crate::queues::{NoQueueLog, QueueLogs, Queues};
use crate::truth_row::{END_OF_DELIVERED, parse_truth_row};
use crate::{AppLog, LostPacket, RecordingError, Sample, TrialRecord, TruthRow, capture_file, csv};

/// A complete recording, whose files are read when asked for.
#[derive(Debug, Clone)]
pub struct Recording {
    directory: PathBuf,
}

/// Whether a file of a recording is about single packets: captures, samples, the path's log.
pub fn is_of_packets(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let of_flow = name.strip_prefix("samples-").and_then(|rest| rest.strip_suffix(".csv"));
    let is_samples = name == SAMPLES_FILE || of_flow.is_some();
    is_samples || name == TRUTH_FILE || Endpoint::BOTH.iter().any(|end| name == capture_file(*end))
}

/// Removes these files of the recording in `directory`, whole or not.
///
/// # Errors
/// When one cannot be removed.
pub fn remove_packets(directory: &Path) -> Result<(), RecordingError> {
    let entries = fs::read_dir(directory).map_err(cannot_read(directory))?.flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| is_of_packets(path)) {
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(RecordingError::File { verb: "remove", path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

impl Recording {
    /// The recording in `directory`.
    ///
    /// # Errors
    /// [`RecordingError::Unfinished`] when it has no `DONE`, [`RecordingError::File`] when this
    /// user may not look.
    pub fn open(directory: &Path) -> Result<Recording, RecordingError> {
        match directory.join(DONE_FILE).try_exists() {
            Ok(true) => Ok(Recording { directory: directory.into() }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(cannot_read(directory)(error))
            }
            _ => Err(RecordingError::Unfinished { path: directory.into() }),
        }
    }

    /// The recording that a capture belongs to, with the endpoint where it was made; none if it is
    /// no capture of a complete recording.
    pub fn of_capture(capture: &Path) -> Option<(Recording, Endpoint)> {
        let name = capture.file_name()?;
        let endpoint = Endpoint::BOTH.into_iter().find(|end| name == capture_file(*end))?;
        Some((Recording::open(capture.parent()?).ok()?, endpoint))
    }

    /// The frames of the captures of client and server, from 1, that the path dropped, with all
    /// copies of them.
    ///
    /// # Errors
    /// When the ground truth cannot be read.
    pub fn dropped_frames(&self) -> Result<[BTreeSet<u64>; 2], RecordingError> {
        let mut frames = [BTreeSet::new(), BTreeSet::new()];
        for lost in self.lost_packets()?.into_iter().filter(LostPacket::is_dropped) {
            frames[lost.verdict.direction.sender() as usize].extend(lost.frame);
        }
        Ok(frames)
    }

    /// Whether it still has its packets: captures, samples and the path's log.
    pub fn has_packets(&self) -> bool {
        Endpoint::BOTH.into_iter().all(|end| self.directory.join(capture_file(end)).exists())
    }

    /// An error for a recording without packets.
    ///
    /// # Errors
    /// [`RecordingError::NoPackets`].
    pub fn need_packets(&self) -> Result<(), RecordingError> {
        if self.has_packets() {
            return Ok(());
        }
        Err(RecordingError::NoPackets { path: self.directory.clone() })
    }

    /// Removes captures, samples and the path's log; `app.json` and `result.json` stay.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn forget_packets(&self) -> Result<(), RecordingError> {
        remove_packets(&self.directory)
    }

    /// The capture taken at `endpoint`, opened, and where it is.
    ///
    /// # Errors
    /// When it cannot be opened, or is not there any more.
    pub fn capture(&self, endpoint: Endpoint) -> Result<(PathBuf, File), RecordingError> {
        self.open_of_packets(capture_file(endpoint))
    }

    /// Opens one of the files that are removed with the packets.
    fn open_of_packets(&self, name: &str) -> Result<(PathBuf, File), RecordingError> {
        let path = self.directory.join(name);
        match File::open(&path) {
            Ok(file) => Ok((path, file)),
            Err(error) => {
                if error.kind() == io::ErrorKind::NotFound {
                    self.need_packets()?;
                }
                Err(cannot_read(&path)(error))
            }
        }
    }

    /// The path's verdict on every packet.
    ///
    /// # Errors
    /// When it cannot be read, or is not what tcplab writes.
    pub fn truth(&self) -> Result<Vec<TruthRow>, RecordingError> {
        self.truth_rows()?.collect()
    }

    /// The rows of [`Recording::truth`] one by one: the log of a long trial may not fit into
    /// memory.
    ///
    /// # Errors
    /// When it cannot be opened; each row has its own errors, as for [`Recording::truth`].
    pub fn truth_rows(&self) -> Result<TruthRows, RecordingError> {
        let (path, file) = self.open_of_packets(TRUTH_FILE)?;
        Ok(TruthRows::new(&path, BufReader::new(file)))
    }

    /// The packets of both endpoints that did not arrive: the path dropped or damaged each copy of
    /// one, or of a fragment of it. Takes a fraction of the time of [`Recording::truth`], as they
    /// are few and no more than the end of the other rows is looked at.
    ///
    /// # Errors
    /// As for [`Recording::truth`] and [`Recording::record`].
    pub fn lost_packets(&self) -> Result<Vec<LostPacket>, RecordingError> {
        #[derive(Deserialize)]
        struct Row {
            fate: Fate,
            corrupted_bit: Option<u32>,
            origin_id: Option<u64>,
            fragment_offset_bytes: Option<u16>,
        }
        let mut losses = Losses::new(self.record()?.is_ipv6());
        let mut rows = self.truth_rows()?;
        while rows.next_line()? {
            if rows.line.ends_with(END_OF_DELIVERED) {
                continue;
            }
            let Row { fate, corrupted_bit, origin_id, fragment_offset_bytes } = rows.parse()?;
            let is_made = origin_id.is_some() || fragment_offset_bytes.is_some();
            if fate.cause().is_some() || corrupted_bit.is_some() || is_made {
                losses.see(&rows.row()?);
            }
        }
        Ok(losses.packets())
    }

    /// How much waited for the bottlenecks of the path, and what it dropped.
    ///
    /// # Errors
    /// As for [`Recording::truth`] and [`Recording::record`].
    pub fn queues(&self) -> Result<Queues, RecordingError> {
        let record = self.record()?;
        if !record.has_truth() {
            let is_alone = record.path.same_host;
            let why = if is_alone { NoQueueLog::SameHost } else { NoQueueLog::Kernel };
            return Ok(Queues::Unknown(why));
        }
        let mut logs = QueueLogs::new(&record);
        if !logs.is_empty() {
            for row in self.truth_rows()? {
                logs.see(&row?.verdict);
            }
        }
        Ok(Queues::Logged(logs.logs()))
    }

    /// Whether sockets were sampled, and the samples are still there.
    pub fn has_samples(&self) -> bool {
        self.directory.join(SAMPLES_FILE).exists()
    }

    /// All samples in order of time; none where nothing was sampled.
    ///
    /// # Errors
    /// As for [`Recording::truth`].
    pub fn samples(&self) -> Result<Vec<Sample>, RecordingError> {
        if !self.has_samples() && self.has_packets() {
            return Ok(Vec::new());
        }
        let (path, file) = self.open_of_packets(SAMPLES_FILE)?;
        let text = io::read_to_string(file).map_err(cannot_read(&path))?;
        csv::parse(&path, &text)
    }

    /// The samples of a flow, by its name: none where it has no file of its own.
    ///
    /// # Errors
    /// As for [`Recording::truth`].
    pub fn samples_of(&self, flow: &str) -> Result<Vec<Sample>, RecordingError> {
        let path = self.directory.join(flow_samples_file(flow));
        match fs::read_to_string(&path) {
            Ok(text) => csv::parse(&path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(cannot_read(&path)(error)),
        }
    }

    /// What the applications did.
    ///
    /// # Errors
    /// As for [`Recording::truth`].
    pub fn app(&self) -> Result<AppLog, RecordingError> {
        self.json(APP_FILE)
    }

    /// How the trial was set up and how the world behaved.
    ///
    /// # Errors
    /// As for [`Recording::truth`].
    pub fn record(&self) -> Result<TrialRecord, RecordingError> {
        self.json(RESULT_FILE)
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, RecordingError> {
        let path = self.directory.join(name);
        let text = fs::read(&path).map_err(cannot_read(&path))?;
        serde_json::from_slice(&text).map_err(|error| RecordingError::Malformed {
            path,
            line: error.line(),
            what: error.to_string(),
        })
    }
}

/// The rows of `path.jsonl`, read as they are asked for. An error is the last that it gives.
#[derive(Debug)]
pub struct TruthRows<F = BufReader<File>> {
    path: PathBuf,
    file: F,
    /// The line just read, in a buffer that is reused.
    line: Vec<u8>,
    /// Its number, from 1.
    number: usize,
    over: bool,
}

impl<F: BufRead> TruthRows<F> {
    /// The rows in `file`, named `path` in errors.
    pub fn new(path: &Path, file: F) -> TruthRows<F> {
        TruthRows { path: path.into(), file, line: Vec::new(), number: 0, over: false }
    }

    /// Reads the next line, if there is one.
    fn next_line(&mut self) -> Result<bool, RecordingError> {
        self.line.clear();
        let read = self.file.read_until(b'\n', &mut self.line).map_err(cannot_read(&self.path))?;
        self.number += usize::from(read > 0);
        Ok(read > 0)
    }

    /// The row on the line just read.
    fn row(&self) -> Result<TruthRow, RecordingError> {
        parse_truth_row(&self.line).map_err(|error| self.malformed(&error))
    }

    /// What `R` has of the line just read.
    fn parse<R: DeserializeOwned>(&self) -> Result<R, RecordingError> {
        serde_json::from_slice(&self.line).map_err(|error| self.malformed(&error))
    }

    fn malformed(&self, error: &serde_json::Error) -> RecordingError {
        RecordingError::Malformed {
            path: self.path.clone(),
            line: self.number,
            what: error.to_string(),
        }
    }
}

impl<F: BufRead> Iterator for TruthRows<F> {
    type Item = Result<TruthRow, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let read = self.next_line();
        let row = read.and_then(|there| there.then(|| self.row()).transpose()).transpose();
        self.over = !matches!(row, Some(Ok(_)));
        row
    }
}

impl<F: BufRead> FusedIterator for TruthRows<F> {}

fn cannot_read(path: &Path) -> impl FnOnce(std::io::Error) -> RecordingError + '_ {
    move |source| RecordingError::File { verb: "read", path: path.into(), source }
}
