//! A capture is read in a thread of this process; pages look at what is known so far.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use tcplab_actions::{TwoPoints, find_two_points, open_until, read_captures};
use tcplab_capture::{Reader, Source};
use tcplab_report::trace::Chosen;
use tcplab_trace::{Analyzer, Filter, Note, Sink, Trace};
use tokio::sync::Semaphore;

use super::table::{Table, TableSink};
use crate::jobs::in_words;

/// Threads of an analysis: there may be two, and trials beside them.
const JOBS: usize = 2;
/// Up to this many packets the worst connections are read again for the rules that need packets, as
/// the command does.
const SHORT: u64 = 200_000;
/// Notes that are shown.
const NOTES: usize = 40;

/// An analysis that runs, or has ended.
#[derive(Debug)]
pub(crate) struct Reading {
    files: Vec<PathBuf>,
    filter: Option<Filter>,
    stop: Arc<AtomicBool>,
    table: Arc<Mutex<Table>>,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    taken: Vec<Arc<AtomicU64>>,
    size: u64,
    has_begun: bool,
    /// Files with the same packets, captured near the client and the server.
    ends: Option<[String; 2]>,
    end: Option<End>,
}

#[derive(Debug)]
struct End {
    error: Option<String>,
    packets: u64,
    epoch_ns: u64,
    others: Value,
    notes: Vec<Note>,
}

impl Reading {
    /// Reads these files as soon as there is a place among `places`.
    pub(super) fn start(
        files: Vec<PathBuf>,
        filter: Option<Filter>,
        places: Arc<Semaphore>,
    ) -> Arc<Reading> {
        let (stop, table, now) = (Arc::default(), Arc::default(), Mutex::default());
        let reading = Arc::new(Reading { files, filter, stop, table, now });
        let started = Arc::clone(&reading);
        tokio::spawn(async move {
            let Ok(_place) = places.acquire_owned().await else { return };
            let reader = Arc::clone(&reading);
            let ended = tokio::task::spawn_blocking(move || reader.read()).await;
            reading.ended(ended.unwrap_or_else(|_| Err(anyhow!("a mistake in tcplab"))));
        });
        started
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it reads, or has read, the same in the same way.
    pub(super) fn is_of(&self, files: &[PathBuf], filter: Option<&Filter>) -> bool {
        self.files == files && self.filter.as_ref() == filter && !self.is_stopped()
    }
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().expect("no thread panics while it holds the progress")
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("no thread panics while it holds a table")
    }

    fn ended(&self, trace: Result<Option<Trace>>) {
        let mut end =
            End { error: None, packets: 0, epoch_ns: 0, others: json!([]), notes: Vec::new() };
        match trace {
            Ok(Some(mut trace)) => {
                trace.notes.truncate(NOTES);
                end.packets = trace.packets;
                end.epoch_ns = trace.epoch_nanos;
                end.others = json!(trace.others);
                end.notes = trace.notes;
            }
            Ok(None) => end.error = Some("stopped".into()),
            Err(error) => end.error = Some(format!("{error:#}")),
        }
        self.now().end = Some(end);
    }

    /// Reads all; none if it was stopped.
    fn read(&self) -> Result<Option<Trace>> {
        let Some(readers) = self.begin()? else { return Ok(None) };
        if let Some(TwoPoints { client, server, .. }) = find_two_points(&self.files) {
            let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into();
            self.now().ends = Some([name(client), name(server)]);
            bail!(
                "two of the files hold the same packets, captured at two points: read as one, each \
                 would look duplicated, so they are joined"
            );
        }
        let (trace, _) = self.pass(readers, TableSink(Arc::clone(&self.table)));
        if self.is_stopped() {
            return Ok(None);
        }
        if trace.packets > 0 && trace.packets <= SHORT {
            let worst = self.table().worst();
            if let Some(readers) = self.begin()? {
                let (_, chosen) = self.pass(readers, Chosen::new(worst));
                for (number, connection) in chosen.into_connections() {
                    self.table().add_findings(number, &connection);
                }
            }
        }
        Ok(Some(trace))
    }

    /// Opens the files; none if it was stopped.
    fn begin(&self) -> Result<Option<Vec<Reader<Source>>>> {
        let open = |file: &PathBuf| open_until(file, Arc::clone(&self.stop));
        if self.is_stopped() {
            return Ok(None);
        }
        let opened: Result<Vec<_>> = self.files.iter().map(open).collect();
        let readers = match opened {
            _ if self.is_stopped() => return Ok(None),
            // Names of this server's directories say nothing to who sent the file.
            Err(error) => bail!("{}", self.without_places(&format!("{error:#}"))),
            Ok(readers) => readers,
        };
        let mut now = self.now();
        if now.has_begun {
            // The second time is short, and no progress.
            return Ok(Some(readers));
        }
        now.has_begun = true;
        now.taken = readers.iter().map(|reader| reader.source().taken()).collect();
        now.size = readers.iter().filter_map(|reader| reader.source().size()).sum();
        Ok(Some(readers))
    }

    fn pass<S: Sink>(&self, readers: Vec<Reader<Source>>, sink: S) -> (Trace, S) {
        let filter = self.filter.as_ref();
        let jobs = thread::available_parallelism().map_or(1, usize::from).min(JOBS);
        let analyzer = Analyzer::with_sink(sink).with_filter(filter.cloned());
        let mut analyzer = analyzer.with_jobs(jobs);
        read_captures(&self.files, readers, filter, &mut analyzer);
        analyzer.finish_into()
    }

    fn without_places(&self, text: &str) -> String {
        let places = self.files.iter().filter_map(|file| file.parent());
        places
            .fold(text.to_owned(), |text, place| text.replace(&format!("{}/", place.display()), ""))
    }

    /// What is known so far, with so many rows.
    pub(crate) fn shown(&self, most: usize) -> Value {
        let mut shown = self.table().shown(most);
        let now = self.now();
        let read: u64 = now.taken.iter().map(|taken| taken.load(Ordering::Relaxed)).sum();
        let flag = self.filter.as_ref().map(|filter| format!("--filter={filter}"));
        let names = self.files.iter().map(|file| file.display().to_string());
        let arguments = ["trace".to_owned()].into_iter().chain(names).chain(flag);
        shown["command"] = in_words(&arguments.collect::<Vec<_>>()).into();
        shown["filter"] = json!(self.filter.as_ref().map(ToString::to_string));
        shown["ends"] = json!(now.ends);
        shown["is_waiting"] = (!now.has_begun && now.end.is_none()).into();
        shown["is_running"] = now.end.is_none().into();
        shown["read_bytes"] = read.min(now.size).into();
        shown["size_bytes"] = now.size.into();
        if let Some(end) = &now.end {
            shown["error"] = json!(end.error);
            shown["packets"] = end.packets.into();
            shown["zero_unix_ns"] = end.epoch_ns.into();
            shown["others"] = end.others.clone();
            let notes = end.notes.iter().map(
                |note| json!({ "frame": note.frame, "text": self.without_places(&note.text) }),
            );
            shown["notes"] = notes.collect();
        }
        shown
    }
}
