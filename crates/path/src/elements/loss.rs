//! Random loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Probability, Rng, Span};

use crate::Cause;
use crate::behaviour::{Gate, Streams};
use crate::event::Change;
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table! {
    LossSpec, "Loss", "Random loss.", "a probability such as \"0.3 %\", or a table",
    /// Each packet, independently of the others.
    Independent(Probability),
    /// Another law.
    Table(LossTable),
}

/// Another law of loss: exactly one of `gilbert_elliott`, `every` and `burst`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LossModel")]
pub struct LossTable {
    /// A link with a good and a bad state (Gilbert 1960, Elliott 1963).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Every n-th packet, for an n from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// With `every`: which packet is the first to be lost, counted from 1. Default: as `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Bursts: several packets in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<LossBurst>,
}

/// The four parameters of the Gilbert-Elliott channel. It starts in the good state, as netem's
/// does, and before each packet the state may change. In the long run p / (p + r) of the packets
/// meet the bad state, 1 / r of them in a row on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// The probability to go from the good state to the bad one (p).
    pub p: Probability,
    /// The probability to go from the bad state to the good one (r); above zero.
    pub r: Probability,
    /// The probability that a packet is lost in the good state (1 − k). Default: 0 %.
    #[serde(default)]
    pub good: Probability,
    /// The probability that a packet is lost in the bad state (1 − h); not less than in the good
    /// one. Default: 100 %.
    #[serde(default = "always")]
    pub bad: Probability,
}

fn always() -> Probability {
    Probability::ALWAYS
}

/// Losses of several packets in a row. While a burst is going on no other begins; the next may
/// follow at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LossBurst")]
pub struct LossBurst {
    /// The probability that a burst begins with a packet.
    pub probability: Probability,
    /// How many packets in a row are lost, the same in each burst; 0: none.
    pub length: u32,
}

/// A law of loss, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossPlan {
    /// Each packet, independently of the others.
    Independent(Probability),
    /// A link with a good and a bad state.
    GilbertElliott(GilbertElliott),
    /// Packets at even distances.
    Every {
        /// From one to the next; above zero.
        every: u64,
        /// The first, counted from 1.
        first: u64,
    },
    /// Several packets in a row.
    Burst(LossBurst),
}

/// A law of loss and what events put in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossChangesPlan {
    /// The law until the first change; none where no packet is lost, and nothing is drawn for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<LossPlan>,
    /// In order of time; at least one.
    pub changes: Vec<LossChange>,
}

/// From some time on, each packet is lost independently of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossChange {
    /// From the world's zero.
    pub at: Span,
    /// With which probability.
    pub probability: Probability,
}

impl LossSpec {
    /// None when nothing is ever lost.
    pub(crate) fn plan(&self) -> Result<Option<LossPlan>, Fault> {
        match self {
            LossSpec::Independent(probability) => {
                Ok((*probability != Probability::NEVER)
                    .then_some(LossPlan::Independent(*probability)))
            }
            LossSpec::Table(table) => table.plan(),
        }
    }
}

impl LossTable {
    fn plan(&self) -> Result<Option<LossPlan>, Fault> {
        let LossTable { gilbert_elliott, every, first, burst } = self;
        if first.is_some() && every.is_none() {
            let what = "`first` needs `every`";
            return Err(Fault::below("first", what));
        }
        match (gilbert_elliott, every, burst) {
            (Some(chain), None, None) => chain.plan(),
            (None, Some(every), None) => plan_every(*every, *first).map(Some),
            (None, None, Some(burst)) => {
                let is_loss = burst.probability != Probability::NEVER && burst.length > 0;
                Ok(is_loss.then_some(LossPlan::Burst(*burst)))
            }
            (None, None, None) => Err(Fault::here(
                "no loss model given: add one of `gilbert_elliott`, `every` and `burst`",
            )),
            _ => Err(Fault::here(
                "give only one of `gilbert_elliott`, `every` and `burst`; put others into `stages`",
            )),
        }
    }
}

fn plan_every(every: u64, first: Option<u64>) -> Result<LossPlan, Fault> {
    if every == 0 {
        let what = "`every` is 0: give 1 or more, or remove the loss";
        return Err(Fault::below("every", what));
    }
    if first == Some(0) {
        return Err(Fault::below("first", "packets are counted from 1: give 1 or more"));
    }
    Ok(LossPlan::Every { every, first: first.unwrap_or(every) })
}

impl GilbertElliott {
    fn plan(&self) -> Result<Option<LossPlan>, Fault> {
        let GilbertElliott { p, r, good, bad } = *self;
        if r == Probability::NEVER {
            let what = "`r` is 0 %, so the bad state never ends: give a value above zero";
            return Err(Fault::below("gilbert_elliott.r", what));
        }
        if good > bad {
            let what = format!(
                "the good state loses more ({good}) than the bad state ({bad}): exchange them"
            );
            return Err(Fault::below("gilbert_elliott.good", what));
        }
        let never_loses = good == Probability::NEVER && (p == good || bad == good);
        Ok((!never_loses).then_some(LossPlan::GilbertElliott(*self)))
    }
}

impl LossPlan {
    /// What share of the packets is lost in the long run.
    pub(crate) fn share(&self) -> f64 {
        match self {
            LossPlan::Independent(probability) => probability.as_f64(),
            LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad }) => {
                let (p, r) = (p.as_f64(), r.as_f64());
                let is_bad = p / (p + r);
                is_bad * bad.as_f64() + (1.0 - is_bad) * good.as_f64()
            }
            LossPlan::Every { every, .. } => 1.0 / *every as f64,
            // Of a burst's packets and the (1 − p) / p that pass on average before the next.
            LossPlan::Burst(LossBurst { probability, length }) => {
                let (p, length) = (probability.as_f64(), f64::from(*length));
                length * p / (length * p + 1.0 - p)
            }
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            LossPlan::Independent(probability) => {
                format!("Random loss {probability}.")
            }
            LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad }) => format!(
                "Gilbert-Elliott loss: good to bad {p}, bad to good {r} per packet; loss {good} in the \
                 good state, {bad} in the bad state."
            ),
            LossPlan::Every { every: 1, first: 1 } => "Every packet is lost.".into(),
            LossPlan::Every { every, first } if first == every => {
                format!("Of every {every} packets the last is lost.")
            }
            LossPlan::Every { every: 1, first } => {
                format!("Packet {first} is lost, and each behind it.")
            }
            LossPlan::Every { every, first } => {
                format!("Packet {first} is lost, then one of every {every}.")
            }
            LossPlan::Burst(LossBurst { probability, length }) => {
                let plural = if *length == 1 { "" } else { "s" };
                format!(
                    "Loss bursts of {length} packet{plural}; a packet starts one with a \
                     probability of {probability}."
                )
            }
        }
    }
}

impl LossChangesPlan {
    /// Changes another law of loss, or none.
    pub(crate) fn of(first: Option<LossPlan>) -> LossChangesPlan {
        LossChangesPlan { first, changes: Vec::new() }
    }

    /// Adds a change.
    pub(crate) fn add(&mut self, change: LossChange) {
        add(&mut self.changes, change);
    }

    /// What share of the packets is lost in the long run by the law that holds then.
    pub(crate) fn share(&self, at: Instant) -> f64 {
        let made = self.changes.partition_point(|it| Instant::ZERO + it.at <= at);
        match made.checked_sub(1) {
            Some(last) => self.changes[last].probability.as_f64(),
            None => self.first.map_or(0.0, |law| law.share()),
        }
    }

    pub(crate) fn describe(&self) -> String {
        let first = self.first.map(|law| law.describe() + " ").unwrap_or_default();
        let changes = self.changes.iter().map(|it| format!("{} from {}", it.probability, it.at));
        format!("{first}Random loss {}.", changes.collect::<Vec<_>>().join(", "))
    }
}

/// Adds a change behind those of its time and before.
fn add(changes: &mut Vec<LossChange>, change: LossChange) {
    changes.insert(changes.partition_point(|other| other.at <= change.at), change);
}

/// Decides for each packet that comes.
#[derive(Debug)]
pub(crate) struct Loss {
    law: Option<Law>,
    rng: Rng,
    changes: Vec<LossChange>,
    /// How many of them have been made.
    made: usize,
}

/// A law of loss at work.
#[derive(Debug)]
enum Law {
    Independent(Probability),
    GilbertElliott {
        chain: GilbertElliott,
        is_bad: bool,
    },
    Every {
        every: u64,
        /// How many more packets come before the next one to be lost.
        spared: u64,
    },
    Burst {
        burst: LossBurst,
        /// How many more packets the burst that is going on takes.
        left: u32,
    },
}

impl Loss {
    pub(crate) fn new(plan: &LossPlan, streams: Streams) -> Loss {
        let law = Some(Law::new(plan));
        Loss { law, rng: streams.own(), changes: Vec::new(), made: 0 }
    }

    pub(crate) fn changing(plan: &LossChangesPlan, streams: Streams) -> Loss {
        let law = plan.first.as_ref().map(Law::new);
        Loss { law, rng: streams.own(), changes: plan.changes.clone(), made: 0 }
    }
}

impl Law {
    fn new(plan: &LossPlan) -> Law {
        match *plan {
            LossPlan::Independent(probability) => Law::Independent(probability),
            LossPlan::GilbertElliott(chain) => Law::GilbertElliott { chain, is_bad: false },
            LossPlan::Every { every, first } => Law::Every { every, spared: first - 1 },
            LossPlan::Burst(burst) => Law::Burst { burst, left: 0 },
        }
    }

    /// Whether the next packet is lost. Each law takes as many draws for one packet as for another,
    /// so that another parameter never shifts the draws that follow.
    fn hits(&mut self, rng: &mut Rng) -> bool {
        match self {
            Law::Independent(probability) => probability.happens(rng),
            // Gilbert 1960 with Elliott's (1963) loss in the good state, too: the state changes,
            // then the packet meets it.
            Law::GilbertElliott { chain, is_bad } => {
                let changes = if *is_bad { chain.r } else { chain.p };
                *is_bad ^= changes.happens(rng);
                let lost = if *is_bad { chain.bad } else { chain.good };
                lost.happens(rng)
            }
            Law::Every { every, spared } => {
                let hits = *spared == 0;
                *spared = if hits { *every } else { *spared } - 1;
                hits
            }
            Law::Burst { burst, left } => {
                if burst.probability.happens(rng) && *left == 0 {
                    *left = burst.length;
                }
                let hits = *left > 0;
                *left = left.saturating_sub(1);
                hits
            }
        }
    }
}

impl Gate for Loss {
    fn refuse(&mut self, now: Instant, _size: Bytes) -> Option<Cause> {
        while let Some(change) = self.changes.get(self.made)
            && Instant::ZERO + change.at <= now
        {
            self.law = Some(Law::Independent(change.probability));
            self.made += 1;
        }
        self.law.as_mut()?.hits(&mut self.rng).then_some(Cause::Loss)
    }
    fn change(&mut self, at: Instant, change: Change) {
        let Change::Loss(probability) = change else { unreachable!("it loses only") };
        add(&mut self.changes, LossChange { at: at.since(Instant::ZERO), probability });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_read_as_sentences() {
        let every = |every, first| LossPlan::Every { every, first };
        let burst = |length| {
            LossPlan::Burst(LossBurst { probability: Probability::per_million(10_000), length })
        };
        for (law, words) in [
            (every(1, 1), "Every packet is lost."),
            (every(1, 5), "Packet 5 is lost, and each behind it."),
            (every(3, 3), "Of every 3 packets the last is lost."),
            (every(3, 1), "Packet 1 is lost, then one of every 3."),
            (burst(1), "Loss bursts of 1 packet; a packet starts one with a probability of 1 %."),
            (burst(2), "Loss bursts of 2 packets; a packet starts one with a probability of 1 %."),
        ] {
            assert_eq!(law.describe(), words);
        }
    }
}
