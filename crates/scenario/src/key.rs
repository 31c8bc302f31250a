//! Dotted keys and their places in a document.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in the file: `path.delay`, `client.sysctl.'net.ipv4.tcp_sack'`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Key(pub(crate) Vec<String>);

impl Key {
    /// Reads a dotted key by TOML's rules: parts of letters, digits, `_` and `-`, or quoted ones.
    /// The name of a sysctl, or of a module's parameter, needs no quotes: nothing else can follow
    /// `sysctl` and `module`.
    pub(crate) fn parse(text: &str) -> Option<Key> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        loop {
            let (part, after) = match rest.chars().next()? {
                quote @ ('\'' | '"') => rest[1..].split_once(quote)?,
                _ => rest.split_at(rest.find(|c| !is_bare(c)).unwrap_or(rest.len())),
            };
            if part.is_empty() {
                return None;
            }
            parts.push(part.to_string());
            match after.trim_start() {
                "" => break,
                after => rest = after.strip_prefix('.')?.trim_start(),
            }
        }
        if parts.len() > 3 && ["sysctl", "module"].contains(&parts[1].as_str()) {
            let name = parts.split_off(2).join(".");
            parts.push(name);
        }
        Some(Key(parts))
    }

    /// Its first part.
    pub(crate) fn section(&self) -> &str {
        &self.0[0]
    }

    /// The table that it is in, if not the whole file.
    pub(crate) fn above(&self) -> Option<Key> {
        let (_, table) = self.0.split_last()?;
        (!table.is_empty()).then(|| Key(table.to_vec()))
    }

    /// The table that its part `name` is in; none for one at the top of the file.
    pub(crate) fn table_of(&self, name: &str) -> Option<Key> {
        let depth = self.0.iter().rposition(|part| part == name)?;
        (depth > 0).then(|| Key(self.0[..depth].to_vec()))
    }

    /// The span of its value in `table`, or of the nearest ancestor that exists. A part that is a
    /// number is an index into a list.
    pub(crate) fn span_in(&self, table: &Spanned<DeTable<'_>>) -> Range<usize> {
        let Some((first, below)) = self.0.split_first() else { return table.span() };
        let Some(mut value) = table.get_ref().get(first.as_str()) else { return table.span() };
        for part in below {
            let inner = match value.get_ref() {
                DeValue::Table(table) => table.get(part.as_str()),
                DeValue::Array(items) => {
                    part.parse().ok().and_then(|index: usize| items.get(index))
                }
                _ => None,
            };
            let Some(inner) = inner else { break };
            value = inner;
        }
        value.span()
    }

    /// The key whose name or value is at `span` in `table`. A level of the matrix can create
    /// several keys with one span; the innermost counts.
    pub(crate) fn at(span: &Range<usize>, table: &DeTable<'_>) -> Option<Key> {
        table.iter().find_map(|(name, value)| {
            let inner = match value.get_ref() {
                DeValue::Table(table) => Key::at(span, table),
                DeValue::Array(items) => items.iter().find_map(|item| {
                    let table = item.get_ref().as_table()?;
                    let inner = Key::at(span, table);
                    inner.or_else(|| (item.span() == *span).then(Key::default))
                }),
                _ => None,
            };
            let here = name.span() == *span || value.span() == *span;
            let inner = inner.or_else(|| here.then(Key::default))?;
            let name = std::iter::once(name.get_ref().to_string());
            Some(Key(name.chain(inner.0).collect()))
        })
    }

    /// Inserts `value` into `table` with the key's `span`, and the tables on the way.
    pub(crate) fn put<'i>(
        &self,
        table: &mut DeTable<'i>,
        span: &Range<usize>,
        value: Spanned<DeValue<'i>>,
    ) -> Result<(), Key> {
        let (last, way) = self.0.split_last().expect("a key has parts");
        let spanned = |part: &String| Spanned::new(span.clone(), Cow::Owned(part.clone()));
        let mut place = table;
        for (depth, part) in way.iter().enumerate() {
            let next = place
                .entry(spanned(part))
                .or_insert_with(|| Spanned::new(span.clone(), DeValue::Table(DeTable::new())));
            let DeValue::Table(next) = next.get_mut() else {
                return Err(Key(self.0[..=depth].to_vec()));
            };
            place = next;
        }
        // The map would keep the old key with its old span.
        place.remove(last.as_str());
        place.insert(spanned(last), value);
        Ok(())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            if part.chars().all(is_bare) {
                write!(f, "{dot}{part}")?;
            } else {
                write!(f, "{dot}'{part}'")?;
            }
        }
        Ok(())
    }
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_with_bare_and_quoted_parts_is_read() {
        for (text, written) in [
            ("path.delay", Some("path.delay")),
            (" path . delay ", Some("path.delay")),
            ("client.sysctl.'net.ipv4.tcp_sack'", Some("client.sysctl.'net.ipv4.tcp_sack'")),
            ("client.sysctl.\"net.ipv4.tcp_sack\"", Some("client.sysctl.'net.ipv4.tcp_sack'")),
            ("client.sysctl.net.ipv4.tcp_sack", Some("client.sysctl.'net.ipv4.tcp_sack'")),
            ("server.module.tcp_cubic.hystart", Some("server.module.'tcp_cubic.hystart'")),
            ("", None),
            ("path.", None),
            (".path", None),
            ("path..delay", None),
            ("path delay", None),
            ("client.'open", None),
            ("client.''", None),
        ] {
            let key = Key::parse(text).map(|key| key.to_string());
            assert_eq!(key.as_deref(), written, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".{0,40}") {
            if let Some(key) = Key::parse(&text) {
                proptest::prop_assert!(!key.0.is_empty());
            }
        }
    }
}
