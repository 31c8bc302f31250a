//! Formats and variants other than today's pcap and pcapng, byte by byte.

use proptest::prelude::*;

use super::*;

/// Bytes in hexadecimal, spaces between fields.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Two records of four bytes of a frame of 1500, at 1,700,000,000.5 and .75 seconds.
fn check(name: &str, file: &[u8], link_type: u16) {
    let outcome = read(file);
    assert!(outcome.error.is_none(), "{name}: {:?}", outcome.error);
    assert_eq!(outcome.interfaces[0].link_type, link_type, "{name}");
    let found: Vec<_> =
        outcome.records.iter().map(|it| (it.nanos, &it.captured[..], it.original_len)).collect();
    let at = |nanos: u64| Some(1_700_000_000_000_000_000 + nanos);
    let (first, second) = ([0xca, 0xfe, 1, 2], [0xca, 0xfe, 3, 4]);
    let expected = [(at(500_000_000), &first[..], 1500), (at(750_000_000), &second[..], 1500)];
    assert_eq!(found, expected, "{name}");
}

const LITTLE: &str = "d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000";

#[test]
fn pcap_variants_by_hand_are_read() {
    let seconds = "00f15365";
    for (name, header, before, after) in [
        ("usual", LITTLE, "", "04000000 dc050000"),
        ("Nokia", LITTLE, "", "04000000 dc050000 00000000"),
        ("Red Hat 6.1", LITTLE, "", "04000000 dc050000 02000000 0008 04 00"),
        ("SuSE 6.3", LITTLE, "", "04000000 dc050000 02000000 0008 04 00 00 000000"),
        (
            "Kuznetzov",
            "34cdb2a1 0200 0400 00000000 00000000 00000400 01000000",
            "",
            "04000000 dc050000 02000000 0008 04 00",
        ),
        (
            "version 2.2",
            "d4c3b2a1 0200 0200 00000000 00000000 00000400 01000000",
            "",
            "dc050000 04000000",
        ),
        (
            "version 2.3, original first",
            "d4c3b2a1 0200 0300 00000000 00000000 00000400 01000000",
            "",
            "dc050000 04000000",
        ),
        (
            "version 2.3, captured first",
            "d4c3b2a1 0200 0300 00000000 00000000 00000400 01000000",
            "",
            "04000000 dc050000",
        ),
    ] {
        let record = |micros: &str, bytes: &str| {
            hex(&format!("{before} {seconds} {micros} {after} {bytes}"))
        };
        let file =
            [hex(header), record("20a10700", "cafe0102"), record("b0710b00", "cafe0304")].concat();
        check(name, &file, 1);
    }
}

#[test]
fn pcap_first_record_alone_is_read_as_usual() {
    // Too short to tell the variants apart: nothing is guessed.
    let file = hex(&format!("{LITTLE} 00f15365 20a10700 04000000 dc050000 cafe0102"));
    let outcome = read(&file[..]);
    assert!(outcome.error.is_none());
    assert_eq!(outcome.records[0].captured, [0xca, 0xfe, 1, 2]);
}

/// RFC 1761: original and included length, record length with padding, drops, time.
fn snoop() -> Vec<u8> {
    hex("736e6f6f70000000 00000002 00000004 \
         000005dc 00000004 0000001c 00000000 6553f100 0007a120 cafe0102 \
         000005dc 00000004 00000020 00000003 6553f100 000b71b0 cafe0304 00000000")
}

#[test]
fn pcap_fraction_of_a_second_and_more_is_read_as_usual() {
    let record = |micros: &str| format!("00f15365 {micros} 08000000 08000000 0000000000000000");
    let file = hex(&format!("{LITTLE} {} {}", record("3f420f00"), record("40420f00")));
    let nanos: Vec<_> = read(&file[..]).records.iter().map(|record| record.nanos).collect();
    let at = |micros: u64| Some(1_700_000_000_000_000_000 + micros * 1_000);
    assert_eq!(nanos, [at(999_999), at(1_000_000)]);
}

#[test]
fn snoop_by_hand_is_read() {
    let mut file = snoop();
    check("snoop", &file, 1);
    let dropped = read(&file[..]).statistics[0].as_ref().and_then(|it| it.dropped);
    assert_eq!(dropped, Some(3));
    for (number, link_type) in [(0, 1), (2, 6), (8, 10), (26, 0x801a)] {
        file[15] = number;
        check("snoop", &file, link_type);
    }
}

/// Versions 1.1, 2.0, 2.1 and 2.2.
fn network_monitor() -> Vec<(&'static str, Vec<u8>)> {
    // 2023-11-14 22:13:20 UTC is 1,700,000,000 seconds after the beginning of 1970.
    let start = "e707 0b00 0200 0e00 1600 0d00 1400 0000";
    let rest = "00".repeat(128 - 32);
    let first = hex(&format!(
        "52545353 0101 0100 {start} 98000000 08000000 {rest} \
         f4010000 dc05 0400 cafe0102 ee020000 dc05 0400 cafe0304 80000000 8c000000"
    ));
    let mut files = vec![("1.1", first)];
    for (name, minor, end, trailer) in
        [("2.0", "00", "a8", ""), ("2.1", "01", "ac", "0100"), ("2.2", "02", "b4", "0100 00000000")]
    {
        let second = hex(&format!(
            "474d4255 {minor}02 0100 {start} {end}000000 08000000 {rest} \
             20a1070000000000 dc050000 04000000 cafe0102 {trailer} \
             b0710b0000000000 dc050000 04000000 cafe0304 {trailer} 80000000 94000000"
        ));
        files.push((name, second));
    }
    files
}

#[test]
fn network_monitor_by_hand_is_read() {
    for (name, mut file) in network_monitor() {
        for (number, link_type) in [(1, 1), (2, 6), (3, 10), (6, 0x8006)] {
            file[6] = number;
            check(name, &file, link_type);
        }
    }
}

/// Time in units of 2^-32 s, type, flags, lengths of the record and of the frame; Ethernet has two
/// bytes before the frame. First 20 bytes of padding, which is passed over.
fn erf() -> Vec<u8> {
    let record = |fraction: &str, head: &str, bytes: &str| {
        hex(&format!("{fraction} 00f15365 {head} 05dc {bytes}"))
    };
    [
        record("00000000", "30 00 0014 0000", "00000000"),
        record("00000080", "02 04 0016 0000", "0000 cafe0102"),
        record("000000c0", "82 04 001e 0000", "0400000000000000 0000 cafe0304"),
    ]
    .concat()
}

#[test]
fn erf_by_hand_is_read() {
    let file = erf();
    check("ERF", &file[20..], 1);
    // Padding begins no file.
    assert!(matches!(read(&file[..]).error, Some(ReadError::NotACapture { .. })));
    let later = [&file[20..42], &file[..20], &file[42..]].concat();
    check("ERF, padding", &later, 1);
}

#[test]
fn other_formats_cut_off_say_so() {
    let snoop = hex("736e6f6f70000000 00000002 00000004 000005dc 00000004 0000001c 00000000");
    assert!(matches!(read(&snoop[..]).error, Some(ReadError::Truncated { records: 0 })));
    let overfull = hex(
        "736e6f6f70000000 00000002 00000004 000005dc 00000009 0000001c 00000000 6553f100 0007a120 \
         cafe0102",
    );
    let error = read(&overfull[..]).error;
    assert!(
        matches!(error, Some(ReadError::Damaged { damage: Damage::Overfull, .. })),
        "{error:?}"
    );
    let netmon = [&b"GMBU"[..], &[0; 40]].concat();
    assert!(matches!(read(&netmon[..]).error, Some(ReadError::Truncated { records: 0 })));
}

fn all() -> Vec<Vec<u8>> {
    let mut files = vec![snoop(), erf()[20..].to_vec()];
    files.extend(network_monitor().into_iter().map(|(_, file)| file));
    files
}

/// Each length of a record that a header may claim.
#[test]
fn other_formats_claimed_length_takes_no_memory() {
    for file in all() {
        let records = if file.starts_with(b"snoop") { 16 } else { file.len().saturating_sub(60) };
        for at in records..file.len().saturating_sub(4) {
            for claimed in [u32::MAX, 255 << 20, 255 << 24] {
                let mut file = file.clone();
                file[at..at + 4].copy_from_slice(&claimed.to_be_bytes());
                let outcome = read(Stingy(&file));
                assert!(outcome.records.len() <= file.len() / 8);
            }
        }
    }
}

proptest! {
    #[test]
    fn other_formats_flipped_bytes_never_panic(
        file in prop::sample::select(all()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        kept: prop::sample::Index,
    ) {
        let mut file = file;
        for (place, value) in flips {
            let at = place.index(file.len());
            file[at] = value;
        }
        for file in [&file[..], &file[..kept.index(file.len())]] {
            let outcome = read(Stingy(file));
            prop_assert!(outcome.records.len() <= file.len() / 8);
        }
    }

    #[test]
    fn other_formats_any_records_never_panic(
        file in prop::sample::select(all()),
        bytes in prop::collection::vec(prop_oneof![0..8_u8, any::<u8>()], 0..300),
    ) {
        let header = if file.starts_with(b"snoop") { 16 } else { file.len().min(128) };
        read(Stingy(&[&file[..header], &bytes].concat()));
    }
}
