//! Writes scenario files from programs, and takes them apart.

use serde_json::Value;
use toml::de::DeTable;

use crate::ordered::Ordered;

/// The text of a scenario file with these sections at its top. [`Scenario::parse`] checks it.
///
/// [`Scenario::parse`]: crate::Scenario::parse
///
/// # Panics
/// If `file` is not an object, or contains a number above 2⁶³, which TOML lacks.
pub fn compose(file: &Value) -> String {
    assert!(file.is_object(), "a scenario file is a table");
    toml::to_string(&without_null(file)).expect("TOML has what JSON has, but for null")
}

/// The sections of a scenario file, in their order; nothing in them is checked.
///
/// # Errors
/// If it is no TOML.
pub fn decompose(source: &str) -> Result<Ordered, toml::de::Error> {
    Ok(Ordered::of_table(DeTable::parse(source)?.get_ref()))
}

/// TOML leaves out what is null in JSON.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_null(value)))
            .collect(),
        Value::Array(items) => {
            items.iter().filter(|item| !item.is_null()).map(without_null).collect()
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
    fn composed_scenario_is_read_back() {
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
            let again = decompose(&source).unwrap();
            assert_eq!(decompose(&again.to_string()).unwrap(), again, "{name}");
            let read = Scenario::parse(&source, "composed").unwrap_or_else(|error| {
                panic!("{name}: {error}\n{source}");
            });
            assert_eq!(read.cases.len(), 2, "{name}");
            assert_eq!(read.cases[0].path, path, "{name}");
            assert_eq!(read.cases[0].client.sysctl["net.ipv4.tcp_sack"], "0", "{name}");
        }
    }

    #[test]
    fn catalogue_taken_apart_and_put_together_means_the_same() {
        for (name, source) in crate::catalogue() {
            let again = decompose(source).unwrap().to_string();
            let [one, other] = [*source, &again].map(|source| {
                let read = Scenario::parse(source, name);
                let read = read.unwrap_or_else(|error| panic!("{name}: {error}\n{source}"));
                read.cases.into_iter().map(|case| (case.name, case.hash)).collect::<Vec<_>>()
            });
            assert_eq!(one, other, "{name}");
        }
    }

    #[test]
    fn order_is_kept_and_nothing_left_out() {
        let json = r#"{"z": 1, "b": {"y": [1, null, 2.5], "x": null}, "a": "t"}"#;
        let read: Ordered = serde_json::from_str(json).unwrap();
        let text = read.to_string();
        let again = serde_json::to_string(&decompose(&text).unwrap()).unwrap();
        assert!(again.find("\"z\"").unwrap() < again.find("\"a\"").unwrap(), "{text}{again}");
        assert!(!text.contains('x') && text.contains("[1, 2.5]"), "{text}");
        assert!(decompose("a = ").is_err());
    }
}
