//! JSON Schemas made from examples, and values held against schemas: types, properties, items.

use serde_json::{Map, Value, json};

/// The schema of a document of this name: what it must have is what the examples had.
pub(crate) fn document(name: &str, example: &Value, known: Option<&Value>) -> Value {
    let mut schema = inferred(example);
    if let Some(known) = known {
        schema = merged(known.clone(), schema);
    }
    let object = schema.as_object_mut().unwrap();
    object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("title".into(), json!(name));
    schema
}

fn inferred(value: &Value) -> Value {
    match value {
        // What else it may be is not known.
        Value::Null => json!({}),
        Value::Bool(_) => json!({ "type": ["boolean"] }),
        Value::Number(number) if number.is_f64() => json!({ "type": ["number"] }),
        Value::Number(_) => json!({ "type": ["integer"] }),
        Value::String(_) => json!({ "type": ["string"] }),
        Value::Array(items) => {
            let items = items.iter().map(inferred).reduce(merged);
            json!({ "type": ["array"], "items": items.unwrap_or_else(|| json!({})) })
        }
        Value::Object(fields) => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| {
                    let mut schema = inferred(value);
                    if value.is_null() {
                        schema = json!({ "type": ["null"] });
                    }
                    (key.clone(), schema)
                })
                .collect();
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
        schema["type"].as_array().unwrap().iter().map(of).collect()
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
    a.insert("type".into(), json!(all));
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
    // Only an example that was always null says nothing of other values.
    let open = types == ["null"];
    if !open && !types.iter().any(|name| own.contains(name)) {
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
