//! The reference page of the scenario file, made from the schema and the list of metrics.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value};
use tcplab_scenario::{METRICS, MetricInfo};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.schema.json");

const INTRODUCTION: &str = "\
# The scenario file

An experiment is one [TOML](https://toml.io) file. `tcplab scenarios interruption` prints a complete one to start from.
Editors complete and check it with the JSON Schema [`scenario.schema.json`](scenario.schema.json).
This page is generated from the types that read the file (`TCPLAB_BLESS=1 cargo test -p tcplab-scenario`).

";

const METRICS_PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");

const METRICS_INTRODUCTION: &str = "\
# Metrics

Claims (`[[expect]]`), plots (`[[plot]]`), `tcplab compare`, tables and reports use these names.
This page is generated from the one list behind them (`TCPLAB_BLESS=1 cargo test -p tcplab-scenario`).

*quantity*: the [quantity](quantities.md) that it is, perhaps in another unit, from which label and meaning come. *better*: the better direction. *per*: what has a value. *source*: where the value comes from. A trial lacks a metric that it
cannot have: one that needs a bottleneck, the kernel, or an RTT sample, where there is none.

";

#[test]
fn pages_equal_types() {
    for (place, page) in [(PAGE, page()), (METRICS_PAGE, metrics_page())] {
        if std::env::var_os("TCPLAB_BLESS").is_some() {
            std::fs::write(place, page).unwrap();
            continue;
        }
        let written = std::fs::read_to_string(place).unwrap_or_default();
        assert!(
            written == page,
            "{} is out of date: regenerate it with `TCPLAB_BLESS=1 cargo test -p tcplab-scenario`",
            Path::new(place).display()
        );
    }
}

fn metrics_page() -> String {
    let mut page = METRICS_INTRODUCTION.to_owned();
    page += "| metric | label | unit | better | per | source | quantity | meaning |\n\
             |---|---|---|---|---|---|---|---|\n";
    for metric in METRICS {
        let MetricInfo { name, label, unit, better, scope, source, .. } = metric;
        let quantity = metric.quantity.map(|key| format!("[`{key}`](quantities.md#{key})"));
        let _ = writeln!(
            page,
            "| <a id=\"{name}\"></a>`{name}` | {label} | {unit} | {} | {} | {} | {} | {} |",
            better.name(),
            scope.name(),
            source.name(),
            quantity.unwrap_or_default(),
            metric.explanation(),
        );
    }
    page
}

fn page() -> String {
    // Read, as the program may have an older one until it is compiled again.
    let text = std::fs::read(SCHEMA).expect("docs have the schema");
    let schema: Value = serde_json::from_slice(&text).expect("a schema is JSON");
    let mut page = INTRODUCTION.to_owned();
    section(&mut page, "The file", &schema);
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        section(&mut page, name, definition);
    }
    page += "## Metrics\n\nMetrics for `metric = …`: [metrics.md](metrics.md).\n";
    page
}

/// A heading, what it is, and a table of its keys or a list of its values.
fn section(page: &mut String, name: &str, schema: &Value) {
    let _ = writeln!(page, "## {name}\n");
    if let Some(text) = schema["description"].as_str() {
        let _ = writeln!(page, "{}\n", one_line(text));
    }
    if let Some(properties) = schema["properties"].as_object() {
        *page += "| key | value | meaning |\n|---|---|---|\n";
        for (key, property) in properties {
            row(page, key, property, schema);
        }
        *page += "\n";
    }
    let values: Vec<String> = constants(schema);
    if !values.is_empty() {
        for value in values {
            let _ = writeln!(page, "- {value}");
        }
        *page += "\n";
    }
}

fn row(page: &mut String, key: &str, property: &Value, parent: &Value) {
    let required = parent["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
    let mut meaning = one_line(property["description"].as_str().unwrap_or_default());
    if required {
        meaning += " **Required.**";
    }
    let _ = writeln!(page, "| `{key}` | {} | {meaning} |", kind(property));
}

/// The kinds of a value, as links to their sections.
fn kind(property: &Value) -> String {
    if let Some(reference) = property["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(variants) = property["anyOf"].as_array().or(property["oneOf"].as_array()) {
        let kinds: Vec<String> =
            variants.iter().filter(|v| v["type"] != "null").map(kind).collect();
        return kinds.join(" or ");
    }
    if let Some(constant) = property["const"].as_str() {
        return format!("`{constant}`");
    }
    match &property["type"] {
        Value::String(name) if name == "array" => match &property["items"] {
            Value::Object(items) if !items.is_empty() => {
                format!("list of {}", kind(&property["items"]))
            }
            _ => "list".into(),
        },
        Value::String(name) if name == "object" => table(property),
        Value::String(name) => name.clone(),
        Value::Array(names) if names.contains(&"array".into()) => {
            format!("list of {}", kind(&property["items"]))
        }
        Value::Array(names) => {
            let names: Vec<&str> =
                names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
            names.join(" or ")
        }
        _ => "any value".into(),
    }
}

/// A table whose keys the user chooses.
fn table(property: &Value) -> String {
    let values = &property["additionalProperties"];
    if values.is_object() && values.as_object() != Some(&Map::new()) {
        return format!("table of {}", kind(values));
    }
    "table".into()
}

/// The words that an enumeration allows, with what each means.
fn constants(schema: &Value) -> Vec<String> {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
    }
    let forms = ["oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array());
    forms
        .flatten()
        .filter_map(|variant| {
            let text = one_line(variant["description"].as_str().unwrap_or_default());
            if let Some(word) = variant["const"].as_str().or(variant["title"].as_str()) {
                return Some(format!("`{word}`: {text}"));
            }
            // A table with one key, which says of what kind its value is.
            let key = variant["required"][0].as_str()?;
            Some(format!("`{key}` = {}: {text}", kind(&variant["properties"][key])))
        })
        .collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
