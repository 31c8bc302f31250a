//! One connection with its graphs.

use tcplab_findings::story;
use tcplab_plot::{
    Averaging, Chart, Figure, LadderScene, View, advertised_window, chart, in_flight, ladder,
    round_trips_by_sequence, round_trips_over_time, segment_lengths, time_sequence,
};
use tcplab_quantities as q;
use tcplab_trace::{CapturePoint, CloseKind, Connection, Episode, Flow, HandshakeKind, SynOptions};
use tcplab_units::rounded::{self, bytes, decimal, grouped};
use tcplab_units::{Endpoint, Instant, Span};

use super::average::AverageView;
use super::shown::{GraphChoice, ShownConnection, anchor};
use crate::html::packets::PacketsView;
use crate::summary::recovery::kind_class;
use crate::trial::graphs::{rate_chart, scaled};
use crate::trial::interruption::seconds;
use crate::trial::limits::LimitsView;
use crate::trial::packets::shown_episodes;
use crate::trial::stalls::Stalls;
use crate::trial::view::Stop;

/// By default throughput is averaged over a part of the time, at least this long.
const PARTS: u64 = 200;
const SHORTEST_PART: Span = Span::from_millis(1);
/// Margin around the time that a button shows.
const MARGIN: Span = Span::from_millis(50);

pub(crate) struct ConnectionView {
    pub(crate) id: String,
    pub(crate) number: usize,
    pub(crate) open: bool,
    pub(crate) ends: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) directions: Vec<DirectionView>,
    pub(crate) packets: Option<PacketsView>,
}

/// One direction that carried data.
pub(crate) struct DirectionView {
    pub(crate) title: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) limits: Option<LimitsView>,
    pub(crate) figures: Vec<Figure>,
    /// To average throughput over another span, and the index of its figure.
    pub(crate) average: Option<(usize, AverageView)>,
    /// Zoomed by itself: its axis is not time.
    pub(crate) by_sequence: Option<Figure>,
    pub(crate) stalls: Option<Stalls>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) episodes: Vec<EpisodeView>,
    /// Episodes that are not shown.
    pub(crate) more_episodes: usize,
}

pub(crate) struct EpisodeView {
    pub(crate) number: usize,
    pub(crate) kind: &'static str,
    pub(crate) class: &'static str,
    pub(crate) story: String,
    pub(crate) ladder: String,
    pub(crate) from: String,
    pub(crate) until: String,
}

impl ConnectionView {
    pub(crate) fn new(
        shown: &ShownConnection<'_>,
        open: bool,
        choice: &GraphChoice,
    ) -> ConnectionView {
        let connection = shown.connection;
        let flows = [(&connection.forward, true), (&connection.reverse, false)];
        let mut flows: Vec<_> = flows.into_iter().filter(|(flow, _)| has_data(flow)).collect();
        flows.sort_by_key(|(flow, _)| std::cmp::Reverse(flow.totals.unique));
        let id = anchor(shown.index);
        ConnectionView {
            number: shown.index,
            open,
            ends: format!("{} → {}", connection.client, connection.server),
            facts: facts(connection),
            directions: flows
                .into_iter()
                .map(|(flow, forward)| DirectionView::new(&id, connection, (flow, forward), choice))
                .collect(),
            packets: PacketsView::of(shown.packets),
            id,
        }
    }
}

fn has_data(flow: &Flow) -> bool {
    flow.totals.data_segments > 0 && !flow.segments.is_empty()
}

impl DirectionView {
    fn new(
        id: &str,
        connection: &Connection,
        (flow, forward): (&Flow, bool),
        choice: &GraphChoice,
    ) -> DirectionView {
        let (sender, receiver) = if forward { ("client", "server") } else { ("server", "client") };
        let view = View { from: connection.first, until: end_of(connection), bands: &[] };
        let costliest = shown_episodes(flow, connection.last);
        let episode = |(index, episode): (usize, &Episode)| {
            episode_view(index, episode, flow, (sender, receiver), connection.last)
        };
        let episodes: Vec<EpisodeView> = costliest.iter().copied().map(episode).collect();
        let stop = |it: &EpisodeView| Stop {
            label: format!("Episode {}", it.number),
            from: it.from.clone(),
            until: it.until.clone(),
        };
        let name = format!("{id}-{sender}");
        let (figures, at) = figures_of(&name, sender, flow, (&view, choice));
        DirectionView {
            title: format!("{} to {receiver}", capital(sender)),
            facts: flow_facts(flow),
            limits: LimitsView::of(flow, &view),
            figures,
            average: at.map(|at| (at, AverageView::new(flow, &view, span_of(choice, &view)))),
            by_sequence: shows_round_trips(flow)
                .then(|| round_trips_by_sequence("RTT by sequence number", flow, &choice.rtt))
                .flatten(),
            stalls: Stalls::of(flow),
            more_episodes: flow.episodes.len() - costliest.len(),
            stops: episodes.iter().map(stop).collect(),
            episodes,
        }
    }
}

/// The right edge of the graphs, never equal to the left one.
fn end_of(connection: &Connection) -> Instant {
    connection.last.max(connection.first + Span::from_millis(1))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The span over which throughput is averaged.
fn span_of(choice: &GraphChoice, view: &View<'_>) -> Span {
    let time = view.until.since(view.from);
    choice.average.unwrap_or_else(|| in_three_figures((time / PARTS).max(SHORTEST_PART)))
}

/// The reader sees it and may change it.
fn in_three_figures(span: Span) -> Span {
    let nanos = span.as_nanos();
    let unit = 10_u64.pow(nanos.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Span::from_nanos((nanos + unit / 2) / unit * unit)
}

/// The graphs over time, and which of them is that of throughput.
fn figures_of(
    id: &str,
    sender: &str,
    flow: &Flow,
    (view, choice): (&View<'_>, &GraphChoice),
) -> (Vec<Figure>, Option<usize>) {
    let title = format!("Sequence numbers of the {sender}’s data");
    let windows = [scaled(in_flight(flow), 1e-3), scaled(advertised_window(flow), 1e-3)];
    let flying = windows[0].points.iter().filter_map(|(_, v)| *v).fold(0.0, f64::max);
    let mut figures = vec![
        time_sequence(id, &title, flow, view),
        chart(
            &Chart {
                title: "In flight and advertised window",
                unit: "kB",
                right: None,
                series: &windows,
                // A window far above the data in flight limits nothing.
                at_most: Some(flying * 3.0).filter(|most| *most > 0.0),
            },
            view,
        ),
    ];
    let rates = rate_chart(flow, Averaging::Moving(span_of(choice, view)), view);
    let at = rates.is_some().then_some(figures.len());
    figures.extend(rates);
    figures.push(segment_lengths("Segment lengths", flow, view));
    if shows_round_trips(flow) {
        figures.extend(round_trips_over_time("RTT", flow, &choice.rtt, view));
    }
    (figures, at)
}

/// A capture point at the receiver sees none.
fn shows_round_trips(flow: &Flow) -> bool {
    flow.capture_point != CapturePoint::Receiver
}

fn facts(connection: &Connection) -> Vec<(&'static str, String)> {
    let handshake = &connection.handshake;
    let mut facts = vec![
        (q::START_SECONDS.label, format!("{} s", decimal(connection.first.as_secs_f64(), 3))),
        (q::DURATION_NS.label, rounded::span(connection.last.since(connection.first))),
        (q::PACKETS.label, grouped(connection.packets)),
        (q::FRAMES.label, format!("{} to {}", connection.frames.0, connection.frames.1)),
    ];
    if let Some(round_trip) = handshake.round_trip {
        facts.push((q::HANDSHAKE_RTT_NS.label, rounded::span(round_trip)));
    }
    if handshake.client.seen && handshake.server.seen {
        let agreed = |found: fn(&SynOptions) -> bool| match handshake.agreed(found) {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => "unknown".to_owned(),
        };
        facts.push((q::SACK_AGREED.label, agreed(|syn| syn.sack_permitted)));
        facts.push(("window scaling", agreed(|syn| syn.window_scale.is_some())));
        facts.push((q::TIMESTAMPS_AGREED.label, agreed(|syn| syn.timestamps)));
    }
    facts.push((q::CLOSE.label, ending(connection).to_owned()));
    facts
}

pub(super) fn ending(connection: &Connection) -> &'static str {
    let Some(close) = connection.life.close else { return "open" };
    if connection.handshake.kind == HandshakeKind::Refused {
        return "refused";
    }
    match (close.kind, close.reset_by.unwrap_or(close.by)) {
        (CloseKind::Graceful | CloseKind::Simultaneous, _) => "closed",
        (CloseKind::HalfClosed, _) => "half-closed",
        (CloseKind::Reset | CloseKind::ResetAfterFin, Endpoint::Client) => "reset by client",
        (CloseKind::Reset | CloseKind::ResetAfterFin, Endpoint::Server) => "reset by server",
    }
}

fn flow_facts(flow: &Flow) -> Vec<(&'static str, String)> {
    let totals = &flow.totals;
    let mut facts = vec![
        (q::UNIQUE_BYTES.label, bytes(totals.unique)),
        (q::DATA_SEGMENTS.label, grouped(totals.wire_data_segments())),
        (q::RETRANSMISSIONS.label, grouped(flow.causes.retransmissions())),
        (q::BYTES_IN_FLIGHT_MAX.label, bytes(totals.max_in_flight)),
    ];
    if let Some(window) = totals.max_window {
        facts.push((q::WINDOW_MAX.label, bytes(window)));
    }
    if let Some(rate) = flow.transfer.goodput {
        facts.push((q::GOODPUT.label, rounded::rate(rate)));
    }
    let round_trips = &flow.round_trips;
    for (quantity, at_receiver, value) in [
        (q::RTT_MIN, "ACK time min", round_trips.min),
        (q::RTT_MEDIAN, "ACK time median", round_trips.median),
        (q::RTT_P95, "ACK time p95", round_trips.p95),
    ] {
        let name = match flow.capture_point {
            CapturePoint::Receiver => at_receiver,
            _ => quantity.label,
        };
        facts.extend(value.map(|value| (name, rounded::span(value))));
    }
    if let Some(efficiency) = flow.transfer.efficiency {
        facts.push((q::EFFICIENCY.label, format!("{} %", decimal(efficiency, 2))));
    }
    if let Some(delay) = flow.transfer.buffer_delay {
        facts.push((q::BUFFER_DELAY.label, format!("{} %", decimal(delay, 1))));
    }
    facts
}

fn episode_view(
    index: usize,
    episode: &Episode,
    flow: &Flow,
    (sender, receiver): (&str, &str),
    last: Instant,
) -> EpisodeView {
    let kind = episode.kind.name();
    let lines = tcplab_trace::ladder(flow, episode);
    let title = format!("Ladder diagram of episode {}: {kind}", index + 1);
    EpisodeView {
        number: index + 1,
        kind,
        class: kind_class(kind),
        story: story(episode, flow),
        ladder: ladder(&LadderScene {
            title: &title,
            sender,
            receiver,
            flow: Some(flow),
            lines: &lines,
            interruptions: &[],
        }),
        from: seconds(episode.first_lost_sent - MARGIN),
        until: seconds(episode.repaired_at.unwrap_or(last) + MARGIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_span_has_three_figures() {
        for (nanos, rounded) in [
            (14_387_466, 14_400_000),
            (9_996_000, 10_000_000),
            (1_000_000, 1_000_000),
            (125_449_999_999, 125_000_000_000),
            (0, 0),
        ] {
            assert_eq!(in_three_figures(Span::from_nanos(nanos)), Span::from_nanos(rounded));
        }
    }
}
