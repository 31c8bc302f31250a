//! Keys of a path that the command line sets otherwise.

use std::fmt::Write;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::Fault;

/// A `KEY=VALUE` as a line of TOML below the file, so that what is wrong with it has a place that
/// can be shown as any other.
#[derive(Debug)]
pub(super) struct Override {
    /// Where its line begins.
    pub(super) at: usize,
    /// As much white space as stands before it, and the line: its spans are those in the whole.
    padded: String,
}

/// The file with a line for each override, and these.
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

/// The text itself where it is TOML; or else with its value in quotes, which are a burden on a
/// command line.
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
    // Of two texts that are both wrong, people know the one they wrote.
    if DeTable::parse(&line).is_ok() { line } else { text.to_owned() }
}

impl Override {
    /// Sets its keys in `table`.
    pub(super) fn put_over<'i>(&'i self, table: &mut Spanned<DeTable<'i>>) -> Result<(), Fault> {
        let own = DeTable::parse(&self.padded).map_err(|error| Fault::syntax(&error))?.into_inner();
        for key in own.keys().map(|key| key.get_ref().to_string()) {
            // A key of the path is for both directions; `stages` of a direction likewise.
            for direction in ["forward", "reverse"] {
                if let Some(link) = table.get_mut().get_mut(direction)
                    && let DeValue::Table(link) = link.get_mut()
                {
                    link.remove(key.as_str());
                }
            }
        }
        merge(table.get_mut(), own);
        Ok(())
    }
}

/// Tables are merged, all else takes the place of what was there.
fn merge<'i>(into: &mut DeTable<'i>, from: DeTable<'i>) {
    for (key, value) in from {
        match (into.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(inner)), DeValue::Table(_)) => {
                if let DeValue::Table(more) = value.into_inner() {
                    merge(inner, more);
                }
            }
            _ => {
                // The map would keep the old key, and with it the old place in the file.
                into.remove(key.get_ref().as_ref());
                into.insert(key, value);
            }
        }
    }
}
