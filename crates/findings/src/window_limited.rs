//! # Window-limited transfer
//!
//! **What it says.** For a good part of the transfer the sender had as much in flight as the
//! receiver's window allowed.
//!
//! **Why it matters.** The path could have carried more: the receiver's buffer set the rate.
//!
//! **Evidence.** The share of time, outside recovery, in which what was sent and not acknowledged
//! came within three segments of the advertised window; the first and last frame of it.
//!
//! **False positives.** A window that is exactly what the path needs (no more and no less than
//! fills its queue) also limits, though nothing is gained by a larger one. At the receiver's side
//! little is ever in flight, so that the rule stays silent; so it does where the window's scale
//! was not seen.
//!
//! **Reference.** Y. Zhang et al., "On the Characteristics and Origins of Internet Flow Rates"
//! (three segments); M. Siekkinen et al., "A root cause analysis toolkit for TCP".

use std::fmt::Write;

use tcplab_trace::{Ack, Connection, Flow, Segment};
use tcplab_units::{Bytes, Instant, Offset, Rate, Span};

use crate::{Finding, flows, rounded};

/// The rule's name.
pub const NAME: &str = "window-limited";

/// In flight within so many segments of the window counts as limited by it.
const SEGMENTS: u64 = 3;
/// The least share of the time, in percent.
const SHARE: u64 = 25;
/// Fewer data packets than this are no transfer to speak of.
const LEAST_SEGMENTS: u64 = 20;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    let round_trip = connection.handshake.round_trip;
    let scaled = connection.handshake.client.window_scale.is_some()
        && connection.handshake.server.window_scale.is_some();
    flows(connection)
        .into_iter()
        .filter_map(|(_, flow)| {
            let clock = Clock::run(flow);
            let enough = flow.totals.data_segments >= LEAST_SEGMENTS;
            let often = clock.limited.as_nanos() >= clock.busy.as_nanos() / 100 * SHARE;
            let (first, last) = clock.frames.filter(|_| enough && often)?;
            let statement = statement(&clock, round_trip, scaled);
            Some(Finding { rule: NAME, statement, frames: vec![first, last], at: clock.first? })
        })
        .collect()
}

fn statement(clock: &Clock, round_trip: Option<Span>, scaled: bool) -> String {
    let share = 100.0 * clock.limited.as_secs_f64() / clock.busy.as_secs_f64();
    let window = clock.window;
    let mut text = format!(
        "The receiver's window, at most {} bytes, limited the transfer for {share:.0} % of the \
         time it had data in flight ({} of {}).",
        window.as_u64(),
        rounded(clock.limited),
        rounded(clock.busy),
    );
    if let Some(round_trip) = round_trip.filter(|rtt| !rtt.is_zero()) {
        let bits = window.bits() * 1_000_000_000 / u128::from(round_trip.as_nanos());
        let rate = Rate::from_bits_per_second(bits.min(u128::from(u64::MAX)) as u64);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            " With the handshake's round trip of {} such a window cannot carry more than {:.1} Mbit/s.",
            rounded(round_trip),
            rate.as_mbit_f64(),
        );
    }
    text += if scaled {
        " Raise the receiver's SO_RCVBUF, or remove a fixed size so that the window can grow by \
         itself."
    } else {
        " No window scaling was agreed on, so 65535 bytes is the most there can be: enable it at \
         both ends."
    };
    text
}

/// How long data were in flight, and how long the window was full.
#[derive(Debug, Default)]
struct Clock {
    busy: Span,
    limited: Span,
    /// The largest window that was full.
    window: Bytes,
    first: Option<Instant>,
    /// The first and the last frame after which the window was full.
    frames: Option<(u64, u64)>,
}

impl Clock {
    fn run(flow: &Flow) -> Clock {
        let mut clock = Clock::default();
        let mss = flow.segments.iter().map(|s| s.payload).max().unwrap_or_default();
        let margin = Bytes::new(mss.as_u64() * SEGMENTS);
        let mut state = State::default();
        let mut events = Events::new(flow).peekable();
        while let Some(event) = events.next() {
            state.apply(&event);
            let Some(next) = events.peek() else { break };
            if repairing(flow, event.at()) || state.high <= state.una {
                continue;
            }
            let span = next.at().since(event.at());
            clock.busy += span;
            let in_flight = state.high.since(state.una);
            if let Some(window) = state.window.filter(|&window| in_flight + margin > window) {
                clock.window = clock.window.max(window);
                clock.limited += span;
                clock.first.get_or_insert(event.at());
                let first = clock.frames.map_or(event.frame(), |(first, _)| first);
                clock.frames = Some((first, event.frame()));
            }
        }
        clock
    }
}

#[derive(Debug, Default)]
struct State {
    una: Offset,
    high: Offset,
    window: Option<Bytes>,
}

impl State {
    fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::Segment(segment) => self.high = self.high.max(segment.range.end),
            Event::Ack(ack) => {
                self.una = self.una.max(ack.ack);
                self.window = ack.window;
            }
        }
    }
}

/// Whether a loss was being repaired, when the window says little.
fn repairing(flow: &Flow, at: Instant) -> bool {
    let next = flow.episodes.partition_point(|episode| episode.first_lost_sent <= at);
    flow.episodes[..next].iter().rev().take(2).any(|e| e.repaired_at.is_none_or(|r| at < r))
}

enum Event<'a> {
    Segment(&'a Segment),
    Ack(&'a Ack),
}

impl Event<'_> {
    fn at(&self) -> Instant {
        match self {
            Event::Segment(segment) => segment.at,
            Event::Ack(ack) => ack.at,
        }
    }
    fn frame(&self) -> u64 {
        match self {
            Event::Segment(segment) => segment.frame,
            Event::Ack(ack) => ack.frame,
        }
    }
}

/// Segments and acknowledgements in the order of the capture.
struct Events<'a> {
    segments: &'a [Segment],
    acks: &'a [Ack],
}

impl<'a> Events<'a> {
    fn new(flow: &'a Flow) -> Events<'a> {
        Events { segments: &flow.segments, acks: &flow.acks }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let segment_first = match (self.segments.first(), self.acks.first()) {
            (Some(segment), Some(ack)) => segment.frame < ack.frame,
            (segment, _) => segment.is_some(),
        };
        if segment_first {
            let (first, rest) = self.segments.split_first()?;
            self.segments = rest;
            Some(Event::Segment(first))
        } else {
            let (first, rest) = self.acks.split_first()?;
            self.acks = rest;
            Some(Event::Ack(first))
        }
    }
}
