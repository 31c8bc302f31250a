//! What stands before the IP header.

use crate::Anomaly;
use crate::anomaly::Layer;
use crate::ip::cut_or_short;

/// The kind of link that frames were captured from, as the registry of the capture formats
/// numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing host.
    Null,
    /// Ethernet, with tags (802.1Q, 802.1ad, 802.1ah), SNAP, a PPPoE session, or MPLS labels.
    Ethernet,
    /// Token Ring (IEEE 802.5).
    TokenRing,
    /// ARCNET.
    Arcnet,
    /// ARCNET as Linux shows it, with the offset in its buffer.
    LinuxArcnet,
    /// PPP, with or without the HDLC address.
    Ppp,
    /// FDDI.
    Fddi,
    /// PPP or Cisco HDLC in HDLC-like framing.
    PppHdlc,
    /// PPP behind a byte that says which way.
    PppDirected,
    /// PPPoE: the session header, without Ethernet.
    Pppoe,
    /// An IP packet without any link header; the version is seen from its first byte.
    RawIp,
    /// Cisco HDLC.
    CiscoHdlc,
    /// ATM whose cells are put together: LLC (RFC 2684), or PPP behind it (RFC 2364).
    Atm,
    /// IP over IEEE 1394 (FireWire), as Darwin shows it.
    Firewire,
    /// Any link behind a header of Endace's cards (ERF).
    Erf,
    /// 802.11; data in clear text only.
    Wifi,
    /// OpenBSD loopback: four bytes of address family in network byte order.
    Loop,
    /// Linux "any" device, first form: 16 bytes.
    LinuxSll,
    /// 802.11 behind a radiotap header.
    Radiotap,
    /// An IPv4 packet without any link header.
    Ipv4,
    /// An IPv6 packet without any link header.
    Ipv6,
    /// Ethernet behind what Juniper's routers say of the packet.
    JuniperEthernet,
    /// Linux netfilter's log: attributes, one of them the packet.
    Nflog,
    /// IP over InfiniBand.
    Infiniband,
    /// Linux "any" device, second form: 20 bytes.
    LinuxSll2,
    /// Frame relay (RFC 2427, or Cisco's encapsulation).
    FrameRelay,
    /// OpenBSD's enc device: packets inside IPsec.
    Enc,
    /// The log of BSD's packet filter.
    Pflog,
    /// 802.11 behind a header of Prism, or of AVS: each says which it is.
    Prism,
    /// The same under AVS's number.
    Avs,
    /// Any link behind per-packet information (PPI).
    Ppi,
    /// Any link behind Darwin's per-process header.
    Pktap,
    /// Any other, by its number.
    Other(u16),
}

impl LinkType {
    /// The kind that capture files write as `number`.
    pub const fn from_number(number: u16) -> LinkType {
        match number {
            0 => LinkType::Null,
            1 => LinkType::Ethernet,
            6 => LinkType::TokenRing,
            7 => LinkType::Arcnet,
            9 => LinkType::Ppp,
            10 => LinkType::Fddi,
            50 => LinkType::PppHdlc,
            51 => LinkType::Pppoe,
            // 12 and 14 are what BSDs wrote before 101 was agreed on.
            12 | 14 | 101 => LinkType::RawIp,
            100 => LinkType::Atm,
            104 => LinkType::CiscoHdlc,
            105 => LinkType::Wifi,
            108 => LinkType::Loop,
            113 => LinkType::LinuxSll,
            127 => LinkType::Radiotap,
            129 => LinkType::LinuxArcnet,
            138 => LinkType::Firewire,
            178 => LinkType::JuniperEthernet,
            197 => LinkType::Erf,
            204 => LinkType::PppDirected,
            228 => LinkType::Ipv4,
            229 => LinkType::Ipv6,
            239 => LinkType::Nflog,
            242 => LinkType::Infiniband,
            276 => LinkType::LinuxSll2,
            107 => LinkType::FrameRelay,
            109 => LinkType::Enc,
            117 => LinkType::Pflog,
            119 => LinkType::Prism,
            163 => LinkType::Avs,
            192 => LinkType::Ppi,
            258 => LinkType::Pktap,
            other => LinkType::Other(other),
        }
    }
    /// The number that capture files write.
    pub const fn number(self) -> u16 {
        match self {
            LinkType::Null => 0,
            LinkType::Ethernet => 1,
            LinkType::TokenRing => 6,
            LinkType::Arcnet => 7,
            LinkType::Ppp => 9,
            LinkType::Fddi => 10,
            LinkType::PppHdlc => 50,
            LinkType::Pppoe => 51,
            LinkType::RawIp => 101,
            LinkType::Atm => 100,
            LinkType::CiscoHdlc => 104,
            LinkType::Wifi => 105,
            LinkType::Loop => 108,
            LinkType::LinuxSll => 113,
            LinkType::Radiotap => 127,
            LinkType::LinuxArcnet => 129,
            LinkType::Firewire => 138,
            LinkType::JuniperEthernet => 178,
            LinkType::Erf => 197,
            LinkType::PppDirected => 204,
            LinkType::Ipv4 => 228,
            LinkType::Ipv6 => 229,
            LinkType::Nflog => 239,
            LinkType::Infiniband => 242,
            LinkType::LinuxSll2 => 276,
            LinkType::FrameRelay => 107,
            LinkType::Enc => 109,
            LinkType::Pflog => 117,
            LinkType::Prism => 119,
            LinkType::Avs => 163,
            LinkType::Ppi => 192,
            LinkType::Pktap => 258,
            LinkType::Other(number) => number,
        }
    }

    /// Looks behind the link header of a frame of which `bytes` were kept and `wire_len` sent.
    pub(crate) fn open(self, bytes: &[u8], wire_len: u32) -> Result<Carried, Anomaly> {
        let mut headers = Headers { bytes, wire_len, at: 0 };
        let link = self.innermost(&mut headers)?;
        headers.link(link)
    }

    /// The link behind a header that names one.
    pub(crate) fn innermost(self, headers: &mut Headers<'_>) -> Result<LinkType, Anomaly> {
        let inner = match self {
            // Version, flags, length, and the number of the link behind it, little-endian.
            LinkType::Ppi => {
                let [_, _, l0, l1, number @ ..] = headers.take::<8>()?;
                headers.at = usize::from(u16::from_le_bytes([l0, l1])).max(headers.at);
                u32::from_le_bytes(number)
            }
            // Length, kind and the number of the link behind it, in the order of the host.
            LinkType::Pktap => {
                let words = headers.take::<12>()?;
                let [length, _, number] =
                    [0, 4, 8].map(|at| u32::from_le_bytes(crate::ip::array(&words, at)));
                headers.at = (length as usize).max(headers.at);
                number
            }
            link => return Ok(link),
        };
        let link = u16::try_from(inner).map_or(LinkType::Other(u16::MAX), LinkType::from_number);
        // One such header behind another may go on for ever.
        if matches!(link, LinkType::Ppi | LinkType::Pktap) {
            return Err(Anomaly::UnknownLinkType(link.number()));
        }
        Ok(link)
    }
}

/// What a link header says it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried {
    /// An IP packet, beginning `at` bytes into the frame; of this version, if the header says.
    Ip { at: usize, version: Option<u8> },
    /// Something else: its `EtherType`, or address family on loopback links, or [`ENCRYPTED`] or
    /// [`NOT_DATA`].
    Other { protocol: u32 },
}

/// Stands for the protocol of an 802.11 frame whose data are encrypted; no `EtherType` is so large.
pub const ENCRYPTED: u32 = 0x1_0000;
/// The same of one that has no data: management, control.
pub const NOT_DATA: u32 = 0x1_0001;

/// The smallest `EtherType`; below, the field is a length (IEEE 802.3 section 3.2.6).
const LEAST_TYPE: u16 = 0x600;
/// IEEE 802.1Q, 802.1ad, and the number that vendors used for stacked tags before 802.1ad.
pub(crate) const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// IEEE 802.1ah: the service tag, then the Ethernet header of the customer.
const BACKBONE: u16 = 0x88e7;
/// IEEE 802.1BR: six bytes, and a type.
const PORT_TAG: u16 = 0x893f;
/// Cisco's VN-tag: four bytes, and a type.
const VN_TAG: u16 = 0x8926;
/// High-availability seamless redundancy (IEC 62439-3): length, sequence number, and a type.
const REDUNDANT: u16 = 0x892f;
/// Cisco's metadata: version, length, an option with the security group, and a type.
const GROUP_TAG: u16 = 0x8909;
/// Cisco FabricPath: two bytes, then the Ethernet header inside.
const FABRIC_PATH: u16 = 0x8903;
/// Ethernet inside (GRE, Geneve: transparent Ethernet bridging).
const ETHERNET: u16 = 0x6558;
const PPPOE_SESSION: u16 = 0x8864;
pub(crate) const MPLS_UNICAST: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;

/// The headers of a frame, read one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headers<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) wire_len: u32,
    /// Where the next one begins.
    pub(crate) at: usize,
}

impl Headers<'_> {
    /// The next `N` bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Anomaly> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        let end = self.at + N;
        let short = || cut_or_short(Layer::Link, self.bytes.len(), self.wire_len, end);
        let taken = *taken.ok_or_else(short)?;
        self.at = end;
        Ok(taken)
    }

    /// What is behind the header of this link.
    fn link(&mut self, link: LinkType) -> Result<Carried, Anomaly> {
        match link {
            LinkType::RawIp => Ok(self.ip(None)),
            LinkType::Ipv4 => Ok(self.ip(Some(4))),
            LinkType::Ipv6 => Ok(self.ip(Some(6))),
            LinkType::Null | LinkType::Loop => {
                let family = self.take()?;
                Ok(self.of_family(link, family))
            }
            LinkType::Ethernet => self.ethernet(),
            LinkType::LinuxSll => {
                let [.., high, low] = self.take::<16>()?;
                self.typed(u16::from_be_bytes([high, low]))
            }
            LinkType::LinuxSll2 => {
                let [high, low, ..] = self.take::<20>()?;
                self.typed(u16::from_be_bytes([high, low]))
            }
            LinkType::TokenRing => self.token_ring(),
            // ANSI X3.139: frame control and two addresses.
            LinkType::Fddi => self.take::<13>().and_then(|_| self.llc(0)),
            // Routers say PPP also of Cisco HDLC, whose addresses these are.
            LinkType::Ppp | LinkType::PppHdlc
                if matches!(self.bytes.get(self.at), Some(0x0f | 0x8f)) =>
            {
                self.cisco_hdlc()
            }
            LinkType::Ppp | LinkType::PppHdlc => self.ppp(),
            LinkType::PppDirected => self.take::<1>().and_then(|_| self.ppp()),
            LinkType::CiscoHdlc => self.cisco_hdlc(),
            LinkType::Atm => self.llc(0),
            // Two addresses and a type.
            LinkType::Firewire => {
                let [.., high, low] = self.take::<18>()?;
                self.typed(u16::from_be_bytes([high, low]))
            }
            LinkType::Erf => self.erf(),
            LinkType::Pppoe => self.pppoe(),
            LinkType::Wifi => self.wifi(),
            LinkType::Radiotap => self.radiotap(),
            LinkType::Prism | LinkType::Avs => self.prism(),
            LinkType::Nflog => self.nflog(),
            LinkType::JuniperEthernet => self.juniper(),
            LinkType::Arcnet => self.take::<2>().and_then(|_| self.arcnet()),
            LinkType::LinuxArcnet => self.take::<4>().and_then(|_| self.arcnet()),
            // A global routing header, a type, two bytes (RFC 4391 section 6).
            LinkType::Infiniband => {
                let [.., high, low, _, _] = self.take::<44>()?;
                self.typed(u16::from_be_bytes([high, low]))
            }
            LinkType::FrameRelay => self.frame_relay(),
            // Address family, security parameters index, flags.
            LinkType::Enc => {
                let [f0, f1, f2, f3, ..] = self.take::<12>()?;
                Ok(self.of_family(LinkType::Null, [f0, f1, f2, f3]))
            }
            // Length without padding to four bytes, address family.
            LinkType::Pflog => {
                let [length, family, ..] = self.take::<4>()?;
                self.at = usize::from(length).next_multiple_of(4).max(self.at);
                Ok(self.of_family(LinkType::Loop, [0, 0, 0, family]))
            }
            LinkType::Ppi | LinkType::Pktap => Err(Anomaly::UnknownLinkType(link.number())),
            LinkType::Other(number) => Err(Anomaly::UnknownLinkType(number)),
        }
    }

    /// RFC 2427 sections 3 and 4: address, control, a padding byte before SNAP, the number of a
    /// network protocol; or Cisco's: address and an `EtherType`.
    fn frame_relay(&mut self) -> Result<Carried, Anomaly> {
        self.take::<2>()?;
        let [control, mut number] = self.take()?;
        if control != 3 {
            return self.typed(u16::from_be_bytes([control, number]));
        }
        if number == 0 {
            [number] = self.take()?;
        }
        self.numbered(number)
    }

    /// What the number of a network protocol announces (NLPID; RFC 2427 section 3, RFC 2364
    /// section 6).
    fn numbered(&mut self, number: u8) -> Result<Carried, Anomaly> {
        match number {
            0xcc => Ok(self.ip(Some(4))),
            0x8e => Ok(self.ip(Some(6))),
            0xcf => self.ppp(),
            0x80 => match self.take()? {
                [0, 0, 0, high, low] => self.typed(u16::from_be_bytes([high, low])),
                _ => Ok(Carried::Other { protocol: 0 }),
            },
            other => Ok(Carried::Other { protocol: other.into() }),
        }
    }

    pub(crate) fn ip(self, version: Option<u8>) -> Carried {
        Carried::Ip { at: self.at, version }
    }

    pub(crate) fn ethernet(&mut self) -> Result<Carried, Anomaly> {
        let [.., high, low] = self.take::<14>()?;
        self.typed(u16::from_be_bytes([high, low]))
    }

    /// What an `EtherType` announces.
    pub(crate) fn typed(&mut self, mut ether_type: u16) -> Result<Carried, Anomaly> {
        loop {
            let next = match ether_type {
                0x0800 => return Ok(self.ip(Some(4))),
                0x86dd => return Ok(self.ip(Some(6))),
                tag if TAGS.contains(&tag) => self.take::<4>()?.last_chunk().copied(),
                PORT_TAG | GROUP_TAG => self.take::<8>()?.last_chunk().copied(),
                VN_TAG | REDUNDANT => self.take::<6>()?.last_chunk().copied(),
                BACKBONE => self.take::<18>()?.last_chunk().copied(),
                FABRIC_PATH => self.take::<16>()?.last_chunk().copied(),
                ETHERNET => self.take::<14>()?.last_chunk().copied(),
                PPPOE_SESSION => return self.pppoe(),
                MPLS_UNICAST | MPLS_MULTICAST => return self.labels(),
                length if length < LEAST_TYPE => return self.llc(length),
                other => return Ok(Carried::Other { protocol: u32::from(other) }),
            };
            ether_type = u16::from_be_bytes(next.expect("each is longer"));
        }
    }

    /// IEEE 802.2: SNAP (RFC 1042) or IP by itself; `length` is what stood for a type.
    pub(crate) fn llc(&mut self, length: u16) -> Result<Carried, Anomaly> {
        let other = Carried::Other { protocol: u32::from(length) };
        match self.take() {
            Ok([0xaa, 0xaa, 0x03]) => match self.take()? {
                // RFC 1042, and 802.1H's bridge tunnel.
                [0, 0, 0 | 0xf8, high, low] => {
                    let ether_type = u16::from_be_bytes([high, low]);
                    // Else a frame might be a length behind a length for ever.
                    if ether_type < LEAST_TYPE { Ok(other) } else { self.typed(ether_type) }
                }
                _ => Ok(other),
            },
            Ok([0x06, 0x06, 0x03]) => Ok(self.ip(Some(4))),
            Ok([0xfe, 0xfe, 0x03]) => {
                let [number] = self.take()?;
                // SNAP after SNAP might go on for ever.
                if number == 0x80 { Ok(other) } else { self.numbered(number) }
            }
            _ => Ok(other),
        }
    }

    /// IEEE 802.5: access control, frame control, two addresses, perhaps a route; its length
    /// is in its first byte. A bit of the sender's address announces it (IEEE 802.1D annex C).
    fn token_ring(&mut self) -> Result<Carried, Anomaly> {
        const LLC: u8 = 0x40;
        let [_, control, addresses @ ..] = self.take::<14>()?;
        if addresses[6] & 0x80 != 0 {
            self.at += usize::from(self.take::<1>()?[0] & 0x1f).saturating_sub(1);
        }
        if control & 0xc0 == LLC { self.llc(0) } else { Ok(Carried::Other { protocol: 0 }) }
    }

    /// Behind the addresses: RFC 1051, or RFC 1201 with a flag and a sequence number, where 255
    /// stands before four bytes more.
    fn arcnet(&mut self) -> Result<Carried, Anomaly> {
        const OLD_IP: u8 = 240;
        const IP: u8 = 212;
        const IPV6: u8 = 196;
        let [kind] = self.take()?;
        if kind == OLD_IP {
            return Ok(self.ip(Some(4)));
        }
        if self.take::<3>()?[0] == 255 {
            self.take::<4>()?;
        }
        Ok(match kind {
            IP => self.ip(Some(4)),
            IPV6 => self.ip(Some(6)),
            other => Carried::Other { protocol: u32::from(other) },
        })
    }

    /// Sixteen bytes, the ninth of them the kind of link, whose first bit announces extension
    /// headers of eight bytes; before Ethernet an offset and padding.
    fn erf(&mut self) -> Result<Carried, Anomaly> {
        const MORE: u8 = 0x80;
        let header = self.take::<16>()?;
        let (kind, mut more) = (header[8] & !MORE, header[8] & MORE != 0);
        while more {
            more = self.take::<8>()?[0] & MORE != 0;
        }
        match kind {
            // Also coloured and hashed.
            2 | 11 | 16 | 20 => self.take::<2>().and_then(|_| self.ethernet()),
            1 | 10 | 15 | 19 => self.link(LinkType::PppHdlc),
            22 => Ok(self.ip(Some(4))),
            23 => Ok(self.ip(Some(6))),
            other => Ok(Carried::Other { protocol: u32::from(other) }),
        }
    }

    /// "MGC", flags, perhaps attributes behind their length, perhaps no Ethernet.
    fn juniper(&mut self) -> Result<Carried, Anomaly> {
        const WITH_ATTRIBUTES: u8 = 0x80;
        const WITHOUT_ETHERNET: u8 = 0x02;
        let [.., flags] = self.take::<4>()?;
        if flags & WITH_ATTRIBUTES != 0 {
            self.at += usize::from(u16::from_be_bytes(self.take()?));
        }
        if flags & WITHOUT_ETHERNET != 0 {
            return Ok(Carried::Other { protocol: 0 });
        }
        self.ethernet()
    }

    /// RFC 2516 section 4: six bytes, then PPP.
    fn pppoe(&mut self) -> Result<Carried, Anomaly> {
        self.take::<6>()?;
        self.ppp()
    }

    /// RFC 1661 section 2, perhaps with the address and control of RFC 1662 section 3.1; numbers of
    /// RFC 1332, RFC 5072 and RFC 3032. A protocol number may be compressed to one byte.
    pub(crate) fn ppp(&mut self) -> Result<Carried, Anomaly> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(&[0xff, 0x03])) {
            self.at += 2;
        }
        let [first] = self.take()?;
        let number = if first & 1 == 1 {
            u16::from(first)
        } else {
            u16::from_be_bytes([first, self.take::<1>()?[0]])
        };
        match number {
            0x0021 => Ok(self.ip(Some(4))),
            0x0057 => Ok(self.ip(Some(6))),
            0x0281 => self.labels(),
            _ => Ok(Carried::Other { protocol: u32::from(PPPOE_SESSION) }),
        }
    }

    fn cisco_hdlc(&mut self) -> Result<Carried, Anomaly> {
        let [_, _, high, low] = self.take()?;
        self.typed(u16::from_be_bytes([high, low]))
    }

    /// RFC 3032 section 2.1: four bytes a label, the last one marked. What is behind it is not
    /// said; IP shows by its version.
    pub(crate) fn labels(&mut self) -> Result<Carried, Anomaly> {
        while self.take::<4>()?[2] & 1 == 0 {}
        Ok(match self.bytes.get(self.at).map(|first| first >> 4) {
            Some(version @ (4 | 6)) => self.ip(Some(version)),
            _ => Carried::Other { protocol: u32::from(MPLS_UNICAST) },
        })
    }

    /// Four bytes, then attributes: length and type in the byte order of the host that captured,
    /// here little-endian, each to a multiple of four bytes; the packet is number 9.
    fn nflog(&mut self) -> Result<Carried, Anomaly> {
        self.take::<4>()?;
        loop {
            let [l0, l1, k0, k1] = self.take()?;
            if u16::from_le_bytes([k0, k1]) == 9 {
                return Ok(self.ip(None));
            }
            let length = usize::from(u16::from_le_bytes([l0, l1]));
            self.at += length.saturating_sub(4).next_multiple_of(4);
        }
    }

    /// `AF_INET` is 2; `AF_INET6` 10 on Linux, 24 on NetBSD, OpenBSD, 28 on FreeBSD, 30 on Darwin.
    fn of_family(self, link: LinkType, field: [u8; 4]) -> Carried {
        let big = u32::from_be_bytes(field);
        // The host that captured is not known; families are small numbers, so the order shows.
        let family = match link {
            LinkType::Null if big > 0xffff => u32::from_le_bytes(field),
            _ => big,
        };
        match family {
            2 => self.ip(Some(4)),
            10 | 24 | 28 | 30 => self.ip(Some(6)),
            protocol => Carried::Other { protocol },
        }
    }
}
