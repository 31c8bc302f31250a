//! What was set as a goal, and whether it is met.

use crate::captures::Kind;

/// The program whose figures must reach the goals.
pub(crate) const OURS: &str = "tcplab trace";
pub(crate) const OURS_DRAWING: &str = "tcplab trace --xpl";
pub(crate) const ONE_THREAD: &str = "tcplab trace --jobs 1";
pub(crate) const TWO_THREADS: &str = "tcplab trace --jobs 2";

/// The speed ratio to another program, by processor time.
struct Faster {
    on: Kind,
    ours: &'static str,
    than: &'static str,
    times: f64,
}

const FASTER: [Faster; 4] = [
    Faster { on: Kind::Bulk, ours: OURS, than: "tcptrace", times: 4.0 },
    Faster { on: Kind::Connections, ours: OURS, than: "tcptrace -l -r -W", times: 12.0 },
    Faster { on: Kind::Bulk, ours: OURS, than: "tshark -q -z conv,tcp", times: 200.0 },
    Faster { on: Kind::Bulk, ours: OURS_DRAWING, than: "tcptrace -S", times: 10.0 },
];

/// How much sooner two threads end than one, on two processors.
const SOONER: f64 = 1.8;
/// Megabytes on a bulk capture, whatever its length.
const MEMORY: f64 = 15.0;
/// Bytes for each connection that is over.
const CLOSED: f64 = 450.0;
/// Processor time for a packet of a capture made to hurt, in that for one of a bulk transfer.
const HOSTILE: f64 = 3.0;

/// What a program took on one capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) name: &'static str,
    /// Seconds of processor time.
    pub(crate) cpu: f64,
    /// Seconds from beginning to end.
    pub(crate) wall: f64,
    /// Megabytes.
    pub(crate) memory: f64,
}

/// What all programs took on one capture.
pub(crate) struct Results {
    pub(crate) kind: Kind,
    pub(crate) connections: u64,
    pub(crate) packets: u64,
    pub(crate) figures: Vec<Figures>,
}

impl Results {
    fn of(&self, name: &str) -> Option<Figures> {
        self.figures.iter().find(|figures| figures.name == name).copied()
    }
    /// Seconds of processor time that a packet took us.
    fn each(&self) -> Option<f64> {
        Some(self.of(OURS)?.cpu / self.packets as f64)
    }
}

/// A line for each goal that something is known about.
pub(crate) fn lines(all: &[Results]) -> Vec<String> {
    let on = |kind: Kind| all.iter().find(|results| results.kind == kind);
    let mut lines = Vec::new();
    for goal in &FASTER {
        let pair =
            on(goal.on).and_then(|results| Some((results.of(goal.ours)?, results.of(goal.than)?)));
        if let Some((ours, than)) = pair {
            let times = than.cpu / ours.cpu;
            let what =
                format!("{} on {}: times as fast as {}", goal.ours, goal.on.name(), goal.than);
            lines.push(line(&what, times, '≥', goal.times));
        }
    }
    let threads = |r: &Results| Some((r.of(ONE_THREAD)?, r.of(TWO_THREADS)?));
    if let Some((one, two)) = on(Kind::Connections).and_then(threads) {
        let what = format!("{TWO_THREADS} on connections: times as soon as with 1");
        lines.push(line(&what, one.wall / two.wall, '≥', SOONER));
    }
    for kind in [Kind::Bulk, Kind::Longer] {
        if let Some(ours) = on(kind).and_then(|results| results.of(OURS)) {
            let what = format!("{OURS} on {}: memory, MB", kind.name());
            lines.push(line(&what, ours.memory, '≤', MEMORY));
        }
    }
    let many = on(Kind::Connections).and_then(|r| Some((r.of(OURS)?, r.connections)));
    let one = on(Kind::Bulk).and_then(|results| results.of(OURS));
    if let (Some((many, connections)), Some(one)) = (many, one) {
        let each = (many.memory - one.memory) * f64::from(1 << 20) / connections as f64;
        let what = format!("{OURS} on connections: bytes for each, beyond what bulk takes");
        lines.push(line(&what, each, '≤', CLOSED));
    }
    let bulk = on(Kind::Bulk).and_then(Results::each);
    for kind in Kind::HOSTILE {
        if let Some((each, bulk)) = on(kind).and_then(Results::each).zip(bulk) {
            let what = format!("{OURS} on {}: a packet in packets of bulk", kind.name());
            lines.push(line(&what, each / bulk, '≤', HOSTILE));
        }
    }
    lines
}

fn line(what: &str, value: f64, sign: char, goal: f64) -> String {
    let met = if sign == '≥' { value >= goal } else { value <= goal };
    format!("{:<70} {value:>7.1}  goal {sign} {goal:<5} {}", what, if met { "yes" } else { "NO" })
}
