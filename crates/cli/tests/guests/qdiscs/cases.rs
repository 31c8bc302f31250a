//! What is compared: each element of a path that the kernel has.

use tcplab_path::{Direction, LinkPlan, PathSpec};

use super::arrivals::{Arrival, bursts, ect, poisson, regular, together};
use super::crossing::Crossing;
use super::distance::{mean, quantile};
use super::quantity::{Compared, Quantity};

/// An element, the packets that meet it, and what is compared of them.
pub(crate) struct Case {
    pub(crate) element: &'static str,
    /// The keys of the forward direction, as JSON.
    keys: String,
    pub(crate) device: Device,
    pub(crate) kernel: Kernel,
    pub(crate) arrivals: Vec<Arrival>,
    /// How many seeds the path is run with.
    pub(crate) seeds: u64,
    pub(crate) compared: Vec<Compared>,
}

/// The queueing disciplines of the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel {
    /// As `tcplab path tc` writes them.
    AsWritten,
    /// This one in their place.
    InPlace(&'static str),
    /// With another value of one of its settings.
    With(&'static str, &'static str),
}

/// What the packets leave by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Device {
    /// With a header of 14 bytes, as `tcplab path tc` expects; a guest that forwards stands behind.
    Ethernet,
    /// IP packets alone, and nothing behind it.
    WithoutHeader,
}

impl Case {
    fn new(element: &'static str, keys: &str, arrivals: Vec<Arrival>) -> Case {
        Case {
            element,
            keys: keys.into(),
            device: Device::Ethernet,
            kernel: Kernel::AsWritten,
            arrivals,
            seeds: 1,
            compared: Vec::new(),
        }
    }

    fn seeds(mut self, seeds: u64) -> Case {
        self.seeds = seeds;
        self
    }

    fn compare(mut self, name: &'static str, quantity: Quantity) -> Case {
        self.compared.push(Compared { name, quantity, known: None });
        self
    }

    /// Of the last quantity, why it is another.
    fn differs(mut self, known: &'static str) -> Case {
        self.compared.last_mut().expect("a quantity").known = Some(known);
        self
    }

    /// The same packets with other keys.
    pub(crate) fn with(&self, keys: &str) -> Case {
        Case {
            keys: keys.into(),
            arrivals: self.arrivals.clone(),
            compared: self.compared.clone(),
            ..*self
        }
    }

    /// Its keys as a table of TOML, which takes keys in quotes.
    pub(crate) fn as_toml(&self) -> String {
        format!("{{ {} }}", self.keys.replace("\":", "\" ="))
    }

    pub(crate) fn path(&self) -> PathSpec {
        let json = format!("{{ \"forward\": {{ {} }} }}", self.keys);
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    pub(crate) fn plan(&self) -> LinkPlan {
        self.path().link(Direction::Forward).unwrap_or_else(|error| panic!("{error:?}"))
    }
}

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// All cases; `scale` is how many packets the random ones have, in thousands.
pub(crate) fn cases(scale: usize) -> Vec<Case> {
    let n = scale * 1000;
    [delays(n), losses(n), others(n), rates(), queues(), aqms()].into_iter().flatten().collect()
}

fn delays(n: usize) -> Vec<Case> {
    let jitter = |element, law: &str| {
        let keys = format!(r#""delay": "20 ms", "jitter": {{ {law}, "reorder": true }}"#);
        Case::new(element, &keys, regular(n, 2 * MS, 100))
            .seeds(20)
            .compare("delay, ms", Quantity::Law(Crossing::delays))
            .compare("reordered packets, share", Quantity::Number(reordered, 0.0))
            .compare("packets that overtook one, mean", Quantity::Number(overtakers, 0.0))
    };
    let table =
        r#""table": "mine.dist", "scale": "2 ms", "values": [-8192, -2000, 0, 0, 1000, 16384]"#;
    vec![
        exact(Case::new("delay", r#""delay": "20 ms""#, poisson(1, 300, 1e6, &[60, 600, 1500]))),
        jitter("jitter, uniform", r#""uniform": "5 ms""#),
        jitter("jitter, normal", r#""normal": "2 ms""#),
        jitter("jitter, pareto", r#""pareto": "2 ms""#),
        jitter("jitter, pareto_normal", r#""pareto_normal": "2 ms""#),
        jitter("jitter, table", table),
        Case::new(
            "jitter, in order",
            r#""delay": "20 ms", "jitter": { "normal": "2 ms" }"#,
            regular(n, 2 * MS, 100),
        )
        .seeds(40)
        .compare("delay, mean, ms", Quantity::Number(|it| mean(&it.delays()), 0.0))
        .compare("delay, 95th percentile, ms", Quantity::Number(|it| p95(&it.delays()), 0.0))
        .compare("distance, 95th percentile, ms", Quantity::Number(|it| p95(&it.distances()), 0.0))
        .compare("reordered packets, share", Quantity::Number(reordered, 0.0)),
        Case::new(
            "reorder",
            r#""reorder": { "probability": "5 %", "extra": "7 ms" }"#,
            regular(n, 2 * MS, 100),
        )
        .seeds(20)
        .compare("delay, ms", Quantity::Law(Crossing::delays))
        .compare("reordered packets", Quantity::Share(Crossing::reordered))
        .compare("packets that overtook one", Quantity::Law(Crossing::overtakers)),
    ]
}

fn losses(n: usize) -> Vec<Case> {
    let loss = |element, keys: &str| {
        Case::new(element, keys, regular(n, 10 * US, 100))
            .seeds(20)
            .compare("lost packets", Quantity::Share(Crossing::losses))
            .compare("losses in a row", Quantity::Law(Crossing::loss_runs))
            .compare("packets between losses", Quantity::Law(Crossing::gaps))
    };
    let chain = |element, keys: &str| {
        let mut case = loss(element, keys).seeds(40);
        case.compared[0].quantity = Quantity::Number(|it| share(it.losses()), 0.0);
        case
    };
    let good = r#""loss": { "gilbert_elliott": { "p": "1 %", "r": "25 %" } }"#;
    let bad = r#""loss": { "gilbert_elliott": { "p": "5 %", "r": "20 %", "bad": "70 %", "good": "2 %" } }"#;
    vec![
        loss("loss 1 %", r#""loss": "1 %""#),
        loss("loss 20 %", r#""loss": "20 %""#),
        chain("loss, gilbert_elliott p, r", good),
        chain("loss, gilbert_elliott p, r, bad, good", bad),
    ]
}

fn others(n: usize) -> Vec<Case> {
    let packets = || regular(n, 10 * US, 200);
    let mark = r#""mark": "10 %""#;
    let mut corrupt = Case::new("corrupt", r#""corrupt": "10 %""#, packets())
        .seeds(20)
        .compare("corrupted packets", Quantity::Share(Crossing::corrupted))
        .compare("wrong bit, place in the payload", Quantity::Law(Crossing::wrong_bits));
    corrupt.device = Device::WithoutHeader;
    vec![
        Case::new("duplicate", r#""duplicate": "10 %""#, packets())
            .seeds(20)
            .compare("duplicated packets", Quantity::Share(Crossing::duplicates))
            .compare("reordered packets", Quantity::Share(Crossing::reordered)),
        Case::new("duplicate 20 %, loss 20 %", r#""duplicate": "20 %", "loss": "20 %""#, packets())
            .seeds(20)
            .compare("lost packets", Quantity::Share(Crossing::losses))
            .differs("netem draws for the copy first")
            .compare("duplicated packets", Quantity::Share(Crossing::duplicates))
            .differs("netem may lose the copy"),
        corrupt,
        Case::new("mark, ECT packets", mark, ect(packets()))
            .seeds(20)
            .compare("marked packets", Quantity::Share(Crossing::marked))
            .compare("lost packets", Quantity::Share(Crossing::losses)),
        Case::new("mark, other packets", mark, packets())
            .seeds(20)
            .compare("lost packets", Quantity::Share(Crossing::losses))
            .differs("netem loses what it cannot mark"),
    ]
}

fn rates() -> Vec<Case> {
    let busy = || poisson(2, 600, 900e3, &[60, 600, 1500]);
    let rate = r#""rate": "8 Mbit/s", "queue": "1000 packets""#;
    let mut netem = exact(Case::new("rate, beside netem's", rate, busy()));
    (netem.device, netem.kernel) =
        (Device::WithoutHeader, Kernel::InPlace("netem rate 8mbit limit 1001"));
    let tbf = Case::new("rate, beside tbf", rate, bursts(600, 40 * MS, 20, 1500))
        .compare("packets with another fate", Quantity::Fates(0.0))
        .compare("departure, ns", Quantity::Departures(0.0))
        .differs("tbf sends its burst at once")
        .compare(
            "distance, median, ms",
            Quantity::Number(|it| quantile(&it.distances(), 0.5), 0.002),
        );
    let bucket = |element, burst: &str, arrivals| {
        let keys = format!(r#""rate": "8 Mbit/s", "burst": "{burst}", "queue": "1000 packets""#);
        exact(Case::new(element, &keys, arrivals))
    };
    vec![
        netem,
        tbf,
        bucket("burst 1514 B", "1514 B", busy()),
        bucket("burst 10 kB", "10 kB", busy()),
        bucket("burst 10 kB, bursts", "10 kB", bursts(600, 40 * MS, 20, 1500)),
    ]
}

/// Too much for 8 Mbit/s for a while, and then less: packets of these sizes.
fn overload(sizes: &[usize]) -> Vec<Arrival> {
    // On average as long as 8 Mbit/s take for a packet.
    let fits = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64 * 1e3;
    let mut packets = poisson(3, 1200, 0.8 * fits, sizes);
    let end = packets.last().map_or(0, |it| it.at);
    let calm = poisson(4, 400, 1.7 * fits, sizes);
    packets.extend(calm.into_iter().map(|it| Arrival { at: it.at + end, ..it }));
    packets
}

const SIZES: [usize; 3] = [200, 900, 1500];

/// A token bucket is what tbf is: with it both send at the same times.
fn behind_bucket(queue: &str) -> String {
    format!(r#""rate": "8 Mbit/s", "burst": "1514 B", "queue": {queue}"#)
}

fn exact(case: Case) -> Case {
    case.compare("packets with another fate", Quantity::Fates(0.0))
        .compare("departure, ns", Quantity::Departures(0.0))
}

fn queues() -> Vec<Case> {
    let queue = |element, queue: &str, sizes: &[usize]| {
        Case::new(element, &behind_bucket(queue), overload(sizes))
    };
    let losses = |case: Case| {
        case.compare("lost packets, share", Quantity::Number(|it| share(it.losses()), 0.005))
            .compare("delay, median, ms", Quantity::Number(|it| quantile(&it.delays(), 0.5), 0.8))
    };
    let head = queue("drop_head", r#"{ "drop_head": "20 packets" }"#, &[1500]);
    vec![
        exact(queue("drop-tail, packets", r#""20 packets""#, &SIZES)),
        exact(queue("drop-tail, bytes", r#""31 kB""#, &[1500])),
        losses(queue("drop-tail, bytes, several sizes", r#""20 kB""#, &SIZES)),
        losses(head)
            .compare("packets with another fate", Quantity::Fates(0.0))
            .differs("tbf's next packet is dropped"),
    ]
}

/// What an AQM is compared by; and how much shares and times in ms may be off beside chance, for
/// each a reason of its own.
fn aqm(element: &'static str, queue: &str, arrivals: Vec<Arrival>, off: [f64; 2]) -> Case {
    let [shares, times] = off;
    let is_ect = arrivals[0].is_ect;
    let mut case = Case::new(element, &behind_bucket(queue), arrivals)
        .seeds(60)
        .compare("lost packets, share", Quantity::Number(|it| share(it.losses()), shares));
    if is_ect {
        let marks = Quantity::Number(|it| share(it.marked()), shares);
        case = case.compare("marked packets, share", marks);
    }
    case.compare("delay, median, ms", Quantity::Number(|it| quantile(&it.delays(), 0.5), times))
        .compare("delay, 95th percentile, ms", Quantity::Number(|it| p95(&it.delays()), times))
}

/// Linux computes interval / √count by one Newton step at each drop, so its second interval is
/// 50 ms in place of 70.7 ms.
const NEWTON: &str = "one Newton step in place of a square root";
/// By how much that moves what is compared here.
const NEWTON_OFF: [f64; 2] = [0.002, 2.0];
/// A timer of the guest fires a tick of 4 ms later than after the ticks it is asked for.
const LATE: Kernel = Kernel::With("16ms", "12ms");
/// What one packet more or less in a queue makes of RED's average.
const NEXT_OFF: [f64; 2] = [0.03, 1.6];

fn aqms() -> Vec<Case> {
    let packets = || overload(&SIZES);
    let fates = |case: Case| {
        case.compare("packets with another fate", Quantity::Fates(0.0)).differs(NEWTON)
    };
    let red = r#"{ "red": { "limit": "100 kB", "min": "10 kB", "max": "30 kB", "probability": "10 %",
                 "weight": "0.78125 %" } }"#;
    let red_ecn = red.replace("\"limit\"", "\"ecn\": true, \"limit\"");
    let pie = r#"{ "pie": { "update": "16 ms", "derandomize": true } }"#;
    let pie_ecn = pie.replace("\"update\"", "\"ecn\": true, \"update\"");
    let threshold = r#"{ "codel": { "ce_threshold": "2 ms" } }"#;
    let marks = aqm("codel, ecn", r#"{ "codel": { "ecn": true } }"#, ect(packets()), NEWTON_OFF);
    vec![
        fates(aqm("codel", r#"{ "codel": {} }"#, packets(), NEWTON_OFF)),
        exact(marks)
            .compare("first to second mark, ms", Quantity::Number(|it| it.between_marks()[0], 2.0))
            .compare("second to third mark, ms", Quantity::Number(|it| it.between_marks()[1], 2.0))
            .differs(NEWTON),
        fates(aqm("codel, ce_threshold", threshold, ect(packets()), NEWTON_OFF)),
        aqm("fq_codel", r#"{ "fq_codel": {} }"#, flows(), [0.004, 30.0])
            .compare("first flow's share", Quantity::Number(first_share, 0.005))
            .compare("sparse flow's delay, median, ms", Quantity::Number(sparse_delay, 0.1)),
        aqm("fq_codel, limit", r#"{ "fq_codel": { "limit": "50 packets" } }"#, flows(), NEWTON_OFF)
            .differs("Linux counts in CoDel what the limit drops")
            .compare("first flow's share", Quantity::Number(first_share, 0.005)),
        aqm("red", red, packets(), NEXT_OFF),
        aqm("red, ecn", &red_ecn, ect(packets()), NEXT_OFF),
        Case { kernel: LATE, ..aqm("pie", pie, packets(), [0.0, 0.1]) },
        Case { kernel: LATE, ..aqm("pie, ecn", &pie_ecn, ect(packets()), [0.0, 0.1]) },
    ]
}

/// Queues that transfers of TCP meet.
pub(crate) fn under_tcp() -> Vec<Case> {
    let queue = |element, queue: &str| Case::new(element, &behind_bucket(queue), Vec::new());
    let red = r#"{ "red": { "limit": "100 kB", "min": "10 kB", "max": "30 kB", "probability": "10 %",
                 "weight": "0.78125 %" } }"#;
    let pie = r#"{ "pie": { "update": "16 ms", "derandomize": true } }"#;
    vec![
        queue("drop-tail, packets", r#""50 packets""#),
        queue("codel", r#"{ "codel": {} }"#),
        queue("codel, ecn", r#"{ "codel": { "ecn": true } }"#),
        queue("fq_codel", r#"{ "fq_codel": {} }"#),
        queue("red", red),
        Case { kernel: LATE, ..queue("pie", pie) },
    ]
}

/// Three that send more than 8 Mbit/s together, unequally, and one of small packets, seldom.
fn flows() -> Vec<Arrival> {
    let greedy = |seed, mean| poisson(seed, 1500, mean, &[1500]);
    let sparse = poisson(9, 150, 10e6, &[200]);
    together(&[greedy(5, 1e6), greedy(6, 2e6), greedy(7, 3e6), sparse])
}

fn share((some, of): (u64, u64)) -> f64 {
    some as f64 / of as f64
}

fn reordered(crossing: &Crossing) -> f64 {
    share(crossing.reordered())
}

/// 0 where none is reordered.
fn overtakers(crossing: &Crossing) -> f64 {
    let overtakers = crossing.overtakers();
    if overtakers.is_empty() { 0.0 } else { mean(&overtakers) }
}

fn p95(sample: &[f64]) -> f64 {
    quantile(sample, 0.95)
}

/// Of the bytes that came out until the last was sent.
fn first_share(crossing: &Crossing) -> f64 {
    let end = crossing.arrivals.last().map_or(0, |it| it.at);
    let bytes = |is_its: &dyn Fn(u16) -> bool| -> f64 {
        let within = crossing.left.iter().filter(|left| left.at <= end);
        let sizes = within.map(|left| crossing.arrivals[left.index]).filter(|it| is_its(it.flow));
        sizes.map(|it| it.size as f64).sum()
    };
    bytes(&|flow| flow == 0) / bytes(&|_| true)
}

fn sparse_delay(crossing: &Crossing) -> f64 {
    quantile(&crossing.flow(3).delays(), 0.5)
}
