//! Trying advice: the same transfers before and after, as a scenario like any other.

use serde_json::{Map, Value, json};
use tcplab_path::PathSpec;
use tcplab_results::Run;
use tcplab_scenario::{Keep, MetricInfo, RecordingSpec, metrics};
use tcplab_units::{Bytes, Endpoint, Span};

use super::advice::{Advice, Change};
use super::gain::Gain;
use super::situation::{Goal, Situation};

/// A scenario that tries advice, and what to look at in its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name, such as `advise-throughput`.
    pub name: String,
    /// The file.
    pub source: String,
    /// Metrics that show the gain.
    pub metrics: Vec<&'static MetricInfo>,
    /// The advice that is tried, by its `id`.
    pub tries: Vec<&'static str>,
    /// The congestion controls before and with the advice, where nothing else differs.
    pub congestions: Option<[String; 2]>,
    /// What a transfer carries.
    pub payload: Bytes,
}

/// The names of its cases.
const BEFORE: &str = "before";
const AFTER: &str = "tuned";

impl Experiment {
    /// What the run of it says.
    pub fn gains(&self, run: &Run) -> Vec<Gain> {
        self.metrics.iter().filter_map(|info| Gain::of(run, BEFORE, AFTER, info)).collect()
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
        let bench = Attempt { situation, path, trials };
        let transfer_of = match situation.sender {
            Endpoint::Client => "upload",
            Endpoint::Server => "download",
        };
        let transfers = json!({ transfer_of: situation.payload });
        // In two pieces, as those write who think of bytes; with the advice in one.
        let requests = json!({ "requests": {
            "count": 50, "request": "200 B", "response": "1 kB", "writes": 2, "think": "20 ms",
        } });
        let some = |which: &dyn Fn(&str) -> bool| -> Vec<&Advice> {
            advice.iter().filter(|it| which(it.id) && !it.changes.is_empty()).collect()
        };
        let of_transfer = match goal {
            Goal::Throughput => vec![metrics::GOODPUT, metrics::TRANSFER_TIME],
            Goal::Latency => vec![metrics::RTT_MEAN, metrics::BUFFER_DELAY],
            Goal::Both => vec![metrics::GOODPUT, metrics::RTT_MEAN],
        };
        // The queue's owner is another, so its gain is measured separately.
        let transfer = some(&|id| !matches!(id, "nodelay" | "queue"));
        let (queue, nodelay) = (some(&|id| id == "queue"), some(&|id| id == "nodelay"));
        let of_queue = vec![metrics::RTT_MEAN, metrics::GOODPUT];
        let of_requests = vec![metrics::MEDIAN_RESPONSE, metrics::P99_RESPONSE];
        [
            bench.of("advise-transfer", "A transfer", &transfers, of_transfer, &transfer),
            bench.of("advise-queue", "A transfer, its queue", &transfers, of_queue, &queue),
            bench.of("advise-requests", "Requests in two writes", &requests, of_requests, &nodelay),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// What all experiments on a situation have in common.
struct Attempt<'s> {
    situation: &'s Situation,
    path: Value,
    trials: u32,
}

impl Attempt<'_> {
    /// The workload before and with the advice; nothing where there is none to be tried.
    fn of(
        &self,
        name: &str,
        what: &str,
        workload: &Value,
        metrics: Vec<&'static MetricInfo>,
        tried: &[&Advice],
    ) -> Option<Experiment> {
        // Where it is not known the system's default is what trials begin with.
        let key = self.situation.congestion_key();
        let mut before = match &self.situation.congestion.name {
            Some(name) => json!({ &key: name }),
            None => json!({}),
        };
        let mut after = before.clone();
        let replaced: Vec<&Change> = tried.iter().flat_map(|advice| &advice.replaces).collect();
        for change in &replaced {
            before[&change.key] = change.value.clone();
        }
        for change in tried.iter().flat_map(|advice| &advice.changes) {
            after[&change.key] = change.value.clone();
        }
        // The advice is to write each message whole, too.
        if tried.iter().any(|advice| advice.id == "nodelay") {
            after["workload.requests.writes"] = json!(1);
        }
        let changes: Vec<&str> =
            tried.iter().flat_map(|advice| &advice.changes).map(|it| it.key.as_str()).collect();
        let congestion = |end: &Value| end[&key].as_str().unwrap_or_default().to_owned();
        let is_only = changes == [&key] && before[&key].is_string();
        let congestions = is_only.then(|| [&before, &after].map(congestion));
        let ends = self.situation.ends.as_ref().map(|ends| ends.without(&replaced));
        let [client, server] = ["client", "server"].map(|end| ends.as_ref().map(|it| &it[end]));
        let file = json!({
            "title": format!("{what}, before and after the advice"),
            "question_metric": promised(tried, &metrics),
            "path": self.path,
            "client": client,
            "server": server,
            "workload": workload,
            "repeat": { "trials": self.trials },
            "limits": { "trial": Span::from_secs(900) },
            "recording": kept(),
            "matrix": { "settings": { BEFORE: before, AFTER: after } },
        });
        (!tried.is_empty()).then(|| Experiment {
            name: name.into(),
            source: tcplab_scenario::compose(&file),
            metrics,
            tries: tried.iter().map(|advice| advice.id).collect(),
            congestions,
            payload: self.situation.payload,
        })
    }
}

/// The metric that the most useful advice promises to improve, else the first that shows a gain: by
/// it the run is judged.
fn promised(tried: &[&Advice], metrics: &[&'static MetricInfo]) -> Option<&'static str> {
    let expected = tried.iter().filter_map(|advice| Some(advice.expected.as_ref()?.metric));
    expected.chain(metrics.iter().map(|info| info.name)).next()
}

/// Gains need no packets; those of a flawed trial stay.
pub(super) fn kept() -> RecordingSpec {
    RecordingSpec { keep: Some(Keep::None), snaplen: None }
}

/// A path like the one that is known by figures.
pub(super) fn as_path(situation: &Situation) -> Value {
    let mut path = Map::new();
    let one_way = Span::from_nanos(situation.rtt.as_nanos() / 2);
    path.insert("delay".into(), json!(one_way));
    if let Some(rate) = situation.rate {
        path.insert("rate".into(), json!(rate));
        let queue = situation.queue.map(|queue| rate.bytes_in(queue));
        // Less than a few packets is no queue, but a path that was never full.
        let enough = |bytes: &Bytes| bytes.as_u64() >= 15_000;
        path.insert("queue".into(), queue.filter(enough).map_or(json!("1 bdp"), |it| json!(it)));
    }
    if situation.loss > 0.0 {
        // Of the data; acknowledgements are few and say the same again.
        let percent = format!("{:.6} %", situation.loss * 100.0);
        path.insert("forward".into(), json!({ "loss": percent }));
    }
    Value::Object(path)
}
