//! Captures as gzip and zstd leave them.

use std::io::{Cursor, Read as _, Write as _};
use std::sync::atomic::Ordering;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

/// A capture that compresses to something larger than a chunk.
fn plain() -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), 101, 0).unwrap();
    let mut noise = 1_u32;
    for packet in 0..400_u64 {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        })
        .take(1_000)
        .collect();
        writer.write_packet(UnixTime::from_nanos(packet), &bytes, 1_000).unwrap();
    }
    writer.finish().unwrap()
}
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}
/// A file of the repository's corpus, which zstd itself compressed.
fn corpus(name: &str) -> std::path::PathBuf {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    std::path::Path::new(corpus).join(name)
}
fn source(bytes: &[u8]) -> Source {
    Source::new(Box::new(Cursor::new(bytes.to_vec())), Some(bytes.len() as u64)).unwrap()
}

#[test]
fn compressed_captures_read_like_plain_ones() {
    let plain = plain();
    let expected = read(&plain[..]);
    assert_eq!((expected.records.len(), expected.error.is_none()), (400, true));
    let halves = plain.split_at(plain.len() / 2);
    let skippable = [&[0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&plain)].concat();
    for (how, bytes) in [
        ("as it is", plain.clone()),
        ("gzip", gzip(&plain)),
        ("gzip in two members", [gzip(halves.0), gzip(halves.1)].concat()),
        ("zstd", zstd(&plain)),
        ("zstd in two frames", [zstd(halves.0), zstd(halves.1)].concat()),
        ("zstd behind a frame to be skipped", skippable),
    ] {
        let source = source(&bytes);
        let taken = source.taken();
        assert_eq!(source.size(), Some(bytes.len() as u64));
        let outcome = read(source);
        assert!(outcome.error.is_none(), "{how}: {:?}", outcome.error);
        assert!(outcome.records == expected.records, "{how}");
        assert_eq!(taken.load(Ordering::Relaxed), bytes.len() as u64, "{how}");
    }
}

#[test]
fn a_truncated_file_gives_its_records_and_an_error() {
    let plain = plain();
    for bytes in [gzip(&plain), zstd(&plain)] {
        for len in (5..bytes.len()).step_by(9_973).chain([bytes.len() - 1]) {
            let mut begin = Vec::new();
            match Reader::new(source(&bytes[..len])) {
                Err(error) => assert!(
                    matches!(error, ReadError::Truncated { .. } | ReadError::NotACapture { .. }),
                    "{len}: {error}"
                ),
                Ok(mut reader) => {
                    let error = loop {
                        match reader.next_record() {
                            Ok(Some(record)) => begin.push(record.captured.to_vec()),
                            Ok(None) => break None,
                            Err(error) => break Some(error),
                        }
                    };
                    let good = begin.len() as u64;
                    // Only the checksum may be missing once all is read.
                    assert!(
                        matches!(error, Some(ReadError::Truncated { records }) if records == good),
                        "{len}: {error:?}"
                    );
                }
            }
        }
    }
}

/// A decoder that may have to repeat what it gave must not keep it for itself.
#[test]
fn all_that_was_whole_before_the_cut_is_given() {
    let packed = std::fs::read(corpus("loss1_cubic.snd.pcap.zst")).unwrap();
    let mut plain = Vec::new();
    source(&packed).read_to_end(&mut plain).unwrap();
    let all = read(&plain[..]).records.len();
    for (how, bytes) in [("gzip", gzip(&plain)), ("zstd", packed)] {
        let outcome = read(source(&bytes[..bytes.len() / 2]));
        let found = outcome.records.len();
        // The file has six blocks of 128 kB, and is alike from its beginning to its end.
        assert!(found > all / 4, "{how}: {found} of {all}, then {:?}", outcome.error);
        assert!(matches!(outcome.error, Some(ReadError::Truncated { .. })), "{how}");
    }
}

#[test]
fn damaged_files_do_not_panic() {
    let plain = plain();
    for bytes in [gzip(&plain), zstd(&plain)] {
        for at in (4..bytes.len()).step_by(4_999) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x41;
            let Ok(mut reader) = Reader::new(source(&bytes)) else { continue };
            while let Ok(Some(_)) = reader.next_record() {}
        }
        // The last four bytes of both formats are a sum over the content or its length.
        let mut bytes = bytes;
        let last = bytes.len() - 1;
        bytes[last] ^= 0x41;
        let outcome = read(source(&bytes));
        assert_eq!(outcome.records.len(), 400);
        assert!(matches!(outcome.error, Some(ReadError::Io { .. })), "{:?}", outcome.error);
    }
}

/// Made by the reference implementation, with its checksum of the content.
#[test]
fn a_file_of_the_reference_zstd_is_read_to_its_end() {
    let path = corpus("app_limited.snd.pcap.zst");
    let mut bytes = Vec::new();
    Source::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
    let mut reader = open(&path).unwrap();
    let mut records = 0;
    while reader.next_record().unwrap().is_some() {
        records += 1;
    }
    assert!(records > 1_000);
    assert_eq!(read(&bytes[..]).records.len(), records);
    assert!(reader.source().size().is_some_and(|size| size < bytes.len() as u64 / 2));
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let message_of = |path: &std::path::Path| {
        let error = open(path).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    };
    let missing = folder.path().join("missing.pcap");
    let message = message_of(&missing);
    assert!(message.starts_with("cannot open /") && message.contains("No such file"), "{message}");
    assert!(message_of(folder.path()).contains("Is a directory"));
    let empty = folder.path().join("empty.pcap");
    std::fs::write(&empty, b"").unwrap();
    assert_eq!(open(&empty).unwrap_err().to_string(), "not a capture: it is empty");
}
