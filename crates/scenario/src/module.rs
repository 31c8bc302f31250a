//! Parameters of kernel modules.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// A name such as `tcp_cubic.hystart`: module and parameter.
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
        // Both become file names below /sys/module.
        let is_plain = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        match name.split_once('.') {
            Some((module, parameter)) if is_plain(module) && is_plain(parameter) => Ok(Name(name)),
            _ => Err(D::Error::custom(format!(
                "`{name}` is not a parameter of a module: write both names in quotes, such as \
                 \"tcp_cubic.hystart\""
            ))),
        }
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "ModuleParameter".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^[A-Za-z0-9_]+\.[A-Za-z0-9_]+$" })
    }
}
