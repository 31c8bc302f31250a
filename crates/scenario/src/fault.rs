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
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2).map(String::from);
        let problem = if message.starts_with("unknown field") {
            let unknown = quoted.next().unwrap_or_default();
            let table = key.as_ref().and_then(|key| key.table_of(&unknown));
            let table = table.map(|table| table.to_string());
            Problem::UnknownKey { key: unknown, table, allowed: quoted.collect() }
        } else if message.starts_with("missing field") {
            let missing = quoted.next().unwrap_or_default();
            return Fault { is_shape: true, ..Fault::missing(missing, key, span) };
        } else if message.starts_with("unknown variant") {
            let word = quoted.next().unwrap_or_default();
            Problem::UnknownWord { word, allowed: quoted.collect() }
        } else {
            Problem::Value(plain(message))
        };
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

/// Rewrites serde's message about a wrong type or number without Rust's terms.
fn plain(message: &str) -> String {
    let Some((kind, rest)) = message.split_once(": ") else { return message.into() };
    if !matches!(kind, "invalid type" | "invalid value") {
        return message.into();
    }
    let Some((found, wanted)) = rest.rsplit_once(", expected ") else { return message.into() };
    let wanted = match wanted {
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number, not negative",
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list",
        wanted if wanted.starts_with("struct ") => "a table",
        wanted => wanted,
    };
    let found = found.replace("map", "a table").replace("sequence", "a list");
    format!("expected {wanted}, found {found}")
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
                "expected a whole number from 0 to 4294967295, found a table",
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
