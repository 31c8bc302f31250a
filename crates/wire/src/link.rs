//! Link headers.

use crate::Anomaly;
use crate::anomaly::Layer;
use crate::ip::cut_or_short;

/// The link type of a capture, as numbered for capture files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing host.
    Null,
    /// Ethernet, with any number of VLAN tags, a PPPoE session, or MPLS labels.
    Ethernet,
    /// An IP packet without any link header; the version is seen from its first byte.
    RawIp,
    /// OpenBSD loopback: four bytes of address family in network byte order.
    Loop,
    /// Linux "any" device, first form: 16 bytes.
    LinuxSll,
    /// An IPv4 packet without any link header.
    Ipv4,
    /// An IPv6 packet without any link header.
    Ipv6,
    /// Linux "any" device, second form: 20 bytes.
    LinuxSll2,
    /// Any other, by its number.
    Other(u16),
}

impl LinkType {
    /// The kind that capture files write as `number`.
    pub const fn from_number(number: u16) -> LinkType {
        match number {
            0 => LinkType::Null,
            1 => LinkType::Ethernet,
            // 12 and 14 are what BSDs wrote before 101 was agreed on.
            12 | 14 | 101 => LinkType::RawIp,
            108 => LinkType::Loop,
            113 => LinkType::LinuxSll,
            228 => LinkType::Ipv4,
            229 => LinkType::Ipv6,
            276 => LinkType::LinuxSll2,
            other => LinkType::Other(other),
        }
    }
    /// The number that capture files write.
    pub const fn number(self) -> u16 {
        match self {
            LinkType::Null => 0,
            LinkType::Ethernet => 1,
            LinkType::RawIp => 101,
            LinkType::Loop => 108,
            LinkType::LinuxSll => 113,
            LinkType::Ipv4 => 228,
            LinkType::Ipv6 => 229,
            LinkType::LinuxSll2 => 276,
            LinkType::Other(number) => number,
        }
    }

    /// Looks behind the link header of a frame of which `bytes` were kept and `wire_len` sent.
    pub(crate) fn open(self, bytes: &[u8], wire_len: u32) -> Result<Carried, Anomaly> {
        let need = |n: usize| {
            let cut = cut_or_short(Layer::Link, bytes.len(), wire_len, n);
            if bytes.len() < n { Err(cut) } else { Ok(()) }
        };
        match self {
            LinkType::RawIp => Ok(Carried::Ip { at: 0, version: None }),
            LinkType::Ipv4 => Ok(Carried::Ip { at: 0, version: Some(4) }),
            LinkType::Ipv6 => Ok(Carried::Ip { at: 0, version: Some(6) }),
            LinkType::Null | LinkType::Loop => {
                need(4)?;
                Ok(of_family(self, [bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
            LinkType::Ethernet => {
                need(14)?;
                behind_tags(bytes, wire_len, 12, 14)
            }
            LinkType::LinuxSll => {
                need(16)?;
                behind_tags(bytes, wire_len, 14, 16)
            }
            LinkType::LinuxSll2 => {
                need(20)?;
                behind_tags(bytes, wire_len, 0, 20)
            }
            LinkType::Other(number) => Err(Anomaly::UnknownLinkType(number)),
        }
    }
}

/// What a link header says it carries.
pub(crate) enum Carried {
    /// An IP packet, beginning `at` bytes into the frame; of this version, if the header says.
    Ip { at: usize, version: Option<u8> },
    /// Something else: its `EtherType`, or address family on loopback links.
    Other { protocol: u32 },
}

/// IEEE 802.1Q, 802.1ad, and the number that vendors used for stacked tags before 802.1ad.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const PPPOE_SESSION: u16 = 0x8864;
const MPLS_UNICAST: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;

/// Reads the `EtherType` at `type_at` and, while it announces a VLAN tag, the one behind the tag.
fn behind_tags(
    bytes: &[u8],
    wire_len: u32,
    mut type_at: usize,
    mut payload_at: usize,
) -> Result<Carried, Anomaly> {
    loop {
        let ether_type = u16::from_be_bytes([bytes[type_at], bytes[type_at + 1]]);
        match ether_type {
            0x0800 => return Ok(Carried::Ip { at: payload_at, version: Some(4) }),
            0x86dd => return Ok(Carried::Ip { at: payload_at, version: Some(6) }),
            tag if TAGS.contains(&tag) => {
                type_at = payload_at + 2;
                payload_at += 4;
                if bytes.len() < payload_at {
                    return Err(cut_or_short(Layer::Link, bytes.len(), wire_len, payload_at));
                }
            }
            PPPOE_SESSION => return behind_pppoe(bytes, wire_len, payload_at),
            MPLS_UNICAST | MPLS_MULTICAST => return behind_labels(bytes, wire_len, payload_at),
            other => return Ok(Carried::Other { protocol: u32::from(other) }),
        }
    }
}

/// RFC 2516 section 4: six bytes, then PPP's protocol number (RFC 1661 section 2).
fn behind_pppoe(bytes: &[u8], wire_len: u32, at: usize) -> Result<Carried, Anomaly> {
    let payload_at = at + 8;
    if bytes.len() < payload_at {
        return Err(cut_or_short(Layer::Link, bytes.len(), wire_len, payload_at));
    }
    Ok(match u16::from_be_bytes([bytes[at + 6], bytes[at + 7]]) {
        0x0021 => Carried::Ip { at: payload_at, version: Some(4) },
        0x0057 => Carried::Ip { at: payload_at, version: Some(6) },
        _ => Carried::Other { protocol: u32::from(PPPOE_SESSION) },
    })
}

/// RFC 3032 section 2.1: four bytes a label, the last one marked; then IP, by its version.
fn behind_labels(bytes: &[u8], wire_len: u32, mut at: usize) -> Result<Carried, Anomaly> {
    loop {
        let Some(label) = bytes.get(at..at + 4) else {
            return Err(cut_or_short(Layer::Link, bytes.len(), wire_len, at + 4));
        };
        at += 4;
        if label[2] & 1 == 0 {
            continue;
        }
        return Ok(match bytes.get(at).map(|first| first >> 4) {
            Some(version @ (4 | 6)) => Carried::Ip { at, version: Some(version) },
            _ => Carried::Other { protocol: u32::from(MPLS_UNICAST) },
        });
    }
}

/// `AF_INET` is 2; `AF_INET6` 10 on Linux, 24 on NetBSD, OpenBSD, 28 on FreeBSD, 30 on Darwin.
fn of_family(link: LinkType, field: [u8; 4]) -> Carried {
    let big = u32::from_be_bytes(field);
    // The host that captured is not known; families are small numbers, so the order shows.
    let family = match link {
        LinkType::Null if big > 0xffff => u32::from_le_bytes(field),
        _ => big,
    };
    match family {
        2 => Carried::Ip { at: 4, version: Some(4) },
        10 | 24 | 28 | 30 => Carried::Ip { at: 4, version: Some(6) },
        protocol => Carried::Other { protocol },
    }
}
