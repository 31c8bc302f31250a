//! Counts packets that are not TCP by protocol.

use std::collections::BTreeMap;

use tcplab_wire::{ENCRYPTED, FrameView, IpPacket, NOT_DATA, protocol};

use crate::OtherPackets;

/// The most protocols counted.
const KINDS: usize = 256;
/// The smallest EtherType; below, the field is a length.
const LEAST_TYPE: u32 = 0x600;

#[derive(Debug, Default)]
pub(crate) struct Others {
    kinds: BTreeMap<Kind, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// By `EtherType`, or by address family on loopback links.
    Link(u32),
    /// By protocol number.
    Ip(u8),
    /// By well-known port.
    Udp(u16),
    Unreadable,
    /// By its checksum.
    Damaged,
    /// Beyond [`KINDS`].
    Further,
}

impl Others {
    /// `view` is not of TCP, or its TCP header is damaged.
    #[cold]
    pub(crate) fn add(&mut self, view: &FrameView<'_>) {
        let kind = Others::kind(view);
        let room = self.kinds.len() < KINDS || self.kinds.contains_key(&kind);
        *self.kinds.entry(if room { kind } else { Kind::Further }).or_default() += 1;
    }

    /// A frame that was counted so is part of a packet of TCP.
    pub(super) fn take_back(&mut self, kind: Kind) {
        let counted = if self.kinds.contains_key(&kind) { kind } else { Kind::Further };
        if let Some(count) = self.kinds.get_mut(&counted) {
            *count -= 1;
            if *count == 0 {
                self.kinds.remove(&counted);
            }
        }
    }

    pub(super) fn kind(view: &FrameView<'_>) -> Kind {
        match (view, view.ip()) {
            // IEEE 802.3 section 3.2.6: below, it is a length.
            (FrameView::NotIp { protocol }, _) if *protocol < LEAST_TYPE => Kind::Link(0),
            (FrameView::NotIp { protocol }, _) => Kind::Link(*protocol),
            (FrameView::Tcp(_), _) => Kind::Unreadable,
            (_, Some(ip)) if ip.protocol() == protocol::UDP => Kind::Udp(known_port(ip)),
            (_, Some(ip)) => Kind::Ip(ip.protocol()),
            _ => Kind::Unreadable,
        }
    }

    /// A packet of TCP with a wrong checksum.
    #[cold]
    pub(crate) fn add_damaged(&mut self) {
        *self.kinds.entry(Kind::Damaged).or_default() += 1;
    }

    /// The most frequent first.
    pub(crate) fn into_list(self) -> Vec<OtherPackets> {
        let named = self.kinds.into_iter();
        let mut list: Vec<_> =
            named.map(|(kind, packets)| OtherPackets { protocol: kind.name(), packets }).collect();
        list.sort_by_key(|other| std::cmp::Reverse(other.packets));
        list
    }
}

/// Ports of UDP (IANA) behind which TCP may be hidden.
const CARRIERS: [(u16, &str); 6] = [
    (443, "QUIC"),
    (2152, "GTP-U"),
    (3544, "Teredo"),
    (4754, "GRE"),
    (4789, "VXLAN"),
    (6081, "Geneve"),
];

/// The port among [`CARRIERS`]; 0 if there is none.
fn known_port(ip: IpPacket<'_>) -> u16 {
    let Some(ports) = ip.payload().first_chunk::<4>() else { return 0 };
    if ip.fragment().offset > 0 {
        return 0;
    }
    let [from, to] = [[ports[0], ports[1]], [ports[2], ports[3]]].map(u16::from_be_bytes);
    let known = |port: &u16| CARRIERS.iter().any(|(known, _)| known == port);
    [to, from].into_iter().find(known).unwrap_or(0)
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::Link(number) => link_name(number),
            Kind::Ip(number) => ip_name(number),
            Kind::Udp(port) => match CARRIERS.iter().find(|(known, _)| *known == port) {
                Some((_, carried)) => format!("UDP ({carried}, port {port})"),
                None => "UDP".to_owned(),
            },
            Kind::Unreadable => "unreadable".to_owned(),
            Kind::Damaged => "damaged".to_owned(),
            Kind::Further => "other protocols".to_owned(),
        }
    }
}

/// IEEE 802 numbers.
fn link_name(number: u32) -> String {
    match number {
        0..LEAST_TYPE => "IEEE 802.3",
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x8847 => "MPLS",
        0x8863 => "PPPoE discovery",
        0x8864 => "PPPoE",
        0x888e => "EAPOL",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88f7 => "PTP",
        ENCRYPTED => "encrypted 802.11",
        NOT_DATA => "802.11 without data",
        other => return format!("EtherType {other:#06x}"),
    }
    .to_owned()
}

fn ip_name(number: u8) -> String {
    match number {
        protocol::ICMP => "ICMP",
        2 => "IGMP",
        4 => "IPv4 in IP",
        protocol::TCP => "TCP that cannot be read",
        41 => "IPv6 in IP",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        protocol::ICMPV6 => "ICMPv6",
        89 => "OSPF",
        132 => "SCTP",
        other => return format!("IP protocol {other}"),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use tcplab_wire::LinkType;

    use super::*;

    /// An IPv4 packet of 28 bytes behind an Ethernet header.
    fn frame(protocol: u8, ports: [u16; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, protocol, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(ports.into_iter().flat_map(u16::to_be_bytes));
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn others_protocols_bounded() {
        let mut others = Others::default();
        for kind in 0..=u16::MAX {
            let frame = [[0; 12].as_slice(), &kind.to_be_bytes(), &[0; 50]].concat();
            let view = FrameView::new(LinkType::Ethernet, &frame, frame.len() as u32);
            if view.ip().is_none() {
                others.add(&view);
            }
        }
        let list = others.into_list();
        assert!(list.len() <= KINDS + 1, "{}", list.len());
        assert_eq!(list[0].protocol, "other protocols");
        let lengths: Vec<_> = list.iter().filter(|one| one.protocol == "IEEE 802.3").collect();
        assert!(lengths.len() == 1 && lengths[0].packets > 1_000, "{lengths:?}");
    }

    #[test]
    fn others_counted_by_protocol() {
        let mut others = Others::default();
        let arp = [[0; 12].as_slice(), &[0x08, 0x06]].concat();
        let bpdu = [[0; 12].as_slice(), &[0x00, 0x26]].concat();
        let frames = [
            frame(17, [4000, 53]),
            frame(17, [53, 4000]),
            frame(17, [50_000, 4789]),
            frame(47, [0, 0]),
            frame(200, [0, 0]),
            arp.clone(),
            arp.clone(),
            arp,
            bpdu,
            vec![1, 2, 3],
        ];
        for frame in &frames {
            others.add(&FrameView::new(LinkType::Ethernet, frame, frame.len() as u32));
        }
        let list = others.into_list();
        let outcome: Vec<_> = list.iter().map(|o| (o.packets, o.protocol.as_str())).collect();
        assert_eq!(
            outcome,
            [
                (3, "ARP"),
                (2, "UDP"),
                (1, "IEEE 802.3"),
                (1, "GRE"),
                (1, "IP protocol 200"),
                (1, "UDP (VXLAN, port 4789)"),
                (1, "unreadable"),
            ]
        );
    }
}
