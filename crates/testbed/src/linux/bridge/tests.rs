//! Segments in the store and on their way out, against packets that were cut before.

use proptest::prelude::*;
use tcplab_path::PathSpec;
use tcplab_wire::offload::{GsoType, Layout, VnetHeader};
use tcplab_wire::{Ecn, Ipv4Repr, TcpRepr};

use super::*;

const GSO: usize = 1448;

/// A super-packet as the kernel hands it over.
fn super_packet(data_len: usize) -> (VnetHeader, Vec<u8>) {
    let ip = Ipv4Repr {
        src: [10, 98, 0, 1].into(),
        dst: [10, 98, 0, 2].into(),
        id: 9,
        ttl: 64,
        ecn: Ecn::NotEct,
    };
    let packet = TcpRepr::default().to_packet(&ip.into(), &vec![1; data_len]);
    let gso_type = if data_len > GSO { GsoType::TcpV4 } else { GsoType::None };
    (VnetHeader { gso_type, gso_size: GSO as u16, ..VnetHeader::COMPLETE }, packet)
}

/// Reads it into the store.
fn read(store: &mut Store, id: u64, (header, packet): &(VnetHeader, Vec<u8>)) -> usize {
    store.room()[..packet.len()].copy_from_slice(packet);
    let received =
        Received { header: *header, at: 0, len: packet.len(), link: LinkHeader::default() };
    let layout = store.layout_of(received).unwrap();
    store.keep(id, received, layout);
    layout.map_or(1, |layout| layout.segments())
}

/// Verdicts on packets whose sizes and times are given, by number and size or with their bytes.
fn verdicts(spec: &str, by_size: bool) -> Vec<Verdict> {
    let spec: PathSpec = serde_json::from_str(spec).unwrap();
    let plan = spec.link(Direction::Forward).unwrap();
    assert!(!plan.reads_packets());
    let mut link = Link::new(&plan, 7, Direction::Forward);
    let mut id = 0;
    let mut verdicts = Vec::new();
    for turn in 0..300_u64 {
        let now = Instant::from_nanos(turn * 700_000);
        let (_, packet) = super_packet(100 + turn as usize * 200);
        let layout = Layout::of(&packet, GSO as u16).unwrap();
        for index in 0..layout.segments() {
            id += 1;
            let packet = if by_size {
                Packet::of_size(id, Bytes::from(layout.size(index)))
            } else {
                let mut bytes = Vec::new();
                layout.write_segment(&packet, index, usize::MAX, &mut bytes);
                Packet::new(id, bytes)
            };
            link.handle_packet(now, packet);
        }
        verdicts.extend(std::iter::from_fn(|| link.poll(now)).map(|left| left.verdict));
    }
    verdicts.extend(link.drain(Instant::from_nanos(300 * 700_000)).into_iter().map(|d| d.verdict));
    verdicts
}

#[test]
fn segments_that_stay_behind_get_the_verdicts_of_packets_that_were_cut() {
    for spec in [
        r#"{ "loss": "5 %" }"#,
        r#"{ "rate": "300 Mbit/s", "queue": "40 kB", "delay": "3 ms", "loss": "2 %",
             "interruption": { "every": "50 ms", "lasting": "7 ms" } }"#,
    ] {
        let found = verdicts(spec, true);
        assert_eq!(found, verdicts(spec, false));
        assert!(found.iter().any(|v| v.fate.cause().is_some()), "{spec}: nothing was dropped");
        assert!(found.iter().any(|v| v.fate == Fate::Delivered), "{spec}: nothing came through");
    }
}

#[test]
fn path_without_packet_parsing_gives_same_verdicts() {
    for (spec, is_instant) in [
        ("{}", true),
        (r#"{ "loss": "1 %", "interruption": { "every": "5 s", "lasting": "1 s" } }"#, true),
        (r#"{ "delay": "1 ms" }"#, false),
        (r#"{ "rate": "1 Mbit/s" }"#, false),
    ] {
        let spec: PathSpec = serde_json::from_str(spec).unwrap();
        assert_eq!(spec.link(Direction::Forward).unwrap().is_instant(), is_instant);
    }
}

proptest! {
    /// Whatever order segments go in, the others stay findable and unharmed, and memory that is
    /// free again is used again.
    #[test]
    fn store_keeps_packet_until_segments_are_released(
        sizes in prop::collection::vec(1..60_000_usize, 1..20),
        seed: u64,
    ) {
        let mut store = Store::new();
        let mut rng = tcplab_units::Rng::new(seed, "order");
        let mut next = 1;
        let mut open: Vec<(u64, usize)> = Vec::new();
        for size in sizes {
            let segments = read(&mut store, next, &super_packet(size));
            for segment in 0..segments {
                let layout = Layout::of(&super_packet(size).1, GSO as u16).unwrap();
                open.push((next + segment as u64, layout.size(segment)));
            }
            next += segments as u64;
            rng.shuffle(&mut open);
            for (id, size) in open.split_off(open.len() / 2) {
                let place = store.find(id).unwrap();
                prop_assert_eq!(store.look(place.serial).size(place.segment), size);
                store.release(place.serial, 1);
            }
        }
        for (id, size) in open {
            let place = store.find(id).unwrap();
            prop_assert_eq!(store.look(place.serial).size(place.segment), size);
            store.release(place.serial, 1);
        }
        prop_assert_eq!(store.find(next), None);
        prop_assert_eq!(store.find(1), None);
    }
}
