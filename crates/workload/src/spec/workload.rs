//! The `[workload]` section: what the applications at both ends do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Span};

use super::parts::{CloseMode, Connections, Idle, Keystrokes, Pause, Requests};
use crate::absent::Absent;
use crate::datagrams::Datagrams;
use crate::load::LoadSpec;
use crate::medium::Medium;
use crate::step::{READ_SIZE, Step};

/// What the applications do on their connection: exactly one of `upload`, `download`, `requests`,
/// `keystrokes`, `idle` and `connect`, which are short for programs, or the programs themselves
/// (`client` and `server`); or `datagrams`, which have no connection; or a server of some design
/// under `load`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// How much the client sends to the server. To send for a time, use `traffic` and
    /// `lasting` of a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Bytes>,
    /// How much the server sends to the client. To send for a time, use `traffic` and
    /// `lasting` of a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download: Option<Bytes>,
    /// How much the sender of an upload or a download hands to its socket at once: 1 B to 16 MiB.
    #[serde(default = "default_write_size")]
    pub write_size: Bytes,
    /// How much its receiver asks for at once: 1 B to 16 MiB. Default: 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_size: Option<Bytes>,
    /// How long its sender thinks between two writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Span>,
    /// A slow receiver: it stops reading from time to time, so that its window closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// The place of an urgent byte in an upload or a download, which is sent with MSG_OOB. The
    /// receiver reads up to it, asks for the mark, and reads it out of band where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgent_at: Option<Bytes>,
    /// How the sender of an upload or a download closes. Default: `orderly`.
    #[serde(default, skip_serializing_if = "CloseMode::is_orderly")]
    pub close: CloseMode,
    /// What connections go through: `tcp`, or `mptcp`, where both ends are kernels. An upload or a
    /// download with both ends on the same host may also go through `unix`, `pipe` or `memory`.
    /// Default: `tcp`.
    #[serde(default, skip_serializing_if = "Medium::is_tcp")]
    pub through: Medium,
    /// Requests of the client and responses of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
    /// Somebody types: the client sends a little from time to time, and the server echoes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keystrokes: Option<Keystrokes>,
    /// The client says something, which the server echoes, is silent, and says it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The client only connects, to an absent server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Absent>,
    /// Requests and answers in UDP datagrams, without a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
    /// A server of some design, and many clients that ask it for a file. On the kernel only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSpec>,
    /// The client's program. Default, where the server has one: `["read to end"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Vec<Step>>,
    /// The server's program. Default, where the client has one: `["read to end"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Vec<Step>>,
    /// Many connections, each of which does all of this; where left out there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Whether calls may fail: their errors are then results like others, and what did not arrive
    /// is no failure of the trial. Default: false for `upload` and `download` that close orderly
    /// and have no urgent byte, `requests` and `keystrokes`, true for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_fail: Option<bool>,
}

fn default_write_size() -> Bytes {
    Bytes::new(64 << 10)
}

impl WorkloadSpec {
    /// The client sends so much.
    pub fn uploading(amount: Bytes) -> WorkloadSpec {
        WorkloadSpec {
            upload: Some(amount),
            write_size: default_write_size(),
            ..WorkloadSpec::default()
        }
    }

    /// How much an upload or a download sends.
    pub(crate) fn bulk(&self) -> Bytes {
        self.upload.or(self.download).unwrap_or(Bytes::ZERO)
    }

    pub(crate) fn reads_in(&self) -> Bytes {
        self.read_size.unwrap_or(READ_SIZE)
    }

    /// How the server is absent, if it is.
    pub fn absent(&self) -> Option<Absent> {
        self.connect.or_else(|| self.datagrams.as_ref()?.server)
    }

    /// Whether it is a bulk of data and nothing else.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_bulk() && self.urgent_at.is_none()
    }

    /// Whether calls may fail, and not everything arrive.
    pub fn may_fail(&self) -> bool {
        let transfers = self.is_bulk() || self.requests.is_some() || self.keystrokes.is_some();
        let is_plain = self.close.is_orderly() && self.urgent_at.is_none();
        self.may_fail.unwrap_or(!(transfers && is_plain))
    }

    /// The shapes that are given; both programs are one.
    pub(super) fn shapes(&self) -> impl Iterator<Item = &'static str> {
        let program = if self.client.is_some() { "client" } else { "server" };
        [
            ("upload", self.upload.is_some()),
            ("download", self.download.is_some()),
            ("requests", self.requests.is_some()),
            ("keystrokes", self.keystrokes.is_some()),
            ("idle", self.idle.is_some()),
            ("connect", self.connect.is_some()),
            ("datagrams", self.datagrams.is_some()),
            ("load", self.load.is_some()),
            (program, self.client.is_some() || self.server.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.upload.is_some() || self.download.is_some()
    }
}
