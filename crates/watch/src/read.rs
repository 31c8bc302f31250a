//! The three files of a recording that tell what happens.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tcplab_capture::{Reader, Record, UnixTime};
use tcplab_path::{Fate, Verdict};
use tcplab_recording::{TruthRow, capture_file, parse_samples};
use tcplab_trace::{Analyzer, Frame, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use crate::follow::Growing;
use crate::sink::HistorySink;
use crate::trial::{Places, WatchedTrial};

/// The longest line, bytes: a sample has some 400.
const LINE: usize = 1 << 16;

/// What the client sends, analysed as its end sees it.
pub(super) fn at_client(
    now: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    trial: &Weak<WatchedTrial>,
) {
    capture(Endpoint::Client, now, places, stop, trial);
}

/// What the server sends.
pub(super) fn at_server(
    now: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    trial: &Weak<WatchedTrial>,
) {
    capture(Endpoint::Server, now, places, stop, trial);
}

fn capture(
    end: Endpoint,
    now: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    trial: &Weak<WatchedTrial>,
) {
    let file = now.join(capture_file(end));
    let Some(file) = Growing::open(&file, places, stop) else { return };
    let Ok(mut reader) = Reader::new(file) else { return };
    // The path's log has the first packet before the capture has it.
    let shift = time_of_first(now, end).unwrap_or_default();
    let sink = HistorySink::new(trial.clone(), end, shift);
    let mut analyzer = Analyzer::with_sink(sink).with_jobs(1);
    while !stop.load(Ordering::Relaxed)
        && let Ok(Some(record)) = reader.next_record()
    {
        let Some(time) = record.time else { continue };
        analyse(&mut analyzer, &record, time);
    }
}

/// Gives a packet of a recording to the analyser.
pub(crate) fn analyse(analyzer: &mut Analyzer<impl Sink>, record: &Record<'_>, time: UnixTime) {
    let comments = record.comments().collect::<Vec<_>>().join("; ");
    analyzer.packet(&Frame {
        time_ns: time.as_nanos(),
        link: LinkType::RawIp,
        captured: record.captured,
        original_len: record.original_len,
        comment: (!comments.is_empty()).then_some(&*comments),
    });
}

/// Samples of both sockets.
pub(super) fn samples(
    now: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    trial: &Weak<WatchedTrial>,
) {
    let mut header = String::new();
    each_line(&now.join("samples.csv"), places, stop, |line| {
        if header.is_empty() {
            header = format!("{line}\n");
            return true;
        }
        let Ok(samples) = parse_samples(now, &format!("{header}{line}\n")) else { return true };
        let Some(trial) = trial.upgrade() else { return false };
        for sample in &samples {
            trial.history().sample(sample);
        }
        true
    });
}

/// What the path did to each packet.
pub(super) fn verdicts(
    now: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    trial: &Weak<WatchedTrial>,
) {
    each_line(&now.join("path.jsonl"), places, stop, |line| {
        let Ok(row) = serde_json::from_str::<TruthRow>(line) else { return true };
        let Some(trial) = trial.upgrade() else { return false };
        trial.history().verdict(&row.verdict);
        true
    });
}

/// Hands over whole lines until it returns false.
fn each_line(
    file: &Path,
    places: &Places,
    stop: &Arc<AtomicBool>,
    mut take: impl FnMut(&str) -> bool,
) {
    let Some(file) = Growing::open(file, places, stop) else { return };
    let mut lines = BufReader::with_capacity(LINE, file);
    let mut line = String::new();
    while let Ok(1..) = lines.read_line(&mut line) {
        if line.len() > LINE || !line.ends_with('\n') || !take(line.trim_end()) {
            return;
        }
        line.clear();
    }
}

/// When the first packet of a capture passed, since the trial's zero: the client's SYN. None if the
/// path gives no verdicts.
pub(super) fn time_of_first(place: &Path, end: Endpoint) -> Option<Span> {
    /// It is one of the first packets that the path decides on.
    const LOOKED_AT: usize = 100;
    let lines = BufReader::new(File::open(place.join("path.jsonl")).ok()?).lines();
    let rows = lines.take(LOOKED_AT).map_while(Result::ok);
    let mut verdicts = rows.filter_map(|line| serde_json::from_str::<TruthRow>(&line).ok());
    let is_first = |row: &TruthRow| {
        let is_sent = row.verdict.direction.sender() == Endpoint::Client;
        is_sent && (end == Endpoint::Client || row.verdict.fate == Fate::Delivered)
    };
    let Verdict { entered, left, .. } = verdicts.find(is_first)?.verdict;
    let at = if end == Endpoint::Client { entered } else { left };
    Some(at.since(Instant::ZERO))
}
