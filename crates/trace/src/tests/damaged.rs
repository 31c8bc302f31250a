//! Truncated files and files with flipped bits give a trace, and a note on the damage.

use std::io::Cursor;

use tcplab_capture::{ReadError, Reader, Source};

use tcplab_wire::LinkType;

use super::drill::{self, drill};
use super::robustness::{TRANSFER, check};
use crate::{Analyzer, Frame, Trace, analyze};

/// Small captures, which the fuzzer begins with.
macro_rules! seed {
    ($name:literal) => {
        include_bytes!(concat!("../../../../fuzz/corpus/capture/", $name))
    };
}

const PCAP: &[u8] = seed!("small.pcap");
const SWAPPED: &[u8] = seed!("big_endian.pcap");
const PCAPNG: &[u8] = seed!("comment.pcapng");
const BLOCKS: &[u8] = seed!("hand_be.pcapng");
const GZIP: &[u8] = seed!("small.pcap.gz");
const ZSTD: &[u8] = seed!("small.pcap.zst");

fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    let source = Source::new(Box::new(Cursor::new(bytes.to_vec())), None).unwrap();
    let trace = analyze(Reader::new(source)?);
    check(&trace);
    Ok(trace)
}

/// The lengths at which a truncated capture looks complete.
fn unnoticed(file: &[u8]) -> Vec<u64> {
    let whole = read(file).unwrap();
    assert!(!whole.notes.iter().any(|note| note.text.starts_with("the capture is")));
    let mut before = 0;
    let mut unnoticed = Vec::new();
    for len in 0..file.len() {
        match read(&file[..len]) {
            Ok(trace) => {
                assert!(trace.packets >= before, "{len}: a longer file has fewer packets");
                before = trace.packets;
                // Those of whole captures, too: of statistics and Simple Packet Blocks.
                let usual = ["interface", "1 frame has no time"];
                let is_usual = |text: &str| usual.iter().any(|usual| text.starts_with(usual));
                if trace.notes.iter().all(|note| is_usual(&note.text)) {
                    unnoticed.push(trace.packets);
                } else {
                    let text = &trace.notes[0].text;
                    let said = ["the capture is cut off", "the capture is unreadable after"];
                    assert!(said.iter().any(|said| text.starts_with(said)), "{len}: {text}");
                }
            }
            Err(error) => assert!(before == 0 && !error.to_string().is_empty(), "{len}: {error}"),
        }
    }
    assert!(before <= whole.packets);
    unnoticed
}

#[test]
fn truncated_at_every_byte_no_panic() {
    // A file that ends between two records lacks nothing that one could see.
    let packets = read(PCAP).unwrap().packets;
    assert_eq!(unnoticed(PCAP), (0..packets).collect::<Vec<_>>());
    assert_eq!(unnoticed(SWAPPED), (0..packets).collect::<Vec<_>>());
    // Behind the section, the interface, and each packet but the last.
    assert_eq!(unnoticed(PCAPNG), [&[0], &(0..packets).collect::<Vec<_>>()[..]].concat());
    // The same; behind the second packet statistics and a block of an unknown kind.
    assert_eq!(unnoticed(BLOCKS), [0, 0, 1, 2, 2]);
}

#[test]
fn compressed_truncated_at_every_byte_no_panic() {
    assert_eq!(unnoticed(GZIP), [0_u64; 0]);
    assert_eq!(unnoticed(ZSTD), [0_u64; 0]);
}

/// Flips every bit: how many files could not be opened, and how many others had notes.
fn flipped(file: &[u8]) -> (usize, usize) {
    let (mut refused, mut remarked) = (0, 0);
    let mut bytes = file.to_vec();
    for bit in 0..file.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        match read(&bytes) {
            Ok(trace) => remarked += usize::from(!trace.notes.is_empty()),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    (refused, remarked)
}

#[test]
fn every_bit_flipped_no_panic() {
    for (name, file) in [("pcap", PCAP), ("pcapng", PCAPNG), ("by hand", BLOCKS)] {
        let (refused, remarked) = flipped(file);
        // The magic number, at least; and lengths, times, IP and TCP headers.
        assert!(refused >= 31, "{name}: {refused} are refused");
        assert!(remarked >= 200, "{name}: something is remarked of {remarked}");
    }
}

#[test]
fn compressed_every_bit_flipped_no_panic() {
    for file in [GZIP, ZSTD] {
        let whole = read(file).unwrap();
        let mut bytes = file.to_vec();
        let mut unseen = 0;
        for bit in 0..file.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(trace) = read(&bytes) {
                // The checksum failed, or the format ignores this bit.
                let same = trace.connections == whole.connections;
                unseen += usize::from(!same && trace.notes.is_empty());
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(unseen, 0, "another trace, and nothing said");
    }
}

#[test]
fn empty_file_is_an_error() {
    assert!(matches!(read(b""), Err(ReadError::NotACapture { begins }) if begins.is_empty()));
}

/// Truncates each frame; `whole`: it was longer.
fn cut_to(kept: usize, whole: bool) -> Trace {
    let mut analyzer = Analyzer::new();
    for packet in drill(TRANSFER, 1_000) {
        let captured = &packet.bytes[..kept.min(packet.bytes.len())];
        let original_len = if whole { packet.bytes.len() } else { captured.len() } as u32;
        let (time_ns, link) = (packet.time_ns, LinkType::RawIp);
        analyzer.packet(&Frame { time_ns, link, captured, original_len, comment: None });
    }
    let trace = analyzer.finish();
    check(&trace);
    trace
}

#[test]
fn frames_truncated_to_any_length_no_panic() {
    let plain = drill::analyze(&drill(TRANSFER, 1_000));
    // No header of IPv4 and TCP without options of IP is longer.
    for kept in 0..=80 {
        for whole in [true, false] {
            let trace = cut_to(kept, whole);
            assert_eq!(trace.packets, plain.packets);
            if kept < 40 {
                let data = trace.connections.iter().map(|c| c.forward.totals.data.as_u64());
                assert_eq!(data.sum::<u64>(), 0, "{kept} bytes hold no header");
                assert!(!trace.notes.is_empty(), "{kept} bytes");
            }
            if kept == 80 {
                let totals = |trace: &Trace| {
                    let connection = &trace.connections[0];
                    [connection.forward.totals, connection.reverse.totals]
                };
                assert_eq!(totals(&trace), totals(&plain));
            }
        }
    }
}

/// A header length of 8 bytes: the flags of such a segment are anything, and no receiver reads it.
#[test]
fn damaged_tcp_header_is_no_reset() {
    let mut packets = drill("open 0.010\n0.100 > 1:100\n0.110 < ack 100\n0.120 < R 1 ack 100", 7);
    let reset = packets.last_mut().unwrap();
    reset.bytes[32] = 0x20;
    let trace = drill::analyze(&packets);
    assert_eq!(trace.connections[0].forward.totals.data_segments, 1);
    assert_eq!(trace.connections[0].life.close, None);
    assert_eq!(trace.others.iter().map(|it| it.packets).sum::<u64>(), 1);
    assert!(trace.notes[0].text.contains("TCP header claims 8 bytes"), "{:?}", trace.notes);
}

/// Frames that lack the end of their IP packets differ in sizes, and have one note.
#[test]
fn packets_beyond_frames_have_one_note() {
    let mut packets = drill("open 0.010\n0.100 > 1:14481 every 0.001\n0.150 < ack 14481", 7);
    for (more, packet) in (10_u16..).zip(&mut packets[3..8]) {
        let claimed = u16::try_from(packet.bytes.len()).unwrap() + more;
        packet.bytes[2..4].copy_from_slice(&claimed.to_be_bytes());
    }
    let trace = drill::analyze(&packets);
    let texts: Vec<&str> = trace.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(texts, ["the IP packet claims more bytes than the frame has"; 5]);
}

/// A damaged ACK acknowledges nothing; only who asks for checksums has it left out.
#[test]
fn packets_with_wrong_checksums_are_left_out_if_asked_for() {
    let whole = drill(TRANSFER, 1_000);
    let mut packets = whole.clone();
    // A copy of an ACK, its acknowledgement number changed by a flipped bit.
    let at = packets.iter().rposition(|packet| packet.bytes.len() < 60).unwrap();
    let mut damaged = packets[at].clone();
    damaged.bytes[29] ^= 0x10;
    packets.insert(at, damaged);
    let analyzed = |packets: &[drill::Captured], checks| {
        let mut analyzer = Analyzer::new().with_checksums(checks);
        for packet in packets {
            analyzer.packet(&Frame::whole(packet.time_ns, LinkType::RawIp, &packet.bytes));
        }
        analyzer.finish()
    };
    let (expected, found) = (analyzed(&whole, true), analyzed(&packets, true));
    let [left_out] = &found.others[..] else { panic!("{:?}", found.others) };
    assert_eq!((left_out.protocol.as_str(), left_out.packets), ("damaged", 1));
    let sums = |trace: &Trace| {
        let connection = &trace.connections[0];
        (connection.packets, connection.forward.round_trips.clone(), connection.forward.totals)
    };
    assert_eq!(sums(&found), sums(&expected));
    assert_eq!(expected.others, []);
    assert!(analyzed(&packets, false).others.is_empty());
}
