//! What comes out of a guest.

use tcplab_wire::offload::VnetHeader;

/// What a guest has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// An IP packet or super-packet, with what was left undone on it.
    Packet(VnetHeader, Vec<u8>),
    /// A message of its first program.
    Message(Vec<u8>),
    /// The state of a socket: of which watch of its first program, and a `struct tcp_info`.
    State(u64, Vec<u8>),
}
