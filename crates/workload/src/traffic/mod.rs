//! Traffic that is made by a rule instead of written down: what flows in the background do.

mod law;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Endpoint, Rate, Rng, Span};

pub use law::{Distribution, Law, LogNormal, Pareto, Quantity, Shape};

use crate::step::{Step, Until, Write};
use crate::{Half, Read, WorkloadSpec};

/// What a flow does by a rule, from a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Traffic {
    /// As much as possible, without end.
    Bulk(TransferDirection),
    /// Bursts at a rate, with silence between them, on one connection.
    OnOff(OnOff),
    /// Short connections that come one after the other or together, each with a transfer of its
    /// own.
    Arrivals(Arrivals),
}

/// Which way the data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransferDirection {
    /// From the client to the server.
    Upload,
    /// From the server to the client.
    Download,
}

/// A source that is on and off in turn, on first (as ns-3's `OnOffApplication`). With heavy-tailed
/// times many of them together are self-similar (Willinger, Taqqu, Sherman and Wilson, IEEE/ACM
/// Transactions on Networking 5(1), 1997).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Which way. Default: `upload`.
    #[serde(default = "upload")]
    pub way: TransferDirection,
    /// How much it sends while it is on. What TCP cannot send in time makes the burst longer.
    pub rate: Rate,
    /// How long it is on.
    pub on: Law<Span>,
    /// How long it is off.
    pub off: Law<Span>,
    /// How many bursts there are at most: 1 to 1000. Default: 1000.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = 1000))]
    pub most: u64,
}

/// Randomly arriving connections. Exponential gaps suit sessions that people start, but not the
/// connections of their programs (Paxson and Floyd, IEEE/ACM Transactions on Networking 3(3),
/// 1995).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FlowArrivals")]
pub struct Arrivals {
    /// The time from one to the next: `{ exponential = "200 ms" }` makes a Poisson process.
    pub every: Law<Span>,
    /// Which way the data go. Default: `download`.
    #[serde(default = "download")]
    pub way: TransferDirection,
    /// How much each transfers.
    pub size: Law<Bytes>,
    /// How many there are at most: 1 to 1000. Default: 1000.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = 1000))]
    pub most: u64,
}

fn upload() -> TransferDirection {
    TransferDirection::Upload
}

fn download() -> TransferDirection {
    TransferDirection::Download
}

fn most() -> u64 {
    MOST
}

/// The most bursts or connections of one flow.
const MOST: u64 = 1_000;
/// A source that is on writes so much at once.
const PIECE: Bytes = Bytes::new(8 << 10);
/// What no trial can transfer.
const ENDLESS: Bytes = Bytes::new(1 << 50);

impl Traffic {
    /// Whether some of it depends on the seed.
    pub fn draws_numbers(&self) -> bool {
        match self {
            Traffic::Bulk(_) => false,
            Traffic::OnOff(OnOff { on, off, .. }) => on.is_drawn() || off.is_drawn(),
            Traffic::Arrivals(Arrivals { every, size, .. }) => every.is_drawn() || size.is_drawn(),
        }
    }

    /// Refuses what cannot be; the key, and what is wrong with it.
    ///
    /// # Errors
    /// The first value out of range.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let check_key = |key, objection: Option<&'static str>| match objection {
            Some(objection) => Err((key, format!("`{key}` {objection}"))),
            None => Ok(()),
        };
        let at_most = |key, count: u64| {
            let fits = (1..=MOST).contains(&count);
            if fits { Ok(()) } else { Err((key, format!("`{key}` must be from 1 to {MOST}"))) }
        };
        match self {
            Traffic::Bulk(_) => Ok(()),
            Traffic::OnOff(OnOff { rate, on, off, most, .. }) => {
                check_key("on_off.on", on.objection())?;
                check_key("on_off.off", off.objection())?;
                at_most("on_off.most", *most)?;
                let is_still = rate.bits_per_second() == 0;
                check_key("on_off.rate", is_still.then_some("must not be 0"))
            }
            Traffic::Arrivals(Arrivals { every, size, most, .. }) => {
                check_key("arrivals.every", every.objection())?;
                check_key("arrivals.size", size.objection())?;
                at_most("arrivals.most", *most)
            }
        }
    }

    /// How many connections it can have.
    pub fn most_connections(&self) -> u64 {
        match self {
            Traffic::Bulk(_) | Traffic::OnOff(_) => 1,
            Traffic::Arrivals(Arrivals { most, .. }) => *most,
        }
    }

    /// Whether it continues until it is stopped.
    pub fn is_endless(&self) -> bool {
        matches!(self, Traffic::Bulk(_))
    }

    /// Whether its transfers have no size: they last as long as there is time.
    pub fn has_no_size(&self) -> bool {
        matches!(self, Traffic::Bulk(_) | Traffic::OnOff(_))
    }

    /// Its connections: when each begins, counted from the beginning of the traffic, and what it
    /// does. Nothing begins at `end` or later. `seed` and `name` make the draws.
    pub fn connections(&self, seed: u64, name: &str, end: Span) -> Vec<(Span, WorkloadSpec)> {
        let mut rng = Rng::new(seed, name);
        match self {
            Traffic::Bulk(way) => vec![(Span::ZERO, transfer(*way, ENDLESS))],
            Traffic::OnOff(source) => vec![(Span::ZERO, source.program(&mut rng, end))],
            Traffic::Arrivals(Arrivals { every, way, size, most }) => {
                let mut at = Span::ZERO;
                let mut all = Vec::new();
                // The first one waits, too: an observer who comes at any time waits as long.
                while (all.len() as u64) < *most {
                    at += every.draw(&mut rng);
                    let size = size.draw(&mut rng);
                    if at >= end {
                        break;
                    }
                    all.push((at, transfer(*way, size)));
                }
                all
            }
        }
    }
}

impl OnOff {
    /// All its bursts that begin before `end`.
    fn program(&self, rng: &mut Rng, end: Span) -> WorkloadSpec {
        let mut steps = Vec::new();
        let mut at = Span::ZERO;
        for _ in 0..self.most {
            let (on, off) = (self.on.draw(rng), self.off.draw(rng));
            steps.extend(self.burst(on));
            steps.push(Step::Sleep(off));
            at = at + on + off;
            if at >= end {
                break;
            }
        }
        steps.pop();
        let to_end = Step::Read(Read { until: Until::End, piece: Bytes::new(256 << 10) });
        steps.extend([Step::Shutdown(Half::Write), to_end]);
        let spec = WorkloadSpec::uploading(Bytes::ZERO);
        let (client, server) = match self.way {
            TransferDirection::Upload => (Some(steps), None),
            TransferDirection::Download => (None, Some(steps)),
        };
        WorkloadSpec { upload: None, client, server, ..spec }
    }

    /// What is sent in `on`, a piece at a time.
    fn burst(&self, on: Span) -> Vec<Step> {
        let amount = self.rate.bytes_in(on).as_u64().max(1);
        let (whole, rest) = (amount / PIECE.as_u64(), amount % PIECE.as_u64());
        let write = |size: u64| {
            let amount = Bytes::new(size);
            Step::Write(Write { amount, piece: amount, more: false, urgent: false, retry: None })
        };
        let lasts = |size: u64| {
            let nanos = u128::from(size) * 8 * 1_000_000_000;
            let nanos = nanos / u128::from(self.rate.bits_per_second());
            Step::Sleep(Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
        };
        let mut steps = Vec::new();
        if whole > 0 {
            let piece = PIECE.as_u64();
            steps.push(Step::Repeat { times: whole, steps: vec![write(piece), lasts(piece)] });
        }
        if rest > 0 {
            steps.extend([write(rest), lasts(rest)]);
        }
        steps
    }
}

fn transfer(way: TransferDirection, amount: Bytes) -> WorkloadSpec {
    let upload = WorkloadSpec::uploading(amount);
    match way {
        TransferDirection::Upload => upload,
        TransferDirection::Download => {
            WorkloadSpec { upload: None, download: Some(amount), ..upload }
        }
    }
}

/// The end that sends.
impl From<TransferDirection> for Endpoint {
    fn from(way: TransferDirection) -> Endpoint {
        match way {
            TransferDirection::Upload => Endpoint::Client,
            TransferDirection::Download => Endpoint::Server,
        }
    }
}

#[cfg(test)]
mod tests;
