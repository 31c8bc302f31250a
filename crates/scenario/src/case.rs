//! One cell of the matrix: everything that decides what its trials do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcplab_path::{Direction, LinkPlan, PathError, PathSpec};
use tcplab_units::Span;
use tcplab_workload::{SocketOptions, WorkloadSpec};

use crate::{Flow, ModelSettingError, ModelSettings, Profile, sysctl};

/// One cell of the matrix, checked and complete. As JSON it is what a trial's process is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its levels joined, such as `reno`; fit for a file name, unique in its scenario.
    pub name: String,
    /// The factors and their levels in the order of the matrix: (`client.socket.congestion`,
    /// `reno`).
    pub levels: Vec<(String, String)>,
    /// The end that opens the connection.
    pub client: EndpointSpec,
    /// The end that accepts it.
    pub server: EndpointSpec,
    /// What lies between them.
    pub path: PathSpec,
    /// What the applications do; of several flows, those that do not say it themselves.
    pub workload: WorkloadSpec,
    /// The flows in the order of the file, where there are several; else there is one connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// What is looked at while it runs.
    pub sampling: SamplingSpec,
    /// When to give up.
    pub limits: LimitsSpec,
    /// BLAKE3 of all that decides what its trials do, hexadecimal: the same hash, the same
    /// experiment. Name and levels are only words for it and do not count.
    pub hash: String,
}

impl Case {
    /// What the path does to packets, forward and then reverse.
    ///
    /// # Errors
    /// None for a case of a parsed scenario.
    pub fn links(&self) -> Result<[LinkPlan; 2], PathError> {
        Ok([self.path.link(Direction::Forward)?, self.path.link(Direction::Reverse)?])
    }

    /// Whether a model speaks TCP at one of its ends, so that it runs in virtual time.
    pub fn is_modelled(&self) -> bool {
        [&self.client, &self.server].iter().any(|end| matches!(end.stack, Stack::Model(_)))
    }

    /// The hash that belongs into `hash`.
    pub(crate) fn reckon_hash(&self) -> String {
        let mut case = serde_json::to_value(self).expect("a case is plain data");
        let fields = case.as_object_mut().expect("a case is a struct");
        for word in ["name", "levels", "hash"] {
            fields.remove(word);
        }
        // One text for one value: without spaces, keys in order.
        case.sort_all_objects();
        blake3::hash(case.to_string().as_bytes()).to_hex().to_string()
    }
}

/// One end of the connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointSpec {
    /// Whose TCP it speaks. Default: `linux`.
    #[serde(default)]
    pub stack: Stack,
    /// Options of its socket, set before the connection is opened: the server's are those of the
    /// socket it listens on, which hands most of them down to those it accepts.
    #[serde(default)]
    pub socket: SocketOptions,
    /// Options of the sockets that the server accepts, set as soon as `accept` has given one.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub accepted: SocketOptions,
    /// Settings of its network namespace: names that start with `net.` (quoted, for they contain
    /// dots), values as the kernel shows them, such as
    /// `{ "net.ipv4.tcp_rmem" = "4096 131072 6291456" }`.
    #[serde(
        default,
        deserialize_with = "sysctl::read",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "BTreeMap<sysctl::Name, sysctl::Setting>")]
    pub sysctl: BTreeMap<String, String>,
    /// What the model of its stack does otherwise than its profile, by section and key:
    /// `{ sending = { segments = 20 }, host = { tick = "4 ms" } }`. Of `linux` only `host`, for it
    /// counts in virtual time alone: the real kernel runs on the machine that there is.
    #[serde(default, skip_serializing_if = "ModelSettings::is_empty")]
    pub model: ModelSettings,
}

impl EndpointSpec {
    /// The name of the profile that stands for it in virtual time.
    pub fn profile(&self) -> &'static str {
        match self.stack {
            Stack::Linux => STANDS_FOR_THE_KERNEL,
            Stack::Model(name) => name,
        }
    }

    /// What of its model cannot be.
    pub(crate) fn check_model(&self) -> Result<(), ModelSettingError> {
        let refused =
            |section: &&str| self.stack == Stack::Linux && *section != ModelSettings::HOST;
        if let Some(section) = self.model.sections().find(refused) {
            return Err(ModelSettingError {
                key: section.into(),
                message: "of `linux` only `host` can be set here: name a model, such as \
                          `stack = \"model:linux-6.18\"`, or use `sysctl` and `socket`"
                    .into(),
            });
        }
        self.model.applied_to(self.profile()).map(drop)
    }
}

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

/// What is looked at while a trial runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplingSpec {
    /// The time between two looks at `TCP_INFO` of both sockets, at least 1 ms. Default: 10 ms.
    #[serde(default = "default_tcp_info")]
    pub tcp_info: Span,
}

impl SamplingSpec {
    /// The shortest time between two looks: more often, looking would slow down what it looks at.
    pub(crate) const SHORTEST: Span = Span::from_millis(1);
}

impl Default for SamplingSpec {
    fn default() -> SamplingSpec {
        SamplingSpec { tcp_info: default_tcp_info() }
    }
}

fn default_tcp_info() -> Span {
    Span::from_millis(10)
}

/// When to give up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// The longest that one trial may take; one that takes longer is ended and counts as failed.
    /// Default: 120 s.
    #[serde(default = "default_trial")]
    pub trial: Span,
}

impl Default for LimitsSpec {
    fn default() -> LimitsSpec {
        LimitsSpec { trial: default_trial() }
    }
}

fn default_trial() -> Span {
    Span::from_secs(120)
}
