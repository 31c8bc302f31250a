//! The metrics, in the order of tables. The comment above each says what it measures; claims, tables
//! and the reference page take it from there.

use super::info::Better::{Higher, Lower, Neither};
use super::info::Source::{
    Applications, ApplicationsAndPlan, Capture, CaptureAndPlan, Captures, Kernel, OwnCapture, Path,
    Plan, TcpInfo,
};
use super::info::{
    CONNECTION_ENDS, EPISODE_TYPES, MetricInfo, Scope, of_call, of_end, of_episode,
    of_interruption, of_request, of_trial, truth, words,
};

/// Defines a constant for each metric, so none is used that is not in the list, and the list.
macro_rules! metrics {
    ($($(#[doc = $meaning:literal])+ $name:ident = $info:expr;)*) => {
        $(
            $(#[doc = $meaning])+
            pub const $name: &MetricInfo = &$info.with_meaning(concat!($($meaning),+));
        )*
        /// All metrics, in the order of tables.
        pub const METRICS: &[MetricInfo] = &[$(*$name),*];
    };
}

metrics! {
    /// Time from the call of connect() until the receiver has read the last byte.
    TRANSFER_TIME = of_trial("transfer_time", "s", Lower, Applications);
    /// Payload divided by transfer time.
    GOODPUT = of_trial("goodput", "Mbit/s", Higher, Applications);
    /// Packets with data or FIN that the path dropped.
    LOST = of_trial("lost", "segments", Lower, Path);
    /// Retransmitted segments.
    RETRANSMISSIONS = of_trial("retransmissions", "segments", Lower, Capture);
    /// Retransmissions after duplicate ACKs, SACK or RACK (RFC 5681, RFC 6675, RFC 8985).
    RETRANSMISSIONS_FAST = of_trial("retransmissions.fast", "segments", Lower, Capture);
    /// Tail loss probes (RFC 8985 section 7).
    RETRANSMISSIONS_PROBE = of_trial("retransmissions.probe", "segments", Lower, Capture);
    /// Retransmissions by a retransmission timeout, and in the recovery that follows (RFC 6298).
    RETRANSMISSIONS_TIMEOUT = of_trial("retransmissions.timeout", "segments", Lower, Capture);
    /// Retransmissions of data that was retransmitted before.
    RETRANSMISSIONS_REPEATED = of_trial("retransmissions.repeated", "segments", Lower, Capture);
    /// Spurious retransmissions, by D-SACK or timestamps (RFC 2883, RFC 3522).
    RETRANSMISSIONS_SPURIOUS = of_trial("retransmissions.spurious", "segments", Lower, Capture);
    /// Retransmitted data.
    RETRANSMITTED = of_trial("retransmitted", "bytes", Lower, Capture);
    /// Retransmissions by a timer.
    TIMEOUTS = of_trial("timeouts", "", Lower, Capture);
    /// Recovery episodes.
    EPISODES = of_trial("episodes", "", Lower, Capture);
    /// Largest amount of data in flight (sent and not acknowledged).
    MAX_IN_FLIGHT = of_trial("max_in_flight", "bytes", Neither, Capture);
    /// Largest advertised window.
    MAX_WINDOW = of_trial("max_window", "bytes", Neither, Capture);
    /// All data sent, with retransmissions, divided by the time from the first data to the ACK of
    /// the last.
    THROUGHPUT = of_trial("throughput", "Mbit/s", Neither, Capture);
    /// Share of data bytes that are not retransmissions: the TCP efficiency of RFC 6349 section
    /// 4.2.
    EFFICIENCY = of_trial("efficiency", "%", Higher, Capture);
    /// RTT of a small packet on the idle path (RFC 6349 section 3.2): calibrated on the kernel,
    /// otherwise configured.
    BASE_RTT = of_trial("base_rtt", "ms", Neither, Plan);
    /// Mean RTT during the transfer above `base_rtt` (RFC 6349 section 4.3).
    BUFFER_DELAY = of_trial("buffer_delay", "%", Lower, CaptureAndPlan);
    /// Time of the payload in full segments with 40 bytes of headers at the bottleneck rate,
    /// without loss (RFC 6349 section 4.1).
    IDEAL_TIME = of_trial("ideal_time", "s", Neither, Plan);
    /// `transfer_time` divided by `ideal_time`: the TCP transfer time ratio of RFC 6349 section
    /// 4.1.
    TRANSFER_TIME_RATIO = of_trial("transfer_time_ratio", "", Lower, ApplicationsAndPlan);
    /// Mean of the samples of the sender's smoothed RTT.
    MEAN_RTT = of_trial("mean_rtt", "ms", Lower, TcpInfo);
    /// Shortest RTT, from a segment to its ACK at the capture point (Karn's rule).
    RTT_MIN = of_trial("rtt.min", "ms", Lower, Capture);
    /// Mean RTT at the capture point.
    RTT_MEAN = of_trial("rtt.mean", "ms", Lower, Capture);
    /// Median RTT at the capture point, within 2 %.
    RTT_MEDIAN = of_trial("rtt.median", "ms", Lower, Capture);
    /// 95th percentile of the RTT at the capture point, within 2 %.
    RTT_P95 = of_trial("rtt.p95", "ms", Lower, Capture);
    /// Longest RTT at the capture point.
    RTT_MAX = of_trial("rtt.max", "ms", Lower, Capture);
    /// Share of the transfer in which the application had no data to send.
    LIMIT_APPLICATION = of_trial("limit.application", "%", Neither, Capture);
    /// Share of the transfer in which the receive window was full.
    LIMIT_RECEIVE_WINDOW = of_trial("limit.receive_window", "%", Neither, Capture);
    /// Share of the transfer in which the send buffer was full of data in flight.
    LIMIT_SEND_BUFFER = of_trial("limit.send_buffer", "%", Neither, Capture);
    /// Share of the transfer in slow start.
    LIMIT_SLOW_START = of_trial("limit.slow_start", "%", Neither, Capture);
    /// Share of the transfer in which the congestion window was full: after loss, or below the
    /// path's capacity.
    LIMIT_CONGESTION_WINDOW = of_trial("limit.congestion_window", "%", Neither, Capture);
    /// Share of the transfer at the path's full rate.
    LIMIT_PATH = of_trial("limit.path", "%", Neither, Capture);
    /// Share of the transfer spent waiting for a retransmission timeout.
    LIMIT_TIMEOUT = of_trial("limit.timeout", "%", Neither, Capture);
    /// Processor time per byte of payload of a connection's threads at both endpoints, with system
    /// calls; the sum of a workload's connections, the median of a flow's. Excludes the kernel's
    /// work on arriving packets. On the kernel only.
    CPU_PER_BYTE = of_trial("cpu_per_byte", "ns/B", Lower, Kernel);
    /// Datagram requests without an answer in time.
    UNANSWERED = of_trial("unanswered", "", Lower, Applications);
    /// Share of datagram requests without an answer in time.
    UNANSWERED_SHARE = of_trial("unanswered_share", "%", Lower, Applications);
    /// Mean time from the start of a request until its response was read; of a datagram request,
    /// from its first transmission.
    MEAN_RESPONSE = of_trial("mean_response", "ms", Lower, Applications);
    /// Median time from the start of a client's request until its response was read.
    MEDIAN_RESPONSE = of_trial("median_response", "ms", Lower, Applications);
    /// 95th percentile of the response time.
    P95_RESPONSE = of_trial("p95_response", "ms", Lower, Applications);
    /// 99th percentile of the response time.
    P99_RESPONSE = of_trial("p99_response", "ms", Lower, Applications);
    /// Retransmissions of datagram requests.
    REQUEST_RETRIES = of_trial("request_retries", "", Lower, Applications);
    /// Answers that arrived after their request had timed out.
    LATE_ANSWERS = of_trial("late_answers", "", Lower, Applications);
    /// Answers after the first one to a request.
    DUPLICATE_ANSWERS = of_trial("duplicate_answers", "", Lower, Applications);
    /// Datagrams of both directions that did not arrive, by the path's log.
    LOST_DATAGRAMS = of_trial("lost_datagrams", "", Lower, Path);
    /// Whether the receiver read exactly the bytes that were sent.
    PAYLOAD_INTACT = truth("payload_intact", Applications);
    /// Type of the recovery: without time lag, with time lag, or intermittent.
    EPISODE_TYPE = words("episode.type", Scope::Episode, EPISODE_TYPES, Capture);
    /// Time from the first evidence of loss until its repair.
    EPISODE_DURATION = of_episode("episode.duration", "s");
    /// Longest time without transmission between the first loss and the first retransmission.
    EPISODE_SILENCE = of_episode("episode.silence", "s");
    /// Lost transmissions.
    EPISODE_LOST = of_episode("episode.lost", "segments");
    /// Retransmitted segments.
    EPISODE_RETRANSMISSIONS = of_episode("episode.retransmissions", "segments");
    /// Retransmissions by a timer.
    EPISODE_TIMEOUTS = of_episode("episode.timeouts", "");
    /// Time from the end of an interruption until the receiver has new data in order.
    INTERRUPTION_RECOVERY = of_interruption("interruption.recovery", "s");
    /// Data that the receiver missed until the next interruption or the end: what it would have
    /// received at the rate before the interruption, less what it received.
    INTERRUPTION_LOST = of_interruption("interruption.lost", "bytes");
    /// Jain's fairness index of several flows while all were active, without background flows: 1/n
    /// if one of n has all, 1 if all have the same (Jain, Chiu, Hawe 1984).
    FAIRNESS = of_trial("fairness", "", Higher, Captures);
    /// Time from the start of the last flow until each flow's rate over any 2 s stays within half
    /// of its fair share while all are active (δ-fair convergence, RFC 5166 section 2.3, with δ =
    /// 0.5). Missing if it never does.
    CONVERGENCE = of_trial("convergence", "s", Lower, Captures);
    /// Payload of all flows and both directions, each byte once, divided by the time from the first
    /// connect() to the last arrival.
    AGGREGATE_GOODPUT = of_trial("aggregate_goodput", "Mbit/s", Higher, Captures);
    /// Traffic of all flows, with headers and retransmissions, as a share of the path's rate, in
    /// the busier direction.
    PATH_UTILISATION = of_trial("path_utilisation", "%", Higher, Path);
    /// Correctly answered requests of a load per second.
    LOAD_RATE = of_trial("load.rate", "/s", Higher, Applications);
    /// Median time from the start of a connection of a load until it is established.
    LOAD_CONNECT = of_trial("load.connect", "ms", Lower, Applications);
    /// 99th percentile of `load.connect`.
    LOAD_CONNECT_P99 = of_trial("load.connect_p99", "ms", Lower, Applications);
    /// Median time from the start of a request of a load, with its connection, until the first byte
    /// of its answer.
    LOAD_LATENCY = of_trial("load.latency", "ms", Lower, Applications);
    /// 99th percentile of `load.latency`.
    LOAD_LATENCY_P99 = of_trial("load.latency_p99", "ms", Lower, Applications);
    /// Median time from the start of a request of a load, with its connection, until the last byte
    /// of its answer.
    LOAD_RESPONSE = of_trial("load.response", "ms", Lower, Applications);
    /// Mean of `load.response`.
    LOAD_RESPONSE_MEAN = of_trial("load.response_mean", "ms", Lower, Applications);
    /// 99th percentile of `load.response`.
    LOAD_RESPONSE_P99 = of_trial("load.response_p99", "ms", Lower, Applications);
    /// Data rate of all clients of a load.
    LOAD_DATA_RATE = of_trial("load.data_rate", "Mbit/s", Higher, Applications);
    /// Data rate of one client of a load: the size of an answer divided by the mean response time.
    LOAD_DATA_RATE_EACH = of_trial("load.data_rate_each", "Mbit/s", Higher, Applications);
    /// Processor time of all processes of the server per request.
    LOAD_SERVER_TIME = of_trial("load.server_time", "ms", Lower, Kernel);
    /// Correctly answered requests of a load.
    LOAD_REQUESTS = of_trial("load.requests", "", Neither, Applications);
    /// Failed requests of a load.
    LOAD_ERRORS = of_trial("load.errors", "", Lower, Applications);
    /// Whether all answers to a load equal the file, byte by byte.
    LOAD_INTACT = truth("load.intact", Applications);
    /// How the connection ended, in the capture at the sender of the payload.
    CONNECTION_END = words("connection.end", Scope::Trial, CONNECTION_ENDS, Capture);
    /// Which endpoint sent the first FIN or the RST; missing if neither did.
    CONNECTION_CLOSED_BY =
        words("connection.closed_by", Scope::Trial, &["client", "server"], Capture);
    /// Result of a call: `ok`, `end` for the end of the stream, or the name of its error.
    CALL_RESULT = words("call.result", Scope::Call, tcplab_workload::RESULTS, Applications);
    /// Duration of a call; of successive equal calls, the longest.
    CALL_DURATION = of_call("call.duration", "s");
    /// Start of a call, since the start of the trial.
    CALL_BEGAN = of_call("call.began", "s");
    /// Bytes written or read; the sum of successive equal calls.
    CALL_MOVED = of_call("call.moved", "bytes");
    /// Number of successive equal calls.
    CALL_COUNT = of_call("call.count", "");
    /// Time from the start of a request until its response was read.
    RESPONSE_TIME = of_request("response.time", "ms");
    /// Transmissions of a datagram request.
    REQUEST_TRIES = of_request("request.tries", "");
    /// Datagrams that an endpoint sent.
    DATAGRAMS_SENT = of_end("datagrams.sent", "", Applications);
    /// Datagrams that an endpoint read.
    DATAGRAMS_RECEIVED = of_end("datagrams.received", "", Applications);
    /// Server: requests that it had read before. Client: as `duplicate_answers`.
    DATAGRAMS_DUPLICATES = of_end("datagrams.duplicates", "", Applications);
    /// Bytes that an endpoint's application read.
    APP_READ = of_end("app.read", "bytes", Applications);
    /// Bytes that its socket accepted.
    APP_WRITTEN = of_end("app.written", "bytes", Applications);
    /// SO_SNDBUF of its socket at close.
    SOCKET_SNDBUF = of_end("socket.sndbuf", "bytes", Kernel);
    /// SO_RCVBUF of its socket at close.
    SOCKET_RCVBUF = of_end("socket.rcvbuf", "bytes", Kernel);
    /// Segments with data that an endpoint sent, with retransmissions.
    SEGMENTS = of_end("segments", "segments", OwnCapture);
    /// Segments with new data that an endpoint sent.
    SEGMENTS_NEW = of_end("segments.new", "segments", OwnCapture);
    /// Segments with URG that an endpoint sent.
    SEGMENTS_URGENT = of_end("segments.urgent", "segments", OwnCapture);
    /// Small segments that Nagle's algorithm held until a delayed ACK.
    NAGLE_WAITS = of_end("nagle.waits", "", OwnCapture);
    /// Keep-alive probes that an endpoint sent.
    KEEPALIVE_PROBES = of_end("keepalive.probes", "", OwnCapture);
    /// Time from the last packet to its first keep-alive probe.
    KEEPALIVE_IDLE = of_end("keepalive.idle", "s", OwnCapture);
    /// Intervals between its first ten keep-alive probes.
    KEEPALIVE_SPACING = of_end("keepalive.spacing", "s", OwnCapture);
    /// Processor time of its application (the thread of each connection), with system calls. On the
    /// kernel only.
    CPU_TIME = of_end("cpu.time", "ms", Kernel);
    /// Fewest free packet buffers of its host. Only for models that count them (`model.host.pool`).
    POOL_FREE = of_end("pool.free", "", Kernel);
    /// Segments that its host dropped because no buffer was free. Only for models that count
    /// buffers.
    POOL_DROPPED = of_end("pool.dropped", "segments", Kernel);
    /// Segments without data, such as ACKs, that its host could not send because no buffer was
    /// free. Only for models that count buffers.
    POOL_UNSENT = of_end("pool.unsent", "segments", Kernel);
    /// Window in its SYN or SYN-ACK (never scaled).
    SYN_WINDOW = of_end("syn.window", "bytes", OwnCapture);
    /// Window scale in its SYN, 0 to 14.
    SYN_SCALE = of_end("syn.scale", "", OwnCapture);
    /// MSS option in its SYN.
    SYN_MSS = of_end("syn.mss", "bytes", OwnCapture);
    /// Largest window that it advertised.
    WINDOW_MAX = of_end("window.max", "bytes", OwnCapture);
    /// Smallest window that it advertised, including zero windows.
    WINDOW_MIN = of_end("window.min", "bytes", OwnCapture);
    /// Number of zero windows that it advertised.
    WINDOW_ZERO = of_end("window.zero", "", OwnCapture);
    /// Total time with a zero window.
    WINDOW_ZERO_TIME = of_end("window.zero_time", "s", OwnCapture);
}
