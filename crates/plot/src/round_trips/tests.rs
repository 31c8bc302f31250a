//! Samples against what the rules say, and against tshark.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use tcplab_capture::{Reader, Source};
use tcplab_trace::{Ack, Flow, Segment, SegmentKind, analyze};
use tcplab_units::{Instant, Span};

use super::*;
use crate::tests::{ack, segment};

/// An ACK: its time (ms), its number, and the SACKed segments.
type Answer<'a> = (u64, u64, &'a [(u64, u64)]);

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// Segments by time (ms) and number, and ACKs.
fn flow(sent: &[(u64, u64)], answers: &[Answer<'_>]) -> Flow {
    let mut flow = Flow::default();
    for (at, n) in sent {
        let sent = segment(ms(*at), *n, SegmentKind::New, false);
        flow.segments.push(Segment { frame: 10 * at, ..sent });
    }
    for (at, n, blocks) in answers {
        flow.acks.push(Ack { frame: 10 * at + 1, ..ack(ms(*at), *n, blocks) });
    }
    flow
}

/// Time of the ACK and span, in ms, with the kind.
fn found(flow: &Flow) -> Vec<(u64, u64, RttKind)> {
    let millis = |nanos: u64| nanos / 1_000_000;
    let trip = |it: &RoundTrip| (millis(it.at.as_nanos()), millis(it.span.as_nanos()), it.kind);
    round_trips(flow).iter().map(trip).collect()
}

#[test]
fn each_sample_is_of_the_kind_that_the_rules_give() {
    // 0 is lost and sent again at 60; 1 and 2 are SACKed, 3 is sent later.
    let sent = [(0, 0), (1, 1), (2, 2), (60, 0), (61, 3)];
    let answers: &[Answer<'_>] =
        &[(21, 0, &[(1, 2)]), (24, 0, &[(1, 3)]), (80, 3, &[]), (83, 4, &[])];
    let expected = [
        (21, 20, RttKind::Sack),
        (24, 22, RttKind::Sack),
        // Of segment 2, which was sent once, but waited for 0.
        (80, 78, RttKind::Repaired),
        (83, 22, RttKind::Once),
    ];
    assert_eq!(found(&flow(&sent, answers)), expected);
    // Karn: of what was sent twice, from the first time.
    let again = flow(&[(0, 0), (50, 0)], &[(70, 1, &[])]);
    assert_eq!(found(&again), [(70, 70, RttKind::Retransmitted)]);
    // A SACK of what was sent twice is ambiguous, too; an ACK of more than was sent is none.
    let twice = flow(&[(0, 0), (1, 1), (50, 1)], &[(55, 0, &[(1, 2)]), (70, 9, &[])]);
    assert_eq!(found(&twice), []);
    // Of several that one block covers, the one sent last.
    let several = flow(&[(0, 0), (1, 1), (2, 2), (3, 3)], &[(20, 0, &[(1, 4)])]);
    assert_eq!(found(&several), [(20, 17, RttKind::Sack)]);
}

fn unpacked(name: &str, place: &Path) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let path = place.join(name);
    let mut packed = Source::open(&packed.join(format!("{name}.pcap.zst"))).unwrap();
    std::io::copy(&mut packed, &mut std::fs::File::create(&path).unwrap()).unwrap();
    path
}

/// `tcp.analysis.ack_rtt` in nanoseconds, by the frame of the ACK; none without tshark.
fn of_tshark(capture: &Path) -> Option<BTreeMap<u64, u64>> {
    let output = Command::new("tshark")
        .args(["-n", "-T", "fields", "-e", "frame.number", "-e", "tcp.analysis.ack_rtt"])
        .args(["-Y", "tcp.analysis.ack_rtt", "-r"])
        .arg(capture)
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("SKIPPED: tshark is not installed, so no samples were compared");
            return None;
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let (frame, seconds) = line.split_once('\t').unwrap();
        let seconds: f64 = seconds.parse().unwrap();
        (frame.parse().unwrap(), (seconds * 1e9).round() as u64)
    };
    Some(String::from_utf8(output.stdout).unwrap().lines().map(line).collect())
}

#[test]
fn samples_by_number_are_those_of_tshark() {
    let place = tempfile::tempdir().unwrap();
    let mut kinds = BTreeMap::new();
    for name in ["loss1_cubic.snd", "nosack_loss1.snd", "nots_loss1.snd", "ackloss30.snd"] {
        let capture = unpacked(name, place.path());
        let Some(theirs) = of_tshark(&capture) else { return };
        let trace = analyze(Reader::open(&capture).unwrap());
        let flows = trace.connections.iter().flat_map(|it| [&it.forward, &it.reverse]);
        let ours: BTreeMap<u64, (u64, RttKind)> = flows
            .flat_map(round_trips)
            .filter(|it| it.kind != RttKind::Sack)
            .map(|it| (it.frame, (it.span.as_nanos(), it.kind)))
            .collect();
        let spans: BTreeMap<u64, u64> = ours.iter().map(|(at, (span, _))| (*at, *span)).collect();
        assert_eq!(spans, theirs, "{name}");
        for (_, kind) in ours.values() {
            *kinds.entry(*kind).or_insert(0) += 1;
        }
    }
    assert!(kinds[&RttKind::Once] > 1_000, "{kinds:?}");
    assert!(kinds[&RttKind::Repaired] > 10 && kinds[&RttKind::Retransmitted] > 10, "{kinds:?}");
}
