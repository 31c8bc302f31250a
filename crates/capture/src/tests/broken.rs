//! Files cut off anywhere, flipped anywhere, and no files at all.

use proptest::prelude::*;

use super::*;

/// A small file, and how many bytes of it hold 0, 1, 2 and 3 whole records.
fn pcapng() -> (Vec<u8>, Vec<usize>) {
    let section = Section { os: Some("Linux"), ..Section::default() };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    let interface = Interface { name: Some("client".into()), ..Interface::default() };
    let interface = writer.add_interface(&interface).unwrap();
    for len in [1, 60, 0] {
        let captured = &[5; 60][..len];
        let comments = &["dropped: interruption"][..];
        let packet = Packet { interface, captured, comments, ..Packet::default() };
        writer.write_packet(&packet).unwrap();
    }
    let statistics = Statistics { dropped: Some(0), ..Statistics::default() };
    writer.write_statistics(interface, &statistics).unwrap();
    let file = writer.finish().unwrap();
    // Behind the section header and the interface; then behind each packet.
    let ends = block_ends(&file)[1..=4].to_vec();
    (file, ends)
}
/// The same in the older format.
fn pcap() -> (Vec<u8>, Vec<usize>) {
    let mut writer = PcapWriter::new(Vec::new(), 101, 128).unwrap();
    for len in [1, 60, 0] {
        writer.write_packet(UnixTime::default(), &[5; 60][..len], 60).unwrap();
    }
    (writer.finish().unwrap(), vec![24, 24 + 17, 24 + 17 + 76, 24 + 17 + 76 + 16])
}

/// Where blocks end: there a pcapng file may end without being cut off.
fn block_ends(file: &[u8]) -> Vec<usize> {
    let mut at = 0;
    let mut ends = Vec::new();
    while let Some(len) = file.get(at + 4..at + 8) {
        at += u32::from_le_bytes(len.try_into().unwrap()) as usize;
        ends.push(at);
    }
    ends
}

#[test]
fn a_file_cut_off_anywhere_gives_all_whole_records_and_says_so() {
    for ((file, ends), blocks) in [(pcapng(), true), (pcap(), false)] {
        let whole = read(&file[..]);
        assert!(whole.error.is_none());
        let clean = if blocks { block_ends(&file) } else { ends.clone() };
        assert_eq!(clean.last(), Some(&file.len()));
        for len in 0..=file.len() {
            let outcome = read(&file[..len]);
            let records = ends[1..].iter().filter(|end| **end <= len).count();
            assert_eq!(outcome.records, whole.records[..records], "{len}");
            match outcome.error {
                None => assert!(clean.contains(&len), "{len}"),
                Some(ReadError::NotACapture { .. }) => assert!(len < 4, "{len}"),
                Some(ReadError::Truncated { records: before }) => {
                    assert!(len >= 4 && !clean.contains(&len), "{len}");
                    assert_eq!(before, records as u64, "{len}");
                }
                Some(other) => panic!("{len}: {other}"),
            }
        }
        let cut = read(&file[..=ends[2]]).error.unwrap().to_string();
        assert_eq!(cut, "cut off in the middle of record 3; the 2 before it are good");
    }
}

/// As of a pcap file: what ends in its first header is no empty capture.
#[test]
fn a_file_cut_off_in_its_first_header_cannot_be_opened() {
    for ((file, _), header) in [(pcapng(), block_ends(&pcapng().0)[0]), (pcap(), 24)] {
        for len in 4..header {
            let opened = Reader::new(&file[..len]);
            assert!(matches!(opened, Err(ReadError::Truncated { records: 0 })), "{len}");
        }
        assert!(Reader::new(&file[..header]).unwrap().next_record().unwrap().is_none());
    }
}

#[test]
fn a_source_that_fails_differs_from_one_that_ends() {
    struct Failing<'a>(&'a [u8]);
    impl std::io::Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::ErrorKind::PermissionDenied.into()),
                some => Ok(some),
            }
        }
    }
    let (file, ends) = pcapng();
    let outcome = read(Failing(&file[..ends[2] + 9]));
    assert_eq!(outcome.records.len(), 2);
    assert!(matches!(outcome.error, Some(ReadError::Io { records: 2, .. })));
}

#[test]
fn a_length_that_is_only_claimed_takes_no_memory() {
    let (mut file, ends) = pcapng();
    let claimed = 255_u32 << 20;
    file[ends[0] + 4..ends[0] + 8].copy_from_slice(&claimed.to_le_bytes());
    let outcome = read(Stingy(&file));
    assert!(matches!(outcome.error, Some(ReadError::Truncated { records: 0 })));
}

proptest! {
    #[test]
    fn flipped_bytes_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        newer: bool,
    ) {
        let (mut file, _) = if newer { pcapng() } else { pcap() };
        for (place, value) in flips {
            let at = place.index(file.len());
            file[at] = value;
        }
        let outcome = read(&file[..]);
        prop_assert!(outcome.records.len() <= file.len() / 12);
        if let Some(error) = outcome.error {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        start in prop::sample::select(vec![
            &[][..],
            &[0xd4, 0xc3, 0xb2, 0xa1],
            &[0xa1, 0xb2, 0x3c, 0x4d],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0],
        ]),
        bytes in prop::collection::vec(prop_oneof![0..8_u8, any::<u8>()], 0..300),
    ) {
        read(&[start, &bytes].concat()[..]);
    }
}
