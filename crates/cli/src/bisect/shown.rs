//! What a bisection came to, as text.

use std::path::Path;

use tcplab_kernels::CommitBuilds;
use tcplab_lab::bisect::{BisectOutcome, BisectRecord, BisectStep, Bisection, Commit, StepVerdict};
use tcplab_lab::in_words;
use tcplab_path::tc::{quoted, quoted_path};
use tcplab_results::Claim;
use tcplab_units::visible_line;

use super::progress::figures;
use crate::output::counted;

/// Up to this many commits and files are listed.
const LISTED: usize = 20;

pub(super) fn outcome(bisection: &Bisection, outcome: &BisectOutcome) -> String {
    let mut text = match outcome.commits.as_slice() {
        [found] => one(bisection, outcome, found),
        several => candidates(bisection, several),
    };
    let (before, after) = (&bisection.steps[outcome.before], &bisection.steps[outcome.after]);
    text += &changed(bisection, before, after);
    text += &packets(before, after);
    text += &effort(bisection);
    text
}

fn one(bisection: &Bisection, outcome: &BisectOutcome, found: &Commit) -> String {
    let which = if bisection.is_repair { "good" } else { "bad" };
    let mut text = format!("The first {which} commit is {}.\n\n", found.short());
    let row = |name: &str, value: &str| format!("  {name:8} {}\n", visible_line(value));
    text += &row("commit", &found.hash);
    text += &row("author", &found.author);
    text += &row("date", &found.date);
    text += &row("subject", &found.subject);
    for (index, file) in ordered(&outcome.files).into_iter().take(LISTED).enumerate() {
        text += &row(if index == 0 { "files" } else { "" }, file);
    }
    if outcome.files.len() > LISTED {
        text += &row("", &format!("and {} more", outcome.files.len() - LISTED));
    }
    text
}

/// Files of the network first.
fn ordered(files: &[String]) -> Vec<&str> {
    let is_net =
        |file: &str| ["net/", "include/net/"].iter().any(|folder| file.starts_with(folder));
    let (net, others): (Vec<&str>, Vec<&str>) =
        files.iter().map(String::as_str).partition(|file| is_net(file));
    net.into_iter().chain(others).collect()
}

fn candidates(bisection: &Bisection, commits: &[Commit]) -> String {
    let which = if bisection.is_repair { "good" } else { "bad" };
    let count = counted(commits.len() as u64, "commit");
    let mut text = format!(
        "The first {which} commit is one of {count}; some could not be tested. The same command \
         tests them again.\n\n"
    );
    for commit in commits.iter().take(LISTED) {
        text += &format!("  {}\n", commit.in_words());
        let step = bisection.steps.iter().find(|step| step.commit.hash == commit.hash);
        if let Some(reason) = step.and_then(|step| step.reason.as_ref()) {
            text += &format!("    skipped: {}\n", visible_line(&in_a_line(reason)));
        }
    }
    if commits.len() > LISTED {
        text += &format!("  and {} more\n", commits.len() - LISTED);
    }
    text
}

/// The beginning of a reason, with the compiler's first error if it has one.
fn in_a_line(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    match (reason.lines().find(|line| line.contains("error:")), first.split_once(": ")) {
        (Some(error), Some((what, _))) if error != first => format!("{what}: {}", error.trim()),
        _ => first.to_owned(),
    }
}

/// What is said after Ctrl-C.
pub(super) fn stopped(record: &BisectRecord) -> String {
    let steps = record.bisection.steps.iter().filter(|step| step.verdict.is_some()).count();
    format!(
        "stopped; {} tested. Continue with the same command.\nTo give up: tcplab kernel remove {}; \
         rm -r {}",
        counted(steps as u64, "commit"),
        CommitBuilds::shared_name(),
        quoted_path(record.path())
    )
}

/// The claims that changed, before and after.
fn changed(bisection: &Bisection, before: &BisectStep, after: &BisectStep) -> String {
    let mut text = String::new();
    for name in &bisection.claims {
        let of = |step: &BisectStep| -> Option<Claim> {
            step.claims.iter().find(|claim| claim.claim == *name).cloned()
        };
        let (Some(old), Some(new)) = (of(before), of(after)) else { continue };
        if old.outcome() != new.outcome() {
            text += &format!("\n  before   {}\n  after    {}\n", figures(&old), figures(&new));
        }
    }
    text
}

/// How to see the difference in the packets.
fn packets(before: &BisectStep, after: &BisectStep) -> String {
    let (Some(old), Some(new)) = (&before.run, &after.run) else { return String::new() };
    let runs = [old, new].map(|run| quoted(run)).join(" ");
    let mut text = format!("\nCompare all metrics:\n  tcplab compare {runs}\n");
    if let Some(trial) = trial_of_both(Path::new(old), Path::new(new)) {
        let capture = |run: &String| quoted(&format!("{run}/trials/{trial}/client.pcapng"));
        let captures = [old, new].map(capture).join(" ");
        text += &format!("Compare packets:\n  tcplab compare {captures}\n");
    }
    text
}

/// The first trial whose packets both runs have.
fn trial_of_both(old: &Path, new: &Path) -> Option<String> {
    let trials = |run: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(run.join("trials")).into_iter().flatten().flatten();
        let kept = entries.filter(|entry| entry.path().join("client.pcapng").is_file());
        kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let (mut ours, theirs) = (trials(old), trials(new));
    ours.sort();
    ours.into_iter().find(|trial| theirs.contains(trial))
}

fn effort(bisection: &Bisection) -> String {
    let steps = &bisection.steps;
    let skipped = steps.iter().filter(|step| step.verdict == Some(StepVerdict::Skipped)).count();
    let built = steps.iter().filter(|step| step.is_built).count();
    let build: f64 = steps.iter().map(|step| step.build_s).sum();
    let trials: f64 = steps.iter().map(|step| step.trials_s).sum();
    format!(
        "\n{} tested, {skipped} of them skipped; {} in {}, trials in {}.\n",
        counted(steps.len() as u64, "commit"),
        counted(built as u64, "build"),
        in_words(build),
        in_words(trials)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_of_a_skip_is_the_first_error() {
        let error = "net/ipv4/tcp.c:7:1: error: expected ';'";
        let said = format!("compiling failed: In file included from a.c:\n  {error}\n  make: ***");
        assert_eq!(in_a_line(&said), format!("compiling failed: {error}"));
        let plain = format!("compiling failed: {error}\n  make: ***");
        assert_eq!(in_a_line(&plain), format!("compiling failed: {error}"));
        assert_eq!(in_a_line("Kbuild is missing"), "Kbuild is missing");
    }
}
