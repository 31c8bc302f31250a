//! What is known of a bisection.

use serde::{Deserialize, Serialize};
use tcplab_results::{Claim, ClaimOutcome, Run};

use super::commit::Commit;
use super::error::BisectError;
use super::repository::Repository;

/// A bisection: what is asked, what was tested, what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// The scenario's name.
    pub scenario: String,
    /// The repository's topmost directory.
    pub repository: String,
    /// Where all claims hold.
    pub good: Commit,
    /// Where a claim fails.
    pub bad: Commit,
    /// Whether the bad commit is the older one: what is looked for then repaired the claims.
    pub is_repair: bool,
    /// The claims that count.
    pub claims: Vec<String>,
    /// Commits that change these files or folders are tested first; all, where there are none.
    pub paths: Vec<String>,
    /// Trials of each case; those of the scenario where none is given.
    pub trials: Option<u32>,
    /// The seed; that of the scenario where none is given.
    pub seed: Option<u64>,
    /// The commits tested, in order: good, bad, and those between them.
    pub steps: Vec<BisectStep>,
    /// What came out, once it is known.
    pub outcome: Option<BisectOutcome>,
}

/// A commit that is tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BisectStep {
    /// It.
    pub commit: Commit,
    /// What was found; none until then.
    pub verdict: Option<StepVerdict>,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// The directory of its trials.
    pub run: Option<String>,
    /// The claims that count.
    pub claims: Vec<Claim>,
    /// Whether the bisection built its image, which is removed at the end.
    pub is_built: bool,
    /// How many files were compiled for it.
    pub compiled_files: u64,
    /// Real time of the build.
    pub build_s: f64,
    /// Real time of the trials and their analysis.
    pub trials_s: f64,
}

/// What was found at a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// All claims hold.
    Good,
    /// A claim fails.
    Bad,
    /// It does not build, or its trials fail to run.
    Skipped,
}

/// What a bisection came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BisectOutcome {
    /// The commit that changed the claims; more than one if those between were skipped.
    pub commits: Vec<Commit>,
    /// The files that it changes; none where there are several commits.
    pub files: Vec<String>,
    /// The step before the change, counted from 0: a parent of the commit if one was tested.
    pub before: usize,
    /// The step after the change, counted from 0.
    pub after: usize,
}

impl Bisection {
    /// A bisection between these two commits, given by name; for any scenario so far.
    ///
    /// # Errors
    /// If one is unknown, or neither is an ancestor of the other.
    pub fn between(
        repository: &Repository,
        good: &str,
        bad: &str,
    ) -> Result<Bisection, BisectError> {
        let (good, bad) = (repository.commit(good)?, repository.commit(bad)?);
        if good.hash == bad.hash {
            return Err(BisectError::SameCommit(good.in_words()));
        }
        let is_repair = !repository.is_ancestor(&good, &bad)?;
        if is_repair && !repository.is_ancestor(&bad, &good)? {
            let base = repository.common_ancestor(&good, &bad)?.map(Box::new);
            let (good, bad) = (good.in_words(), bad.in_words());
            return Err(BisectError::NotRelated { good, bad, base });
        }
        Ok(Bisection {
            scenario: String::new(),
            repository: repository.root().to_string_lossy().into_owned(),
            good,
            bad,
            is_repair,
            claims: Vec::new(),
            paths: Vec::new(),
            trials: None,
            seed: None,
            steps: Vec::new(),
            outcome: None,
        })
    }

    /// Forgets what was skipped, and the outcome if it was left open by that: what hindered the
    /// tests may be gone.
    pub fn retry_skipped(&mut self) {
        if self.outcome.as_ref().is_some_and(|outcome| outcome.commits.len() > 1) {
            self.outcome = None;
            self.steps.retain(|step| step.verdict != Some(StepVerdict::Skipped));
        }
    }

    /// The verdict of commits before the change.
    pub(super) fn before(&self) -> StepVerdict {
        if self.is_repair { StepVerdict::Bad } else { StepVerdict::Good }
    }

    /// The verdict of commits from the change on.
    pub(super) fn after(&self) -> StepVerdict {
        if self.is_repair { StepVerdict::Good } else { StepVerdict::Bad }
    }

    /// Places of the steps with this verdict, in order.
    pub(super) fn with_verdict(&self, verdict: StepVerdict) -> impl Iterator<Item = usize> + '_ {
        let steps = self.steps.iter().enumerate();
        steps.filter(move |(_, step)| step.verdict == Some(verdict)).map(|(place, _)| place)
    }
}

impl BisectStep {
    /// A step that was not begun.
    pub(super) fn of(commit: Commit) -> BisectStep {
        BisectStep {
            commit,
            verdict: None,
            reason: None,
            run: None,
            claims: Vec::new(),
            is_built: false,
            compiled_files: 0,
            build_s: 0.0,
            trials_s: 0.0,
        }
    }

    /// Notes that the commit cannot be tested.
    pub fn skip(&mut self, reason: String) {
        (self.verdict, self.reason) = (Some(StepVerdict::Skipped), Some(reason));
    }

    /// Notes what the trials say of the claims that count.
    ///
    /// # Errors
    /// If a claim needs more trials.
    pub fn judge(&mut self, run: &Run, claims: &[String]) -> Result<(), BisectError> {
        let counts = |claim: &&Claim| claims.contains(&claim.claim);
        self.claims = run.claims.iter().filter(counts).cloned().collect();
        match verdict_of(run, claims)? {
            Ok(verdict) => self.verdict = Some(verdict),
            Err(reason) => self.skip(reason),
        }
        Ok(())
    }
}

/// What a run says of the claims that count: good if all passed, bad if one failed; or why it says
/// nothing.
///
/// # Errors
/// If a claim needs more trials.
pub fn verdict_of(
    run: &Run,
    claims: &[String],
) -> Result<Result<StepVerdict, String>, BisectError> {
    for case in &run.cases {
        if let Some(failure) = case.failures.first() {
            let (number, name) = (failure.number, &case.name);
            return Ok(Err(format!("trial {number} of case {name} failed: {}", failure.reason)));
        }
    }
    let counted = || run.claims.iter().filter(|claim| claims.contains(&claim.claim));
    if counted().any(|claim| claim.outcome() == ClaimOutcome::Failed) {
        return Ok(Ok(StepVerdict::Bad));
    }
    match counted().find(|claim| claim.outcome() == ClaimOutcome::NotJudged) {
        Some(Claim { claim, needs, trials, .. }) => {
            Err(BisectError::NotJudged { claim: claim.clone(), needs: *needs, trials: *trials })
        }
        None => Ok(Ok(StepVerdict::Good)),
    }
}
