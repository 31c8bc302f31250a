//! Sysctls of a network namespace.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

/// Reads a table of settings with names of this kind; values become text as the kernel prints them.
pub(crate) fn read<'de, N, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    N: Deserialize<'de> + Ord + Into<String>,
    D: Deserializer<'de>,
{
    let settings = BTreeMap::<N, Setting>::deserialize(deserializer)?;
    Ok(settings.into_iter().map(|(name, Setting(text))| (name.into(), text)).collect())
}

/// A name such as `net.ipv4.tcp_sack`. Only `net.` belongs to a network namespace; other sysctls
/// would change the whole machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Name(String);

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let name = String::deserialize(deserializer)?;
        // Names become file names below /proc/sys; no part may leave it.
        let part_is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        if !name.starts_with("net.") || !name.split('.').all(part_is_plain) {
            return Err(D::Error::custom(format!(
                "`{name}` is not a network sysctl: write its full name in quotes, such as \
                 \"net.ipv4.tcp_sack\""
            )));
        }
        Ok(Name(name))
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "SysctlName".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^net(\.[A-Za-z0-9_-]+)+$" })
    }
}

/// The value of a setting: a text or a whole number.
pub(crate) struct Setting(String);

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Setting, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = Setting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number, as the kernel prints it")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Setting, E> {
                if text.trim().is_empty() || text.chars().any(|c| c.is_control() && c != '\t') {
                    return Err(E::custom(
                        "this needs one line of text, as the kernel prints it, not empty",
                    ));
                }
                // The kernel accepts tabs and spaces between numbers.
                Ok(Setting(text.split_whitespace().collect::<Vec<_>>().join(" ")))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Setting, E> {
                Ok(Setting(number.to_string()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Setting, E> {
                Ok(Setting(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}

impl JsonSchema for Setting {
    fn schema_name() -> Cow<'static, str> {
        "SysctlSetting".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "integer"],
            "description": "A value as the kernel prints it, such as `1` or `\"4096 131072 6291456\"`."
        })
    }
}
