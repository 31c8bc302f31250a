//! The fields of packets, under Wireshark's names.

use std::net::IpAddr;

use tcplab_units::Span;
use tcplab_wire::TcpFlags;

use super::values::Value;
use crate::output::listed::Listed;
use crate::{Range, Segment, SegmentKind, SynOptions, Timer};

/// What a field's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// A number that is written in hexadecimal.
    Hex,
    Flag,
    Seconds,
    Address,
    There,
}

/// A field by its place in [`FIELDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field(usize);

impl Field {
    pub(super) fn named(name: &str) -> Option<Field> {
        FIELDS.iter().position(|field| field.name == name).map(Field)
    }

    pub(super) fn all() -> impl Iterator<Item = Field> {
        (0..FIELDS.len()).map(Field)
    }

    pub(super) fn name(self) -> &'static str {
        FIELDS[self.0].name
    }

    pub(super) fn kind(self) -> Kind {
        FIELDS[self.0].kind
    }

    /// Whether a packet may have more than one value of it.
    pub(super) fn has_several(self) -> bool {
        FIELDS[self.0].has_several
    }

    /// Whether this packet has it.
    pub(super) fn is_in(self, packet: &Listed<'_>) -> bool {
        !self.of(packet).is_empty()
    }

    /// Its values in this packet.
    pub(super) fn of(self, packet: &Listed<'_>) -> Vec<Value> {
        (FIELDS[self.0].values)(packet)
    }
}

pub(super) struct Definition {
    pub(super) name: &'static str,
    kind: Kind,
    pub(super) about: &'static str,
    has_several: bool,
    values: fn(&Listed<'_>) -> Vec<Value>,
}

const fn field(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    values: fn(&Listed<'_>) -> Vec<Value>,
) -> Definition {
    Definition { name, kind, about, has_several: false, values }
}

/// A field of which a packet may have more than one value.
const fn several(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    values: fn(&Listed<'_>) -> Vec<Value>,
) -> Definition {
    Definition { name, kind, about, has_several: true, values }
}

/// The field of a packet that has another of the marks of `tcp.analysis`.
const MARKED: &str = "tcp.analysis.flags";

pub(super) const FIELDS: &[Definition] = &[
    field("frame.number", Kind::Number, "number of the frame, from 1", |it| number(it.frame)),
    field("frame.time_relative", Kind::Seconds, "seconds since the first packet", |it| {
        number(it.at.as_nanos())
    }),
    field("ip", Kind::There, "IPv4", |it| there(it.ends()[0].is_ipv4())),
    field("ip.src", Kind::Address, "source address", |it| addresses(it, true, &[0])),
    field("ip.dst", Kind::Address, "destination address", |it| addresses(it, true, &[1])),
    several("ip.addr", Kind::Address, "either address", |it| addresses(it, true, &[0, 1])),
    field("ipv6", Kind::There, "IPv6", |it| there(it.ends()[0].is_ipv6())),
    field("ipv6.src", Kind::Address, "source address", |it| addresses(it, false, &[0])),
    field("ipv6.dst", Kind::Address, "destination address", |it| addresses(it, false, &[1])),
    several("ipv6.addr", Kind::Address, "either address", |it| addresses(it, false, &[0, 1])),
    field("tcp", Kind::There, "TCP: every packet of a listing", |_| there(true)),
    field("tcp.stream", Kind::Number, "number of the connection, from 0", |it| {
        number(it.index as u64)
    }),
    field(
        "tcp.time_relative",
        Kind::Seconds,
        "seconds since the connection's first packet",
        |it| seconds(it.at.since(it.connection.first)),
    ),
    field("tcp.time_delta", Kind::Seconds, "seconds since the connection's packet before", |it| {
        seconds(it.beside.waited)
    }),
    field("tcp.srcport", Kind::Number, "source port", |it| ports(it, &[0])),
    field("tcp.dstport", Kind::Number, "destination port", |it| ports(it, &[1])),
    several("tcp.port", Kind::Number, "either port", |it| ports(it, &[0, 1])),
    field("tcp.len", Kind::Number, "bytes of data", |it| {
        let unusual = || it.unusual.map_or(0, |packet| packet.payload.as_u64());
        number(it.segment.map_or_else(unusual, |segment| segment.payload.as_u64()))
    }),
    field(
        "tcp.seq",
        Kind::Number,
        "first byte, the SYN's is 0; of packets with data, SYN or FIN",
        |it| numbers(it.segment.map(|segment| segment.range.start.as_u64())),
    ),
    field(
        "tcp.nxtseq",
        Kind::Number,
        "the byte after the last; of packets with data, SYN or FIN",
        |it| numbers(it.segment.map(|segment| segment.range.end.as_u64())),
    ),
    field("tcp.ack", Kind::Number, "the next byte expected; of packets that acknowledge", |it| {
        numbers(it.ack.map(|ack| ack.ack.as_u64()))
    }),
    field(
        "tcp.window_size",
        Kind::Number,
        "window in bytes, where it is zero or its scale is known; of a SYN as sent",
        |it| numbers(window(it)),
    ),
    several("tcp.options.sack_le", Kind::Number, "first bytes of SACK and D-SACK blocks", |it| {
        blocks(it).map(|block| Value::Number(block.start.as_u64())).collect()
    }),
    several("tcp.options.sack_re", Kind::Number, "the bytes after SACK and D-SACK blocks", |it| {
        blocks(it).map(|block| Value::Number(block.end.as_u64())).collect()
    }),
    field("tcp.options.mss_val", Kind::Number, "maximum segment size, of SYNs", |it| {
        numbers(own_syn(it).mss.filter(|_| it.has(TcpFlags::SYN)).map(u64::from))
    }),
    field("tcp.flags", Kind::Hex, "all flags, such as 0x12 of a SYN-ACK", |it| {
        number(it.flags().bits().into())
    }),
    field("tcp.flags.syn", Kind::Flag, "SYN", |it| flag(it.has(TcpFlags::SYN))),
    field("tcp.flags.fin", Kind::Flag, "FIN", |it| flag(it.has(TcpFlags::FIN))),
    field("tcp.flags.push", Kind::Flag, "PSH", |it| flag(it.has(TcpFlags::PSH))),
    field("tcp.flags.ack", Kind::Flag, "ACK", |it| flag(it.has(TcpFlags::ACK))),
    field("tcp.flags.reset", Kind::Flag, "RST", |it| flag(it.has(TcpFlags::RST))),
    field("tcp.flags.urg", Kind::Flag, "URG", |it| flag(it.has(TcpFlags::URG))),
    field("tcp.flags.ece", Kind::Flag, "ECE", |it| flag(it.has(TcpFlags::ECE))),
    field("tcp.flags.cwr", Kind::Flag, "CWR", |it| flag(it.has(TcpFlags::CWR))),
    field("tcp.flags.ae", Kind::Flag, "AE", |it| flag(it.has(TcpFlags::AE))),
    field(MARKED, Kind::There, "any field of tcp.analysis below that has no value", |it| {
        there(is_marked(it))
    }),
    field(
        "tcp.analysis.ack_rtt",
        Kind::Seconds,
        "seconds since the data up to its acknowledgement were sent first",
        |it| it.beside.ack_rtt.map(seconds).unwrap_or_default(),
    ),
    field(
        "tcp.analysis.initial_rtt",
        Kind::Seconds,
        "seconds of the handshake, from the SYN to the client's ACK; of packets after it",
        |it| it.beside.initial_rtt.map(seconds).unwrap_or_default(),
    ),
    field("tcp.analysis.bytes_in_flight", Kind::Number, "bytes in flight behind its data", |it| {
        numbers(it.segment.map(|segment| segment.in_flight.as_u64()))
    }),
    field("tcp.analysis.retransmission", Kind::There, "retransmitted, for any cause", |it| {
        of_segment(it, |segment| segment.kind.is_retransmission())
    }),
    field(
        "tcp.analysis.fast_retransmission",
        Kind::There,
        "on SACK, duplicate ACKs or RACK",
        |it| of_segment(it, |segment| segment.kind == SegmentKind::FastRetransmission),
    ),
    field("tcp.analysis.spurious_retransmission", Kind::There, "its original arrived", |it| {
        of_segment(it, |segment| segment.proof.spurious.is_some())
    }),
    field("tcp.analysis.out_of_order", Kind::There, "reordered by the network", |it| {
        of_segment(it, |segment| segment.kind == SegmentKind::OutOfOrder)
    }),
    field("tcp.analysis.duplicate_ack", Kind::There, "a duplicate ACK", |it| {
        there(it.ack.is_some_and(|ack| ack.duplicate))
    }),
    field("tcp.analysis.keep_alive", Kind::There, "a keep-alive with a byte", |it| {
        of_segment(it, |segment| segment.kind == SegmentKind::KeepAlive)
    }),
    field("tcp.analysis.zero_window", Kind::There, "it advertises no window", |it| {
        there(it.ack.is_some_and(|ack| ack.window.is_some_and(|window| window.as_u64() == 0)))
    }),
    field("tcp.analysis.zero_window_probe", Kind::There, "asks whether the window opened", |it| {
        of_segment(it, |segment| segment.kind == SegmentKind::WindowProbe)
    }),
    field("tcp.analysis.window_full", Kind::There, "its data end where the window ends", |it| {
        there(it.beside.fills_window)
    }),
    field("tcp.analysis.window_update", Kind::There, "it only changes the window", |it| {
        there(it.beside.updates_window)
    }),
    field("tcp.analysis.lost_segment", Kind::There, "data before it were not captured", |it| {
        there(it.beside.is_after_gap)
    }),
    field(
        "tcp.analysis.ack_lost_segment",
        Kind::There,
        "it acknowledges data that were not captured",
        |it| there(it.beside.acks_uncaptured),
    ),
    field("tcplab.timeout", Kind::There, "sent by the retransmission timer", |it| {
        of_segment(it, |segment| segment.timer == Some(Timer::Retransmission))
    }),
    field("tcplab.probe", Kind::There, "a tail loss probe", |it| {
        of_segment(it, |segment| segment.timer == Some(Timer::Probe))
    }),
    field("tcplab.duplicate", Kind::There, "a copy made by the network or the capture", |it| {
        let is_copy = it.segment.is_some_and(|segment| segment.kind.is_copy());
        there(is_copy || it.ack.is_some_and(|ack| ack.copied))
    }),
    field("tcplab.dropped", Kind::There, "dropped by the path, in a recording", |it| {
        there(it.segment.is_some_and(|it| it.dropped) || it.ack.is_some_and(|it| it.dropped))
    }),
];

/// Whether Wireshark marks the packet: it has another such field without a value.
fn is_marked(packet: &Listed<'_>) -> bool {
    let is_mark = |of: &Field| of.kind() == Kind::There && of.name().starts_with("tcp.analysis.");
    let mut marks = Field::all().filter(|of| is_mark(of) && of.name() != MARKED);
    marks.any(|of| of.is_in(packet))
}

fn number(value: u64) -> Vec<Value> {
    vec![Value::Number(value)]
}

fn seconds(span: Span) -> Vec<Value> {
    number(span.as_nanos())
}

fn numbers(value: Option<u64>) -> Vec<Value> {
    value.map(Value::Number).into_iter().collect()
}

/// The options of its sender's SYN.
fn own_syn<'a>(packet: &Listed<'a>) -> &'a SynOptions {
    let handshake = &packet.connection.handshake;
    if packet.from_client { &handshake.client } else { &handshake.server }
}

/// The window of a SYN is never scaled (RFC 7323 section 2.2), that of a reset has no meaning.
fn window(packet: &Listed<'_>) -> Option<u64> {
    let own = own_syn(packet);
    if packet.has(TcpFlags::SYN) {
        own.seen.then_some(own.window.into())
    } else if let Some(window) = packet.ack.and_then(|ack| ack.window) {
        Some(window.as_u64())
    } else {
        let is_zero =
            packet.ack.is_some_and(|ack| ack.zero) || packet.reset.is_some_and(|it| it.zero);
        is_zero.then_some(0)
    }
}

fn flag(is: bool) -> Vec<Value> {
    number(u64::from(is))
}

fn there(is: bool) -> Vec<Value> {
    is.then_some(Value::There).into_iter().collect()
}

fn of_segment(packet: &Listed<'_>, is: impl Fn(&Segment) -> bool) -> Vec<Value> {
    there(packet.segment.is_some_and(is))
}

fn addresses(packet: &Listed<'_>, is_v4: bool, ends: &[usize]) -> Vec<Value> {
    let of = |end: &usize| packet.ends()[*end].ip();
    let fits = |address: &IpAddr| address.is_ipv4() == is_v4;
    ends.iter().map(of).filter(fits).map(Value::Address).collect()
}

fn ports(packet: &Listed<'_>, ends: &[usize]) -> Vec<Value> {
    ends.iter().map(|&end| Value::Number(packet.ends()[end].port().into())).collect()
}

fn blocks<'a>(packet: &Listed<'a>) -> impl Iterator<Item = Range> + use<'a> {
    let ack = packet.ack;
    ack.into_iter().flat_map(|ack| ack.dsack.into_iter().chain(ack.sack.iter().copied()))
}
