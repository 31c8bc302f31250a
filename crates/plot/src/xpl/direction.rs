//! One direction of a connection, drawn.

use std::collections::VecDeque;
use tcplab_trace::{Ack, Segment, SegmentKind, Timer, Transfer};
use tcplab_units::{Bytes, Instant, Span};

use super::graph::{Axes, XplGraph};
use super::writer::{
    ATEXT, BLUE, BOX, DARROW, DIAMOND, DOT, DTICK, GREEN, HTICK, LTEXT, Number, ORANGE, PINK,
    PURPLE, Page, RED, Stamp, UARROW, UTICK, WHITE, Word, YELLOW,
};
use crate::round_trips::{RoundTrip, RoundTrips, RttKind};

/// tcptrace's default (`-A10`): data segments per throughput sample.
const AVERAGED: u64 = 10;

/// The most amounts in the span of a moving average; closer ones count as one.
const LATEST_MOST: u64 = 1 << 16;

/// The drawing state of a direction.
#[derive(Debug, Default)]
pub(super) struct Direction {
    time_sequence: Option<Page>,
    throughput: Option<Page>,
    round_trip: Option<Page>,
    outstanding: Option<Page>,
    segment_sizes: Option<Page>,
    round_trip_by_sequence: Option<Page>,
    /// The last packet drawn: it may bring a segment and an ACK.
    now: Option<(Instant, Stamp)>,
    began: Option<Instant>,
    answer: Option<Answer>,
    /// Where the last segment ended.
    end: Option<Number>,
    high: u64,
    duplicates: u64,
    rates: Rates,
    /// The previous points: in flight, in flight less SACKed, advertised; and the RTT, over time
    /// and by sequence number.
    points: [Option<(Stamp, Number)>; 3],
    trip: Option<(Stamp, u64)>,
    trip_by_sequence: Option<(Stamp, u64)>,
    sizes: Sizes,
    samples: RoundTrips,
}

/// The last ACK.
#[derive(Debug, Clone, Copy)]
struct Answer {
    stamp: Stamp,
    ack: Number,
    /// The right edge of the window and its size, if known.
    edge: Option<(Number, u64)>,
}

#[derive(Debug, Default)]
struct Rates {
    /// For a moving average: the data of its span, and their sum.
    latest: VecDeque<(Instant, u64)>,
    inside: u64,
    since: Option<Instant>,
    segments: u64,
    bytes: u64,
    all: u64,
    points: [Option<(Stamp, Number)>; 2],
}

/// Data segments so far, and their bytes.
#[derive(Debug, Default)]
struct Sizes {
    segments: u64,
    bytes: u64,
    /// The previous size and mean.
    points: [Option<(Stamp, Number)>; 2],
}

impl Direction {
    /// At the connection's first packet.
    pub(super) fn began(&mut self, at: Instant) {
        self.began.get_or_insert(at);
    }

    pub(super) fn waiting(&self) -> usize {
        let pages = [
            &self.time_sequence,
            &self.throughput,
            &self.round_trip,
            &self.outstanding,
            &self.segment_sizes,
            &self.round_trip_by_sequence,
        ];
        pages.into_iter().flatten().map(|page| page.text().len()).sum()
    }

    /// Its graphs that are not empty.
    pub(super) fn pages(&mut self) -> impl Iterator<Item = (&mut Page, XplGraph)> {
        [
            (self.time_sequence.as_mut(), XplGraph::TimeSequence),
            (self.throughput.as_mut(), XplGraph::Throughput),
            (self.round_trip.as_mut(), XplGraph::RoundTrips),
            (self.outstanding.as_mut(), XplGraph::Outstanding),
            (self.segment_sizes.as_mut(), XplGraph::SegmentSizes),
            (self.round_trip_by_sequence.as_mut(), XplGraph::RoundTripsBySequence),
        ]
        .into_iter()
        .filter_map(|(page, kind)| Some((page?, kind)))
    }

    pub(super) fn segment(&mut self, segment: &Segment, axes: Axes) {
        self.began(segment.at);
        let now = self.stamp(segment.at, axes.epoch);
        if axes.has(XplGraph::TimeSequence) {
            let page = self.time_sequence.get_or_insert_with(|| axes.page(XplGraph::TimeSequence));
            let start = Number::like(segment.range.start.as_u64(), self.end.as_ref());
            let end = Number::new(segment.range.end.as_u64());
            draw_segment(page, &now, segment, (&start, &end));
            self.end = Some(end);
        }
        self.high = self.high.max(segment.range.end.as_u64());
        let is_sent = !segment.kind.is_copy();
        if axes.has(XplGraph::Throughput) && is_sent {
            match axes.average {
                Some(span) => self.moving_average(segment, span, now, axes),
                None => self.throughput(segment, now, axes),
            }
        }
        let is_data = segment.kind == SegmentKind::New && segment.payload.as_u64() > 0;
        if axes.has(XplGraph::Outstanding) && is_data {
            self.outstanding(segment, now, axes);
        }
        if axes.has(XplGraph::SegmentSizes) {
            self.segment_size(segment, now, axes);
        }
        let has_samples =
            axes.has(XplGraph::RoundTrips) || axes.has(XplGraph::RoundTripsBySequence);
        if has_samples && is_sent {
            self.samples.sent(segment.at, segment.range);
        }
    }

    pub(super) fn ack(&mut self, ack: &Ack, axes: Axes) {
        let now = self.stamp(ack.at, axes.epoch);
        let number = ack.ack.as_u64();
        if !ack.copied {
            self.duplicates = if ack.duplicate { self.duplicates + 1 } else { 0 };
        }
        let before = self.answer.as_ref();
        let old_edge = before.and_then(|before| before.edge.as_ref()).map(|(edge, _)| edge);
        let window = ack.window.map(Bytes::as_u64);
        let answer = Answer {
            stamp: now,
            ack: Number::like(number, before.map(|before| &before.ack)),
            edge: window.map(|window| (Number::like(number + window, old_edge), window)),
        };
        if axes.has(XplGraph::TimeSequence) {
            let page = self.time_sequence.get_or_insert_with(|| axes.page(XplGraph::TimeSequence));
            if let Some(before) = &self.answer {
                draw_answer(page, before, &answer, self.duplicates);
            }
            draw_blocks(page, &now, ack);
        }
        // A reordered older ACK says nothing new.
        let is_old = self.answer.as_ref().is_some_and(|before| before.ack.value > number);
        if !is_old {
            self.answer = Some(answer);
        }
        if axes.has(XplGraph::RoundTrips) || axes.has(XplGraph::RoundTripsBySequence) {
            for trip in self.samples.measured(ack).filter(|trip| axes.has_samples(trip.kind)) {
                self.sample(trip, now, axes);
            }
        }
    }

    /// Samples of data sent once are joined, as tcptrace does; others are dots.
    fn sample(&mut self, trip: RoundTrip, now: Stamp, axes: Axes) {
        let micros = trip.span.as_nanos() / 1_000;
        let is_joined = trip.kind == RttKind::Once;
        let place = Stamp::of_sequence(trip.sequence);
        for (kind, page, x, before) in [
            (XplGraph::RoundTrips, &mut self.round_trip, now, &mut self.trip),
            (
                XplGraph::RoundTripsBySequence,
                &mut self.round_trip_by_sequence,
                place,
                &mut self.trip_by_sequence,
            ),
        ] {
            if axes.has(kind) {
                let page = page.get_or_insert_with(|| axes.page(kind));
                page.color(color_of(trip.kind));
                page.thousandths(&x, micros, before.filter(|_| is_joined));
                if is_joined {
                    *before = Some((x, micros));
                }
            }
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

    /// Bytes in flight, the same less SACKed bytes, and the window.
    fn outstanding(&mut self, segment: &Segment, now: Stamp, axes: Axes) {
        let Some(answer) = self.answer else { return };
        let page = self.outstanding.get_or_insert_with(|| axes.page(XplGraph::Outstanding));
        let owin = self.high.saturating_sub(answer.ack.value);
        let lines = [
            (RED, "owin", Some(owin)),
            (ORANGE, "less SACKed", Some(segment.in_flight.as_u64())),
            (YELLOW, "rwin", answer.edge.map(|(_, window)| window)),
        ];
        for ((color, name, value), before) in lines.into_iter().zip(&mut self.points) {
            if let Some(value) = value {
                extend(page, color, name, before, (now, value));
            }
        }
    }

    /// The size of a data segment, and the mean of all so far.
    fn segment_size(&mut self, segment: &Segment, now: Stamp, axes: Axes) {
        let bytes = segment.payload.as_u64();
        if bytes == 0 {
            return;
        }
        let sizes = &mut self.sizes;
        (sizes.segments, sizes.bytes) = (sizes.segments + 1, sizes.bytes + bytes);
        let page = self.segment_sizes.get_or_insert_with(|| axes.page(XplGraph::SegmentSizes));
        let [size, mean] = &mut sizes.points;
        extend(page, RED, "segsize", size, (now, bytes));
        extend(page, BLUE, "avg segsize", mean, (now, sizes.bytes / sizes.segments));
        if let Some((color, mark)) = mark_of(segment) {
            page.color(color);
            page.word(ATEXT, &now, &Number::new(bytes), mark);
        }
    }

    /// The data of the `span` up to now over that span, at each data segment.
    fn moving_average(&mut self, segment: &Segment, span: Span, now: Stamp, axes: Axes) {
        let (at, bytes) = (segment.at, segment.payload.as_u64());
        if bytes == 0 {
            return;
        }
        let rates = &mut self.rates;
        let step = span / LATEST_MOST;
        match rates.latest.back_mut() {
            Some((last, sum)) if at.since(*last) < step => *sum += bytes,
            _ => rates.latest.push_back((at, bytes)),
        }
        rates.inside += bytes;
        while let Some((_, old)) = rates.latest.front().filter(|(last, _)| *last + span <= at) {
            rates.inside -= old;
            rates.latest.pop_front();
        }
        let page = self.throughput.get_or_insert_with(|| axes.page(XplGraph::Throughput));
        let per_second =
            u128::from(rates.inside) * 1_000_000_000 / u128::from(span.as_nanos().max(1));
        let value = u64::try_from(per_second).unwrap_or(u64::MAX);
        extend(page, RED, "moving average", &mut rates.points[1], (now, value));
    }

    /// As tcptrace counts: the data of ten segments over the time since the last of the previous
    /// ten; of more where they are so small that they have no rate.
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
        if rates.segments + 1 >= AVERAGED && rates.bytes >= Transfer::LEAST.as_u64() {
            let began = self.began.unwrap_or(since);
            let page = self.throughput.get_or_insert_with(|| axes.page(XplGraph::Throughput));
            let [average, current] = &mut rates.points;
            let rate = |bytes: u64, from: Instant| {
                let micros = (segment.at.since(from).as_nanos() / 1_000).max(1);
                u64::try_from(u128::from(bytes) * 1_000_000 / u128::from(micros))
                    .unwrap_or(u64::MAX)
            };
            extend(page, RED, "inst. tput", current, (now, rate(rates.bytes, since)));
            extend(page, BLUE, "avg. tput", average, (now, rate(rates.all, began)));
            (rates.since, rates.segments, rates.bytes) = (Some(segment.at), 0, 0);
        }
        rates.segments += 1;
        rates.bytes += bytes;
    }
}

fn color_of(kind: RttKind) -> Word {
    match kind {
        RttKind::Once => RED,
        RttKind::Repaired => ORANGE,
        RttKind::Retransmitted => PINK,
        RttKind::Sack => PURPLE,
    }
}

/// Extends a line of this colour.
fn extend(
    page: &mut Page,
    color: Word,
    name: &str,
    before: &mut Option<(Stamp, Number)>,
    (now, value): (Stamp, u64),
) {
    let value = Number::new(value);
    page.color(color);
    page.mark(DOT, &now, &value);
    match before {
        Some((stamp, old)) => page.line((&now, &value), (stamp, old)),
        None => page.word(LTEXT, &now, &value, name),
    }
    *before = Some((now, value));
}

fn draw_segment(page: &mut Page, now: &Stamp, segment: &Segment, (start, end): (&Number, &Number)) {
    if let Some((color, mark)) = mark_of(segment) {
        page.color(color);
        page.word(ATEXT, now, end, mark);
    }
    if segment.syn || segment.fin {
        page.color(ORANGE);
        page.word(ATEXT, now, end, if segment.syn { "SYN" } else { "FIN" });
        page.mark(if segment.syn { DIAMOND } else { DARROW }, now, start);
        page.mark(if segment.syn { UARROW } else { BOX }, now, end);
    } else {
        page.color(
            if segment.kind.is_retransmission()
                && segment.kind != SegmentKind::UnexplainedRetransmission
            {
                RED
            } else {
                WHITE
            },
        );
        page.mark(DARROW, now, start);
        if segment.psh {
            page.mark_in(DIAMOND, now, end, WHITE);
            page.mark_in(DOT, now, end, WHITE);
        } else {
            page.mark(UARROW, now, end);
        }
    }
    page.line((now, start), (now, end));
}

/// Colour and mark of a segment that is not new data in order.
fn mark_of(segment: &Segment) -> Option<(Word, &'static str)> {
    let again = match segment.timer {
        Some(Timer::Probe) => "TLP",
        Some(Timer::Retransmission) => "RTO",
        None => "R",
    };
    match segment.kind {
        SegmentKind::New => segment.timer.map(|_| (RED, again)),
        SegmentKind::FastRetransmission
        | SegmentKind::TimeoutRetransmission
        | SegmentKind::RepeatedControl
        | SegmentKind::AfterTimeoutRetransmission => Some((RED, again)),
        SegmentKind::UnexplainedRetransmission
        | SegmentKind::FillsGap
        | SegmentKind::OutOfOrder => Some((PINK, "O")),
        SegmentKind::NetworkDuplicate | SegmentKind::LinkRetry | SegmentKind::CaptureDuplicate => {
            Some((BLUE, "HD"))
        }
        SegmentKind::WindowProbe => Some((ORANGE, "P")),
        SegmentKind::KeepAlive => Some((ORANGE, "K")),
    }
}

/// Steps of the acknowledged data and of the window's right edge.
fn draw_answer(page: &mut Page, before: &Answer, answer: &Answer, duplicates: u64) {
    let now = &answer.stamp;
    page.color(GREEN);
    step(page, before, now, (&before.ack, &answer.ack), DTICK);
    if duplicates == 3 {
        page.word(ATEXT, now, &answer.ack, "3");
    }
    if let (Some((old, _)), Some((new, window))) = (&before.edge, &answer.edge) {
        page.color(YELLOW);
        step(page, before, now, (old, new), UTICK);
        if *window == 0 {
            page.word(ATEXT, now, new, "Z");
        }
    }
}

fn step(page: &mut Page, before: &Answer, now: &Stamp, (old, new): (&Number, &Number), tick: Word) {
    page.line((&before.stamp, old), (now, old));
    if old.value == new.value {
        page.mark(tick, now, old);
    } else {
        page.line((now, old), (now, new));
    }
}

fn draw_blocks(page: &mut Page, now: &Stamp, ack: &Ack) {
    let blocks = ack.sack.iter().map(|block| (block, "S"));
    for (block, mark) in ack.dsack.iter().map(|block| (block, "D")).chain(blocks) {
        let [start, end] = [block.start, block.end].map(|place| Number::new(place.as_u64()));
        page.color(PURPLE);
        page.line((now, &start), (now, &end));
        page.mark(HTICK, now, &start);
        page.mark(HTICK, now, &end);
        page.word(ATEXT, now, &end, mark);
    }
}
