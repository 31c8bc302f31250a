//! IP fragments: one packet again, or a note.

use tcplab_units::{Bytes, Span};
use tcplab_wire::{Ecn, IpRepr, Ipv6Repr, LinkType, TcpFlags, TcpRepr};

use super::drill::{analyze, drill, feed};
use crate::{Analyzer, Filter, Frame, Trace};

/// A packet of which a fragment is missing is not analysed; skipped frames keep their numbers.
#[test]
fn fragment_missing_noted_skipped_frames_counted() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n", 1_000);
    let mut analyzer = Analyzer::new();
    analyzer.skip(7);
    for (place, packet) in packets.iter().enumerate() {
        let mut bytes = packet.bytes.clone();
        if place == 2 {
            // Its payload is said to begin at byte 1480 of another packet's (RFC 791 section 3.1).
            bytes[6..8].copy_from_slice(&185_u16.to_be_bytes());
        }
        analyzer.packet(&Frame::whole(packet.time_ns + 7, LinkType::RawIp, &bytes));
    }
    let trace = analyzer.finish();
    assert_eq!((trace.packets, trace.epoch_nanos), (5, 7));
    let [note] = &trace.notes[..] else { panic!("{:?}", trace.notes) };
    assert_eq!(note.frame, Some(4));
    assert!(note.text.contains("lacks fragments"), "{}", note.text);
    let frames: Vec<u64> = trace.connections[0].forward.segments.iter().map(|s| s.frame).collect();
    assert_eq!(frames, [2, 5]);
}

/// Cuts an IPv4 packet into fragments with this much payload each.
pub(crate) fn fragments(packet: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (header, payload) = packet.split_at(20);
    let pieces = payload.chunks(size).enumerate().map(|(number, piece)| {
        let offset = number * size;
        let more = offset + piece.len() < payload.len();
        let field = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
        let mut fragment = [header, piece].concat();
        let total = fragment.len() as u16;
        fragment[2..4].copy_from_slice(&total.to_be_bytes());
        fragment[6..8].copy_from_slice(&field.to_be_bytes());
        fragment
    });
    pieces.collect()
}

#[test]
fn fragments_in_any_order_are_one_packet() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n0.2 < ack 1449\n", 1_000);
    let whole = analyze(&packets);
    let pieces = fragments(&packets[3].bytes, 400);
    let count = pieces.len() as u64;
    assert_eq!(count, 4);
    for (name, order) in [
        ("in order", &[0, 1, 2, 3][..]),
        ("last first", &[3, 2, 1, 0]),
        ("mixed", &[2, 0, 3, 1]),
        ("one twice", &[0, 1, 1, 2, 3]),
    ] {
        let mut analyzer = Analyzer::new();
        feed(&mut analyzer, &packets[..3]);
        for &piece in order {
            let bytes = &pieces[piece];
            analyzer.packet(&Frame::whole(packets[3].time_ns, LinkType::RawIp, bytes));
        }
        feed(&mut analyzer, &packets[4..]);
        let trace = analyzer.finish();
        assert_eq!(trace.notes, [], "{name}");
        let [segment] = &trace.connections[0].forward.segments[1..] else { panic!("{name}") };
        assert_eq!(segment.frame, 3 + order.len() as u64, "{name}: as tshark, the last");
        assert_eq!(segment.payload, Bytes::new(1448), "{name}");
        let totals = trace.connections[0].forward.totals;
        assert_eq!(totals, whole.connections[0].forward.totals, "{name}");
    }
}

/// A fragment that comes again when its packet is whole lacks nothing; neither does a whole copy.
#[test]
fn fragments_that_come_again_are_not_missed() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n0.2 < ack 1449\n", 1_000);
    let pieces = fragments(&packets[3].bytes, 800);
    for order in [&[0, 1, 1][..], &[0, 0, 1, 1], &[0, 1, 0, 1], &[1, 0, 0]] {
        let mut analyzer = Analyzer::new();
        feed(&mut analyzer, &packets[..3]);
        for &piece in order {
            let frame = Frame::whole(packets[3].time_ns, LinkType::RawIp, &pieces[piece]);
            analyzer.packet(&frame);
        }
        feed(&mut analyzer, &packets[4..]);
        let trace = analyzer.finish();
        assert_eq!(trace.notes, [], "{order:?}");
        let forward = &trace.connections[0].forward;
        assert_eq!(forward.segments[1].payload, Bytes::new(1448), "{order:?}");
        assert_eq!(forward.causes.retransmissions(), 0, "{order:?}");
    }
}

/// RFC 1858 section 3: the flags are in the second fragment.
#[test]
fn fragments_of_a_header_are_one_packet() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n", 1_000);
    let mut analyzer = Analyzer::new();
    feed(&mut analyzer, &packets[..3]);
    for piece in fragments(&packets[3].bytes, 8) {
        analyzer.packet(&Frame::whole(packets[3].time_ns, LinkType::RawIp, &piece));
    }
    let trace = analyzer.finish();
    assert_eq!((&trace.notes[..], &trace.others[..]), (&[][..], &[][..]));
    assert_eq!(trace.connections[0].forward.totals.data, Bytes::new(1448));
}

#[test]
fn fragments_cut_by_the_snap_length_are_one_packet() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n", 1_000);
    let mut analyzer = Analyzer::new();
    feed(&mut analyzer, &packets[..3]);
    for piece in fragments(&packets[3].bytes, 400) {
        let original_len = piece.len() as u32;
        let frame = Frame::whole(packets[3].time_ns, LinkType::RawIp, &piece[..68]);
        analyzer.packet(&Frame { original_len, ..frame });
    }
    let trace = analyzer.finish();
    assert_eq!(trace.connections[0].forward.totals.data, Bytes::new(1448));
}

/// An IPv6 packet in fragments of 512 bytes, without extension headers or with one of eight bytes
/// in what is cut, which only the first fragment then has.
fn fragments_of_ipv6(extended: bool) -> Vec<Vec<u8>> {
    let (src, dst) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let ip = IpRepr::V6(Ipv6Repr { src, dst, hop_limit: 64, ecn: Ecn::NotEct });
    let tcp = TcpRepr { src_port: 1, dst_port: 2, flags: TcpFlags::ACK, ..TcpRepr::default() };
    let packet = tcp.to_packet(&ip, &[7; 1_000]);
    let (header, payload) = packet.split_at(40);
    // Destination options: TCP follows; six bytes of padding.
    let options = [6, 0, 1, 4, 0, 0, 0, 0];
    let payload = [if extended { &options[..] } else { &[] }, payload].concat();
    let pieces = payload.chunks(512).enumerate().map(|(number, piece)| {
        let more = u16::from((number + 1) * 512 < payload.len());
        let [high, low] = ((number * 512) as u16 | more).to_be_bytes();
        let extension = [if extended { 60 } else { 6 }, 0, high, low, 0, 0, 0, 9];
        let mut fragment = [header, &extension, piece].concat();
        fragment[4..6].copy_from_slice(&(8 + piece.len() as u16).to_be_bytes());
        fragment[6] = 44;
        fragment
    });
    pieces.collect()
}

/// IP in IP, cut where the tunnel is too narrow; one that lacks a fragment is another protocol's.
#[test]
fn fragments_of_a_tunnel_are_one_packet() {
    let packets = drill("open 0.010\n0.1 > 1:1449\n0.2 > 1449:2897\n", 1_000);
    let mut analyzer = Analyzer::new();
    feed(&mut analyzer, &packets[..3]);
    for (packet, taken) in [(&packets[3], 0), (&packets[4], 1)] {
        let mut outer = packet.bytes[..20].to_vec();
        let length = 20 + packet.bytes.len() as u16;
        outer[2..4].copy_from_slice(&length.to_be_bytes());
        outer[4..6].copy_from_slice(&[7, taken]);
        outer[9] = 4;
        outer.extend(&packet.bytes);
        let pieces = fragments(&outer, 400);
        assert_eq!(pieces.len(), 4);
        for piece in &pieces[usize::from(taken)..] {
            analyzer.packet(&Frame::whole(packet.time_ns, LinkType::RawIp, piece));
        }
    }
    let trace = analyzer.finish();
    assert_eq!(trace.connections[0].forward.totals.data, Bytes::new(1448));
    let others: Vec<_> = trace.others.iter().map(|it| (&it.protocol[..], it.packets)).collect();
    assert_eq!(others, [("IPv4 in IP", 3)]);
}

/// RFC 8200 section 4.5.
#[test]
fn fragments_of_ipv6_are_one_packet() {
    for extended in [false, true] {
        for is_reversed in [false, true] {
            let mut pieces = fragments_of_ipv6(extended);
            if is_reversed {
                pieces.reverse();
            }
            let mut analyzer = Analyzer::new();
            for (number, piece) in pieces.iter().enumerate() {
                analyzer.packet(&Frame::whole(number as u64, LinkType::RawIp, piece));
            }
            let trace = analyzer.finish();
            assert_eq!(trace.notes, [], "{extended}");
            let connection = &trace.connections[0];
            assert_eq!(connection.forward.totals.data, Bytes::new(1_000), "{extended}");
            assert_eq!((connection.client.port(), connection.server.port()), (1, 2));
        }
    }
}

#[test]
fn fragment_missing_behind_extension_headers_noted() {
    let mut analyzer = Analyzer::new();
    analyzer.packet(&Frame::whole(0, LinkType::RawIp, &fragments_of_ipv6(true)[0]));
    let notes = analyzer.finish().notes;
    assert!(notes[0].text.contains("lacks fragments"), "{notes:?}");
}

/// What a filter makes of a transfer whose second segment comes in pieces, one the wrong way round.
fn filtered(text: &str) -> Trace {
    let packets = drill("open 0.010\n0.1 > 1:1449\n0.2 < ack 1449\n", 1_000);
    let filter = Filter::parse(text).unwrap();
    let mut analyzer = Analyzer::new().with_filter(Some(filter.clone()));
    let mut frames: Vec<&[u8]> = packets[..3].iter().map(|packet| &packet.bytes[..]).collect();
    let mut pieces = fragments(&packets[3].bytes, 400);
    pieces.swap(0, 1);
    frames.extend(pieces.iter().map(|piece| &piece[..]));
    frames.push(&packets[4].bytes);
    for (number, bytes) in frames.into_iter().enumerate() {
        let frame = Frame::whole(number as u64, LinkType::RawIp, bytes);
        if filter.admits_frame(&frame, Span::from_nanos(number as u64)) {
            analyzer.packet(&frame);
        } else {
            analyzer.skip(frame.time_ns);
        }
    }
    analyzer.finish()
}

#[test]
fn fragments_pass_filter_together() {
    let all = filtered("time ..1s");
    let connection = &all.connections[0];
    assert_eq!(connection.forward.totals.data, Bytes::new(1_448));
    let client = connection.client;
    for text in [
        format!("port {}", client.port()),
        format!("host {} and port {}", client.ip(), client.port()),
        format!("not port {}", client.port() - 1),
    ] {
        let trace = filtered(&text);
        assert_eq!(trace.connections, all.connections, "{text}");
        assert_eq!((&trace.others, &trace.notes), (&all.others, &all.notes), "{text}");
    }
    for text in ["host 192.0.2.1", "port 9", "time 5s.."] {
        let trace = filtered(text);
        assert_eq!((trace.connections.len(), trace.packets), (0, 8), "{text}");
        assert_eq!((trace.others, trace.notes), (vec![], vec![]), "{text}");
    }
}
