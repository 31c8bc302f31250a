//! `make accuracy`: the analyser beside the reasons of simulated senders and the path's log, at the
//! sender, behind it, before the receiver and at the receiver.
//!
//! With names, only senders and paths whose name contains one of them; `--wrong` lists what is
//! wrong.

#![expect(clippy::print_stdout, reason = "a table for whoever runs it")]

#[path = "../tests/accuracy/cases.rs"]
mod cases;
#[path = "../tests/accuracy/score.rs"]
mod score;
#[path = "../tests/accuracy/truth.rs"]
mod truth;

use std::collections::BTreeMap;
use std::process::ExitCode;

use cases::{PATHS, SENDERS, scenario};
use score::Score;
use truth::Truth;

/// Each case is run with these seeds.
const SEEDS: [u64; 3] = [1, 2, 3];

fn main() -> ExitCode {
    // Cargo says `--bench`.
    let mut names: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let show = names.iter().any(|name| name == "--wrong");
    names.retain(|name| name != "--wrong");
    let wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part));
    println!(
        "sender             tap       path                   again/found invented  causes right unknown  stalls right unknown  ACKs ignored/wrongly, blamed"
    );
    let mut faults = 0;
    let mut sums: BTreeMap<(&str, &str), Score> = BTreeMap::new();
    for sender in SENDERS {
        for path in PATHS {
            let label = format!("{} {}", sender.name, path.name);
            if !wanted(&label) {
                continue;
            }
            for seed in SEEDS {
                let truth = Truth::of(&scenario(sender, path), seed);
                for tap in &truth.taps {
                    let score = Score::of(&truth, tap);
                    if show {
                        for wrong in &score.wrong {
                            println!("  {label}, seed {seed}, {}: {wrong}", tap.name);
                        }
                    }
                    faults += score.faults(sender);
                    sums.entry((sender.name, tap.name)).or_default().add(&score);
                }
            }
        }
    }
    let mut total = Score::default();
    for ((sender, tap), score) in &sums {
        row(sender, tap, score);
        total.add(score);
    }
    row("all", "", &total);
    let (causes, right) = total.causes();
    println!(
        "causes right: {right} of {causes} ({:.2} %, goal 99), never to be said {faults} (goal 0)",
        percent(right, causes)
    );
    if right * 100 >= causes * 99 && faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(sender: &str, tap: &str, score: &Score) {
    println!(
        "{sender:<18} {tap:<9} {:>6}/{:<6} {:>4}   {:>6} {:>6.2} % {:>5}   {:>5} {:>6.2} % {:>5}  {:>12}/{}, {}",
        score.again,
        score.found,
        score.invented,
        score.judged,
        percent(score.right, score.judged),
        score.unknown,
        score.stalls,
        percent(score.stalls_right, score.stalls),
        score.stalls_unknown,
        score.ignored,
        score.accused,
        score.blamed,
    );
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
