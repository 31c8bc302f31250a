//! Simulated senders, and paths that spoil their transfers.

/// A sender: its name and its keys below `[client]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static str,
    /// It reacts to duplicate ACKs and SACK as RFC 5681, 6582 and 6675 have it.
    pub(crate) reacts: bool,
}

const fn sender(name: &'static str, keys: &'static str, reacts: bool) -> Sender {
    Sender { name, keys, reacts }
}

/// lwIP's constants (opt.h, tcp_priv.h): a coarse timer of 500 ms, an initial timeout of 3 s, no
/// SACK, no timestamps, Reno's recovery, which a partial ACK ends. With buffers for 12 segments,
/// as its application notes recommend for throughput.
const LWIP: &str = "stack = \"model:netburner\"\n\
     model.timeout = { initial = \"3 s\", least = \"1 s\" }\n\
     model.host = { tick = \"500 ms\" }\n\
     model.sending = { segments = 12, unacked = 12 }\n";

/// The senders that do not behave as Linux does, and Linux.
pub(crate) const SENDERS: &[Sender] = &[
    sender("osx-10.7", "stack = \"model:osx-10.7\"\n", false),
    sender("windows-7", "stack = \"model:windows-7\"\n", true),
    sender("windows-7-compound", "stack = \"model:windows-7-compound\"\n", true),
    sender("haiku-2017-before", "stack = \"model:haiku-2017-before\"\n", false),
    sender("haiku-2017-middle", "stack = \"model:haiku-2017-middle\"\n", true),
    // It sends SACK blocks and ignores those that it receives.
    sender("haiku-2017-after", "stack = \"model:haiku-2017-after\"\n", false),
    sender("netburner", "stack = \"model:netburner\"\n", false),
    sender("lwip-like", LWIP, false),
    sender("linux-6.18", "stack = \"model:linux-6.18\"\n", true),
];

/// A path: its name, its keys, and whether it drops ACKs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spoilt {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static str,
}

const fn path(name: &'static str, keys: &'static str) -> Spoilt {
    Spoilt { name, keys }
}

const USUAL: &str = "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"40 packets\"\n";

impl Spoilt {
    /// Its part of the scenario file.
    pub(crate) fn toml(&self) -> String {
        let base = if self.keys.contains("delay =") { "" } else { USUAL };
        format!("[path]\n{base}{}\n", self.keys)
    }
}

/// The paths: losses of data, of ACKs, of both, short and long.
pub(crate) const PATHS: &[Spoilt] = &[
    path("1 % lost", "forward.loss = \"1 %\""),
    path("5 % lost", "forward.loss = \"5 %\""),
    path("bursts", "forward.loss = { gilbert_elliott = { p = \"0.5 %\", r = \"30 %\" } }"),
    path(
        "interrupted",
        "interruption = { every = \"1 s\", lasting = \"200 ms\", offset = \"300 ms\" }",
    ),
    path(
        "interrupted forwards",
        "forward.interruption = { every = \"1 s\", lasting = \"300 ms\", offset = \"150 ms\" }",
    ),
    path(
        "interrupted backwards",
        "reverse.interruption = { every = \"1 s\", lasting = \"300 ms\", offset = \"150 ms\" }",
    ),
    path("ACKs lost", "reverse.loss = \"30 %\""),
    path("both lost", "forward.loss = \"2 %\"\nreverse.loss = \"10 %\""),
    path("queue of 8", "rate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"8 packets\""),
    path(
        "near",
        "rate = \"20 Mbit/s\"\ndelay = \"1 ms\"\nqueue = \"40 packets\"\nforward.loss = \"2 %\"",
    ),
    path(
        "far",
        "rate = \"10 Mbit/s\"\ndelay = \"100 ms\"\nqueue = \"100 packets\"\nforward.loss = \"1 %\"",
    ),
    path("jitter", "jitter = { uniform = \"4 ms\", reorder = true }"),
    path("duplicated", "forward.duplicate = \"1 %\"\nforward.loss = \"1 %\""),
];

/// The scenario of one transfer.
pub(crate) fn scenario(sender: &Sender, spoilt: &Spoilt) -> String {
    format!(
        "title = \"A trial\"\n{}[workload]\nupload = \"500 kB\"\n[client]\n{}\
         [limits]\ntrial = \"600 s\"\n[repeat]\ntrials = 1\n",
        spoilt.toml(),
        sender.keys,
    )
}
