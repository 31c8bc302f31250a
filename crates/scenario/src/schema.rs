//! Descriptions of keys from the JSON Schema.

use std::iter;
use std::sync::LazyLock;

use serde_json::Value;

use crate::embedded;
use crate::key::Key;
use crate::problem::nearest;

/// The file for editors, which a test compares with the types. The program carries it, as that
/// takes less room than what makes it.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = embedded::schema().as_bytes();
    serde_json::from_slice(text).expect("a test has compared it with the types")
});

/// The JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// The parts of the longest key that is looked for.
const DEPTH_MAX: usize = 3;

/// What a file is read as; the schema describes its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReadAs {
    Scenario,
    Path,
}

impl ReadAs {
    fn root(self) -> &'static Value {
        match self {
            ReadAs::Scenario => &SCHEMA,
            ReadAs::Path => &SCHEMA["$defs"]["PathSpec"],
        }
    }

    /// The schema's description of a key: the doc comment of its field. Parts that are numbers are
    /// indices into lists and are skipped.
    pub(crate) fn description(self, key: &Key) -> Option<String> {
        let mut places = forms(self.root());
        let mut described = None;
        for part in key.0.iter().filter(|part| part.parse::<usize>().is_err()) {
            let property = places.iter().find_map(|place| place["properties"].get(part))?;
            described = property.get("description");
            places = forms(property);
        }
        let text = described?.as_str()?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The shortest keys called `name`, not below lists.
    pub(crate) fn keys_called(self, name: &str) -> Vec<String> {
        self.keys_where(|_, part| part == name)
    }

    /// The shortest keys below `table` whose names are like `name`, not below lists.
    pub(crate) fn keys_like(self, table: &str, name: &str) -> Vec<String> {
        self.keys_where(|above, part| {
            let is_below = above.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
            is_below && nearest(name, iter::once(part)).is_some()
        })
    }

    /// The shortest keys for which `is` holds, of what stands before and of the name.
    fn keys_where(self, is: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let mut level = vec![(String::new(), self.root())];
        let mut found = Vec::new();
        for _ in 0..DEPTH_MAX {
            let mut next = Vec::new();
            for (key, place) in level {
                for form in forms(place) {
                    for (part, value) in form["properties"].as_object().into_iter().flatten() {
                        let below =
                            if key.is_empty() { part.clone() } else { format!("{key}.{part}") };
                        if is(&key, part) {
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
}

/// All forms of a value: follows references, splits alternatives, opens lists.
fn forms(place: &'static Value) -> Vec<&'static Value> {
    if let Some(reference) = place["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| SCHEMA.pointer(pointer));
        return target.map(forms).unwrap_or_default();
    }
    if let Some(choices) = place["anyOf"].as_array() {
        return choices.iter().flat_map(forms).collect();
    }
    // An optional list has the type array or null.
    if let Some(items) = place.get("items") {
        return forms(items);
    }
    vec![place]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::file::ScenarioFile;

    /// Where editors find the schema.
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.schema.json");

    #[test]
    fn schema_in_docs_equals_types() {
        let made = schemars::schema_for!(ScenarioFile).to_value();
        let made = serde_json::to_string_pretty(&made).unwrap() + "\n";
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
            assert_eq!(ReadAs::Scenario.keys_called(name), found, "{name}");
        }
        let sockets = ["client.socket.congestion", "server.socket.congestion"];
        assert_eq!(ReadAs::Scenario.keys_called("congestion")[..2], sockets);
        let like = ReadAs::Scenario.keys_like("client", "congesion");
        assert!(like.contains(&"client.socket.congestion".into()), "{like:?}");
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
            assert!(
                ReadAs::Scenario.description(&key).is_some_and(|text| text.len() > 10),
                "{key}"
            );
        }
        assert_eq!(ReadAs::Scenario.description(&Key::parse("path.colour").unwrap()), None);
    }
}
