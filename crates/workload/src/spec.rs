//! The `[workload]` section: what the applications at both ends do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Endpoint, Span};

use crate::load::LoadSpec;
use crate::refusal::WorkloadError;
use crate::step::{READ_SIZE, Step};
use crate::{Datagrams, Medium, Program, Role, shapes};

/// The largest piece handed to the socket at once; a sender holds one in memory.
pub(crate) const WRITE_SIZE_MAX: Bytes = Bytes::new(16 << 20);

/// What the applications do on their connection: exactly one of `upload`, `download`, `requests`,
/// `keystrokes`, `idle` and `connect`, which are short for programs, or the programs themselves
/// (`client` and `server`); or `datagrams`, which have no connection; or a server of some design
/// under `load`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// How much the client sends to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Bytes>,
    /// How much the server sends to the client.
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
    /// What an upload or a download goes through: `tcp`, or, with both ends on the same host,
    /// `unix`, `pipe` or `memory`. Default: `tcp`.
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
    /// The client only connects, to a server that is not there.
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

/// When a slow receiver does not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// After how much that it has read, each time.
    pub every: Bytes,
    /// For how long.
    pub lasting: Span,
}

/// How the sender of a bulk of data closes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CloseMode {
    /// It closes its half, waits until the other end has read everything and closed, and closes.
    #[default]
    Orderly,
    /// It closes as soon as its socket has taken the last byte, however much of it was sent.
    AtOnce,
}

impl CloseMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_orderly(&self) -> bool {
        *self == CloseMode::Orderly
    }
}

/// Requests and responses, one after the other or several at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// How many: at least 1.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The size of a request, at most 16 MiB.
    pub request: Bytes,
    /// The size of a response, at most 16 MiB.
    pub response: Bytes,
    /// In how many writes a request is written. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub writes: u64,
    /// How many requests are under way at once: from 1 to `count`. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub pipelined: u64,
    /// How long the client thinks between a response and its next request. Default: not at all.
    #[serde(default)]
    pub think: Span,
}

fn one() -> u64 {
    1
}

/// What somebody types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keystrokes {
    /// How many: at least 1.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The time from one echo to the next keystroke.
    pub every: Span,
    /// What one sends. Default: 1 B.
    #[serde(default = "one_byte")]
    pub size: Bytes,
}

/// Silence between two exchanges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// How long.
    pub lasting: Span,
    /// What is said before and after. Default: 1 B.
    #[serde(default = "one_byte")]
    pub talk: Bytes,
}

fn one_byte() -> Bytes {
    Bytes::new(1)
}

/// How many connections there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// How many in all: from 1 to 10000.
    #[schemars(range(min = 1, max = 10000))]
    pub total: u64,
    /// How many at the same time: from 1 to `total`, at most 100. Default: 1. In virtual time a
    /// connection counts until it is closed on both sides, in the kernel until `close` returns.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    pub at_once: u64,
}

impl Connections {
    const TOTAL_MAX: u64 = 10_000;
    const AT_ONCE_MAX: u64 = 100;
}

/// How a server is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Absent {
    /// Nobody listens on the port: its host answers with a RST.
    Closed,
    /// Nobody answers at all: packets vanish in a black hole.
    Silent,
}

impl WorkloadSpec {
    /// The most that is copied in memory, which holds it twice.
    const COPIED_MAX: Bytes = Bytes::new(256 << 20);

    /// The client sends so much.
    pub fn uploading(amount: Bytes) -> WorkloadSpec {
        WorkloadSpec {
            upload: Some(amount),
            write_size: default_write_size(),
            ..WorkloadSpec::default()
        }
    }

    /// Refuses workloads that cannot be run.
    ///
    /// # Errors
    /// The first contradiction or value out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let given: Vec<&'static str> = self.shapes().collect();
        match given[..] {
            ["upload", "download"] => return Err(WorkloadError::Both),
            [] => return Err(WorkloadError::Neither),
            [_] => {}
            [first, second, ..] => return Err(WorkloadError::Several(first, second)),
        }
        if !self.is_bulk() {
            let of_bulk = [
                ("read_size", self.read_size.is_some()),
                ("think", self.think.is_some()),
                ("pause", self.pause.is_some()),
                ("urgent_at", self.urgent_at.is_some()),
                ("close", !self.close.is_orderly()),
                ("through", !self.through.is_tcp()),
            ];
            if let Some((key, _)) = of_bulk.into_iter().find(|(_, given)| *given) {
                return Err(WorkloadError::OfBulk(key));
            }
        }
        if let Some(load) = &self.load {
            if self.connections.is_some() {
                return Err(WorkloadError::Several("load", "connections"));
            }
            load.check()?;
        }
        self.check_medium()?;
        self.check_sizes()?;
        if let Some(datagrams) = &self.datagrams {
            datagrams.check()?;
            if self.connections.is_some() {
                return Err(WorkloadError::NoConnections);
            }
        }
        for (side, steps) in [(Endpoint::Client, &self.client), (Endpoint::Server, &self.server)] {
            if let Some(steps) = steps {
                Program::new(side, steps.clone())
                    .map_err(|error| WorkloadError::Program(side.name(), error))?;
            }
        }
        Ok(())
    }

    /// Refuses what only TCP has.
    fn check_medium(&self) -> Result<(), WorkloadError> {
        let is_memory = self.through == Medium::Memory;
        let of_tcp = [
            ("urgent_at", self.urgent_at.is_some()),
            ("close", !self.close.is_orderly()),
            ("connections", self.connections.is_some()),
            ("may_fail", self.may_fail.is_some()),
            ("read_size", is_memory && self.read_size.is_some()),
            ("think", is_memory && self.think.is_some()),
            ("pause", is_memory && self.pause.is_some()),
        ];
        let of_tcp = of_tcp.into_iter().filter(|_| !self.through.is_tcp());
        match of_tcp.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(WorkloadError::NotThrough(key, self.through.name())),
            None if is_memory && self.bulk() > WorkloadSpec::COPIED_MAX => {
                let key = if self.upload.is_some() { "upload" } else { "download" };
                let most = WorkloadSpec::COPIED_MAX.as_u64();
                Err(WorkloadError::TooMany { key, most })
            }
            None => Ok(()),
        }
    }

    /// The shapes that are given; both programs are one.
    fn shapes(&self) -> impl Iterator<Item = &'static str> {
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

    fn is_bulk(&self) -> bool {
        self.upload.is_some() || self.download.is_some()
    }

    fn check_sizes(&self) -> Result<(), WorkloadError> {
        for (key, amount) in [("upload", self.upload), ("download", self.download)] {
            if amount == Some(Bytes::ZERO) {
                return Err(WorkloadError::Nothing(key));
            }
        }
        let fits = |size: Bytes| size > Bytes::ZERO && size <= WRITE_SIZE_MAX;
        if !fits(self.write_size) {
            return Err(WorkloadError::WriteSize(self.write_size));
        }
        let mut sizes = vec![("read_size", self.read_size)];
        if let Some(Requests { request, response, .. }) = &self.requests {
            sizes.extend([
                ("requests.request", Some(*request)),
                ("requests.response", Some(*response)),
            ]);
        }
        sizes.push(("keystrokes.size", self.keystrokes.as_ref().map(|it| it.size)));
        sizes.push(("idle.talk", self.idle.as_ref().map(|it| it.talk)));
        for (key, size) in sizes {
            if let Some(size) = size
                && !fits(size)
            {
                return Err(WorkloadError::Size(key, size));
            }
        }
        if let Some(urgent) = self.urgent_at
            && urgent >= self.bulk()
        {
            return Err(WorkloadError::BehindTheEnd(urgent));
        }
        self.check_counts()
    }

    fn check_counts(&self) -> Result<(), WorkloadError> {
        let of_requests = self.requests.iter().flat_map(|it| {
            [
                ("requests.count", it.count, u64::MAX),
                ("requests.writes", it.writes, it.request.as_u64()),
                ("requests.pipelined", it.pipelined, it.count),
            ]
        });
        let of_keys = self.keystrokes.iter().map(|it| ("keystrokes.count", it.count, u64::MAX));
        let of_connections = self.connections.iter().flat_map(|it| {
            [
                ("connections.total", it.total, Connections::TOTAL_MAX),
                ("connections.at_once", it.at_once, it.total.min(Connections::AT_ONCE_MAX)),
            ]
        });
        let of_pause = self.pause.iter().map(|it| ("pause.every", it.every.as_u64(), u64::MAX));
        for (key, count, most) in of_requests.chain(of_keys).chain(of_connections).chain(of_pause) {
            if count == 0 {
                return Err(WorkloadError::Nothing(key));
            }
            if count > most {
                return Err(WorkloadError::TooMany { key, most });
            }
        }
        Ok(())
    }

    /// What one end does.
    ///
    /// # Panics
    /// Never, of a workload that was checked.
    pub fn program(&self, side: Endpoint) -> Program {
        let own = match side {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        };
        let steps = own.clone().unwrap_or_else(|| shapes::steps(self, side));
        Program::new(side, steps).expect("checked when the scenario was read")
    }

    /// How much an upload or a download sends.
    pub(crate) fn bulk(&self) -> Bytes {
        self.upload.or(self.download).unwrap_or(Bytes::ZERO)
    }

    pub(crate) fn reads_in(&self) -> Bytes {
        self.read_size.unwrap_or(READ_SIZE)
    }

    /// How much is sent by the end that sends more, over all connections.
    /// Nothing of a load that lasts for a time.
    pub fn amount(&self) -> Bytes {
        if let Some(Datagrams { count, request, .. }) = &self.datagrams {
            return Bytes::new(request.as_u64().saturating_mul(*count));
        }
        if let Some(load) = &self.load {
            return Bytes::new(load.file.as_u64().saturating_mul(load.requests.unwrap_or(0)));
        }
        let each = self.program(self.sending_side()).writes().as_u64();
        Bytes::new(each.saturating_mul(self.connections.map_or(1, |it| it.total)))
    }

    /// The end that sends more; the client where both send the same.
    pub fn sending_side(&self) -> Endpoint {
        if self.load.is_some() {
            return Endpoint::Server;
        }
        let [client, server] = Endpoint::BOTH.map(|it| self.program(it).writes());
        if server > client { Endpoint::Server } else { Endpoint::Client }
    }

    /// What an end does for the most part.
    pub fn role(&self, side: Endpoint) -> Role {
        if self.sending_side() == side { Role::Sender } else { Role::Receiver }
    }

    /// How the server is not there, if it is not.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> WorkloadSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn contradictions_name_their_key() {
        for (json, expected) in [
            (r#"{"upload": "10 MB"}"#, Ok(())),
            (r#"{"download": "1 B", "write_size": "16 MiB"}"#, Ok(())),
            (r#"{"upload": "1 B", "download": "1 B"}"#, Err(Some("download"))),
            (r"{}", Err(None)),
            (r#"{"upload": "0 B"}"#, Err(Some("upload"))),
            (r#"{"download": "0 B"}"#, Err(Some("download"))),
            (r#"{"upload": "1 B", "write_size": "0 B"}"#, Err(Some("write_size"))),
            (r#"{"upload": "1 B", "write_size": "16777217 B"}"#, Err(Some("write_size"))),
            (r#"{"upload": "1 B", "urgent_at": "1 B"}"#, Err(Some("urgent_at"))),
            (r#"{"connect": "closed", "upload": "1 B"}"#, Err(Some("connect"))),
            (r#"{"connect": "silent", "think": "1 s"}"#, Err(Some("think"))),
            (r#"{"client": ["write 1 B"], "close": "at-once"}"#, Err(Some("close"))),
            (r#"{"client": ["accept"]}"#, Err(Some("client"))),
            (r#"{"server": ["close", "read 1 B"]}"#, Err(Some("server"))),
            (r#"{"upload": "1 B", "connections": {"total": 10, "at_once": 10}}"#, Ok(())),
            (
                r#"{"upload": "1 B", "connections": {"total": 10, "at_once": 11}}"#,
                Err(Some("connections.at_once")),
            ),
            (
                r#"{"requests": {"count": 9, "request": "2 B", "response": "1 B", "writes": 3}}"#,
                Err(Some("requests.writes")),
            ),
        ] {
            assert_eq!(spec(json).check().map_err(|e| e.key()), expected, "{json}");
        }
    }

    #[test]
    fn the_direction_decides_who_sends() {
        let upload = spec(r#"{"upload": "10 MB"}"#);
        let roles =
            |spec: &WorkloadSpec| (spec.role(Endpoint::Client), spec.role(Endpoint::Server));
        assert_eq!(roles(&upload), (Role::Sender, Role::Receiver));
        let download = spec(r#"{"download": "10 MB"}"#);
        assert_eq!(roles(&download), (Role::Receiver, Role::Sender));
        assert_eq!(download.amount(), Bytes::new(10_000_000));
        assert_eq!(download.write_size, Bytes::new(65_536));
        assert!(!upload.may_fail());
    }
}
