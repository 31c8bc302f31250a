//! The verdicts of a recording's path, from the path to the picture.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use tcplab_lab::load_recording;
use tcplab_path::{Cause, Fate};
use tcplab_plot::{View, time_sequence};
use tcplab_recording::Recording;
use tcplab_units::Instant;

/// A wireless link that gives frames up, and drops nothing else.
const WIRELESS: &str = r#"title = "Wireless"

[path]
delay = "5 ms"
wifi = { standard = "g", rate = "54 Mbit/s", error = "40 %" }
queue = "1000 packets"

[workload]
upload = "2 MB"

[repeat]
trials = 1
"#;

#[test]
fn a_frame_given_up_by_a_wireless_link_is_drawn_as_lost() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("wireless.toml"), WIRELESS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(["run", "wireless.toml", "--world", "sim"]);
    let ran = command.current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let run = fs::read_dir(home.path().join("runs/wireless")).unwrap().next().unwrap().unwrap();
    let trial = fs::read_dir(run.path().join("trials")).unwrap().next().unwrap().unwrap();
    let recording = Recording::open(&trial.path()).unwrap();
    let data = load_recording(&recording).unwrap();
    let flow = &data.client.connections[0].forward;
    let is_given_up = |fate| matches!(fate, Fate::Dropped(Cause::RetriesExhausted { .. }));
    let rows = recording.truth().unwrap();
    let given_up: BTreeSet<u64> = rows
        .iter()
        .filter(|row| is_given_up(row.verdict.fate))
        .filter_map(|row| row.frame)
        .collect();
    let lost: Vec<_> = flow.segments.iter().filter(|segment| segment.dropped).collect();
    assert!(!lost.is_empty(), "the link gave nothing up");
    assert!(lost.iter().all(|segment| given_up.contains(&segment.frame)));
    // What Wireshark shows of them does not decide.
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
