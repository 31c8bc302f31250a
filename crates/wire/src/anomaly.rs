//! What can be wrong with a packet.

use std::fmt;

/// What was wrong with a frame, or with what a capture kept of it. An anomaly is something that
/// was observed; it is counted and shown like any other event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Anomaly {
    /// The capture is of a kind of link that is not understood: its number.
    UnknownLinkType(u16),
    /// The capture kept too little of the frame to see all of a header (a short snap length).
    Cut {
        /// The header that was cut.
        layer: Layer,
        /// Bytes of it that were kept.
        kept: u32,
        /// Bytes of it that are needed.
        needed: u32,
    },
    /// What was sent ends before a header of it does.
    TooShort {
        /// The header that is not whole.
        layer: Layer,
        /// Bytes that were sent.
        len: u32,
        /// Bytes that the header needs.
        needed: u32,
    },
    /// An IP version other than 4 and 6, or than the link header announced.
    IpVersion(u8),
    /// The IPv4 header claims to be this many bytes long; 20 is the least.
    IpHeaderLength(u8),
    /// The IP header claims more bytes than the frame has.
    IpBeyondFrame {
        /// Length of the packet by its IP header.
        claimed: u32,
        /// Bytes that the frame has for it.
        available: u32,
    },
    /// The TCP header claims a length below 20 bytes, or beyond the end of the segment.
    TcpDataOffset {
        /// Bytes of header as claimed.
        claimed: u8,
        /// Bytes of the whole segment.
        segment: u32,
    },
}

/// A header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Ethernet, its VLAN tags, or what stands in its place.
    Link,
    /// IPv4 or IPv6, with options and extension headers.
    Ip,
    /// TCP, without its options.
    Tcp,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Anomaly::UnknownLinkType(number) => write!(f, "link type {number} is not understood"),
            Anomaly::Cut { layer, kept, needed } => {
                write!(f, "the capture kept {kept} of the {needed} bytes of the {layer} header")
            }
            Anomaly::TooShort { layer, len, needed } => {
                write!(f, "{len} bytes are too short for the {needed} of the {layer} header")
            }
            Anomaly::IpVersion(version) => write!(f, "unexpected IP version {version}"),
            Anomaly::IpHeaderLength(claimed) => {
                write!(f, "the IP header claims {claimed} bytes, below the least of 20")
            }
            Anomaly::IpBeyondFrame { claimed, available } => {
                write!(f, "the IP packet claims {claimed} bytes of which the frame has {available}")
            }
            Anomaly::TcpDataOffset { claimed, segment } => {
                write!(f, "the TCP header claims {claimed} bytes in a segment of {segment}")
            }
        }
    }
}
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Link => "link",
            Layer::Ip => "IP",
            Layer::Tcp => "TCP",
        })
    }
}
