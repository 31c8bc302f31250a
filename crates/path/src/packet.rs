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
    /// Empty where the world keeps the bytes to itself.
    pub bytes: Vec<u8>,
    /// The size of a packet whose bytes stayed behind.
    stands_for: Option<Bytes>,
}

impl Packet {
    /// The packet `id` with the given bytes.
    pub fn new(id: u64, bytes: Vec<u8>) -> Packet {
        Packet { id, bytes, stands_for: None }
    }

    /// A packet of which only the size is known: cross traffic, and packets whose bytes stay with
    /// the world, for links that only ask how large they are
    /// ([`LinkPlan::reads_packets`](crate::LinkPlan::reads_packets)). Verdicts are those that the
    /// packet itself would get.
    pub fn of_size(id: u64, size: Bytes) -> Packet {
        Packet { id, bytes: Vec::new(), stands_for: Some(size) }
    }

    /// Its length on the link: every rate and every limit in bytes counts this.
    pub fn size(&self) -> Bytes {
        self.stands_for.unwrap_or_else(|| Bytes::from(self.bytes.len()))
    }
}
