//! What a kernel in virtual time is to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tcplab_recording::MessageBytes;
use tcplab_scenario::Case;
use tcplab_units::Endpoint;

use crate::script_work::GuestScript;

/// What a guest is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum GuestWork {
    /// To take part in a trial.
    Trial(Box<GuestTask>),
    /// To run a program.
    Program(GuestProgram),
    /// To do what a packetdrill script asks for.
    Script(GuestScript),
}

/// What a guest is to do in a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuestTask {
    /// Which end it is.
    pub end: Endpoint,
    /// The cell of the matrix.
    pub case: Case,
    /// The trial's own seed.
    pub seed: u64,
    /// For a trial on the same host, both ends of which are in this guest: the directory, outside
    /// of it, that the recording is made in.
    pub directory: Option<PathBuf>,
    /// How many bytes of each packet captures made in it keep; all where no number is given.
    pub snaplen: Option<u32>,
}

/// A program that a guest is to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuestProgram {
    /// Client: the near end. Server: the far end.
    pub end: Endpoint,
    /// The program and its arguments; at the far end there may be none.
    pub command: Vec<MessageBytes>,
    /// All of its environment.
    pub environment: Vec<(MessageBytes, MessageBytes)>,
    /// Where it starts: the whole path of a directory of the machine outside.
    pub directory: MessageBytes,
    /// Whether its standard output and its standard error go to the same place, so that their
    /// order counts.
    pub has_one_output: bool,
    /// The largest packet of the device, in bytes of IP.
    pub mtu: u32,
    /// The congestion control of sockets that ask for no other.
    pub congestion: Option<String>,
    /// The TCP port that it has to listen on.
    pub wait_for: Option<u16>,
}
