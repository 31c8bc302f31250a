//! A scenario with further events of its path: what was done by hand comes out as a file.

use serde_json::Value;
use tcplab_path::PathEvent;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Events that cannot be added to the text of a scenario.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventsError {
    /// The text is not TOML.
    #[error("invalid TOML: {0}")]
    Toml(#[from] toml::de::Error),
    /// There is no place for them that leaves the rest of the text as it is.
    #[error("the path is not written as a table: write it as `[path]`, and below it\n\n{0}")]
    NoPlace(String),
}

/// The text of a scenario whose path has these events too; all else stays as it is written. Whether
/// the path can have them shows when it is [read](crate::Scenario::parse).
///
/// # Errors
/// When the text is not TOML, or has no place for them.
pub fn with_events(scenario_source: &str, events: &[PathEvent]) -> Result<String, EventsError> {
    if events.is_empty() {
        return Ok(scenario_source.to_owned());
    }
    let wanted = wanted(toml::from_str(scenario_source)?, events);
    let tables = tables(events);
    let document = DeTable::parse(scenario_source)?;
    let candidates = [
        Some(below(scenario_source, &tables)),
        into_list(&document, scenario_source, events),
        into_braces(&document, scenario_source, events),
    ];
    let is_right = |text: &String| toml::from_str::<Value>(text).is_ok_and(|it| it == wanted);
    candidates.into_iter().flatten().find(is_right).ok_or(EventsError::NoPlace(tables))
}

/// What the text is to mean.
fn wanted(mut scenario: Value, events: &[PathEvent]) -> Value {
    let table = |value: &mut Value| {
        if !value.is_object() {
            *value = Value::Object(serde_json::Map::default());
        }
    };
    let path = &mut scenario["path"];
    table(path);
    let mut all = path["events"].as_array().cloned().unwrap_or_default();
    all.extend(events.iter().map(|event| serde_json::to_value(event).expect("plain data")));
    path["events"] = Value::Array(all);
    scenario
}

/// Tables at the end of the file.
fn below(source: &str, tables: &str) -> String {
    let end = if source.is_empty() || source.ends_with('\n') { "" } else { "\n" };
    format!("{source}{end}\n{tables}")
}

fn tables(events: &[PathEvent]) -> String {
    let table = |event| toml::to_string(event).expect("an event is a plain table");
    let tables = events.iter().map(|event| format!("[[path.events]]\n{}", table(event)));
    tables.collect::<Vec<_>>().join("\n")
}

/// Items at the end of `events = […]`.
fn into_list(
    document: &Spanned<DeTable<'_>>,
    source: &str,
    events: &[PathEvent],
) -> Option<String> {
    let DeValue::Table(path) = document.get_ref().get("path")?.get_ref() else { return None };
    let list = path.get("events")?;
    let DeValue::Array(items) = list.get_ref() else { return None };
    let close = list.span().end.checked_sub(1).filter(|at| source[*at..].starts_with(']'))?;
    // Behind the last item, whatever comma or comment follows it.
    let (at, before) = match items.last() {
        Some(last) => (last.span().end, ", "),
        None => (close, ""),
    };
    Some(inserted(source, at, &format!("{before}{}", in_line(events))))
}

/// A key at the end of `path = {…}`.
fn into_braces(
    document: &Spanned<DeTable<'_>>,
    source: &str,
    events: &[PathEvent],
) -> Option<String> {
    let path = document.get_ref().get("path")?;
    let DeValue::Table(keys) = path.get_ref() else { return None };
    let inside = source.get(path.span())?.strip_prefix('{')?.strip_suffix('}')?;
    let at = path.span().start + 1 + inside.trim_end().len();
    let before = if keys.is_empty() { " " } else { ", " };
    let end = if inside.ends_with(' ') { "" } else { " " };
    Some(inserted(source, at, &format!("{before}events = [{}]{end}", in_line(events))))
}

fn inserted(source: &str, at: usize, text: &str) -> String {
    let (before, after) = source.split_at(at);
    format!("{before}{text}{after}")
}

/// Such as `{ at = "2 s", drop = 1 }`.
fn in_line(events: &[PathEvent]) -> String {
    let table = |event| {
        let lines = toml::to_string(event).expect("an event is a plain table");
        format!("{{ {} }}", lines.trim_end().replace('\n', ", "))
    };
    events.iter().map(table).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, catalogue};

    fn events() -> Vec<PathEvent> {
        let json = r#"[{ "at": "1234567891 ns", "loss": "2 %", "drop": 3 },
                       { "at": "500 ms", "direction": "reverse", "interrupt": "200 ms" }]"#;
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn scenario_of_the_catalogue_gets_events_and_stays_as_it_is() {
        let mut steered = 0;
        for (name, source) in catalogue() {
            let before = Scenario::parse(source, name).unwrap();
            let has_one_path = |case: &crate::Case| {
                !case.path.same_host
                    && case.second_path.is_none()
                    && case.path.backend.unwrap_or_default() == tcplab_path::Backend::Tcplab
            };
            if !before.cases.iter().all(has_one_path) {
                continue;
            }
            let text = with_events(source, &events()).unwrap();
            assert!(text.starts_with(source), "{name}: the text stays as it is");
            let after = Scenario::parse(&text, name)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(before.cases.len(), after.cases.len(), "{name}");
            for (one, other) in before.cases.iter().zip(&after.cases) {
                assert_eq!(other.path, one.path.with_events(&events()), "{name}");
                assert_ne!(one.hash, other.hash, "{name}");
            }
            steered += 1;
        }
        assert!(steered > 20, "{steered}");
    }

    #[test]
    fn events_find_their_place_in_any_way_to_write_a_path() {
        let rest = "title = \"x\" # a title\n";
        for (path, expected) in [
            ("[path]\npreset = \"dsl-25\" # slow", "[[path.events]]\nat = "),
            ("[path]\ndelay = \"5 ms\"\n[path.forward]\nrate = \"1 Mbit/s\"\n", "[[path.events]]"),
            ("path.delay = \"5 ms\"\npath.rate = \"1 Mbit/s\"", "[[path.events]]"),
            ("path = { preset = \"dsl-25\" }", "path = { preset = \"dsl-25\", events = [{ at ="),
            ("path = {}", "path = { events = [{ at = "),
            ("[[path.events]]\nat = \"9 s\"\ndrop = 1\n", "drop = 1\n"),
            (
                "[path]\nevents = [\n  { at = \"9 s\", drop = 1 }, # late\n]",
                "  { at = \"9 s\", drop = 1 }, { at = ",
            ),
            ("[path]\nevents = []", "events = [{ at = "),
            ("path = { events = [{ at = \"9 s\", drop = 1 }] }", "drop = 1 }, { at = "),
        ] {
            let source = format!("{rest}{path}\n[workload]\nupload = \"1 MB\"\n");
            let source = if path.starts_with('[') || path.starts_with("path.") {
                source
            } else {
                format!("{path}\n{rest}[workload]\nupload = \"1 MB\"\n")
            };
            let text = with_events(&source, &events()).unwrap();
            assert!(text.contains(expected) && text.contains("# a title"), "{path}\n{text}");
            let [before, after] = [&source, &text].map(|text| {
                let read = Scenario::parse(text, "x");
                read.unwrap_or_else(|error| panic!("{path}: {error}\n{text}")).cases[0].path.clone()
            });
            assert_eq!(after, before.with_events(&events()), "{path}");
        }
        assert_eq!(with_events("# nothing", &[]).unwrap(), "# nothing");
    }

    #[test]
    fn path_that_is_no_table_gets_none() {
        let error = with_events("path = 5\n", &events()[..1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the path is not written as a table: write it as `[path]`, and below it\n\n\
             [[path.events]]\nat = \"1.234567891 s\"\nloss = \"2 %\"\ndrop = 3\n"
        );
        assert!(matches!(with_events("path =", &events()), Err(EventsError::Toml(_))));
    }
}
