//! `tcplab fidelity` compares model and kernel, and reuses existing trials.

use std::fs;

use tcplab_quantities::FIDELITY_DOCUMENT;
use tcplab_results::fidelity::Fidelity;

use crate::program::{Io, allowed, tcplab};
use crate::schema::check;

const SCENARIO: &str = r#"
title = "Compared"
[path]
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "2000 packets"
[workload]
upload = "1 MB"
[client]
socket.congestion = "reno"
"#;

#[test]
fn both_worlds_run_and_are_kept() {
    if !allowed(Io::Tun) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("made.toml"), SCENARIO).unwrap();
    let line = ["fidelity", "made.toml", "--quick", "--runs", "out", "--io", "tun"];
    let ended = tcplab(home.path(), &line);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let text = fs::read(home.path().join("out/fidelity.json")).unwrap();
    let found: Fidelity = serde_json::from_slice(&text).unwrap();
    check(&FIDELITY_DOCUMENT, &serde_json::from_slice(&text).unwrap(), "fidelity");
    let [case] = &found.cases[..] else { panic!("{:?}", found.cases) };
    let goodput = case.quantity("goodput").unwrap();
    // What a path of 10 Mbit/s lets through in any world, headers taken off.
    for world in [&goodput.kernel, &goodput.model] {
        assert!(world[0] > 1.0 && world[0] < 9.66, "{goodput:?}");
    }
    assert_eq!(case.quantity("retransmissions").unwrap().model, [0.0]);
    assert!(ended.stdout.contains("made base"), "{}", ended.stdout);
    for name in ["fidelity.html", "fidelity.csv"] {
        let text = fs::read_to_string(home.path().join("out").join(name)).unwrap();
        assert!(text.contains("base"), "{name}: {text}");
    }

    let again = tcplab(home.path(), &line);
    assert_eq!(again.code, Some(0), "{}{}", again.stdout, again.stderr);
    assert!(again.stderr.contains("exists"), "{}", again.stderr);
    let text = fs::read(home.path().join("out/fidelity.json")).unwrap();
    let now: Fidelity = serde_json::from_slice(&text).unwrap();
    assert_eq!(now, found, "the kernel's trial is the same one, and the model's gives the same");
}

#[test]
fn model_is_not_compared_with_model() {
    let home = tempfile::tempdir().unwrap();
    let modelled = SCENARIO.replace("[client]", "[client]\nstack = \"model:netburner\"");
    fs::write(home.path().join("made.toml"), modelled).unwrap();
    let ended = tcplab(home.path(), &["fidelity", "made.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("case base uses a stack model"), "{}", ended.stderr);
}
