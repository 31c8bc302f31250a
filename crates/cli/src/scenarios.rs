//! `tcplab scenarios`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use tcplab_actions::{embedded, unknown};
use tcplab_quantities::SCENARIOS_DOCUMENT;
use tcplab_scenario::{Scenario, catalogue};

use crate::arguments::ScenariosArguments;
use crate::output::{answer_or_json, counted, hanging, listed, text_columns};

pub(crate) fn scenarios(arguments: &ScenariosArguments) -> Result<ExitCode> {
    let asked = arguments.name.as_deref();
    let chosen = parsed(|known| asked.is_none_or(|name| known == name || is_within(known, name)))?;
    if let Some(name) = asked.filter(|_| chosen.is_empty()) {
        bail!(unknown(name));
    }
    let text = || match asked {
        Some(name) => embedded(name).map_or_else(|| list(&chosen), str::to_owned),
        None => {
            list(&chosen)
                + "\n`tcplab scenarios NAME` prints one, as a start for your own; `tcplab run \
                   FOLDER` runs a folder.\n"
        }
    };
    answer_or_json(&SCENARIOS_DOCUMENT, &arguments.json, &listed("scenarios", &chosen), text)?;
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
    let (mut text, columns) = (String::new(), text_columns());
    for group in sorted.chunk_by(|one, other| folder(one) == folder(other)) {
        // Prints a reference that all of a folder share once.
        let common = group[0].reference.as_ref().filter(|reference| {
            group.len() > 1 && group.iter().all(|it| it.reference.as_ref() == Some(reference))
        });
        if let Some(folder) = folder(group[0]) {
            text += &format!("\n{folder}/  {} experiments: tcplab run {folder}\n", group.len());
            if let Some(reference) = common {
                text += &hanging("  ", &format!("source: {reference}"), columns);
            }
        }
        for Scenario { name, title, cases, trials, reference, question, .. } in group {
            let source = reference.as_ref().filter(|_| common.is_none());
            let source = source.map(|reference| format!("source: {reference}"));
            let cases = counted(cases.len() as u64, "case");
            let trials = counted(u64::from(*trials), "trial");
            let size = format!("{cases}, {trials} each");
            text += &format!("  {name}\n");
            let about = [Some(title), question.as_ref(), source.as_ref(), Some(&size)];
            for line in about.into_iter().flatten() {
                text += &hanging("      ", line, columns);
            }
        }
    }
    text
}
