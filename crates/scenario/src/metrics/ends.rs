//! Metrics of endpoints.

use super::info::{MetricInfo, Source, of_end};

super::info::define! {
    OF_ENDS;
    DATAGRAMS_SENT = of_end(
        "datagrams.sent",
        Source::Applications,
        "",
        "Datagrams that an endpoint sent.",
    );
    DATAGRAMS_RECEIVED = of_end(
        "datagrams.received",
        Source::Applications,
        "",
        "Datagrams that an endpoint read.",
    );
    DATAGRAMS_DUPLICATES = of_end(
        "datagrams.duplicates",
        Source::Applications,
        "",
        "Server: requests that it had read before. Client: as `duplicate_answers`.",
    );
    APP_READ = of_end(
        "app.read",
        Source::Applications,
        "bytes",
        "Bytes that an endpoint's application read.",
    );
    APP_WRITTEN = of_end(
        "app.written",
        Source::Applications,
        "bytes",
        "Bytes that its socket accepted.",
    );
    SOCKET_SNDBUF = of_end(
        "socket.sndbuf",
        Source::Kernel,
        "bytes",
        "SO_SNDBUF of its socket at close.",
    );
    SOCKET_RCVBUF = of_end(
        "socket.rcvbuf",
        Source::Kernel,
        "bytes",
        "SO_RCVBUF of its socket at close.",
    );
    SEGMENTS = of_end(
        "segments",
        Source::OwnCapture,
        "segments",
        "Segments with data that an endpoint sent, with retransmissions.",
    );
    SEGMENTS_NEW = of_end(
        "segments.new",
        Source::OwnCapture,
        "segments",
        "Segments with new data that an endpoint sent.",
    );
    SEGMENTS_URGENT = of_end(
        "segments.urgent",
        Source::OwnCapture,
        "segments",
        "Segments with URG that an endpoint sent.",
    );
    NAGLE_WAITS = of_end(
        "nagle.waits",
        Source::OwnCapture,
        "",
        "Small segments that Nagle's algorithm held until a delayed ACK.",
    );
    KEEPALIVE_PROBES = of_end(
        "keepalive.probes",
        Source::OwnCapture,
        "",
        "Keep-alive probes that an endpoint sent.",
    );
    KEEPALIVE_IDLE = of_end(
        "keepalive.idle",
        Source::OwnCapture,
        "s",
        "Time from the last packet to its first keep-alive probe.",
    );
    KEEPALIVE_SPACING = of_end(
        "keepalive.spacing",
        Source::OwnCapture,
        "s",
        "Intervals between its first ten keep-alive probes.",
    );
    CPU_TIME = of_end(
        "cpu.time",
        Source::Kernel,
        "ms",
        "Processor time of its application (the thread of each connection), with system calls. On the \
         kernel only.",
    );
    POOL_FREE = of_end(
        "pool.free",
        Source::Kernel,
        "",
        "Fewest free packet buffers of its host. Only for models that count them \
         (`model.host.pool`).",
    );
    POOL_DROPPED = of_end(
        "pool.dropped",
        Source::Kernel,
        "segments",
        "Segments that its host dropped because no buffer was free. Only for models that count \
         buffers.",
    );
    POOL_UNSENT = of_end(
        "pool.unsent",
        Source::Kernel,
        "segments",
        "Segments without data, such as ACKs, that its host could not send because no buffer was \
         free. Only for models that count buffers.",
    );
    SYN_WINDOW = of_end(
        "syn.window",
        Source::OwnCapture,
        "bytes",
        "Window in its SYN or SYN-ACK (never scaled).",
    );
    SYN_SCALE = of_end("syn.scale", Source::OwnCapture, "", "Window scale in its SYN, 0 to 14.");
    SYN_MSS = of_end("syn.mss", Source::OwnCapture, "bytes", "MSS option in its SYN.");
    WINDOW_MAX = of_end(
        "window.max",
        Source::OwnCapture,
        "bytes",
        "Largest window that it advertised.",
    );
    WINDOW_MIN = of_end(
        "window.min",
        Source::OwnCapture,
        "bytes",
        "Smallest window that it advertised, including zero windows.",
    );
    WINDOW_ZERO = of_end(
        "window.zero",
        Source::OwnCapture,
        "",
        "Number of zero windows that it advertised.",
    );
    WINDOW_ZERO_TIME = of_end(
        "window.zero_time",
        Source::OwnCapture,
        "s",
        "Total time with a zero window.",
    );
}
