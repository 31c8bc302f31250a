//! The analyser on the captures in `corpus/groundtruth`, against the kernels of both hosts, the
//! link between them, and tshark.

mod annotate;
mod joined;
mod kernel_accounts;
mod kernel_clock;
mod kernel_windows;
mod life;
mod threads;
mod tshark;

use std::io::Read;
use std::path::PathBuf;

use tcplab_capture::{Reader, Source};

/// The transfers, each captured at both ends.
const TRANSFERS: [&str; 8] = [
    "ackloss30",
    "app_limited",
    "blackout",
    "clean_cubic_20ms",
    "loss1_cubic",
    "nosack_loss1",
    "nots_loss1",
    "rwnd_limited",
];

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth"))
}

/// The capture `name`, such as `blackout.snd`.
fn capture(name: &str) -> Reader<Source> {
    tcplab_capture::open(corpus().join(format!("{name}.pcap.zst"))).unwrap()
}

/// What `ss` printed at the sender during a transfer.
fn socket_statistics(transfer: &str) -> String {
    let mut text = String::new();
    let mut file = Source::open(&corpus().join(format!("{transfer}.ss.txt.gz"))).unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// The counters of the kernels and of the link.
fn truth(transfer: &str) -> serde_json::Value {
    let text = std::fs::read(corpus().join(format!("{transfer}.truth.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}
