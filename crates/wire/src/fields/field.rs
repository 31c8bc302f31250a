//! A field of a packet, and what its numbers are relative to.

use std::fmt::{self, Write};

use crate::SeqNumber;

/// A field of a captured packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The header or option that it is of.
    pub layer: FieldLayer,
    /// Its name in the RFCs, in lower case; flags have theirs (`SYN`).
    pub name: &'static str,
    /// Where it begins, bytes from the first of the frame. Fields smaller than a byte share bytes.
    pub offset: usize,
    /// Bytes of it that were captured; none for a field of which nothing was.
    pub length: usize,
    /// Its value as sent.
    pub value: String,
    /// What the value means, if it does not speak for itself.
    pub meaning: String,
}

/// The part of a packet that a field is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FieldLayer {
    /// Ethernet, its tags, or what stands in its place.
    Link,
    /// The header of IPv4.
    Ipv4,
    /// The header of IPv6 and its extension headers.
    Ipv6,
    /// The headers of a tunnel.
    Tunnel,
    /// The header of TCP.
    Tcp,
    /// Options of TCP.
    TcpOption,
    /// The header of UDP.
    Udp,
    /// An ICMP message.
    Icmp,
    /// What the headers announce.
    Payload,
    /// Bytes behind the packet: padding to the least length of a frame, or a trailer.
    Padding,
}

impl FieldLayer {
    /// All of them, from the outermost.
    pub const ALL: [FieldLayer; 10] = [
        FieldLayer::Link,
        FieldLayer::Ipv4,
        FieldLayer::Ipv6,
        FieldLayer::Tunnel,
        FieldLayer::Tcp,
        FieldLayer::TcpOption,
        FieldLayer::Udp,
        FieldLayer::Icmp,
        FieldLayer::Payload,
        FieldLayer::Padding,
    ];

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            FieldLayer::Link => "link header",
            FieldLayer::Ipv4 => "IPv4 header",
            FieldLayer::Ipv6 => "IPv6 header",
            FieldLayer::Tunnel => "tunnel",
            FieldLayer::Tcp => "TCP header",
            FieldLayer::TcpOption => "TCP options",
            FieldLayer::Udp => "UDP header",
            FieldLayer::Icmp => "ICMP",
            FieldLayer::Payload => "payload",
            FieldLayer::Padding => "padding",
        }
    }
    /// Its name for programs and style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            FieldLayer::Link => "link",
            FieldLayer::Ipv4 => "ipv4",
            FieldLayer::Ipv6 => "ipv6",
            FieldLayer::Tunnel => "tunnel",
            FieldLayer::Tcp => "tcp",
            FieldLayer::TcpOption => "tcp-option",
            FieldLayer::Udp => "udp",
            FieldLayer::Icmp => "icmp",
            FieldLayer::Payload => "payload",
            FieldLayer::Padding => "padding",
        }
    }
}

impl fmt::Display for FieldLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// What the packets before this one say of it. By default nothing is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbering {
    /// The initial sequence number of the sender.
    pub seq: Option<SeqNumber>,
    /// That of the receiver, whose bytes are acknowledged.
    pub ack: Option<SeqNumber>,
    /// The shift of the sender's windows.
    pub window_shift: Option<u8>,
}

/// Two hexadecimal digits for each byte, without separators.
pub fn hex_digits(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// A value and its meaning.
pub(super) struct Said {
    pub(super) value: String,
    pub(super) meaning: String,
}

impl Said {
    #[expect(clippy::needless_pass_by_value, reason = "most are numbers")]
    pub(super) fn value(value: impl ToString) -> Said {
        Said { value: value.to_string(), meaning: String::new() }
    }
    pub(super) fn hex16(value: u16) -> Said {
        Said::value(format!("{value:#06x}"))
    }
    pub(super) fn bit(is_set: bool) -> Said {
        Said::value(u8::from(is_set))
    }
    /// Bytes without separators, at most so many that a line shows them.
    pub(super) fn bytes(bytes: &[u8]) -> Said {
        const MOST: usize = 40;
        let mut value = hex_digits(&bytes[..bytes.len().min(MOST)]);
        if bytes.len() > MOST {
            value.push('…');
        }
        Said::value(value)
    }
    pub(super) fn meaning(self, meaning: impl Into<String>) -> Said {
        Said { meaning: meaning.into(), ..self }
    }
}

/// A sequence number and its distance from the initial one.
pub(super) fn relative(number: u32, initial: Option<SeqNumber>) -> Said {
    let said = Said::value(number);
    let Some(initial) = initial else { return said };
    // Keep-alive probes and what is older than the capture lie before the first byte.
    let distance = SeqNumber::new(number).distance_from(initial);
    let distance = if distance < -0x10_0000 {
        i64::from(number.wrapping_sub(initial.as_u32()))
    } else {
        i64::from(distance)
    };
    said.meaning(format!("relative {distance}"))
}
