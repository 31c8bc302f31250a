//! A run for looking at the page and for testing it: its transfers are captures of the corpus,
//! everything else is made up.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use tcplab_path::{Direction, PathSpec};
use tcplab_recording::Sample;
use tcplab_results::verification::{CheckRow, Machine, Outcome, PathCheck};
use tcplab_results::{
    Calibration, Case, Claim, EndRow, EpisodeRow, FindingRow, Metric, Recovery, Run, RunWorld,
    StackUsed, Summary, Trial, TrialData, World,
};
use tcplab_scenario::metrics;
use tcplab_trace::{Connection, Episode, Flow, Segment, SegmentKind, Trace};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Rng, Span};

const MSS: u64 = 1_448;
const MS: u64 = 1_000_000;
/// This many of a capture's first losses count as losses in interruptions.
const INTERRUPTIONS: usize = 6;

/// By the trial's directory.
pub(crate) type Recordings = Vec<(String, TrialData)>;

/// Loads the packets of a trial.
#[allow(dead_code, reason = "not every program that includes this loads them so")]
pub(crate) fn load(
    recordings: &Recordings,
) -> impl FnMut(&Trial) -> Result<TrialData, &'static str> + '_ {
    |trial| {
        let found = recordings.iter().find(|(directory, _)| *directory == trial.directory);
        found.map(|(_, data)| data.clone()).ok_or("no such trial")
    }
}

/// Two variants with `trials` trials each.
pub(crate) fn run(trials: u32) -> (Run, Recordings) {
    let mut recordings = Vec::new();
    let mut cases = Vec::new();
    for (name, capture) in [("reno", "nots_loss1"), ("cubic", "blackout")] {
        let captures = ["snd", "rcv"].map(|end| captured(&format!("{capture}.{end}")));
        let mut made = Vec::new();
        for number in 1..=trials {
            let (trial, data) = trial(name, number, captures.clone());
            recordings.push((trial.directory.clone(), data));
            made.push(trial);
        }
        let levels = vec![("client.socket.congestion".into(), name.to_string())];
        let summaries = summaries(&made);
        let stacks = ["client", "server"].map(|end| StackUsed {
            end: end.into(),
            name: "Linux 6.12.0".into(),
            ..StackUsed::default()
        });
        cases.push(Case {
            name: name.into(),
            levels,
            world: World::Kernel,
            kernel: None,
            stacks: stacks.into(),
            is_exact: false,
            trials: made,
            failures: vec![],
            summaries,
            forgotten: Recovery::default(),
        });
    }
    (Run { cases, ..frame() }, recordings)
}

/// `count` trials of twenty variants (two factors, one of them a condition of the path, with an
/// interaction), and the recordings that they share.
#[allow(dead_code, reason = "not every program that includes this makes so many")]
pub(crate) fn many(count: usize) -> (Run, Recordings) {
    let (mut run, recordings) = run(2);
    let mut rng = Rng::new(11, "many");
    let of = run.cases[0].clone();
    let each = (count / 20).max(1) as u32;
    let levels = ["reno", "cubic", "bbr", "westwood"].into_iter().enumerate();
    let cells = levels.flat_map(|(a, name)| (0..5).map(move |loss| (a, name, loss)));
    let case = |(a, name, loss): (usize, &str, usize)| {
        let label = format!("{}", loss as f64 / 10.0);
        let made = (1..=each).map(|number| {
            let mut trial = of.trials[number as usize % of.trials.len()].clone();
            trial.number = number;
            if number != 2 {
                trial.flaws.clear();
            }
            trial.directory = format!("trials/{name}_{label}-{number}");
            let noise = (0..4).map(|_| rng.below(1_000) as f64 / 1_000.0 - 0.5).sum::<f64>();
            let goodput =
                4.0 + a as f64 * 0.2 * (1.0 + loss as f64) - loss as f64 * 0.5 + noise * 0.3;
            trial.metrics.set(metrics::GOODPUT, goodput);
            trial.metrics.set(metrics::TRANSFER_TIME, 80.0 / goodput);
            trial
        });
        let trials: Vec<Trial> = made.collect();
        let pair = |key: &str, level: &str| (key.to_string(), level.to_string());
        Case {
            name: format!("{name}_{label}"),
            levels: vec![pair("client.socket.congestion", name), pair("path.loss", &label)],
            summaries: summaries(&trials),
            trials,
            ..of.clone()
        }
    };
    run.cases = cells.map(case).collect();
    (run, recordings)
}

/// A connection of `count` segments; each hundredth is retransmitted once.
#[allow(dead_code, reason = "not every program that includes this makes so many")]
pub(crate) fn large(count: usize) -> Trace {
    let mut rng = Rng::new(3, "large");
    let range = |number: u64| {
        let start = tcplab_units::Offset::new(1 + number * 1_448);
        tcplab_trace::Range { start, end: start + Bytes::new(1_448) }
    };
    let mut flow = Flow::default();
    let (mut at, mut frame, mut next) = (10 * MS, 0, 0);
    while flow.segments.len() < count {
        // In bursts, as offloads make them, with a silence now and then.
        at += if rng.below(40_000) == 0 { 200 * MS } else { 4_000 + rng.below(9) * 1_000 };
        frame += 1;
        let again = next > 40 && rng.below(100) == 0;
        let number = if again { next - 1 - rng.below(40) } else { next };
        next += u64::from(!again);
        let kind = if again { SegmentKind::FastRetransmission } else { SegmentKind::New };
        flow.segments.push(Segment {
            at: Instant::from_nanos(at),
            frame,
            flags: tcplab_wire::TcpFlags::NONE,
            range: range(number),
            payload: Bytes::new(1_448),
            syn: false,
            fin: false,
            psh: false,
            kind,
            timer: None,
            proof: tcplab_trace::Proof::default(),
            in_flight: Bytes::new(58_000),
            comment: None,
            dropped: false,
        });
        if frame % 2 == 0 {
            flow.acks.push(tcplab_trace::Ack {
                at: Instant::from_nanos(at + 500),
                frame,
                flags: tcplab_wire::TcpFlags::NONE,
                ack: range(next.saturating_sub(40)).start,
                window: Some(Bytes::new(450_000)),
                sack: vec![],
                dsack: None,
                duplicate: false,
                copied: false,
                reset: false,
                zero: false,
                has_data: false,
                in_flight: Bytes::new(58_000),
                comment: None,
                dropped: false,
            });
        }
    }
    flow.totals.data_segments = flow.segments.len() as u64;
    flow.totals.segments = flow.totals.data_segments + 1;
    flow.totals.wire_segments = flow.totals.segments;
    flow.totals.unique = Bytes::new(next * 1_448);
    trace(flow)
}

fn frame() -> Run {
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    Run {
        name: "interruption".into(),
        title: "10 MB upload through a 200 ms interruption every 5 s".into(),
        reference: Some("Experimental Analysis of TCP Behaviors against Bursty Packet Losses".into()),
        question: None,
        question_factor: None,
        question_metric: None,
        scenario: "title = \"10 MB upload through a 200 ms interruption every 5 s\"\n\n[path]\nrate = \"5 Mbit/s\" # <&>\n".into(),
        world: RunWorld::Kernel,
        fallback: None,
        started: "2026-03-01T09:30:00Z".into(),
        seed: 1,
        warm_up: 0,
        stopping: None,
        path: vec![
            "forward: 5 Mbit/s, queue of 512 packets, 5 ms, 200 ms interruption every 5 s".into(),
            "reverse: 5 Mbit/s, queue of 512 packets, 5 ms, 200 ms interruption every 5 s".into(),
        ],
        environment: vec![
            pair("kernel", "Linux 6.12.0"),
            pair("cpu", "2 × x86_64"),
            pair("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            pair("net.ipv4.tcp_sack", "1"),
        ],
        calibration: Some(calibration()),
        cases: vec![],
        only: vec![],
        comparisons: vec![],
        claims: vec![
            claim("Linux recovers in both ways the paper describes", true),
            claim("and within a second, <always>", false),
        ],
        plots: vec![],
    }
}

fn calibration() -> Calibration {
    let row = |quantity: &str, asked: &str, achieved: &str, outcome, why: &str| CheckRow {
        quantity: quantity.into(),
        direction: Some(Direction::Forward),
        asked: asked.into(),
        achieved: achieved.into(),
        outcome,
        why: why.into(),
    };
    let machine = Machine {
        device: "tun".into(),
        privilege: "user-namespace".into(),
        scheduling: "short-slices".into(),
        lead: Span::from_micros(16),
        spin: Span::from_micros(60),
        error_without_lead: (16_200, 71_000),
        error: (800, 38_000),
        ceiling_pps: 402_000,
        ceiling_rate: Rate::from_bits_per_second(4_800_000_000),
    };
    let rows = vec![
        machine.ceiling_row(Some(Rate::from_bits_per_second(5_000_000))),
        row("rate", "5 Mbit/s", "5.0001 Mbit/s (+0.002 %)", Outcome::Ok, "±1 %"),
        row("loss", "1 %", "4.2 % (21 of 500)", Outcome::Off, "0 to 14 expected at 99.9 %"),
        row("interruption", "at its times", "", Outcome::NotMeasured, "the first is at 5 s <&>"),
    ];
    let path = |case: &str, rows| PathCheck {
        hash: "5e".into(),
        cases: vec![case.into()],
        rows,
        round_trip: None,
    };
    Calibration {
        boot: "none".into(),
        tcplab: "0.1.0".into(),
        timer: machine.timer_row(),
        machine,
        paths: vec![path("reno", rows[..2].to_vec()), path("cubic", rows)],
    }
}

fn claim(text: &str, held: bool) -> Claim {
    Claim {
        claim: text.into(),
        check: "episode.type includes \"with time lag\"".into(),
        held,
        is_judged: true,
        needs: 1,
        held_alone: u32::from(held),
        trials: 1,
        over: None,
        found: "reno: without time lag; cubic: with time lag".into(),
    }
}

/// A capture of the corpus.
pub(crate) fn captured(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let reader = tcplab_capture::open(folder.join(format!("{name}.pcap.zst")));
    tcplab_trace::analyze(reader.expect("it is in the corpus"))
}

fn trial(case: &str, number: u32, [mut client, mut server]: [Trace; 2]) -> (Trial, TrialData) {
    for trace in [&mut client, &mut server] {
        trace.notes.clear();
        // The other connection controls the transfer.
        trace.connections.swap_remove(0);
    }
    let last = client.connections[0].last;
    let flow = &mut client.connections[0].forward;
    flow.episodes.truncate(INTERRUPTIONS);
    let lost = flow.episodes.iter().flat_map(|episode| &episode.lost);
    let lost: BTreeSet<u64> = lost.map(|segment| segment.frame).collect();
    for segment in flow.segments.iter_mut().filter(|segment| lost.contains(&segment.frame)) {
        segment.dropped = true;
    }
    let samples = flow.segments.iter().step_by(20).map(|segment| Sample {
        state: 1,
        cwnd_segments: segment.in_flight.as_u64() / MSS + 2,
        ssthresh_segments: 0x7fff_ffff,
        snd_mss_bytes: MSS,
        rtt_us: 21_000,
        min_rtt_us: 20_300,
        rto_us: 221_000,
        ..Sample::empty(segment.at, Endpoint::Client)
    });
    let samples = samples.collect();
    let breaks = flow.episodes.iter().map(|episode| {
        let at = episode.first_lost_sent;
        (at - Span::from_millis(10), at + Span::from_millis(20))
    });
    let breaks: Vec<(Instant, Instant)> = breaks.collect();
    let rows = flow.episodes.iter().enumerate().map(|(index, episode)| row(index + 1, episode));
    let rows: Vec<EpisodeRow> = rows.collect();
    let time = last.as_secs_f64() + f64::from(number) / 10.0;
    let totals = flow.totals;
    let metric =
        |name: &str, unit: &str, value| Metric { name: name.into(), unit: unit.into(), value };
    let made = Trial {
        connections: None,
        number,
        seed: u64::from(number) * 7919,
        directory: format!("trials/{case}-{number}"),
        metrics: vec![
            metric("retransmissions", "", totals.retransmissions as f64),
            metric("transfer_time", "s", time),
            metric("goodput", "Mbit/s", 80.0 / time),
            metric("retransmitted", "kB", totals.retransmitted.as_u64() as f64 / 1e3),
            metric("episodes", "", rows.len() as f64),
            metric("payload_intact", "", 1.0),
        ]
        .into(),
        episodes: rows,
        interruptions: Vec::new(),
        options: vec![],
        findings: vec![FindingRow {
            rule: "tail-loss".into(),
            statement: "The last window before an interruption was lost whole.".into(),
            remedy: Some("Send less before it.".into()),
            frames: (900..912).collect(),
        }],
        ends: vec![client_calls()],
        ending: None,
        flaws: if number == 2 {
            vec!["packets were handed over late: 1 % by more than 4.1 ms (bound 1 ms)".into()]
        } else {
            vec![]
        },
        load: None,
        put_aside: if number == 2 { 2 } else { 0 },
        warnings: vec![],
        medium: None,
        has_packets: true,
        flows: Vec::new(),
    };
    let data = TrialData {
        client,
        server,
        samples,
        timed_out: [None; 2],
        vanished: [None; 2],
        interruptions: breaks,
        path: path(),
        queues: tcplab_recording::Queues::Logged(vec![]),
        correspondence: None,
        duration: last.since(Instant::ZERO),
    };
    (made, data)
}

fn client_calls() -> EndRow {
    let call = |call: &str,
                asked: &str,
                result: &str,
                count: u64,
                bytes: u64,
                [began, ended, took, longest]: [u64; 4]| {
        serde_json::json!({
            "call": call, "asked": asked, "about": "", "result": result, "count": count,
            "bytes": bytes, "began_ns": began, "ended_ns": ended, "took_ns": took,
            "longest_ns": longest, "connection": 0, "scattered": false,
        })
    };
    let calls = serde_json::Value::from(vec![
        call("connect", "", "ok", 1, 0, [0, 10_000_000, 10_000_000, 10_000_000]),
        call(
            "write",
            "64 kB",
            "ok",
            100,
            6_400_000,
            [10_000_000, 900_000_000, 850_000_000, 20_000_000],
        ),
        call("<i>read", "", "ECONNRESET", 1, 0, [900_000_000, 900_000_000, 0, 0]),
    ]);
    EndRow {
        end: serde_json::from_str("\"client\"").expect("an end"),
        calls: serde_json::from_value(calls).expect("a log"),
        response_times_ms: vec![],
        request_tries: vec![],
        states: vec![],
        metrics: vec![],
    }
}

/// The path of the interruption paper.
fn path() -> PathSpec {
    let json = r#"{ "rate": "5.3 Mbit/s", "queue": "512 packets", "reverse": { "delay": "10 ms" },
                    "interruption": { "every": "5 s", "lasting": "200 ms" } }"#;
    serde_json::from_str(json).expect("a path")
}

fn trace(forward: Flow) -> Trace {
    let client: SocketAddr = "10.0.0.1:40000".parse().unwrap();
    let server: SocketAddr = "10.0.0.2:5000".parse().unwrap();
    let last = forward.acks.last().map_or(Instant::ZERO, |a| a.at);
    Trace {
        epoch_nanos: 0,
        packets: (forward.segments.len() + forward.acks.len()) as u64,
        connections: vec![Connection { last, forward, ..Connection::between(client, server) }],
        ..Trace::default()
    }
}

fn row(number: usize, episode: &Episode) -> EpisodeRow {
    let timed = episode.timeouts > 0;
    EpisodeRow {
        number,
        kind: episode.kind.name().into(),
        evidence: if timed { "timeout" } else { "sack" }.into(),
        start_s: episode.evidence_at.as_secs_f64(),
        duration_s: episode.duration(Instant::MAX).as_secs_f64(),
        silence_s: episode.silence.map(Span::as_secs_f64),
        lost_segments: episode.lost.len(),
        retransmissions: episode.retransmissions,
        retransmitted_bytes: episode.retransmitted.as_u64(),
        timeouts: episode.timeouts,
        repaired: episode.repaired_at.is_some(),
        truth_lost: Some(episode.lost.len()),
        not_lost: 0,
        not_found: 0,
        interruption: Some(number as u64),
        story: format!(
            "{} segments were lost in a row. {}",
            episode.lost.len(),
            if timed {
                "The window ran out, the sender fell silent, and the retransmission timer sent first."
            } else {
                "Data still flowed when the path came back, so SACK reported the hole at once."
            }
        ),
    }
}

fn summaries(trials: &[Trial]) -> Vec<Summary> {
    let Some(first) = trials.first() else { return vec![] };
    first
        .metrics
        .iter()
        .map(|metric| {
            let of = |trial: &Trial| trial.metrics.value_named(metric.name);
            let values: Vec<f64> = trials.iter().filter_map(of).collect();
            let count = values.len();
            let mean = values.iter().sum::<f64>() / count as f64;
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            let deviation = (count > 1).then(|| (squares / (count as f64 - 1.0)).sqrt());
            // Student's t for four degrees of freedom; the page only shows the number.
            let half = deviation.map(|sd| 2.776 * sd / (count as f64).sqrt());
            Summary {
                name: metric.name.into(),
                unit: metric.unit.into(),
                count,
                mean,
                median: None,
                median_interval: None,
                standard_deviation: deviation,
                interval: half.map(|half| (mean - half, mean + half)),
            }
        })
        .collect()
}
