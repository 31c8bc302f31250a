//! New recordings: paths and programs that provoke each cause.

/// The exchange of the two programs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Talk {
    /// The client sends this many bytes.
    Upload(usize),
    /// One byte in each direction, this many times.
    Exchange(usize),
    /// This many connections, one after another, with this many bytes each.
    Short(usize, usize),
    /// The server does not read for three seconds.
    Slow,
    /// This many times this many bytes, each with a pause of this many milliseconds.
    Bites(usize, usize, u64),
    /// This many requests of this many bytes, each after the previous answer.
    Requests(usize, usize),
    /// Some seconds of keep-alives at both ends.
    Idle,
}

impl Talk {
    /// Whether it has many connections.
    pub(crate) fn is_many(self) -> bool {
        matches!(self, Talk::Short(..))
    }
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
    pub(crate) congestion: &'static str,
    pub(crate) version: Version,
    /// Also record the large packets at the sender's device with tcpdump.
    pub(crate) pieces: bool,
}

/// Of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Four,
    Six,
}

const NO_SACK: (&str, &str) = ("ipv4/tcp_sack", "0");
const NO_TIMESTAMPS: (&str, &str) = ("ipv4/tcp_timestamps", "0");
const SMALL: &[(&str, &str)] =
    &[("ipv4/tcp_rmem", "4096 16384 32768"), ("ipv4/tcp_wmem", "4096 16384 65536")];
pub(crate) const BBR: &str = "bbr";
const RENO: &str = "reno";
const RATE: &str = "rate=20 Mbit/s";
const DELAY: &str = "delay=10 ms";
const REORDER: &str = "forward.reorder={ probability = \"3 %\", extra = \"6 ms\" }";
const UPLOAD: Talk = Talk::Upload(5_000_000);

const fn upload(name: &'static str, path: &'static [&'static str]) -> Recorded {
    let (talk, version, pieces) = (UPLOAD, Version::Four, false);
    Recorded { name, path, talk, settings: &[], congestion: "cubic", version, pieces }
}

/// All of them.
pub(crate) fn cases() -> impl Iterator<Item = Recorded> {
    USUAL.iter().chain(OTHERS).copied()
}

const USUAL: &[Recorded] = &[
    upload("cubic, 1 % lost", &[RATE, DELAY, "forward.loss=1 %"]),
    Recorded { congestion: BBR, ..upload("BBR, 2 % lost", &[RATE, DELAY, "forward.loss=2 %"]) },
    upload("queue of 30", &[RATE, DELAY, "queue=30 packets"]),
    Recorded { congestion: BBR, ..upload("BBR, queue of 15", &[RATE, DELAY, "queue=15 packets"]) },
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
    upload("LAN", &["rate=100 Mbit/s", "delay=100 µs", "forward.loss=0.5 %"]),
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

const WINDOW_OF_14: (&str, &str) = ("ipv4/tcp_rmem", "4096 40000 40000");
const SMALL_WINDOW: (&str, &str) = ("ipv4/tcp_rmem", "4096 16384 32768");
const SMALL_SEND_BUFFER: (&str, &str) = ("ipv4/tcp_wmem", "4096 16384 32768");
const NO_RACK: (&str, &str) = ("ipv4/tcp_recovery", "0");
const NO_PROBES: (&str, &str) = ("ipv4/tcp_early_retrans", "0");
const ECN: (&str, &str) = ("ipv4/tcp_ecn", "1");
const MEGABYTE: Talk = Talk::Upload(1_000_000);
const GILBERT: &str = "forward.loss={ gilbert_elliott = { p = \"0.5 %\", r = \"30 %\" } }";
const JITTER: &str = "jitter={ uniform = \"4 ms\", reorder = true }";

/// Other paths and settings, which no rule of the analyser was made from.
const OTHERS: &[Recorded] = &[
    Recorded {
        talk: MEGABYTE,
        ..upload("slow, bursts lost", &["rate=2 Mbit/s", "delay=40 ms", GILBERT])
    },
    Recorded {
        talk: Talk::Upload(30_000_000),
        ..upload("fast", &["rate=500 Mbit/s", "delay=1 ms", "forward.loss=0.05 %"])
    },
    Recorded {
        talk: Talk::Upload(1_500_000),
        congestion: RENO,
        ..upload("far, Reno", &["rate=10 Mbit/s", "delay=150 ms", "forward.loss=0.5 %"])
    },
    upload("near", &["rate=50 Mbit/s", "delay=100 µs", "forward.loss=1 %"]),
    upload("jitter", &[RATE, "delay=12 ms", JITTER]),
    Recorded {
        congestion: BBR,
        version: Version::Six,
        ..upload("IPv6, BBR, jitter, lost", &["rate=30 Mbit/s", "delay=15 ms", JITTER, "loss=1 %"])
    },
    Recorded {
        settings: &[NO_TIMESTAMPS],
        ..upload(
            "no stamps, duplicated, lost",
            &["rate=40 Mbit/s", "delay=8 ms", "duplicate=2 %", "loss=1 %"],
        )
    },
    Recorded {
        talk: Talk::Upload(3_000_000),
        ..upload(
            "blackouts forwards",
            &[
                "rate=6 Mbit/s",
                "delay=25 ms",
                "forward.interruption={ up = \"900 ms\", lasting = \"250 ms\" }",
            ],
        )
    },
    Recorded {
        talk: Talk::Upload(3_000_000),
        ..upload(
            "blackouts backwards",
            &[
                "rate=6 Mbit/s",
                "delay=25 ms",
                "reverse.interruption={ up = \"900 ms\", lasting = \"250 ms\" }",
            ],
        )
    },
    Recorded {
        congestion: BBR,
        ..upload(
            "BBR, acknowledgements lost",
            &["rate=15 Mbit/s", "delay=20 ms", "reverse.loss=40 %", "forward.loss=0.5 %"],
        )
    },
    Recorded {
        congestion: RENO,
        ..upload("Reno, queue of 8", &["rate=10 Mbit/s", "delay=20 ms", "queue=8 packets"])
    },
    Recorded {
        congestion: BBR,
        settings: &[SMALL_WINDOW],
        ..upload("BBR, small window", &[RATE, "delay=15 ms"])
    },
    Recorded {
        settings: &[WINDOW_OF_14],
        ..upload("window of few", &["rate=50 Mbit/s", "delay=15 ms"])
    },
    Recorded {
        settings: &[SMALL_SEND_BUFFER],
        ..upload("small send buffer", &["rate=50 Mbit/s", "delay=15 ms"])
    },
    Recorded {
        settings: &[SMALL_SEND_BUFFER],
        ..upload(
            "small send buffer, lost",
            &["rate=50 Mbit/s", "delay=15 ms", "forward.loss=0.5 %"],
        )
    },
    Recorded {
        settings: &[NO_SACK],
        version: Version::Six,
        ..upload(
            "no SACK, IPv6, queue of 20",
            &["rate=10 Mbit/s", "delay=20 ms", "queue=20 packets"],
        )
    },
    Recorded {
        settings: &[NO_SACK, NO_TIMESTAMPS],
        talk: Talk::Upload(3_000_000),
        ..upload("no SACK, no stamps", &["rate=30 Mbit/s", "delay=5 ms", "forward.loss=2 %"])
    },
    Recorded {
        talk: Talk::Bites(100, 20_000, 40),
        ..upload("bites", &[RATE, DELAY, "forward.loss=1 %"])
    },
    Recorded {
        talk: Talk::Bites(60, 3_000, 70),
        ..upload("small bites", &["delay=30 ms", "loss=5 %"])
    },
    Recorded {
        talk: Talk::Requests(60, 40_000),
        ..upload("requests", &["rate=30 Mbit/s", "delay=10 ms", "loss=2 %"])
    },
    Recorded {
        talk: Talk::Requests(150, 3_000),
        ..upload("small requests", &["rate=10 Mbit/s", "delay=12 ms", "loss=3 %"])
    },
    Recorded {
        settings: &[NO_RACK],
        ..upload("no RACK", &["rate=25 Mbit/s", "delay=10 ms", "forward.loss=1.5 %"])
    },
    Recorded {
        settings: &[NO_PROBES],
        talk: Talk::Requests(60, 20_000),
        ..upload("no probes", &["rate=25 Mbit/s", "delay=10 ms", "loss=2 %"])
    },
    Recorded {
        settings: &[ECN],
        ..upload(
            "marked",
            &[
                "rate=12 Mbit/s",
                "delay=15 ms",
                "forward.loss=0.2 %",
                "queue={ codel = { ecn = true } }",
            ],
        )
    },
    upload(
        "policed",
        &["delay=15 ms", "forward.police={ rate = \"15 Mbit/s\", burst = \"30 kB\" }"],
    ),
    Recorded {
        congestion: BBR,
        pieces: true,
        ..upload("large pieces, BBR", &["rate=200 Mbit/s", "delay=5 ms", "forward.loss=0.5 %"])
    },
    Recorded {
        settings: &[NO_SACK],
        pieces: true,
        ..upload("large pieces, no SACK", &["rate=100 Mbit/s", "delay=5 ms", "forward.loss=0.2 %"])
    },
    Recorded {
        version: Version::Six,
        pieces: true,
        ..upload(
            "large pieces, IPv6",
            &["rate=100 Mbit/s", "delay=10 ms", "forward.loss=0.5 %", REORDER],
        )
    },
];
