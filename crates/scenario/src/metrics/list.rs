//! The metrics, in the order of tables.

use super::info::MetricKind::{Text, Truth};
use super::info::{
    Better, CONNECTION_ENDS, EPISODE_TYPES, MetricInfo, MetricKind, Scope, Source, TCP_STATES,
};

/// A constant for each metric, so none is used that is not in the list, and the list.
///
/// A metric that is a quantity of a connection or a run takes its label and meaning from it.
/// Without `values` it has numbers.
macro_rules! metrics {
    ($(
        $name:ident = $key:literal, $unit:literal, $scope:ident, $source:ident, $better:ident
        $(, quantity $quantity:ident)? $(, $label:literal, $meaning:literal)?
        $(, values $kind:expr)?;
    )*) => {
        $(
            #[doc = concat!("`", $key, "`.")]
            pub const $name: &MetricInfo = &{
                let (label, meaning, quantity) =
                    metrics!(@text $($quantity)? $($label, $meaning)?);
                MetricInfo {
                    name: $key,
                    label,
                    unit: $unit,
                    meaning,
                    better: Better::$better,
                    scope: Scope::$scope,
                    kind: metrics!(@kind $($kind)?),
                    source: Source::$source,
                    quantity,
                }
            };
        )*
        /// All metrics, in the order of tables.
        pub const METRICS: &[MetricInfo] = &[$(*$name),*];
    };
    (@text $quantity:ident) => {{
        let quantity = tcplab_quantities::$quantity;
        (quantity.label, quantity.meaning, Some(quantity.key))
    }};
    (@text $label:literal, $meaning:literal) => { ($label, $meaning, None) };
    (@kind) => { MetricKind::Number };
    (@kind $kind:expr) => { $kind };
}

metrics! {
    TRANSFER_TIME = "transfer_time", "s", Trial, Applications, Lower,
        quantity TRANSFER_TIME_SECONDS;
    GOODPUT = "goodput", "Mbit/s", Trial, Applications, Higher, quantity GOODPUT_MBIT_PER_SECOND;
    LOST = "lost", "segments", Trial, Path, Lower, "lost on the path",
        "Packets with data or FIN that the path dropped, or damaged so that the receiver does, \
         with all copies of them; of a load, all packets of both ends";
    RETRANSMISSIONS = "retransmissions", "segments", Trial, Capture, Lower,
        quantity RETRANSMISSIONS;
    RETRANSMISSIONS_FAST = "retransmissions.fast", "segments", Trial, Capture, Lower,
        quantity RETRANSMISSIONS_FAST;
    RETRANSMISSIONS_PROBE = "retransmissions.probe", "segments", Trial, Capture, Lower,
        quantity TAIL_LOSS_PROBES;
    RETRANSMISSIONS_TIMEOUT = "retransmissions.timeout", "segments", Trial, Capture, Lower,
        "retransmissions by timeout",
        "Retransmissions by a retransmission timeout, and in the recovery that follows (RFC \
         6298)";
    RETRANSMISSIONS_REPEATED = "retransmissions.repeated", "segments", Trial, Capture, Lower,
        quantity RETRANSMISSIONS_LOST;
    RETRANSMISSIONS_SPURIOUS = "retransmissions.spurious", "segments", Trial, Capture, Lower,
        quantity RETRANSMISSIONS_SPURIOUS;
    RETRANSMITTED = "retransmitted", "bytes", Trial, Capture, Lower, quantity RETRANSMITTED_BYTES;
    TIMEOUTS = "timeouts", "", Trial, Capture, Lower, "timeouts",
        "Retransmissions by a timer, tail loss probes included, in all recovery episodes";
    EPISODES = "episodes", "", Trial, Capture, Lower, "episodes", "Recovery episodes";
    EPISODE_SHARE_WITHOUT = "episode_share.without_time_lag", "%", Trial, Capture, Neither,
        "episodes without time lag", "Share of the recovery episodes that were without time lag";
    EPISODE_SHARE_WITH = "episode_share.with_time_lag", "%", Trial, Capture, Neither,
        "episodes with time lag", "Share of the recovery episodes that were with time lag";
    EPISODE_SHARE_INTERMITTENT = "episode_share.intermittent", "%", Trial, Capture, Neither,
        "intermittent episodes", "Share of the recovery episodes that were intermittent";
    MAX_IN_FLIGHT = "max_in_flight", "bytes", Trial, Capture, Neither, quantity BYTES_IN_FLIGHT_MAX;
    MAX_WINDOW = "max_window", "bytes", Trial, Capture, Neither, quantity WINDOW_MAX;
    THROUGHPUT = "throughput", "Mbit/s", Trial, Capture, Neither, quantity THROUGHPUT;
    EFFICIENCY = "efficiency", "%", Trial, Capture, Higher, quantity EFFICIENCY;
    BASE_RTT = "base_rtt", "ms", Trial, Plan, Neither, "base RTT",
        "Mean RTT of a small packet that finds the path idle (RFC 6349 section 3.2): calibrated on \
         the kernel (median), otherwise configured";
    BUFFER_DELAY = "buffer_delay", "%", Trial, CaptureAndPlan, Lower, "buffer delay",
        "Mean RTT of data, without SYN and FIN, above `base_rtt` (RFC 6349 section 4.3); above the \
         least RTT where that of the idle path changes during the trial";
    IDEAL_TIME = "ideal_time", "s", Trial, Plan, Neither, "ideal time",
        "Time of the payload in full segments with 40 bytes of headers at the bottleneck rate, \
         behind what passes at once, without loss (RFC 6349 section 4.1)";
    TRANSFER_TIME_RATIO = "transfer_time_ratio", "", Trial, ApplicationsAndPlan, Lower,
        "transfer time ratio",
        "`transfer_time` divided by `ideal_time`: the TCP transfer time ratio of RFC 6349 section \
         4.1";
    MEAN_RTT = "mean_rtt", "ms", Trial, TcpInfo, Lower, quantity MEAN_RTT_MS;
    RTT_MIN = "rtt.min", "ms", Trial, Capture, Lower, quantity RTT_MIN;
    RTT_MEAN = "rtt.mean", "ms", Trial, Capture, Lower, quantity RTT_MEAN;
    RTT_MEDIAN = "rtt.median", "ms", Trial, Capture, Lower, quantity RTT_MEDIAN;
    RTT_P95 = "rtt.p95", "ms", Trial, Capture, Lower, quantity RTT_P95;
    RTT_MAX = "rtt.max", "ms", Trial, Capture, Lower, quantity RTT_MAX;
    LIMIT_APPLICATION = "limit.application", "%", Trial, Capture, Neither, "limited by application",
        "Share of the transfer in which the application had no data to send";
    LIMIT_RECEIVE_WINDOW = "limit.receive_window", "%", Trial, Capture, Neither,
        "limited by receive window",
        "Share of the transfer in which the receive window was full";
    LIMIT_SEND_BUFFER = "limit.send_buffer", "%", Trial, Capture, Neither, "limited by send buffer",
        "Share of the transfer in which the send buffer was full of data in flight";
    LIMIT_SLOW_START = "limit.slow_start", "%", Trial, Capture, Neither, "limited by slow start",
        "Share of the transfer in slow start";
    LIMIT_CONGESTION_WINDOW = "limit.congestion_window", "%", Trial, Capture, Neither,
        "limited by congestion window",
        "Share of the transfer in which the congestion window was full, though the path could \
         carry more";
    LIMIT_PATH = "limit.path", "%", Trial, Capture, Neither, "limited by path rate",
        "Share of the transfer at the path's full rate, or in which a pacing timer spaced packets";
    LIMIT_TIMEOUT = "limit.timeout", "%", Trial, Capture, Neither, "limited by timeout",
        "Share of the transfer spent waiting for a retransmission timeout";
    CPU_PER_BYTE = "cpu_per_byte", "ns/B", Trial, Kernel, Lower, "CPU time per byte",
        "Processor time per byte of payload of a connection's threads at both endpoints, with \
         system calls; the sum of a workload's connections, the median of a flow's. Excludes the \
         kernel's work on arriving packets. On the kernel only";
    UNANSWERED = "unanswered", "", Trial, Applications, Lower, "unanswered requests",
        "Datagram requests without an answer in time";
    UNANSWERED_SHARE = "unanswered_share", "%", Trial, Applications, Lower, "unanswered requests",
        "Share of datagram requests without an answer in time";
    MEAN_RESPONSE = "mean_response", "ms", Trial, Applications, Lower, "mean response time",
        "Mean time from the start of a request until its response was read; of a datagram request, \
         from its first transmission";
    MEDIAN_RESPONSE = "median_response", "ms", Trial, Applications, Lower, "median response time",
        "Median time from the start of a client's request until its response was read";
    P95_RESPONSE = "p95_response", "ms", Trial, Applications, Lower, "response time p95",
        "95th percentile of the response time";
    P99_RESPONSE = "p99_response", "ms", Trial, Applications, Lower, "response time p99",
        "99th percentile of the response time";
    REQUEST_RETRIES = "request_retries", "", Trial, Applications, Lower, "request retries",
        "Retransmissions of datagram requests";
    LATE_ANSWERS = "late_answers", "", Trial, Applications, Lower, "late answers",
        "Answers that arrived after their request had timed out";
    DUPLICATE_ANSWERS = "duplicate_answers", "", Trial, Applications, Lower, "duplicate answers",
        "Answers after the first one to a request";
    LOST_DATAGRAMS = "lost_datagrams", "", Trial, Path, Lower, "lost datagrams",
        "Datagrams of both directions of which no copy arrived intact, by the path's log";
    PAYLOAD_INTACT = "payload_intact", "", Trial, Applications, Higher, "payload intact",
        "Whether the receiver read exactly the bytes that were sent; empty where none were",
        values Truth;
    EPISODE_TYPE = "episode.type", "", Episode, Capture, Neither, "episode type",
        "Type of the recovery, by who retransmitted the first lost segment: without time lag (on \
         SACK, duplicate ACKs or ICMP), with time lag (a timer sent first), intermittent (a timer, \
         then one retransmission per timeout), or unknown",
        values Text(EPISODE_TYPES);
    EPISODE_DURATION = "episode.duration", "s", Episode, Capture, Lower, "episode duration",
        "Time from the first evidence of loss until its repair";
    EPISODE_SILENCE = "episode.silence", "s", Episode, Capture, Lower, quantity SILENCE_SECONDS;
    EPISODE_LOST = "episode.lost", "segments", Episode, Capture, Lower, quantity LOST_SEGMENTS;
    EPISODE_RETRANSMISSIONS = "episode.retransmissions", "segments", Episode, Capture, Lower,
        quantity RETRANSMISSIONS;
    EPISODE_TIMEOUTS = "episode.timeouts", "", Episode, Capture, Lower, "timeouts",
        "Retransmissions by a timer, tail loss probes included";
    INTERRUPTION_RECOVERY = "interruption.recovery", "s", Interruption, Capture, Lower,
        quantity RECOVERY_SECONDS;
    INTERRUPTION_LOST = "interruption.lost", "bytes", Interruption, Capture, Lower,
        quantity LOST_GOODPUT_BYTES;
    FAIRNESS = "fairness", "", Trial, Captures, Higher, "fairness",
        "Jain's fairness index of several flows while all were active, without background flows: \
         1/n if one of n has all, 1 if all have the same (Jain, Chiu, Hawe 1984)";
    CONVERGENCE = "convergence", "s", Trial, Captures, Lower, "convergence",
        "Time from the start of the last flow until each flow's rate over any 2 s stays within \
         half of its fair share while all are active (δ-fair convergence, RFC 5166 section 2.3, \
         with δ = 0.5). Missing if it never does";
    AGGREGATE_GOODPUT = "aggregate_goodput", "Mbit/s", Trial, Captures, Higher, "aggregate goodput",
        "Payload of all flows and both directions, each byte once, divided by the time from the \
         first connect() to the last arrival";
    PATH_UTILISATION = "path_utilisation", "%", Trial, Path, Higher, "path utilisation",
        "Traffic of all flows, with headers and retransmissions, as a share of what the slowest \
         bottleneck or policer lets through from the first packet to the last, in the busier \
         direction. Missing where that has neither";
    LOAD_RATE = "load.rate", "/s", Trial, Applications, Higher, "requests answered",
        "Correctly answered requests of a load per second";
    LOAD_CONNECT = "load.connect", "ms", Trial, Applications, Lower, "connect time",
        "Median time from the start of a connection of a load until it is established";
    LOAD_CONNECT_P99 = "load.connect_p99", "ms", Trial, Applications, Lower, "connect time p99",
        "99th percentile of `load.connect`";
    LOAD_LATENCY = "load.latency", "ms", Trial, Applications, Lower, "latency",
        "Median time from the start of a request of a load, with its connection, until the first \
         byte of its answer";
    LOAD_LATENCY_P99 = "load.latency_p99", "ms", Trial, Applications, Lower, "latency p99",
        "99th percentile of `load.latency`";
    LOAD_RESPONSE = "load.response", "ms", Trial, Applications, Lower, "response time",
        "Median time from the start of a request of a load, with its connection, until the last \
         byte of its answer";
    LOAD_RESPONSE_MEAN = "load.response_mean", "ms", Trial, Applications, Lower,
        "mean response time", "Mean of `load.response`";
    LOAD_RESPONSE_P99 = "load.response_p99", "ms", Trial, Applications, Lower, "response time p99",
        "99th percentile of `load.response`";
    LOAD_DATA_RATE = "load.data_rate", "Mbit/s", Trial, Applications, Higher, "data rate",
        "Data rate of all clients of a load";
    LOAD_DATA_RATE_EACH = "load.data_rate_each", "Mbit/s", Trial, Applications, Higher,
        "data rate per client",
        "Data rate of one client of a load: the size of an answer divided by the mean response \
         time";
    LOAD_SERVER_TIME = "load.server_time", "ms", Trial, Kernel, Lower,
        "server CPU time per request",
        "Processor time of all processes of the server per request";
    LOAD_REQUESTS = "load.requests", "", Trial, Applications, Neither, "requests",
        "Correctly answered requests of a load";
    LOAD_ERRORS = "load.errors", "", Trial, Applications, Lower, "errors",
        "Failed requests of a load";
    LOAD_INTACT = "load.intact", "", Trial, Applications, Higher, "answers intact",
        "Whether all answers to a load equal the file, byte by byte", values Truth;
    CONNECTION_END = "connection.end", "", Trial, Capture, Neither, "connection end",
        "How the connection ended, in the capture at the sender of the payload",
        values Text(CONNECTION_ENDS);
    CONNECTION_CLOSED_BY = "connection.closed_by", "", Trial, Capture, Neither,
        quantity CLOSED_BY, values Text(&["client", "server"]);
    STATE = "state", "", Endpoint, OwnCapture, Neither, "states",
        "The states of its TCP, one after the other (RFC 9293 section 3.3.2)",
        values Text(TCP_STATES);
    CALL_RESULT = "call.result", "", Call, Applications, Neither,
        quantity RESULT, values Text(tcplab_workload::RESULTS);
    CALL_DURATION = "call.duration", "s", Call, Applications, Neither, quantity LONGEST_SECONDS;
    CALL_BEGAN = "call.began", "s", Call, Applications, Neither, quantity START_SECONDS;
    CALL_MOVED = "call.moved", "bytes", Call, Applications, Neither, quantity TRANSFERRED_BYTES;
    CALL_COUNT = "call.count", "", Call, Applications, Neither, "call count",
        "Number of successive equal calls";
    RESPONSE_TIME = "response.time", "ms", Request, Applications, Lower, quantity RESPONSE_TIME_MS;
    REQUEST_TRIES = "request.tries", "", Request, Applications, Lower, "request tries",
        "Transmissions of a datagram request";
    DATAGRAMS_SENT = "datagrams.sent", "", Endpoint, Applications, Neither, "datagrams sent",
        "Datagrams that an endpoint sent";
    DATAGRAMS_RECEIVED = "datagrams.received", "", Endpoint, Applications, Neither,
        "datagrams received", "Datagrams that an endpoint read";
    DATAGRAMS_DUPLICATES = "datagrams.duplicates", "", Endpoint, Applications, Neither,
        "duplicate datagrams",
        "Server: requests that it had read before. Client: as `duplicate_answers`";
    APP_READ = "app.read", "bytes", Endpoint, Applications, Neither, "application read",
        "Bytes that an endpoint's application read";
    APP_WRITTEN = "app.written", "bytes", Endpoint, Applications, Neither, "application written",
        "Bytes that its socket accepted";
    SOCKET_SNDBUF = "socket.sndbuf", "bytes", Endpoint, Kernel, Neither, "socket send buffer",
        "SO_SNDBUF of its socket at close";
    SOCKET_RCVBUF = "socket.rcvbuf", "bytes", Endpoint, Kernel, Neither, "socket receive buffer",
        "SO_RCVBUF of its socket at close";
    SEGMENTS = "segments", "segments", Endpoint, OwnCapture, Neither, quantity DATA_SEGMENTS;
    SEGMENTS_NEW = "segments.new", "segments", Endpoint, OwnCapture, Neither, "new segments",
        "Segments with new data that an endpoint sent";
    SEGMENTS_URGENT = "segments.urgent", "segments", Endpoint, OwnCapture, Neither,
        quantity URG_SEGMENTS;
    NAGLE_WAITS = "nagle.waits", "", Endpoint, OwnCapture, Neither, quantity NAGLE_WAITS;
    KEEPALIVE_PROBES = "keepalive.probes", "", Endpoint, OwnCapture, Neither, quantity KEEP_ALIVES;
    KEEPALIVE_IDLE = "keepalive.idle", "s", Endpoint, OwnCapture, Neither, "keep-alive idle time",
        "Time from the last packet to its first keep-alive probe";
    KEEPALIVE_SPACING = "keepalive.spacing", "s", Endpoint, OwnCapture, Neither,
        "keep-alive interval", "Intervals between its first ten keep-alive probes";
    CPU_TIME = "cpu.time", "ms", Endpoint, Kernel, Neither, "CPU time",
        "Processor time of its application (the thread of each connection), with system calls. On \
         the kernel only";
    POOL_FREE = "pool.free", "", Endpoint, Kernel, Neither, "free packet buffers, min",
        "Fewest free packet buffers of its host. Only for models that count them \
         (`model.host.pool`)";
    POOL_DROPPED = "pool.dropped", "segments", Endpoint, Kernel, Neither, "dropped without buffer",
        "Segments that its host dropped because no buffer was free. Only for models that count \
         buffers";
    POOL_UNSENT = "pool.unsent", "segments", Endpoint, Kernel, Neither, "not sent without buffer",
        "Segments without data, such as ACKs, that its host could not send because no buffer was \
         free. Only for models that count buffers";
    SYN_WINDOW = "syn.window", "bytes", Endpoint, OwnCapture, Neither, "SYN window",
        "Window in its SYN or SYN-ACK (never scaled)";
    SYN_SCALE = "syn.scale", "", Endpoint, OwnCapture, Neither, "SYN scale",
        "Window scale in its SYN, 0 to 14";
    SYN_MSS = "syn.mss", "bytes", Endpoint, OwnCapture, Neither, "SYN MSS", "MSS option in its SYN";
    WINDOW_MAX = "window.max", "bytes", Endpoint, OwnCapture, Neither, quantity WINDOW_MAX;
    WINDOW_MIN = "window.min", "bytes", Endpoint, OwnCapture, Neither, quantity WINDOW_MIN;
    WINDOW_ZERO = "window.zero", "", Endpoint, OwnCapture, Neither, quantity ZERO_WINDOWS;
    WINDOW_ZERO_TIME = "window.zero_time", "s", Endpoint, OwnCapture, Neither,
        quantity ZERO_WINDOW_NS;
}
