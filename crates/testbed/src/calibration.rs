//! What is asked of a calibration, and what it measured.

use serde::{Deserialize, Serialize};
use tcplab_path::PathSpec;
use tcplab_recording::{Lateness, MoverRecord, RingWait};
use tcplab_units::{Bytes, Rate, Span};

use crate::{DeviceKind, Tuning};

/// What to measure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CalibrationRequest {
    /// How frames get out of the endpoints; the best allowed one where none is named.
    pub device: Option<DeviceKind>,
    /// How frames are moved; with `machine`, the lead that was measured takes the place of its own.
    pub tuning: Tuning,
    /// Whether to measure the machine itself first.
    pub machine: bool,
    /// The path of the rounds.
    pub path: PathSpec,
    /// Of the path's randomness.
    pub seed: u64,
    /// What is sent over the path; each round begins with the path as it is at its zero.
    pub rounds: Vec<Round>,
}

/// What is sent over the path at once: from the client, and from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Probes from the client, if any.
    pub forward: Option<Train>,
    /// Probes from the server, if any.
    pub reverse: Option<Train>,
    /// How long to wait at most for what is still on its way after the last was sent.
    pub patience: Span,
}

impl Round {
    pub(crate) fn trains(&self) -> [Option<Train>; 2] {
        [self.forward, self.reverse]
    }
}

/// Datagrams of one size, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Train {
    /// Each of them, in bytes of IP: [`Train::SMALLEST`] to 1500.
    pub size: Bytes,
    /// How many.
    pub count: u32,
    /// From one to the next.
    pub gap: Span,
    /// The initial burst, before the even spacing: its queue keeps a bottleneck busy while the
    /// sender is late.
    pub ahead: u32,
}

impl Train {
    /// IP, UDP, and what identifies a datagram.
    pub const SMALLEST: Bytes = Bytes::new(64);
}

/// The result of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRecord {
    /// Such as `tun`.
    pub device: String,
    /// Such as `held`.
    pub privilege: String,
    /// Such as `real-time`.
    pub scheduling: String,
    /// The machine, if that was asked for.
    pub machine: Option<MachineRecord>,
    /// One for each round asked for.
    pub rounds: Vec<RoundRecord>,
}

/// What this machine can do, whatever the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// How much longer probes took than a constant delay, without any lead; in nanoseconds, in
    /// ascending order.
    pub errors: Vec<i64>,
    /// The median of these: the constant part of the error, to be compensated.
    pub lead: Span,
    /// The errors with that lead.
    pub errors_with_lead: Vec<i64>,
    /// The most that went through a path which judges each segment and does nothing else.
    pub ceiling: Ceiling,
}

/// The most that one TCP connection got through the path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Packets per second in the direction of the data.
    pub pps: u64,
    /// Their bits of IP packets.
    pub rate: Rate,
    /// While it was so.
    pub ring_wait: RingWait,
}

/// What was sent and what arrived in a round. Times count from the zero of the path, in
/// nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// From the client, and from the server.
    pub directions: [DirectionRecord; 2],
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// How long they may have waited where the path did not see them.
    pub ring_wait: RingWait,
    /// Frames lost outside the path.
    pub device_drops: u64,
    /// How the thread that moved frames fared.
    pub mover: MoverRecord,
    /// How long it took.
    pub lasted: Span,
}

/// One direction of a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionRecord {
    /// When each datagram was about to be sent, by its number.
    pub sent: Vec<u64>,
    /// What arrived, in order.
    pub arrivals: Vec<Arrival>,
    /// Arrivals that were not looked at in time; the numbers then say nothing.
    pub overlooked: u64,
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Its number; none if it was too damaged.
    pub number: Option<u32>,
    /// By the kernel's stamp.
    pub at: u64,
    /// Whether it is not what was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whether it says that it met congestion (CE, RFC 3168).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}
