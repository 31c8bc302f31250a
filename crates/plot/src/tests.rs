//! Small scenes as snapshots, and properties of all scenes.

use tcplab_trace::{Ack, Fate, Flow, LadderLine, Range, Segment, SegmentKind};
use tcplab_units::{Bytes, Instant, Offset, Rng, Span};

use crate::*;

pub(crate) const MSS: u64 = 1448;

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

pub(crate) fn segment(at: Instant, number: u64, kind: SegmentKind, dropped: bool) -> Segment {
    let start = Offset::new(1 + number * MSS);
    Segment {
        at,
        frame: at.as_nanos() / 1_000_000,
        flags: tcplab_wire::TcpFlags::NONE,
        range: Range { start, end: start + Bytes::new(MSS) },
        payload: Bytes::new(MSS),
        syn: false,
        fin: false,
        psh: false,
        kind,
        timer: None,
        proof: tcplab_trace::Proof::default(),
        in_flight: Bytes::new(MSS),
        comment: None,
        dropped,
    }
}

pub(crate) fn ack(at: Instant, number: u64, sack: &[(u64, u64)]) -> Ack {
    let place = |n: u64| Offset::new(1 + n * MSS);
    Ack {
        at,
        frame: at.as_nanos() / 1_000_000,
        flags: tcplab_wire::TcpFlags::NONE,
        ack: place(number),
        window: Some(Bytes::new(20_000)),
        sack: sack.iter().map(|(s, e)| Range { start: place(*s), end: place(*e) }).collect(),
        dsack: None,
        duplicate: !sack.is_empty(),
        copied: false,
        reset: false,
        zero: false,
        has_data: false,
        in_flight: Bytes::ZERO,
        comment: None,
        dropped: false,
    }
}

/// Five segments, the second and third lost; one is recovered by SACK, one by timeout.
fn small() -> Flow {
    use SegmentKind::{FastRetransmission, New, TimeoutRetransmission};
    let mut duplicate = ack(ms(480), 5, &[]);
    duplicate.dsack = Some(segment(ms(480), 2, New, false).range);
    Flow {
        segments: vec![
            segment(ms(20), 0, New, false),
            segment(ms(30), 1, New, true),
            segment(ms(40), 2, New, true),
            segment(ms(110), 3, New, false),
            segment(ms(120), 4, New, false),
            segment(ms(150), 1, FastRetransmission, false),
            segment(ms(400), 2, TimeoutRetransmission, false),
        ],
        acks: vec![
            ack(ms(50), 1, &[]),
            ack(ms(140), 1, &[(3, 4)]),
            ack(ms(145), 1, &[(3, 5)]),
            ack(ms(180), 2, &[(3, 5)]),
            ack(ms(430), 5, &[]),
            duplicate,
        ],
        ..Flow::default()
    }
}

fn view(bands: &[Band]) -> View<'_> {
    View { from: Instant::ZERO, until: ms(500), bands }
}

fn band(number: u64, from: Instant, until: Instant) -> Band {
    let (label, short) = (format!("{number} <without> time lag"), number.to_string());
    Band { from, until, label, short, class: "without" }
}

/// One tag per line reads better in a snapshot.
fn lines(svg: &str) -> String {
    svg.replace("><", ">\n<")
}

#[test]
fn a_small_transfer_as_a_time_sequence_graph() {
    let breaks = [band(1, ms(25), ms(105))];
    let figure = time_sequence("tap", "Sequence <number>", &small(), &view(&breaks));
    let legend: Vec<_> =
        figure.legend.iter().map(|k| format!("{}: {}", k.class, k.label)).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", lines(&figure.svg), legend.join("\n")));
}

#[test]
fn a_small_transfer_as_charts() {
    let flow = small();
    let parts = Averaging::Parts(Span::from_millis(100));
    let series = [sent_rate(&flow, parts), delivered_rate(&flow, parts)];
    let what = Chart {
        title: "Throughput",
        unit: "Mbit/s",
        right: Some((125.0, "kB/s")),
        series: &series,
        at_most: Some(0.3),
    };
    insta::assert_snapshot!(lines(&chart(&what, &view(&[])).svg));
}

#[test]
fn a_small_transfer_as_points() {
    let mut flow = small();
    flow.segments[4].payload = Bytes::new(700);
    // A control segment has no length.
    flow.segments
        .push(Segment { payload: Bytes::ZERO, ..segment(ms(420), 5, SegmentKind::New, false) });
    let breaks = [band(1, ms(25), ms(105))];
    let lengths = segment_lengths("Segment <lengths>", &flow, &view(&breaks));
    let trips = round_trips_by_sequence("RTT by sequence number", &flow, &[RttKind::Once]).unwrap();
    let shown = [lengths, trips].map(|figure| {
        let legend: Vec<_> =
            figure.legend.iter().map(|k| format!("{}: {}", k.class, k.label)).collect();
        assert!(figure.levels.is_empty(), "few points are all in the SVG");
        format!("{}\n\n{}", lines(&figure.svg), legend.join("\n"))
    });
    insta::assert_snapshot!(shown.join("\n\n"));
}

/// Time or sequence number, and value, of each dot of a layer.
fn dots_of(svg: &str, class: &str) -> Vec<(i64, i64)> {
    strokes_of(svg, class).into_iter().map(|(x, y, _)| (x, y)).collect()
}

/// A flow of `count` segments of random length, a millisecond apart, each acknowledged after 20 to
/// 21 ms.
fn answered(count: u64, seed: u64) -> Flow {
    let mut rng = Rng::new(seed, "answered flow");
    let mut flow = Flow::default();
    for n in 0..count {
        let payload = Bytes::new(1 + rng.below(MSS));
        let sent = segment(ms(n), n, SegmentKind::New, false);
        flow.segments.push(Segment { payload, frame: 2 * n, ..sent });
        if n >= 20 {
            let at = ms(n) + Span::from_micros(rng.below(1_000));
            flow.acks.push(Ack { at, frame: 2 * n + 1, ..ack(at, n - 19, &[]) });
        }
    }
    flow
}

#[test]
fn round_trips_by_sequence_are_those_over_time() {
    let flow = answered(3_000, 1);
    let over_time: Vec<f64> =
        round_trips(&flow).iter().map(|sample| sample.span.as_secs_f64() * 1e3).collect();
    let figure = round_trips_by_sequence("", &flow, &[RttKind::Once]).unwrap();
    assert!(figure.svg.contains(r#"data-across="sequence""#));
    let drawn = dots_of(&figure.svg, "rtt");
    assert_eq!((drawn.len(), over_time.len()), (2_980, 2_980));
    // A column is a byte, a row a microsecond.
    let rows = figure.plane.scale.rows;
    for (n, ((x, y), value)) in drawn.into_iter().zip(over_time).enumerate() {
        assert_eq!(x, 1 + n as i64 * MSS as i64, "where the segment begins");
        assert!(((rows - y) as f64 / 1e3 - value).abs() < 1e-6, "{value} ms");
    }
    let mut silent = small();
    silent.acks.clear();
    assert_eq!(round_trips_by_sequence("", &silent, &RttKind::ALL), None);
    assert_eq!(round_trips_over_time("", &silent, &RttKind::ALL, &view(&[])), None);
}

#[test]
fn samples_that_were_not_chosen_are_hidden_layers() {
    let shown = [RttKind::Once, RttKind::Sack];
    let figure = round_trips_over_time("RTT", &small(), &shown, &view(&[])).unwrap();
    let legend: Vec<_> = figure.legend.iter().map(|key| (key.class, key.is_off)).collect();
    let kinds = [("rtt", false), ("rtt-repaired", true), ("rtt-again", true), ("rtt-sack", false)];
    assert_eq!(legend, kinds);
    assert!(figure.svg.contains(r#"class="rtt-again off""#));
    // 30 ms at 50 ms, and a segment sent at 110 ms that is SACKed at 140 ms.
    let row = |ms: i64| figure.plane.scale.rows - ms * 1_000;
    assert_eq!(dots_of(&figure.svg, "rtt"), [(5_000, row(30))]);
    assert_eq!(dots_of(&figure.svg, "rtt-sack"), [(14_000, row(30)), (14_500, row(25))]);
}

#[test]
fn copies_are_not_sent() {
    let once = small();
    let mut twice = once.clone();
    for segment in &once.segments {
        let kind = SegmentKind::CaptureDuplicate;
        let at = segment.at + Span::from_nanos(300);
        twice.segments.push(Segment { kind, at, ..segment.clone() });
    }
    twice.segments.sort_by_key(|segment| segment.at);
    assert_eq!(sent_amounts(&twice), sent_amounts(&once));
    assert_eq!(round_trips::round_trips(&twice), round_trips::round_trips(&once));
}

/// The definition, byte by byte: at any time, what the span up to it brought, over the span.
#[test]
fn moving_average_is_the_sum_of_a_window_over_its_length() {
    let mut rng = Rng::new(5, "moving average");
    let flow = busy(2_000, 11);
    for span in [1_u64, 7, 250, 4_000].map(Span::from_millis) {
        let series = sent_rate(&flow, Averaging::Moving(span));
        assert_eq!(series.points.last().unwrap().1, None, "it ends");
        for _ in 0..300 {
            let at = Instant::from_nanos(rng.below(2_500_000_000));
            let is_inside = |it: &Segment| it.at <= at && it.at + span > at;
            let inside = flow.segments.iter().filter(|it| is_inside(it));
            let bytes: u64 = inside.map(|it| it.payload.as_u64()).sum();
            let expected = bytes as f64 * 8.0 / span.as_secs_f64() / 1e6;
            let before = series.points.iter().rfind(|(point, _)| *point <= at);
            let drawn = before.and_then(|(_, value)| *value).unwrap_or(0.0);
            assert!((drawn - expected).abs() < 1e-9, "{drawn} {expected} at {at:?}");
        }
    }
}

#[test]
fn each_segment_has_its_length() {
    let flow = busy(3_000, 7);
    let view = View { from: Instant::ZERO, until: flow.segments.last().unwrap().at, bands: &[] };
    let figure = segment_lengths("", &flow, &view);
    let rows = figure.plane.scale.rows;
    for (kind, class) in [
        (SegmentKind::New, "data"),
        (SegmentKind::TimeoutRetransmission, "timeout"),
        (SegmentKind::UnexplainedRetransmission, "fills"),
    ] {
        let drawn = dots_of(&figure.svg, class);
        for segment in flow.segments.iter().filter(|segment| segment.kind == kind) {
            let place = (figure.plane.scale.x(segment.at), rows - MSS as i64);
            assert!(drawn.contains(&place), "{class} of frame {}", segment.frame);
        }
    }
}

#[test]
fn points_of_very_many_segments_stay_few() {
    let flow = answered(100_000, 3);
    let view = View { from: Instant::ZERO, until: flow.segments.last().unwrap().at, bands: &[] };
    let trips = round_trips_by_sequence("", &flow, &[RttKind::Once]).unwrap();
    for figure in [segment_lengths("", &flow, &view), trips] {
        assert!(figure.svg.len() < 1_500_000, "{} bytes", figure.svg.len());
        // The page draws these, down to each point.
        let finest = &figure.levels[0].levels[0];
        let points: usize = finest.tiles.iter().map(|tile| tile.count).sum();
        assert!((99_980..=100_000).contains(&points), "{points}");
    }
    // Not of more than a page can hold: of nearly equal lengths, several are one.
    let mut flow = answered(400_000, 4);
    for segment in &mut flow.segments {
        segment.payload = Bytes::new(MSS - segment.payload.as_u64() % 2);
    }
    let view = View { until: flow.segments.last().unwrap().at, ..view };
    let levels = segment_lengths("", &flow, &view).levels;
    let finest = &levels[0].levels[0];
    assert!(finest.column > 1 && levels[0].levels.len() > 1, "{} µs", finest.column);
    let points: usize = finest.tiles.iter().map(|tile| tile.count).sum();
    assert!((50_000..=262_144).contains(&points), "{points}");
}

#[test]
fn a_small_ladder() {
    let line = |at, from_sender, label: &str, fate, note: Option<&str>, folded| LadderLine {
        at: ms(at),
        until: ms(if folded > 0 { 109 } else { at }),
        frame: at,
        from_sender,
        label: label.into(),
        fate,
        note: note.map(Into::into),
        folded,
    };
    let lines_of = [
        line(30, true, "1449:2897(1448)", Fate::Lost, None, 0),
        line(31, true, "… 84 more segments, lost", Fate::Lost, None, 84),
        line(110, true, "4345:5793(1448)", Fate::Arrived, None, 0),
        line(140, false, "ack 1449 SACK 4345-5793", Fate::Arrived, Some("first SACK"), 0),
        line(150, true, "1449:2897(1448)", Fate::Arrived, Some("<first> & retransmission"), 0),
        line(400, true, "2897:4345(1448)", Fate::Unknown, Some("retransmission timeout"), 0),
    ];
    let scene = LadderScene {
        title: "Ladder of \"episode\" 1",
        sender: "client",
        receiver: "server",
        flow: Some(&small()),
        lines: &lines_of,
        interruptions: &[(ms(25), ms(105))],
    };
    let svg = ladder(&scene);
    assert!(svg.contains("⋮ 84 more segments, lost<"));
    assert!(svg.contains("250 ms of silence"));
    assert!(svg.contains("&lt;first&gt; &amp; retransmission") && !svg.contains("<first>"));
    insta::assert_snapshot!(lines(&svg));
}

#[test]
fn a_strip_with_its_axis() {
    let values = [20.1, 20.4, 19.8];
    let scale = StripScale::over(values, [(19.35, 20.85)]);
    let svg = strip("transfer time", &values, 20.1, Some((19.35, 22.85)), scale);
    insta::assert_snapshot!(lines(&format!("{svg}{}", strip_axis(scale, "s"))));
    // A single value, or none, must not divide by zero.
    for values in [vec![], vec![4.0, 4.0], vec![0.0], vec![f64::NAN]] {
        let scale = StripScale::over(values.clone(), []);
        let svg = strip("", &values, values.first().copied().unwrap_or(f64::NAN), None, scale);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn strip_scale_has_a_least_width() {
    let none: &[(f64, f64)] = &[];
    for (values, intervals, share) in [
        // Half a percent apart fills a quarter of the strip.
        (vec![16.6, 16.683], none, 0.02),
        // A tenth apart: the scale is as wide, with intervals up to that width.
        (vec![300.0, 330.0], &[(290.0, 310.0)], 0.121),
        (vec![300.0, 330.0], &[(0.0, 310.0)], 0.182),
        // Three times as much: from zero.
        (vec![100.0, 300.0], none, 1.0),
        (vec![0.0, 0.0], none, 1.0),
        (vec![-1.0, 3.0], none, 1.0),
    ] {
        let scale = StripScale::over(values.clone(), intervals.iter().copied());
        assert!((scale.share() - share).abs() < 0.001, "{values:?}: {}", scale.share());
    }
}

#[test]
fn strip_of_many_values_has_bounded_size() {
    let dots = |count: u32| {
        let values: Vec<f64> = (0..count).map(|n| 100.0 + f64::from(n % 997) / 10.0).collect();
        let scale = StripScale::over(values.clone(), []);
        strip("all", &values, 150.0, None, scale).matches("class=\"trial\"").count()
    };
    assert_eq!(dots(200), 200);
    let (some, many) = (dots(1_000), dots(20_000));
    assert!((100..=280).contains(&some), "{some}");
    assert_eq!(some, many);
}

fn strokes_of(svg: &str, class: &str) -> Vec<(i64, i64, i64)> {
    let Some((_, rest)) = svg.split_once(&format!("<path class=\"{class}\" d=\"")) else {
        return vec![];
    };
    let path = &rest[..rest.find('"').unwrap()];
    let (mut x, mut y) = (0, 0);
    let mut strokes = Vec::new();
    for part in path.split(['M', 'm']) {
        let Some((place, up)) = part.split_once('v') else { continue };
        let spaced = place.replace('-', " -");
        let mut numbers = spaced.split_whitespace().map(|n| n.parse::<i64>().unwrap());
        x += numbers.next().unwrap();
        y += numbers.next().unwrap();
        let low = y;
        y += up.parse::<i64>().unwrap();
        strokes.push((x, low, y));
    }
    strokes
}

/// A flow of `count` segments in which every third is retransmitted, at random times.
fn busy(count: u64, seed: u64) -> Flow {
    let mut rng = Rng::new(seed, "busy flow");
    let mut flow = Flow::default();
    let mut at = 0;
    for n in 0..count {
        at += rng.below(3);
        flow.segments.push(segment(ms(at), n, SegmentKind::New, rng.below(9) == 0));
        flow.acks.push(ack(ms(at), n.saturating_sub(20), &[]));
        if n % 3 == 0 {
            let kind = [
                SegmentKind::FastRetransmission,
                SegmentKind::TimeoutRetransmission,
                SegmentKind::AfterTimeoutRetransmission,
                SegmentKind::UnexplainedRetransmission,
            ][rng.below(4) as usize];
            let again = n - rng.below(n.min(50) + 1);
            flow.segments.push(segment(ms(at), again, kind, rng.below(9) == 0));
        }
    }
    flow
}

#[test]
fn no_retransmission_vanishes() {
    for seed in 0..20 {
        let flow = busy(3_000, seed);
        let last = flow.segments.last().unwrap();
        let view = View { from: Instant::ZERO, until: last.at, bands: &[] };
        let svg = time_sequence("", "", &flow, &view).svg;
        let high = {
            let data_y = svg.split("data-y=\"0 ").nth(1).unwrap();
            data_y[..data_y.find('"').unwrap()].parse::<i64>().unwrap()
        };
        for (kind, class) in [
            (SegmentKind::FastRetransmission, "fast"),
            (SegmentKind::TimeoutRetransmission, "timeout"),
            (SegmentKind::AfterTimeoutRetransmission, "fast"),
            (SegmentKind::UnexplainedRetransmission, "fills"),
        ] {
            let drawn = strokes_of(&svg, class);
            let scale = scale::Scale::new(view.from, view.until, 0.0, high as f64, high);
            for segment in flow.segments.iter().filter(|s| s.kind == kind) {
                let x = scale.x(segment.at);
                let (low, up) = (
                    scale.y(segment.range.start.as_u64() as f64),
                    scale.y(segment.range.end.as_u64() as f64),
                );
                let covered = drawn.iter().any(|(at, l, u)| *at == x && *l == low && *u == up);
                assert!(covered, "seed {seed}: {class} of frame {} is not drawn", segment.frame);
            }
        }
    }
}

#[test]
fn pane_refers_to_its_plane() {
    let bands = [band(1, ms(25), ms(105)), band(2, ms(130), ms(140))];
    let figure = time_sequence("tap", "", &small(), &view(&bands));
    let part = Pane {
        title: "Around the \"first\" interruption",
        plane: &figure.plane,
        time: Some((ms(0), ms(200))),
        values: Some((0.0, 10_000.0)),
        bands: &bands,
        layers: None,
        size: (250, 170),
    };
    let svg = pane(&part);
    assert!(figure.svg.contains("<g class=\"layers\" id=\"tap\">"));
    insta::assert_snapshot!(lines(&svg));
}

#[test]
fn overlapping_interruption_names_are_shortened() {
    let texts = |bands: &[Band]| -> Vec<String> {
        let svg = time_sequence("", "", &small(), &view(bands)).svg;
        svg.split("<text class=\"band-label without")
            .skip(1)
            .map(|rest| {
                let tag = &rest[..rest.find("</text>").unwrap()];
                let text = &tag[tag.find('>').unwrap() + 1..];
                if rest.starts_with(" hidden") { format!("({text})") } else { text.to_string() }
            })
            .collect()
    };
    let apart = [band(1, ms(100), ms(110)), band(2, ms(400), ms(410))];
    assert_eq!(texts(&apart), ["1 &lt;without&gt; time lag", "2 &lt;without&gt; time lag"]);
    let close = [band(1, ms(100), ms(110)), band(2, ms(130), ms(140)), band(3, ms(141), ms(142))];
    assert_eq!(texts(&close), ["1", "2", "(3)"]);
    let outside = [band(1, ms(600), ms(700))];
    assert_eq!(texts(&outside), Vec::<String>::new());
}

#[test]
fn graph_of_seven_thousand_segments_stays_small() {
    let flow = busy(7_000, 1);
    let view = View { from: Instant::ZERO, until: flow.segments.last().unwrap().at, bands: &[] };
    let size = time_sequence("", "", &flow, &view).svg.len();
    assert!(size < 300_000, "{size} bytes");
    // Much more data still makes a small page: only retransmissions add to it.
    let mut long = busy(200_000, 2);
    long.segments.retain(|s| s.kind == SegmentKind::New);
    let view = View { from: Instant::ZERO, until: long.segments.last().unwrap().at, bands: &[] };
    let size = time_sequence("", "", &long, &view).svg.len();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn empty_flow_gives_an_empty_graph() {
    let view = View { from: Instant::ZERO, until: Instant::ZERO, bands: &[] };
    let flow = Flow::default();
    let figures = [
        time_sequence("", "", &flow, &view),
        segment_lengths("", &flow, &view),
        chart(
            &Chart {
                title: "",
                unit: "",
                right: None,
                series: &[
                    advertised_window(&flow),
                    in_flight(&flow),
                    sent_rate(&flow, Averaging::Parts(Span::ZERO)),
                ],
                at_most: None,
            },
            &view,
        ),
    ];
    for figure in figures {
        assert!(figure.legend.is_empty());
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{}", figure.svg);
    }
}
