//! Files as other programs write them, byte by byte.

use super::*;

/// Numbers as they stand in a file.
type Numbers = Vec<u8>;

/// Writes files in either byte order.
#[derive(Clone, Copy)]
struct Hand {
    big: bool,
}

impl Hand {
    fn u16(self, n: u16) -> Numbers {
        if self.big { n.to_be_bytes().into() } else { n.to_le_bytes().into() }
    }
    fn u32(self, n: u32) -> Numbers {
        if self.big { n.to_be_bytes().into() } else { n.to_le_bytes().into() }
    }
    fn u64(self, n: u64) -> Numbers {
        if self.big { n.to_be_bytes().into() } else { n.to_le_bytes().into() }
    }
    fn block(self, kind: u32, parts: &[Numbers]) -> Vec<u8> {
        let mut body = parts.concat();
        body.resize(body.len().next_multiple_of(4), 0);
        let len = self.u32(body.len() as u32 + 12);
        [self.u32(kind), len.clone(), body, len].concat()
    }
    fn option(self, code: u16, value: &[u8]) -> Numbers {
        let mut option = [&self.u16(code)[..], &self.u16(value.len() as u16), value].concat();
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }
    fn section(self) -> Vec<u8> {
        let version = [self.u16(1), self.u16(0)].concat();
        self.block(0x0a0d_0d0a, &[self.u32(0x1a2b_3c4d), version, self.u64(u64::MAX)])
    }
    fn interface(self, link: u16, snap_len: u32, options: &[Numbers]) -> Vec<u8> {
        let fixed = [self.u16(link), self.u16(0), self.u32(snap_len)].concat();
        self.block(1, &[fixed, options.concat()])
    }
    fn packet(self, interface: u32, ticks: u64, data: &[u8], options: &[Numbers]) -> Vec<u8> {
        let mut padded = data.to_vec();
        padded.resize(data.len().next_multiple_of(4), 0);
        let fixed = [
            self.u32(interface),
            self.u32((ticks >> 32) as u32),
            self.u32(ticks as u32),
            self.u32(data.len() as u32),
            self.u32(1500),
        ];
        self.block(6, &[fixed.concat(), padded, options.concat()])
    }
}

const BOTH: [Hand; 2] = [Hand { big: false }, Hand { big: true }];

#[test]
fn pcap_in_both_byte_orders_and_resolutions() {
    for hand in BOTH {
        for (magic, nanos) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            // The uppermost bits of the link type give the length of the frame check sequence.
            let header = [magic, 0x0002_0004, 0, 0, 128, 0x1400_0065].map(|n| hand.u32(n));
            let record = [1_700_000_000, 123_456, 3, 1500].map(|n| hand.u32(n));
            let file = [header.concat(), record.concat(), vec![7, 8, 9]].concat();
            let outcome = read(&file[..]);
            assert!(outcome.error.is_none());
            assert_eq!(
                (outcome.interfaces[0].link_type, outcome.interfaces[0].snap_len),
                (101, 128)
            );
            let [record] = &outcome.records[..] else { panic!("one record") };
            assert_eq!(record.nanos, Some(1_700_000_000_000_000_000 + 123_456 * nanos));
            assert_eq!((&record.captured[..], record.original_len), (&[7, 8, 9][..], 1500));
        }
    }
}

#[test]
fn clocks_of_every_kind() {
    const T: u64 = 1_700_000_000;
    for hand in BOTH {
        let negative = (-60_i64) as u64;
        for (options, ticks, nanos) in [
            (vec![], T * 1_000_000 + 5, Some(T * 1_000_000_000 + 5_000)),
            (vec![hand.option(9, &[0])], T, Some(T * 1_000_000_000)),
            (vec![hand.option(9, &[3])], T * 1_000 + 7, Some(T * 1_000_000_000 + 7_000_000)),
            (vec![hand.option(9, &[9])], T * 1_000_000_000 + 7, Some(T * 1_000_000_000 + 7)),
            (vec![hand.option(9, &[12])], 7_999, Some(7)),
            (vec![hand.option(9, &[127])], u64::MAX, Some(0)),
            (vec![hand.option(9, &[0x80 + 20])], (T << 20) + 1, Some(T * 1_000_000_000 + 953)),
            (vec![hand.option(9, &[0x80])], T, Some(T * 1_000_000_000)),
            (vec![hand.option(9, &[0xff])], u64::MAX, Some(0)),
            (
                vec![hand.option(9, &[9]), hand.option(14, &hand.u64(T))],
                44,
                Some(T * 1_000_000_000 + 44),
            ),
            (vec![hand.option(14, &hand.u64(negative))], 61_000_000, Some(1_000_000_000)),
            (vec![hand.option(14, &hand.u64(negative))], 59_000_000, None),
            (vec![hand.option(9, &[0])], u64::MAX, None),
        ] {
            let interface = hand.interface(1, 0, &options);
            let packet = hand.packet(0, ticks, &[1], &[]);
            let outcome = read(&[hand.section(), interface, packet].concat()[..]);
            assert_eq!(outcome.records[0].nanos, nanos, "{options:?} {ticks}");
        }
    }
}

#[test]
fn longest_unit_of_time() {
    for hand in BOTH {
        for (units, nanos) in [
            (&[9][..], 1),
            (&[6, 3], 1_000_000),
            (&[3, 6], 1_000_000),
            (&[0x80 + 10], 976_562),
            (&[12], 0),
        ] {
            let mut file = hand.section();
            for &unit in units {
                file.extend(hand.interface(1, 0, &[hand.option(9, &[unit])]));
            }
            file.extend(hand.packet(0, 1, &[1], &[]));
            let mut reader = Reader::new(&file[..]).unwrap();
            assert!(reader.next_record().unwrap().is_some());
            assert_eq!(reader.time_unit(), nanos, "{units:?}");
        }
    }
}

#[test]
fn all_that_a_file_can_tell() {
    for hand in BOTH {
        let name = [hand.option(2, b"veth0"), hand.option(3, "µ-path".as_bytes())];
        let remarks = [
            hand.option(1, b"first"),
            hand.option(2, &hand.u32(0x12)),
            hand.option(1, b"\xff second"),
            hand.option(0, b""),
            hand.option(1, b"behind the end"),
        ];
        let counted = [hand.u32(0), hand.u64(0)].concat();
        let [high, low] = [hand.u32(0), hand.u32(5)];
        let counts = [
            hand.option(2, &[high, low].concat()),
            hand.option(4, &hand.u64(1 << 40)),
            hand.option(5, &hand.u64(3)),
        ];
        let obsolete =
            [hand.u16(1), hand.u16(9), hand.u32(0), hand.u32(8), hand.u32(2), hand.u32(60)];
        let outcome = read(
            &[
                hand.section(),
                hand.interface(101, 64, &name),
                hand.interface(1, 0, &[]),
                hand.block(0x0bad, &[vec![1, 2, 3, 4]]),
                hand.packet(0, 1, b"data!", &remarks),
                hand.block(3, &[hand.u32(100), vec![9; 64]]),
                hand.block(2, &[obsolete.concat(), vec![4, 5, 0, 0], hand.option(1, b"old")]),
                hand.block(5, &[counted, counts.concat()]),
            ]
            .concat()[..],
        );
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let first = Interface {
            name: Some("veth0".into()),
            description: Some("µ-path".into()),
            link_type: 101,
            snap_len: 64,
        };
        let second = Interface { link_type: 1, ..Interface::default() };
        assert_eq!(outcome.interfaces, [first, second]);
        let [enhanced, simple, old] = &outcome.records[..] else { panic!("three records") };
        assert_eq!(enhanced.comments, ["first", "\u{fffd} second"]);
        assert_eq!(enhanced.direction, Some(Direction::Outbound));
        assert_eq!((&enhanced.captured[..], enhanced.original_len), (&b"data!"[..], 1500));
        assert_eq!((simple.nanos, simple.original_len), (None, 100));
        assert_eq!(simple.captured, [9; 64]);
        assert_eq!((old.interface, old.nanos, old.original_len), (1, Some(8_000), 60));
        assert_eq!((&old.captured[..], &old.comments[..]), (&[4, 5][..], &["old".to_string()][..]));
        let statistics = Statistics {
            start: Some(UnixTime::from_nanos(5_000)),
            received: Some(1 << 40),
            dropped: Some(3),
            ..Statistics::default()
        };
        let counted_by_packet = Statistics { dropped: Some(9), ..Statistics::default() };
        assert_eq!(outcome.statistics, [Some(statistics), Some(counted_by_packet)]);
    }
}

/// The counts of packets add up; those of the interface replace them.
#[test]
fn drops_that_packets_count() {
    for hand in BOTH {
        let dropped = |drops: u64| hand.option(4, &hand.u64(drops));
        let begin = [
            hand.section(),
            hand.interface(1, 0, &[]),
            hand.packet(0, 1, b"a", &[dropped(2)]),
            hand.packet(0, 2, b"b", &[hand.option(1, b"none")]),
            hand.packet(0, 3, b"c", &[dropped(5)]),
        ]
        .concat();
        for (options, sum) in [(vec![], 7), (vec![hand.option(5, &hand.u64(11))], 11)] {
            let counts = [hand.u32(0), hand.u64(0), options.concat()].concat();
            let file = [begin.clone(), hand.block(5, &[counts])].concat();
            assert_eq!(read(&file[..]).statistics[0].unwrap().dropped, Some(sum));
        }
        let unknown = [hand.u16(0), hand.u16(0xffff), hand.u64(1), hand.u32(0), hand.u32(0)];
        let file = [hand.section(), hand.interface(1, 0, &[]), hand.block(2, &[unknown.concat()])];
        assert_eq!(read(&file.concat()[..]).statistics, [None]);
    }
}

#[test]
fn sections_of_both_byte_orders_in_one_file() {
    let part = |hand: Hand| {
        let clock = [hand.option(9, &[9])];
        [hand.section(), hand.interface(1, 0, &clock), hand.packet(0, 1 << 40, &[1], &[])].concat()
    };
    let outcome = read(&BOTH.map(part).concat()[..]);
    assert!(outcome.error.is_none());
    let found: Vec<_> = outcome.records.iter().map(|r| (r.interface, r.nanos)).collect();
    assert_eq!(found, [(0, Some(1 << 40)), (1, Some(1 << 40))]);
}

#[test]
fn says_where_and_how_a_file_is_damaged() {
    let hand = Hand { big: false };
    let good = [hand.section(), hand.interface(1, 0, &[]), hand.packet(0, 1, &[1], &[])].concat();
    let at = good.len() as u64;
    let claims = |len: u32| [hand.u32(6), hand.u32(len), vec![0; 40]].concat();
    let mut unequal = hand.packet(0, 1, &[], &[]);
    *unequal.last_mut().unwrap() = 1;
    let too_much = [hand.u32(0), hand.u64(0), hand.u32(99), hand.u32(99)].concat();
    let old_section = [hand.u32(0x1a2b_3c4d), hand.u16(2), hand.u16(0), hand.u64(0)].concat();
    for (more, damage) in [
        (claims(11), Damage::Length(11)),
        (claims(8), Damage::Length(8)),
        (claims(33), Damage::Length(33)),
        (claims(0xffff_fffc), Damage::Length(0xffff_fffc)),
        (unequal, Damage::Lengths { first: 32, last: 0x0100_0020 }),
        (hand.packet(7, 1, &[1], &[]), Damage::UnknownInterface(7)),
        (hand.block(6, &[too_much]), Damage::Overfull),
        (hand.block(6, &[]), Damage::Overfull),
        (hand.block(1, &[]), Damage::Overfull),
        (hand.block(0x0a0d_0d0a, &[hand.u32(5)]), Damage::ByteOrder),
        (hand.block(0x0a0d_0d0a, &[old_section]), Damage::Version(2)),
        ([hand.section(), hand.packet(0, 1, &[1], &[])].concat(), Damage::UnknownInterface(0)),
    ] {
        let skipped = if damage == Damage::UnknownInterface(0) { 28 } else { 0 };
        let outcome = read(&[&good[..], &more, &[0; 40]].concat()[..]);
        assert_eq!(outcome.records.len(), 1);
        let expected = ReadError::Damaged { records: 1, at: at + skipped, damage };
        assert_eq!(outcome.error.unwrap().to_string(), expected.to_string());
    }
}

#[test]
fn a_file_that_is_no_capture_is_refused_by_name() {
    let beyond = [&[0xd4, 0xc3, 0xb2, 0xa1][..], &[0; 16], &[1, 0, 0, 0], &[0; 8], &[0xff; 8]];
    for (file, message) in [
        (&b""[..], "not a capture: it is empty"),
        (
            b"GIF89a",
            "not a capture: it begins with [47, 49, 46, 38], which no format of captures does",
        ),
        (
            b"\n\r\r\n the rest",
            "not a capture: it begins with [0a, 0d, 0d, 0a], which no format of captures does",
        ),
        (b"\x1f\x8b\x08\0", "compressed with gzip: decompress it first"),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd: decompress it first"),
        (
            &beyond.concat(),
            "damaged at byte 24, after 0 good records: a length of 4294967295 bytes (at most \
             268435456 are believed)",
        ),
    ] {
        assert_eq!(read(file).error.unwrap().to_string(), message);
    }
    let error = Reader::open("no/such/file").unwrap_err();
    assert_eq!(error.to_string(), "cannot open no/such/file");
}

/// Each interface is kept until the end of the file, so there is a most.
#[test]
fn interfaces_are_bounded_in_number_and_text() {
    let hand = Hand { big: false };
    let long = hand.interface(1, 0, &[hand.option(2, &[b'a'; 5_000])]);
    let many = hand.interface(1, 0, &[]).repeat(70_000);
    let outcome = read(&[hand.section(), long, many].concat()[..]);
    assert_eq!(outcome.interfaces.len(), 65_536);
    assert_eq!(outcome.interfaces[0].name.as_ref().map(String::len), Some(1_024));
    let Some(ReadError::Damaged { damage, .. }) = outcome.error else { panic!("no error") };
    assert_eq!(damage, Damage::Interfaces(65_536));
}
