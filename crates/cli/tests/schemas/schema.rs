//! JSON Schemas made from examples, and values checked against schemas: types, properties, items.
//!
//! Examples do not show all that may be. What documents promise is in the schemas without one: what
//! is not known is `null`, so every value may be. An object of one field may be one of several
//! kinds, each with its own field (an enum of Rust), so it need not have that one; an object that
//! says its `kind` has the fields of that kind. A path may be whatever a scenario may say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tcplab_quantities::{Document, TRACE_DOCUMENT};
use tcplab_scenario::schema as scenario_schema;

/// Asserts that `value` is this document and fits its schema in docs/schemas.
///
/// With `TCPLAB_BLESS` the schema is widened to fit first, except that of a trace, which is made
/// from its columns.
pub(crate) fn check(document: &Document, value: &Value, of: &str) {
    let name = document.schema;
    assert_eq!((&value["schema"], &value["version"]), (&name.into(), &document.version.into()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let file = folder.join(format!("{name}.json"));
    let known = fs::read(&file).ok().map(|text| serde_json::from_slice(&text).unwrap());
    if std::env::var_os("TCPLAB_BLESS").is_some() && *document != TRACE_DOCUMENT {
        let widened = widened(document, value, known.as_ref());
        fs::write(&file, serde_json::to_string_pretty(&widened).unwrap() + "\n").unwrap();
        return;
    }
    let known = known.unwrap_or_else(|| panic!("there is no {}", file.display()));
    let faults = faults(&known, value, "");
    assert!(faults.is_empty(), "{of} does not fit {name}.json: {faults:#?}");
}

/// The schema of a document: what it must have is what all examples had.
fn widened(document: &Document, example: &Value, known: Option<&Value>) -> Value {
    let mut schema = inferred(example);
    if let Some(known) = known {
        schema = merged(known.clone(), schema);
    }
    let object = schema.as_object_mut().unwrap();
    object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("title".into(), json!(document.schema));
    object.insert("description".into(), json!(document.about));
    schema
}

/// A schema that fits one more example.
#[allow(dead_code, reason = "not all tests widen")]
pub(crate) fn widened_by(schema: &Value, example: &Value) -> Value {
    merged(schema.clone(), inferred(example))
}

fn inferred(value: &Value) -> Value {
    match value {
        // What else it may be is not known, so it may be anything.
        Value::Null => json!({ "examples": [null] }),
        Value::Bool(_) => json!({ "type": ["boolean"] }),
        Value::Number(number) if number.is_f64() => json!({ "type": ["number"] }),
        Value::Number(_) => json!({ "type": ["integer"] }),
        Value::String(_) => json!({ "type": ["string"] }),
        Value::Array(items) => {
            let items = items.iter().map(inferred).reduce(merged);
            json!({ "type": ["array"], "items": items.map_or_else(|| json!({}), or_null) })
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| (key.clone(), of_field(key, value));
            let properties: Map<String, Value> = fields.iter().map(field).collect();
            let is_always_there = |key: &&String| match fields.get("kind") {
                Some(_) => *key == "kind",
                None => fields.len() > 1,
            };
            let required: Vec<&String> = fields.keys().filter(is_always_there).collect();
            json!({ "type": ["object"], "properties": properties, "required": required })
        }
    }
}

/// A value may be `null`, but for those that say what a document is.
fn of_field(key: &str, value: &Value) -> Value {
    let schema = match key {
        "path" | "second_path" if value.is_object() => of_path(),
        _ => inferred(value),
    };
    if ["schema", "version"].contains(&key) { schema } else { or_null(schema) }
}

fn or_null(schema: Value) -> Value {
    if schema.get("type").is_some() { merged(schema, json!({ "type": ["null"] })) } else { schema }
}

/// A path as its file asks for it, with the keys that the file sets; what each may be, by the types
/// that read it.
fn of_path() -> Value {
    let spec = &scenario_schema()["$defs"]["PathSpec"];
    let field = |(key, written): (&String, &Value)| {
        let mut types = types_of(written);
        types.insert("null");
        (key.clone(), json!({ "type": types }))
    };
    let fields: Map<String, Value> =
        spec["properties"].as_object().unwrap().iter().map(field).collect();
    let description = "As PathSpec in docs/scenario.schema.json, which describes each key further";
    json!({
        "type": ["object"], "properties": fields, "required": [], "description": description
    })
}

/// The JSON types of what a scenario may say in a place.
fn types_of(written: &Value) -> BTreeSet<&str> {
    if let Some(place) = written["$ref"].as_str() {
        return types_of(scenario_schema().pointer(place.trim_start_matches('#')).unwrap());
    }
    let own = match &written["type"] {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect::<Vec<_>>(),
    };
    let forms = ["anyOf", "oneOf"].into_iter().filter_map(|key| written[key].as_array()).flatten();
    own.into_iter().chain(forms.flat_map(types_of)).collect()
}

/// What fits either.
fn merged(a: Value, b: Value) -> Value {
    let (Value::Object(mut a), Value::Object(b)) = (a, b) else { unreachable!("schemas") };
    if a.is_empty() || b.is_empty() {
        return Value::Object(if a.is_empty() { b } else { a });
    }
    let types = |schema: &Map<String, Value>| -> Vec<String> {
        let of = |it: &Value| it.as_str().unwrap().to_owned();
        let types = schema.get("type").and_then(Value::as_array);
        types.map_or_else(|| vec!["null".into()], |types| types.iter().map(of).collect())
    };
    let mut all = types(&a);
    all.extend(types(&b));
    all.sort();
    all.dedup();
    if all.contains(&"number".into()) {
        all.retain(|name| name != "integer");
    }
    for (key, theirs) in b {
        let merged = match (key.as_str(), a.remove(&key)) {
            ("type", _) => json!(all),
            (_, None) => theirs,
            ("items", Some(ours)) => merged(ours, theirs),
            ("properties", Some(Value::Object(mut ours))) => {
                let Value::Object(theirs) = theirs else { unreachable!("properties") };
                for (name, their) in theirs {
                    let one = match ours.remove(&name) {
                        Some(our) => merged(our, their),
                        None => their,
                    };
                    ours.insert(name, one);
                }
                Value::Object(ours)
            }
            ("required", Some(Value::Array(ours))) => {
                let theirs = theirs.as_array().unwrap();
                ours.into_iter().filter(|name| theirs.contains(name)).collect()
            }
            (_, Some(ours)) => ours,
        };
        a.insert(key, merged);
    }
    if all != ["null"] {
        a.remove("examples");
        a.insert("type".into(), json!(all));
    }
    Value::Object(a)
}

/// Where `value` does not fit.
pub(crate) fn faults(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let Some(types) = schema.get("type") else { return Vec::new() };
    let types: Vec<&str> = match types {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let own = match value {
        Value::Null => &["null"][..],
        Value::Bool(_) => &["boolean"],
        Value::Number(number) if number.is_f64() => &["number"],
        Value::Number(_) => &["integer", "number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    if !types.iter().any(|name| own.contains(name)) {
        return vec![format!("{place}: {} is not of {types:?}", value.to_string())];
    }
    match value {
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return Vec::new() };
            let all = items.iter().enumerate();
            all.flat_map(|(at, item)| faults(schema, item, &format!("{place}[{at}]"))).collect()
        }
        Value::Object(fields) => {
            let required = schema.get("required").and_then(Value::as_array);
            let missing = required.into_iter().flatten().filter_map(Value::as_str);
            let missing = missing.filter(|name| !fields.contains_key(*name));
            let mut found: Vec<String> =
                missing.map(|name| format!("{place}: `{name}` is missing")).collect();
            for (name, value) in fields {
                if let Some(schema) = schema.get("properties").and_then(|it| it.get(name)) {
                    found.extend(faults(schema, value, &format!("{place}.{name}")));
                }
            }
            found
        }
        _ => Vec::new(),
    }
}
