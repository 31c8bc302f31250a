//! Captures: found, opened, and read as one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Error, Result, anyhow, bail};
use tcplab_capture::{Interface, Merged, ReadError, Reader, Record, Source, Statistics, UnixTime};
use tcplab_recording::{Recording, capture_file};
use tcplab_trace::{Analyzer, Filter, Frame, Note, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

/// The files, and for a directory all captures in it, by name. A file that cannot be read is one of
/// them, so that its reader fails: it may be a capture.
///
/// # Errors
/// If a directory cannot be listed, has no capture, or is a recording of both ends.
pub fn captures(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        if let Some([client, server]) = ends_of(path) {
            bail!(
                "{} is a recording of both ends: pass one, {} or {}",
                path.display(),
                client.display(),
                server.display()
            );
        }
        need_packets(path)?;
        let cannot = || format!("cannot list {}", path.display());
        let entries = path.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let within = entries.with_context(cannot)?.into_iter().map(|entry| entry.path());
        let mut within: Vec<PathBuf> = within.filter(|file| may_be_capture(file)).collect();
        if within.is_empty() {
            bail!("no captures in {}: name a directory with captures, or a file", path.display());
        }
        within.sort();
        files.append(&mut within);
    }
    Ok(files)
}

/// Whether a file is a capture by its content, or cannot be read, so that it may be one.
pub fn may_be_capture(file: &Path) -> bool {
    let opened = || tcplab_capture::open(file);
    file.is_file() && !matches!(opened(), Err(ReadError::NotACapture { .. }))
}

/// The captures of client and server, if this is the directory of a recording. Each packet is in
/// both, so they are never merged.
pub fn ends_of(directory: &Path) -> Option<[PathBuf; 2]> {
    let ends = Endpoint::BOTH.map(|end| directory.join(capture_file(end)));
    ends.iter().all(|file| file.is_file()).then_some(ends)
}

/// Whether these are the captures of one recording: one process wrote both, by one clock.
pub fn is_one_recording(client: &Path, server: &Path) -> bool {
    let [within, other] = [client, server].map(|file| file.parent().unwrap_or(Path::new(".")));
    within == other && Recording::open(within).is_ok()
}

/// The times of frames one after the other.
#[derive(Debug, Default)]
struct FrameClock {
    start: Option<u64>,
    last: u64,
}

impl FrameClock {
    /// Nanoseconds since 1970 and the time since the first frame. A record without a time gets that
    /// of the previous one.
    fn time(&mut self, time: Option<UnixTime>) -> (u64, Span) {
        self.last = time.map_or(self.last, UnixTime::as_nanos);
        let start = *self.start.get_or_insert(self.last);
        (self.last, Span::from_nanos(self.last.saturating_sub(start)))
    }
}

fn all_comments<'a>(record: &'a Record<'_>) -> Option<Cow<'a, str>> {
    record.comments().reduce(|all, one| format!("{all}; {one}").into())
}

fn frame_of<'a>(
    record: &Record<'a>,
    interface: &Interface,
    time_ns: u64,
    comment: Option<&'a str>,
) -> Frame<'a> {
    Frame {
        time_ns,
        link: LinkType::from_number(interface.link_type),
        captured: record.captured,
        original_len: record.original_len,
        comment,
    }
}

/// Analyses these captures, of which `readers` read, as one, filtered; what cannot be read is
/// noted. Returns the places of capture, as known after the first packet.
pub fn read_captures<S: Sink>(
    files: &[PathBuf],
    mut readers: Vec<Reader<Source>>,
    filter: Option<&Filter>,
    analyzer: &mut Analyzer<S>,
) -> Vec<Interface> {
    if readers.len() == 1 && filter.is_none() {
        let reader = readers.remove(0);
        let interfaces = if is_lasting(&files[0]) {
            interfaces_of(&files[0])
        } else {
            reader.interfaces().to_vec()
        };
        analyzer.read(reader);
        return interfaces;
    }
    read_merged(files, filter, Merged::new(readers), analyzer)
}

fn read_merged<S: Sink>(
    files: &[PathBuf],
    filter: Option<&Filter>,
    mut merged: Merged<Source>,
    analyzer: &mut Analyzer<S>,
) -> Vec<Interface> {
    let mut clock = FrameClock::default();
    analyzer.counts_time_in(merged.time_unit());
    while let Some((record, interface)) = merged.next_record() {
        let (time_ns, at) = clock.time(record.time);
        if record.time.is_none() {
            analyzer.lacks_time();
        }
        let comment = all_comments(&record);
        let frame = frame_of(&record, interface, time_ns, comment.as_deref());
        if filter.is_none_or(|filter| filter.admits_frame(&frame, at)) {
            analyzer.packet(&frame);
        } else {
            analyzer.skip(time_ns);
        }
    }
    for (place, file) in files.iter().enumerate() {
        if let Some(damage) = merged.damage(place) {
            let text = format!("{} is {damage}", name(file));
            analyzer.note(Note { frame: None, text });
        }
    }
    for (index, interface) in merged.interfaces().iter().enumerate() {
        let dropped = merged.statistics(index).map_or(0, Statistics::all_dropped);
        if dropped > 0 {
            let port = interface.name.clone().unwrap_or_else(|| index.to_string());
            let file = merged.capture_of(index).and_then(|place| files.get(place));
            let file = file.map(|file| name(file)).unwrap_or_default();
            analyzer.note(Note::of_dropped(&format!("interface {port} of {file}"), dropped));
        }
    }
    merged.interfaces().to_vec()
}

/// Reads the `wanted` frames of these captures: number and time since the first, and the frame.
/// Numbers are those of a pass.
///
/// # Errors
/// If one cannot be opened.
pub fn read_frames(
    files: &[PathBuf],
    wanted: &BTreeSet<u64>,
    mut read: impl FnMut((u64, Instant), &Frame<'_>),
) -> Result<()> {
    let readers = files.iter().map(|file| open(file)).collect::<Result<Vec<_>>>()?;
    let mut merged = Merged::new(readers);
    let (mut clock, last) = (FrameClock::default(), wanted.last().copied().unwrap_or(0));
    for number in 1..=last {
        let Some((record, interface)) = merged.next_record() else { break };
        let (time_ns, at) = clock.time(record.time);
        if wanted.contains(&number) {
            let comment = all_comments(&record);
            let frame = frame_of(&record, interface, time_ns, comment.as_deref());
            read((number, Instant::ZERO + at), &frame);
        }
    }
    Ok(())
}

/// Opens a capture; errors name it.
///
/// # Errors
/// If it cannot be read, or is none.
pub fn open(file: &Path) -> Result<Reader<Source>> {
    open_until(file, Arc::default())
}

/// The same; where `stop` is set, reading soon ends.
///
/// # Errors
/// As for [`open`].
pub fn open_until(file: &Path, stop: Arc<AtomicBool>) -> Result<Reader<Source>> {
    tcplab_capture::open_until(file, stop).map_err(|error| match error {
        ReadError::Open { .. } if is_stdin(file) => anyhow!("cannot read standard input"),
        ReadError::Open { .. } => match Recording::of_capture(file) {
            Some((recording, _)) => recording.need_packets().err().map_or(error.into(), Error::new),
            None => error.into(),
        },
        other => Error::new(other).context(name(file)),
    })
}

/// An error for the directory of a recording without packets.
fn need_packets(directory: &Path) -> Result<()> {
    if let Ok(recording) = Recording::open(directory) {
        recording.need_packets()?;
    }
    Ok(())
}

/// The frames of a capture that the path dropped, if the capture is one of a recording: its ground
/// truth says so.
///
/// # Errors
/// If the ground truth cannot be read.
pub fn dropped_frames(file: &Path) -> Result<Option<BTreeSet<u64>>> {
    let Some((recording, end)) = Recording::of_capture(file) else { return Ok(None) };
    let [client, server] = recording.dropped_frames()?;
    Ok(Some(match end {
        Endpoint::Client => client,
        Endpoint::Server => server,
    }))
}

/// Whether a capture is one of a recording whose path damaged packets: only checksums tell what its
/// ends dropped.
pub fn is_of_damaging_path(file: &Path) -> bool {
    let recording = Recording::of_capture(file);
    let record = recording.and_then(|(recording, _)| recording.record().ok());
    record.is_some_and(|record| record.damages_packets())
}

/// An analyser of a capture file: of a recording whose path damaged packets it leaves those out.
pub fn analyzer_of<S: Sink>(file: &Path, sink: S) -> Analyzer<S> {
    Analyzer::with_sink(sink).with_checksums(is_of_damaging_path(file))
}

/// Whether this is standard input.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The name of a file in messages.
pub fn name(file: &Path) -> String {
    if is_stdin(file) { "standard input".into() } else { file.display().to_string() }
}

/// Whether it can be read again.
pub fn is_lasting(file: &Path) -> bool {
    !is_stdin(file) && file.is_file()
}

/// A file's places of capture, as known after its first packet.
fn interfaces_of(file: &Path) -> Vec<Interface> {
    let Ok(mut reader) = tcplab_capture::open(file) else { return Vec::new() };
    let _ = reader.next_record();
    reader.interfaces().to_vec()
}
