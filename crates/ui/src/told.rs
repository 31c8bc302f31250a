//! What runs answered, read once: a run's results are large.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use serde::Serialize;
use tcplab_lab::read_run;
use tcplab_results::{Case, ClaimCounts};
use tcplab_units::visible_line;

/// Runs that are remembered, less than 1 kB each; with more, all are read again.
const REMEMBERED: usize = 50_000;

/// What a finished run answered.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Told {
    title: String,
    question: String,
    answer: String,
    claims_passed: usize,
    claims_failed: usize,
    claims_not_judged: usize,
    failed_trials: usize,
}

impl Told {
    /// Whether a word of small letters is in the title, the question or the answer.
    pub(crate) fn has(&self, word: &str) -> bool {
        [&self.title, &self.question, &self.answer]
            .into_iter()
            .any(|text| text.to_lowercase().contains(word))
    }
}

/// When the file was changed, and what it told; none if it cannot be read.
type Answers = BTreeMap<PathBuf, (SystemTime, Option<Told>)>;

/// The answers that were read, until their file changes.
#[derive(Debug, Default)]
pub(crate) struct ToldRuns {
    read: Mutex<Answers>,
}

impl ToldRuns {
    /// What the run in `path` answered; none if it cannot be read.
    pub(crate) fn of(&self, path: &Path) -> Option<Told> {
        let changed = fs::metadata(path.join("run.json")).and_then(|it| it.modified()).ok()?;
        let known = self.lock().get(path).filter(|it| it.0 == changed).map(|it| it.1.clone());
        if let Some(told) = known {
            return told;
        }
        let told = read(path);
        let mut all = self.lock();
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(path.to_owned(), (changed, told.clone()));
        told
    }

    /// Whether the run in `path` was read.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        self.lock().contains_key(path)
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.read.lock().expect("no thread panics while it holds the answers")
    }
}

fn read(path: &Path) -> Option<Told> {
    let run = read_run(path).ok()?;
    let claims = ClaimCounts::of(&run.claims);
    let (question, answer) = tcplab_report::question_and_answer(&run);
    let answer = all_failed(&run.cases).unwrap_or(answer);
    let [title, question, answer] =
        [&run.title, &question, &answer].map(|text| visible_line(text).into_owned());
    Some(Told {
        title,
        question,
        answer,
        claims_passed: claims.passed,
        claims_failed: claims.failed,
        claims_not_judged: claims.not_judged,
        failed_trials: run.cases.iter().map(|case| case.failures.len()).sum(),
    })
}

/// That no trial came to an end as it should, and why the first one did not.
fn all_failed(cases: &[Case]) -> Option<String> {
    if cases.iter().any(|case| !case.trials.is_empty()) {
        return None;
    }
    let mut failures = cases.iter().flat_map(|case| &case.failures);
    let why = &failures.next()?.reason;
    Some(match failures.count() + 1 {
        1 => format!("The trial failed: {why}."),
        count => format!("All {count} trials failed: {why}."),
    })
}

#[cfg(test)]
mod tests {
    use tcplab_results::{Failure, Trial};

    use super::*;

    #[test]
    fn run_whose_trials_all_failed_says_so() {
        let failed = Failure {
            number: 1,
            seed: 1,
            directory: "trials/reno-1".into(),
            attempts: 1,
            reason: "not done after 2 min".into(),
        };
        let of = |trials, failures| Case { trials, failures, ..Case::default() };
        let none = || of(Vec::new(), vec![failed.clone()]);
        let one = of(vec![Trial::default()], vec![failed.clone()]);
        let words = "All 2 trials failed: not done after 2 min.";
        assert_eq!(all_failed(&[none(), none()]).as_deref(), Some(words));
        assert_eq!(
            all_failed(&[none()]).as_deref(),
            Some("The trial failed: not done after 2 min.")
        );
        assert_eq!(all_failed(&[none(), one]), None);
        assert_eq!(all_failed(&[]), None);
    }
}
