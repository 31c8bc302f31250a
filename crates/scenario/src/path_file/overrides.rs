//! Keys of a path that the command line overrides.

use std::fmt::Write;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::Fault;

/// A `KEY=VALUE` as a line of TOML below the file, so that errors can show it.
#[derive(Debug)]
pub(super) struct Override {
    /// The offset of its line.
    pub(super) at: usize,
    /// The line after as many spaces as precede it, so that spans fit the whole text.
    padded: String,
}

/// The file with a line for each override, and the overrides.
pub(super) fn appended(source: &str, overrides: &[String]) -> (String, Vec<Override>) {
    let mut whole = source.to_owned();
    if !whole.is_empty() && !whole.ends_with('\n') && !overrides.is_empty() {
        whole.push('\n');
    }
    let mut all = Vec::new();
    for one in overrides {
        let line = as_toml(one);
        let at = whole.len();
        all.push(Override { at, padded: format!("{:at$}{line}", "") });
        whole += &line;
        whole.push('\n');
    }
    (whole, all)
}

/// The text itself if it is TOML, else with its value in quotes, which command lines leave out.
fn as_toml(text: &str) -> String {
    let text = text.trim();
    if DeTable::parse(text).is_ok() {
        return text.to_owned();
    }
    let Some((key, value)) = text.split_once('=') else { return text.to_owned() };
    let mut line = format!("{} = \"", key.trim());
    for c in value.trim().chars() {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(line, "\\u{:04x}", u32::from(c));
            }
            c => line.push(c),
        }
    }
    line.push('"');
    // If both are wrong, show the one that the user wrote.
    if DeTable::parse(&line).is_ok() { line } else { text.to_owned() }
}

impl Override {
    /// Overrides its keys in `table`, whose first `file` bytes are not overrides.
    pub(super) fn put_over<'i>(
        &'i self,
        table: &mut Spanned<DeTable<'i>>,
        file: usize,
    ) -> Result<(), Fault> {
        let own = DeTable::parse(&self.padded).map_err(|error| Fault::syntax(&error))?.into_inner();
        for key in own.keys().map(|key| key.get_ref().to_string()) {
            // `rtt` and `delay` say the same.
            match key.as_str() {
                "rtt" => remove(table.get_mut(), "delay", file),
                "delay" => remove(table.get_mut(), "rtt", file),
                _ => {}
            }
            // A key of the path applies to both directions; so does `stages`.
            let key = if key == "rtt" { "delay" } else { key.as_str() };
            for direction in ["forward", "reverse"] {
                if let Some(link) = table.get_mut().get_mut(direction)
                    && let DeValue::Table(link) = link.get_mut()
                {
                    remove(link, key, file);
                }
            }
        }
        merge(table.get_mut(), own);
        Ok(())
    }
}

/// Removes a key of the file. Those of other overrides stay: together they have to make a path.
fn remove(table: &mut DeTable<'_>, key: &str, file: usize) {
    if table.get_key_value(key).is_some_and(|(key, _)| key.span().start < file) {
        table.remove(key);
    }
}

/// Merges tables and replaces all other values.
fn merge<'i>(into: &mut DeTable<'i>, from: DeTable<'i>) {
    for (key, value) in from {
        if let (Some(DeValue::Table(inner)), DeValue::Table(_)) =
            (into.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.get_ref())
        {
            if let DeValue::Table(more) = value.into_inner() {
                merge(inner, more);
            }
            continue;
        }
        // The map would keep the old key with its old span.
        into.remove(key.get_ref().as_ref());
        into.insert(key, value);
    }
}
