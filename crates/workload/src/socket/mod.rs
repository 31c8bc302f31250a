//! The options an application sets on its socket.
//!
//! [`table`] describes each; here is what a scenario asks for.

mod option;
mod outcome;
pub mod table;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcplab_units::{Bytes, Rate, Span};

pub use option::{Access, Level, OptionInfo, SocketRole, is_of_the_machine};
pub use outcome::{Outcome, outcome};
pub use value::{Kind, OptionValue};

use value::ValueOf;

/// What is done when an option is refused.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum IfRefused {
    /// The trial fails: it would not be the experiment that was asked for.
    #[default]
    Fail,
    /// The refusal is recorded and the trial continues without the option.
    Record,
}

/// Socket options: what a scenario asks for, by the [keys](table::keyed) of the table. An option
/// left out keeps the system's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// By key.
    values: BTreeMap<&'static str, OptionValue>,
    /// What is done when one is refused.
    pub if_refused: IfRefused,
}

impl SocketOptions {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many are asked for.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// What is asked for of the option with this key.
    pub fn value(&self, key: &str) -> Option<&OptionValue> {
        self.values.get(key)
    }

    /// What is asked for, in the order in which it is set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static OptionInfo, &OptionValue)> {
        table::keyed().filter_map(|(key, info)| Some((key, info, self.values.get(key)?)))
    }

    /// Asks for `value` of the option with this key.
    ///
    /// # Panics
    /// When the table has no such key.
    #[must_use]
    pub fn with(mut self, key: &str, value: OptionValue) -> SocketOptions {
        let (key, _) = table::keyed().find(|(known, _)| *known == key).expect("a key of the table");
        self.values.insert(key, value);
        self
    }

    /// These, and of `others` those that are not among them.
    #[must_use]
    pub fn or(&self, others: &SocketOptions) -> SocketOptions {
        let mut values = others.values.clone();
        values.extend(self.values.clone());
        let if_refused = self.if_refused.max(others.if_refused);
        SocketOptions { values, if_refused }
    }

    /// TCP_CONGESTION.
    pub fn congestion(&self) -> Option<&str> {
        match self.value("congestion")? {
            OptionValue::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The backlog of listen(2), connections.
    pub fn backlog(&self) -> Option<u32> {
        self.value("backlog")?.number(Kind::Number("", 0, 0))?.try_into().ok()
    }

    /// SO_RCVTIMEO: how long a read waits, or `accept` on a listening socket; none: for ever.
    pub fn receive_timeout(&self) -> Option<Span> {
        match self.value("rcvtimeo") {
            Some(OptionValue::Span(span)) => Some(*span).filter(|span| !span.is_zero()),
            _ => None,
        }
    }

    /// Refuses what no kernel takes, and what makes no sense on that socket.
    ///
    /// # Errors
    /// The first option that is out of its range or on the wrong socket.
    pub fn check(&self, role: SocketRole) -> Result<(), SocketError> {
        for (key, info, value) in self.iter() {
            if !info.fits(role) {
                return Err(SocketError::Role { key, only: info.only, role });
            }
            if let Some(objection) = value.objection(info.kind) {
                return Err(SocketError::Value { key, objection });
            }
        }
        Ok(())
    }
}

/// Why socket options cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum SocketError {
    #[error("`{key}` {objection}")]
    Value { key: &'static str, objection: String },
    #[error("`{key}` is an option of {}, not of {}", sockets(only), in_words(*role))]
    Role { key: &'static str, only: &'static [SocketRole], role: SocketRole },
}

impl SocketError {
    /// The key it is about.
    pub fn key(&self) -> &'static str {
        match self {
            SocketError::Value { key, .. } | SocketError::Role { key, .. } => key,
        }
    }
}

fn sockets(roles: &[SocketRole]) -> String {
    roles.iter().map(|role| in_words(*role)).collect::<Vec<_>>().join(" or ")
}

fn in_words(role: SocketRole) -> &'static str {
    match role {
        SocketRole::Client => "the client's socket (`[client] socket`)",
        SocketRole::Listener => "the listening socket (`[server] socket`)",
        SocketRole::Accepted => "an accepted socket (`[server] accepted`)",
    }
}

/// The key beside those of the options.
const IF_REFUSED: &str = "if_refused";

/// All keys, for the error about another.
static KEYS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| table::keyed().map(|(key, _)| key).chain([IF_REFUSED]).collect());

impl Serialize for SocketOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Entry<'a> {
            Value(&'a OptionValue),
            IfRefused(IfRefused),
        }
        let values = self.values.iter().map(|(key, value)| (*key, Entry::Value(value)));
        let refusal = (self.if_refused != IfRefused::Fail)
            .then_some((IF_REFUSED, Entry::IfRefused(self.if_refused)));
        serializer.collect_map(values.chain(refusal))
    }
}

impl<'de> Deserialize<'de> for SocketOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SocketOptions, D::Error> {
        deserializer.deserialize_map(OptionsVisitor)
    }
}

struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = SocketOptions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of socket options")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SocketOptions, A::Error> {
        let mut options = SocketOptions::default();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            match key {
                Key::IfRefused => options.if_refused = map.next_value()?,
                Key::Option(key, info) => {
                    let value = map.next_value_seed(ValueOf(info.kind))?;
                    if options.values.insert(key, value).is_some() {
                        return Err(A::Error::duplicate_field(key));
                    }
                }
            }
        }
        Ok(options)
    }
}

enum Key {
    Option(&'static str, &'static OptionInfo),
    IfRefused,
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a socket option")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        if name == IF_REFUSED {
            return Ok(Key::IfRefused);
        }
        table::keyed()
            .find(|(key, _)| *key == name)
            .map(|(key, info)| Key::Option(key, info))
            .ok_or_else(|| E::unknown_field(name, &KEYS))
    }
}

impl JsonSchema for SocketOptions {
    fn schema_name() -> Cow<'static, str> {
        "SocketOptions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        for (key, info) in table::keyed() {
            let mut schema = schema_of(info.kind, generator);
            schema.insert("description".into(), described(info).into());
            properties.insert(key.into(), schema.into());
        }
        let mut refusal = generator.subschema_for::<IfRefused>();
        refusal.insert(
            "description".into(),
            "What to do when the kernel refuses an option: `fail` (default) ends the trial, `record` \
             records the refusal and continues without the option."
                .into(),
        );
        properties.insert(IF_REFUSED.into(), refusal.into());
        json_schema!({
            "description": "Socket options; an option that is not given keeps the system's default. \
                            `tcplab sockopts` describes each.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

fn schema_of(kind: Kind, generator: &mut SchemaGenerator) -> Schema {
    match kind {
        Kind::Flag => generator.subschema_for::<bool>(),
        Kind::Number(_, least, most) => {
            json_schema!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Size(..) => generator.subschema_for::<Bytes>(),
        Kind::Seconds(..) | Kind::Millis(..) | Kind::Micros(..) | Kind::Time => {
            generator.subschema_for::<Span>()
        }
        Kind::Linger => {
            let span = generator.subschema_for::<Span>();
            json_schema!({ "anyOf": [{ "type": "boolean", "const": false }, span] })
        }
        Kind::Rate => generator.subschema_for::<Rate>(),
        Kind::Name | Kind::Structure(_) => generator.subschema_for::<String>(),
    }
}

/// What the schema, and so the reference, says of an option.
fn described(info: &OptionInfo) -> String {
    let mut text = format!("{}: {} ({}).", info.name, info.effect, info.kind.range());
    for (intro, more) in
        [("Limited by", info.limited_by), ("Needs", info.privilege), ("Adjusted:", info.adjusted)]
    {
        if let Some(more) = more {
            text += &format!(" {intro} {more}.");
        }
    }
    if info.doubled.is_some() {
        text += " Linux doubles the value.";
    }
    text
}

#[cfg(test)]
mod tests;
