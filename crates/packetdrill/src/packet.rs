//! A segment as a stack under test sends and receives it.

use std::net::Ipv4Addr;

use tcplab_stack::{Data, Segment};
use tcplab_wire::{
    AccEcnOption, Cookie, Ecn, FrameView, Ipv4Repr, LinkType, SackBlock, SeqNumber, TcpFlags,
    TcpOption, TcpRepr,
};

use crate::ast::{EcnCounter, OptionSpec};

/// A TCP segment. Its data are zeros, as packetdrill's are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The port of the stack under test.
    pub local_port: u16,
    /// The port of its peer, the script.
    pub remote_port: u16,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The rest of the type of service: its upper six bits, where they stand.
    pub dscp: u8,
    /// Control bits.
    pub flags: TcpFlags,
    /// First sequence number.
    pub seq: SeqNumber,
    /// Acknowledgement number.
    pub ack: SeqNumber,
    /// Window, as scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in their order, padding too.
    pub options: Vec<OptionSpec>,
    /// Data bytes.
    pub len: u32,
    /// Of segments that the device of the stack under test joined to this one: the data bytes of
    /// each.
    pub joined: Option<u32>,
    /// Why the stack sent it, in a word, if it is known.
    pub cause: Option<&'static str>,
}

impl Packet {
    /// A segment that a model sends: its options are in the order they would have on the wire.
    pub fn of_segment(segment: &Segment) -> Packet {
        let header = &segment.header;
        let nobody = Ipv4Addr::UNSPECIFIED;
        let ip = Ipv4Repr { src: nobody, dst: nobody, id: 0, ttl: 64, ecn: segment.ecn };
        let bytes = header.to_packet(&ip.into(), &[]);
        let options = match FrameView::new(LinkType::RawIp, &bytes, bytes.len() as u32) {
            FrameView::Tcp(tcp) => tcp.options().map(|seen| option(&seen)).collect(),
            _ => unreachable!("a packet built by `TcpRepr` can be read"),
        };
        Packet {
            local_port: header.src_port,
            remote_port: header.dst_port,
            ecn: segment.ecn,
            dscp: 0,
            flags: header.flags,
            seq: header.seq,
            ack: header.ack,
            window: header.window,
            urgent: header.urgent_pointer,
            options,
            len: segment.len(),
            joined: None,
            cause: None,
        }
    }

    /// As a model receives it. Options it does not know are left out: a stack passes over them
    /// (RFC 9293 section 3.1).
    pub fn to_segment(&self) -> Segment {
        let mut header = TcpRepr {
            src_port: self.remote_port,
            dst_port: self.local_port,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            urgent_pointer: self.urgent,
            ..TcpRepr::default()
        };
        let syn = self.flags.contains(TcpFlags::SYN);
        for option in &self.options {
            match option {
                OptionSpec::Mss(mss) if syn => header.mss = Some(*mss),
                // RFC 7323 section 2.3: more than 14 means 14.
                OptionSpec::WindowScale(shift) if syn => {
                    header.window_scale = Some((*shift).min(14));
                }
                OptionSpec::SackPermitted if syn => header.sack_permitted = true,
                OptionSpec::Sack(blocks) => {
                    let block = |&(left, right)| SackBlock {
                        left: SeqNumber::new(left),
                        right: SeqNumber::new(right),
                    };
                    header.sack = blocks.iter().map(block).collect();
                }
                OptionSpec::Timestamps { value, echo } => header.timestamps = Some((*value, *echo)),
                OptionSpec::AccEcn(counters) => header.acc_ecn = Some(counters_of(counters)),
                OptionSpec::FastOpen(cookie) if syn => {
                    header.fast_open = Cookie::new(cookie, false).or(header.fast_open);
                }
                OptionSpec::FastOpenExperimental(cookie) if syn => {
                    header.fast_open = Cookie::new(cookie, true).or(header.fast_open);
                }
                OptionSpec::Nop
                | OptionSpec::Eol
                | OptionSpec::FastOpen(_)
                | OptionSpec::FastOpenExperimental(_)
                | OptionSpec::Mss(_)
                | OptionSpec::WindowScale(_)
                | OptionSpec::SackPermitted
                | OptionSpec::Md5(_)
                | OptionSpec::Md5Valid
                | OptionSpec::Other(_) => {}
            }
        }
        let data = Data::copy_of(&vec![0; self.len as usize]);
        Segment { data, ecn: self.ecn, joined: self.joined, ..Segment::bare(header) }
    }

    /// Whether it carries a signature (RFC 2385); `valid`: one that a key explains.
    pub(crate) fn is_signed(&self, valid: bool) -> bool {
        self.options.iter().any(|option| match option {
            OptionSpec::Md5(_) => !valid,
            OptionSpec::Md5Valid => valid,
            _ => false,
        })
    }
}

/// One option, in the script's terms.
pub(crate) fn option(option: &TcpOption<'_>) -> OptionSpec {
    match option {
        TcpOption::NoOperation => OptionSpec::Nop,
        TcpOption::Mss(mss) => OptionSpec::Mss(*mss),
        TcpOption::WindowScale(shift) => OptionSpec::WindowScale(*shift),
        TcpOption::SackPermitted => OptionSpec::SackPermitted,
        TcpOption::Sack(blocks) => OptionSpec::Sack(
            blocks.iter().map(|block| (block.left.as_u32(), block.right.as_u32())).collect(),
        ),
        TcpOption::Timestamps { value, echo } => {
            OptionSpec::Timestamps { value: *value, echo: *echo }
        }
        TcpOption::FastOpen(cookie) => OptionSpec::FastOpen(cookie.to_vec()),
        TcpOption::Unknown { kind: 254, bytes: [0xf9, 0x89, cookie @ ..] } => {
            OptionSpec::FastOpenExperimental(cookie.to_vec())
        }
        TcpOption::Unknown { kind, bytes } if AccEcnOption::of(*kind, bytes).is_some() => {
            OptionSpec::AccEcn(AccEcnOption::of(*kind, bytes).map(counters).unwrap_or_default())
        }
        TcpOption::Mptcp(bytes) => OptionSpec::Other(format!("mptcp: {bytes:02x?}")),
        TcpOption::Unknown { kind, bytes } | TcpOption::Malformed { kind, bytes } => {
            OptionSpec::Other(format!("{kind}: {bytes:02x?}"))
        }
    }
}

/// The counters in their order.
const ECT1_FIRST: [EcnCounter; 3] = [EcnCounter::Ect1, EcnCounter::Ce, EcnCounter::Ect0];
const ECT0_FIRST: [EcnCounter; 3] = [EcnCounter::Ect0, EcnCounter::Ce, EcnCounter::Ect1];

fn counters(option: AccEcnOption) -> Vec<(EcnCounter, u32)> {
    let order = if option.ect1_first { ECT1_FIRST } else { ECT0_FIRST };
    order.into_iter().zip(option.counters).take(option.count.into()).collect()
}

pub(crate) fn counters_of(written: &[(EcnCounter, u32)]) -> AccEcnOption {
    let mut option = AccEcnOption {
        ect1_first: written.first().is_some_and(|(first, _)| *first == EcnCounter::Ect1),
        count: written.len().min(3) as u8,
        ..AccEcnOption::default()
    };
    for (counter, (_, told)) in option.counters.iter_mut().zip(written) {
        *counter = *told;
    }
    option
}
