//! What users ask of tcplab, without a terminal: scenarios and captures found and read by what
//! people call them, and the report of a run. The command and the Python package share it.

mod captures;
mod files;
mod index;
mod launch;
mod paths;
mod report;
mod scenarios;
mod two_points;

pub use captures::{
    analyzer_of, captures, dropped_frames, ends_of, is_lasting, is_of_damaging_path,
    is_one_recording, is_stdin, may_be_capture, name, open, open_until, read_captures, read_frames,
};
pub use files::{NAMED_MAX, TEXT_MAX, beside, read_regular};
pub use index::{CaptureIndex, Known, Lookup, check_index};
pub use launch::{KERNEL_WORLD, launcher};
pub use paths::{find_path, outlooks, preset, read_path, unknown_path};
pub use report::write_report;
pub use scenarios::{embedded, files_beside, find, read_text, unknown};
pub use two_points::{TwoPoints, find_two_points};
