//! Packets through a link, in virtual time: what modelling costs, without any input or output.

use divan::counter::ItemsCount;
use tcplab_path::{Direction, Link, Packet, PathSpec, RateSpec, RateTable};
use tcplab_units::{Instant, Span};

const PACKETS: u64 = 100_000;

fn main() {
    divan::main();
}

/// Paths by name. All keep up with a packet every microsecond, but the wireless one: it sends some
/// 30 in a millisecond, and its queue drops the others.
fn path(name: &str) -> PathSpec {
    let text = match name {
        "empty" => "{}",
        "delay" => r#"{ "delay": "10 ms" }"#,
        "jitter" => r#"{ "delay": "10 ms", "jitter": { "normal": "1 ms" } }"#,
        "jitter, correlated" => {
            r#"{ "delay": "10 ms", "jitter": { "normal": "1 ms", "correlation": "50 %" } }"#
        }
        "jitter, reordering" => {
            r#"{ "delay": "10 ms", "jitter": { "normal": "1 ms", "reorder": true } }"#
        }
        "pareto-normal" => r#"{ "delay": "10 ms", "jitter": { "pareto_normal": "1 ms" } }"#,
        "reorder" => r#"{ "reorder": { "probability": "1 %", "gap": 3 } }"#,
        "bottleneck" => r#"{ "rate": "12.1 Gbit/s" }"#,
        "varying" => {
            r#"{ "rate": { "start": "12.1 Gbit/s", "repeat": "10 ms", "steps": [
                 { "at": "1 ms", "to": "24 Gbit/s", "over": "4 ms" },
                 { "at": "6 ms", "to": "12.1 Gbit/s" } ] } }"#
        }
        "token bucket" => r#"{ "rate": "12.1 Gbit/s", "burst": "15 kB" }"#,
        "trace" => return trace(),
        "wifi" => {
            r#"{ "wifi": { "standard": "ac", "rate": "433.3 Mbit/s", "error": "1 %" },
                 "queue": "200 packets" }"#
        }
        "cross" => {
            r#"{ "rate": "24.2 Gbit/s", "cross": { "rate": "12 Gbit/s" },
                 "police": { "rate": "12.1 Gbit/s", "burst": "15 kB" } }"#
        }
        _ => {
            r#"{ "rate": "12.1 Gbit/s", "delay": "10 ms", "loss": "1 %",
                 "interruption": { "every": "5 s", "lasting": "200 ms" } }"#
        }
    };
    serde_json::from_str(text).expect("a path")
}

/// A thousand opportunities in each millisecond of ten.
fn trace() -> PathSpec {
    let opportunities = (0..10_000).map(|turn| 1 + turn / 1_000).collect();
    let table = RateTable { opportunities: Some(opportunities), ..RateTable::default() };
    PathSpec { rate: Some(RateSpec::Table(table)), ..PathSpec::default() }
}

#[divan::bench(args = [
    "empty", "delay", "jitter", "jitter, correlated", "jitter, reordering", "pareto-normal", "reorder", "bottleneck", "varying", "token bucket", "trace", "wifi", "cross", "everything",
])]
fn packets(bencher: divan::Bencher<'_, '_>, name: &str) {
    let plan = path(name).link(Direction::Forward).expect("a possible path");
    bencher.counter(ItemsCount::new(PACKETS)).bench(|| {
        let mut link = Link::new(&plan, 1, Direction::Forward);
        let mut spare: Vec<Vec<u8>> = Vec::new();
        let mut now = Instant::ZERO;
        for id in 0..PACKETS {
            now += Span::from_micros(1);
            let bytes = spare.pop().unwrap_or_else(|| vec![0; 1500]);
            link.handle_packet(now, Packet::new(id, bytes));
            while let Some(departure) = link.poll(now) {
                spare.push(departure.packet.bytes);
            }
        }
        link.drain(now).len()
    });
}
