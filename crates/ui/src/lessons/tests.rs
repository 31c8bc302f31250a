//! What is taught is what there is: experiments, documents, options, programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tcplab_lab::Overrides;
use tcplab_results::World;
use tcplab_scenario::{Scenario, catalogue, metric};

use super::*;
use crate::assets::program_source;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(scenario: &str) -> &'static str {
    let found = catalogue().iter().find(|(name, _)| *name == scenario);
    found.unwrap_or_else(|| panic!("there is no scenario {scenario}")).1
}

/// A built-in scenario that runs in virtual time.
fn simulated(name: &str) -> Scenario {
    let scenario = Scenario::parse(text_of(name), name).unwrap();
    let plan = tcplab_lab::plan(&scenario, Some(World::Simulated), || None, Overrides::default());
    plan.unwrap_or_else(|error| panic!("{name}: {error}"));
    scenario
}

/// All numbers in a text.
fn numbers(text: &str) -> BTreeSet<&str> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || ".,".contains(c)));
    parts.map(|it| it.trim_matches(['.', ','])).filter(|it| !it.is_empty()).collect()
}

#[test]
fn lessons_cite_their_documents() {
    for lesson in LESSONS.iter() {
        let file = repository().join(format!("docs/documents/{}.toml", lesson.document));
        let text = fs::read_to_string(&file).unwrap();
        let document: toml::Value = toml::from_str(&text).unwrap();
        assert_eq!(document["title"].as_str(), Some(&*lesson.document_title), "{}", lesson.id);
        let unknown: Vec<_> = numbers(&lesson.finds).difference(&numbers(&text)).copied().collect();
        assert!(unknown.is_empty(), "{}: {unknown:?} are not in {}", lesson.id, file.display());
        assert!(!lesson.rows.is_empty(), "{}", lesson.id);
        for row in &lesson.rows {
            let parts = document["part"].as_array().unwrap().iter();
            let own = parts.filter(|part| part["title"].as_str() == Some(&*row.part));
            let mut all = own.flat_map(|part| part["row"].as_array().unwrap());
            let is_same = |it: &&toml::Value| {
                it["says"].as_str() == Some(&*row.says)
                    && it.get("run").and_then(|run| run.as_str()) == Some(&*lesson.scenario)
            };
            let said = all.find(is_same).unwrap_or_else(|| panic!("{}: {row:?}", lesson.id));
            let text = |key| said.get(key).and_then(|it: &toml::Value| it.as_str());
            let claims: Vec<_> = said["claims"].as_array().unwrap().iter().collect();
            let claims: Vec<_> = claims.iter().filter_map(|it| it.as_str()).collect();
            assert_eq!(
                (text("figure"), text("verdict"), text("why"), claims),
                (
                    row.figure.as_deref(),
                    Some(&*row.verdict),
                    row.why.as_deref(),
                    row.claims.iter().map(|it| &**it).collect()
                ),
                "{}: {}",
                lesson.id,
                row.says
            );
        }
    }
}

/// A rate in an explanation is one that the experiment states: claims check it there.
#[test]
fn explanations_give_rates_of_their_experiment() {
    for lesson in LESSONS.iter() {
        let words: Vec<&str> = lesson.explains.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[1].starts_with("Mbit/s")) {
            let known = text_of(&lesson.scenario).contains(&format!("{} Mbit/s", pair[0]));
            assert!(known, "{}: {} Mbit/s", lesson.id, pair[0]);
        }
    }
}

#[test]
fn every_document_has_one_lesson() {
    let documents: Vec<&str> = LESSONS.iter().map(|it| &*it.document).collect();
    assert_eq!(documents, ["000", "001", "002", "003", "004"]);
    let ids: BTreeSet<&str> = LESSONS.iter().map(|it| &*it.id).collect();
    assert_eq!(ids.len(), LESSONS.len());
}

#[test]
fn lessons_run_in_virtual_time_and_measure_what_they_ask() {
    for Lesson { id, scenario, rows, watch, prediction, .. } in LESSONS.iter() {
        let scenario = simulated(scenario);
        let has_case = |name: &str| scenario.cases.iter().any(|case| case.name == name);
        let cases = [Some(watch), Some(&prediction.case), prediction.over.as_ref()];
        for case in cases.into_iter().flatten() {
            assert!(has_case(case), "{id}: there is no case {case}");
        }
        assert!(metric(&prediction.metric).is_some(), "{id}: {}", prediction.metric);
        for claim in rows.iter().flat_map(|row| &row.claims) {
            let is_claimed = scenario.expects.iter().any(|it| it.claim == *claim);
            assert!(is_claimed, "{id}: nothing claims {claim}");
        }
        // Each value has one right answer.
        let bounds: Vec<Option<f64>> = prediction.choices.iter().map(|it| it.below).collect();
        let (last, others) = bounds.split_last().unwrap();
        assert!(last.is_none() && others.len() >= 2, "{id}: {bounds:?}");
        assert!(others.is_sorted_by(|one, other| one < other), "{id}: {bounds:?}");
        assert!(others.iter().all(Option::is_some), "{id}: {bounds:?}");
    }
}

#[test]
fn right_answer_is_that_of_the_value() {
    let prediction = &LESSONS[0].prediction;
    let below = prediction.choices[0].below.unwrap();
    assert_eq!(prediction.right(below - 0.01), 0);
    assert_eq!(prediction.right(below), 1);
    assert_eq!(prediction.right(1e9), prediction.choices.len() - 1);
}

#[test]
fn experiments_with_options_set_them() {
    for OptionExperiment { option, scenario, .. } in OPTION_EXPERIMENTS.iter() {
        let keyed = tcplab_workload::table::keyed().find(|(_, info)| info.name == option);
        let (key, _) = keyed.unwrap_or_else(|| panic!("{option} has no key"));
        simulated(scenario);
        let lines = text_of(scenario).lines().filter(|line| !line.starts_with('#'));
        let is_set = { lines }.any(|line| {
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            { words }.any(|word| word == key)
        });
        assert!(is_set, "{scenario} does not set {option}");
    }
}

#[test]
fn walks_are_cases_in_virtual_time() {
    for Walk { scenario, case, .. } in WALKS.iter() {
        let cases = simulated(scenario).cases;
        assert!(cases.iter().any(|it| it.name == *case), "{scenario} has no case {case}");
    }
}

#[test]
fn programs_are_the_examples() {
    let readme = fs::read_to_string(repository().join("examples/README.md")).unwrap();
    for Program { example, name, scenario, world, commands, .. } in PROGRAMS.iter() {
        let number = example.map(|it| it.to_string()).unwrap_or_default();
        let row = readme.lines().find(|line| line.contains(&format!("| `{name}`")));
        let row = row.unwrap_or_else(|| panic!("{name} is not in examples/README.md"));
        assert!(number.is_empty() || row.starts_with(&format!("| {number} |")), "{name}: {row}");
        match (scenario.as_deref(), world.as_deref()) {
            (Some(scenario), Some("sim")) => drop(simulated(scenario)),
            (Some(scenario), Some("kernel")) => assert!(!text_of(scenario).is_empty()),
            known => assert_eq!(known, (None, None), "{name}"),
        }
        assert!(!commands.is_empty(), "{name}: nothing to type");
        for (language, place) in [("rust", "examples/src/bin"), ("c", "examples/c")] {
            let ending = if language == "rust" { "rs" } else { "c" };
            let file = repository().join(place).join(format!("{name}.{ending}"));
            assert_eq!(program_source(name, language), fs::read_to_string(file).ok().as_deref());
        }
    }
    let numbers: BTreeSet<u8> = PROGRAMS.iter().filter_map(|it| it.example).collect();
    assert!(numbers.into_iter().eq(1..=9), "the course has nine");
}
