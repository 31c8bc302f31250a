//! Which commit to test next.

use super::commit::Commit;
use super::document::{BisectOutcome, BisectStep, Bisection, StepVerdict};
use super::error::BisectError;
use super::record::BisectRecord;
use super::repository::Repository;

/// A commit to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BisectTask {
    /// Its place in the list of steps. The first two are the good and the bad commit.
    pub step: usize,
    /// The commits that may be the one looked for.
    pub commits: usize,
    /// About how many steps are left after this one, the other end not counted.
    pub left: u32,
}

/// Finds the commit. `test` tests the commit of a step and notes its verdict; a step that has one
/// is not tested again. The record is saved after each step.
///
/// # Errors
/// If an end is not as it was said to be, git fails, or `test` fails.
pub fn bisect<E: From<BisectError>>(
    repository: &Repository,
    record: &mut BisectRecord,
    mut test: impl FnMut(&mut BisectRecord, BisectTask) -> Result<(), E>,
) -> Result<BisectOutcome, E> {
    if remaining(repository, record)?.is_empty() {
        return Err(BisectError::NothingToTest { paths: record.bisection.paths.join(", ") }.into());
    }
    for commit in [record.bisection.good.clone(), record.bisection.bad.clone()] {
        let step = step_of(record, commit);
        if record.bisection.steps[step].verdict.is_none() {
            let commits = remaining(repository, record)?.len();
            test(record, task(step, commits))?;
        }
        check_end(record, step)?;
    }
    loop {
        match next(repository, record)? {
            Next::Test(hash, commits) => {
                let step = step_of(record, repository.commit(&hash)?);
                test(record, task(step, commits))?;
                record.save()?;
            }
            Next::Done(outcome) => {
                record.bisection.outcome = Some(outcome.clone());
                record.save()?;
                return Ok(outcome);
            }
        }
    }
}

fn task(step: usize, commits: usize) -> BisectTask {
    let halvings = commits.next_power_of_two().ilog2();
    // After a step that halves the commits one less is left.
    BisectTask { step, commits, left: if step < 2 { halvings } else { halvings.saturating_sub(1) } }
}

/// The place of a commit's step, which is added if there is none.
fn step_of(record: &mut BisectRecord, commit: Commit) -> usize {
    let steps = &mut record.bisection.steps;
    steps.iter().position(|step| step.commit.hash == commit.hash).unwrap_or_else(|| {
        steps.push(BisectStep::of(commit));
        steps.len() - 1
    })
}

/// Saves the step of an end, and refuses one that is not as it was said to be.
fn check_end(record: &mut BisectRecord, place: usize) -> Result<(), BisectError> {
    let step = record.bisection.steps[place].clone();
    let (commit, claims) = (Box::new(step.commit), step.claims);
    let is_good = place == 0;
    match step.verdict {
        Some(StepVerdict::Good) if is_good => record.save(),
        Some(StepVerdict::Bad) if !is_good => record.save(),
        Some(StepVerdict::Bad) => {
            record.save()?;
            Err(BisectError::NotGood { commit, claims })
        }
        Some(StepVerdict::Good) => {
            record.save()?;
            Err(BisectError::NotBad { commit, claims })
        }
        // It is not saved: what hinders it may be gone the next time.
        Some(StepVerdict::Skipped) | None => {
            record.bisection.steps.truncate(place);
            record.save()?;
            let reason = step.reason.unwrap_or_else(|| "it was not tested".into());
            Err(BisectError::Untested { commit, reason })
        }
    }
}

enum Next {
    /// This commit, one of so many.
    Test(String, usize),
    Done(BisectOutcome),
}

/// The commits that may be the one looked for, the one first that halves them best; the newest of
/// them is among them only if it changes one of the paths.
fn remaining(repository: &Repository, record: &BisectRecord) -> Result<Vec<String>, BisectError> {
    let (older, newer) = edges(record);
    repository.by_distance(newer, &older, &record.bisection.paths)
}

/// The commits known to come before the change, and the first one known to have it.
fn edges(record: &BisectRecord) -> (Vec<&str>, &str) {
    let bisection = &record.bisection;
    let hash = |place: usize| bisection.steps[place].commit.hash.as_str();
    let (first, last) = if bisection.is_repair {
        (&bisection.bad, &bisection.good)
    } else {
        (&bisection.good, &bisection.bad)
    };
    let mut older: Vec<&str> = bisection.with_verdict(bisection.before()).map(hash).collect();
    if older.is_empty() {
        older.push(&first.hash);
    }
    // Each step is an ancestor of those with the change before it.
    let newer = bisection.with_verdict(bisection.after()).last().map_or(&*last.hash, hash);
    (older, newer)
}

fn next(repository: &Repository, record: &BisectRecord) -> Result<Next, BisectError> {
    let bisection = &record.bisection;
    let of_paths = remaining(repository, record)?;
    let (older, newer) = edges(record);
    if let Some(hash) = best(bisection, newer, &of_paths) {
        return Ok(Next::Test(hash, of_paths.len()));
    }
    // The commit that is looked for may change none of the paths.
    let all = repository.by_distance(newer, &older, &[])?;
    if let Some(hash) = best(bisection, newer, &all) {
        // Most often it does change one: then its parent tells that it is the one.
        let is_open = |parent: &String| all.contains(parent) && is_untested(bisection, parent);
        let is_found = of_paths.iter().any(|hash| hash == newer);
        let parents = if is_found { repository.parents(newer)? } else { Vec::new() };
        let hash = parents.into_iter().find(is_open).unwrap_or(hash);
        return Ok(Next::Test(hash, all.len()));
    }
    let commits = repository.suspects(newer, &older)?;
    outcome(repository, record, commits).map(Next::Done)
}

/// The commit to test of these, which are ordered by how well they halve them; none if all are
/// tested. `newer` is known to have the change.
fn best(bisection: &Bisection, newer: &str, all: &[String]) -> Option<String> {
    let is_open = |hash: &&String| **hash != newer && is_untested(bisection, hash);
    let open: Vec<&String> = all.iter().filter(is_open).collect();
    let hindered = all.iter().take_while(|hash| !is_open(hash)).count();
    (!open.is_empty()).then(|| open[away(hindered, open.len())].clone())
}

/// Whether a commit was not skipped; what has another verdict is no suspect.
fn is_untested(bisection: &Bisection, hash: &str) -> bool {
    let mut skipped = bisection.with_verdict(StepVerdict::Skipped);
    !skipped.any(|place| bisection.steps[place].commit.hash == hash)
}

/// Which of the commits to test, the best one first, where so many better ones were skipped: what
/// does not build seldom does so alone, so each next try is further away. The golden ratio spreads
/// the tries; the power keeps them near the best.
fn away(skipped: usize, commits: usize) -> usize {
    const GOLDEN: f64 = 0.618_033_988_75;
    let share = (skipped as f64 * GOLDEN).fract().powf(1.5);
    ((share * commits as f64) as usize).min(commits - 1)
}

fn outcome(
    repository: &Repository,
    record: &BisectRecord,
    commits: Vec<Commit>,
) -> Result<BisectOutcome, BisectError> {
    let bisection = &record.bisection;
    let last = |verdict| bisection.with_verdict(verdict).last().unwrap_or(0);
    let (mut before, after) = (last(bisection.before()), last(bisection.after()));
    let mut files = Vec::new();
    if let [found] = commits.as_slice() {
        files = repository.files(&found.hash)?;
        let parents = repository.parents(&found.hash)?;
        let is_parent = |place: &usize| parents.contains(&bisection.steps[*place].commit.hash);
        before = bisection.with_verdict(bisection.before()).find(is_parent).unwrap_or(before);
    }
    Ok(BisectOutcome { commits, files, before, after })
}
