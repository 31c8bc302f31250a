//! Packets that the capture holds more than once.

use tcplab_units::Bytes;

use super::drill::{Captured, analyze, drill};

#[test]
fn capture_duplicate_not_counted_as_sent() {
    let text = "0.000 > S id 1
                0.020 < S id 60
                0.0201 > ack 1 id 2
                0.100 > 1:7241 id 3 every 0.001
                0.121 < ack 1449 id 61
                0.123 < ack 4345 id 62
                0.125 < ack 7241 id 63";
    let once = drill(text, 1_000);
    let mut twice = Vec::new();
    for packet in once.clone() {
        let later = Captured { time_ns: packet.time_ns + 4_000, ..packet.clone() };
        twice.extend([packet, later]);
    }
    let trace = analyze(&twice);
    let flow = &trace.connections[0].forward;
    // The SYN, the last ACK of the handshake and five segments.
    assert_eq!(flow.causes.capture_duplicates.count, 7);
    assert_eq!((flow.totals.retransmissions, flow.totals.duplicate_acks), (0, 0));
    assert_eq!(flow.totals.unique, Bytes::new(7_240));
    // The SYN-ACK and three ACKs.
    let answers = &trace.connections[0].reverse;
    assert_eq!(answers.causes.capture_duplicates.count, 4);
    // All that is counted is as of the capture without copies.
    let original = analyze(&once);
    let [original] = &original.connections[..] else { panic!("one connection") };
    assert_eq!((flow.totals, answers.totals), (original.forward.totals, original.reverse.totals));
    assert_eq!((flow.transfer, flow.acking.acks), (original.forward.transfer, 3));
}

/// Of a capture each packet of which is there twice, the second one so much later.
fn doubled(text: &str, later_ns: u64) -> Vec<Captured> {
    let mut packets = drill(text, 1_000);
    let copies = packets
        .clone()
        .into_iter()
        .map(|packet| Captured { time_ns: packet.time_ns + later_ns, ..packet });
    packets.extend(copies);
    packets.sort_by_key(|packet| packet.time_ns);
    packets
}

/// A receiver without SACK repeats its ACK for each segment above the gap; the copies come between
/// ACKs, too. Without identifications each ACK has one copy.
#[test]
fn repeated_acks_are_counted_without_their_copies() {
    let ids = |id: u32, count: u32| {
        (0..count).map(|step| format!(" id {}", id + step)).collect::<Vec<_>>()
    };
    let none = vec![String::new(); 6];
    for (ids, later_ns) in
        [(ids(61, 6), 300), (ids(61, 6), 60_000), (none.clone(), 300), (none, 60_000)]
    {
        let [first, second, third, fourth, all, last] = &ids[..] else { panic!("six") };
        let text = format!(
            "open 0.020 nosack
             0.100 > 1:8689 id 10
             0.12001 < ack 1449{first}
             0.12005 < ack 1449{second}
             0.12009 < ack 1449{third}
             0.12013 < ack 1449{fourth}
             0.130 > 1449:2897 id 16
             0.150 < ack 8689{all}
             0.160 > 8689:8690 fin id 17
             0.180 < ack 8690{last}"
        );
        let once = analyze(&drill(&text, 1_000));
        let twice = analyze(&doubled(&text, later_ns));
        let [once, twice] = [&once, &twice].map(|trace| &trace.connections[0].forward);
        assert_eq!(once.totals.duplicate_acks, 3);
        let counts = |totals: crate::Totals| {
            (totals.pure_acks, totals.duplicate_acks, totals.segments, totals.data)
        };
        assert_eq!(counts(twice.totals), counts(once.totals), "{ids:?}, {later_ns}");
    }
}

/// A large packet, of which its first segment is sent again.
const LARGE: &str = "0.000 > S id 1
    0.0002 < S id 60
    0.00021 > ack 1 id 2
    0.100 > 1:24617 id 3
    0.1002 < ack 1 id 61 sack 2897-24617
    0.10021 > 1:1449 id 20
    0.1004 < ack 24617 id 62
    0.200 > 24617:26065 id 21
    0.2002 < ack 26065 id 63";

/// A host of virtual machines captures a large packet and the segments that it was cut into; a
/// retransmission as soon after it has a later IP identification.
#[test]
fn segments_of_a_captured_large_packet_are_duplicates() {
    let mut packets = drill(LARGE, 1_000);
    let mut whole = packets[3].clone();
    whole.bytes.resize(40 + 24_616, 0);
    whole.bytes[2..4].copy_from_slice(&(40_u16 + 24_616).to_be_bytes());
    for packet in &mut packets[3..20] {
        packet.time_ns += 5_000;
    }
    packets.insert(3, whole);
    let trace = analyze(&packets);
    let flow = &trace.connections[0].forward;
    assert_eq!(flow.causes.capture_duplicates.count, 17);
    assert_eq!(flow.totals.retransmissions, 1);
    assert_eq!(flow.totals.unique, Bytes::new(26_064));
}

/// Beside the receiver: 14481:15929 is late, and its retransmission arrives first. The original has
/// the identification of its place and an earlier timestamp; a copy would have neither.
#[test]
fn original_overtaken_by_its_retransmission_is_out_of_order() {
    let text = |late: &str| {
        format!(
            "open 0.00002 0.040
             0.100 > 1:14481 every 0.001 id 10 clock 100
             0.1095 < ack 14481
             0.111 > 15929:28961 every 0.001 id 21 clock 101
             0.1111 < ack 14481 sack 15929-... 28961 every 0.001
             0.150 > 14481:15929 id 30 clock 150
             0.1501 < ack 28961
             0.151 > 28961:34753 every 0.001 id 31 clock 151
             0.1545 < ack 34753
             {late}"
        )
    };
    for (late, reordered, copies) in [
        ("0.160 > 14481:15929 id 20 clock 101", 1, 0),
        // Without the timestamp the identification decides.
        ("0.160 > 14481:15929 id 20", 1, 0),
        ("0.160 > 14481:15929 id 30 clock 150", 0, 1),
    ] {
        let flow = super::drill::flow(&text(late));
        let causes = &flow.causes;
        let found = (causes.out_of_order.count, causes.network_duplicates.count);
        assert_eq!((found, flow.totals.retransmissions), ((reordered, copies), 1), "{late}");
    }
}

/// Between a packet and its copy lie as many packets as pass in the time of a queue: of a copy that
/// a router sent on, too, whose time to live is one less.
#[test]
fn copies_behind_many_packets_are_no_retransmissions() {
    let text = "0.000 > S id 1
                0.040 < S id 498
                0.04001 > ack 1 id 2
                0.100 > 1:57921 every 0.0001 id 10
                0.140 < ack 1449 id 500 sack 2897-57921
                0.1401 > 1449:2897 id 50
                0.180 < ack 57921 id 501
                0.200 > 57921:115841 every 0.0001 id 51
                0.240 < ack 115841 id 502
                0.250 > 115841:173761 every 0.00001 id 91
                0.290 < ack 173761 id 503";
    let once = analyze(&drill(text, 1_000));
    let [once] = &once.connections[..] else { panic!("one connection") };
    assert_eq!(once.forward.totals.retransmissions, 1);
    for later_ns in [5_000, 150_000, 1_100_000, 5_000_000] {
        for is_routed in [false, true] {
            let mut packets = doubled(text, later_ns);
            let mut seen = std::collections::BTreeSet::new();
            for packet in &mut packets {
                // The first byte after the identification and flags is the time to live.
                let is_copy = !seen.insert(packet.bytes.clone());
                packet.bytes[8] -= u8::from(is_copy && is_routed);
            }
            let twice = analyze(&packets);
            let [twice] = &twice.connections[..] else { panic!("one connection") };
            for (once, twice) in [(&once.forward, &twice.forward), (&once.reverse, &twice.reverse)]
            {
                assert_eq!(once.totals, twice.totals, "{later_ns} ns, routed: {is_routed}");
            }
            // The SYN, the last ACK of the handshake, and 121 segments. The first copies may be the
            // network's: one packet does not show that all have copies.
            let causes = &twice.forward.causes;
            let counts = [&causes.capture_duplicates, &causes.network_duplicates];
            let [by_capture, by_network] = counts.map(|duplicates| duplicates.count);
            assert_eq!(by_capture + by_network, 123, "{later_ns} ns, routed: {is_routed}");
            assert!(by_network <= 11, "{later_ns} ns: {by_network}");
        }
    }
}

/// Their kind is in the listing and in filters, too: they are counted nowhere.
#[test]
fn copies_of_acks_are_marked() {
    let text = "open 0.020
                0.100 > 1:4345 id 10
                0.120 < ack 1449 id 61
                0.122 < ack 4345 id 62";
    let trace = analyze(&doubled(text, 4_000));
    let connection = &trace.connections[0];
    let copies: Vec<u64> =
        connection.forward.acks.iter().filter(|ack| ack.copied).map(|ack| ack.frame).collect();
    assert_eq!(copies, [4, 14, 16]);
    let filter = crate::DisplayFilter::parse("tcplab.duplicate").unwrap();
    let listed = crate::listing(0, connection, Some(&filter));
    assert_eq!(listed.matches("[copy]").count(), 3, "{listed}");
    assert!(listed.contains("8 of 16 packets"), "{listed}");
}

/// A capture before and after the receiver's card or kernel joined segments to large packets, of
/// which each has the identification of its first segment. A large retransmission has a later one.
#[test]
fn large_packet_behind_its_segments_is_a_duplicate() {
    let packets = drill(LARGE, 1_000);
    // Copies are counted in segments.
    for (id, retransmissions, copies) in [(3, 1, 17), (22, 2, 0)] {
        let mut packets = packets.clone();
        let mut whole = packets[3].clone();
        whole.bytes.resize(40 + 24_616, 0);
        whole.bytes[2..4].copy_from_slice(&(40_u16 + 24_616).to_be_bytes());
        whole.bytes[4..6].copy_from_slice(&u16::to_be_bytes(id));
        whole.time_ns += 20_000;
        packets.insert(20, whole);
        let trace = analyze(&packets);
        let flow = &trace.connections[0].forward;
        let found = (flow.totals.retransmissions, flow.causes.capture_duplicates.count);
        assert_eq!(found, (retransmissions, copies), "identification {id}");
    }
}
