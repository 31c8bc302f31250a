//! Whose TCP an endpoint speaks.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::profile::Profile;

/// What stands for the machine's own kernel in virtual time.
pub const STANDS_FOR_THE_KERNEL: &str = "linux-6.18";

/// Whose TCP an endpoint speaks: `linux`, which is this machine's own kernel, or `model:NAME`,
/// which is a model of a stack in virtual time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stack {
    /// This machine's own kernel.
    #[default]
    Linux,
    /// The model of that [`Profile`].
    Model(&'static str),
}

impl Stack {
    /// What stands before the name of a model.
    const MODEL: &str = "model:";
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stack::Linux => f.write_str("linux"),
            Stack::Model(name) => write!(f, "{}{name}", Stack::MODEL),
        }
    }
}

impl Serialize for Stack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stack, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == "linux" {
            return Ok(Stack::Linux);
        }
        match name.strip_prefix(Stack::MODEL) {
            Some(model) => Profile::named(model)
                .map(|profile| Stack::Model(profile.name))
                .map_err(D::Error::custom),
            None => Err(D::Error::custom(format!(
                "`{name}` is not a stack: there is `linux`, and `model:` with a model's name"
            ))),
        }
    }
}

impl JsonSchema for Stack {
    fn schema_name() -> Cow<'static, str> {
        "Stack".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<String> = std::iter::once(Stack::Linux)
            .chain(Profile::names().map(Stack::Model))
            .map(|stack| stack.to_string())
            .collect();
        json_schema!({
            "description": "Whose TCP an endpoint speaks: `linux`, which is this machine's own kernel, \
                            or `model:` and a model's name, in virtual time.",
            "enum": names,
        })
    }
}
