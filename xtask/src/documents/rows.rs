//! What people write: the rows of a document.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

/// A founding document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// The name of its file.
    #[serde(skip)]
    pub(super) name: String,
    pub(super) title: String,
    /// Who wrote it, and what about: a paragraph.
    pub(super) about: String,
    /// In which world scenarios run that do not run in virtual time with models: `kernel` (this
    /// machine's, in real time), or the name of a kernel in virtual time.
    #[serde(default)]
    worlds: BTreeMap<String, String>,
    pub(super) part: Vec<Part>,
}

/// A part of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) title: String,
    #[serde(default)]
    pub(super) text: String,
    pub(super) row: Vec<Row>,
}

/// An experiment, a measurement, an option, a tool or a rule of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// What the document says or does.
    pub(super) says: String,
    /// Its figure, if it gives one.
    #[serde(default)]
    pub(super) figure: String,
    /// The scenario that shows it,
    pub(super) run: Option<String>,
    /// and the claims of the scenario that give our figure.
    #[serde(default)]
    pub(super) claims: Vec<String>,
    /// Another command that shows it.
    pub(super) command: Option<String>,
    /// What that gives.
    #[serde(default)]
    pub(super) here: String,
    /// The test that checks it, as `FILE::FUNCTION`.
    pub(super) test: Option<String>,
    pub(super) verdict: Verdict,
    /// Why it differs, by a measurement or a source.
    #[serde(default)]
    pub(super) why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// As in the document.
    Same,
    /// Something else comes out.
    Differs,
}

impl Verdict {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Verdict::Same => "✓",
            Verdict::Differs => "≠",
        }
    }
}

impl Document {
    pub(super) fn read(file: &Path) -> anyhow::Result<Document> {
        let what = || format!("cannot read {}", file.display());
        let text = fs::read_to_string(file).with_context(what)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Document { name, ..toml::from_str(&text).with_context(what)? })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.part.iter().flat_map(|part| &part.row)
    }

    /// In which world a scenario runs: `models` is virtual time.
    pub(super) fn world(&self, scenario: &str) -> &str {
        self.worlds.get(scenario).map_or("models", String::as_str)
    }

    /// Rows that show nothing, or whose test does not exist.
    pub(super) fn faults(&self, repository: &Path) -> Vec<String> {
        self.rows()
            .filter_map(|row| Some(format!("{}: {}", row.says, row.fault(repository)?)))
            .collect()
    }
}

impl Row {
    fn fault(&self, repository: &Path) -> Option<String> {
        if self.verdict != Verdict::Same && self.why.is_empty() {
            return Some("say why it is not the same".into());
        }
        if self.run.is_some() == self.claims.is_empty() {
            return Some("`run` and `claims` belong together".into());
        }
        if let Some(test) = &self.test {
            let (file, function) = test.split_once("::").unwrap_or((test, ""));
            let text = fs::read_to_string(repository.join(file)).unwrap_or_default();
            if !text.contains(&format!("fn {function}(")) {
                return Some(format!("there is no test {test}"));
            }
        }
        let shows = self.run.is_some() || self.test.is_some();
        (!shows).then(|| "give a scenario with claims (`run`), or a test (`test`)".into())
    }
}
