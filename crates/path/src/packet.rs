//! What travels on a link.

use tcplab_units::Bytes;

/// One IP packet, as long as it is on the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Given by the world, unique in a trial, below
    /// [`FIRST_MADE_ID`](crate::FIRST_MADE_ID). Numbers from there on belong to packets that a
    /// link makes itself.
    pub id: u64,
    /// The packet from the first byte of its IP header to its last; without link-layer framing.
    pub bytes: Vec<u8>,
    size: Bytes,
}

impl Packet {
    /// The packet `id` with the given bytes.
    pub fn new(id: u64, bytes: Vec<u8>) -> Packet {
        Packet { id, size: Bytes::from(bytes.len()), bytes }
    }
    /// A packet of which only the size is known: cross traffic, and packets whose bytes stay with
    /// the world. Elements that look into packets see none of what they look for.
    pub fn of_size(id: u64, size: Bytes) -> Packet {
        Packet { id, bytes: Vec::new(), size }
    }
    /// Its length on the link: every rate and every limit in bytes counts this.
    pub fn size(&self) -> Bytes {
        self.size
    }
}
