//! What each end is measured by.

use super::info::{MetricInfo, Source, of_end};

/// Those metrics, in the order that tables show them, behind the others.
pub(super) const OF_ENDS: &[MetricInfo] = &[
    of_end("datagrams.sent", Source::Applications, "", "Datagrams that the socket of an end took."),
    of_end("datagrams.received", Source::Applications, "", "Datagrams that it read."),
    of_end(
        "datagrams.duplicates",
        Source::Applications,
        "",
        "Of the server: requests that it had read before. Of the client: as `duplicate_answers`.",
    ),
    of_end("app.read", Source::Applications, "bytes", "What the application of an end read."),
    of_end("app.written", Source::Applications, "bytes", "What its socket took."),
    of_end("socket.sndbuf", Source::Kernel, "bytes", "SO_SNDBUF of its socket when it was closed."),
    of_end("socket.rcvbuf", Source::Kernel, "bytes", "SO_RCVBUF of it."),
    of_end(
        "segments",
        Source::OwnCapture,
        "segments",
        "Packets with data that an end sent, repeats counted.",
    ),
    of_end(
        "segments.new",
        Source::OwnCapture,
        "segments",
        "Of these, those whose data had not been sent before.",
    ),
    of_end("segments.urgent", Source::OwnCapture, "segments", "Packets with URG that it sent."),
    of_end(
        "nagle.waits",
        Source::OwnCapture,
        "",
        "Small segments that waited for a delayed acknowledgement.",
    ),
    of_end("keepalive.probes", Source::OwnCapture, "", "Keep-alive probes that an end sent."),
    of_end(
        "keepalive.idle",
        Source::OwnCapture,
        "s",
        "The silence before its first keep-alive probe: since the packet before it.",
    ),
    of_end(
        "keepalive.spacing",
        Source::OwnCapture,
        "s",
        "The times between its keep-alive probes, of the first ten.",
    ),
    of_end(
        "cpu.time",
        Source::Kernel,
        "ms",
        "Processor time of its application, of each connection at hand the thread that serves it, \
         system calls included. On the kernel only.",
    ),
    of_end(
        "pool.free",
        Source::Kernel,
        "",
        "Packet buffers of its machine that were free when the fewest were. Of models that count \
         them (`model.host.pool`), as are the next two.",
    ),
    of_end(
        "pool.dropped",
        Source::Kernel,
        "segments",
        "Segments that arrived at its machine and were dropped, because no buffer was free.",
    ),
    of_end(
        "pool.unsent",
        Source::Kernel,
        "segments",
        "Segments without data, such as acknowledgements, that did not leave its machine, because \
         no buffer was free.",
    ),
    of_end(
        "syn.window",
        Source::OwnCapture,
        "bytes",
        "The window in its SYN or SYN-ACK, never scaled.",
    ),
    of_end(
        "syn.scale",
        Source::OwnCapture,
        "",
        "The shift that its SYN offers for later windows, 0 to 14.",
    ),
    of_end("syn.mss", Source::OwnCapture, "bytes", "The largest segment that its SYN allows."),
    of_end("window.max", Source::OwnCapture, "bytes", "The largest window that it offered."),
    of_end(
        "window.min",
        Source::OwnCapture,
        "bytes",
        "The smallest window that it offered, closed ones included.",
    ),
    of_end("window.closed", Source::OwnCapture, "", "How often its window closed."),
    of_end(
        "window.closed_for",
        Source::OwnCapture,
        "s",
        "For how long its window was closed, together.",
    ),
];
