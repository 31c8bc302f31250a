//! The path's log as Parquet: how many rows a second, from memory and from its JSON Lines.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;

use divan::counter::ItemsCount;
use tcplab_path::{Direction, Link, Packet, PathSpec};
use tcplab_recording::{Recording, TruthRow};
use tcplab_table::{Format, write_truth};
use tcplab_units::{Instant, Span};

const ROWS: u64 = 1_000_000;

fn main() {
    divan::main();
}

/// What a bottleneck of 100 Mbit/s makes of full packets that come a little faster than it sends.
fn log() -> Vec<TruthRow> {
    let text =
        r#"{ "rate": "100 Mbit/s", "delay": "10 ms", "queue": "100 packets", "loss": "1 %" }"#;
    let spec: PathSpec = serde_json::from_str(text).expect("a path");
    let plan = spec.link(Direction::Forward).expect("a possible path");
    let mut link = Link::new(&plan, 1, Direction::Forward);
    let (mut now, mut rows) = (Instant::ZERO, Vec::new());
    for id in 1..=ROWS {
        // 1500 bytes take 120 µs; arrivals jitter by up to a quarter of that.
        now += Span::from_nanos(105_000 + id * 7_919 % 30_000);
        link.handle_packet(now, Packet::new(id, vec![0; 1500]));
        while let Some(departure) = link.poll(now) {
            rows.push(TruthRow {
                frame: Some(departure.verdict.id),
                because: None,
                verdict: departure.verdict,
            });
        }
    }
    rows.extend(link.drain(now).into_iter().map(|departure| TruthRow {
        frame: Some(departure.verdict.id),
        because: None,
        verdict: departure.verdict,
    }));
    rows
}

#[divan::bench(sample_count = 5)]
fn from_memory(bencher: divan::Bencher<'_, '_>) {
    let rows = log();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        write_truth(
            Format::Parquet,
            rows.iter().map(|row| Ok::<_, Infallible>(row.clone())),
            io::sink(),
        )
    });
}

#[divan::bench(sample_count = 5)]
fn from_json_lines(bencher: divan::Bencher<'_, '_>) {
    let mut text = String::new();
    for row in log() {
        writeln!(text, "{}", serde_json::to_string(&row).expect("plain data")).expect("memory");
    }
    let directory = tempfile::tempdir().expect("a directory for the log");
    std::fs::write(directory.path().join("path.jsonl"), text).expect("room for the log");
    std::fs::write(directory.path().join("DONE"), "").expect("room for a mark");
    let recording = Recording::open(directory.path()).expect("a whole recording");
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        write_truth(Format::Parquet, recording.truth_rows().expect("its log"), io::sink())
    });
}
