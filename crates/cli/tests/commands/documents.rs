//! The pages of the founding documents say what models give now.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::home::Home;

/// Scenarios that take longer than all others together: `make documents` measures them.
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
        let lost: Vec<_> = found(scenario).into_iter().filter(|(_, (_, held))| !held).collect();
        assert!(lost.is_empty(), "{scenario}: {lost:?}");
    }
}

#[test]
fn figures_of_models_are_those_of_the_pages() {
    let figures = figures();
    assert!(LONG.iter().all(|it| figures.contains_key(*it)));
    let of_models = figures.iter().filter(|(_, it)| it["world"] == "models");
    let wrong: Vec<String> = of_models
        .filter(|(scenario, _)| !LONG.contains(&scenario.as_str()))
        .flat_map(|(scenario, measured)| differences(scenario, &measured["claims"]))
        .collect();
    assert!(wrong.is_empty(), "{}\nif this is right: make documents", wrong.join("\n"));
}

/// The figures of the pages, by scenario.
fn figures() -> BTreeMap<String, Value> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/documents/figures.json");
    serde_json::from_str(&fs::read_to_string(place).unwrap()).unwrap()
}

/// What a run of a scenario gives that is not on the page.
fn differences(scenario: &str, page: &Value) -> Vec<String> {
    let claim = |(claim, it): (&String, &Value)| (claim.clone(), outcome(it));
    let page: Claims = page.as_object().unwrap().iter().map(claim).collect();
    let found = found(scenario);
    let of = |claims: &Claims, claim: &str| format!("{:?}", claims.get(claim));
    let all = page.keys().chain(found.keys().filter(|it| !page.contains_key(*it)));
    all.filter(|claim| page.get(*claim) != found.get(*claim))
        .map(|it| format!("{scenario}: {it}: {}, page: {}", of(&found, it), of(&page, it)))
        .collect()
}

fn found(scenario: &str) -> Claims {
    let home = Home::new();
    // A claim that does not hold is a figure, too.
    let ended = home.run(&format!("run {scenario} --world sim --kernel model --jobs 1"));
    assert!(matches!(ended.code, Some(0 | 1)), "{scenario}: {}", ended.stderr);
    let runs = home.only("runs");
    let run: Value = serde_json::from_str(&home.text(home.only(runs).join("run.json"))).unwrap();
    let claims = run["claims"].as_array().unwrap().iter();
    let judged = claims.filter(|it| it["is_judged"] == true);
    judged.map(|it| (it["claim"].as_str().unwrap().into(), outcome(it))).collect()
}

fn outcome(claim: &Value) -> (String, bool) {
    (claim["found"].as_str().unwrap().into(), claim["held"].as_bool().unwrap())
}
