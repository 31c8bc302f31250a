//! The shapes of packets: Ethernet, IPv4, IPv6, TCP and UDP.
//!
//! **Views** ([`FrameView`], [`IpPacket`], [`TcpPacket`]) are total: they show truncated and
//! malformed frames, too; an [`Anomaly`] is a value, never an error or panic. **Representations**
//! ([`IpRepr`], [`TcpRepr`], [`UdpRepr`], [`TooBigRepr`]) build only legal packets, with lengths
//! and checksums.
//!
//! [`fields`] lists every field of a frame with its place and value, for people who look at bytes.
//!
//! [`offload`] turns what a kernel hands over when it leaves work to the network card
//! (super-packets, half-made checksums) into the packets a wire would carry.

mod acc_ecn;
mod anomaly;
pub mod checksum;
mod cookie;
mod fields;
mod flags;
mod frame;
mod icmp;
mod ip;
mod link;
pub mod offload;
mod options;
mod repr;
mod sequence;
mod tcp;
mod tunnel;
mod udp;
mod wifi;

#[cfg(test)]
mod tests;

pub use acc_ecn::AccEcnOption;
pub use anomaly::{Anomaly, Layer};
pub use cookie::Cookie;
pub use fields::{Field, FieldLayer, Numbering, fields, hex_digits};
pub use flags::TcpFlags;
pub use frame::FrameView;
pub use icmp::{
    PortUnreachableRepr, QuotedSegment, TooBigRepr, is_damaged_too_big, port_unreachable, too_big,
};
pub use ip::{Ecn, Fragment, IpPacket, protocol};
pub use link::{ENCRYPTED, LinkType, NOT_DATA};
pub use options::{SackBlock, SackBlocks, TcpOption, TcpOptions};
pub use repr::{IpRepr, Ipv4Repr, Ipv6Repr, OptionLayout, TcpRepr};
pub use sequence::{SeqNumber, SeqUnwrapper};
pub use tcp::{ChecksumState, TcpPacket};
pub use udp::{UdpPacket, UdpRepr};
