//! The three files of a recording that tell what happens.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tcplab_capture::{Reader, Record, UnixTime};
use tcplab_path::Fate;
use tcplab_recording::{TruthRow, capture_file, parse_samples, parse_truth_row};
use tcplab_trace::{Analyzer, Frame, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use crate::current::Current;
use crate::follow::{Growing, IsDone, REST};
use crate::sink::{HistorySink, Pending};
use crate::trial::SharedHistory;

/// The longest line, bytes: a sample has some 400.
const LINE: usize = 1 << 16;

/// Has a packet of a recording's capture, which was captured then, analysed with its comments.
pub(super) fn analyze<S: Sink>(analyzer: &mut Analyzer<S>, record: &Record<'_>, time: UnixTime) {
    let comments = record.comments().collect::<Vec<_>>().join("; ");
    analyzer.packet(&Frame {
        time_ns: time.as_nanos(),
        link: LinkType::RawIp,
        captured: record.captured,
        original_len: record.original_len,
        comment: (!comments.is_empty()).then_some(&*comments),
    });
}

/// What the client sends, analysed as its end sees it.
pub(super) fn at_client(
    now: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    history: &SharedHistory,
) {
    capture(Endpoint::Client, now, is_done, stop, history);
}

/// What the server sends.
pub(super) fn at_server(
    now: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    history: &SharedHistory,
) {
    capture(Endpoint::Server, now, is_done, stop, history);
}

fn capture(
    end: Endpoint,
    now: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    history: &SharedHistory,
) {
    let file = now.join(capture_file(end));
    let pending = Rc::new(RefCell::new(Pending::new(history.clone(), end)));
    let before_rest = {
        let pending = Rc::clone(&pending);
        move || pending.borrow_mut().pass_on()
    };
    let Some(file) = Growing::open(&file, is_done, stop, before_rest) else { return };
    let Ok(mut reader) = Reader::new(file) else { return };
    let mut begun = None;
    let current = Rc::new(Cell::new(Current::default()));
    while !stop.load(Ordering::Relaxed)
        && let Ok(Some(record)) = reader.next_record()
    {
        let Some(time) = record.time else { continue };
        let analyzer = begun.get_or_insert_with(|| {
            let shift = await_time_of_first(now, end, is_done);
            let zero = time.as_nanos().saturating_sub(shift.as_nanos());
            history.lock().begun(UnixTime::from_nanos(zero));
            let sink = HistorySink::new(Rc::clone(&pending), shift, Rc::clone(&current));
            Analyzer::with_sink(sink).with_jobs(1).as_they_come()
        });
        current.set(Current::of(&record, current.get().frame + 1));
        analyze(analyzer, &record, time);
    }
    drop(begun);
    pending.borrow_mut().pass_on();
}

/// The path's log is flushed a moment after the captures.
fn await_time_of_first(now: &Path, end: Endpoint, is_done: &IsDone) -> Span {
    const LOOKS: usize = 10;
    for _ in 0..LOOKS {
        let was_done = is_done();
        match time_of_first(now, end) {
            Some(time) => return time,
            None if was_done => break,
            None => thread::sleep(REST),
        }
    }
    // The path gives no verdicts.
    Span::ZERO
}

/// Samples of both sockets.
pub(super) fn samples(
    now: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    history: &SharedHistory,
) {
    let mut header = String::new();
    each_line(&now.join("samples.csv"), is_done, stop, |line, _| {
        let line = String::from_utf8_lossy(line);
        if header.is_empty() {
            header = line.into_owned();
            return;
        }
        let samples = parse_samples(now, &format!("{header}{line}")).unwrap_or_default();
        for sample in &samples {
            history.lock().sample(sample);
        }
    });
}

/// What the path did to each packet.
pub(super) fn verdicts(
    now: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    history: &SharedHistory,
) {
    let mut verdicts = Vec::new();
    each_line(&now.join("path.jsonl"), is_done, stop, |line, is_last| {
        verdicts.extend(parse_truth_row(line).ok().map(|row| row.verdict));
        if is_last {
            let mut history = history.lock();
            verdicts.drain(..).for_each(|verdict| history.verdict(&verdict));
        }
    });
}

/// Hands over whole lines, and whether it is the last of those that were read at once.
fn each_line(
    file: &Path,
    is_done: &IsDone,
    stop: &Arc<AtomicBool>,
    mut take: impl FnMut(&[u8], bool),
) {
    let Some(file) = Growing::open(file, is_done, stop, || ()) else { return };
    let mut lines = BufReader::with_capacity(LINE, file);
    let mut line = Vec::new();
    while let Ok(1..) = lines.read_until(b'\n', &mut line) {
        let is_last = !lines.buffer().contains(&b'\n');
        if line.len() > LINE || !line.ends_with(b"\n") {
            return;
        }
        take(&line, is_last);
        line.clear();
    }
}

/// When the first packet of a capture passed, since the trial's zero. None if the path has given no
/// verdict.
pub(super) fn time_of_first(place: &Path, end: Endpoint) -> Option<Span> {
    /// It is one of the first packets that the path decides on.
    const LOOKED_AT: usize = 100;
    let lines = BufReader::new(File::open(place.join("path.jsonl")).ok()?).lines();
    let rows = lines.take(LOOKED_AT).map_while(Result::ok);
    let verdicts = rows.filter_map(|line| parse_truth_row(line.as_bytes()).ok());
    let passed = verdicts.filter_map(|TruthRow { verdict, .. }| {
        let is_sent = verdict.direction.sender() == end;
        let has_come = verdict.fate == Fate::Delivered;
        if is_sent { Some(verdict.entered) } else { has_come.then_some(verdict.left) }
    });
    passed.min().map(|at| at.since(Instant::ZERO))
}
