//! What a connection's findings say does not depend on whether its packets are kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::home::Home;

/// The captures of the corpus.
fn corpus() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let folders = ["groundtruth", "limits"].map(|name| fs::read_dir(corpus.join(name)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|it| it == "zst")).collect()
}

/// A finding of a connection as text: all that it says. Where the longest period under a limit is
/// kept, it is the evidence; the frames of these two rules are sums.
fn stated(connection: &Value, finding: &Value) -> String {
    let rule = finding["rule"].as_str().unwrap();
    let mut keys = vec!["rule", "severity", "cost_ns", "cost_bytes", "statement", "remedy"];
    if ["spurious-retransmissions", "timeout-backoff"].contains(&rule) {
        keys.extend(["frames", "at_ns"]);
    }
    keys.iter().fold(connection.to_string(), |text, key| format!("{text} {}", finding[key]))
}

/// In an order of their own.
fn sorted(stated: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = stated.collect();
    all.sort();
    all
}

#[test]
fn findings_agree_in_json_and_json_lines() {
    let home = Home::new();
    let files = corpus();
    assert!(files.len() >= 18, "{files:?}");
    let mut seen = Vec::new();
    for file in files {
        let whole = home.json(&format!("trace {} --json", file.display()));
        let of_whole = whole["connections"].as_array().unwrap().iter().flat_map(|connection| {
            let findings = connection["findings"].as_array().unwrap().iter();
            // JSON Lines have an object for each episode.
            let findings = findings.filter(|finding| finding["rule"] != "recovery-episode");
            findings.map(|finding| stated(&connection["connection"], finding))
        });
        let lines = home.answer(&format!("trace {} --jsonl", file.display()));
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let findings = lines.filter(|line| line["type"] == "finding");
        let of_lines = findings.map(|finding| stated(&finding["connection"], &finding));
        let (of_whole, of_lines) = (sorted(of_whole), sorted(of_lines));
        assert_eq!(of_whole, of_lines, "{}", file.display());
        seen.extend(of_lines);
    }
    for rule in ["spurious-retransmissions", "timeout-backoff"] {
        let count = seen.iter().filter(|finding| finding.contains(rule)).count();
        assert!(count > 1, "{rule}: {count}");
    }
}

/// The model knows which end has the fault; a capture at either end shows it.
#[test]
fn byte_order_of_timestamps_is_found_in_captures_of_the_scenario() {
    let home = Home::new();
    let cases = ["misread", "written", "repaired"].map(|it| format!("delay-200_{it}"));
    let chosen: Vec<String> = cases.iter().map(|case| format!("--case {case}")).collect();
    let line = "run haiku-tcp/timestamps --world sim --kernel model --trials 1 --runs runs";
    home.answer(&format!("{line} {}", chosen.join(" ")));
    let run = home.only(home.only("runs"));
    for (case, expected) in
        cases.iter().zip([Some("timestamps-misread"), Some("timestamps-reversed"), None])
    {
        for end in ["client", "server"] {
            let capture = run.join(format!("trials/{case}-1/{end}.pcapng"));
            let trace = home.json(&format!("trace {} --json", capture.display()));
            let findings = trace["connections"][0]["findings"].as_array().unwrap().iter();
            let rules = findings.filter_map(|finding| finding["rule"].as_str());
            let named: Vec<&str> = rules.filter(|rule| rule.starts_with("timestamps-")).collect();
            assert_eq!(named, Vec::from_iter(expected), "{case}, {end}");
        }
    }
}
