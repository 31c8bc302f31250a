//! What the analyser says of the captures in `corpus/groundtruth`, held against what others know of
//! them: the kernels of both hosts, the link between these, and tshark.

mod annotate;
mod joined;
mod kernel_accounts;
mod kernel_clock;
mod kernel_windows;
mod life;
mod tshark;

use std::path::PathBuf;

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
