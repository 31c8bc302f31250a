//! Packets through a link, in virtual time: what modelling costs, without any input or output.

use divan::counter::ItemsCount;
use tcplab_path::{Direction, Link, Packet, PathSpec};
use tcplab_units::{Instant, Span};

const PACKETS: u64 = 100_000;

fn main() {
    divan::main();
}

/// Paths by name. At 12.1 Gbit/s the bottleneck keeps up with a packet every microsecond.
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
        _ => {
            r#"{ "rate": "12.1 Gbit/s", "delay": "10 ms", "loss": "1 %",
                 "interruption": { "every": "5 s", "lasting": "200 ms" } }"#
        }
    };
    serde_json::from_str(text).expect("a path")
}

#[divan::bench(args = [
    "empty",
    "delay",
    "jitter",
    "jitter, correlated",
    "jitter, reordering",
    "pareto-normal",
    "reorder",
    "bottleneck",
    "everything",
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
