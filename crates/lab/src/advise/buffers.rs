//! How many buffers a stack needs that counts them instead of bytes: each count is tried in the
//! stack's own model before one is recommended.

use serde::Serialize;
use serde_json::{Map, Value, json};
use tcplab_path::PathSpec;
use tcplab_results::Run;
use tcplab_scenario::metrics;
use tcplab_units::{Bytes, Span};

use super::advice::Advice;
use super::experiment::{as_path, kept};
use super::situation::Situation;
use crate::analysis::WITHOUT_OPTIONS;

/// NetBurner's default (constants.h).
const FEWEST: u64 = 5;
/// Packets of 1500 B in a window of 16 bits (the article's 65536/1500).
const MOST: u64 = 43;
/// The article's pool, for all sockets together.
const POOL: u64 = 256;
/// The goal: this share of the best goodput of all counts. More buffers than the path's queue has
/// room for overflow it, so the most are not always the best.
const GOAL: f64 = 0.99;
/// More says nothing new: the article's file.
const PAYLOAD: Bytes = Bytes::new(4_000_000);
/// Of the module's processor for each segment: the article's best on its LAN, 4 MB in 0.658 s.
const PROCESSING: Span = Span::from_micros(240);
/// Trials where losses are random; else all are the same.
const TRIALS: u32 = 5;

/// A scenario that tries every count, both ways, in virtual time.
#[derive(Debug, Clone, PartialEq)]
pub struct BufferSearch {
    /// Its name.
    pub name: &'static str,
    /// The file.
    pub source: String,
}

/// What the model of the stack needs over a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Buffers {
    /// Buffers to receive.
    pub receive: LeastCount,
    /// Buffers to send, and as many unacknowledged.
    pub send: LeastCount,
}

/// The least count that reaches the goal, and what was tried beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeastCount {
    /// The count.
    pub buffers: u64,
    /// Its goodput, Mbit/s, the mean of its trials. So of the next.
    #[serde(rename = "goodput_mbit_per_second")]
    pub goodput: f64,
    /// That of one buffer fewer; none where that was not tried.
    #[serde(rename = "goodput_of_one_fewer_mbit_per_second")]
    pub of_one_fewer: Option<f64>,
    /// The count with the best goodput.
    pub best: u64,
    /// That goodput.
    #[serde(rename = "goodput_of_best_mbit_per_second")]
    pub of_best: f64,
}

impl BufferSearch {
    /// Over the path of the situation, or one made of what is known.
    pub fn of(situation: &Situation, path: Option<&PathSpec>) -> BufferSearch {
        let path = path.map_or_else(|| as_path(situation), |path| json!(path));
        let mut levels = Map::new();
        for count in FEWEST..=MOST {
            let room = Bytes::new(count * 1500);
            levels.insert(
                level("receive", count),
                json!({
                    "server.stack": "model:netburner",
                    "server.model.host.processing": PROCESSING,
                    "server.model.receiving":
                        { "segments": count, "out_of_order": count - 1, "buffer": [room, room] },
                }),
            );
            levels.insert(
                level("send", count),
                json!({
                    "client.stack": "model:netburner",
                    // An acknowledgement answers two segments.
                    "client.model.host.processing": PROCESSING * 2,
                    "client.model.sending": { "segments": count, "unacked": count },
                }),
            );
        }
        let file = json!({
            "title": format!("{FEWEST} to {MOST} buffers"),
            "path": path,
            "workload": { "upload": situation.payload.min(PAYLOAD) },
            "repeat": { "trials": if situation.loss > 0.0 { TRIALS } else { 1 } },
            "limits": { "trial": Span::from_secs(3600) },
            "recording": kept(),
            "matrix": { "buffers": Value::Object(levels) },
        });
        BufferSearch { name: "advise-buffers", source: tcplab_scenario::compose(&file) }
    }

    /// What its run says; none where a count has no goodput.
    pub fn outcome(run: &Run) -> Option<Buffers> {
        Some(Buffers { receive: least(run, "receive")?, send: least(run, "send")? })
    }
}

fn level(way: &str, count: u64) -> String {
    format!("{way}-{count}")
}

/// The least count that reaches the goal.
fn least(run: &Run, way: &str) -> Option<LeastCount> {
    let goodput = |count: u64| {
        let case = run.cases.iter().find(|case| case.name == level(way, count))?;
        case.summaries.iter().find(|it| it.name == metrics::GOODPUT.name).map(|it| it.mean)
    };
    let tried: Option<Vec<f64>> = (FEWEST..=MOST).map(goodput).collect();
    let tried = tried?;
    let of_best = tried.iter().copied().reduce(f64::max)?;
    let first = |is_it: &dyn Fn(f64) -> bool| tried.iter().position(|goodput| is_it(*goodput));
    let best = first(&|goodput| goodput >= of_best)?;
    let at = first(&|goodput| goodput >= of_best * GOAL)?;
    Some(LeastCount {
        buffers: FEWEST + at as u64,
        goodput: tried[at],
        of_one_fewer: at.checked_sub(1).map(|index| tried[index]),
        best: FEWEST + best as u64,
        of_best,
    })
}

impl Buffers {
    /// What to set.
    pub fn advice(&self) -> Advice {
        let Buffers { receive, send } = self;
        let why = |verb: &str, it: &LeastCount| {
            let fewer = it
                .of_one_fewer
                .map_or(String::new(), |goodput| format!("{}: {goodput:.1}; ", it.buffers - 1));
            let best = format!("the best, {}: {:.1}", it.best, it.of_best);
            format!("{} {verb} {:.1} Mbit/s ({fewer}{best})", it.buffers, it.goodput)
        };
        let why = format!(
            "In the stack's model over this path {}; {}. Goal: the fewest with {:.0} % of the \
             goodput of the best.",
            why("receive", receive),
            why("send", send),
            GOAL * 100.0,
        );
        let basis = "every count from 5 to 43 was tried in the model of the stack (tcplab run \
                     throughput-vs-response); at most 43 without window scaling (65,536 / 1500)";
        advice(receive.buffers, send.buffers, &why, basis)
    }

    /// By the formula alone, untried; none where the bandwidth-delay product is not known.
    pub fn by_formula(situation: &Situation) -> Option<Advice> {
        // These stacks use no timestamps.
        let segment = situation.mtu.saturating_sub(WITHOUT_OPTIONS).as_u64().max(1);
        let needed = situation.bdp()?.as_u64().div_ceil(segment) + 1;
        let count = needed.clamp(FEWEST, MOST);
        let why = format!(
            "The path holds {needed} segments on their way. Not tried in the stack's model, which may \
             need more: leave out --no-trials."
        );
        let basis = "bandwidth-delay product over the segment, one more for the segment being \
                     read; at most 43 without window scaling (65,536 / 1500)";
        Some(advice(count, count, &why, basis))
    }
}

fn advice(receive: u64, send: u64, why: &str, basis: &'static str) -> Advice {
    let each = receive + 2 * send;
    Advice {
        id: "embedded-buffers",
        what: format!(
            "On NetBurner's stack: {receive} buffers to receive, {} for segments out of order, {send} to \
             send, {send} unacknowledged.",
            receive - 1
        ),
        how: vec![
            format!(
                "SetSocketRxBuffers(fd, {receive}); SetOutOfOrderBuffers(fd, {});",
                receive - 1
            ),
            format!("SetSocketTxBuffers(fd, {send}); SetSocketUnackBuffers(fd, {send});"),
        ],
        why: format!(
            "{why} Of a pool of {POOL} buffers, connections that may take {each} each leave room for \
             {}.",
            POOL / each
        ),
        basis,
        expected: None,
        changes: Vec::new(),
        replaces: Vec::new(),
    }
}
