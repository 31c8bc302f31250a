//! The TCP stack of an endpoint.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::problem::nearest;
use crate::profile::Profile;

/// The profile that models this machine's kernel in virtual time.
pub const KERNEL_MODEL: &str = "linux-6.18";

/// The newest kernel that was built, as a stack.
const NEWEST: &str = "linux-newest";

/// The TCP stack of an endpoint: `linux` (this machine's kernel), `linux-VERSION` or `linux-newest`
/// (a kernel of its own in virtual time), or `model:NAME` (a stack model in virtual time).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stack {
    /// This machine's kernel.
    #[default]
    Linux,
    /// The newest kernel in virtual time that was built here, or [`KERNEL_MODEL`] where there is
    /// none.
    Newest,
    /// The kernel of that name in virtual time: an image made by `tcplab kernel build`.
    Kernel(String),
    /// The model of that [`Profile`].
    Model(&'static str),
}

impl Stack {
    /// The prefix of a model's name.
    const MODEL: &str = "model:";
    /// The prefix of a kernel's name.
    const KERNEL: &str = "linux-";

    /// The kernel with this name, if it is one that an image can have.
    fn kernel(name: &str) -> Option<Stack> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        (begins && name.len() <= 64 && name.bytes().all(is_word))
            .then(|| Stack::Kernel(name.to_owned()))
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stack::Linux => f.write_str("linux"),
            Stack::Newest => f.write_str(NEWEST),
            Stack::Kernel(name) => write!(f, "{}{name}", Stack::KERNEL),
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
        if name == NEWEST {
            return Ok(Stack::Newest);
        }
        if let Some(model) = name.strip_prefix(Stack::MODEL) {
            let profile = Profile::named(model).map_err(D::Error::custom)?;
            return Ok(Stack::Model(profile.name));
        }
        if let Some(kernel) = name.strip_prefix(Stack::KERNEL).and_then(Stack::kernel) {
            return Ok(kernel);
        }
        let near = nearest(&name, Profile::names());
        let near = near.map(|near| format!("did you mean `{}`? ", Stack::Model(near)));
        Err(D::Error::custom(format!(
            "unknown stack `{name}`: {}use `linux`, `linux-VERSION`, `linux-newest`, or `model:` with a model's name",
            near.unwrap_or_default()
        )))
    }
}

impl JsonSchema for Stack {
    fn schema_name() -> Cow<'static, str> {
        "Stack".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let models: Vec<&str> = Profile::names().collect();
        let names: Vec<String> = [Stack::Linux, Stack::Newest]
            .into_iter()
            .chain(Profile::names().map(Stack::Model))
            .map(|stack| stack.to_string())
            .collect();
        json_schema!({
            "description": format!(
                "The TCP stack of an endpoint: `linux` (this machine's kernel), `linux-VERSION` \
                 (that kernel in virtual time: `tcplab kernel build`), `linux-newest` (the newest \
                 of those that were built, or the model `{KERNEL_MODEL}` where there is none), or \
                 `model:` and the name of a model, in virtual time: {}.",
                models.join(", ")
            ),
            "anyOf": [{ "enum": names }, { "type": "string", "pattern": "^linux-[A-Za-z0-9]" }],
        })
    }
}
