//! `tcplab scenarios`, and finding a scenario by name or file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::string::FromUtf8Error;

use anyhow::{Context, Result, anyhow, bail};
use tcplab_quantities::SCENARIOS_DOCUMENT;
use tcplab_scenario::{Scenario, catalogue, nearest};
use tcplab_units::visible_line;

use crate::arguments::ScenariosArguments;
use crate::files::{NAMED_MAX, TEXT_MAX, beside, read_regular};
use crate::output::{answer, answer_or_json, counted, listed};

pub(crate) fn scenarios(arguments: &ScenariosArguments) -> Result<ExitCode> {
    if let Some(name) = &arguments.name {
        let members = parsed(|known| is_within(known, name))?;
        if !members.is_empty() {
            answer(&list(&members))?;
            return Ok(ExitCode::SUCCESS);
        }
        answer(embedded(name).with_context(|| unknown(name))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = parsed(|_| true)?;
    answer_or_json(&SCENARIOS_DOCUMENT, &arguments.json, &listed("scenarios", &all), || {
        list(&all)
            + "\n`tcplab scenarios NAME` prints one, as a start for your own; `tcplab run FOLDER` \
               runs a folder.\n"
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The scenarios of the catalogue with such names.
fn parsed(is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Scenario>> {
    let wanted = catalogue().iter().filter(|(name, _)| is_wanted(name));
    wanted.map(|(name, source)| Ok(Scenario::parse(source, name)?)).collect()
}

/// Whether the scenario lies in a folder.
fn is_within(name: &str, folder: &str) -> bool {
    let inside = name.strip_prefix(folder.trim_end_matches('/'));
    inside.is_some_and(|rest| rest.starts_with('/'))
}

/// By folder, those without a folder first.
fn list(all: &[Scenario]) -> String {
    let folder =
        |scenario: &Scenario| scenario.name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let mut sorted: Vec<&Scenario> = all.iter().collect();
    sorted.sort_by_key(|scenario| folder(scenario));
    let width = all.iter().map(|scenario| scenario.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for group in sorted.chunk_by(|one, other| folder(one) == folder(other)) {
        // Prints a reference that all of a folder share once.
        let common = group[0].reference.as_ref().filter(|reference| {
            group.len() > 1 && group.iter().all(|it| it.reference.as_ref() == Some(reference))
        });
        if let Some(folder) = folder(group[0]) {
            text += &format!("\n{folder}/  {} experiments: tcplab run {folder}\n", group.len());
            if let Some(reference) = common {
                text += &format!("  source: {reference}\n");
            }
        }
        for Scenario { name, title, cases, trials, reference, .. } in group {
            text += &format!("  {name:width$}  {title}\n");
            if let Some(reference) = reference.as_ref().filter(|_| common.is_none()) {
                text += &format!("  {:width$}  source: {reference}\n", "");
            }
            let cases = counted(cases.len() as u64, "case");
            let trials = counted(u64::from(*trials), "trial");
            text += &format!("  {:width$}  {cases}, {trials} each\n", "");
        }
    }
    text
}

/// The scenario `given`: a file if it looks like one, else a built-in experiment.
pub(crate) fn find(given: &str) -> Result<Scenario> {
    let path = Path::new(given);
    // A built-in name with a folder takes precedence over a directory.
    if path.extension().is_none()
        && given.contains('/')
        && let Some(source) = embedded(given)
    {
        return Ok(Scenario::parse(source, &given.replace('/', "-"))?);
    }
    let looks_like_a_file = path.extension().is_some() || given.contains('/') || path.is_file();
    if !looks_like_a_file && let Some(source) = embedded(given) {
        return Ok(Scenario::parse(source, given)?);
    }
    if path.is_dir() {
        bail!("{given} is a directory: pass a scenario file (*.toml)");
    }
    if !looks_like_a_file {
        bail!(unknown(given));
    }
    let source = read_text(path, given)?;
    let source = String::from_utf8(source).map_err(|error| not_utf8(given, &error))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let scenario = Scenario::parse_with_files(
        &source,
        &name.unwrap_or_else(|| given.into()),
        &mut files_beside(path),
    );
    Ok(scenario.map_err(|error| error.in_file(&visible_line(given)))?)
}

/// The bytes of a scenario or path file, called as it was `given`.
pub(crate) fn read_text(path: &Path, given: &str) -> Result<Vec<u8>> {
    read_regular(path, TEXT_MAX).with_context(|| format!("cannot read {given}"))
}

fn not_utf8(given: &str, error: &FromUtf8Error) -> anyhow::Error {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = good.split(|byte| *byte == b'\n').count();
    anyhow!("{given} is not a scenario file: line {line} is not UTF-8 text")
}

fn embedded(name: &str) -> Option<&'static str> {
    catalogue().iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

fn unknown(name: &str) -> String {
    let known = || catalogue().iter().map(|(known, _)| *known);
    let last = |known: &'static str| known.rsplit('/').next().unwrap_or(known);
    let near = nearest(name, known()).or_else(|| {
        let near = nearest(name, known().map(last))?;
        known().find(|known| last(known) == near)
    });
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!(
        "unknown experiment `{name}`: {near}`tcplab scenarios` lists all; your own files need the \
         extension .toml"
    )
}

/// Reads the files that a file refers to, by names relative to it: see [`beside`]. What the
/// command line itself refers to (`file` is empty) may lie anywhere. A run directory keeps them as
/// they were at its start.
pub(crate) fn files_beside(file: &Path) -> impl FnMut(&str) -> Result<Vec<u8>, String> {
    let directory = file.parent().map(Path::to_owned).unwrap_or_default();
    let is_of_user = file.as_os_str().is_empty();
    move |name| {
        let kept = || tcplab_lab::kept_files(&directory).ok()?.remove(name);
        if let Some(content) = kept() {
            return Ok(content.into_bytes());
        }
        let is_of_user = is_of_user.then(|| Ok(PathBuf::from(name)));
        let path = is_of_user.unwrap_or_else(|| beside(&directory, name))?;
        read_regular(&path, NAMED_MAX).map_err(|why| format!("cannot read {name}: {why}"))
    }
}
