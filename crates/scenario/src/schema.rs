//! Descriptions of keys from the JSON Schema.

use schemars::JsonSchema;

use crate::key::Key;

/// The schema's description of a key: the doc comment of its field. Parts that are numbers are
/// indices into lists and are skipped.
pub(crate) fn description<T: JsonSchema>(key: &Key) -> Option<String> {
    let schema = schemars::schema_for!(T).to_value();
    let mut places = forms(&schema, &schema);
    let mut described = None;
    for part in key.0.iter().filter(|part| part.parse::<usize>().is_err()) {
        let property = places.iter().find_map(|place| place["properties"].get(part))?;
        described = property.get("description");
        places = forms(property, &schema);
    }
    let text = described?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The parts of the longest key that is looked for.
const DEPTH_MAX: usize = 3;

/// The shortest keys called `name`, not below lists.
pub(crate) fn keys_called<T: JsonSchema>(name: &str) -> Vec<String> {
    let schema = schemars::schema_for!(T).to_value();
    let mut level = vec![(String::new(), &schema)];
    let mut found = Vec::new();
    for _ in 0..DEPTH_MAX {
        let mut next = Vec::new();
        for (key, place) in level {
            for form in forms(place, &schema) {
                for (part, value) in form["properties"].as_object().into_iter().flatten() {
                    let below = if key.is_empty() { part.clone() } else { format!("{key}.{part}") };
                    if part == name {
                        found.push(below);
                    } else if value.get("items").is_none() {
                        next.push((below, value));
                    }
                }
            }
        }
        if !found.is_empty() {
            break;
        }
        level = next;
    }
    let shortest = found.iter().map(String::len).min();
    found.retain(|key| Some(key.len()) == shortest);
    found
}

/// All forms of a value: follows references, splits alternatives, opens lists.
fn forms<'s>(
    place: &'s serde_json::Value,
    schema: &'s serde_json::Value,
) -> Vec<&'s serde_json::Value> {
    if let Some(reference) = place["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| schema.pointer(pointer));
        return target.map(|target| forms(target, schema)).unwrap_or_default();
    }
    if let Some(choices) = place["anyOf"].as_array() {
        return choices.iter().flat_map(|choice| forms(choice, schema)).collect();
    }
    // An optional list has the type array or null.
    if let Some(items) = place.get("items") {
        return forms(items, schema);
    }
    vec![place]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::file::{ScenarioFile, schema};

    /// Where editors find the schema.
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.schema.json");

    #[test]
    fn schema_in_docs_equals_types() {
        let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("TCPLAB_BLESS").is_some() {
            std::fs::create_dir_all(std::path::Path::new(FILE).parent().unwrap()).unwrap();
            std::fs::write(FILE, &made).unwrap();
        }
        let kept = std::fs::read_to_string(FILE).unwrap_or_default();
        assert!(
            kept == made,
            "docs/scenario.schema.json is not what the types say; write it anew with\n\
             TCPLAB_BLESS=1 cargo test -p tcplab-scenario schema"
        );
    }

    #[test]
    fn list_of_sections_is_complete() {
        let schema = schema();
        let keys = schema["properties"].as_object().unwrap().keys().map(String::as_str);
        let listed = crate::sections::SECTIONS.iter().copied();
        assert_eq!(keys.collect::<BTreeSet<_>>(), listed.collect::<BTreeSet<_>>());
    }

    #[test]
    fn keys_are_found_by_their_last_part() {
        for (name, found) in
            [("delay", &["path.delay"][..]), ("trials", &["repeat.trials"]), ("colour", &[])]
        {
            assert_eq!(keys_called::<ScenarioFile>(name), found, "{name}");
        }
        let sockets = ["client.socket.congestion", "server.socket.congestion"];
        assert_eq!(keys_called::<ScenarioFile>("congestion")[..2], sockets);
    }

    #[test]
    fn every_key_has_a_description() {
        for key in [
            "title",
            "path.delay",
            "path.interruption.every",
            "path.forward.rate",
            "path.stages.0.rate",
            "path.reverse.stages.1.jitter",
            "client.socket.congestion",
            "server.sysctl",
            "client.route.rto_min",
            "server.module",
            "workload.write_size",
            "repeat.trials",
            "sampling.tcp_info",
            "limits.trial",
            "expect.metric",
        ] {
            let key = Key::parse(key).unwrap();
            assert!(description::<ScenarioFile>(&key).is_some_and(|text| text.len() > 10), "{key}");
        }
        assert_eq!(description::<ScenarioFile>(&Key::parse("path.colour").unwrap()), None);
    }
}
