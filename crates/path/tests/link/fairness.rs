//! Several flows share one bottleneck: what a queue for each is worth.

use std::collections::BTreeMap;

use tcplab_path::{Fate, Verdict};
use tcplab_units::{Instant, Span};
use tcplab_wire::Ecn;

use crate::support::{forward, step_until, tcp};

/// A flow: its port, the size of its packets, and how often they come.
struct Flow {
    port: u16,
    size: usize,
    every: Span,
}

const SECONDS: u64 = 10;

/// What became of the packets of these flows over ten seconds, by port, at 12 Mbit/s.
fn share(queue: &str, flows: &[Flow]) -> BTreeMap<u16, Vec<Verdict>> {
    let json = format!(r#"{{ "rate": "12 Mbit/s", "queue": {queue} }}"#);
    let mut link = forward(&json);
    let end = Instant::ZERO + Span::from_secs(SECONDS);

    let mut arrivals = Vec::new();
    for flow in flows {
        // Each begins a little after the one before, so that no two packets come at once.
        let mut now = Instant::from_nanos(u64::from(flow.port));
        while now < end {
            arrivals.push((now, flow));
            now += flow.every;
        }
    }
    arrivals.sort_by_key(|(now, flow)| (*now, flow.port));

    let mut verdicts = Vec::new();
    for (id, (now, flow)) in arrivals.iter().enumerate() {
        step_until(&mut link, *now, &mut verdicts);
        link.handle_packet(*now, tcp(id as u64, flow.port, flow.size, Ecn::NotEct));
    }
    step_until(&mut link, end, &mut verdicts);
    let mut by_port = BTreeMap::<u16, Vec<Verdict>>::new();
    for verdict in verdicts {
        by_port.entry(arrivals[verdict.id as usize].1.port).or_default().push(verdict);
    }
    by_port
}

/// In bit/s.
fn throughput(verdicts: &[Verdict]) -> f64 {
    let delivered = verdicts.iter().filter(|verdict| verdict.fate == Fate::Delivered);
    delivered.map(|verdict| verdict.size.bits()).sum::<u128>() as f64 / SECONDS as f64
}

/// (Σx)² / (n Σx²): 1 when all have the same, 1/n when one has all (Jain, Chiu, Hawe 1984).
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}

/// Once the queues have settled: in the first second all flows are new.
fn longest_wait(verdicts: &[Verdict]) -> Span {
    let settled = Instant::ZERO + Span::from_secs(1);
    let sent = verdicts
        .iter()
        .filter(|verdict| verdict.entered > settled)
        .filter_map(|verdict| verdict.transmission);
    sent.map(|sent| sent.waited()).max().unwrap()
}

/// Three flows that send 6, 12 and 48 Mbit/s in packets of different sizes, and a sparse one of
/// 16 kbit/s.
fn greedy_and_sparse() -> [Flow; 4] {
    let every = |bits: u64, mbit: u64| Span::from_nanos(bits * 1_000 / mbit);
    [
        Flow { port: 1, size: 1500, every: every(12_000, 6) },
        Flow { port: 2, size: 500, every: every(4_000, 12) },
        Flow { port: 3, size: 1500, every: every(12_000, 48) },
        // Out of step with the others, or it would find the queue full every time, or never.
        Flow { port: 4, size: 200, every: Span::from_nanos(100_137_891) },
    ]
}

#[test]
fn with_fq_codel_each_has_a_third_and_the_sparse_one_hardly_waits() {
    let by_port = share(r#"{ "fq_codel": {} }"#, &greedy_and_sparse());
    let shares: Vec<f64> = (1..=3).map(|port| throughput(&by_port[&port])).collect();
    assert!(jain(&shares) > 0.9999, "{shares:?}");
    // What the sparse one leaves of 12 Mbit/s, in three.
    let third = (12e6 - throughput(&by_port[&4])) / 3.0;
    assert!(shares.iter().all(|share| (share / third - 1.0).abs() < 0.01), "{shares:?}");

    let sparse = &by_port[&4];
    assert!(sparse.iter().all(|verdict| verdict.fate == Fate::Delivered));
    // At most the packet that is being sent: 1,500 B take 1 ms.
    assert!(longest_wait(sparse) <= Span::from_millis(1), "{}", longest_wait(sparse));
}

#[test]
fn in_one_queue_the_greediest_has_most_and_all_wait_alike() {
    let by_port = share(r#""300 packets""#, &greedy_and_sparse());
    let shares: Vec<f64> = (1..=3).map(|port| throughput(&by_port[&port])).collect();
    assert!(shares[2] > 2.0 * (shares[0] + shares[1]), "{shares:?}");
    assert!(jain(&shares) < 0.6, "{shares:?}");
    let sparse = longest_wait(&by_port[&4]);
    assert!(sparse > Span::from_millis(50), "{sparse}");
}
