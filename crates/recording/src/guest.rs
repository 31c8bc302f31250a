//! What a kernel in virtual time and the world around it say to each other about a trial, or a
//! program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tcplab_workload::{AppReport, LoadReport, ServerReport};

use crate::{EndpointRecord, MessageBytes, Sample};

/// What a guest reports, in order of its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestReport {
    /// It is set up: its sockets are open, and the server's listens.
    Ready,
    /// It cannot take part, or its application failed.
    Failed {
        /// Why.
        message: String,
        /// What would help.
        remedy: Option<String>,
    },
    /// Its kernel sends the state of one more socket from now on: of this flow, if that has
    /// samples of its own.
    Watches(Option<String>),
    /// The state of a socket that its kernel does not watch.
    Sampled {
        /// The flow, if its samples have a file of their own.
        flow: Option<String>,
        /// The state.
        sample: Box<Sample>,
    },
    /// Its application has received so many bytes more.
    Received(u64),
    /// The server has accepted a connection, by its number in the plan.
    Accepted(usize),
    /// Its end of a connection is done.
    Ended {
        /// Its number in the plan.
        nth: usize,
        /// Whether it was ever connected.
        was_connected: bool,
    },
    /// Its application is done.
    Done(Box<GuestOutcome>),
    /// A program printed.
    Printed {
        /// Where.
        stream: OutputStream,
        /// What.
        bytes: MessageBytes,
    },
    /// The far program listens, or need not.
    Listening,
    /// The near program has ended, and its kernel has delivered what it sent.
    Exited(ProgramEnd),
    /// The far program has ended by itself, with this exit code.
    FarExited(u8),
    /// The far program has read what was sent to it, and has ended.
    Settled {
        /// Packets that the device dropped.
        device_drops: u64,
    },
}

/// Where a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputStream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEnd {
    /// Its exit code; 128 and its number if a signal ended it; 127 or 126 where it was not found
    /// or could not be executed.
    pub code: u8,
    /// Whether a signal ended it.
    pub was_killed: bool,
    /// Why it could not be started.
    pub failure: Option<String>,
    /// Packets that the device at its end dropped.
    pub device_drops: u64,
}

/// What a guest leaves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestOutcome {
    /// What its application did, or that of the main connection.
    pub report: AppReport,
    /// What the application of each connection did, by the client's port.
    pub connections: BTreeMap<u16, AppReport>,
    /// How it was set up.
    pub record: EndpointRecord,
    /// Packets that its device dropped.
    pub device_drops: u64,
    /// What the clients of a load say of it.
    pub load: Option<LoadReport>,
    /// What its server says.
    pub served: Option<ServerReport>,
}

/// What a guest is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestOrder {
    /// The trial begins now.
    Start,
    /// The other end's [`GuestReport::Accepted`].
    Accepted(usize),
    /// The other end's [`GuestReport::Ended`].
    Ended {
        /// The connection's number in the plan.
        nth: usize,
        /// Whether it was ever connected.
        was_connected: bool,
    },
    /// The other end's [`GuestReport::Listening`].
    Listening,
    /// The client is done, and nothing is on the path any more.
    Rest,
    /// The trial's time is over: calls that wait and may fail return.
    RunOut,
}
