//! JSON Schemas made from examples, and values checked against schemas: types, properties, items.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tcplab_quantities::{Document, TRACE_DOCUMENT};

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
            json!({ "type": ["array"], "items": items.unwrap_or_else(|| json!({})) })
        }
        Value::Object(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(key, value)| (key.clone(), inferred(value))).collect();
            let required: Vec<&String> = fields.keys().collect();
            json!({ "type": ["object"], "properties": properties, "required": required })
        }
    }
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
