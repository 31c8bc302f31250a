//! What an application says of its own work.

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant};

/// What an application does on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes the payload and closes its half of the connection.
    Sender,
    /// Reads to the end and answers it by closing.
    Receiver,
}

/// One application's account of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppReport {
    /// What it did.
    pub role: Role,
    /// Payload bytes that its socket took, or that it read.
    pub bytes: Bytes,
    /// BLAKE3 of these bytes, hexadecimal.
    pub digest: String,
    /// Writes that took, or reads that gave, at least one byte.
    pub calls: u64,
    /// When it began: before connecting, or when the connection was accepted.
    pub started: Option<Instant>,
    /// When its first byte was written or read.
    pub first_byte: Option<Instant>,
    /// When its last byte was written or read.
    pub last_byte: Option<Instant>,
    /// When it saw the other end's end of stream: for a sender, the proof that everything was
    /// read.
    pub finished: Option<Instant>,
    /// Bytes that came where none were due: data read by a sender.
    pub stray: Bytes,
}
