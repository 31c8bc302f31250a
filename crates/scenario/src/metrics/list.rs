//! Metrics of trials, episodes, interruptions, requests and calls.

use super::info::{
    Better, CONNECTION_ENDS, EPISODE_TYPES, MetricInfo, MetricKind, Scope, Source, of_call,
    of_episode, of_interruption, of_trial, words,
};

super::info::define! {
    LIST;
    TRANSFER_TIME = of_trial(
        "transfer_time",
        Source::Applications,
        "s",
        Better::Lower,
        "Time from the call of connect() until the receiver has read the last byte.",
    );
    GOODPUT = of_trial(
        "goodput",
        Source::Applications,
        "Mbit/s",
        Better::Higher,
        "Payload divided by transfer time.",
    );
    LOST = of_trial(
        "lost",
        Source::Path,
        "segments",
        Better::Lower,
        "Packets with data or FIN that the path dropped.",
    );
    RETRANSMISSIONS = of_trial(
        "retransmissions",
        Source::Capture,
        "segments",
        Better::Lower,
        "Retransmitted segments.",
    );
    RETRANSMISSIONS_FAST = of_trial(
        "retransmissions.fast",
        Source::Capture,
        "segments",
        Better::Lower,
        "Retransmissions after duplicate ACKs, SACK or RACK (RFC 5681, RFC 6675, RFC 8985).",
    );
    RETRANSMISSIONS_PROBE = of_trial(
        "retransmissions.probe",
        Source::Capture,
        "segments",
        Better::Lower,
        "Tail loss probes (RFC 8985 section 7).",
    );
    RETRANSMISSIONS_TIMEOUT = of_trial(
        "retransmissions.timeout",
        Source::Capture,
        "segments",
        Better::Lower,
        "Retransmissions by a retransmission timeout, and in the recovery that follows (RFC 6298).",
    );
    RETRANSMISSIONS_REPEATED = of_trial(
        "retransmissions.repeated",
        Source::Capture,
        "segments",
        Better::Lower,
        "Retransmissions of data that was retransmitted before.",
    );
    RETRANSMISSIONS_SPURIOUS = of_trial(
        "retransmissions.spurious",
        Source::Capture,
        "segments",
        Better::Lower,
        "Spurious retransmissions, by D-SACK or timestamps (RFC 2883, RFC 3522).",
    );
    RETRANSMITTED = of_trial(
        "retransmitted",
        Source::Capture,
        "bytes",
        Better::Lower,
        "Retransmitted data.",
    );
    TIMEOUTS = of_trial(
        "timeouts",
        Source::Capture,
        "",
        Better::Lower,
        "Retransmissions by a timer.",
    );
    EPISODES = of_trial("episodes", Source::Capture, "", Better::Lower, "Recovery episodes.");
    MAX_IN_FLIGHT = of_trial(
        "max_in_flight",
        Source::Capture,
        "bytes",
        Better::Neither,
        "Largest amount of data in flight (sent and not acknowledged).",
    );
    MAX_WINDOW = of_trial(
        "max_window",
        Source::Capture,
        "bytes",
        Better::Neither,
        "Largest advertised window.",
    );
    THROUGHPUT = of_trial(
        "throughput",
        Source::Capture,
        "Mbit/s",
        Better::Neither,
        "All data sent, with retransmissions, divided by the time from the first data to the ACK of \
         the last.",
    );
    EFFICIENCY = of_trial(
        "efficiency",
        Source::Capture,
        "%",
        Better::Higher,
        "Share of data bytes that are not retransmissions: the TCP efficiency of RFC 6349 section \
         4.2.",
    );
    BASE_RTT = of_trial(
        "base_rtt",
        Source::Plan,
        "ms",
        Better::Neither,
        "RTT of a small packet on the idle path (RFC 6349 section 3.2): calibrated on the kernel, \
         otherwise configured.",
    );
    BUFFER_DELAY = of_trial(
        "buffer_delay",
        Source::CaptureAndPlan,
        "%",
        Better::Lower,
        "Mean RTT during the transfer above `base_rtt` (RFC 6349 section 4.3).",
    );
    IDEAL_TIME = of_trial(
        "ideal_time",
        Source::Plan,
        "s",
        Better::Neither,
        "Time of the payload in full segments with 40 bytes of headers at the bottleneck rate, \
         without loss (RFC 6349 section 4.1).",
    );
    TRANSFER_TIME_RATIO = of_trial(
        "transfer_time_ratio",
        Source::ApplicationsAndPlan,
        "",
        Better::Lower,
        "`transfer_time` divided by `ideal_time`: the TCP transfer time ratio of RFC 6349 section 4.1.",
    );
    MEAN_RTT = of_trial(
        "mean_rtt",
        Source::TcpInfo,
        "ms",
        Better::Lower,
        "Mean of the samples of the sender's smoothed RTT.",
    );
    RTT_MIN = of_trial(
        "rtt.min",
        Source::Capture,
        "ms",
        Better::Lower,
        "Shortest RTT, from a segment to its ACK at the capture point (Karn's rule).",
    );
    RTT_MEAN = of_trial(
        "rtt.mean",
        Source::Capture,
        "ms",
        Better::Lower,
        "Mean RTT at the capture point.",
    );
    RTT_MEDIAN = of_trial(
        "rtt.median",
        Source::Capture,
        "ms",
        Better::Lower,
        "Median RTT at the capture point, within 2 %.",
    );
    RTT_P95 = of_trial(
        "rtt.p95",
        Source::Capture,
        "ms",
        Better::Lower,
        "95th percentile of the RTT at the capture point, within 2 %.",
    );
    RTT_MAX = of_trial(
        "rtt.max",
        Source::Capture,
        "ms",
        Better::Lower,
        "Longest RTT at the capture point.",
    );
    LIMIT_APPLICATION = of_trial(
        "limit.application",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer in which the application had no data to send.",
    );
    LIMIT_RECEIVE_WINDOW = of_trial(
        "limit.receive_window",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer in which the receive window was full.",
    );
    LIMIT_SEND_BUFFER = of_trial(
        "limit.send_buffer",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer in which the send buffer was full of data in flight.",
    );
    LIMIT_SLOW_START = of_trial(
        "limit.slow_start",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer in slow start.",
    );
    LIMIT_CONGESTION_WINDOW = of_trial(
        "limit.congestion_window",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer in which the congestion window was full: after loss, or below the \
         path's capacity.",
    );
    LIMIT_PATH = of_trial(
        "limit.path",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer at the path's full rate.",
    );
    LIMIT_TIMEOUT = of_trial(
        "limit.timeout",
        Source::Capture,
        "%",
        Better::Neither,
        "Share of the transfer spent waiting for a retransmission timeout.",
    );
    CPU_PER_BYTE = of_trial(
        "cpu_per_byte",
        Source::Kernel,
        "ns/B",
        Better::Lower,
        "Processor time per byte of payload of a connection's threads at both endpoints, with system \
         calls; the sum of a workload's connections, the median of a flow's. Excludes the kernel's \
         work on arriving packets. On the kernel only.",
    );
    UNANSWERED = of_trial(
        "unanswered",
        Source::Applications,
        "",
        Better::Lower,
        "Datagram requests without an answer in time.",
    );
    UNANSWERED_SHARE = of_trial(
        "unanswered_share",
        Source::Applications,
        "%",
        Better::Lower,
        "Share of datagram requests without an answer in time.",
    );
    MEAN_RESPONSE = of_trial(
        "mean_response",
        Source::Applications,
        "ms",
        Better::Lower,
        "Mean time from the start of a request until its response was read; of a datagram request, \
         from its first transmission.",
    );
    MEDIAN_RESPONSE = of_trial(
        "median_response",
        Source::Applications,
        "ms",
        Better::Lower,
        "Median time from the start of a client's request until its response was read.",
    );
    P95_RESPONSE = of_trial(
        "p95_response",
        Source::Applications,
        "ms",
        Better::Lower,
        "95th percentile of the response time.",
    );
    P99_RESPONSE = of_trial(
        "p99_response",
        Source::Applications,
        "ms",
        Better::Lower,
        "99th percentile of the response time.",
    );
    REQUEST_RETRIES = of_trial(
        "request_retries",
        Source::Applications,
        "",
        Better::Lower,
        "Retransmissions of datagram requests.",
    );
    LATE_ANSWERS = of_trial(
        "late_answers",
        Source::Applications,
        "",
        Better::Lower,
        "Answers that arrived after their request had timed out.",
    );
    DUPLICATE_ANSWERS = of_trial(
        "duplicate_answers",
        Source::Applications,
        "",
        Better::Lower,
        "Answers after the first one to a request.",
    );
    LOST_DATAGRAMS = of_trial(
        "lost_datagrams",
        Source::Path,
        "",
        Better::Lower,
        "Datagrams of both directions that did not arrive, by the path's log.",
    );
    PAYLOAD_INTACT = MetricInfo {
        name: "payload_intact",
        source: Source::Applications,
        unit: "",
        meaning: "Whether the receiver read exactly the bytes that were sent.",
        better: Better::Higher,
        scope: Scope::Trial,
        kind: MetricKind::Truth,
    };
    EPISODE_TYPE = MetricInfo {
        name: "episode.type",
        source: Source::Capture,
        unit: "",
        meaning: "Type of the recovery: without time lag, with time lag, or intermittent.",
        better: Better::Neither,
        scope: Scope::Episode,
        kind: MetricKind::Text(EPISODE_TYPES),
    };
    EPISODE_DURATION = of_episode(
        "episode.duration",
        "s",
        "Time from the first evidence of loss until its repair.",
    );
    EPISODE_SILENCE = of_episode(
        "episode.silence",
        "s",
        "Longest time without transmission between the first loss and the first retransmission.",
    );
    EPISODE_LOST = of_episode("episode.lost", "segments", "Lost transmissions.");
    EPISODE_RETRANSMISSIONS = of_episode(
        "episode.retransmissions",
        "segments",
        "Retransmitted segments.",
    );
    EPISODE_TIMEOUTS = of_episode("episode.timeouts", "", "Retransmissions by a timer.");
    INTERRUPTION_RECOVERY = of_interruption(
        "interruption.recovery",
        Source::Capture,
        "s",
        "Time from the end of an interruption until the receiver has new data in order.",
    );
    INTERRUPTION_LOST = of_interruption(
        "interruption.lost",
        Source::Capture,
        "bytes",
        "Data that the receiver missed until the next interruption or the end: what it would have \
         received at the rate before the interruption, less what it received.",
    );
    FAIRNESS = of_trial(
        "fairness",
        Source::Captures,
        "",
        Better::Higher,
        "Jain's fairness index of several flows while all were active, without background flows: \
         1/n if one of n has all, 1 if all have the same (Jain, Chiu, Hawe 1984).",
    );
    CONVERGENCE = of_trial(
        "convergence",
        Source::Captures,
        "s",
        Better::Lower,
        "Time from the start of the last flow until each flow's rate over any 2 s stays within half \
         of its fair share while all are active (δ-fair convergence, RFC 5166 section 2.3, with δ = \
         0.5). Missing if it never does.",
    );
    AGGREGATE_GOODPUT = of_trial(
        "aggregate_goodput",
        Source::Captures,
        "Mbit/s",
        Better::Higher,
        "Payload of all flows and both directions, each byte once, divided by the time from the first \
         connect() to the last arrival.",
    );
    PATH_UTILISATION = of_trial(
        "path_utilisation",
        Source::Path,
        "%",
        Better::Higher,
        "Traffic of all flows, with headers and retransmissions, as a share of the path's rate, in \
         the busier direction.",
    );
    LOAD_RATE = of_trial(
        "load.rate",
        Source::Applications,
        "/s",
        Better::Higher,
        "Correctly answered requests of a load per second.",
    );
    LOAD_CONNECT = of_trial(
        "load.connect",
        Source::Applications,
        "ms",
        Better::Lower,
        "Median time from the start of a connection of a load until it is established.",
    );
    LOAD_CONNECT_P99 = of_trial(
        "load.connect_p99",
        Source::Applications,
        "ms",
        Better::Lower,
        "99th percentile of `load.connect`.",
    );
    LOAD_LATENCY = of_trial(
        "load.latency",
        Source::Applications,
        "ms",
        Better::Lower,
        "Median time from the start of a request of a load, with its connection, until the first \
         byte of its answer.",
    );
    LOAD_LATENCY_P99 = of_trial(
        "load.latency_p99",
        Source::Applications,
        "ms",
        Better::Lower,
        "99th percentile of `load.latency`.",
    );
    LOAD_RESPONSE = of_trial(
        "load.response",
        Source::Applications,
        "ms",
        Better::Lower,
        "Median time from the start of a request of a load, with its connection, until the last byte \
         of its answer.",
    );
    LOAD_RESPONSE_MEAN = of_trial(
        "load.response_mean",
        Source::Applications,
        "ms",
        Better::Lower,
        "Mean of `load.response`.",
    );
    LOAD_RESPONSE_P99 = of_trial(
        "load.response_p99",
        Source::Applications,
        "ms",
        Better::Lower,
        "99th percentile of `load.response`.",
    );
    LOAD_DATA_RATE = of_trial(
        "load.data_rate",
        Source::Applications,
        "Mbit/s",
        Better::Higher,
        "Data rate of all clients of a load.",
    );
    LOAD_DATA_RATE_EACH = of_trial(
        "load.data_rate_each",
        Source::Applications,
        "Mbit/s",
        Better::Higher,
        "Data rate of one client of a load: the size of an answer divided by the mean response time.",
    );
    LOAD_SERVER_TIME = of_trial(
        "load.server_time",
        Source::Kernel,
        "ms",
        Better::Lower,
        "Processor time of all processes of the server per request.",
    );
    LOAD_REQUESTS = of_trial(
        "load.requests",
        Source::Applications,
        "",
        Better::Neither,
        "Correctly answered requests of a load.",
    );
    LOAD_ERRORS = of_trial(
        "load.errors",
        Source::Applications,
        "",
        Better::Lower,
        "Failed requests of a load.",
    );
    LOAD_INTACT = MetricInfo {
        name: "load.intact",
        source: Source::Applications,
        unit: "",
        meaning: "Whether all answers to a load equal the file, byte by byte.",
        better: Better::Higher,
        scope: Scope::Trial,
        kind: MetricKind::Truth,
    };
    CONNECTION_END = words(
        "connection.end",
        Source::Capture,
        Scope::Trial,
        CONNECTION_ENDS,
        "How the connection ended, in the capture at the sender of the payload.",
    );
    CONNECTION_CLOSED_BY = words(
        "connection.closed_by",
        Source::Capture,
        Scope::Trial,
        &["client", "server"],
        "Which endpoint sent the first FIN or the RST; missing if neither did.",
    );
    CALL_RESULT = words(
        "call.result",
        Source::Applications,
        Scope::Call,
        tcplab_workload::RESULTS,
        "Result of a call: `ok`, `end` for the end of the stream, or the name of its error.",
    );
    CALL_DURATION = of_call(
        "call.duration",
        "s",
        "Duration of a call; of successive equal calls, the longest.",
    );
    CALL_BEGAN = of_call("call.began", "s", "Start of a call, since the start of the trial.");
    CALL_MOVED = of_call(
        "call.moved",
        "bytes",
        "Bytes written or read; the sum of successive equal calls.",
    );
    CALL_COUNT = of_call("call.count", "", "Number of successive equal calls.");
    RESPONSE_TIME = MetricInfo {
        name: "response.time",
        source: Source::Applications,
        unit: "ms",
        meaning: "Time from the start of a request until its response was read.",
        better: Better::Lower,
        scope: Scope::Request,
        kind: MetricKind::Number,
    };
    REQUEST_TRIES = MetricInfo {
        name: "request.tries",
        source: Source::Applications,
        unit: "",
        meaning: "Transmissions of a datagram request.",
        better: Better::Lower,
        scope: Scope::Request,
        kind: MetricKind::Number,
    };
}
