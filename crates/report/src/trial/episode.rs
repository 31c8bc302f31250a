//! One recovery episode on the page.

use tcplab_plot::{LadderScene, ladder};
use tcplab_quantities as q;
use tcplab_results::{EpisodeRow, TrialData};
use tcplab_trace::{Fate, Flow, LadderLine, SegmentKind};
use tcplab_units::Span;
use tcplab_units::rounded::{counted, decimal, grouped};

use super::interruption::{episode_of, seconds, seen};
use super::transfer::Transfer;
use crate::summary::recovery::kind_class;

pub(crate) struct EpisodeView<'a> {
    pub(crate) id: String,
    pub(crate) row: &'a EpisodeRow,
    pub(crate) class: &'static str,
    pub(crate) numbers: Vec<(&'static str, String)>,
    pub(crate) truth: String,
    pub(crate) agrees: bool,
    /// None when the capture holds no such episode.
    pub(crate) ladder: Option<String>,
    /// From when until when to show it, seconds.
    pub(crate) window: Option<(String, String)>,
}

impl<'a> EpisodeView<'a> {
    pub(crate) fn new(
        id: String,
        row: &'a EpisodeRow,
        transfer: Option<&Transfer<'_>>,
        data: &TrialData,
    ) -> EpisodeView<'a> {
        let ladder = transfer.and_then(|transfer| drawn(row, transfer, data));
        let window = transfer.and_then(|t| Some(seen(episode_of(row, t)?, t.until)));
        EpisodeView {
            id,
            row,
            class: kind_class(&row.kind),
            numbers: numbers(row),
            truth: truth(row),
            agrees: !row.differs_from_path(),
            ladder,
            window: window.map(|(from, until)| (seconds(from), seconds(until))),
        }
    }
}

fn drawn(row: &EpisodeRow, transfer: &Transfer<'_>, data: &TrialData) -> Option<String> {
    let flow = transfer.at_sender;
    let episode = episode_of(row, transfer)?;
    let mut lines = tcplab_trace::ladder(flow, episode);
    name_first_lost(&mut lines, row);
    name_new_data(&mut lines, flow);
    let title = format!("Ladder diagram of episode {}: {}", row.number, row.kind);
    Some(ladder(&LadderScene {
        title: &title,
        sender: transfer.sender.name(),
        receiver: transfer.receiver().name(),
        flow: Some(flow),
        lines: &lines,
        interruptions: &data.interruptions,
    }))
}

/// With the number of other losses.
fn name_first_lost(lines: &mut [LadderLine], row: &EpisodeRow) {
    if let Some(first) = lines.iter_mut().find(|l| l.fate == Fate::Lost && l.note.is_none()) {
        first.note = Some(match row.lost_segments {
            1 => "lost".to_string(),
            lost => format!("first of {} lost", grouped(lost as u64)),
        });
    }
}

/// Between a timeout and the first SACK new data tests whether the timeout was spurious (F-RTO, RFC
/// 5682, section 2.1, step 2b), before the retransmission.
fn name_new_data(lines: &mut [LadderLine], flow: &Flow) {
    let is = |line: &LadderLine, text: &str| line.note.as_deref() == Some(text);
    let Some(timeout) = lines.iter().position(|line| is(line, "retransmission timeout")) else {
        return;
    };
    let between = lines[timeout..].iter_mut().take_while(|line| !is(line, "first SACK"));
    let new = |line: &LadderLine| {
        let found = flow.segment_in(line.frame);
        line.from_sender && found.is_some_and(|segment| segment.kind == SegmentKind::New)
    };
    if let Some(line) = between.into_iter().find(|line| line.note.is_none() && new(line)) {
        line.note = Some("new data: F-RTO tests whether the timeout was spurious".into());
    }
}

fn numbers(row: &EpisodeRow) -> Vec<(&'static str, String)> {
    let time = |seconds: f64| tcplab_units::rounded::span(Span::from_secs_f64(seconds));
    let repair = if row.repaired { time(row.duration_s) } else { "never".to_string() };
    let evidence = if row.evidence == "sack" { "SACK" } else { &row.evidence };
    vec![
        ("first evidence", format!("{evidence} at {} s", decimal(row.start_s, 3))),
        ("recovered in", repair),
        (q::SILENCE_SECONDS.label, row.silence_s.map_or("none".to_string(), time)),
        (q::LOST_SEGMENTS.label, grouped(row.lost_segments as u64)),
        (
            q::RETRANSMISSIONS.label,
            format!(
                "{}, {} kB",
                counted(row.retransmissions as usize, "packet", "packets"),
                decimal(row.retransmitted_bytes as f64 / 1e3, 1)
            ),
        ),
        (q::TIMEOUTS.label, grouped(row.timeouts)),
    ]
}

/// The path's log compared with the capture.
fn truth(row: &EpisodeRow) -> String {
    let Some(truth_lost) = row.truth_lost else {
        return "The path’s log does not say what it lost.".into();
    };
    let dropped = match truth_lost {
        1 => "1 data packet".to_string(),
        n => format!("{} data packets", grouped(n as u64)),
    };
    if row.differs_from_path() {
        let found = grouped(row.lost_segments as u64);
        let (wrong, missed) = (grouped(row.not_lost as u64), grouped(row.not_found as u64));
        format!(
            "Path log differs: {dropped} lost, the capture shows {found} ({wrong} not lost, \
             {missed} not found)."
        )
    } else {
        format!("Path log agrees: {dropped} lost.")
    }
}
