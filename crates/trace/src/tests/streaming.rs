//! Connections that are over are handed over, and what is kept of them is little.

use tcplab_units::Instant;

use super::drill::{Captured, drill, feed};
use crate::{Ack, Analyzer, Connection, FlowId, Segment, Sink};

const OPENED: &str = "
    open 0.010 0.011
    0.020 > 1:1449
    0.030 < ack 1449";
const CLOSED: &str = "
    0.100 > 1449:1450 fin
    0.110 < 1:2 fin
    0.1101 < ack 1450
    0.111 > ack 2";

/// Stores everything but wants no packets.
#[derive(Debug, Default)]
struct Sums {
    connections: Vec<(usize, Connection)>,
    late: Vec<(usize, u64)>,
}

impl Sink for Sums {
    fn wants_packets(&self) -> bool {
        false
    }
    fn segment(&mut self, _: FlowId, _: Segment) {
        panic!("no packets are wanted");
    }
    fn ack(&mut self, _: FlowId, _: Ack) {
        panic!("no packets are wanted");
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        self.connections.push((index, connection));
    }
    fn late(&mut self, index: usize, _: Instant, frame: u64) {
        self.late.push((index, frame));
    }
}

fn sums(packets: &[Captured]) -> Sums {
    let mut analyzer = Analyzer::with_sink(Sums::default());
    feed(&mut analyzer, packets);
    analyzer.finish_into().1
}

/// `text` by a client at this port.
fn by(port: u16, text: &str, after_ns: u64) -> Vec<Captured> {
    let mut packets = drill(text, 1_000);
    for packet in &mut packets {
        packet.time_ns += after_ns;
        let from_client = packet.bytes[12..16] == [10, 0, 0, 1];
        let at = if from_client { 20 } else { 22 };
        packet.bytes[at..at + 2].copy_from_slice(&port.to_be_bytes());
    }
    packets
}

#[test]
fn closed_connection_late_packets_counted() {
    let text =
        format!("{OPENED}{CLOSED}\n1.0 < 1:2 fin\n1.9 < 1:2 fin\n3.2 < 1:2 fin\n5 < ack 1450");
    let found = sums(&drill(&text, 1_000));
    let (index, connection) = &found.connections[0];
    assert_eq!((*index, connection.packets, connection.frames), (0, 11, (1, 11)));
    assert_eq!(found.late, [(0, 12), (0, 13)]);
}

#[test]
fn packet_sink_gets_packets_after_close() {
    let text = format!("{OPENED}{CLOSED}\n3.2 < 1:2 fin");
    let mut analyzer = Analyzer::new();
    feed(&mut analyzer, &drill(&text, 1_000));
    let trace = analyzer.finish();
    assert_eq!(trace.connections.len(), 1);
    assert_eq!(trace.connections[0].packets, 10);
    assert_eq!(trace.connections[0].reverse.segments.len(), 3);
}

#[test]
fn reset_finishes_connection() {
    let mut packets = drill(OPENED, 1_000);
    packets.append(&mut drill("0.2 > R 1449 ack 1", 1_000));
    packets.append(&mut drill("5 < ack 1449", 1_000));
    let found = sums(&packets);
    assert_eq!(found.connections[0].1.packets, 6);
    assert_eq!(found.late, [(0, 7)]);
}

#[test]
fn new_syn_starts_another_connection() {
    for pause in [0, 10_000_000_000] {
        let mut packets = drill(&format!("{OPENED}{CLOSED}"), 1_000);
        let mut second = drill(OPENED, 90_000);
        for packet in &mut second {
            packet.time_ns += 200_000_000 + pause;
        }
        packets.append(&mut second);
        let found = sums(&packets);
        let connections: Vec<_> =
            found.connections.iter().map(|(i, c)| (*i, c.packets, c.reuses)).collect();
        assert_eq!(connections, [(0, 9, None), (1, 5, Some(0))]);
        assert_eq!(found.late, []);
    }
}

#[test]
fn repeated_syn_after_close_is_late() {
    let mut packets = drill(&format!("{OPENED}{CLOSED}"), 1_000);
    let mut again = drill("9.0 > S", 1_000);
    packets.append(&mut again);
    let found = sums(&packets);
    assert_eq!((found.connections.len(), found.late.len()), (1, 1));
}

#[test]
fn closed_connections_reported_once() {
    let text = format!("{OPENED}{CLOSED}");
    let mut packets: Vec<Captured> =
        (0..3_000_u64).flat_map(|n| by(10_000 + n as u16, &text, n * 100_000)).collect();
    packets.sort_by_key(|packet| packet.time_ns);
    let mut analyzer = Analyzer::with_sink(Sums::default());
    feed(&mut analyzer, &packets);
    let early = analyzer.sink().connections.len();
    assert!((1_900..3_000).contains(&early), "{early} were handed over before the end");
    let (_, mut found) = analyzer.finish_into();
    found.connections.sort_by_key(|(index, _)| *index);
    for (place, (index, connection)) in found.connections.iter().enumerate() {
        assert_eq!((place, 10_000 + place as u16), (*index, connection.client.port()));
        assert_eq!(connection.packets, 9);
    }
    assert_eq!((found.connections.len(), found.late.len()), (3_000, 0));
}

#[test]
fn backward_time_does_not_delay_reports() {
    let text = format!("{OPENED}{CLOSED}");
    let mut analyzer = Analyzer::with_sink(Sums::default());
    for round in 0..3_000_u64 {
        feed(&mut analyzer, &by(round as u16, &text, (3_000 - round) * 2_000_000_000));
    }
    assert!(analyzer.sink().connections.len() > 1_900);
}
