//! Trying advice: the same transfers before and after, as a scenario like any other.

use serde_json::{Map, Value, json};
use tcplab_path::PathSpec;
use tcplab_units::Span;

use super::{Advice, Gain, Goal, Situation};
use crate::Run;

/// A scenario that tries advice, and what to look at in its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name, such as `advise-throughput`.
    pub name: String,
    /// The file.
    pub source: String,
    /// Metrics that tell the gain.
    pub metrics: Vec<&'static str>,
    /// The advice that is tried, by its `id`.
    pub tries: Vec<&'static str>,
}

/// The names of its cases.
const BEFORE: &str = "before";
const AFTER: &str = "with-advice";

impl Experiment {
    /// What the run of it says.
    pub fn gains(&self, run: &Run) -> Vec<Gain> {
        self.metrics.iter().filter_map(|name| Gain::of(run, BEFORE, AFTER, name)).collect()
    }

    /// What tries the advice that can be tried: a transfer for throughput, requests for latency.
    /// Nothing where there is none.
    ///
    /// `path` is that of the situation, if there is one; otherwise one is made of what is known.
    pub fn of(
        situation: &Situation,
        path: Option<&PathSpec>,
        goal: Goal,
        advice: &[Advice],
        trials: u32,
    ) -> Vec<Experiment> {
        let path = path.map_or_else(|| as_path(situation), |path| json!(path));
        let upload = json!({ "upload": situation.payload });
        // In two pieces, as those write who think of bytes.
        let requests = json!({ "requests": {
            "count": 50, "request": "200 B", "response": "1 kB", "writes": 2, "think": "20 ms",
        } });
        let of_transfer = |advice: &&Advice| !matches!(advice.id, "nodelay");
        let of_requests = |advice: &&Advice| matches!(advice.id, "nodelay");
        let mut all = Vec::new();
        let mut add = |name: &str, what: &str, workload: &Value, metrics, tried: Vec<&Advice>| {
            let changes: Vec<_> = tried.iter().flat_map(|advice| &advice.changes).collect();
            if changes.is_empty() {
                return;
            }
            let before = json!({ "client.socket.congestion": situation.congestion });
            let mut after = before.clone();
            for change in changes {
                after[&change.key] = change.value.clone();
            }
            let file = json!({
                "title": format!("{what}, before and after the advice"),
                "path": path,
                "workload": workload,
                "repeat": { "trials": trials },
                "limits": { "trial": Span::from_secs(900) },
                "matrix": { "advice": { BEFORE: before, AFTER: after } },
            });
            all.push(Experiment {
                name: name.into(),
                source: tcplab_scenario::compose(&file),
                metrics,
                tries: tried.iter().map(|advice| advice.id).collect(),
            });
        };
        if goal.wants_throughput() || advice.iter().any(|it| it.id == "congestion-control") {
            let tried = advice.iter().filter(of_transfer).filter(|it| !it.changes.is_empty());
            let metrics = match goal {
                Goal::Throughput => vec!["goodput", "transfer_time"],
                Goal::Latency => vec!["rtt.mean", "buffer_delay"],
                Goal::Both => vec!["goodput", "rtt.mean"],
            };
            add("advise-transfer", "A transfer", &upload, metrics, tried.collect());
        }
        if goal.wants_latency() {
            let tried = advice.iter().filter(of_requests).filter(|it| !it.changes.is_empty());
            add(
                "advise-requests",
                "Requests in two writes",
                &requests,
                vec!["median_response", "p99_response"],
                tried.collect(),
            );
        }
        all
    }
}

/// A path like the one that is known by figures.
fn as_path(situation: &Situation) -> Value {
    let mut path = Map::new();
    let one_way = Span::from_nanos(situation.rtt.as_nanos() / 2);
    path.insert("delay".into(), json!(one_way));
    if let Some(rate) = situation.rate {
        path.insert("rate".into(), json!(rate));
        let queue = situation.queue.map(|queue| rate.bytes_in(queue));
        // Less than a few packets is no queue, but a path that was never full.
        let enough = |bytes: &tcplab_units::Bytes| bytes.as_u64() >= 15_000;
        path.insert("queue".into(), queue.filter(enough).map_or(json!("1 bdp"), |it| json!(it)));
    }
    if situation.loss > 0.0 {
        // Of the data; acknowledgements are few and say the same again.
        let percent = format!("{:.6} %", situation.loss * 100.0);
        path.insert("forward".into(), json!({ "loss": percent }));
    }
    Value::Object(path)
}
