//! A recording's verdicts, from the path to the picture.

use std::collections::BTreeSet;

use tcplab_lab::load_recording;
use tcplab_path::{Cause, Fate};
use tcplab_plot::{View, time_sequence};
use tcplab_recording::Recording;
use tcplab_units::Instant;

use crate::home::Home;

/// A wireless link that drops nothing but the frames whose retries are exhausted.
const WIRELESS: &str = r#"title    = "Wireless"
workload = { upload = "2 MB" }
repeat   = { trials = 1 }

[path]
delay = "5 ms"
wifi = { standard = "g", rate = "54 Mbit/s", error = "40 %" }
queue = "1000 packets"
"#;

#[test]
fn frame_dropped_by_wireless_link_is_drawn_as_lost() {
    let home = Home::with("wireless.toml", WIRELESS);
    home.answer("run wireless.toml --world sim");
    let run = home.only("runs/wireless");
    let trial = home.only(run.join("trials"));
    let recording = Recording::open(&trial).unwrap();
    let data = load_recording(&recording).unwrap();
    let flow = &data.client.connections[0].forward;
    let is_exhausted = |fate| matches!(fate, Fate::Dropped(Cause::RetriesExhausted { .. }));
    let rows = recording.truth().unwrap();
    let exhausted: BTreeSet<u64> = rows
        .iter()
        .filter(|row| is_exhausted(row.verdict.fate))
        .filter_map(|row| row.frame)
        .collect();
    let lost: Vec<_> = flow.segments.iter().filter(|segment| segment.dropped).collect();
    assert!(!lost.is_empty(), "the link dropped nothing");
    assert!(lost.iter().all(|segment| exhausted.contains(&segment.frame)));
    // Wireshark's comments on them do not decide.
    assert!(lost.iter().all(|segment| {
        segment.comment.as_ref().is_some_and(|comment| !comment.contains("drop"))
    }));
    let until = Instant::ZERO + data.duration;
    let view = View { from: Instant::ZERO, until, bands: &[] };
    let figure = time_sequence("", "", flow, &view);
    let key = figure.legend.iter().find(|key| key.class == "drop").expect("losses are drawn");
    assert_eq!(key.label, "lost on the path");
    assert!(figure.svg.contains(&format!("{} marked as dropped", lost.len())));
}

/// Packets of 1500 B that may be cut, and a path that cuts them twice.
const CUTTING: &str = r#"title    = "Cutting"
workload = { upload = "100 kB" }
repeat   = { trials = 1 }

[path]
rate  = "20 Mbit/s"
delay = "10 ms"
forward = { mtu = "1000 B", stages = [{ mtu = "600 B" }] }

[client]
sysctl = { "net.ipv4.ip_no_pmtu_disc" = "1" }
"#;

#[test]
fn recording_of_fragments_is_replayed() {
    for flags in ["", " --snaplen whole"] {
        let home = Home::with("cutting.toml", CUTTING);
        home.answer(&format!("run cutting.toml --world sim{flags}"));
        let trial = home.only(home.only("runs/cutting").join("trials"));
        let rows = Recording::open(&trial).unwrap().truth().unwrap();
        let fragments = rows.iter().filter(|row| row.verdict.origin.is_some()).count();
        assert!(fragments > 100, "{fragments} fragments");
        assert_eq!(
            home.answer(&format!("replay '{}'", trial.display())),
            format!("{} packets, all with equal verdicts in virtual time\n", rows.len())
        );
    }
}

/// A log that was cut off has no word on packets that arrived.
#[test]
fn log_that_is_cut_off_is_not_replayed() {
    let home = Home::with("wireless.toml", WIRELESS);
    home.answer("run wireless.toml --world sim");
    let trial = home.only(home.only("runs/wireless").join("trials"));
    let log = trial.join("path.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    let lines = whole.lines().count();
    for kept in [0, 1, lines / 2] {
        let begin: Vec<&str> = whole.split_inclusive('\n').take(kept).collect();
        std::fs::write(&log, begin.concat()).unwrap();
        let failure = home.refusal(&format!("replay '{}'", trial.display()));
        assert!(failure.contains("(path.jsonl) is not whole"), "{kept}: {failure}");
    }
    std::fs::write(&log, whole).unwrap();
    home.answer(&format!("replay '{}'", trial.display()));
}
