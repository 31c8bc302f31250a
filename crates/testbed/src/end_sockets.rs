//! The sockets at both ends of a path, while programs use it.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// The sockets of a shell's near and far end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndSockets(pub [Vec<EndSocket>; 2]);

/// A TCP socket with a connection through the path, as its kernel lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndSocket {
    /// The end here.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The state by its number in Linux (include/net/tcp_states.h).
    pub state: u8,
    /// The state of congestion control by its number (`enum tcp_ca_state`).
    pub ca_state: Option<u8>,
    /// The congestion window.
    pub cwnd_bytes: Option<u64>,
    /// The slow start threshold, if there is one yet.
    pub ssthresh_bytes: Option<u64>,
    /// The smoothed RTT.
    pub srtt_ns: Option<u64>,
    /// Sent and not acknowledged.
    pub in_flight_bytes: Option<u64>,
    /// Sent or to be sent, and not acknowledged.
    pub send_queue_bytes: u32,
    /// Received, and not read by the program.
    pub receive_queue_bytes: u32,
}
