//! `tcplab trace -c N` with an index of the capture prints and writes what it does without.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tcplab_capture::{Interface, Packet, PcapWriter, PcapngWriter, Section, Statistics};

use crate::home::{Home, names};

/// Larger captures have an index, bytes.
const LEAST: usize = 4 << 20;

/// The records of a capture with two connections and some faults, by time: number and all else.
fn records() -> Vec<(tcplab_capture::UnixTime, Vec<u8>, u32)> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let mut reader =
        tcplab_capture::open(Path::new(corpus).join("nots_loss1.snd.pcap.zst")).unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        records.push((record.time.unwrap(), record.captured.to_vec(), record.original_len));
    }
    records
}

/// As pcapng, with comments and drops, two places of capture, and 5 MB that nobody reads.
fn pcapng() -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &Section::default()).unwrap();
    for name in ["eth0", "eth1"] {
        let name = Some(name.into());
        let interface = Interface { name, link_type: 101, ..Interface::default() };
        writer.add_interface(&interface).unwrap();
    }
    for (number, (time, captured, original_len)) in records().iter().enumerate() {
        let interface = u32::from(number % 5 == 3);
        let comments = ["seen", "again"];
        let comments = if number % 40 == 1 { &comments[..] } else { &[] };
        let (time, original_len, direction) = (*time, *original_len, None);
        let packet = Packet { interface, time, captured, original_len, direction, comments };
        writer.write_packet(&packet).unwrap();
    }
    let dropped = Statistics { dropped: Some(7), ..Statistics::default() };
    writer.write_statistics(1, &dropped).unwrap();
    let mut file = writer.finish().unwrap();
    // Custom blocks (draft-ietf-opsawg-pcapng), which readers skip.
    let len = 65_536_u32;
    let mut block = [0xbad_u32, len].map(u32::to_le_bytes).concat();
    block.resize(len as usize - 4, 0);
    block.extend(len.to_le_bytes());
    (0..=5 << 20 >> 16).for_each(|_| file.extend(&block));
    file
}

/// As pcap, between frames of 60 kB that are not TCP, and cut off.
fn pcap() -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), 101, 262_144).unwrap();
    let mut udp = vec![0x45, 0, 0xea, 0x60, 0, 0, 0, 0, 64, 17, 0, 0];
    udp.resize(60_000, 10);
    for (number, (time, captured, original_len)) in records().iter().enumerate() {
        writer.write_packet(*time, captured, *original_len).unwrap();
        if number % 10 == 0 {
            writer.write_packet(*time, &udp, udp.len() as u32).unwrap();
        }
    }
    let mut file = writer.finish().unwrap();
    file.truncate(file.len() - 3);
    file
}

/// A home with this capture, changed an hour ago.
fn home(name: &str, capture: &[u8]) -> Home {
    assert!(capture.len() > LEAST);
    let home = Home::with(name, capture);
    make_older(&home.path(name));
    home
}

fn make_older(file: &Path) {
    let time = SystemTime::now() - Duration::from_secs(3_600);
    let file = File::options().append(true).open(file).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// The index, which is not used for an hour.
fn index(home: &Home) -> PathBuf {
    let index = home.only("cache/tcplab/captures");
    make_older(&index);
    index
}

fn was_used(index: &Path) -> bool {
    let modified = fs::metadata(index).unwrap().modified().unwrap();
    modified.elapsed().is_ok_and(|since| since < Duration::from_secs(1_800))
}

/// What a command prints and writes.
fn everything(home: &Home, line: &str) -> Vec<Vec<u8>> {
    let ended = home.run(&format!("trace {line}"));
    let mut all =
        vec![format!("{:?}", ended.code).into(), ended.stdout.into(), ended.stderr.into()];
    if line.contains("--xpl") {
        all.extend(["a.csv", "b.pcapng", "a.svg"].map(|file| home.bytes(file)));
        for folder in ["graphs", "tables"] {
            let folder = home.path(folder);
            all.extend(names(&folder).iter().map(|name| home.bytes(folder.join(name))));
        }
    }
    all
}

const FORMS: [&str; 6] = [
    "",
    "--listing",
    "--ladder --from 0.1s",
    "--json",
    "--jsonl",
    "--csv a.csv --xpl graphs --parquet tables --annotate b.pcapng --ladder-svg a.svg",
];

#[test]
fn indexed_connection_is_printed_as_without_index() {
    for (name, capture) in [("a.pcapng", pcapng()), ("a.pcap", pcap())] {
        for jobs in ["--jobs 1", "--jobs 3"] {
            let home = home(name, &capture);
            let first = everything(&home, &format!("{name} -c 1 {jobs}"));
            let index = index(&home);
            for connection in [0, 1] {
                for form in FORMS {
                    let line = format!("{name} -c {connection} {jobs} {form}");
                    let whole = everything(&home, &format!("{line} --no-index"));
                    assert!(!was_used(&index), "{line}");
                    let indexed = everything(&home, &line);
                    assert!(was_used(&index), "{line}");
                    assert!(whole == indexed && whole[0] == b"Some(0)", "{line}");
                    assert!(form != FORMS[0] || connection == 0 || first == whole, "{line}");
                    make_older(&index);
                }
            }
            assert_eq!(home.only("cache/tcplab/captures"), index);
        }
    }
}

#[test]
fn missing_connection_is_named_with_index() {
    let home = home("a.pcap", &pcap());
    home.answer("trace a.pcap -c 0");
    let said = home.refusal("trace a.pcap -c 9");
    assert_eq!(said, home.refusal("trace a.pcap -c 9 --no-index"));
    assert!(said.contains("there are 2"), "{said}");
}

#[test]
fn what_needs_all_packets_uses_no_index() {
    let home = home("a.pcap", &pcap());
    home.answer("trace a.pcap -c 0");
    let index = index(&home);
    fs::copy(home.path("a.pcap"), home.path("b.pcap")).unwrap();
    for line in [
        "a.pcap",
        "a.pcap -c 0 --html a.html",
        "a.pcap -c 0 --hex 1",
        "a.pcap -c 0 --filter 'not port 1'",
        "a.pcap -c 0 --memory 64MB",
        "a.pcap b.pcap -c 0",
    ] {
        home.run(&format!("trace {line}")).answer(line);
        assert!(!was_used(&index), "{line}");
    }
    assert_eq!(home.only("cache/tcplab/captures"), index);
}

#[test]
fn changed_capture_or_damaged_index_is_read_as_without() {
    let home = home("a.pcap", &pcap());
    home.answer("trace a.pcap -c 0");
    let mut capture = home.bytes("a.pcap");
    // The last byte of the first packet.
    let second = 40 + u32::from_le_bytes(capture[32..36].try_into().unwrap()) as usize;
    capture[second - 1] ^= 1;
    // And it was a second earlier.
    let seconds = u32::from_le_bytes(capture[24..28].try_into().unwrap());
    capture[24..28].copy_from_slice(&(seconds - 1).to_le_bytes());
    home.write("a.pcap", &capture);
    make_older(&home.path("a.pcap"));
    let whole = home.answer("trace a.pcap -c 0 --json --no-index");
    for _ in 0..2 {
        assert_eq!(home.answer("trace a.pcap -c 0 --json"), whole);
    }
    let index = index(&home);
    let bytes = fs::read(&index).unwrap();
    for damaged in [&bytes[..0], &bytes[..bytes.len() / 2], b"tcplab", &bytes[1..]] {
        fs::write(&index, damaged).unwrap();
        assert_eq!(home.answer("trace a.pcap -c 0 --json"), whole);
        // It is replaced.
        assert_eq!(fs::read(&index).unwrap(), bytes);
    }
}

#[test]
fn unusable_cache_is_not_mentioned() {
    let home = home("a.pcap", &pcap());
    home.write("cache", "no directory");
    let ended = home.run("trace a.pcap -c 0");
    assert_eq!(ended.stderr, "");
    let said = ended.answer("-c 0");
    let mut command = home.command("trace a.pcap -c 0");
    command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    assert_eq!(crate::home::ended(&mut command).answer("-c 0"), said);
}
