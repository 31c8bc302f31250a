//! Named stacks: what each does otherwise than today's Linux, as data.

use serde::Deserialize;
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
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let told = Profile::named("windows-95").unwrap_err().to_string();
        assert!(
            told.starts_with("`windows-95` is no model of a stack; there are haiku-2017-after")
        );
    }
}
