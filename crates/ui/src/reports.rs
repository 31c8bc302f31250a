//! The reports of runs, each under an address that nobody can guess.
//!
//! A report is a page of its own, with scripts in it. It is shown in a sandbox without an origin,
//! so that whatever stands in it can ask this server nothing; as it then has no token either, its
//! address carries a key that is good for this run's report alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::token::Token;

/// Where reports are.
pub(crate) const REPORTS: &str = "/reports/";
/// The keys of reports.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    keys: Mutex<BTreeMap<PathBuf, Token>>,
}

impl Reports {
    /// The address of a run's report, if there is one.
    pub(crate) fn address(&self, run: &Path) -> Option<String> {
        let first = if run.join("report.html").is_file() {
            "report.html"
        } else if run.join("report/index.html").is_file() {
            "report/index.html"
        } else {
            return None;
        };
        let mut keys = self.keys.lock().expect("no thread panics while it holds the keys");
        if !keys.contains_key(run) {
            keys.insert(run.to_owned(), Token::random().ok()?);
        }
        Some(format!("{REPORTS}{}/{first}", keys[run].as_str()))
    }

    /// The run whose report has this key.
    pub(crate) fn run_of(&self, key: &str) -> Option<PathBuf> {
        let keys = self.keys.lock().expect("no thread panics while it holds the keys");
        keys.iter().find(|(_, own)| own.is(key)).map(|(run, _)| run.clone())
    }
}
