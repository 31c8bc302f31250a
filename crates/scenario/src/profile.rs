//! Named stacks: what each does otherwise than today's Linux, as data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcplab_stack::Config;

use crate::embedded::embedded;

/// A stack that can be modelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name in scenarios, behind `model:`.
    pub name: &'static str,
    /// Which stack it is, in a line.
    pub title: String,
    /// From where its constants are known.
    pub source: String,
    /// Whether the stack's source is closed, so that it is modelled by what is told of it.
    pub like: bool,
    /// What it does.
    pub config: Config,
}

/// Why there is no such profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing of that name.
    #[error("`{name}` is no model of a stack; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

#[derive(Deserialize)]
struct File {
    title: String,
    source: String,
    #[serde(default)]
    like: bool,
    #[serde(flatten)]
    config: Config,
}

/// The files of `stacks/`, by name.
pub(crate) const FILES: &[(&str, &str)] = embedded![
    "stacks":
    "haiku-2017-after",
    "haiku-2017-before",
    "haiku-2017-middle",
    "linux-6.12",
    "linux-6.18",
    "netburner",
    "osx-10.7",
    "windows-7",
    "windows-7-compound",
];

impl Profile {
    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// The profile of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = Profile::names().collect();
            return Err(ProfileError::Unknown { name: name.into(), known: known.join(", ") });
        };
        let file: File = toml::from_str(text).expect("every profile is read by a test");
        let File { title, source, like, config } = file;
        Ok(Profile { name, title, source, like, config })
    }
}

/// What a model does otherwise than its profile: sections and keys as in the files of `stacks/`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelSettings(BTreeMap<String, BTreeMap<String, Value>>);

/// A setting that no model has, or not so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelSettingError {
    /// Section and key, with a dot between.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl ModelSettings {
    /// The section that says how fast the machine is, whatever runs on it.
    pub(crate) const HOST: &str = "host";

    /// Whether nothing is otherwise.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sections that are named.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The settings of a profile with these in the place of its own.
    ///
    /// # Errors
    /// At the first that is none of a model's.
    pub fn applied_to(&self, profile: &str) -> Result<Config, ModelSettingError> {
        let text = FILES.iter().find(|(known, _)| *known == profile).map_or("", |(_, text)| text);
        let table: toml::Table = text.parse().expect("every profile is read by a test");
        let mut whole = serde_json::to_value(table).expect("a profile is plain data");
        let fields = whole.as_object_mut().expect("a profile is a table");
        for word in ["title", "source", "like"] {
            fields.remove(word);
        }
        for (section, keys) in &self.0 {
            for (key, value) in keys {
                let fields = whole.as_object_mut().expect("a profile is a table");
                let fields = fields
                    .entry(section.as_str())
                    .or_insert_with(|| Value::Object(serde_json::Map::new()));
                let fields = fields.as_object_mut().expect("a section of a profile is a table");
                fields.insert(key.clone(), value.clone());
                // One by one, so that the one that is wrong can be named.
                Config::deserialize(&whole).map_err(|error| ModelSettingError {
                    key: format!("{section}.{key}"),
                    message: error.to_string(),
                })?;
            }
        }
        Ok(Config::deserialize(&whole).expect("each step of it was read"))
    }
}

impl JsonSchema for ModelSettings {
    fn schema_name() -> Cow<'static, str> {
        Config::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Config::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_can_be_read() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap();
            assert!(!profile.title.is_empty() && !profile.source.is_empty(), "{name}");
        }
    }

    /// Unknown keys inside sections are refused in reading; those outside are not seen there.
    #[test]
    fn no_section_is_misspelt() {
        let known = [
            "title",
            "source",
            "like",
            "handshake",
            "timeout",
            "recovery",
            "window",
            "sending",
            "receiving",
            "acks",
            "path_mtu",
            "liveness",
            "host",
        ];
        for (name, text) in FILES {
            let table: toml::Table = text.parse().unwrap();
            let wrong: Vec<_> = table.keys().filter(|key| !known.contains(&key.as_str())).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn linux_is_the_default() {
        assert_eq!(Profile::named("linux-6.18").unwrap().config, Config::default());
    }

    #[test]
    fn settings_take_the_place_of_the_profiles() {
        let read = |text: &str| toml::from_str::<ModelSettings>(text).unwrap();
        let settings = read("sending = { segments = 20 }\nhost = { processing = \"240 µs\" }");
        let config = settings.applied_to("netburner").unwrap();
        assert_eq!(config.sending.segments, Some(20));
        assert_eq!(config.sending.unacked, Some(5), "what the profile says and nobody else");
        assert_eq!(config.host.processing.as_micros(), 240);
        assert_eq!(
            ModelSettings::default().applied_to("netburner").unwrap(),
            Profile::named("netburner").unwrap().config
        );
        for (text, key) in [
            ("sending = { segments = 20, colour = 1 }", "sending.colour"),
            ("senders = { segments = 20 }", "senders.segments"),
            ("host = { tick = 4 }", "host.tick"),
        ] {
            assert_eq!(read(text).applied_to("netburner").unwrap_err().key, key);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let told = Profile::named("windows-95").unwrap_err().to_string();
        assert!(
            told.starts_with("`windows-95` is no model of a stack; there are haiku-2017-after")
        );
    }
}
