//! What is recorded afresh: paths and programs that bring out each cause.

/// What the two programs say to one another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Talk {
    /// The client sends so many bytes.
    Upload(usize),
    /// One byte each way, so many times.
    Exchange(usize),
    /// So many connections, one after another, that each carry so many bytes.
    Short(usize, usize),
    /// The server does not read for three seconds.
    Slow,
    /// Nothing for some seconds, with keep-alives of both ends.
    Idle,
}

/// One recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded {
    pub(crate) name: &'static str,
    /// Keys of the path.
    pub(crate) path: &'static [&'static str],
    pub(crate) talk: Talk,
    /// Settings of both ends' kernels, below `net`.
    pub(crate) settings: &'static [(&'static str, &'static str)],
    pub(crate) version: Version,
    /// Record large pieces at the sender's device, too, with tcpdump.
    pub(crate) pieces: bool,
}

/// Of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Four,
    Six,
}

const BBR: (&str, &str) = ("ipv4/tcp_congestion_control", "bbr");
const NO_SACK: (&str, &str) = ("ipv4/tcp_sack", "0");
const NO_TIMESTAMPS: (&str, &str) = ("ipv4/tcp_timestamps", "0");
const SMALL: &[(&str, &str)] =
    &[("ipv4/tcp_rmem", "4096 16384 32768"), ("ipv4/tcp_wmem", "4096 16384 65536")];
const RATE: &str = "rate=20 Mbit/s";
const DELAY: &str = "delay=10 ms";
const REORDER: &str = "forward.reorder={ probability = \"3 %\", extra = \"6 ms\" }";
const UPLOAD: Talk = Talk::Upload(5_000_000);

const fn upload(name: &'static str, path: &'static [&'static str]) -> Recorded {
    Recorded { name, path, talk: UPLOAD, settings: &[], version: Version::Four, pieces: false }
}

/// All of them.
pub(crate) const CASES: &[Recorded] = &[
    upload("cubic, 1 % lost", &[RATE, DELAY, "forward.loss=1 %"]),
    Recorded { settings: &[BBR], ..upload("BBR, 2 % lost", &[RATE, DELAY, "forward.loss=2 %"]) },
    upload("queue of 30", &[RATE, DELAY, "queue=30 packets"]),
    Recorded { settings: &[BBR], ..upload("BBR, queue of 15", &[RATE, DELAY, "queue=15 packets"]) },
    Recorded { settings: SMALL, ..upload("small buffers", &[RATE, DELAY, "forward.loss=1 %"]) },
    Recorded { version: Version::Six, ..upload("IPv6", &[RATE, DELAY, "forward.loss=1 %"]) },
    Recorded {
        version: Version::Six,
        ..upload("IPv6, reordered", &[RATE, DELAY, REORDER, "forward.loss=0.5 %"])
    },
    Recorded {
        settings: &[NO_TIMESTAMPS],
        ..upload("no timestamps", &[RATE, DELAY, "forward.loss=1 %"])
    },
    Recorded { settings: &[NO_SACK], ..upload("no SACK", &[RATE, DELAY, "forward.loss=1 %"]) },
    upload("reordered", &[RATE, DELAY, REORDER]),
    Recorded {
        settings: &[NO_TIMESTAMPS],
        version: Version::Six,
        ..upload("IPv6, no stamps, reordered", &[RATE, DELAY, REORDER, "forward.loss=0.5 %"])
    },
    upload("duplicated", &[RATE, DELAY, "forward.duplicate=1 %"]),
    Recorded {
        version: Version::Six,
        ..upload("IPv6, duplicated", &[RATE, DELAY, "duplicate=1 %"])
    },
    upload("all at once", &[RATE, DELAY, REORDER, "loss=1 %", "duplicate=1 %"]),
    upload(
        "interrupted",
        &["rate=8 Mbit/s", DELAY, "interruption={ every = \"2 s\", lasting = \"700 ms\" }"],
    ),
    upload("acknowledgements lost", &[RATE, DELAY, "reverse.loss=30 %"]),
    Recorded {
        talk: Talk::Upload(2_000_000),
        ..upload("satellite", &[RATE, "delay=250 ms", "forward.loss=0.5 %"])
    },
    upload("LAN", &["rate=100 Mbit/s", "delay=100 us", "forward.loss=0.5 %"]),
    Recorded {
        talk: Talk::Exchange(120),
        ..upload("one byte each way", &[RATE, DELAY, "loss=4 %"])
    },
    Recorded { talk: Talk::Short(40, 20_000), ..upload("short", &[RATE, DELAY, "loss=4 %"]) },
    Recorded { talk: Talk::Slow, ..upload("slow reader", &[RATE, DELAY]) },
    Recorded { talk: Talk::Idle, ..upload("idle", &[RATE, DELAY]) },
    Recorded {
        pieces: true,
        ..upload("large pieces", &["rate=300 Mbit/s", DELAY, "forward.loss=0.3 %"])
    },
];
