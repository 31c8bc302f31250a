//! What kernels leave to the network card, done in software: cutting super-packets and completing
//! checksums, so that captures and link models see what a wire would carry.

mod checksum;
mod cut;
mod layout;
mod merge;
mod vnet_header;

#[cfg(test)]
mod tests;

pub use checksum::complete_checksum;
pub use cut::Cutter;
pub use layout::Layout;
pub use merge::{Merge, Piece};
pub use vnet_header::{GsoType, VnetHeader};

use crate::Anomaly;

/// Why a packet could not be turned into what a wire would carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OffloadError {
    /// A packet to be cut holds no TCP segment with a readable header.
    #[error("a packet of {len} bytes is to be cut, but it is not a TCP segment")]
    NotTcp {
        /// Length of the packet in bytes.
        len: usize,
    },
    /// A packet to be cut is malformed.
    #[error("a packet is to be cut, but {0}")]
    Malformed(Anomaly),
    /// A packet to be cut is a fragment.
    #[error("a packet is to be cut, but it is a fragment of another")]
    Fragment,
    /// The pieces are too long for the IP header's length field.
    #[error("a packet is to be cut into pieces of {len} bytes, more than IP allows")]
    TooLong {
        /// Length of a piece in bytes.
        len: usize,
    },
    /// The header asks for another kind of cutting than that of TCP segments.
    #[error("offload type {0:?} is not one that tcplab asks kernels for")]
    NotTcpOffload(GsoType),
    /// The checksum to be completed is said to lie outside the packet.
    #[error("a checksum at byte {start} + {offset} lies outside a packet of {len} bytes")]
    ChecksumOutside {
        /// Where the sum begins.
        start: u16,
        /// Where, from there, it is stored.
        offset: u16,
        /// Length of the packet in bytes.
        len: usize,
    },
}
