//! Formats and variants other than today's pcap and pcapng, byte by byte.

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

#[test]
fn snoop_by_hand_is_read() {
    // RFC 1761: original and included length, record length with padding, drops, time.
    let file = hex("736e6f6f70000000 00000002 00000004 \
         000005dc 00000004 0000001c 00000000 6553f100 0007a120 cafe0102 \
         000005dc 00000004 00000020 00000003 6553f100 000b71b0 cafe0304 00000000");
    check("snoop", &file, 1);
    let dropped = read(&file[..]).statistics[0].as_ref().and_then(|it| it.dropped);
    assert_eq!(dropped, Some(3));
}

#[test]
fn network_monitor_by_hand_is_read() {
    // 2023-11-14 22:13:20 UTC is 1,700,000,000 seconds after the beginning of 1970.
    let start = "e707 0b00 0200 0e00 1600 0d00 1400 0000";
    let rest = "00".repeat(128 - 32);
    let first = hex(&format!(
        "52545353 0101 0100 {start} 98000000 08000000 {rest} \
         f4010000 dc05 0400 cafe0102 ee020000 dc05 0400 cafe0304 80000000 8c000000"
    ));
    check("version 1.1", &first, 1);
    for (name, minor, end, trailer) in
        [("2.0", "00", "a8", ""), ("2.1", "01", "ac", "0100"), ("2.2", "02", "b4", "0100 00000000")]
    {
        let second = hex(&format!(
            "474d4255 {minor}02 0100 {start} {end}000000 08000000 {rest} \
             20a1070000000000 dc050000 04000000 cafe0102 {trailer} \
             b0710b0000000000 dc050000 04000000 cafe0304 {trailer} 80000000 94000000"
        ));
        check(name, &second, 1);
    }
}

#[test]
fn erf_by_hand_is_read() {
    // Time in units of 2^-32 s, type, flags, lengths of the record and of the frame; Ethernet has
    // two bytes before the frame. Padding and records without a frame are passed over.
    let record = |fraction: &str, head: &str, bytes: &str| {
        hex(&format!("{fraction} 00f15365 {head} 05dc {bytes}"))
    };
    let file = [
        record("00000000", "30 00 0014 0000", "00000000"),
        record("00000080", "02 04 0016 0000", "0000 cafe0102"),
        record("000000c0", "82 04 001e 0000", "0400000000000000 0000 cafe0304"),
    ]
    .concat();
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
