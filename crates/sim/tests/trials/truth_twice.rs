//! The model knows why it sent each segment; the analyser, given only the capture beside the
//! sender, must find the same.

use std::collections::BTreeMap;

use tcplab_path::Direction;
use tcplab_recording::Endpoint;
use tcplab_trace::{Flow, Segment, SegmentKind, Timer, analyze};

use crate::trial;

/// What the analyser has to call a segment that the model sent for this reason, and the timer that
/// it has to name.
fn agrees(because: &str, segment: &Segment) -> bool {
    let (kinds, timer): (&[SegmentKind], _) = match because {
        "handshake" | "new" | "limited-transmit" => (&[SegmentKind::New], None),
        "fast-retransmit" | "rack" => (&[SegmentKind::FastRetransmission], None),
        "timeout" | "handshake-again" => {
            (&[SegmentKind::TimeoutRetransmission], Some(Timer::Retransmission))
        }
        "after-timeout" => (&[SegmentKind::AfterTimeoutRetransmission], None),
        // RFC 8985 section 7.3: new data if there is any, or else the newest again.
        "tail-loss-probe" => {
            (&[SegmentKind::New, SegmentKind::TimeoutRetransmission], Some(Timer::Probe))
        }
        other => panic!("data is not sent as {other}"),
    };
    kinds.contains(&segment.kind) && segment.timer == timer
}

/// The paths, each with what spoils it.
const PATHS: &[(&str, &str)] = &[
    ("loss", "loss = \"1 %\""),
    ("heavy loss", "loss = \"5 %\""),
    ("bursts", "loss = { gilbert_elliott = { p = \"0.5 %\", r = \"60 %\" } }"),
    (
        "interruptions",
        "interruption = { every = \"1 s\", lasting = \"200 ms\", offset = \"300 ms\" }",
    ),
    ("lost acks", "[path.WAY]\nloss = \"20 %\""),
    ("reordering", "jitter = { uniform = \"4 ms\", reorder = true }"),
];

/// The senders: profile and congestion control.
const SENDERS: &[(&str, &str)] = &[
    ("linux-6.18", "reno"),
    ("linux-6.18", "cubic"),
    ("linux-6.18", "westwood"),
    ("linux-6.18", "bbr"),
    ("linux-6.12", "cubic"),
    ("windows-7", "reno"),
    ("windows-7-compound", "compound"),
    ("osx-10.7", "newreno"),
    ("netburner", "reno"),
    ("haiku-2017-before", "old-haiku"),
    ("haiku-2017-middle", "newreno"),
    ("haiku-2017-after", "newreno"),
];

#[test]
fn causes_are_found_again() {
    let mut segments = 0;
    let mut table: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for (stack, control) in SENDERS {
        for (name, path) in PATHS {
            for (way, sender, receiver) in
                [("upload", "client", "server"), ("download", "server", "client")]
            {
                for seed in 1..=2 {
                    let acks = if way == "upload" { "reverse" } else { "forward" };
                    let text = format!(
                        "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"40 packets\"\n{}\n\
                         [workload]\n{way} = \"500 kB\"\n[{sender}]\nstack = \"model:{stack}\"\n\
                         socket = {{ congestion = \"{control}\" }}\n[{receiver}]\n",
                        path.replace("WAY", acks)
                    );
                    let place = tempfile::tempdir().unwrap();
                    let recording = trial(&text, seed, place.path());
                    let (end, direction) = match way {
                        "upload" => (Endpoint::Client, Direction::Forward),
                        _ => (Endpoint::Server, Direction::Reverse),
                    };
                    let (file, _) = recording.capture(end).unwrap();
                    let trace = analyze(tcplab_capture::open(file).unwrap());
                    let connection = &trace.connections[0];
                    let flow: &Flow =
                        if way == "upload" { &connection.forward } else { &connection.reverse };
                    let because: BTreeMap<u64, String> = recording
                        .truth()
                        .unwrap()
                        .into_iter()
                        .filter(|row| row.verdict.direction == direction)
                        .filter_map(|row| Some((row.frame?, row.because?.into_owned())))
                        .collect();
                    for segment in &flow.segments {
                        segments += 1;
                        let because = &because[&segment.frame];
                        if !agrees(because, segment) {
                            let key = (
                                format!("{stack} {control}"),
                                because.clone(),
                                format!("{:?}", segment.kind),
                            );
                            table
                                .entry(key)
                                .or_default()
                                .push(format!("{name} {way} {seed} #{}", segment.frame));
                        }
                    }
                }
            }
        }
    }
    println!("{segments} segments");
    for ((stack, because, found), places) in &table {
        println!(
            "{:>5} {stack:28} {because:20} {found:28} {:?}",
            places.len(),
            &places[..places.len().min(4)]
        );
    }
    assert!(table.is_empty());
}
