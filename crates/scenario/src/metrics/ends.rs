//! Metrics of endpoints.

use super::info::define;

define! {
    OF_ENDS;
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
