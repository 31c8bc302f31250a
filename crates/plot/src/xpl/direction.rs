//! One direction of a connection, drawn.

use tcplab_trace::{Ack, Segment, SegmentKind, Timer};
use tcplab_units::{Bytes, Instant};

use super::ink::{Page, Stamp};
use super::{Axes, XplGraph};
use crate::round_trips::RoundTrips;

/// tcptrace's default (`-A10`): throughput is told anew after so many data segments.
const AVERAGED: u64 = 10;

/// What must be known to go on drawing.
#[derive(Debug, Default)]
pub(super) struct Direction {
    time_sequence: Option<Page>,
    throughput: Option<Page>,
    round_trip: Option<Page>,
    outstanding: Option<Page>,
    /// The packet drawn last: one packet brings a segment and an acknowledgement.
    now: Option<(Instant, Stamp)>,
    began: Option<Instant>,
    answer: Option<Answer>,
    /// The highest byte sent.
    high: u64,
    duplicates: u64,
    rates: Rates,
    /// The points before: in flight, in flight less SACKed, advertised, round trip.
    points: [Option<(Stamp, u64)>; 4],
    samples: RoundTrips,
}

/// The last acknowledgement.
#[derive(Debug, Clone, Copy)]
struct Answer {
    stamp: Stamp,
    ack: u64,
    /// How far the window reaches and its size, if known.
    edge: Option<(u64, u64)>,
}

/// Data sent, for the throughput.
#[derive(Debug, Default)]
struct Rates {
    since: Option<Instant>,
    segments: u64,
    bytes: u64,
    all: u64,
    points: [Option<(Stamp, u64)>; 2],
}

impl Direction {
    /// The connection's first packet was seen.
    pub(super) fn began(&mut self, at: Instant) {
        self.began.get_or_insert(at);
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        let pages = [&self.time_sequence, &self.throughput, &self.round_trip, &self.outstanding];
        pages.into_iter().flatten().map(|page| page.text.len()).sum()
    }

    /// Its graphs, as far as there is anything on them.
    pub(super) fn pages(&mut self) -> impl Iterator<Item = (&mut Page, XplGraph)> {
        [
            (self.time_sequence.as_mut(), XplGraph::TimeSequence),
            (self.throughput.as_mut(), XplGraph::Throughput),
            (self.round_trip.as_mut(), XplGraph::RoundTrips),
            (self.outstanding.as_mut(), XplGraph::Outstanding),
        ]
        .into_iter()
        .filter_map(|(page, kind)| Some((page?, kind)))
    }

    pub(super) fn segment(&mut self, segment: &Segment, axes: Axes) {
        self.began(segment.at);
        let now = self.stamp(segment.at, axes.epoch);
        if axes.has(XplGraph::TimeSequence) {
            let page = self.time_sequence.get_or_insert_with(|| axes.page(XplGraph::TimeSequence));
            draw_segment(page, &now, segment);
        }
        self.high = self.high.max(segment.range.end.as_u64());
        if axes.has(XplGraph::Throughput) {
            self.throughput(segment, now, axes);
        }
        let is_data = segment.kind == SegmentKind::New && segment.payload.as_u64() > 0;
        if axes.has(XplGraph::Outstanding) && is_data {
            self.outstanding(segment, now, axes);
        }
        if axes.has(XplGraph::RoundTrips) {
            self.samples.sent(segment.at, segment.range);
        }
    }

    pub(super) fn ack(&mut self, ack: &Ack, axes: Axes) {
        let now = self.stamp(ack.at, axes.epoch);
        let number = ack.ack.as_u64();
        self.duplicates = if ack.duplicate { self.duplicates + 1 } else { 0 };
        let window = ack.window.map(Bytes::as_u64);
        let answer = Answer { stamp: now, ack: number, edge: window.map(|w| (number + w, w)) };
        if axes.has(XplGraph::TimeSequence) {
            let page = self.time_sequence.get_or_insert_with(|| axes.page(XplGraph::TimeSequence));
            if let Some(before) = &self.answer {
                draw_answer(page, before, &answer, self.duplicates);
            }
            draw_blocks(page, &now, ack);
        }
        // An acknowledgement from before, overtaken on its way, says nothing new.
        let is_old = self.answer.is_some_and(|before| before.ack > number);
        if !is_old {
            self.answer = Some(answer);
        }
        if axes.has(XplGraph::RoundTrips)
            && let Some(span) = self.samples.answered(ack.at, number)
        {
            let page = self.round_trip.get_or_insert_with(|| axes.page(XplGraph::RoundTrips));
            page.color("red");
            let micros = span.as_nanos() / 1_000;
            page.thousandths(&now, micros, self.points[3]);
            self.points[3] = Some((now, micros));
        }
    }

    fn stamp(&mut self, at: Instant, epoch: u64) -> Stamp {
        match self.now {
            Some((time, stamp)) if time == at => stamp,
            _ => {
                let stamp = Stamp::new(at, epoch);
                self.now = Some((at, stamp));
                stamp
            }
        }
    }

    /// Bytes sent and not acknowledged; the same less what was SACKed; the window.
    fn outstanding(&mut self, segment: &Segment, now: Stamp, axes: Axes) {
        let Some(answer) = self.answer else { return };
        let page = self.outstanding.get_or_insert_with(|| axes.page(XplGraph::Outstanding));
        let owin = self.high.saturating_sub(answer.ack);
        let lines = [
            ("red", "owin", Some(owin)),
            ("orange", "less SACKed", Some(segment.in_flight.as_u64())),
            ("yellow", "rwin", answer.edge.map(|(_, window)| window)),
        ];
        for ((color, name, value), before) in lines.into_iter().zip(&mut self.points) {
            if let Some(value) = value {
                extend(page, color, name, before, (now, value));
            }
        }
    }

    /// As tcptrace counts: the data of ten segments over the time since the last of the ten before.
    fn throughput(&mut self, segment: &Segment, now: Stamp, axes: Axes) {
        let rates = &mut self.rates;
        let bytes = segment.payload.as_u64();
        let Some(since) = rates.since else {
            (rates.since, rates.segments) = (Some(segment.at), 1);
            (rates.bytes, rates.all) = (bytes, bytes);
            return;
        };
        if bytes == 0 {
            return;
        }
        rates.all += bytes;
        if rates.segments + 1 >= AVERAGED {
            let began = self.began.unwrap_or(since);
            let page = self.throughput.get_or_insert_with(|| axes.page(XplGraph::Throughput));
            let [average, current] = &mut rates.points;
            let rate = |bytes: u64, from: Instant| {
                let micros = (segment.at.since(from).as_nanos() / 1_000).max(1);
                u64::try_from(u128::from(bytes) * 1_000_000 / u128::from(micros))
                    .unwrap_or(u64::MAX)
            };
            extend(page, "red", "inst. tput", current, (now, rate(rates.bytes, since)));
            extend(page, "blue", "avg. tput", average, (now, rate(rates.all, began)));
            (rates.since, rates.segments, rates.bytes) = (Some(segment.at), 0, 0);
        }
        rates.segments += 1;
        rates.bytes += bytes;
    }
}

/// Goes on with a line of this name.
fn extend(
    page: &mut Page,
    color: &'static str,
    name: &str,
    before: &mut Option<(Stamp, u64)>,
    (now, value): (Stamp, u64),
) {
    page.color(color);
    page.mark("dot", &now, value);
    match before {
        Some((stamp, old)) => page.line((&now, value), (stamp, *old)),
        None => page.word("ltext", &now, value, name),
    }
    *before = Some((now, value));
}

fn draw_segment(page: &mut Page, now: &Stamp, segment: &Segment) {
    let (start, end) = (segment.range.start.as_u64(), segment.range.end.as_u64());
    if let Some((color, mark)) = mark_of(segment) {
        page.color(color);
        page.word("atext", now, end, mark);
    }
    if segment.syn || segment.fin {
        page.color("orange");
        page.word("atext", now, end, if segment.syn { "SYN" } else { "FIN" });
        page.mark(if segment.syn { "diamond" } else { "darrow" }, now, start);
        page.mark(if segment.syn { "uarrow" } else { "box" }, now, end);
    } else {
        page.color(if segment.kind.is_retransmission() && segment.kind != SegmentKind::FillsHole {
            "red"
        } else {
            "white"
        });
        page.mark("darrow", now, start);
        if segment.psh {
            page.mark_in("diamond", now, end, "white");
            page.mark_in("dot", now, end, "white");
        } else {
            page.mark("uarrow", now, end);
        }
    }
    page.line((now, start), (now, end));
}

/// The colour and the mark of a segment that is no new data in order.
fn mark_of(segment: &Segment) -> Option<(&'static str, &'static str)> {
    let again = match segment.timer {
        Some(Timer::Probe) => "TLP",
        Some(Timer::Retransmission) => "RTO",
        None => "R",
    };
    match segment.kind {
        SegmentKind::New => segment.timer.map(|_| ("red", again)),
        SegmentKind::FastRetransmission
        | SegmentKind::TimeoutRetransmission
        | SegmentKind::AfterTimeoutRetransmission => Some(("red", again)),
        SegmentKind::FillsHole | SegmentKind::Reordered => Some(("pink", "O")),
        SegmentKind::NetworkDuplicate | SegmentKind::TapDuplicate => Some(("blue", "HD")),
        SegmentKind::WindowProbe => Some(("orange", "P")),
        SegmentKind::KeepAlive => Some(("orange", "K")),
    }
}

/// Stairs of what is acknowledged, and of how far the window reaches.
fn draw_answer(page: &mut Page, before: &Answer, answer: &Answer, duplicates: u64) {
    let now = &answer.stamp;
    page.color("green");
    step(page, before, now, (before.ack, answer.ack), "dtick");
    if duplicates == 3 {
        page.word("atext", now, answer.ack, "3");
    }
    if let (Some((old, _)), Some((new, window))) = (before.edge, answer.edge) {
        page.color("yellow");
        step(page, before, now, (old, new), "utick");
        if window == 0 {
            page.word("atext", now, new, "Z");
        }
    }
}

fn step(page: &mut Page, before: &Answer, now: &Stamp, (old, new): (u64, u64), tick: &str) {
    page.line((&before.stamp, old), (now, old));
    if old == new {
        page.mark(tick, now, old);
    } else {
        page.line((now, old), (now, new));
    }
}

fn draw_blocks(page: &mut Page, now: &Stamp, ack: &Ack) {
    let blocks = ack.sack.iter().map(|block| (block, "S"));
    for (block, mark) in ack.dsack.iter().map(|block| (block, "D")).chain(blocks) {
        let (start, end) = (block.start.as_u64(), block.end.as_u64());
        page.color("purple");
        page.line((now, start), (now, end));
        page.mark("htick", now, start);
        page.mark("htick", now, end);
        page.word("atext", now, end, mark);
    }
}
