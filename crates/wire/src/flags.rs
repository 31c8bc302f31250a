//! The control bits of a TCP header.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The nine control bits (RFC 9293 section 3.1; AE: RFC 9768), written as tcpdump does: `[P.]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TcpFlags(u16);

impl TcpFlags {
    /// No bit set.
    pub const NONE: TcpFlags = TcpFlags(0);
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(0x002);
    /// Reset the connection.
    pub const RST: TcpFlags = TcpFlags(0x004);
    /// Push: hand over to the reader without waiting for more.
    pub const PSH: TcpFlags = TcpFlags(0x008);
    /// The acknowledgement number counts.
    pub const ACK: TcpFlags = TcpFlags(0x010);
    /// The urgent pointer counts.
    pub const URG: TcpFlags = TcpFlags(0x020);
    /// ECN echo.
    pub const ECE: TcpFlags = TcpFlags(0x040);
    /// Congestion window reduced.
    pub const CWR: TcpFlags = TcpFlags(0x080);
    /// Accurate ECN; older texts call the bit NS.
    pub const AE: TcpFlags = TcpFlags(0x100);

    /// The flags in the low nine bits, from bytes 13 and 14 of the header; others are dropped.
    pub const fn from_bits(bits: u16) -> TcpFlags {
        TcpFlags(bits & 0x1ff)
    }
    /// As the low nine bits of the header's 13th and 14th byte.
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0
    }
    /// Whether all of `others` are set.
    #[inline]
    pub const fn contains(self, others: TcpFlags) -> bool {
        self.0 & others.0 == others.0
    }
    /// These without `others`.
    #[must_use]
    pub const fn without(self, others: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 & !others.0)
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;
    fn bitor(self, others: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | others.0)
    }
}
impl BitOrAssign for TcpFlags {
    fn bitor_assign(&mut self, others: TcpFlags) {
        self.0 |= others.0;
    }
}

/// Letters and order of tcpdump.
const LETTERS: [(TcpFlags, char); 9] = [
    (TcpFlags::FIN, 'F'),
    (TcpFlags::SYN, 'S'),
    (TcpFlags::RST, 'R'),
    (TcpFlags::PSH, 'P'),
    (TcpFlags::ACK, '.'),
    (TcpFlags::URG, 'U'),
    (TcpFlags::ECE, 'E'),
    (TcpFlags::CWR, 'W'),
    (TcpFlags::AE, 'e'),
];

impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == TcpFlags::NONE {
            return f.write_str("[none]");
        }
        let set = LETTERS.iter().filter(|(flag, _)| self.contains(*flag));
        write!(f, "[{}]", set.map(|(_, letter)| letter).collect::<String>())
    }
}
impl fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_tcpdump_prints() {
        for (flags, written) in [
            (TcpFlags::NONE, "[none]"),
            (TcpFlags::SYN, "[S]"),
            (TcpFlags::SYN | TcpFlags::ACK, "[S.]"),
            (TcpFlags::ACK | TcpFlags::PSH, "[P.]"),
            (TcpFlags::ACK | TcpFlags::FIN | TcpFlags::PSH, "[FP.]"),
            (TcpFlags::RST, "[R]"),
            (TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR | TcpFlags::AE, "[SEWe]"),
            (TcpFlags::from_bits(0xffff), "[FSRP.UEWe]"),
        ] {
            assert_eq!(flags.to_string(), written);
        }
    }
}
