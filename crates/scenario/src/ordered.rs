//! Sections of a file as plain data that keeps their order: the order of a matrix is that of the
//! cases.

use std::fmt::{self, Display};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of TOML or JSON, with the keys of tables in their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Ordered {
    /// Nothing, which TOML leaves out.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// Words; dates, too.
    Text(String),
    /// Values one after the other.
    List(Vec<Ordered>),
    /// Keys and their values.
    Table(Vec<(String, Ordered)>),
}

impl Ordered {
    /// The keys and values of a file, in the order in which they stand there.
    pub(crate) fn of_table(table: &DeTable<'_>) -> Ordered {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            (key.to_string(), Ordered::of(value.get_ref()))
        };
        Ordered::Table(entries.into_iter().map(entry).collect())
    }

    fn of(value: &DeValue<'_>) -> Ordered {
        match value {
            DeValue::String(text) => Ordered::Text(text.to_string()),
            DeValue::Boolean(flag) => Ordered::Flag(*flag),
            DeValue::Integer(number) => {
                let read = i64::from_str_radix(number.as_str(), number.radix());
                read.map_or_else(|_| Ordered::Text(number.to_string()), Ordered::Whole)
            }
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .map_or_else(|_| Ordered::Text(number.to_string()), Ordered::Number),
            DeValue::Datetime(time) => Ordered::Text(time.to_string()),
            DeValue::Array(items) => {
                Ordered::List(items.iter().map(|item| Ordered::of(item.get_ref())).collect())
            }
            DeValue::Table(table) => Ordered::of_table(table),
        }
    }
}

/// As JSON.
impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Ordered::Nothing => to.serialize_none(),
            Ordered::Flag(flag) => to.serialize_bool(*flag),
            Ordered::Whole(number) => to.serialize_i64(*number),
            Ordered::Number(number) => to.serialize_f64(*number),
            Ordered::Text(text) => to.serialize_str(text),
            Ordered::List(items) => to.collect_seq(items),
            Ordered::Table(entries) => to.collect_map(entries.iter().map(|(key, it)| (key, it))),
        }
    }
}

/// As TOML: a section for each table at the top, all below it within a line, since TOML has no way
/// to write a plain value behind a table of its own. Without what is nothing.
impl Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ordered::Table(sections) = self else { return self.write_inline(f) };
        let there = || sections.iter().filter(|(_, value)| *value != Ordered::Nothing);
        for (key, value) in there().filter(|(_, value)| !value.is_section()) {
            write_entry(f, key, value)?;
        }
        for (key, value) in there().filter(|(_, value)| value.is_section()) {
            match value {
                Ordered::List(tables) => {
                    for table in tables {
                        write!(f, "\n[[{}]]\n", Key(key))?;
                        table.write_entries(f)?;
                    }
                }
                table => {
                    write!(f, "\n[{}]\n", Key(key))?;
                    table.write_entries(f)?;
                }
            }
        }
        Ok(())
    }
}

impl Ordered {
    /// Whether it is a table, or a list of nothing else.
    fn is_section(&self) -> bool {
        match self {
            Ordered::Table(_) => true,
            Ordered::List(items) => {
                !items.is_empty() && items.iter().all(|item| matches!(item, Ordered::Table(_)))
            }
            _ => false,
        }
    }

    fn write_entries(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ordered::Table(entries) = self else { return Ok(()) };
        let mut there = entries.iter().filter(|(_, value)| *value != Ordered::Nothing);
        there.try_for_each(|(key, value)| write_entry(f, key, value))
    }

    fn write_inline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ordered::Nothing => Ok(()),
            Ordered::Flag(flag) => toml::Value::Boolean(*flag).fmt(f),
            Ordered::Whole(number) => toml::Value::Integer(*number).fmt(f),
            Ordered::Number(number) => toml::Value::Float(*number).fmt(f),
            Ordered::Text(text) => toml::Value::String(text.clone()).fmt(f),
            Ordered::List(items) => {
                f.write_str("[")?;
                let there = items.iter().filter(|item| **item != Ordered::Nothing);
                for (place, item) in there.enumerate() {
                    f.write_str(if place > 0 { ", " } else { "" })?;
                    item.write_inline(f)?;
                }
                f.write_str("]")
            }
            Ordered::Table(entries) => {
                f.write_str("{")?;
                let there = entries.iter().filter(|(_, value)| *value != Ordered::Nothing);
                for (place, (key, value)) in there.enumerate() {
                    write!(f, "{}{} = ", if place > 0 { ", " } else { " " }, Key(key))?;
                    value.write_inline(f)?;
                }
                f.write_str(" }")
            }
        }
    }
}

fn write_entry(f: &mut fmt::Formatter<'_>, key: &str, value: &Ordered) -> fmt::Result {
    write!(f, "{} = ", Key(key))?;
    value.write_inline(f)?;
    f.write_str("\n")
}

/// A key, in quotes where it needs them.
struct Key<'a>(&'a str);

impl Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !self.0.is_empty() && self.0.chars().all(is_bare) {
            f.write_str(self.0)
        } else {
            toml::Value::String(self.0.to_owned()).fmt(f)
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Ordered, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, a list, a word, a number or a flag")
    }
    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Nothing)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Ordered, E> {
        Ok(Ordered::Flag(flag))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Ordered, E> {
        Ok(Ordered::Whole(number))
    }
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Ordered, E> {
        let fits = i64::try_from(number).map(Ordered::Whole);
        fits.map_err(|_| E::custom(format!("{number} is above 2^63, the largest number of TOML")))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Ordered, E> {
        Ok(Ordered::Number(number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Ordered, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Ordered::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Ordered, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Ordered::Table(table))
    }
}
