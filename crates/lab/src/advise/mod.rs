//! Which settings for a path and a purpose: what is known, what follows from it, and how to find
//! out whether it holds.

mod experiment;
mod gain;
mod model;
mod of_run;
mod rules;
mod seen;
mod words;

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, PathSpec};
use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::Ideal;

pub use experiment::Experiment;
pub use gain::{Gain, Verdict};
pub use of_run::{Choice, choose};
pub use seen::{Busiest, Seen};
pub use words::{amount, span};

/// What the settings are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Much data in little time.
    Throughput,
    /// Short answers soon.
    Latency,
    /// One beside the other.
    #[default]
    Both,
}

impl Goal {
    /// Whether transfers are to be fast.
    pub fn wants_throughput(self) -> bool {
        self != Goal::Latency
    }

    /// Whether answers are to come soon.
    pub fn wants_latency(self) -> bool {
        self != Goal::Throughput
    }
}

/// What is known of a path, of what is to be sent over it, and of who sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Situation {
    /// The round trip time of the idle path, above zero.
    pub rtt: Span,
    /// The rate of its bottleneck, bits of IP packets a second.
    pub rate: Option<Rate>,
    /// The share of packets that is lost at random, 0 to 1.
    pub loss: f64,
    /// The largest IP packet.
    pub mtu: Bytes,
    /// How much longer a packet takes through a full queue.
    pub queue: Option<Span>,
    /// What a transfer carries.
    pub payload: Bytes,
    /// The congestion control in use.
    pub congestion: String,
    /// Those that the sender's system offers.
    pub available: Vec<String>,
    /// What was seen of a connection that is to become better.
    pub seen: Option<Seen>,
}

/// Where nothing tells how much is to be sent.
const USUAL_PAYLOAD: Bytes = Bytes::new(10_000_000);
/// A transfer that is tried takes so long where the path carries all it can: slow start is over by
/// then, and trials with less than that do not take for ever.
const WORTHWHILE: Span = Span::from_secs(4);
/// Linux's own default (net.ipv4.tcp_congestion_control), where nobody chose another.
const USUAL_CONGESTION: &str = "cubic";

impl Situation {
    /// A path of which only its round trip is known, with what is usual for the rest.
    pub fn of_round_trip(rtt: Span) -> Situation {
        Situation {
            rtt,
            rate: None,
            loss: 0.0,
            mtu: Bytes::new(1500),
            queue: None,
            payload: USUAL_PAYLOAD,
            congestion: USUAL_CONGESTION.into(),
            available: ["reno", "cubic", "bbr"].map(Into::into).to_vec(),
            seen: None,
        }
    }

    /// What the plan of a path says of the direction from client to server; none of a path that
    /// cannot be, or that is none.
    pub fn of_path(path: &PathSpec) -> Option<Situation> {
        /// Paths that change are looked at for so long.
        const LOOK: Span = Span::from_secs(60);
        let until = Instant::ZERO + LOOK;
        let ideal = Ideal::of(path, Direction::Forward, until, 1)?;
        let links = [Direction::Forward, Direction::Reverse].map(|way| path.link(way).ok());
        let outlook = links[0].as_ref()?.outlook(until, 1, 100);
        let first = outlook.moments.first();
        Some(Situation {
            rate: ideal.rate,
            loss: outlook.loss,
            mtu: ideal.mtu,
            queue: first.and_then(|moment| moment.queue).filter(|_| ideal.rate.is_some()),
            ..Situation::of_round_trip(ideal.base_rtt.max(Span::from_micros(1)))
        })
    }

    /// What a transfer carries that is long enough to tell one setting from another and no longer:
    /// as much as the path carries in four seconds, 1 to 100 MB, one figure of it.
    pub fn worthwhile_payload(&self) -> Bytes {
        let most = self.rate.map_or(USUAL_PAYLOAD, |rate| rate.bytes_in(WORTHWHILE)).as_u64();
        let most = most.clamp(1_000_000, 100_000_000);
        let size = 10_u64.pow(most.ilog10());
        Bytes::new(most / size * size)
    }

    fn ideal(&self) -> Ideal {
        Ideal { mtu: self.mtu, base_rtt: self.rtt, rate: self.rate }
    }

    /// The payload of a full segment.
    pub fn segment(&self) -> Bytes {
        self.ideal().segment()
    }

    /// The most payload a second.
    pub fn ideal_goodput(&self) -> Option<Rate> {
        self.ideal().goodput()
    }

    /// The bandwidth-delay product.
    pub fn bdp(&self) -> Option<Bytes> {
        self.ideal().bdp()
    }

    fn offers(&self, congestion: &str) -> bool {
        self.available.iter().any(|name| name == congestion)
    }
}

/// Something to do, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// A word for it, such as `congestion-control`.
    pub id: &'static str,
    /// What to do, in a sentence.
    pub what: String,
    /// How: lines to type or to write.
    pub how: Vec<String>,
    /// Why, in a sentence or two.
    pub why: String,
    /// The formula, the measurement or the document that this rests on.
    pub basis: String,
    /// What it should change, where a formula tells.
    pub expected: Option<Expected>,
    /// What it sets in a scenario: key and value. Nothing where there is nothing to try.
    pub changes: Vec<Change>,
}

/// A key of a scenario and what it is set to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Such as `client.socket.congestion`.
    pub key: String,
    /// As the scenario file takes it.
    pub value: serde_json::Value,
}

impl Change {
    fn new(key: &str, value: impl Into<serde_json::Value>) -> Change {
        Change { key: key.into(), value: value.into() }
    }
}

/// What a formula expects of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    /// The metric, such as `goodput`.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
}

/// What is to be done, the most useful first. Nothing is advised without a reason in the
/// situation.
pub fn advise(situation: &Situation, goal: Goal) -> Vec<Advice> {
    let mut all = rules::all(situation, goal);
    all.sort_by(|one, other| {
        let gain = |advice: &Advice| advice.expected.as_ref().map_or(1.0, Expected::factor);
        gain(other).total_cmp(&gain(one))
    });
    all
}

impl Expected {
    /// How many times as good it becomes: above 1 is better.
    pub fn factor(&self) -> f64 {
        let lower = tcplab_scenario::metric(self.metric)
            .is_some_and(|info| info.better == tcplab_scenario::Better::Lower);
        if lower { self.before / self.after } else { self.after / self.before }
    }
}

#[cfg(test)]
mod tests;
