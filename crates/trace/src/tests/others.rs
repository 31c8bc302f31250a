//! Packets that TCP's own sender did not send, or sent once: a prober's, a radio's, another
//! subflow's; ACKs that a device sends first.

use tcplab_units::Endpoint;
use tcplab_wire::LinkType;

use super::drill::{Captured, analyze, connection, drill, flow};
use crate::{Analyzer, Confidence, Connection, Frame, SegmentKind};

/// Packets of 802.11 behind radiotap, each with its flags.
fn on_air(packets: &[(Captured, u8)]) -> Connection {
    let mut analyzer = Analyzer::new();
    for (packet, flags) in packets {
        let mut frame = vec![0, 0, 8, 0, 0, 0, 0, 0, 0x08, *flags];
        frame.extend([0; 22]);
        frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        frame.extend(&packet.bytes);
        analyzer.packet(&Frame::whole(packet.time_ns, LinkType::Radiotap, &frame));
    }
    analyzer.finish().connections.remove(0)
}

/// A radio repeats a frame whose link acknowledgement it missed: with the bit Retry (IEEE 802.11
/// section 9.2.4.1.6). Without it the same frames are the network's copies.
#[test]
fn frames_that_a_radio_repeats_are_link_retries() {
    const RETRY: u8 = 0x08;
    const FROM_ACCESS_POINT: u8 = 0x02;
    let packets = drill(
        "open 0.020\n0.100 > 1:5793 id 10 every 0.001\n0.130 < ack 5793 id 7\n0.140 < ack 5793 win 400 id 8",
        1_000,
    );
    for (flags, expected) in [(RETRY, [3, 0]), (0, [0, 3])] {
        let mut sent = Vec::new();
        for (index, packet) in packets.iter().enumerate() {
            sent.push((packet.clone(), FROM_ACCESS_POINT));
            for again in 1..=if index == 4 { 3 } else { 0 } {
                let time_ns = packet.time_ns + again * 200_000;
                sent.push((Captured { time_ns, ..packet.clone() }, FROM_ACCESS_POINT | flags));
            }
        }
        let connection = on_air(&sent);
        let causes = &connection.forward.causes;
        let copies = causes.network_duplicates.count + causes.capture_duplicates.count;
        assert_eq!([causes.link_retries.count, copies], expected, "{flags}");
        assert_eq!(connection.forward.totals.retransmissions, 0);
        assert_eq!(connection.forward.totals.data_segments, 4);
    }
}

/// However many there are: they do not show that the capture has its frames twice.
#[test]
fn many_retries_are_no_copies_of_the_capture() {
    let packets = drill("open 0.020\n0.100 > 1:57921 id 10 every 0.001", 1_000);
    let twice = |packet: &Captured| {
        let later = Captured { time_ns: packet.time_ns + 20_000, ..packet.clone() };
        [(packet.clone(), 0x02), (later, 0x0a)]
    };
    let connection = on_air(&packets.iter().flat_map(twice).collect::<Vec<_>>());
    let causes = &connection.forward.causes;
    assert_eq!(causes.link_retries.count, 41, "{causes:?}");
    assert_eq!((causes.network_duplicates.count, causes.capture_duplicates.count), (0, 0));
}

/// Beside the receiver an ACK overtakes three data segments, by its identification; they keep
/// their order, so no data were reordered (RFC 4737 section 3.3 compares sequence numbers of what
/// arrives). Without the announcement nothing is told.
#[test]
fn acks_that_overtake_data_reorder_nothing() {
    let text = "open 0.00002 0.040
                0.100 > 1:2897 id 10 every 0.001
                0.1011 < 1:101 acking 2897
                0.1400 > ack 101 at 7241 id 15
                0.1401 > 2897:7241 id 12 every 0.001
                0.1435 < ack 7241 at 101
                0.180 > 7241:8689 id 16";
    let flow = flow(text);
    let causes = &flow.causes;
    assert_eq!((causes.early_acks.count, &causes.early_acks.frames[..]), (1, &[7][..]));
    assert_eq!(causes.out_of_order.count, 0);
    assert!(flow.segments.iter().all(|it| it.kind == SegmentKind::New), "{:?}", flow.segments);
    // A segment that a later one overtook is out of order.
    let swapped = text
        .replace("2897:7241 id 12 every 0.001", "4345:7241 id 13 every 0.001")
        .replace("0.1435", "0.1433 > 2897:4345 id 12\n0.1435");
    let causes = super::drill::flow(&swapped).causes;
    assert_eq!((causes.early_acks.count, causes.out_of_order.count), (1, 1));
}

/// At the sender a prober writes raw packets above the connection's data (a traceroute by SACK):
/// the FIN that its kernel sends is its first.
const PROBED: &str = "0 > S id 9
    0.0200 < S
    0.0201 > ack 1 id 10
    0.1000 > 2:3
    0.1001 > 3:4
    0.1002 > 4:5
    0.1003 > 5:6
    0.1004 > 6:7
    0.1200 < ack 1 sack 2-3
    0.1201 < ack 1 sack 2-4
    0.1202 < ack 1 sack 2-5
    0.1203 < ack 1 sack 2-6
    0.1204 < ack 1 sack 2-7
    8.0000 > 1:2 fin id 11
    8.0200 < ack 2 sack 2-7";

#[test]
fn first_fin_below_a_probers_data_is_no_retransmission() {
    let causes = flow(PROBED).causes;
    assert_eq!((causes.fin_retransmissions.count, causes.timeouts.count), (0, 0));
    assert_eq!(causes.ignored_acks.timeouts(), 0);
    // Once more it is.
    let again = format!("{PROBED}\n9 > 1:2 fin id 12").replace("8.0200 < ack 2 sack 2-7\n", "");
    assert_eq!(
        flow(&again.replace("8.0200 < ack 2 sack 2-7", "")).causes.fin_retransmissions.count,
        1
    );
}

/// Data without the agreed timestamps are not the connection's (RFC 7323 section 3.2).
#[test]
fn data_without_agreed_timestamps_are_not_the_connections() {
    let stamped = |fin: &str| {
        PROBED
            .replace("S id 9", "S id 9 clock 1")
            .replace("< S", "< S clock 5 echo 1")
            .replace("ack 1 id 10", "ack 1 clock 2 echo 5 id 10")
            .replace("fin id 11", fin)
    };
    let text = stamped("fin id 11 clock 9 echo 5");
    let trace = analyze(&drill(&text, 1_000));
    let connection = &trace.connections[0];
    let totals = &connection.forward.totals;
    assert_eq!((totals.data.as_u64(), totals.retransmissions, connection.packets), (0, 0, 15));
    let notes = trace.notes.iter().map(|note| (note.frame.unwrap_or_default(), &note.text[..]));
    let text_of_each = "data without the timestamps that both ends agreed on (RFC 7323 section \
                        3.2): a probe's or forged; counted but not analysed";
    assert!(notes.eq((4..=8).map(|frame| (frame, text_of_each))), "{:?}", trace.notes);
    // An end that leaves them out of its ACKs leaves them out of its data.
    let leaves_out = text.replace("0.0201 > ack 1 clock 2 echo 5", "0.0201 > ack 1");
    assert_eq!(flow(&leaves_out).totals.data.as_u64(), 5);
    // So does one whose data the other end takes in: the first were missed, and are told as such.
    let taken = flow(
        "0 > S clock 1\n0.02 < S clock 5 echo 1\n0.0201 > ack 1 clock 2 echo 5
         0.1 > 1:101 clock 3\n0.12 < ack 101\n0.13 > 101:201\n0.15 < ack 201\n0.16 > 201:301
         0.18 < ack 301",
    );
    let missed = taken.causes.acked_not_captured_bytes.as_u64();
    assert_eq!((taken.totals.data.as_u64(), missed), (200, 100));
    // Where one end did not offer them none are due.
    let not_agreed = stamped("fin id 11").replace(" clock 5 echo 1", "");
    assert_eq!(flow(&not_agreed).totals.data.as_u64(), 5);
}

/// What an option of Multipath TCP ends (RFC 8684 section 8.1, table 4).
#[test]
fn ends_of_multipath_are_read() {
    let opened = "0 > S option 1e040001\n0.01 < S option 1e0c00010102030405060708\n0.0101 > ack 1";
    for (option, frame) in
        [("1e0c70000102030405060708", "fast"), ("1e040005", "other"), ("1e044005", "removed")]
    {
        let connection =
            connection(&format!("{opened}\n5 > ack 1 option {option}\n5.1 < R 1 ack 1"));
        let life = &connection.life;
        let signs = [life.fast_close, life.address_removed];
        let found = signs.map(|sign| sign.map(|sign| (sign.by, sign.frame)));
        let sign = Some((Endpoint::Client, 4));
        let expected = match frame {
            "fast" => [sign, None],
            "removed" => [None, sign],
            _ => [None; 2],
        };
        assert_eq!(found, expected, "{option}");
        assert!(connection.forward.shares.confidence <= Confidence::Low);
    }
}
