//! One end of the connection.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_workload::SocketOptions;

use super::stack::{STANDS_FOR_THE_KERNEL, Stack};
use crate::profile::{ModelSettingError, ModelSettings};
use crate::sysctl;

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
