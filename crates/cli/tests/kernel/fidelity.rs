//! `tcplab fidelity` compares model and kernel, and reuses existing trials.

use tcplab_quantities::FIDELITY_DOCUMENT;
use tcplab_results::fidelity::Fidelity;

use crate::home::Home;
use crate::program::{Io, allowed};
use crate::schema::check;

const SCENARIO: &str = r#"
title    = "Compared"
path     = { rate = "10 Mbit/s", delay = "10 ms", queue = "2000 packets" }
workload = { upload = "1 MB" }
client   = { socket.congestion = "reno" }
"#;

#[test]
fn both_worlds_run_and_are_reused() {
    if !allowed(Io::Tun) {
        return;
    }
    let home = Home::with("made.toml", SCENARIO);
    let line = "fidelity made.toml --quick --runs out --io tun";
    let text = home.answer(line);
    let result =
        || -> Fidelity { serde_json::from_slice(&home.bytes("out/fidelity.json")).unwrap() };
    let found = result();
    let document = serde_json::from_slice(&home.bytes("out/fidelity.json")).unwrap();
    check(&FIDELITY_DOCUMENT, &document, "fidelity");
    let [case] = &found.cases[..] else { panic!("{:?}", found.cases) };
    let goodput = case.quantity("goodput").unwrap();
    // The path of 10 Mbit/s less headers, in both worlds.
    for world in [&goodput.kernel, &goodput.model] {
        assert!(world[0] > 1.0 && world[0] < 9.66, "{goodput:?}");
    }
    assert_eq!(case.quantity("retransmissions").unwrap().model, [0.0]);
    assert!(text.contains("made base"), "{text}");
    for name in ["out/fidelity.html", "out/fidelity.csv"] {
        assert!(home.text(name).contains("base"), "{name}");
    }

    let again = home.run(line);
    assert_eq!(again.code, Some(0), "{}{}", again.stdout, again.stderr);
    assert!(again.stderr.contains("exists"), "{}", again.stderr);
    assert_eq!(
        result(),
        found,
        "the kernel's trial is the same one, and the model's gives the same"
    );
}

#[test]
fn model_is_not_compared_with_model() {
    let modelled = SCENARIO.replace("client   = { ", "client   = { stack = \"model:netburner\", ");
    let home = Home::with("made.toml", modelled);
    home.refuses(&[
        ("fidelity made.toml", "case base uses a stack model"),
        ("fidelity made.toml", "try: leave `stack` out of the scenario"),
    ]);
    assert!(!home.refusal("fidelity made.toml").contains("--world"));
}

#[test]
fn nothing_to_compare_is_an_error() {
    if !allowed(Io::Tun) {
        return;
    }
    let home = Home::with("made.toml", format!("{SCENARIO}limits = {{ trial = \"100 ms\" }}\n"));
    let run = home.run("fidelity made.toml --quick --runs out --io tun");
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stdout.contains("! not counted: 1 trial that failed"), "{}", run.stdout);
    assert!(run.stderr.contains("error: no trial came to its end on both sides"), "{}", run.stderr);
    assert!(home.exists("out/fidelity.json"));
}
