//! Closed connections: packets that come after the close, and when what is known is handed over.

use super::drill::{Captured, drill, feed};
use crate::bounds::narrowed;
use crate::{Ack, Analyzer, Connection, FlowId, Note, Segment, Sink};

const OPENED: &str = "
    open 0.010 0.011
    0.020 > 1:1449
    0.030 < ack 1449";
const CLOSED: &str = "
    0.100 > 1449:1450 fin
    0.110 < 1:2 fin
    0.1101 < ack 1450
    0.111 > ack 2";

/// The bounds are halved this often: 4 closed connections are tracked.
const HALVINGS: u32 = 8;
const LATE: &str = "came after its connection";

/// Stores everything but wants no packets.
#[derive(Debug, Default)]
struct Sums(Vec<(usize, Connection)>);

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
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.0.push((index, connection.clone()));
    }
}

/// Stores the same and wants packets.
#[derive(Debug, Default)]
struct SumsOfPackets(Sums);

impl Sink for SumsOfPackets {
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.0.connection(index, connection);
    }
}

/// The connections and notes, which do not depend on whether a sink wants packets.
fn sums(packets: &[Captured]) -> (Vec<(usize, Connection)>, Vec<Note>) {
    let mut without = Analyzer::with_sink(Sums::default());
    let mut with = Analyzer::with_sink(SumsOfPackets::default());
    feed(&mut without, packets);
    feed(&mut with, packets);
    let (trace, sums) = without.finish_into();
    let (same, of_packets) = with.finish_into();
    assert_eq!(format!("{:?}", sums.0), format!("{:?}", of_packets.0.0));
    assert_eq!((&trace.others, &trace.notes), (&same.others, &same.notes));
    (sums.0, trace.notes)
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
fn packets_after_close_belong_to_connection() {
    let text =
        format!("{OPENED}{CLOSED}\n1.0 < 1:2 fin\n1.9 < 1:2 fin\n3.2 < 1:2 fin\n500 < ack 1450");
    let (found, notes) = sums(&drill(&text, 1_000));
    let (index, connection) = &found[0];
    assert_eq!((*index, connection.packets, connection.frames), (0, 13, (1, 13)));
    assert_eq!((found.len(), notes), (1, vec![]));
    assert_eq!(connection.life.after_close, 4);
}

#[test]
fn data_after_reset_belong_to_connection() {
    let mut packets = drill(OPENED, 1_000);
    packets.append(&mut drill("0.2 < R 1 ack 1449", 1_000));
    packets.append(&mut drill("5 > 1449:2897\n6 > 1449:2897\n6.2 < R 1", 1_000));
    let (found, _) = sums(&packets);
    let connection = &found[0].1;
    assert_eq!((found.len(), connection.packets), (1, 9));
    let totals = &connection.forward.totals;
    assert_eq!((totals.data_segments, totals.retransmissions), (3, 1));
    assert_eq!(totals.unique.as_u64(), 2 * 1_448);
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

/// The first of them has another packet when 6 are closed, the second when 7 are.
#[test]
fn connection_ends_when_many_others_closed_since_its_last_packet() {
    let text = format!("{OPENED}{CLOSED}");
    let mut packets: Vec<Captured> =
        (0..7_u64).flat_map(|n| by(10_000 + n as u16, &text, n * 1_000_000_000)).collect();
    packets.append(&mut by(10_000, "0.5 < 1:2 fin", 3_000_000_000));
    packets.append(&mut by(10_001, "0.5 < 1:2 fin", 6_000_000_000));
    packets.sort_by_key(|packet| packet.time_ns);
    let (mut found, notes) = narrowed(HALVINGS, || sums(&packets));
    found.sort_by_key(|(index, _)| *index);
    let counts: Vec<u64> = found.iter().map(|(_, connection)| connection.packets).collect();
    assert_eq!(counts, [10, 9, 9, 9, 9, 9, 9]);
    let late = notes.iter().filter(|note| note.text.starts_with(LATE));
    assert_eq!(late.map(|note| note.frame).collect::<Vec<_>>(), [Some(65)]);
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
        let (found, notes) = sums(&packets);
        let connections: Vec<_> = found.iter().map(|(i, c)| (*i, c.packets, c.reuses)).collect();
        assert_eq!(connections, [(0, 9, None), (1, 5, Some(0))]);
        assert_eq!(notes, []);
    }
}

#[test]
fn repeated_syn_after_close_belongs_to_connection() {
    let mut packets = drill(&format!("{OPENED}{CLOSED}"), 1_000);
    packets.append(&mut drill("9.0 > S", 1_000));
    let (found, _) = sums(&packets);
    assert_eq!((found.len(), found[0].1.packets), (1, 10));
}

/// Its checksum is wrong, the first one's right: no offloading, so it is left out with a note.
#[test]
fn damaged_syn_noted_for_every_sink() {
    let mut packets = drill("0 > S id 1\n1 > S id 2\n2 > S id 3", 1_000);
    packets[1].bytes[20 + 16] ^= 1;
    let (found, notes) = sums(&packets);
    assert_eq!((found.len(), found[0].1.packets), (1, 3));
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.text.starts_with("wrong checksum in a SYN, FIN or RST"), "{}", note.text);
    assert_eq!(note.frame, Some(2));
}

#[test]
fn closed_connections_reported_once() {
    let text = format!("{OPENED}{CLOSED}");
    let mut packets: Vec<Captured> =
        (0..3_000_u64).flat_map(|n| by(10_000 + n as u16, &text, n * 100_000)).collect();
    packets.sort_by_key(|packet| packet.time_ns);
    let mut analyzer = Analyzer::with_sink(Sums::default());
    feed(&mut analyzer, &packets);
    let early = analyzer.sink().0.len();
    assert!((1_900..3_000).contains(&early), "{early} were handed over before the end");
    let (trace, Sums(mut found)) = analyzer.finish_into();
    found.sort_by_key(|(index, _)| *index);
    for (place, (index, connection)) in found.iter().enumerate() {
        assert_eq!((place, 10_000 + place as u16), (*index, connection.client.port()));
        assert_eq!(connection.packets, 9);
    }
    assert_eq!((found.len(), trace.notes.len()), (3_000, 0));
}

#[test]
fn backward_time_does_not_delay_reports() {
    let text = format!("{OPENED}{CLOSED}");
    let mut analyzer = Analyzer::with_sink(Sums::default());
    for round in 0..3_000_u64 {
        feed(&mut analyzer, &by(round as u16, &text, (3_000 - round) * 2_000_000_000));
    }
    assert!(analyzer.sink().0.len() > 1_900);
}
