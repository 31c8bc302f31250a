//! What a trial can be measured by: the one list that claims, tables and reports draw on.

use serde::Serialize;

/// A metric's name and what to make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// As claims and tables name it, such as `goodput`.
    pub name: &'static str,
    /// Such as `Mbit/s`; empty for counts, truths and texts.
    pub unit: &'static str,
    /// What it measures, in a sentence.
    pub meaning: &'static str,
    /// Which way is good.
    pub better: Better,
    /// What one value of it is about.
    pub scope: Scope,
    /// What its values are.
    pub kind: MetricKind,
}

/// Which values of a metric are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// It is a description, not a merit.
    Neither,
}

/// What one value of a metric is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One value per trial.
    Trial,
    /// One value per recovery episode: none, one or many in a trial.
    Episode,
    /// Values of each end, mostly one.
    Endpoint,
    /// One value per request of an application.
    Request,
    /// One value per row of an application's log: a call, or equal ones in a row.
    Call,
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Numbers in the metric's unit.
    Number,
    /// 1 for true, 0 for false.
    Truth,
    /// One of these texts.
    Text(&'static [&'static str]),
}

/// The metric of this name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// The types of recovery episodes, in the words of the interruption paper (sections III, IV).
const EPISODE_TYPES: &[&str] = &["without time lag", "with time lag", "intermittent"];

const fn of_trial(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
) -> MetricInfo {
    MetricInfo { name, unit, meaning, better, scope: Scope::Trial, kind: MetricKind::Number }
}

const fn of_end(name: &'static str, unit: &'static str, meaning: &'static str) -> MetricInfo {
    let (better, scope) = (Better::Neither, Scope::Endpoint);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number }
}

const fn of_call(name: &'static str, unit: &'static str, meaning: &'static str) -> MetricInfo {
    let (better, scope) = (Better::Neither, Scope::Call);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number }
}

const fn words(
    name: &'static str,
    scope: Scope,
    words: &'static [&'static str],
    meaning: &'static str,
) -> MetricInfo {
    let (unit, better, kind) = ("", Better::Neither, MetricKind::Text(words));
    MetricInfo { name, unit, meaning, better, scope, kind }
}

const fn of_episode(name: &'static str, unit: &'static str, meaning: &'static str) -> MetricInfo {
    let (better, scope) = (Better::Lower, Scope::Episode);
    MetricInfo { name, unit, meaning, better, scope, kind: MetricKind::Number }
}

/// Every metric there is, in the order that tables show them.
pub const METRICS: &[MetricInfo] = &[
    of_trial(
        "transfer_time",
        "s",
        Better::Lower,
        "From the call of connect() until the receiver has read the last byte.",
    ),
    of_trial("goodput", "Mbit/s", Better::Higher, "Payload over transfer time."),
    of_trial("lost", "segments", Better::Lower, "Packets with data or FIN that the path dropped."),
    of_trial("retransmissions", "segments", Better::Lower, "Packets that repeat data."),
    of_trial("retransmitted", "bytes", Better::Lower, "The data that they repeat."),
    of_trial("timeouts", "", Better::Lower, "Retransmissions that a timer sent."),
    of_trial("episodes", "", Better::Lower, "Recovery episodes."),
    of_trial(
        "max_in_flight",
        "bytes",
        Better::Neither,
        "The most data sent and not acknowledged at any time.",
    ),
    of_trial("max_window", "bytes", Better::Neither, "The largest advertised window."),
    of_trial(
        "mean_rtt",
        "ms",
        Better::Lower,
        "Round trip time, averaged over the samples of the sender's smoothed estimate.",
    ),
    of_trial("unanswered", "", Better::Lower, "Requests in datagrams that had no answer in time."),
    of_trial("unanswered_share", "%", Better::Lower, "The share of these."),
    of_trial(
        "mean_response",
        "ms",
        Better::Lower,
        "From first sending a request in a datagram until its answer was read, on average.",
    ),
    of_trial("resent", "", Better::Lower, "Requests in datagrams that were sent again, each time."),
    of_trial(
        "late_answers",
        "",
        Better::Lower,
        "Answers that were read after their request was given up.",
    ),
    of_trial(
        "duplicate_answers",
        "",
        Better::Lower,
        "Answers that were read after the first to their request.",
    ),
    of_trial(
        "lost_datagrams",
        "",
        Better::Lower,
        "Datagrams of both directions that did not arrive, as the path has it.",
    ),
    MetricInfo {
        name: "payload_intact",
        unit: "",
        meaning: "Whether the receiver read exactly the bytes that were sent.",
        better: Better::Higher,
        scope: Scope::Trial,
        kind: MetricKind::Truth,
    },
    MetricInfo {
        name: "episode.type",
        unit: "",
        meaning: "How an episode went: without time lag, with time lag, or intermittent.",
        better: Better::Neither,
        scope: Scope::Episode,
        kind: MetricKind::Text(EPISODE_TYPES),
    },
    of_episode("episode.duration", "s", "From the first evidence of loss until its repair."),
    of_episode(
        "episode.silence",
        "s",
        "The longest time without data sent between the first loss and the first retransmission.",
    ),
    of_episode("episode.lost", "segments", "Transmissions that were lost."),
    of_episode("episode.retransmissions", "segments", "Packets that repeat data."),
    of_episode("episode.timeouts", "", "Retransmissions that a timer sent."),
    of_trial(
        "fairness",
        "",
        Better::Higher,
        "Jain's index of what several flows got while all of them were active, those in the \
         background left out: from 1/n, where one of n has all, to 1, where all have the same \
         (Jain, Chiu, Hawe 1984).",
    ),
    of_trial(
        "convergence",
        "s",
        Better::Lower,
        "From the beginning of the last of several flows until what each of them gets in any 2 s \
         stays within half of its fair share, as long as all are active (δ-fair convergence, \
         RFC 5166 section 2.3, with δ = 0.5). Nothing where it never does.",
    ),
    of_trial(
        "aggregate_goodput",
        "Mbit/s",
        Better::Higher,
        "Payload of all of several flows, each byte once, from the first call of connect() until \
         the last of it arrived.",
    ),
    of_trial(
        "path_utilisation",
        "%",
        Better::Higher,
        "What the path forwarded of several flows, headers and repeats included, of what its rate \
         allows, in the direction that forwarded more.",
    ),
    of_trial(
        "load.rate",
        "/s",
        Better::Higher,
        "Requests of a load that were answered as they should be, a second.",
    ),
    of_trial(
        "load.connect",
        "ms",
        Better::Lower,
        "From the beginning of a connection of a load until it stands: the median.",
    ),
    of_trial("load.connect_p99", "ms", Better::Lower, "The same, of which 1 % took longer."),
    of_trial(
        "load.latency",
        "ms",
        Better::Lower,
        "From the beginning of a request of a load, its connection included, until the first byte \
         of its answer: the median.",
    ),
    of_trial("load.latency_p99", "ms", Better::Lower, "The same, of which 1 % took longer."),
    of_trial(
        "load.response",
        "ms",
        Better::Lower,
        "From the beginning of a request of a load, its connection included, until the last byte \
         of its answer: the median.",
    ),
    of_trial("load.response_mean", "ms", Better::Lower, "The mean of the same."),
    of_trial("load.response_p99", "ms", Better::Lower, "The same, of which 1 % took longer."),
    of_trial("load.data_rate", "Mbit/s", Better::Higher, "What the clients of a load received."),
    of_trial(
        "load.data_rate_each",
        "Mbit/s",
        Better::Higher,
        "What a client of a load received while it waited for its answer: the size of an answer \
         over the mean response time.",
    ),
    of_trial(
        "load.server_time",
        "ms",
        Better::Lower,
        "Processor time of the server for a request, of all its processes.",
    ),
    of_trial(
        "load.requests",
        "",
        Better::Neither,
        "Requests that were answered as they should be.",
    ),
    of_trial("load.errors", "", Better::Lower, "Requests of a load that were not."),
    MetricInfo {
        name: "load.intact",
        unit: "",
        meaning: "Whether all that a load was answered was the file, to the byte.",
        better: Better::Higher,
        scope: Scope::Trial,
        kind: MetricKind::Truth,
    },
    words(
        "connection.end",
        Scope::Trial,
        CONNECTION_ENDS,
        "How the connection ended, as the capture at the sender of the payload has it.",
    ),
    words(
        "connection.closed_by",
        Scope::Trial,
        &["client", "server"],
        "Who sent the first FIN or the RST; nothing where nobody did.",
    ),
    words(
        "call.result",
        Scope::Call,
        tcplab_workload::RESULTS,
        "What a call returned: `ok`, `end` for the end of the stream, or the name of its error.",
    ),
    of_call("call.duration", "s", "How long a call took; of equal ones in a row, the longest."),
    of_call("call.began", "s", "When it began, since the start of the trial."),
    of_call("call.moved", "bytes", "What it wrote or read; equal ones in a row together."),
    of_call("call.count", "", "How many equal ones in a row there were."),
    MetricInfo {
        name: "response.time",
        unit: "ms",
        meaning: "From the beginning of a request until its response was read.",
        better: Better::Lower,
        scope: Scope::Request,
        kind: MetricKind::Number,
    },
    MetricInfo {
        name: "request.tries",
        unit: "",
        meaning: "How often a request in a datagram was sent.",
        better: Better::Lower,
        scope: Scope::Request,
        kind: MetricKind::Number,
    },
    of_end("datagrams.sent", "", "Datagrams that the socket of an end took."),
    of_end("datagrams.received", "", "Datagrams that it read."),
    of_end(
        "datagrams.duplicates",
        "",
        "Of the server: requests that it had read before. Of the client: as `duplicate_answers`.",
    ),
    of_end("app.read", "bytes", "What the application of an end read."),
    of_end("app.written", "bytes", "What its socket took."),
    of_end("socket.sndbuf", "bytes", "SO_SNDBUF of its socket when it was closed."),
    of_end("socket.rcvbuf", "bytes", "SO_RCVBUF of it."),
    of_end("segments", "segments", "Packets with data that an end sent, repeats counted."),
    of_end("segments.new", "segments", "Of these, those whose data had not been sent before."),
    of_end("segments.urgent", "segments", "Packets with URG that it sent."),
    of_end("nagle.waits", "", "Small segments that waited for a delayed acknowledgement."),
    of_end("keepalive.probes", "", "Keep-alive probes that an end sent."),
    of_end(
        "keepalive.idle",
        "s",
        "The silence before its first keep-alive probe: since the packet before it.",
    ),
    of_end("keepalive.spacing", "s", "The times between its keep-alive probes, of the first ten."),
    of_end("syn.window", "bytes", "The window in its SYN or SYN-ACK, never scaled."),
    of_end("syn.scale", "", "The shift that its SYN offers for later windows, 0 to 14."),
    of_end("syn.mss", "bytes", "The largest segment that its SYN allows."),
    of_end("window.max", "bytes", "The largest window that it offered."),
    of_end("window.min", "bytes", "The smallest window that it offered, closed ones included."),
    of_end("window.closed", "", "How often its window closed."),
    of_end("window.closed_for", "s", "For how long its window was closed, together."),
];

/// How a connection can end, as a capture shows it.
pub const CONNECTION_ENDS: &[&str] = &[
    "closed",
    "half closed",
    "reset by the client",
    "reset by the server",
    "refused",
    "unanswered",
    "open",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_tell_their_scope() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|other| other.name != metric.name), "{}", metric.name);
            let of_requests =
                ["response.", "request."].iter().any(|it| metric.name.starts_with(it));
            assert_eq!(of_requests, metric.scope == Scope::Request, "{}", metric.name);
            for (prefix, scope) in [("episode.", Scope::Episode), ("call.", Scope::Call)] {
                let is_of_it = metric.name.starts_with(prefix);
                assert_eq!(is_of_it, metric.scope == scope, "{}", metric.name);
            }
            assert!(metric.kind == MetricKind::Number || metric.unit.is_empty(), "{}", metric.name);
        }
    }
}
