use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::{Direction, Interface, PcapWriter, Statistics, UnixTime};

/// Two interfaces, packets with and without options, statistics.
fn original() -> Vec<u8> {
    let section = Section { hardware: Some("machine"), os: None, application: Some("tcplab") };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    for (name, link_type) in [("east", 101), ("west", 1)] {
        let name = Some(name.to_owned());
        let interface = Interface { name, link_type, ..Interface::default() };
        writer.add_interface(&interface).unwrap();
    }
    for number in 0..6_u32 {
        let captured = vec![number as u8; 33 + number as usize];
        let comments: &[&str] = if number == 3 { &["dropped by the queue", "é"] } else { &[] };
        let packet = Packet {
            interface: number % 2,
            time: UnixTime::from_nanos(1_700_000_000_123_456_789 + u64::from(number)),
            captured: &captured,
            original_len: 1500,
            direction: (number > 2).then_some(Direction::Outbound),
            comments,
        };
        writer.write_packet(&packet).unwrap();
    }
    let counted = Statistics { received: Some(6), ..Statistics::default() };
    writer.write_statistics(1, &counted).unwrap();
    writer.finish().unwrap()
}

fn annotated(file: &[u8], comment: impl FnMut(u64) -> Option<String>) -> (Vec<u8>, Annotated) {
    let mut out = Vec::new();
    let copied = annotate(file, &mut out, comment).unwrap();
    (out, copied)
}

/// Interface, time, bytes, length, direction and comments of a packet.
type Copied = (u32, Option<UnixTime>, Vec<u8>, u32, Option<Direction>, Vec<String>);

fn records(file: &[u8]) -> Vec<Copied> {
    let mut reader = Reader::new(file).unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        records.push((
            record.interface,
            record.time,
            record.captured.to_vec(),
            record.original_len,
            record.direction(),
            record.comments().map(String::from).collect(),
        ));
    }
    records
}

#[test]
fn nothing_to_say_gives_the_same_bytes() {
    let file = original();
    let (copy, copied) = annotated(&file, |_| None);
    assert!(copy == file);
    assert_eq!((copied.packets, copied.annotated), (6, 0));
    assert!(copied.broken.is_none());
}

#[test]
fn comments_follow_those_of_the_original() {
    let file = original();
    let (copy, copied) = annotated(&file, |n| (n % 2 == 0).then(|| format!("number {n}")));
    assert_eq!((copied.packets, copied.annotated, copied.voiceless), (6, 3, 0));
    let mut expected = records(&file);
    for (index, record) in expected.iter_mut().enumerate().filter(|(index, _)| index % 2 == 1) {
        record.5.push(format!("number {}", index + 1));
    }
    assert_eq!(records(&copy), expected);
    assert_eq!(expected[3].5, ["dropped by the queue", "é", "number 4"]);
    let mut reader = Reader::new(&copy[..]).unwrap();
    while reader.next_record().unwrap().is_some() {}
    assert_eq!(reader.statistics()[1].unwrap().received, Some(6));
}

#[test]
fn a_pcap_becomes_a_pcapng() {
    let mut writer = PcapWriter::new(Vec::new(), 101, 64).unwrap();
    for nanos in [5, 7] {
        writer.write_packet(UnixTime::from_nanos(nanos), &[0x45; 80], 90).unwrap();
    }
    let file = writer.finish().unwrap();
    let (copy, copied) = annotated(&file, |n| (n == 2).then(|| "second".to_owned()));
    assert_eq!((copied.packets, copied.annotated), (2, 1));
    let mut expected = records(&file);
    expected[1].5.push("second".to_owned());
    assert_eq!(records(&copy), expected);
    let mut reader = Reader::new(&copy[..]).unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert_eq!(reader.interfaces()[0].link_type, 101);
}

/// ERF has no header: two ports show themselves with their first records. Fraction and seconds,
/// type, flags with the port, lengths of the record and of the frame.
#[test]
fn interfaces_that_show_themselves_late_are_copied() {
    let record = |kind: u8, port: u8, frame: &[u8]| {
        let len = 16 + frame.len() as u8;
        let head = [&[0; 4][..], &1_700_000_000_u32.to_le_bytes(), &[kind, 4 + port, 0, len]];
        [&head.concat()[..], &[0, 0, 0, 60], frame].concat()
    };
    let (ethernet, hdlc) = ([0, 0, 0xca, 0xfe], [0x0f, 0, 8, 0]);
    let file = [record(2, 0, &ethernet), record(1, 1, &hdlc), record(2, 0, &ethernet)].concat();
    let (copy, copied) = annotated(&file, |n| (n == 2).then(|| "second".to_owned()));
    assert_eq!((copied.packets, copied.annotated), (3, 1));
    let mut expected = records(&file);
    assert_eq!(expected.iter().map(|it| it.0).collect::<Vec<_>>(), [0, 1, 0]);
    expected[1].5.push("second".to_owned());
    assert_eq!(records(&copy), expected);
    let mut reader = Reader::new(&copy[..]).unwrap();
    while reader.next_record().unwrap().is_some() {}
    let links: Vec<u16> = reader.interfaces().iter().map(|it| it.link_type).collect();
    assert_eq!(links, [1, 50]);
    // A record about the file alone shows none.
    let (copy, copied) = annotated(&record(27, 0, b"made"), |_| None);
    assert!(copied.packets == 0 && records(&copy).is_empty());
}

#[test]
fn a_comment_longer_than_an_option_can_be_is_cut_between_letters() {
    let (copy, _) = annotated(&original(), |n| (n == 1).then(|| "é".repeat(40_000)));
    assert_eq!(records(&copy)[0].5[0].len(), 65_534);
}

/// A section, an interface and one packet of `kind` with these options, big end first.
fn by_hand(kind: u32, options: &[u8]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let len = (body.len() as u32 + 12).to_be_bytes();
        [&kind.to_be_bytes()[..], &len, body, &len].concat()
    };
    let head = [&BYTE_ORDER_MAGIC.to_be_bytes()[..], &[0, 1, 0, 0], &[0xff; 8]].concat();
    let head = block(kind::SECTION, &head);
    let interface = block(kind::INTERFACE, &[0, 101, 0, 0, 0, 0, 0, 0]);
    let fields = [0_u32, 0, 9, 5, 5].map(u32::to_be_bytes).concat();
    let packet = if kind == kind::SIMPLE_PACKET {
        block(kind, &[0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0])
    } else {
        block(kind, &[&fields[..], &[1, 2, 3, 4, 5, 0, 0, 0], options].concat())
    };
    [head, interface, packet].concat()
}

#[test]
fn both_byte_orders_and_all_kinds_of_packets() {
    let say = |_| Some("why".to_owned());
    for kind in [kind::ENHANCED_PACKET, kind::OBSOLETE_PACKET] {
        for (options, others) in [
            (&[][..], 0),
            (&[0, 0, 0, 0], 0),
            (&[0, 1, 0, 2, b'o', b'k', 0, 0], 1),
            (&[0, 1, 0, 2, b'o', b'k', 0, 0, 0, 0, 0, 0], 1),
            // An option that is longer than its block.
            (&[0, 9, 0, 99, 1, 2, 3, 4], 0),
        ] {
            let (copy, copied) = annotated(&by_hand(kind, options), say);
            assert_eq!((copied.packets, copied.annotated), (1, 1));
            let comments = &records(&copy)[0].5;
            assert_eq!(comments.len(), others + 1, "{options:?}");
            assert_eq!(comments[others], "why");
        }
    }
    let simple = by_hand(kind::SIMPLE_PACKET, &[]);
    let (copy, copied) = annotated(&simple, say);
    assert!(copy == simple);
    assert_eq!((copied.annotated, copied.voiceless), (0, 1));
}

#[test]
fn a_truncated_capture_is_copied_up_to_the_cut() {
    let file = original();
    for len in 0..file.len() {
        let mut out = Vec::new();
        let Ok(copied) = annotate(&file[..len], &mut out, |_| None) else {
            // The first block defines the byte order of the others.
            let first = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
            assert!(len < first, "{len} bytes are the beginning of a capture");
            continue;
        };
        assert!(file.starts_with(&out));
        assert_eq!(copied.broken.is_some(), out.len() < len, "cut at {len}");
    }
}

#[test]
fn others_read_the_copy() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("copy.pcapng");
    let (copy, _) = annotated(&original(), |n| (n < 4).then(|| format!("{n} says \"hello\"")));
    std::fs::write(&path, copy).unwrap();
    let shown = Command::new("tshark")
        .args(["-r", path.to_str().unwrap(), "-T", "fields", "-e", "frame.comment"])
        .output();
    let Ok(shown) = shown else {
        eprintln!("SKIPPED: tshark is not installed");
        return;
    };
    let lines = String::from_utf8_lossy(&shown.stdout).into_owned();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines,
        [
            "1 says \"hello\"",
            "2 says \"hello\"",
            "3 says \"hello\"",
            "dropped by the queue,é",
            "",
            ""
        ]
    );
}

proptest! {
    #[test]
    fn whatever_it_is_given_it_answers(mut file in Just(original()), at in 0..600_usize, bits: u8) {
        let at = at % file.len();
        file[at] ^= bits;
        let mut out = Vec::new();
        let _ = annotate(&file[..], &mut out, |n| Some(format!("{n}")));
    }
}
