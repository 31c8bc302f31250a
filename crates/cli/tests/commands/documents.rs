//! The pages of the founding documents say what models give now.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::home::Home;

/// Scenarios that take longer than all others together: `make documents` measures them. A test runs
/// their first trials.
const LONG: [&str; 14] = [
    "haiku-tcp/jitter",
    "haiku-tcp/loss",
    "haiku-tcp/patches-receiving",
    "haiku-tcp/patches-sending",
    "haiku-tcp/receives",
    "haiku-tcp/sends",
    "socket-options/small-buffers",
    "socket-options/wireless",
    "throughput-vs-response/bulk-beside-dialogue",
    "throughput-vs-response/linux-buffers",
    "throughput-vs-response/out-of-order",
    "throughput-vs-response/receives",
    "throughput-vs-response/round-trip",
    "throughput-vs-response/sends",
];

/// Their definitions are the same, so it must be told which.
const MEASURE: &str = "cargo xtask documents SCENARIO …";

/// By claim, what was found, and whether it held.
type Claims = BTreeMap<String, (String, bool)>;

#[test]
fn every_claim_of_the_pages_holds() {
    let claims = |(scenario, measured): (String, Value)| {
        let claims = measured["claims"].as_object().unwrap().clone();
        let lost = claims.into_iter().filter(|(_, it)| it["held"] != true);
        lost.map(move |(claim, _)| format!("{scenario}: {claim}")).collect::<Vec<_>>()
    };
    let lost: Vec<String> = figures().into_iter().flat_map(claims).collect();
    assert!(lost.is_empty(), "who runs them is told that they failed:\n{}", lost.join("\n"));
}

#[test]
fn claims_about_a_kernel_in_virtual_time_hold_for_models_too() {
    let others = ["models", "kernel"];
    let figures = figures();
    let of_kernels = figures.iter().filter(|(_, it)| !others.iter().any(|at| it["world"] == *at));
    let mut scenarios = of_kernels.map(|(scenario, _)| scenario).peekable();
    assert!(scenarios.peek().is_some());
    for scenario in scenarios {
        let (run, printed) = run(scenario, "");
        let lost: Vec<_> = claims(&run).into_iter().filter(|(_, (_, held))| !held).collect();
        assert!(lost.is_empty(), "{scenario}: {lost:?}");
        if scenario == "interruption" {
            assert_readme_has_the_models(&printed);
        }
    }
}

/// README shows the table of recovery episodes, with rows of a kernel that differ each time.
fn assert_readme_has_the_models(printed: &str) {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, table) = printed.split_once("\nrecovery episodes").expect("a table of episodes");
    let models = ["reno ", "cubic ", "westwood ", "windows-7 ", "osx-10.7 "];
    for model in models {
        let row = table.lines().find(|it| it.starts_with(model)).expect("a row of the model");
        assert!(readme.lines().any(|it| it == row), "README lacks\n{row}");
    }
}

#[test]
fn figures_of_models_are_those_of_the_pages() {
    let figures = figures();
    assert!(LONG.iter().all(|it| figures.contains_key(*it)));
    let of_models = figures.iter().filter(|(_, it)| it["world"] == "models");
    let wrong: Vec<String> = of_models
        .filter(|(scenario, _)| !LONG.contains(&scenario.as_str()))
        .flat_map(|(scenario, measured)| differences(scenario, measured))
        .collect();
    assert!(wrong.is_empty(), "{}\nif this is right: {MEASURE}", wrong.join("\n"));
}

#[test]
fn first_trials_of_haiku_are_those_of_the_pages() {
    assert_first_trials(|scenario| scenario.starts_with("haiku-tcp/"));
}

#[test]
fn first_trials_of_other_long_scenarios_are_those_of_the_pages() {
    assert_first_trials(|scenario| !scenario.starts_with("haiku-tcp/"));
}

/// The first trials of long scenarios give what they gave when their figures were measured.
fn assert_first_trials(is_asked: impl Fn(&str) -> bool) {
    let figures = figures();
    let wrong: Vec<String> = LONG
        .into_iter()
        .filter(|scenario| is_asked(scenario))
        .filter_map(|scenario| {
            let found = first_trials(&run(scenario, "--trial 1").0);
            let page = &figures[scenario]["first_trials"];
            (*page != found).then(|| format!("{scenario}: {found}, page: {page}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}\nif this is right: {MEASURE}", wrong.join("\n"));
}

/// The figures of the pages, by scenario.
fn figures() -> BTreeMap<String, Value> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/documents/figures.json");
    serde_json::from_str(&fs::read_to_string(place).unwrap()).unwrap()
}

/// What a run of a scenario gives that is not on the page.
fn differences(scenario: &str, measured: &Value) -> Vec<String> {
    let claim = |(claim, it): (&String, &Value)| (claim.clone(), outcome(it));
    let mut page: Claims = measured["claims"].as_object().unwrap().iter().map(claim).collect();
    let (run, _) = run(scenario, "");
    let mut found = claims(&run);
    // Figures of texts come from the same packets.
    let times = measured["first_trials"].as_str().unwrap();
    page.insert("first_trials".into(), (times.into(), true));
    found.insert("first_trials".into(), (first_trials(&run), true));
    let of = |claims: &Claims, claim: &str| format!("{:?}", claims.get(claim));
    let all = page.keys().chain(found.keys().filter(|it| !page.contains_key(*it)));
    all.filter(|claim| page.get(*claim) != found.get(*claim))
        .map(|it| format!("{scenario}: {it}: {}, page: {}", of(&found, it), of(&page, it)))
        .collect()
}

/// What a run of a scenario writes, and what it prints.
fn run(scenario: &str, options: &str) -> (Value, String) {
    let home = Home::new();
    let line = format!("run {scenario} --world sim --kernel model --jobs 1 {options}");
    let ended = home.run(line.trim_end());
    // A claim that does not hold is a figure, too.
    assert!(matches!(ended.code, Some(0 | 1)), "{scenario}: {}", ended.stderr);
    let runs = home.only("runs");
    let written = home.text(home.only(runs).join("run.json"));
    (serde_json::from_str(&written).unwrap(), ended.stdout)
}

fn claims(run: &Value) -> Claims {
    let judged = run["claims"].as_array().unwrap().iter().filter(|it| it["is_judged"] == true);
    judged.map(|it| (it["claim"].as_str().unwrap().into(), outcome(it))).collect()
}

/// Sums over the first trials of all cases, as `cargo xtask documents` takes them.
fn first_trials(run: &Value) -> String {
    let sum = |metric: &str| -> f64 {
        let trials = run["cases"].as_array().unwrap().iter().map(|case| &case["trials"][0]);
        let values = trials.filter(|it| it["number"] == 1).filter_map(|trial| {
            let mut metrics = trial["metrics"].as_array().unwrap().iter();
            metrics.find(|it| it["name"] == metric)?["value"].as_f64()
        });
        // The sum of nothing is -0.
        values.sum::<f64>() + 0.0
    };
    let [time, delay, retransmissions] =
        ["transfer_time", "buffer_delay", "retransmissions"].map(sum);
    format!("{time:.6} s, buffer delay {delay:.3} %, {retransmissions} retransmissions")
}

fn outcome(claim: &Value) -> (String, bool) {
    (claim["found"].as_str().unwrap().into(), claim["held"].as_bool().unwrap())
}
