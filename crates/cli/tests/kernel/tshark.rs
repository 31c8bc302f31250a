//! tshark and tcplab's analyser agree on tcplab's captures.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use tcplab_recording::capture_file;

use tcplab_trace::Trace;
use tcplab_units::Endpoint;

use crate::experiment::Recorded;
use crate::home::skipped;

/// One frame, relative to the initial sequence numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Frame {
    seq: Option<u64>,
    payload: u64,
    ack: Option<u64>,
    /// In the order of their left edges.
    sack: Vec<(u64, u64)>,
    comment: Option<String>,
}

/// Both captures of a trial.
pub(crate) fn agrees(trial: &Recorded<'_>) {
    for end in Endpoint::BOTH {
        let name = format!("{}, {}'s capture", trial.name(), end.name());
        let Some(theirs) = frames_by_tshark(&name, &trial.directory.join(capture_file(end))) else {
            return;
        };
        let (_, file) = trial.recording.capture(end).unwrap();
        let ours = tcplab_trace::analyze(tcplab_capture::Reader::new(file).unwrap());
        assert_eq!(theirs.len() as u64, ours.packets, "{name}: frames");
        for (number, ours) in frames_of(&ours) {
            let mut theirs = theirs[&number].clone();
            // Our trace has sequence numbers only of packets with data, SYN or FIN.
            theirs.seq = ours.seq.and(theirs.seq);
            assert_eq!(ours, theirs, "{name}: frame {number}, ours and theirs");
        }
    }
}

/// The number of frames by tshark; `None` if it is not installed.
pub(crate) fn frames(capture: &Path) -> Option<usize> {
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-T", "fields", "-e", "frame.number", "-r"]);
    match tshark.arg(capture).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped("tshark is not installed, so a capture was not shown to it");
            None
        }
        ran => {
            let output = ran.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap().lines().count())
        }
    }
}

/// Every frame by our trace.
fn frames_of(trace: &Trace) -> BTreeMap<u64, Frame> {
    let mut frames: BTreeMap<u64, Frame> = BTreeMap::new();
    for connection in &trace.connections {
        for flow in [&connection.forward, &connection.reverse] {
            for segment in &flow.segments {
                let frame = frames.entry(segment.frame).or_default();
                frame.seq = Some(segment.range.start.as_u64());
                frame.payload = segment.payload.as_u64();
                frame.comment.clone_from(&segment.comment);
            }
            for ack in &flow.acks {
                let frame = frames.entry(ack.frame).or_default();
                frame.ack = Some(ack.ack.as_u64());
                let blocks = ack.sack.iter().chain(&ack.dsack);
                frame.sack = blocks.map(|b| (b.start.as_u64(), b.end.as_u64())).collect();
                frame.sack.sort_unstable();
                frame.comment.clone_from(&ack.comment);
            }
        }
    }
    frames
}

/// Every frame by tshark, which also verifies the checksums; `None` if it is not installed.
fn frames_by_tshark(name: &str, capture: &Path) -> Option<BTreeMap<u64, Frame>> {
    const FIELDS: [&str; 10] = [
        "frame.number",
        "ip.checksum.status",
        "tcp.checksum.status",
        "tcp.seq",
        "tcp.len",
        "tcp.flags.ack",
        "tcp.ack",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "frame.comment",
    ];
    let ran = Command::new("tshark")
        .args(["-n", "-T", "fields", "-E", "separator=;", "-E", "aggregator=,"])
        .args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"])
        .args(FIELDS.iter().flat_map(|field| ["-e", field]))
        .arg("-r")
        .arg(capture)
        .env("LC_ALL", "C.UTF-8")
        .output();
    let output = match ran {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped("tshark is not installed, so our captures were not shown to it");
            return None;
        }
        ran => ran.unwrap(),
    };
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| read(name, line)).collect())
}

fn read(name: &str, line: &str) -> (u64, Frame) {
    const GOOD: &str = "1";
    let fields: Vec<&str> = line.splitn(10, ';').collect();
    let [number, ip, tcp, seq, len, has_ack, ack, left, right, comment] = fields[..] else {
        panic!("{name}: tshark says `{line}`");
    };
    assert_eq!((ip, tcp), (GOOD, GOOD), "{name}: checksums of frame {number}");
    let edges = |list: &str| -> Vec<u64> {
        list.split(',').filter(|edge| !edge.is_empty()).map(|edge| edge.parse().unwrap()).collect()
    };
    let mut sack: Vec<(u64, u64)> = edges(left).into_iter().zip(edges(right)).collect();
    sack.sort_unstable();
    let frame = Frame {
        seq: Some(seq.parse().unwrap()),
        payload: len.parse().unwrap(),
        ack: matches!(has_ack, "1" | "True").then(|| ack.parse().unwrap()),
        sack,
        comment: (!comment.is_empty()).then(|| comment.to_owned()),
    };
    (number.parse().unwrap(), frame)
}
