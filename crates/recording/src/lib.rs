//! What a trial leaves behind, whichever world it ran in: the same files, written and read here.
//!
//! | file | what |
//! |---|---|
//! | `client.pcapng`, `server.pcapng` | every packet as it left and entered that endpoint |
//! | `path.jsonl` | the ground truth: the path's verdict on every packet, a row each |
//! | `samples.csv` | `TCP_INFO` of both sockets, a row for each look, if they were sampled |
//! | `samples-NAME.csv` | `TCP_INFO` of another flow, if there are several |
//! | `app.json` | what the applications did, if they were tcplab's |
//! | `result.json` | how the trial was set up and how the world behaved |
//! | `DONE` | written last: a recording without it is incomplete |
//!
//! In the captures, a comment explains why the path dropped a frame. Programs read `path.jsonl`.

mod capture;
mod csv;
mod error;
mod files;
mod guest;
mod lost;
mod message_bytes;
mod output;
pub mod quality;
mod queues;
mod read;
mod record;
mod sample;
mod sketch;
mod traffic;
mod truth_row;
mod write;

#[cfg(test)]
mod tests;

pub use capture::{Captured, NO_VERDICT};
pub use csv::parse as parse_samples;
pub use error::{RUNS_FLAG, RecordingError, of_owner, readable_again, room_for_files};
pub use files::capture_file;
pub use guest::{GuestOrder, GuestOutcome, GuestReport, OutputStream, ProgramEnd};
pub use lost::LostPacket;
pub use message_bytes::MessageBytes;
pub use output::{make_private_directories, make_private_directory, private_file};
pub use queues::{NoQueueLog, QueueDrop, QueueLength, QueueLog, Queues};
pub use read::{Recording, TruthRows, is_of_packets, remove_packets};
pub use record::{
    AppLog, ConnectionLog, EndpointRecord, FlowLog, Lateness, MoverRecord, OptionRecord,
    PoolRecord, RingWait, TrialRecord, TruthRow, WorldRecord,
};
pub use sample::{Column, Sample};
pub use sketch::Sketch;
pub use traffic::{DirectionTraffic, Summary, Traffic};
pub use truth_row::parse_truth_row;
pub use write::RecordingWriter;
