//! Fields of link headers.

use super::cursor::Cursor;
use super::field::Said;
use crate::LinkType;
use crate::link::TAGS;

/// The most VLAN tags that are named.
const MOST_TAGS: usize = 8;

/// The fields of the link header, as far as this kind of link is known by them.
pub(super) fn link_header(cursor: &mut Cursor<'_>, link: LinkType) -> Option<()> {
    match link {
        LinkType::Ethernet => ethernet(cursor),
        LinkType::LinuxSll => {
            cursor.word("packet type", |kind| Said::value(kind).meaning(packet_type(kind)))?;
            cursor.word("hardware type", |kind| Said::value(kind).meaning(hardware(kind)))?;
            let length = cursor.word("address length", Said::value)?;
            cursor.take::<8>("source address", |bytes| {
                address(&bytes[..bytes.len().min(length.into())])
            })?;
            cursor.word("protocol", ether_type).map(drop)
        }
        LinkType::LinuxSll2 => {
            cursor.word("protocol", ether_type)?;
            cursor.word("reserved", Said::hex16)?;
            cursor.double_word("interface index", Said::value)?;
            cursor.word("hardware type", |kind| Said::value(kind).meaning(hardware(kind)))?;
            cursor.take::<1>("packet type", |[kind]| {
                Said::value(kind).meaning(packet_type(kind.into()))
            })?;
            let [length] = cursor.take::<1>("address length", |[length]| Said::value(length))?;
            cursor
                .take::<8>("source address", |bytes| {
                    address(&bytes[..bytes.len().min(length.into())])
                })
                .map(drop)
        }
        LinkType::Null | LinkType::Loop => {
            cursor.take::<4>("address family", |bytes| Said::bytes(&bytes)).map(drop)
        }
        _ => None,
    }
}

/// Addresses, VLAN tags and the type (IEEE 802.3 section 3, IEEE 802.1Q section 9).
pub(super) fn ethernet(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.take::<6>("destination", |bytes| address(&bytes).meaning(group(bytes)))?;
    cursor.take::<6>("source", |bytes| address(&bytes))?;
    let mut kind = cursor.word("type", ether_type)?;
    for _ in 0..MOST_TAGS {
        if !TAGS.contains(&kind) {
            break;
        }
        cursor.word("VLAN tag", |tag| {
            let drops = if tag & 0x1000 != 0 { ", drop eligible" } else { "" };
            Said::hex16(tag).meaning(format!("VLAN {}, priority {}{drops}", tag & 0xfff, tag >> 13))
        })?;
        kind = cursor.word("type", ether_type)?;
    }
    Some(())
}

fn address(bytes: &[u8]) -> Said {
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Said::value(parts.join(":"))
}

fn group(address: [u8; 6]) -> &'static str {
    match address[0] & 1 {
        _ if address == [0xff; 6] => "broadcast",
        1 => "multicast",
        _ => "",
    }
}

pub(super) fn ether_type(kind: u16) -> Said {
    Said::hex16(kind).meaning(match kind {
        0x0800 => "IPv4".to_owned(),
        0x0806 => "ARP".to_owned(),
        0x86dd => "IPv6".to_owned(),
        0x8100 => "VLAN tag (802.1Q)".to_owned(),
        0x88a8 | 0x9100 => "service VLAN tag (802.1ad)".to_owned(),
        0x8847 | 0x8848 => "MPLS".to_owned(),
        0x8863 | 0x8864 => "PPPoE".to_owned(),
        0x88cc => "LLDP".to_owned(),
        length if length < 0x600 => format!("length {length} (IEEE 802.3)"),
        _ => String::new(),
    })
}

/// `PACKET_HOST` and those that follow (`if_packet.h`).
fn packet_type(kind: u16) -> &'static str {
    match kind {
        0 => "to this host",
        1 => "broadcast",
        2 => "multicast",
        3 => "to another host",
        4 => "sent by this host",
        _ => "",
    }
}

/// `ARPHRD_*` (`if_arp.h`).
fn hardware(kind: u16) -> &'static str {
    match kind {
        1 => "Ethernet",
        512 => "PPP",
        772 => "loopback",
        65_534 => "none",
        _ => "",
    }
}
