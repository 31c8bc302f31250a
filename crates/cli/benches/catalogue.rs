//! `make catalogue`: runs scenarios of the catalogue many times, on the kernel and in virtual time.
//! Prints for each claim the trials in which it passed in either world, with the values. Choose
//! scenarios by prefixes of their names; `--trials N` overrides ten.

#![expect(clippy::print_stdout, reason = "a table for whoever runs it")]

use std::process::{Command, ExitCode, Stdio};

use tcplab_results::{Claim, Run};

/// Each claim must pass in this many trials.
const TRIALS: u32 = 10;

fn main() -> ExitCode {
    let (names, trials) = asked();
    if names.is_empty() {
        println!("no scenario is named: see `make catalogue`");
        return ExitCode::SUCCESS;
    }
    let begins = |name: &str| names.iter().any(|asked| name.starts_with(asked.as_str()));
    let mut broken = 0;
    for (name, _) in tcplab_scenario::catalogue().iter().filter(|(name, _)| begins(name)) {
        // `auto` is the kernel, except for cases about a model.
        let worlds = [("kernel", "auto"), ("virtual", "sim")];
        let runs = worlds.map(|(column, world)| (column, run(name, world, trials)));
        println!("{name}, {trials} trials");
        for (column, outcome) in &runs {
            match outcome {
                Ok(run) if *column == "kernel" && run.world.is_simulated() => {
                    println!("  kernel: not this machine's, but its model, in virtual time");
                }
                Ok(_) => {}
                Err(why) => {
                    broken += 1;
                    println!("  {column}: {why}");
                }
            }
        }
        broken += table(&runs);
        println!();
    }
    println!("{}", if broken == 0 { "every claim held in every trial" } else { "not all held" });
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The chosen scenarios and the number of trials.
fn asked() -> (Vec<String>, u32) {
    let (mut names, mut trials) = (Vec::new(), TRIALS);
    // Cargo says `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        if word == "--trials" {
            let number = words.next().and_then(|number| number.parse().ok());
            trials = number.expect("--trials needs a number");
        } else {
            names.push(word);
        }
    }
    (names, trials)
}

/// Runs a scenario without keeping its recordings, which would be gigabytes.
fn run(name: &str, world: &str, trials: u32) -> Result<Run, String> {
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target");
    let place = tempfile::tempdir_in(target).map_err(|error| error.to_string())?;
    let ended = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["run", name, "--json", "--world", world, "--trials", &trials.to_string()])
        .arg("--runs")
        .arg(place.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| error.to_string())?;
    // With failed claims it exits with 1 and prints JSON too.
    serde_json::from_slice(&ended.stdout).map_err(|_| {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let last: Vec<&str> = stderr.lines().rev().take(3).collect();
        format!("no run: {}", last.into_iter().rev().collect::<Vec<_>>().join(" "))
    })
}

/// By claim; returns the number of failed ones.
fn table(runs: &[(&str, Result<Run, String>); 2]) -> usize {
    let claims = runs.each_ref().map(|(_, run)| run.as_ref().map_or(&[][..], |run| &run.claims));
    let mut broken = 0;
    for nth in 0..claims[0].len().max(claims[1].len()) {
        let both: Vec<(&str, &Claim)> = runs
            .iter()
            .zip(claims)
            .filter_map(|((column, _), claims)| Some((*column, claims.get(nth)?)))
            .collect();
        let is_held = both.iter().all(|(_, claim)| claim.held);
        broken += usize::from(!is_held);
        let Some((_, first)) = both.first() else { continue };
        println!("  {} {}", if is_held { '✓' } else { '✗' }, first.claim);
        println!("      {}", first.check);
        for (column, Claim { held, held_alone, trials, found, .. }) in both {
            let sign = if *held { '✓' } else { '✗' };
            println!("      {sign} {column:<7} {held_alone} of {trials}  {found}");
        }
    }
    broken
}
