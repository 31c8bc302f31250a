use std::net::Ipv4Addr;

use proptest::prelude::*;
use tcplab_units::Probability;
use tcplab_wire::{Ecn, Ipv4Repr, SeqNumber, TcpFlags, TcpRepr};

use super::*;
use crate::{Direction, Link, Packet, PathSpec};

const ACK: TcpFlags = TcpFlags::ACK;
const SYN: TcpFlags = TcpFlags::SYN;
const FIN: TcpFlags = TcpFlags::FIN;
const RST: TcpFlags = TcpFlags::RST;

/// A segment of the connection from `port`.
fn segment(port: u16, flags: TcpFlags, seq: u32, len: usize) -> Vec<u8> {
    let (src, dst) = (Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2));
    let ip = Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct };
    let seq = SeqNumber::new(seq);
    TcpRepr { src_port: port, dst_port: 5201, seq, flags, ..TcpRepr::default() }
        .to_packet(&ip.into(), &vec![0; len])
}

fn rules(json: &str) -> DropRules {
    let spec: DropSpec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
    rules_of(&spec.plan().unwrap().expect("something to drop"))
}

fn rules_of(plan: &DropPlan) -> DropRules {
    let direction = Direction::Forward;
    DropRules::new(plan, Streams { seed: 42, direction, kind: "drop", number: 1 })
}

/// Which of `packets` the rule of that kind drops, by their place.
fn of_kind(kind: &str, packets: &[Vec<u8>]) -> Vec<usize> {
    dropped(&format!(r#"{{ "kind": "{kind}" }}"#), packets)
}

fn dropped(json: &str, packets: &[Vec<u8>]) -> Vec<usize> {
    let mut rules = rules(json);
    let hit = |packet: &Vec<u8>| rules.ask(packet).is_some();
    let hits = packets.iter().map(hit).collect::<Vec<_>>();
    (0..hits.len()).filter(|place| hits[*place]).collect()
}

#[test]
fn segment_kinds_follow_flags_and_lengths() {
    let urgent = TcpFlags::URG | TcpFlags::PSH | ACK;
    let packets = [
        segment(1, SYN, 99, 0),                  // 0
        segment(2, SYN | ACK, 99, 0),            // 1
        segment(1, ACK, 100, 0),                 // 2
        segment(1, ACK, 100, 1000),              // 3
        segment(1, urgent, 1100, 1),             // 4
        segment(1, FIN | ACK, 1101, 0),          // 5
        segment(1, FIN | ACK, 1101, 500),        // 6
        segment(1, RST | ACK, 1601, 0),          // 7
        segment(1, RST, 1601, 0),                // 8
        segment(1, SYN | TcpFlags::ECE, 99, 30), // 9: with data, as TCP Fast Open sends it
        segment(1, TcpFlags::NONE, 1601, 0),     // 10
        vec![0x45; 40],                          // 11: not TCP
        vec![],                                  // 12: nothing to see
    ];
    for (kind, places) in [
        ("syn", &[0, 9][..]),
        ("syn-ack", &[1]),
        ("fin", &[5, 6]),
        ("rst", &[7, 8]),
        ("pure-ack", &[2]),
        ("data", &[3, 4, 6, 9]),
    ] {
        assert_eq!(of_kind(kind, &packets), places, "{kind}");
    }
    let all: Vec<_> = (0..packets.len()).collect();
    assert_eq!(dropped(r#"{ "probability": "100 %" }"#, &packets), all, "of any kind");
}

#[test]
fn number_given_twice_is_named_once() {
    for (nth, words) in [
        ("[3, 3]", "packet 3"),
        (r#"["5..8", 1, 7]"#, "packet 1, 5 to 8"),
        (r#"["5..8", "2..6", 9]"#, "packet 2 to 8, 9"),
    ] {
        let json = format!(r#"{{ "nth": {nth} }}"#);
        let spec: DropSpec = serde_json::from_str(&json).unwrap();
        let plan = spec.plan().unwrap().unwrap();
        assert_eq!(plan.describe(), format!("Dropped by rule: {words}."), "{nth}");
    }
}

/// Data on a SYN is that of Fast Open (RFC 7413).
#[test]
fn only_a_pure_ack_never_has_bytes() {
    let plan = |kind: &str| {
        let json = format!(r#"{{ "kind": "{kind}", "bytes": "0..100" }}"#);
        serde_json::from_str::<DropSpec>(&json).unwrap().plan()
    };
    for kind in ["syn", "syn-ack", "fin", "rst", "data", "retransmission"] {
        assert!(plan(kind).is_ok(), "{kind}");
    }
    assert!(plan("pure-ack").is_err());
}

/// Offsets by hand; the sequence wraps between byte 255 and 256 of the stream.
#[test]
fn retransmissions_are_what_lies_before_the_furthest_byte() {
    let isn = 0xffff_feff_u32;
    let mut rules = rules(r#"{ "kind": "retransmission" }"#);
    let at = |offset: u32, len| segment(1, ACK, isn.wrapping_add(1).wrapping_add(offset), len);
    for (packet, is_old, why) in [
        (segment(1, SYN, isn, 0), false, "the start"),
        (at(0, 100), false, "new"),
        (at(100, 100), false, "new"),
        (at(100, 100), true, "the same again"),
        (at(150, 50), true, "a part of it"),
        (at(150, 51), false, "with a new byte"),
        (at(0, 201), true, "several in one"),
        (at(1000, 200), false, "new across a hole and the wrap"),
        (at(201, 799), true, "the hole was sent, though it did not come here"),
        (at(199, 1), true, "a keep-alive probe with a byte"),
        (at(1200, 0), false, "a pure ACK"),
        (at(1199, 0), false, "a keep-alive probe without data"),
        (segment(1, SYN, isn, 0), false, "a SYN again is none"),
        (at(0, 1), true, "and changes nothing"),
        (segment(2, ACK, 77, 10), false, "another connection, seen from its middle"),
        (segment(2, ACK, 77, 10), true, "again there"),
        (segment(2, ACK, 60, 10), true, "from before it was seen"),
        (segment(1, SYN, 5, 0), false, "a new connection between the same ports"),
        (segment(1, ACK, 6, 10), false, "begins anew"),
        (segment(1, ACK, 6 + (1 << 30) + 100, 10), false, "beyond any window"),
        (segment(1, ACK, 16, 10), false, "which does not count as seen"),
    ] {
        assert_eq!(rules.ask(&packet).is_some(), is_old, "{why}");
    }
}

#[test]
fn bytes_are_those_of_the_stream() {
    let isn = u32::MAX - 500;
    let at = |offset: u32, len| segment(1, ACK, isn.wrapping_add(1).wrapping_add(offset), len);
    let packets = [
        at(0, 1000),                // 0: before the SYN was seen there is no telling
        segment(1, SYN, isn, 0),    // 1
        at(0, 1000),                // 2
        at(1000, 1),                // 3: the first byte
        at(900, 101),               // 4: the first byte, at the end
        at(900, 100),               // 5: up to it
        at(1999, 100),              // 6: the last byte
        at(2000, 100),              // 7: beyond it
        at(0, 5000),                // 8: all around
        at(1500, 0),                // 9: no byte at all
        segment(2, ACK, 1500, 100), // 10: a stream without a known start
        segment(3, SYN, 9, 1001),   // 11: data on the SYN
        segment(3, SYN, 9, 1000),   // 12
        at(1500, 600),              // 13: old, as 4 was, and 8 was not
    ];
    assert_eq!(dropped(r#"{ "bytes": "1000..2000" }"#, &packets), [3, 4, 6, 8, 11, 13]);
    let second = r#"{ "bytes": "1000..2000", "kind": "retransmission", "nth": [2] }"#;
    assert_eq!(dropped(second, &packets), [13], "4 is the first");
}

#[test]
fn packet_matching_several_rules_counts_for_all_and_first_drops_it() {
    let mut rules = rules(
        r#"[
            { "kind": "data", "nth": [2, "4..5", "5..6"] },
            { "nth": ["3..4"] },
            { "kind": "data" , "nth": [3] }
        ]"#,
    );
    let (data, ack) = (|seq| segment(1, ACK, seq, 10), segment(1, ACK, 1, 0));
    for (packet, fate) in [
        (&data(0), None),
        (&ack, None),
        (&data(10), Some((1, 2))),
        (&ack, Some((2, 4))),
        (&data(20), Some((3, 3))),
        (&data(30), Some((1, 4))),
        (&data(40), Some((1, 5))),
        (&data(50), Some((1, 6))),
        (&data(60), None),
    ] {
        assert_eq!(rules.ask(packet), fate);
    }
}

#[test]
fn same_match_has_same_outcome() {
    let data = segment(1, ACK, 0, 10);
    let hits = |json: &str, between: usize| {
        let mut rules = rules(json);
        let hit = |_| {
            (0..between).for_each(|_| assert_eq!(rules.ask(&segment(1, ACK, 0, 0)), None));
            rules.ask(&data).map(|(_, nth)| nth)
        };
        (1..=10_000).filter_map(hit).collect::<Vec<u64>>()
    };
    let all = hits(r#"{ "kind": "data", "probability": "30 %" }"#, 0);
    // Binomial: 3,000 of 10,000, σ = 45.8; five σ either way.
    assert!((2_771..=3_229).contains(&all.len()), "{}", all.len());
    assert_eq!(hits(r#"{ "kind": "data", "probability": "30 %" }"#, 3), all);
    let some = hits(r#"{ "kind": "data", "nth": ["5..99"], "probability": "30 %" }"#, 0);
    let expected: Vec<_> = all.iter().copied().filter(|nth| (5..=99).contains(nth)).collect();
    assert_eq!(some, expected);
    let fewer = hits(r#"{ "kind": "data", "probability": "10 %" }"#, 0);
    assert!(fewer.iter().all(|nth| all.contains(nth)), "a lesser chance only spares more");
}

#[test]
fn oldest_stream_is_evicted_at_the_limit() {
    let mut flows = Flows::default();
    let mut see = |port: u16, flags, to: u8, seq| {
        let mut packet = segment(port, flags, seq, 10);
        packet[19] = to;
        flows.see(&FrameView::of_packet(&packet).tcp().unwrap())
    };
    see(1, SYN, 0, 0);
    see(2, SYN, 0, 0);
    for flow in 2..flows::MOST_FLOWS {
        see(flow as u16, SYN, 1 + (flow >> 15) as u8, 0);
    }
    assert!(see(1, ACK, 0, 1).is_old, "there is room for all");
    see(3, SYN, 0, 0);
    assert_eq!(see(2, ACK, 0, 1).offsets, Some(0..10));
    assert_eq!(see(1, ACK, 0, 1), Carried::default(), "it begins anew, without a start");
    assert!(see(1, ACK, 0, 1).is_old);
    assert_eq!(see(2, ACK, 0, 1).offsets, None, "now that one made room");
}

#[test]
fn rules_in_words() {
    let spec: DropSpec = serde_json::from_str(
        r#"[
            { "kind": "retransmission", "nth": [1, "3..4"] },
            { "kind": "pure-ack", "probability": "30 %" },
            { "bytes": "10000..11448", "nth": [1] },
            { "probability": "0 %" }
        ]"#,
    )
    .unwrap();
    assert_eq!(
        spec.plan().unwrap().unwrap().describe(),
        "Dropped by rule: retransmission 1, 3 to 4; \
         each pure ACK, with a probability of 30 %; \
         packet 1 with any of the bytes 10000 to 11447 of its stream; \
         each packet, with a probability of 0 %."
    );
    let never: DropSpec =
        serde_json::from_str(r#"{ "kind": "syn", "probability": "0 %" }"#).unwrap();
    assert_eq!(never.plan(), Ok(None));
    assert_eq!(DropSpec(vec![]).plan(), Ok(None));
}

/// A connection set up at the second try, and the second retransmission lost, too.
#[test]
fn path_drops_packets_named_by_rules() {
    let path: PathSpec = serde_json::from_str(
        r#"{ "drop": [{ "kind": "syn", "nth": [1] }, { "kind": "retransmission", "nth": [2] }] }"#,
    )
    .unwrap();
    let mut link = Link::new(&path.link(Direction::Forward).unwrap(), 1, Direction::Forward);
    let rule = |number, nth| Some(Cause::Rule { number, nth });
    for (id, (packet, cause)) in [
        (segment(1, SYN, 99, 0), rule(1, 1)),
        (segment(1, SYN, 99, 0), None),
        (segment(1, ACK, 100, 1448), None),
        (segment(1, ACK, 1548, 1448), None),
        (segment(1, ACK, 100, 1448), None),
        (segment(1, ACK, 1548, 1448), rule(2, 2)),
        (segment(1, ACK, 1548, 1448), None),
    ]
    .into_iter()
    .enumerate()
    {
        let now = Instant::from_nanos(id as u64);
        link.handle_packet(now, Packet::new(id as u64, packet.clone()));
        let departure = link.poll(now).unwrap();
        assert_eq!((departure.packet.bytes, departure.verdict.fate.cause()), (packet, cause));
    }
}

proptest! {
    /// The truth, byte by byte: in a world without holes, a segment is a retransmission if and only
    /// if each of its bytes has been seen.
    #[test]
    fn retransmissions_are_those_of_a_ledger_of_bytes(
        isn: u32, segments in prop::collection::vec((0..3000_u32, 0..200_usize), 1..60),
    ) {
        let mut rules = rules(r#"{ "kind": "retransmission" }"#);
        rules.ask(&segment(1, SYN, isn, 0));
        let mut seen = 0;
        for (offset, len) in segments {
            // No hole: what would leave one begins where the last ended.
            let offset = offset.min(seen);
            let end = offset + len as u32;
            let packet = segment(1, ACK, isn.wrapping_add(1).wrapping_add(offset), len);
            let is_old = len > 0 && (offset..end).all(|byte| byte < seen);
            prop_assert_eq!(rules.ask(&packet).is_some(), is_old);
            seen = seen.max(end);
        }
    }

    #[test]
    fn arbitrary_bytes_are_matched(bytes: Vec<u8>, cut in 0..60_usize, flags: u16, seq: u32) {
        let plan = DropPlan { rules: vec![
            RulePlan {
                kind: Some(PacketKind::Retransmission),
                bytes: Some((0, u64::MAX)), nth: vec![], probability: Probability::ALWAYS,
            },
        ] };
        let mut rules = rules_of(&plan);
        let whole = segment(1, TcpFlags::from_bits(flags), seq, 20);
        for packet in [&bytes[..], &whole[..cut], &whole, &whole[..cut]] {
            rules.ask(packet);
        }
    }
}
