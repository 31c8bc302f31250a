//! The source of packets, and one pass over them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};
use tcplab_capture::{Interface, Merged, ReadError, Reader, Record, Source, Statistics, UnixTime};
use tcplab_recording::{Recording, capture_file};
use tcplab_report::trace::CaptureHead;
use tcplab_trace::{Analyzer, Filter, Frame, Note, Sink, Trace};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use super::frames::name_of_link;
use super::live;
use super::progress::Progress;
use crate::arguments::LiveArguments;

/// The files, and for a directory all captures in it, by name.
pub(super) fn captures(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
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
        let cannot = || format!("cannot list {}", path.display());
        let entries = path.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let within = entries.with_context(cannot)?.into_iter().map(|entry| entry.path());
        let is_capture = |file: &PathBuf| file.is_file() && open(file).is_ok();
        let mut within: Vec<PathBuf> = within.filter(is_capture).collect();
        if within.is_empty() {
            bail!("no captures in {}: name a directory with captures, or a file", path.display());
        }
        within.sort();
        files.append(&mut within);
    }
    Ok(files)
}

/// The captures of client and server, if this is the directory of a recording. Each packet is in
/// both, so they are never merged.
pub(super) fn ends_of(directory: &Path) -> Option<[PathBuf; 2]> {
    let ends = Endpoint::BOTH.map(|end| directory.join(capture_file(end)));
    ends.iter().all(|file| file.is_file()).then_some(ends)
}

/// The packets to analyse.
#[derive(Debug)]
pub(super) struct Input<'a> {
    files: &'a [PathBuf],
    live: &'a LiveArguments,
    filter: Option<&'a Filter>,
    /// The limit, if any.
    memory: Option<Bytes>,
}

/// The result of a pass.
pub(super) struct Passed<S> {
    /// The trace; its connections are in the sink.
    pub(super) trace: Trace,
    pub(super) sink: S,
    /// The capture itself, without its duration.
    pub(super) head: CaptureHead,
}

impl<'a> Input<'a> {
    pub(super) fn new(
        files: &'a [PathBuf],
        live: &'a LiveArguments,
        filter: Option<&'a Filter>,
        memory: Option<Bytes>,
    ) -> Input<'a> {
        Input { files, live, filter, memory }
    }

    /// One pass.
    pub(super) fn read<S: Sink>(&self, sink: S) -> Result<Passed<S>> {
        let analyzer = self.analyzer(sink);
        match &self.live.interface {
            Some(interface) => {
                let (analyzer, link) = live::capture(interface, self.live, self.filter, analyzer)?;
                Ok(self.passed(analyzer, vec![interface.clone()], vec![link]))
            }
            None => self.read_files(self.files, self.filter, analyzer),
        }
    }

    /// The frames that the path dropped, if this is one capture of a recording.
    pub(super) fn dropped_frames(&self) -> Result<Option<BTreeSet<u64>>> {
        match self.files {
            [file] if self.live.interface.is_none() => dropped_frames(file),
            _ => Ok(None),
        }
    }

    /// A second pass, if the input can be [read again](Self::lasting).
    pub(super) fn read_again<S: Sink>(&self, sink: S) -> Result<Option<Passed<S>>> {
        let Some(files) = self.lasting() else { return Ok(None) };
        // A live capture was filtered when written.
        let filter = self.filter.filter(|_| self.live.interface.is_none());
        self.read_files(files, filter, self.analyzer(sink)).map(Some)
    }

    /// Reads the `wanted` frames of an input that can be [read again](Self::lasting): number and
    /// time since the first, and the frame. Numbers are those of a pass.
    pub(super) fn read_frames(
        &self,
        wanted: &BTreeSet<u64>,
        mut read: impl FnMut((u64, Instant), &Frame<'_>),
    ) -> Result<()> {
        let files = self.lasting().unwrap_or_default();
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

    fn analyzer<S: Sink>(&self, sink: S) -> Analyzer<S> {
        let analyzer = Analyzer::with_sink(sink).with_filter(self.filter.cloned());
        match self.memory {
            Some(limit) => analyzer.with_memory(limit),
            None => analyzer,
        }
    }

    /// The files to read again after a pass; none for standard input, a pipe, or a live capture
    /// that is not saved.
    pub(super) fn lasting(&self) -> Option<&'a [PathBuf]> {
        let files = match &self.live.interface {
            Some(_) => self.live.write.as_slice(),
            None => self.files,
        };
        let lasts = |file: &PathBuf| self.is_live() || is_lasting(file);
        (!files.is_empty() && files.iter().all(lasts)).then_some(files)
    }

    /// The files that were named.
    pub(super) fn files(&self) -> &'a [PathBuf] {
        self.files
    }

    /// The file of a live capture.
    pub(super) fn kept(&self) -> Option<&'a Path> {
        self.live.write.as_deref()
    }

    /// Whether it is a live capture.
    pub(super) fn is_live(&self) -> bool {
        self.live.interface.is_some()
    }

    fn read_files<S: Sink>(
        &self,
        files: &[PathBuf],
        filter: Option<&Filter>,
        mut analyzer: Analyzer<S>,
    ) -> Result<Passed<S>> {
        if files.iter().filter(|file| is_stdin(file)).count() > 1 {
            bail!("standard input (`-`) can be read only once");
        }
        let names = files.iter().map(|file| name(file)).collect();
        let mut readers = files.iter().map(|file| open(file)).collect::<Result<Vec<_>>>()?;
        let progress = Progress::of(readers.iter().map(Reader::source));
        let links = if readers.len() == 1 && filter.is_none() {
            let reader = readers.remove(0);
            let links = if is_lasting(&files[0]) {
                links_of(&files[0])
            } else {
                links(reader.interfaces())
            };
            analyzer.read(reader);
            links
        } else {
            read_merged(files, filter, Merged::new(readers), &mut analyzer)
        };
        drop(progress);
        Ok(self.passed(analyzer, names, links))
    }

    fn passed<S: Sink>(
        &self,
        analyzer: Analyzer<S>,
        names: Vec<String>,
        links: Vec<String>,
    ) -> Passed<S> {
        let (trace, sink) = analyzer.finish_into();
        let head = CaptureHead {
            names,
            packets: trace.packets,
            others: trace.others.clone(),
            started: (trace.packets > 0).then_some(trace.epoch_nanos),
            lasted: Span::ZERO,
            links,
            filter: self.filter.map(ToString::to_string),
            notes: trace.notes.clone(),
        };
        Passed { trace, sink, head }
    }
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

/// Reads several captures as one, filtered.
fn read_merged<S: Sink>(
    files: &[PathBuf],
    filter: Option<&Filter>,
    mut merged: Merged<Source>,
    analyzer: &mut Analyzer<S>,
) -> Vec<String> {
    let mut clock = FrameClock::default();
    while let Some((record, interface)) = merged.next_record() {
        let (time_ns, at) = clock.time(record.time);
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
            let text = format!(
                "interface {port} of {file} dropped {dropped} packets: they are not in the capture"
            );
            analyzer.note(Note { frame: None, text });
        }
    }
    links(merged.interfaces())
}

/// Opens a capture; errors name it.
pub(crate) fn open(file: &Path) -> Result<Reader<Source>> {
    tcplab_capture::open(file).map_err(|error| match error {
        ReadError::Open { .. } if is_stdin(file) => anyhow!("cannot read standard input"),
        ReadError::Open { .. } => error.into(),
        other => Error::new(other).context(name(file)),
    })
}

/// The frames of a capture that the path dropped, if the capture is one of a recording: its ground
/// truth says so.
pub(crate) fn dropped_frames(file: &Path) -> Result<Option<BTreeSet<u64>>> {
    let Some((recording, end)) = Recording::of_capture(file) else { return Ok(None) };
    let [client, server] = recording.dropped_frames()?;
    Ok(Some(match end {
        Endpoint::Client => client,
        Endpoint::Server => server,
    }))
}

pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Whether it can be read again.
fn is_lasting(file: &Path) -> bool {
    !is_stdin(file) && file.is_file()
}

/// The name of a file in messages.
pub(super) fn name(file: &Path) -> String {
    if is_stdin(file) { "standard input".into() } else { file.display().to_string() }
}

/// The link types of a file's interfaces, as known after its first packet.
fn links_of(file: &Path) -> Vec<String> {
    let Ok(mut reader) = tcplab_capture::open(file) else { return Vec::new() };
    let _ = reader.next_record();
    links(reader.interfaces())
}

fn links(interfaces: &[Interface]) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for interface in interfaces {
        let kind = name_of_link(LinkType::from_number(interface.link_type));
        let kept = match interface.snap_len {
            // No limit: tcpdump writes large values.
            0 | 65_535.. => kind,
            most => format!("{kind}, first {most} B of each packet"),
        };
        if !links.contains(&kept) {
            links.push(kept);
        }
    }
    links
}
