//! What runs answered, read once: a run's results are large.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use serde::Serialize;
use tcplab_lab::read_run;
use tcplab_results::ClaimCounts;

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
    Some(Told {
        title: run.title.clone(),
        question,
        answer,
        claims_passed: claims.passed,
        claims_failed: claims.failed,
        claims_not_judged: claims.not_judged,
        failed_trials: run.cases.iter().map(|case| case.failures.len()).sum(),
    })
}
