//! The source of packets, and one pass over them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, bail};
use tcplab_actions::{
    CaptureIndex, Lookup, dropped_frames, is_lasting, is_of_damaging_path, is_stdin, name, open,
    read_captures, read_frames,
};
use tcplab_capture::{Interface, Reader};
use tcplab_report::trace::CaptureHead;
use tcplab_trace::{Analyzer, Filter, Frame, Sink, Trace};
use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::LinkType;

use super::frames::name_of_link;
#[cfg(target_os = "linux")]
use super::live;
use crate::arguments::LiveArguments;
use crate::work::Work;

/// Threads, unless more are asked for: one that reads cannot feed more.
const MOST_JOBS: usize = 8;

/// The packets to analyse.
#[derive(Debug)]
pub(super) struct Input<'a> {
    files: &'a [PathBuf],
    live: &'a LiveArguments,
    filter: Option<&'a Filter>,
    /// The limit, if any.
    memory: Option<Bytes>,
    /// Threads that analyse, if that is named.
    jobs: Option<u16>,
    /// Packets with a wrong checksum are left out.
    checks: bool,
    /// The connection that is found by an index, if there is one; else an index is written.
    indexed: Option<usize>,
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
        jobs: Option<u16>,
    ) -> Input<'a> {
        let checks = files.iter().any(|file| is_of_damaging_path(file));
        Input { files, live, filter, memory, jobs, checks, indexed: None }
    }

    /// With packets left out that have a wrong checksum, if `checks`.
    pub(super) fn checking(self, checks: bool) -> Input<'a> {
        Input { checks: self.checks || checks, ..self }
    }

    /// In the first pass, only the results of this connection are used: the rest of a large file
    /// need not be read where that changes nothing.
    pub(super) fn indexed(self, connection: Option<usize>) -> Input<'a> {
        let is_plain = self.filter.is_none() && self.memory.is_none() && !self.checks;
        let is_whole = is_plain && !self.is_live();
        Input { indexed: connection.filter(|_| is_whole), ..self }
    }

    #[cfg(target_os = "linux")]
    fn capture<S: Sink>(&self, interface: &str, sink: S) -> Result<Passed<S>> {
        let analyzer = self.analyzer(sink);
        let (analyzer, link) = live::capture(interface, self.live, self.filter, analyzer)?;
        Ok(self.passed(analyzer.finish_into(), vec![interface.into()], vec![link]))
    }

    #[cfg(not(target_os = "linux"))]
    fn capture<S: Sink>(&self, _: &str, _: S) -> Result<Passed<S>> {
        Err(crate::elsewhere::needs_linux("capturing from an interface"))
    }

    /// One pass.
    pub(super) fn read<S: Sink>(&self, sink: S) -> Result<Passed<S>> {
        if let Some(interface) = &self.live.interface {
            return self.capture(interface, sink);
        }
        let (Some(connection), [file]) = (self.indexed, self.files) else {
            return self.read_files(self.files, self.filter, self.analyzer(sink));
        };
        let index = CaptureIndex::of(file);
        let log = match index.as_ref().map(|index| (index, index.find(connection))) {
            Some((index, Lookup::Known(known))) => {
                let (trace, sink, interfaces) = index.read(known, sink)?;
                return Ok(self.passed((trace, sink), vec![name(file)], links(&interfaces)));
            }
            Some((index, Lookup::NoIndex)) => index.log(),
            Some((_, Lookup::Unknown)) | None => None,
        };
        let mut analyzer = self.analyzer(sink);
        if let Some(log) = log {
            analyzer = analyzer.with_frame_log(log);
        }
        self.read_files(self.files, self.filter, analyzer)
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
        read: impl FnMut((u64, Instant), &Frame<'_>),
    ) -> Result<()> {
        let files = self.lasting().unwrap_or_default();
        read_frames(files, wanted, read)
    }

    fn analyzer<S: Sink>(&self, sink: S) -> Analyzer<S> {
        let analyzer = Analyzer::with_sink(sink).with_filter(self.filter.cloned());
        let analyzer = analyzer.with_jobs(self.jobs()).with_checksums(self.checks);
        match self.memory {
            Some(limit) => analyzer.with_memory(limit),
            None => analyzer,
        }
    }

    /// How many threads analyse. What comes through a pipe is shown as soon as possible; where
    /// addresses are limited (`ulimit -v`), there is no room for those that each thread reserves.
    fn jobs(&self) -> usize {
        let is_lasting = !self.is_live() && self.files.iter().all(|file| is_lasting(file));
        let usual = || {
            let processors = thread::available_parallelism().map_or(1, usize::from);
            if is_lasting && !are_addresses_limited() { processors.min(MOST_JOBS) } else { 1 }
        };
        self.jobs.map_or_else(usual, usize::from)
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
        let readers = files.iter().map(|file| open(file)).collect::<Result<Vec<_>>>()?;
        let progress = Work::of_reading_quietly(readers.iter().map(Reader::source));
        let links = links(&read_captures(files, readers, filter, &mut analyzer));
        drop(progress);
        Ok(self.passed(analyzer.finish_into(), names, links))
    }

    fn passed<S: Sink>(
        &self,
        (trace, sink): (Trace, S),
        names: Vec<String>,
        links: Vec<String>,
    ) -> Passed<S> {
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

/// Whether the process may reserve so many addresses only: proc(5), `/proc/pid/limits`.
fn are_addresses_limited() -> bool {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let mut limits = limits.lines().filter_map(|line| line.strip_prefix("Max address space"));
    limits.any(|limit| !limit.trim_start().starts_with("unlimited"))
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
