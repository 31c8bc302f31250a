//! Named stack models: their differences from today's Linux, as data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcplab_stack::{Config, OutOfRange};

use crate::embedded::stacks;
use crate::problem::nearest;

/// A stack model.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name in scenarios, after `model:`.
    pub name: &'static str,
    /// Which stack it models, in a line.
    pub title: String,
    /// The source of its constants.
    pub source: String,
    /// Whether the stack's source is closed, so that the model follows descriptions of it.
    pub like: bool,
    /// Its settings.
    pub config: Config,
}

/// Why a profile cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum ProfileError {
    #[error("unknown stack model `{name}`: {near}use one of {known}")]
    Unknown { name: String, near: String, known: String },
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

impl Profile {
    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        stacks().iter().map(|(name, _)| *name)
    }

    /// The profile with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let Some((name, text)) = stacks().iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = Profile::names().collect();
            let near = nearest(name, Profile::names());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(ProfileError::Unknown { name: name.into(), near, known: known.join(", ") });
        };
        let file: File = toml::from_str(text).expect("every profile is read by a test");
        let File { title, source, like, config } = file;
        Ok(Profile { name, title, source, like, config })
    }
}

/// Settings that differ from a model's profile: sections and keys as in the files of `stacks/`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelSettings(BTreeMap<String, BTreeMap<String, Value>>);

/// An unknown setting, or a wrong value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelSettingError {
    /// Section and key, with a dot between.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl ModelSettings {
    /// The section with the speed of the machine.
    pub(crate) const HOST: &str = "host";

    /// Whether there are no settings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sections with settings.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The settings of a profile with these overrides.
    ///
    /// # Errors
    /// At the first unknown or wrong setting.
    pub fn applied_to(&self, profile: &str) -> Result<Config, ModelSettingError> {
        let text =
            stacks().iter().find(|(known, _)| *known == profile).map_or("", |(_, text)| text);
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
                // One by one, so that the error names the wrong one.
                Config::deserialize(&whole).map_err(|error| {
                    let message = error.to_string();
                    let is_section = message.starts_with(&format!("unknown field `{section}`"));
                    let key = if is_section { section.clone() } else { format!("{section}.{key}") };
                    ModelSettingError { key, message }
                })?;
            }
        }
        let config = Config::deserialize(&whole).expect("each step of it was read");
        // Together, since one bounds another.
        config.check().map_err(|OutOfRange { keys, message }| {
            let key = keys.iter().find(|key| self.sets(key)).unwrap_or(&keys[0]);
            ModelSettingError { key: (*key).into(), message }
        })?;
        Ok(config)
    }

    /// Whether a key, given with its section, is among them.
    fn sets(&self, key: &str) -> bool {
        let parts = key.split_once('.');
        parts.is_some_and(|(section, key)| {
            self.0.get(section).is_some_and(|keys| keys.contains_key(key))
        })
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
    fn every_profile_is_read() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap();
            assert!(!profile.title.is_empty() && !profile.source.is_empty(), "{name}");
        }
    }

    /// Unknown keys inside sections are refused in reading; those outside are not seen there.
    #[test]
    fn sections_of_profiles_are_known() {
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
            "freebsd",
        ];
        for (name, text) in stacks() {
            let table: toml::Table = text.parse().unwrap();
            let wrong: Vec<_> = table.keys().filter(|key| !known.contains(&key.as_str())).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn linux_profile_equals_default() {
        assert_eq!(Profile::named("linux-6.18").unwrap().config, Config::default());
    }

    #[test]
    fn settings_override_profile() {
        let read = |text: &str| toml::from_str::<ModelSettings>(text).unwrap();
        let settings = read("sending = { segments = 20 }\nhost = { processing = \"240 µs\" }");
        let config = settings.applied_to("netburner").unwrap();
        assert_eq!(config.sending.segments, Some(20));
        assert_eq!(config.sending.unacked, Some(5), "what the profile says and nobody else");
        assert_eq!(config.host.processing.as_micros(), 240);
        let both = read("timeout = { least = '200 s', most = '300 s' }");
        assert_eq!(both.applied_to("netburner").unwrap().timeout.most.as_nanos(), 300_000_000_000);
        assert_eq!(
            ModelSettings::default().applied_to("netburner").unwrap(),
            Profile::named("netburner").unwrap().config
        );
        for (text, key) in [
            ("sending = { segments = 20, colour = 1 }", "sending.colour"),
            ("senders = { segments = 20 }", "senders"),
            ("host = { tick = 4 }", "host.tick"),
            ("receiving = { buffer = ['1 kB', '18446744073709551614 B'] }", "receiving.buffer"),
            ("sending = { buffer = ['1 kB', '3 GB'] }", "sending.buffer"),
            ("receiving = { buffer = ['2 kB', '1 kB'] }", "receiving.buffer"),
            ("sending = { buffer = ['0 B', '0 B'] }", "sending.buffer"),
            ("sending = { most_asked = '3 GB' }", "sending.most_asked"),
            ("receiving = { window_share = 0 }", "receiving.window_share"),
            ("handshake = { mss = 12 }", "handshake.mss"),
            ("handshake = { window_scale = 15 }", "handshake.window_scale"),
            ("timeout = { least = '200 s' }", "timeout.least"),
            ("timeout = { most = '1 ms' }", "timeout.most"),
            ("recovery = { dupthresh = 0 }", "recovery.dupthresh"),
            ("recovery = { dupthresh = 4294967295 }", "recovery.dupthresh"),
            ("window = { initial = 0 }", "window.initial"),
            ("acks = { every = 0 }", "acks.every"),
            ("acks = { delay = ['2 ms', '1 ms'] }", "acks.delay"),
            ("host = { pool = 0 }", "host.pool"),
        ] {
            assert_eq!(read(text).applied_to("netburner").unwrap_err().key, key);
        }
    }

    #[test]
    fn unknown_profile_is_refused_with_known_ones() {
        let error = Profile::named("windows-95").unwrap_err().to_string();
        assert!(error.contains(
            "`windows-95`: did you mean `windows-7`? use one of digital-unix, freebsd-15, haiku"
        ));
    }
}
