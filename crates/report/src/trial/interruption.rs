//! The outcome of each interruption: its name above the graphs, the time to show around it,
//! and the graph close by.

use tcplab_plot::{Band, Pane, Plane, pane};
use tcplab_results::{EpisodeRow, Trial, TrialData};
use tcplab_trace::Episode;
use tcplab_units::{Instant, Span};

use super::transfer::Transfer;
use crate::summary::recovery::kind_class;

/// More interruptions have no close-up.
const MOST_CLOSE_UPS: usize = 8;
/// Pixels of a close-up.
const CLOSE_UP: (i64, i64) = (250, 190);
/// Margins around an interruption.
const BEFORE: Span = Span::from_millis(100);
const AFTER: Span = Span::from_millis(400);

/// An interruption during the transfer.
pub(crate) struct Interruption<'a> {
    /// From 1, as in the path's log.
    pub(crate) number: usize,
    pub(crate) band: Band,
    /// From before the first lost segment to after the recovery.
    pub(crate) window: (Instant, Instant),
    /// Its first episode.
    pub(crate) row: Option<&'a EpisodeRow>,
}

/// A part of the sender's graph.
pub(crate) struct CloseUp<'a> {
    pub(crate) number: usize,
    pub(crate) row: Option<&'a EpisodeRow>,
    pub(crate) class: &'static str,
    pub(crate) svg: String,
    pub(crate) from: String,
    pub(crate) until: String,
}

/// The interruptions during the transfer.
pub(crate) fn interruptions<'a>(
    trial: &'a Trial,
    data: &TrialData,
    transfer: &Transfer<'_>,
) -> Vec<Interruption<'a>> {
    let during = data.interruptions.iter().enumerate();
    during
        .filter(|(_, (from, _))| *from < transfer.until)
        .map(|(i, (from, until))| {
            let rows = || trial.episodes.iter().filter(|r| r.interruption == Some(i as u64 + 1));
            let row = rows().next();
            let label = match row {
                Some(row) => format!("{} {}", i + 1, row.kind),
                None => format!("{} no loss", i + 1),
            };
            let around = (*from - BEFORE, *until + AFTER);
            let window = rows()
                .filter_map(|row| episode_of(row, transfer))
                .map(|episode| seen(episode, transfer.until))
                .fold(around, |(a, b), (from, until)| (a.min(from), b.max(until)));
            let class = row.map_or("", |row| kind_class(&row.kind));
            let (from, until, short) = (*from, *until, (i + 1).to_string());
            Interruption {
                number: i + 1,
                band: Band { from, until, label, short, class },
                window,
                row,
            }
        })
        .collect()
}

/// The analysed episode of a row.
pub(crate) fn episode_of<'a>(row: &EpisodeRow, transfer: &Transfer<'a>) -> Option<&'a Episode> {
    transfer.at_sender.episodes.get(row.number.checked_sub(1)?)
}

/// The window that shows an episode.
pub(crate) fn seen(episode: &Episode, last: Instant) -> (Instant, Instant) {
    let (from, until) = (episode.first_lost_sent, episode.repaired_at.unwrap_or(last));
    let around = Span::from_nanos(until.since(from).as_nanos() / 12).max(Span::from_millis(30));
    (from - around, until + around)
}

/// The sender's graph around each interruption that caused losses. All show the same time and
/// number of bytes, so slopes compare.
pub(crate) fn close_ups<'a>(
    interruptions: &[Interruption<'a>],
    transfer: &Transfer<'_>,
    plane: &Plane,
) -> Vec<CloseUp<'a>> {
    let chosen: Vec<&Interruption<'a>> =
        interruptions.iter().filter(|i| i.row.is_some()).take(MOST_CLOSE_UPS).collect();
    let before = chosen.iter().map(|i| i.band.from.since(i.window.0)).max().unwrap_or(Span::ZERO);
    let after = chosen.iter().map(|i| i.window.1.since(i.band.from)).max().unwrap_or(Span::ZERO);
    let time = |i: &Interruption<'_>| (i.band.from - before, i.band.from + after);
    let bytes: Vec<(f64, f64)> = chosen.iter().map(|i| sent_in(transfer, time(i))).collect();
    let most = bytes.iter().map(|(low, high)| high - low).fold(0.0, f64::max) * 1.1;
    chosen
        .into_iter()
        .zip(bytes)
        .map(|(i, (low, high))| {
            let low = f64::midpoint(low, high) - most / 2.0;
            let (from, until) = time(i);
            let title = format!("Sequence numbers around interruption {}", i.number);
            let svg = pane(&Pane {
                title: &title,
                plane,
                time: Some((from, until)),
                values: Some((low, low + most.max(1.0))),
                bands: &[Band { label: i.band.short.clone(), ..i.band.clone() }],
                size: CLOSE_UP,
                layers: None,
            });
            let (from, until) = (seconds(i.window.0), seconds(i.window.1));
            CloseUp { number: i.number, row: i.row, class: i.band.class, svg, from, until }
        })
        .collect()
}

/// The lowest and highest sequence number sent in this time.
fn sent_in(transfer: &Transfer<'_>, (from, until): (Instant, Instant)) -> (f64, f64) {
    let segments = &transfer.at_sender.segments;
    let sent = segments.iter().filter(|s| (from..=until).contains(&s.at));
    let range = sent.fold(None, |range: Option<(u64, u64)>, s| {
        let (start, end) = (s.range.start.as_u64(), s.range.end.as_u64());
        Some(range.map_or((start, end), |(low, high)| (low.min(start), high.max(end))))
    });
    range.map_or((0.0, 1.0), |(low, high)| (low as f64, high as f64))
}

pub(crate) fn seconds(at: Instant) -> String {
    format!("{:.4}", at.as_secs_f64())
}
