//! Packets of a script as the bytes of a wire, and back.
//!
//! A model takes a [`Packet`] as it is; a kernel takes bytes. Nothing is put right here: options
//! stand in the script's order, and flags and numbers are what the script says.

use std::net::IpAddr;

use tcplab_wire::{Ecn, FrameView, IpRepr, Ipv4Repr, Ipv6Repr, LinkType, checksum, protocol};

use crate::ast::OptionSpec;
use crate::packet::{Packet, counters_of, option};
use crate::subject::{IcmpMessage, Refusal};

/// The addresses of a script's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The stack under test.
    pub local: IpAddr,
    /// Its peer, the script.
    pub remote: IpAddr,
}

/// Time to live of what a script sends (packetdrill's, RFC 791's largest).
const TTL: u8 = 255;
/// Bytes of a TCP header without options.
const TCP_HEADER: usize = 20;
/// Bytes that options have room for (RFC 9293 section 3.1).
const OPTIONS: usize = 40;
/// The longest IP packet, bytes.
const LONGEST: usize = 65_535;
/// `md5` in its option (RFC 2385).
const MD5: u8 = 19;
/// The kinds of Fast Open's option and of the experimental one, with its number (RFC 7413 section
/// 4.1.1).
const FAST_OPEN: u8 = 34;
const EXPERIMENT: [u8; 3] = [254, 0xf9, 0x89];

impl Packet {
    /// The IP and TCP headers of a segment that arrives from the peer; its data, which are zeros,
    /// follow.
    ///
    /// # Errors
    /// When it has an option that cannot be written, or is too long for an IP packet.
    pub fn to_bytes(&self, addresses: &Addresses) -> Result<Vec<u8>, Refusal> {
        let options = written_options(&self.options)?;
        let header_len = TCP_HEADER + options.len();
        let ip = ip_header(addresses.remote, addresses.local);
        if ip.header_len() + header_len + self.len as usize > LONGEST {
            return Err(Refusal(format!("a packet with {} bytes of data", self.len)));
        }
        let mut bytes = Vec::new();
        ip.emit(protocol::TCP, header_len + self.len as usize, &mut bytes);
        set_service(&mut bytes, self.dscp | self.ecn as u8);
        let at = bytes.len();
        bytes.extend_from_slice(&self.remote_port.to_be_bytes());
        bytes.extend_from_slice(&self.local_port.to_be_bytes());
        bytes.extend_from_slice(&self.seq.as_u32().to_be_bytes());
        bytes.extend_from_slice(&self.ack.as_u32().to_be_bytes());
        let offset_and_flags = (header_len as u16 / 4) << 12 | self.flags.bits();
        bytes.extend_from_slice(&offset_and_flags.to_be_bytes());
        bytes.extend_from_slice(&self.window.to_be_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&self.urgent.to_be_bytes());
        bytes.extend_from_slice(&options);
        // Zeros add nothing to the sum.
        let len = header_len as u32 + self.len;
        let sum = checksum::pseudo_header(ip.src(), ip.dst(), protocol::TCP, len)
            .with(&bytes[at..])
            .complement();
        bytes[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        Ok(bytes)
    }

    /// Reads a segment that the stack sent: `head` is an IP packet of `len` bytes as far as its
    /// TCP header at least. `None` for packets of other protocols, and broken ones.
    pub fn of_bytes(head: &[u8], len: u32) -> Option<Packet> {
        let tcp = FrameView::new(LinkType::RawIp, head, len).tcp()?;
        let ip = tcp.ip();
        Some(Packet {
            local_port: tcp.src_port(),
            remote_port: tcp.dst_port(),
            ecn: ip.ecn(),
            dscp: ip.dscp() << 2,
            flags: tcp.flags(),
            seq: tcp.seq(),
            ack: tcp.ack(),
            window: tcp.window(),
            urgent: tcp.urgent_pointer(),
            options: tcp.options().map(|seen| option(&seen)).collect(),
            len: tcp.payload_len(),
            joined: None,
            cause: None,
        })
    }
}

impl IcmpMessage {
    /// The IP packet of the message, which arrives from the peer's address.
    ///
    /// # Errors
    /// When its type or code has no number here.
    pub fn to_bytes(&self, addresses: &Addresses) -> Result<Vec<u8>, Refusal> {
        let is_v6 = addresses.local.is_ipv6();
        let (kind, code) = self.numbers(is_v6).ok_or_else(|| {
            let named = format!("{} {}", self.kind, self.code.as_deref().unwrap_or_default());
            Refusal(format!("the ICMP message `{}`", named.trim()))
        })?;
        let mut quoted = Vec::new();
        ip_header(addresses.local, addresses.remote).emit(protocol::TCP, TCP_HEADER, &mut quoted);
        quoted.extend_from_slice(&self.local_port.to_be_bytes());
        quoted.extend_from_slice(&self.remote_port.to_be_bytes());
        quoted.extend_from_slice(&self.seq.as_u32().to_be_bytes());
        let ip = ip_header(addresses.remote, addresses.local);
        let number = if is_v6 { protocol::ICMPV6 } else { protocol::ICMP };
        let mut message = vec![kind, code, 0, 0];
        message.extend_from_slice(&self.mtu.to_be_bytes());
        message.extend_from_slice(&quoted);
        let sum = if is_v6 {
            checksum::transport(ip.src(), ip.dst(), number, &message)
        } else {
            checksum::internet(&message)
        };
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut bytes = Vec::new();
        ip.emit(number, message.len(), &mut bytes);
        bytes.extend_from_slice(&message);
        Ok(bytes)
    }

    /// Type and code (RFC 792, RFC 1122 section 3.2.2.1, RFC 4443), by packetdrill's names.
    fn numbers(&self, is_v6: bool) -> Option<(u8, u8)> {
        const KINDS: &[(&str, u8)] = &[
            ("unreachable", 3),
            ("source_quench", 4),
            ("redirect", 5),
            ("time_exceeded", 11),
            ("parameter_problem", 12),
        ];
        const CODES: &[&str] = &[
            "net_unreachable",
            "host_unreachable",
            "protocol_unreachable",
            "port_unreachable",
            "frag_needed",
            "source_route_failed",
            "net_unknown",
            "host_unknown",
            "source_host_isolated",
            "net_prohibited",
            "host_prohibited",
            "net_unreachable_for_tos",
            "host_unreachable_for_tos",
            "packet_filtered",
            "precedence_violation",
            "precedence_cutoff",
        ];
        const KINDS_V6: &[(&str, u8)] = &[
            ("unreachable", 1),
            ("packet_too_big", 2),
            ("time_exceeded", 3),
            ("parameter_problem", 4),
        ];
        const CODES_V6: &[&str] = &[
            "no_route",
            "admin_prohibited",
            "not_neighbour",
            "address_unreachable",
            "port_unreachable",
        ];
        let (kinds, codes) = if is_v6 { (KINDS_V6, CODES_V6) } else { (KINDS, CODES) };
        let (_, kind) = kinds.iter().find(|(name, _)| *name == self.kind)?;
        let code = match self.code.as_deref() {
            None => 0,
            Some("net_unreachable") if is_v6 => 0,
            Some(code) if self.kind == "unreachable" => codes.iter().position(|it| *it == code)?,
            Some(_) => return None,
        };
        Some((*kind, code as u8))
    }
}

/// # Panics
/// If the addresses are of different versions.
fn ip_header(src: IpAddr, dst: IpAddr) -> IpRepr {
    let ecn = Ecn::NotEct;
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Ipv4Repr { src, dst, id: 0, ttl: TTL, ecn }.into(),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Ipv6Repr { src, dst, hop_limit: TTL, ecn }.into(),
        _ => panic!("a packet from {src} to {dst} cannot be"),
    }
}

/// Writes the type of service, or traffic class, into an IP header without options.
fn set_service(header: &mut [u8], service: u8) {
    if header[0] >> 4 == 6 {
        header[0] = 0x60 | service >> 4;
        header[1] = service << 4;
        return;
    }
    header[1] = service;
    header[10..12].fill(0);
    let sum = checksum::internet(header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Options as they stand, filled up to whole words with the end of the list.
fn written_options(options: &[OptionSpec]) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    for one in options {
        match one {
            OptionSpec::Eol => bytes.push(0),
            OptionSpec::Nop => bytes.push(1),
            OptionSpec::Mss(mss) => put(&mut bytes, 2, &mss.to_be_bytes()),
            OptionSpec::WindowScale(shift) => put(&mut bytes, 3, &[*shift]),
            OptionSpec::SackPermitted => put(&mut bytes, 4, &[]),
            OptionSpec::Sack(blocks) => {
                let edges = blocks.iter().flat_map(|(left, right)| [left, right]);
                let edges: Vec<u8> = edges.flat_map(|edge| edge.to_be_bytes()).collect();
                put(&mut bytes, 5, &edges);
            }
            OptionSpec::Timestamps { value, echo } => {
                put(&mut bytes, 8, &[value.to_be_bytes(), echo.to_be_bytes()].concat());
            }
            OptionSpec::FastOpen(cookie) => put(&mut bytes, FAST_OPEN, cookie),
            OptionSpec::FastOpenExperimental(cookie) => {
                let [kind, number @ ..] = EXPERIMENT;
                put(&mut bytes, kind, &[&number, cookie.as_slice()].concat());
            }
            OptionSpec::Md5(digest) => put(&mut bytes, MD5, digest),
            OptionSpec::Md5Valid => return Err(Refusal("MD5 signatures".into())),
            OptionSpec::AccEcn(counters) => {
                let (written, len) = counters_of(counters).to_bytes();
                bytes.extend_from_slice(&written[..len]);
            }
            OptionSpec::Other(text) => return Err(Refusal(format!("the TCP option `{text}`"))),
        }
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    if bytes.len() > OPTIONS {
        return Err(Refusal(format!("{} bytes of TCP options", bytes.len())));
    }
    Ok(bytes)
}

fn put(bytes: &mut Vec<u8>, kind: u8, value: &[u8]) {
    bytes.extend_from_slice(&[kind, value.len() as u8 + 2]);
    bytes.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use tcplab_wire::{SeqNumber, TcpFlags};

    use super::*;
    use crate::ast::EcnCounter;

    fn packet() -> Packet {
        Packet {
            local_port: 8080,
            remote_port: 32_768,
            ecn: Ecn::Ect0,
            dscp: 0xb8,
            flags: TcpFlags::ACK | TcpFlags::PSH | TcpFlags::AE,
            seq: SeqNumber::new(0xffff_fff0),
            ack: SeqNumber::new(7),
            window: 257,
            urgent: 3,
            options: vec![
                OptionSpec::Nop,
                OptionSpec::Timestamps { value: 1, echo: 2 },
                OptionSpec::Sack(vec![(1, 1001)]),
                OptionSpec::AccEcn(vec![(EcnCounter::Ect1, 1), (EcnCounter::Ce, 2)]),
            ],
            len: 1000,
            joined: None,
            cause: None,
        }
    }

    fn ends() -> [Addresses; 2] {
        [("192.168.0.1", "192.0.2.1"), ("fd3d:a0b:17d6::1", "fd3d:fa7b:d17d::1")].map(
            |(local, remote)| Addresses {
                local: local.parse().unwrap(),
                remote: remote.parse().unwrap(),
            },
        )
    }

    #[test]
    fn segment_of_its_own_bytes_is_same() {
        for ends in ends() {
            let head = packet().to_bytes(&ends).unwrap();
            let whole = [head.clone(), vec![0; 1000]].concat();
            let view = FrameView::of_packet(&whole);
            let tcp = view.tcp().expect("a segment");
            assert_eq!(tcp.checksum_state(), tcplab_wire::ChecksumState::Right);
            assert!(tcp.ip().header_checksum_is_right());
            assert_eq!((tcp.ip().src(), tcp.ip().dst()), (ends.remote, ends.local));
            let read = Packet::of_bytes(&head, whole.len() as u32).unwrap();
            // It went the other way.
            let swapped = Packet { local_port: 32_768, remote_port: 8080, ..packet() };
            assert_eq!(read, swapped);
        }
    }

    #[test]
    fn unwritable_options_are_refused() {
        let [v4, _] = ends();
        for options in [
            vec![OptionSpec::Md5Valid],
            vec![OptionSpec::Other("mptcp dss".into())],
            vec![OptionSpec::Nop; 41],
        ] {
            assert!(Packet { options, ..packet() }.to_bytes(&v4).is_err());
        }
        assert!(Packet { len: 65_500, ..packet() }.to_bytes(&v4).is_err());
    }

    #[test]
    fn icmp_error_quotes_segment() {
        let message = |kind: &str, code: Option<&str>| IcmpMessage {
            kind: kind.into(),
            code: code.map(Into::into),
            mtu: 1280,
            local_port: 8080,
            remote_port: 32_768,
            seq: SeqNumber::new(5),
        };
        let [v4, v6] = ends();
        for (ends, kind, code) in
            [(v4, "unreachable", Some("frag_needed")), (v6, "packet_too_big", None)]
        {
            let bytes = message(kind, code).to_bytes(&ends).unwrap();
            let ip = FrameView::of_packet(&bytes).ip().expect("an IP packet");
            let (mtu, quoted) = tcplab_wire::too_big(&ip).expect("whole and right");
            let segment = tcplab_wire::QuotedSegment::of(quoted).expect("a segment");
            assert_eq!((mtu, segment.src, segment.seq), (1280, ends.local, SeqNumber::new(5)));
        }
        assert!(message("echo_request", None).to_bytes(&v4).is_err());
        assert!(message("unreachable", Some("nowhere")).to_bytes(&v4).is_err());
    }
}
