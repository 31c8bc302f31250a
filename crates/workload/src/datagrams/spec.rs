//! What a scenario says of requests in datagrams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Span};

use super::mark::DatagramMark;
use crate::absent::Absent;
use crate::error::WorkloadError;

/// Requests and answers in UDP datagrams, one request at a time, with timeout and retry. Each
/// datagram begins with the number of its request and of its try, four bytes each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Datagrams {
    /// How many requests: 1 to 10000.
    #[schemars(range(min = 1, max = 10000))]
    pub count: u64,
    /// The size of a request: 8 B to 1472 B, which is what an Ethernet carries in one packet.
    /// Larger datagrams would be cut into fragments, all of which must arrive (RFC 8085
    /// section 3.2).
    /// Default: 64 B.
    #[serde(default = "default_size")]
    pub request: Bytes,
    /// The size of an answer, in the same limits. Default: the server sends back what it got, as an
    /// echo server does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Bytes>,
    /// How long the client waits for an answer to its first try. Default: 1 s, as where the round
    /// trip is not known (RFC 8085 section 3.1.1, after RFC 6298).
    #[serde(default = "default_timeout")]
    pub timeout: Span,
    /// How often a request without an answer is retried: 0 to 10. 0 copes with nothing: a
    /// datagram that is lost stays lost. Default: 3.
    #[serde(default = "default_retries")]
    #[schemars(range(max = 10))]
    pub retries: u32,
    /// By what the timeout is multiplied from one try to the next: 1 to 10. Default: 2 (RFC 8085
    /// section 3.1.1 asks for exponential backoff); 1 keeps it as it is.
    #[serde(default = "default_backoff")]
    #[schemars(range(min = 1, max = 10))]
    pub backoff: u32,
    /// The time from the beginning of one request to that of the next, which waits until the one
    /// before is over. Default: the next begins at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// In its place, how long the client thinks between the end of a request and the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Span>,
    /// Whether the client calls `connect` first, then `send` and `recv` in place of `sendto` and
    /// `recvfrom`: only then does it learn of a closed port (ECONNREFUSED, after an ICMP "port
    /// unreachable"). Default: false.
    #[serde(default)]
    pub connected: bool,
    /// How the server is absent, if it is. `closed`: no socket has the port, and its host
    /// says so with ICMP "port unreachable", six times at once and then once a second (Linux's
    /// `icmp_ratelimit`). `silent`: it reads nothing and says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Absent>,
}

fn default_size() -> Bytes {
    Bytes::new(64)
}

fn default_timeout() -> Span {
    Span::from_secs(1)
}

fn default_retries() -> u32 {
    3
}

fn default_backoff() -> u32 {
    2
}

impl Datagrams {
    pub(super) const COUNT_MAX: u64 = 10_000;
    const RETRIES_MAX: u32 = 10;
    const BACKOFF_MAX: u32 = 10;
    /// An Ethernet's MTU less the headers of IPv4 (RFC 791) and UDP (RFC 768), bytes.
    pub const SIZE_MAX: Bytes = Bytes::new(1500 - 20 - 8);

    /// Refuses what cannot be run.
    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let sizes =
            [("datagrams.request", Some(self.request)), ("datagrams.response", self.response)];
        for (key, size) in sizes {
            let fits = |size: &Bytes| {
                size.as_u64() >= DatagramMark::LEN as u64 && *size <= Datagrams::SIZE_MAX
            };
            if let Some(size) = size.filter(|size| !fits(size)) {
                return Err(WorkloadError::DatagramSize(key, size));
            }
        }
        let least = |key, is_too_little| {
            if is_too_little { Err(WorkloadError::Nothing(key)) } else { Ok(()) }
        };
        least("datagrams.count", self.count == 0)?;
        least("datagrams.timeout", self.timeout.is_zero())?;
        least("datagrams.backoff", self.backoff == 0)?;
        for (key, number, most) in [
            ("datagrams.count", self.count, Datagrams::COUNT_MAX),
            ("datagrams.retries", self.retries.into(), Datagrams::RETRIES_MAX.into()),
            ("datagrams.backoff", self.backoff.into(), Datagrams::BACKOFF_MAX.into()),
        ] {
            if number > most {
                return Err(WorkloadError::TooMany { key, most });
            }
        }
        if self.every.is_some() && self.think.is_some() {
            return Err(WorkloadError::EveryAndThink);
        }
        Ok(())
    }

    /// The largest packet that its datagrams make, with the headers of IPv4 and UDP.
    pub fn largest_packet(&self) -> Bytes {
        self.request.max(self.response.unwrap_or_default()) + Bytes::new(20 + 8)
    }

    /// How long the `attempt`th try, from 1, is waited for.
    pub fn wait(&self, attempt: u32) -> Span {
        let factor = u64::from(self.backoff).saturating_pow(attempt.saturating_sub(1));
        Span::from_nanos(self.timeout.as_nanos().saturating_mul(factor))
    }

    /// When the next request begins, the `nth` from 0, where the first began at `first` and the
    /// last is over `now`.
    pub(super) fn next(&self, nth: u64, first: Instant, now: Instant) -> Instant {
        match (self.every, self.think) {
            (Some(every), _) => {
                let since = every.as_nanos().saturating_mul(nth);
                Instant::from_nanos(first.as_nanos().saturating_add(since)).max(now)
            }
            (_, Some(think)) => after(now, think),
            _ => now,
        }
    }
}

/// A moment later, or the end of time.
pub(super) fn after(at: Instant, span: Span) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_add(span.as_nanos()))
}
