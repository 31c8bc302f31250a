//! What is written is what is read.

use proptest::prelude::*;

use super::*;

fn any_interface() -> impl Strategy<Value = Interface> {
    let text = || prop::option::of(".{0,20}");
    (text(), text(), any::<u16>(), 0..200_u32).prop_map(
        |(name, description, link_type, snap_len)| Interface {
            name,
            description,
            link_type,
            snap_len,
        },
    )
}
fn any_record() -> impl Strategy<Value = Owned> {
    let direction =
        prop::sample::select(vec![None, Some(Direction::Inbound), Some(Direction::Outbound)]);
    let captured = prop::collection::vec(any::<u8>(), 0..300);
    let comments = prop::collection::vec(".{0,30}", 0..3);
    (any::<u32>(), any::<u64>(), captured, any::<u32>(), direction, comments).prop_map(
        |(interface, nanos, captured, original_len, direction, comments)| Owned {
            interface,
            nanos: Some(nanos),
            captured,
            original_len,
            direction,
            comments,
        },
    )
}
fn any_statistics() -> impl Strategy<Value = Statistics> {
    any::<[Option<u64>; 5]>().prop_map(|[start, end, received, dropped, dropped_by_os]| {
        Statistics {
            start: start.map(UnixTime::from_nanos),
            end: end.map(UnixTime::from_nanos),
            received,
            dropped,
            dropped_by_os,
        }
    })
}

/// Writes records, interface numbers modulo the number of interfaces; returns the expected records.
fn write(
    interfaces: &[Interface],
    records: &[Owned],
    statistics: Option<&Statistics>,
) -> (Vec<u8>, Vec<Owned>) {
    let section = Section { application: Some("tcplab"), ..Section::default() };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    for (number, interface) in interfaces.iter().enumerate() {
        assert_eq!(writer.add_interface(interface).unwrap(), number as u32);
    }
    let mut expected = Vec::new();
    for record in records {
        let interface = record.interface % interfaces.len() as u32;
        let comments: Vec<&str> = record.comments.iter().map(String::as_str).collect();
        writer
            .write_packet(&Packet {
                interface,
                time: UnixTime::from_nanos(record.nanos.unwrap()),
                captured: &record.captured,
                original_len: record.original_len,
                direction: record.direction,
                comments: &comments,
            })
            .unwrap();
        let mut kept = Owned { interface, ..record.clone() };
        if let most @ 1.. = interfaces[interface as usize].snap_len as usize {
            kept.captured.truncate(most);
        }
        expected.push(kept);
    }
    if let Some(statistics) = statistics {
        writer.write_statistics(0, statistics).unwrap();
    }
    (writer.finish().unwrap(), expected)
}

proptest! {
    #[test]
    fn pcapng(
        interfaces in prop::collection::vec(any_interface(), 1..4),
        records in prop::collection::vec(any_record(), 0..12),
        statistics in prop::option::of(any_statistics()),
    ) {
        let (file, expected) = write(&interfaces, &records, statistics.as_ref());
        for outcome in [read(&file[..]), read(Trickle { rest: &file, interrupt: false })] {
            prop_assert!(outcome.error.is_none());
            prop_assert_eq!(&outcome.interfaces, &interfaces);
            prop_assert_eq!(&outcome.records, &expected);
            prop_assert_eq!(outcome.statistics[0], statistics);
            prop_assert!(outcome.statistics[1..].iter().all(Option::is_none));
        }
    }

    #[test]
    fn pcap(
        link_type: u16,
        snap_len in 1..400_u32,
        records in prop::collection::vec(any_record(), 0..12),
    ) {
        const YEAR_2106: u64 = (1 << 32) * 1_000_000_000;
        let mut writer = PcapWriter::new(Vec::new(), link_type, snap_len).unwrap();
        let mut expected = Vec::new();
        for record in records {
            let nanos = record.nanos.unwrap() % YEAR_2106;
            let time = UnixTime::from_nanos(nanos);
            writer.write_packet(time, &record.captured, record.original_len).unwrap();
            let mut kept = Owned { interface: 0, nanos: Some(nanos), direction: None, ..record };
            kept.comments.clear();
            kept.captured.truncate(snap_len as usize);
            expected.push(kept);
        }
        let file = writer.finish().unwrap();
        let outcome = read(&file[..]);
        prop_assert!(outcome.error.is_none());
        prop_assert_eq!(outcome.records, expected);
        let interface = Interface { link_type, snap_len, ..Interface::default() };
        prop_assert_eq!(outcome.interfaces, [interface]);
    }

    #[test]
    fn several_files_in_a_row_are_one_capture_of_several_sections(
        first in prop::collection::vec(any_interface(), 1..3),
        second in prop::collection::vec(any_interface(), 1..3),
        records in prop::collection::vec(any_record(), 1..5),
    ) {
        let (mut file, mut expected) = write(&first, &records, None);
        let (more, more_expected) = write(&second, &records, Some(&Statistics::default()));
        file.extend_from_slice(&more);
        expected.extend(more_expected.into_iter().map(|record| Owned {
            interface: record.interface + first.len() as u32,
            ..record
        }));
        let outcome = read(&file[..]);
        prop_assert!(outcome.error.is_none());
        prop_assert_eq!(outcome.records, expected);
        prop_assert_eq!(outcome.interfaces, [&first[..], &second].concat());
        prop_assert_eq!(outcome.statistics[0], None);
        prop_assert_eq!(outcome.statistics[first.len()], Some(Statistics::default()));
    }
}

#[test]
fn a_frame_larger_than_any_buffer_is_read_whole() {
    let large: Vec<u8> = (0..3_000_000_u32).map(|i| (i >> 3) as u8).collect();
    let record = |len: usize| Owned {
        interface: 0,
        nanos: Some(1),
        captured: large[..len].to_vec(),
        original_len: 9,
        direction: None,
        comments: vec!["of unusual size".into()],
    };
    let records = [60, 3_000_000, 1, 299_999, 262_144, 0].map(record);
    let (file, expected) = write(&[Interface::default()], &records, None);
    assert!(read(&file[..]).records == expected);
}

#[test]
fn a_comment_too_long_is_cut_between_characters() {
    let mut writer = PcapngWriter::new(Vec::new(), &Section::default()).unwrap();
    let interface = writer.add_interface(&Interface::default()).unwrap();
    let comment = "µ".repeat(40_000);
    let comments = &[comment.as_str()][..];
    writer.write_packet(&Packet { interface, comments, ..Packet::default() }).unwrap();
    let records = read(&writer.finish().unwrap()[..]).records;
    assert_eq!(records[0].comments, ["µ".repeat(32_767)]);
}

#[test]
fn a_full_disk_is_an_error() {
    /// Takes so many bytes and no more.
    #[derive(Debug)]
    struct Disk(usize);
    impl std::io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let full = |error: std::io::Error| assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    full(PcapWriter::new(Disk(23), 1, 96).unwrap_err());
    full(PcapngWriter::new(Disk(27), &Section::default()).unwrap_err());
    let mut writer = PcapngWriter::new(Disk(80), &Section::default()).unwrap();
    writer.add_interface(&Interface::default()).unwrap();
    full(writer.write_packet(&Packet { captured: &[0; 60], ..Packet::default() }).unwrap_err());
}
