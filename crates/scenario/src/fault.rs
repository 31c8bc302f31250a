//! A problem and its place, while the file is being read.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use crate::key::Key;
use crate::problem::Problem;

/// A problem and where in the file it is.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) problem: Box<Problem>,
    pub(crate) span: Range<usize>,
    /// Its key, where the message does not contain it.
    pub(crate) key: Option<Key>,
    /// Whether the value alone is wrong, whatever stands beside it.
    pub(crate) is_shape: bool,
}

impl Fault {
    pub(crate) fn new(problem: Problem, span: Range<usize>) -> Fault {
        Fault { problem: Box::new(problem), span, key: None, is_shape: false }
    }

    /// A problem with the value of the dotted `key` of `file`.
    pub(crate) fn at(key: &str, problem: Problem, file: &Spanned<DeTable<'_>>) -> Fault {
        let key = Key(key.split('.').map(String::from).collect());
        Fault::new(problem, key.span_in(file)).of_key(&key)
    }

    pub(crate) fn of_key(self, key: &Key) -> Fault {
        Fault { key: Some(key.clone()), ..self }
    }

    /// The text is not TOML.
    pub(crate) fn syntax(error: &toml::de::Error) -> Fault {
        let span = error.span().unwrap_or_default();
        Fault::new(Problem::Syntax(error.message().into()), span)
    }

    /// The TOML is not a scenario: rewrites serde's message for the author of `file`.
    pub(crate) fn reading(error: &toml::de::Error, file: &Spanned<DeTable<'_>>) -> Fault {
        let span = error.span().unwrap_or_default();
        let key = Key::at(&span, file.get_ref());
        if error.message().starts_with("missing field") {
            let missing = quoted(error.message()).next().unwrap_or_default();
            return Fault { is_shape: true, ..Fault::missing(missing, key, span) };
        }
        let table = |unknown: &str| Some(key.as_ref()?.table_of(unknown)?.to_string());
        let problem = wrong_value(error.message(), table);
        Fault { problem: Box::new(problem), span, key, is_shape: true }
    }

    /// A key is missing from the table at `span`; `table` is that table's key, none the whole file.
    fn missing(missing: String, table: Option<Key>, span: Range<usize>) -> Fault {
        let span = if table.is_some() { span } else { 0..0 };
        let mut key = table.clone().unwrap_or_default();
        key.0.push(missing.clone());
        let table = table.map(|table| table.to_string());
        Fault::new(Problem::MissingKey { key: missing, table }, span).of_key(&key)
    }
}

/// What serde's message about a key or value says; `table` has the key of this name.
pub(crate) fn wrong_value(message: &str, table: impl Fn(&str) -> Option<String>) -> Problem {
    let mut quoted = quoted(message);
    if message.starts_with("unknown field") {
        let key = quoted.next().unwrap_or_default();
        Problem::UnknownKey { table: table(&key), key, allowed: quoted.collect() }
    } else if message.starts_with("unknown variant") {
        let word = quoted.next().unwrap_or_default();
        Problem::UnknownWord { word, allowed: quoted.collect() }
    } else {
        Problem::Value(plain(message))
    }
}

fn quoted(message: &str) -> impl Iterator<Item = String> {
    message.split('`').skip(1).step_by(2).map(String::from)
}

/// Rewrites serde's message about a wrong type or number without Rust's terms.
fn plain(message: &str) -> String {
    let Some((kind, rest)) = message.split_once(": ") else { return message.into() };
    if !matches!(kind, "invalid type" | "invalid value") {
        return message.into();
    }
    let Some((found, wanted)) = rest.rsplit_once(", expected ") else { return message.into() };
    let wanted = match wanted {
        "u16" => "a whole number from 0 to 65535",
        // What a key may be at most stands in its description.
        "u32" if is_above_u32(found) => "a whole number up to 4294967295",
        "u32" | "u64" => "a whole number, not negative",
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list",
        "an array of length 2" => "a list of two values",
        wanted if wanted.starts_with("struct ") => "a table",
        wanted => wanted,
    };
    let found = found.replace("map", "a table").replace("sequence", "a list");
    format!("expected {wanted}, found {found}")
}

/// Whether serde found an integer that is too large: "integer `4294967296`".
fn is_above_u32(found: &str) -> bool {
    let number =
        found.strip_prefix("integer ").and_then(|number| number.trim_matches('`').parse().ok());
    number.is_some_and(|number: i128| number > i128::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_message_becomes_plain() {
        for (serde, ours) in [
            (
                "invalid type: integer `5`, expected a string",
                "expected a string, found integer `5`",
            ),
            (
                "invalid type: map, expected u32",
                "expected a whole number, not negative, found a table",
            ),
            (
                "invalid type: string \"10\", expected u32",
                "expected a whole number, not negative, found string \"10\"",
            ),
            (
                "invalid value: integer `4294967296`, expected u32",
                "expected a whole number up to 4294967295, found integer `4294967296`",
            ),
            ("invalid type: sequence, expected struct PathSpec", "expected a table, found a list"),
            (
                "`5` has no unit: give a time span such as `5 ms`",
                "`5` has no unit: give a time span such as `5 ms`",
            ),
        ] {
            assert_eq!(plain(serde), ours);
        }
    }
}
