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
    for packet in once {
        let later = Captured { time_ns: packet.time_ns + 4_000, ..packet.clone() };
        twice.extend([packet, later]);
    }
    let trace = analyze(&twice);
    let flow = &trace.connections[0].forward;
    // The SYN and five segments.
    assert_eq!(flow.causes.capture_duplicates.count, 6);
    assert_eq!((flow.totals.retransmissions, flow.totals.duplicate_acks), (0, 0));
    assert_eq!(flow.totals.unique, Bytes::new(7_240));
}

/// A host of virtual machines captures a large packet and the segments that it was cut into; a
/// retransmission as soon after it has a later IP identification.
#[test]
fn segments_of_a_captured_large_packet_are_duplicates() {
    let text = "0.000 > S id 1
                0.0002 < S id 60
                0.00021 > ack 1 id 2
                0.100 > 1:24617 id 3
                0.1002 < ack 1 id 61 sack 2897-24617
                0.10021 > 1:1449 id 20
                0.1004 < ack 24617 id 62
                0.200 > 24617:26065 id 21
                0.2002 < ack 26065 id 63";
    let mut packets = drill(text, 1_000);
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
