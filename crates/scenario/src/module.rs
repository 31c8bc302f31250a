//! Parameters of kernel modules.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::sysctl::Setting;

/// Reads a table of parameters; values become text as the kernel prints them.
pub(crate) fn read<'de, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let settings = BTreeMap::<Name, Setting>::deserialize(deserializer)?;
    Ok(settings.into_iter().map(|(name, setting)| (name.0, setting.into_text())).collect())
}

/// A name such as `tcp_cubic.hystart`: module and parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Name(String);

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
