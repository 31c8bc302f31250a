//! Analysing a capture in memory: a bulk transfer, an acknowledgement for every two segments.

use divan::counter::ItemsCount;
use tcplab_capture::{Interface, Packet, PcapngWriter, Reader, Section, UnixTime};
use tcplab_wire::{Ecn, IpRepr, Ipv4Repr, SeqNumber, TcpFlags, TcpRepr};

const SEGMENTS: u32 = 20_000;
const MSS: u32 = 1448;

fn main() {
    divan::main();
}

#[divan::bench]
fn bulk(bencher: divan::Bencher<'_, '_>) {
    let capture = capture();
    let packets = tcplab_trace::analyze(reader(&capture)).packets;
    bencher
        .counter(ItemsCount::new(packets))
        .bench(|| tcplab_trace::analyze(reader(&capture)).connections.len());
}

fn reader(capture: &[u8]) -> Reader<&[u8]> {
    Reader::new(capture).expect("a capture")
}

fn capture() -> Vec<u8> {
    let section = Section { hardware: None, os: None, application: None };
    let mut writer = PcapngWriter::new(Vec::new(), &section).expect("memory takes everything");
    let interface = Interface { link_type: 101, ..Interface::default() };
    let interface = writer.add_interface(&interface).expect("memory takes everything");
    let mut time = 0;
    let mut put = |bytes: Vec<u8>| {
        time += 10_000;
        let packet = Packet {
            interface,
            time: UnixTime::from_nanos(time),
            captured: &bytes,
            original_len: bytes.len() as u32,
            direction: None,
            comments: &[],
        };
        writer.write_packet(&packet).expect("memory takes everything");
    };
    let payload = [0; MSS as usize];
    put(packet(true, 0, 0, TcpFlags::SYN, &[]));
    put(packet(false, 0, 1, TcpFlags::SYN | TcpFlags::ACK, &[]));
    put(packet(true, 1, 1, TcpFlags::ACK, &[]));
    for segment in 0..SEGMENTS {
        let start = 1 + segment * MSS;
        put(packet(true, start, 1, TcpFlags::ACK, &payload));
        if segment % 2 == 1 {
            put(packet(false, 1, start + MSS, TcpFlags::ACK, &[]));
        }
    }
    writer.finish().expect("memory takes everything")
}

fn packet(from_client: bool, seq: u32, ack: u32, flags: TcpFlags, payload: &[u8]) -> Vec<u8> {
    let (client, server) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let (src, dst) = if from_client { (client, server) } else { (server, client) };
    let (src_port, dst_port) = if from_client { (40_000, 5_001) } else { (5_001, 40_000) };
    let ip = IpRepr::V4(Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct });
    let tcp = TcpRepr {
        src_port,
        dst_port,
        seq: SeqNumber::new(seq),
        ack: SeqNumber::new(ack),
        flags,
        window: 65_535,
        timestamps: Some((1, 1)),
        ..TcpRepr::default()
    };
    tcp.to_packet(&ip, payload)
}
