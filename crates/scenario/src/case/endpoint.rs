//! One endpoint of the connection.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_workload::SocketOptions;

use super::route::RouteSpec;
use super::stack::{KERNEL_MODEL, Stack};
use crate::profile::{ModelSettingError, ModelSettings};
use crate::{module, sysctl};

/// One endpoint of the connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointSpec {
    /// The TCP stack. Default: `linux`. One that has no model: the nearest model, and `model` with
    /// what differs.
    #[serde(default)]
    pub stack: Stack,
    /// Options of its socket, set before the connection opens. On the server they are set on the
    /// listening socket, and accepted sockets inherit most of them.
    #[serde(default)]
    pub socket: SocketOptions,
    /// Options of the sockets that the server accepts, set right after `accept`.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub accepted: SocketOptions,
    /// Sysctls of its network namespace: names that start with `net.` (in quotes, since they
    /// contain dots), values as the kernel prints them, such as `{ "net.ipv4.tcp_rmem" = "4096
    /// 131072 6291456" }`.
    #[serde(
        default,
        deserialize_with = "sysctl::read::<sysctl::Name, _>",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "BTreeMap<sysctl::Name, sysctl::Setting>")]
    pub sysctl: BTreeMap<String, String>,
    /// Attributes of its route to the other end, as `ip route` has them: `{ initcwnd = 20, rto_min
    /// = "100 ms" }`. A stack model takes those that it has a setting for: `initcwnd`, `rto_min`,
    /// `quickack`, `congctl`, `window` and `ecn`.
    #[serde(default, skip_serializing_if = "RouteSpec::is_empty")]
    pub route: RouteSpec,
    /// Parameters of kernel modules, as below `/sys/module`: `{ "tcp_cubic.hystart" = 0 }`, names
    /// in quotes. They belong to the whole machine, so that only a kernel in virtual time
    /// (`linux-VERSION`) takes them.
    #[serde(
        default,
        deserialize_with = "sysctl::read::<module::Name, _>",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "BTreeMap<module::Name, sysctl::Setting>")]
    pub module: BTreeMap<String, String>,
    /// Settings of the stack model that differ from its profile, by section and key: `{ sending = {
    /// segments = 20 }, host = { tick = "4 ms" } }`. `linux` takes only `host`, which applies in
    /// virtual time: the real kernel runs on this machine.
    #[serde(default, skip_serializing_if = "ModelSettings::is_empty")]
    pub model: ModelSettings,
}

impl EndpointSpec {
    /// The profile that models it in virtual time.
    pub fn profile(&self) -> &'static str {
        match self.stack {
            Stack::Linux | Stack::Newest | Stack::Kernel(_) => KERNEL_MODEL,
            Stack::Model(name) => name,
        }
    }

    /// Checks the settings of its model.
    pub(crate) fn check_model(&self) -> Result<(), ModelSettingError> {
        let refused =
            |section: &&str| self.stack == Stack::Linux && *section != ModelSettings::HOST;
        if let Some(section) = self.model.sections().find(refused) {
            return Err(ModelSettingError {
                key: section.into(),
                message: "`linux` takes only `host` here: use a model, such as \
                          `stack = \"model:linux-6.18\"`, or set `sysctl` and `socket`"
                    .into(),
            });
        }
        if let (Stack::Kernel(_) | Stack::Newest, Some(section)) =
            (&self.stack, self.model.sections().next())
        {
            return Err(ModelSettingError {
                key: section.into(),
                message: "a kernel has no settings of a model: set `sysctl` and `socket`".into(),
            });
        }
        self.model.applied_to(self.profile()).map(drop)
    }
}
