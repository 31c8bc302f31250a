//! Metrics of endpoints.

use super::info::{MetricInfo, Source, of_end};

/// Those metrics, in the order of tables, after the others.
pub(super) const OF_ENDS: &[MetricInfo] = &[
    of_end("datagrams.sent", Source::Applications, "", "Datagrams that an endpoint sent."),
    of_end("datagrams.received", Source::Applications, "", "Datagrams that an endpoint read."),
    of_end(
        "datagrams.duplicates",
        Source::Applications,
        "",
        "Server: requests that it had read before. Client: as `duplicate_answers`.",
    ),
    of_end("app.read", Source::Applications, "bytes", "Bytes that an endpoint's application read."),
    of_end("app.written", Source::Applications, "bytes", "Bytes that its socket accepted."),
    of_end("socket.sndbuf", Source::Kernel, "bytes", "SO_SNDBUF of its socket at close."),
    of_end("socket.rcvbuf", Source::Kernel, "bytes", "SO_RCVBUF of its socket at close."),
    of_end(
        "segments",
        Source::OwnCapture,
        "segments",
        "Segments with data that an endpoint sent, with retransmissions.",
    ),
    of_end(
        "segments.new",
        Source::OwnCapture,
        "segments",
        "Segments with new data that an endpoint sent.",
    ),
    of_end(
        "segments.urgent",
        Source::OwnCapture,
        "segments",
        "Segments with URG that an endpoint sent.",
    ),
    of_end(
        "nagle.waits",
        Source::OwnCapture,
        "",
        "Small segments that Nagle's algorithm held until a delayed ACK.",
    ),
    of_end("keepalive.probes", Source::OwnCapture, "", "Keep-alive probes that an endpoint sent."),
    of_end(
        "keepalive.idle",
        Source::OwnCapture,
        "s",
        "Time from the last packet to its first keep-alive probe.",
    ),
    of_end(
        "keepalive.spacing",
        Source::OwnCapture,
        "s",
        "Intervals between its first ten keep-alive probes.",
    ),
    of_end(
        "cpu.time",
        Source::Kernel,
        "ms",
        "Processor time of its application (the thread of each connection), with system calls. On the \
         kernel only.",
    ),
    of_end(
        "pool.free",
        Source::Kernel,
        "",
        "Fewest free packet buffers of its host. Only for models that count them \
         (`model.host.pool`).",
    ),
    of_end(
        "pool.dropped",
        Source::Kernel,
        "segments",
        "Segments that its host dropped because no buffer was free. Only for models that count \
         buffers.",
    ),
    of_end(
        "pool.unsent",
        Source::Kernel,
        "segments",
        "Segments without data, such as ACKs, that its host could not send because no buffer was \
         free. Only for models that count buffers.",
    ),
    of_end(
        "syn.window",
        Source::OwnCapture,
        "bytes",
        "Window in its SYN or SYN-ACK (never scaled).",
    ),
    of_end("syn.scale", Source::OwnCapture, "", "Window scale in its SYN, 0 to 14."),
    of_end("syn.mss", Source::OwnCapture, "bytes", "MSS option in its SYN."),
    of_end("window.max", Source::OwnCapture, "bytes", "Largest window that it advertised."),
    of_end(
        "window.min",
        Source::OwnCapture,
        "bytes",
        "Smallest window that it advertised, including zero windows.",
    ),
    of_end("window.zero", Source::OwnCapture, "", "Number of zero windows that it advertised."),
    of_end("window.zero_time", Source::OwnCapture, "s", "Total time with a zero window."),
];
