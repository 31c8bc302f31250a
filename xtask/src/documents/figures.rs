//! What runs give: the claims of each scenario, what was found, and values that pages ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::measured::{self, Case};

/// The figures of all scenarios, by name.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Figures(BTreeMap<String, Measured>);

/// What a run of a scenario gave.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Measured {
    /// `models`, `kernel`, or a kernel in virtual time.
    world: String,
    /// What the scenario was, without comments.
    definition: String,
    /// Of models: what tells that they have changed, see [`measured::first_trials`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_trials: Option<String>,
    /// By claim.
    claims: BTreeMap<String, Finding>,
    /// By what pages ask for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, f64>,
}

/// What a scenario is to give, and where it runs.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) world: String,
    pub(super) values: BTreeSet<String>,
}

/// A claim's outcome.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Finding {
    /// The name of what was measured.
    pub(super) metric: String,
    pub(super) found: String,
    pub(super) held: bool,
}

/// A run's `run.json`, as far as it matters.
#[derive(Deserialize)]
struct Run {
    claims: Vec<Outcome>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Outcome {
    claim: String,
    check: String,
    found: String,
    held: bool,
    is_judged: bool,
}

/// A digest of a scenario's text, without what changes no figure: comments, empty lines, and the
/// question that it is asked.
pub(super) fn definition(repository: &Path, scenario: &str) -> anyhow::Result<String> {
    let file = file(repository, scenario);
    let text = fs::read_to_string(&file)
        .with_context(|| format!("there is no scenario {}", file.display()))?;
    let mut hasher = blake3::Hasher::new();
    let is_measured =
        |it: &&str| !(it.is_empty() || it.starts_with('#') || it.starts_with("question"));
    for line in text.lines().map(str::trim).filter(is_measured) {
        hasher.update(line.as_bytes()).update(b"\n");
    }
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

fn file(repository: &Path, scenario: &str) -> PathBuf {
    repository.join("scenarios").join(format!("{scenario}.toml"))
}

impl Figures {
    /// None where there is no file yet.
    pub(super) fn read(file: &Path) -> anyhow::Result<Figures> {
        let Ok(text) = fs::read_to_string(file) else { return Ok(Figures::default()) };
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))
    }

    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    pub(super) fn keep_only(&mut self, keeps: impl Fn(&str) -> bool) {
        self.0.retain(|scenario, _| keeps(scenario));
    }

    /// Whether they are those of this scenario in this world, with all values that are wanted.
    pub(super) fn is_of(&self, scenario: &str, wanted: &Wanted, definition: &str) -> bool {
        self.0.get(scenario).is_some_and(|it| {
            it.world == wanted.world
                && it.definition == definition
                && it.values.keys().eq(&wanted.values)
        })
    }

    pub(super) fn finding(&self, scenario: &str, claim: &str) -> Option<&Finding> {
        self.0.get(scenario)?.claims.get(claim)
    }

    pub(super) fn value(&self, scenario: &str, asked: &str) -> Option<f64> {
        self.0.get(scenario)?.values.get(asked).copied()
    }

    /// Runs a scenario with `$TCPLAB`, else with the release build.
    pub(super) fn measure(
        &mut self,
        repository: &Path,
        scenario: &str,
        wanted: &Wanted,
        definition: String,
    ) -> anyhow::Result<()> {
        let built = || repository.join("target/release/tcplab");
        let tcplab = std::env::var_os("TCPLAB").map_or_else(built, PathBuf::from);
        let runs = repository.join("target/documents");
        let mut command = Command::new(&tcplab);
        command.arg("run").arg(file(repository, scenario)).arg("--runs").arg(&runs);
        match wanted.world.as_str() {
            "kernel" => command.args(["--world", "kernel"]),
            "models" => command.args(["--world", "sim", "--kernel", "model"]),
            kernel => command.args(["--world", "sim", "--kernel", kernel]),
        };
        // A claim that does not hold is a figure, too.
        command.output().with_context(|| format!("cannot run {}", tcplab.display()))?;
        let name = scenario.rsplit('/').next().unwrap_or(scenario);
        let run = newest(&runs.join(name))
            .with_context(|| format!("{scenario} left no run: try it by hand"))?;
        let text = fs::read_to_string(run.join("run.json")).context("its run is incomplete")?;
        let run: Run = serde_json::from_str(&text)?;
        let judged = run.claims.into_iter().filter(|it| it.is_judged);
        let finding = |it: Outcome| {
            let metric = metric(&it.check).to_owned();
            (it.claim, Finding { metric, found: it.found, held: it.held })
        };
        let claims: BTreeMap<String, Finding> = judged.map(finding).collect();
        for (claim, Finding { found, .. }) in claims.iter().filter(|(_, it)| !it.held) {
            eprintln!("  does not hold: {claim}: {found}");
        }
        let values = measured::values(&run.cases, &wanted.values).context(scenario.to_owned())?;
        let world = wanted.world.clone();
        let first_trials = (world == "models").then(|| measured::first_trials(&run.cases));
        let measured = Measured { world, definition, first_trials, claims, values };
        self.0.insert(scenario.to_owned(), measured);
        fs::remove_dir_all(&runs).context("cannot remove its run")
    }
}

/// The metric of a claim, by the text of its check: `median of goodput at least …`.
fn metric(check: &str) -> &str {
    let of_several = ["median of ", "mean of ", "max of ", "min of "];
    let rest = of_several.iter().find_map(|it| check.strip_prefix(it)).unwrap_or(check);
    rest.split([' ', ',']).next().unwrap_or_default()
}

fn newest(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).max()
}
