//! A server of a certain design under load: the configuration and the result.
//!
//! Unlike programs this cannot be done step by step: how processes, threads and event loops carry
//! connections is what is looked at. A world that has them runs it as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, ServerDesign, Span};

use crate::error::WorkloadError;
use crate::step::WRITE_SIZE_MAX;

/// A server that has a file, and clients that ask for it over HTTP/1.1, as many at a time as
/// `concurrency` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// How the server carries its connections.
    pub design: ServerDesign,
    /// How many processes, threads or event loops a design of a fixed number has: from 1 to 1024.
    /// Default: 8 processes or threads, an event loop for each processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub workers: Option<u64>,
    /// The size of the file, at most 16 MiB. Default: 3 kB.
    #[serde(default = "three_kilobytes")]
    pub file: Bytes,
    /// How many connections there are at once: from 1 to 10000. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10000))]
    pub concurrency: u64,
    /// For how long, after the warm-up. Default, without `requests`: 1 s.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Span>,
    /// For how many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests: Option<u64>,
    /// Whether a connection is used for many requests. Default: false, a connection for each.
    #[serde(default)]
    pub keep_alive: bool,
    /// Requests per second over all connections, independent of the server: an open loop,
    /// whose times count from when a request was due. Default: the next request of a connection
    /// begins when the one before has its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rate: Option<u64>,
    /// How long nothing is counted at first. Default: not at all.
    #[serde(default)]
    pub warm_up: Span,
}

fn three_kilobytes() -> Bytes {
    Bytes::new(3_000)
}

fn one() -> u64 {
    1
}

impl LoadSpec {
    const WORKERS_MAX: u64 = 1024;
    const CONCURRENCY_MAX: u64 = 10_000;
    const RATE_MAX: u64 = 1_000_000;
    /// The default length.
    const USUAL_LENGTH: Span = Span::from_secs(1);

    /// How long it lasts after the warm-up; none where a number of requests decides.
    pub fn length(&self) -> Option<Span> {
        match self.requests {
            Some(_) => None,
            None => Some(self.lasting.unwrap_or(LoadSpec::USUAL_LENGTH)),
        }
    }

    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let numbers = [
            ("load.workers", self.workers, LoadSpec::WORKERS_MAX),
            ("load.concurrency", Some(self.concurrency), LoadSpec::CONCURRENCY_MAX),
            ("load.requests", self.requests, u64::MAX),
            ("load.rate", self.rate, LoadSpec::RATE_MAX),
            ("load.for", self.lasting.map(Span::as_nanos), u64::MAX),
        ];
        for (key, number, most) in numbers {
            match number {
                Some(0) => return Err(WorkloadError::Nothing(key)),
                Some(number) if number > most => return Err(WorkloadError::TooMany { key, most }),
                _ => {}
            }
        }
        if self.file == Bytes::ZERO || self.file > WRITE_SIZE_MAX {
            return Err(WorkloadError::Size("load.file", self.file));
        }
        if self.lasting.is_some() && self.requests.is_some() {
            return Err(WorkloadError::Several("load.for", "load.requests"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Endpoint;

    use crate::WorkloadSpec;

    #[test]
    fn contradictions_name_their_key() {
        for (load, expected) in [
            (r#""design": "fork""#, Ok(())),
            (r#""design": "io-uring", "workers": 2, "rate": 100, "for": "2 s""#, Ok(())),
            (r#""design": "fork", "concurrency": 0"#, Err("load.concurrency")),
            (r#""design": "fork", "workers": 1025"#, Err("load.workers")),
            (r#""design": "fork", "file": "0 B""#, Err("load.file")),
            (r#""design": "fork", "for": "0 s""#, Err("load.for")),
            (r#""design": "fork", "for": "1 s", "requests": 9"#, Err("load.requests")),
        ] {
            let json = format!(r#"{{"load": {{{load}}}}}"#);
            let spec: WorkloadSpec = serde_json::from_str(&json).unwrap();
            let found = spec.check().map_err(|error| error.key().unwrap_or_default());
            assert_eq!(found, expected, "{json}");
        }
        let both = r#"{"load": {"design": "fork"}, "upload": "1 B"}"#;
        let both: WorkloadSpec = serde_json::from_str(both).unwrap();
        assert!(both.check().is_err());
        let many = r#"{"load": {"design": "fork"}, "connections": {"total": 2}}"#;
        let many: WorkloadSpec = serde_json::from_str(many).unwrap();
        assert_eq!(many.check().map_err(|error| error.key()), Err(Some("connections")));
    }

    #[test]
    fn load_has_no_program_and_server_sends() {
        let spec: WorkloadSpec =
            serde_json::from_str(r#"{"load": {"design": "fork", "requests": 10}}"#).unwrap();
        assert_eq!(spec.sending_side(), Endpoint::Server);
        assert_eq!(spec.amount().as_u64(), 30_000);
        assert_eq!(spec.load.unwrap().length(), None);
    }
}
