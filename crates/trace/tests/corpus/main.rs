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

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth"))
}
