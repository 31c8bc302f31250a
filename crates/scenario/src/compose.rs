//! Scenarios that programs write.

use serde_json::Value;

/// The scenario file with these sections, as text: an object of what the file has at its top.
/// Whether it makes sense shows when it is read.
///
/// # Panics
/// When `file` is no object, or holds a number that TOML has not (above 2⁶³).
pub fn compose(file: &Value) -> String {
    assert!(file.is_object(), "a scenario file is a table");
    toml::to_string(&without_nothing(file)).expect("TOML has what JSON has, but for null")
}

/// TOML says nothing where JSON says null.
fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nothing(value)))
            .collect(),
        Value::Array(items) => {
            items.iter().filter(|item| !item.is_null()).map(without_nothing).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{PathFile, Scenario, presets};

    #[test]
    fn what_is_composed_can_be_read_and_is_the_same() {
        for (name, _) in presets() {
            let path = PathFile::preset(name).unwrap().path;
            let source = compose(&json!({
                "title": name,
                "path": path,
                "workload": { "upload": "1 MB" },
                "repeat": { "trials": 2 },
                "matrix": { "variant": {
                    "old": { "client.socket.congestion": "reno" },
                    "new": { "client.sysctl.'net.ipv4.tcp_sack'": "0" },
                } },
            }));
            let read = Scenario::parse(&source, "composed").unwrap_or_else(|error| {
                panic!("{name}: {error}\n{source}");
            });
            assert_eq!(read.cases.len(), 2, "{name}");
            assert_eq!(read.cases[0].path, path, "{name}");
            assert_eq!(read.cases[0].client.sysctl["net.ipv4.tcp_sack"], "0", "{name}");
        }
    }
}
