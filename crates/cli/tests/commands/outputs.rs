//! All outputs of one capture agree: table, `--json`, `--jsonl`, CSV and Parquet, each alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value};
use tcplab_capture::{PcapWriter, UnixTime};
use tcplab_units::rounded::{bytes, grouped};
use tcplab_units::{Bytes, Rng};
use tcplab_wire::{Ecn, Ipv4Repr, SeqNumber, TcpFlags, TcpRepr};

use crate::home::{Home, ended};

/// Lists of a connection in `--json`, and the lines of `--jsonl` that are their items.
const LISTS: [(&str, &str); 4] =
    [("episodes", "episode"), ("lost", "lost"), ("stalls", "stall"), ("limits", "limit")];
/// Lists that are tables.
const TABLES: [&str; 10] = [
    "segments",
    "episodes",
    "lost",
    "stalls",
    "limits",
    "notable",
    "stall_causes",
    "mss_changes",
    "series",
    "states",
];
/// Captures read at a time.
const WORKERS: usize = 4;
/// Columns of the CSV, those of the direction that are equal, and whether that is the opposite one.
const COLUMNS: [(&str, &str, bool); 4] = [
    ("unique_bytes_sent", "unique_bytes", false),
    ("actual_data_pkts", "data_segments", false),
    ("actual_data_bytes", "data_bytes", false),
    ("pure_acks_sent", "pure_acks", true),
];

/// Captures of the repository.
fn stored() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["corpus/groundtruth", "fuzz/corpus/trace", "fuzz/corpus/capture"];
    let files = folders.iter().flat_map(|folder| root.join(folder).read_dir().unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| tcplab_capture::open(file).is_ok());
    files.sort();
    assert!(files.len() > 30);
    files
}

/// Connections with resets, ports used again, packets after the close, and pieces of packets.
fn made(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed, "outputs");
    let mut writer = PcapWriter::new(Vec::new(), 101, 65_535).unwrap();
    let (mut at, mut ends) = (1_700_000_000_000_000_000, BTreeMap::new());
    for number in 0..400_u16 {
        let client = rng.below(8) as u16;
        let ([next, acked], is_open) = ends.entry(client).or_insert(([0_u32; 2], false));
        at += [50_000, 1_000_000, 200_000_000, 3_000_000_000][rng.below(4) as usize];
        let is_client = !*is_open || rng.below(3) > 0;
        let flags = match rng.below(if *is_open { 30 } else { 3 }) {
            0 => TcpFlags::RST | TcpFlags::ACK,
            1 if *is_open => TcpFlags::FIN | TcpFlags::ACK,
            _ if *is_open => TcpFlags::ACK,
            _ => TcpFlags::SYN,
        };
        let len = if flags == TcpFlags::ACK { rng.below(3) as usize * 400 } else { 0 };
        if flags == TcpFlags::SYN {
            (*next, *acked) = (rng.below(1 << 32) as u32, 9_000);
        }
        *is_open |= flags == TcpFlags::SYN;
        *is_open &= !flags.contains(TcpFlags::RST) || rng.below(2) == 0;
        let own = if is_client { &mut *next } else { &mut *acked };
        let is_again = rng.below(6) == 0 && flags == TcpFlags::ACK;
        let seq = if is_again { own.wrapping_sub(len as u32) } else { *own };
        *own = seq.wrapping_add(len as u32 + u32::from(flags == TcpFlags::SYN));
        let ack = SeqNumber::new(if is_client { *acked } else { *next });
        let (src, dst) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let (src, dst) = if is_client { (src, dst) } else { (dst, src) };
        let (src_port, dst_port) = (40_000 + client, 80);
        let (src_port, dst_port) =
            if is_client { (src_port, dst_port) } else { (dst_port, src_port) };
        let ack = if flags == TcpFlags::SYN { SeqNumber::new(0) } else { ack };
        let seq = SeqNumber::new(seq);
        let tcp =
            TcpRepr { src_port, dst_port, seq, ack, flags, window: 9_000, ..TcpRepr::default() };
        let ip = Ipv4Repr { src, dst, id: number, ttl: 64, ecn: Ecn::NotEct }.into();
        let packet = tcp.to_packet(&ip, &vec![7; len]);
        for piece in pieces(packet, rng.below(8) == 0) {
            at += 1_000;
            writer.write_packet(UnixTime::from_nanos(at), &piece, piece.len() as u32).unwrap();
        }
    }
    writer.finish().unwrap()
}

/// What is left of a value without keys that are absent in `--jsonl`: null, zero, false, lists of
/// nothing. Zero is also left where null is possible: those are compared by what is not null.
fn present(value: &Value) -> Value {
    match value {
        Value::Object(keys) => {
            let there = keys.iter().map(|(key, value)| (key.clone(), present(value)));
            Value::Object(there.filter(|(_, value)| !is_absent(value)).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(present).collect()),
        value => value.clone(),
    }
}

fn is_absent(value: &Value) -> bool {
    [Value::Null, false.into(), 0.into(), "".into(), Value::Array(Vec::new())].contains(value)
}

/// The packet, or its fragments.
fn pieces(packet: Vec<u8>, is_cut: bool) -> Vec<Vec<u8>> {
    let (header, payload) = packet.split_at(20);
    if !is_cut || payload.len() < 300 {
        return vec![packet];
    }
    let fragment = |(number, piece): (usize, &[u8])| {
        let more = if (number + 1) * 160 < payload.len() { 0x2000 } else { 0 };
        let mut fragment = [header, piece].concat();
        let total = fragment.len() as u16;
        fragment[2..4].copy_from_slice(&total.to_be_bytes());
        fragment[6..8].copy_from_slice(&((number * 20) as u16 | more).to_be_bytes());
        fragment
    };
    payload.chunks(160).enumerate().map(fragment).collect()
}

#[test]
fn outputs_of_one_capture_agree() {
    let home = Home::new();
    for seed in 0..6 {
        home.write(&format!("made{seed}.pcap"), made(seed));
    }
    let made = (0..6).map(|seed| home.path(format!("made{seed}.pcap")));
    let captures: Vec<PathBuf> = stored().into_iter().chain(made).collect();
    std::thread::scope(|scope| {
        for first in 0..WORKERS {
            let (home, captures) = (&home, &captures);
            scope.spawn(move || {
                for (number, capture) in captures.iter().enumerate().skip(first).step_by(WORKERS) {
                    Outputs { home, capture: capture.to_str().unwrap(), number }.agree();
                }
            });
        }
    });
}

/// A line has what is there, not a thousand zeros: a scan of a million ports stays readable.
#[test]
fn json_line_of_one_syn_has_only_what_is_there() {
    let home = Home::new();
    let ip = Ipv4Repr {
        src: [10, 0, 0, 1].into(),
        dst: [10, 0, 0, 2].into(),
        id: 1,
        ttl: 64,
        ecn: Ecn::NotEct,
    };
    // Without these options the line says that they were not offered.
    let syn = TcpRepr {
        src_port: 40_000,
        dst_port: 80,
        flags: TcpFlags::SYN,
        sack_permitted: true,
        timestamps: Some((1, 0)),
        ..TcpRepr::default()
    };
    let packet = syn.to_packet(&ip.into(), &[]);
    let mut writer = PcapWriter::new(Vec::new(), 101, 65_535).unwrap();
    writer.write_packet(UnixTime::from_nanos(1), &packet, packet.len() as u32).unwrap();
    home.write("syn.pcap", writer.finish().unwrap());
    let text = home.answer("trace syn.pcap --jsonl");
    let line = text.lines().find(|line| line.contains("\"type\":\"connection\"")).unwrap();
    assert!(line.len() < 1_000, "{line}");
    assert!(["null", "false", "[]"].iter().all(|nothing| !line.contains(nothing)), "{line}");
    let connection: Value = serde_json::from_str(line).unwrap();
    assert_eq!(connection["connection"], 0);
    assert_eq!(connection["handshake"], "unanswered");
}

struct Outputs<'a> {
    home: &'a Home,
    capture: &'a str,
    number: usize,
}

impl Outputs<'_> {
    fn agree(&self) {
        let whole: Value = serde_json::from_str(&self.run("--json")).unwrap();
        let connections = whole["connections"].as_array().unwrap();
        self.lines(&whole, connections);
        self.csv(connections);
        self.parquet(connections);
        self.table(connections);
        for (index, connection) in connections.iter().enumerate().take(3) {
            let one: Value =
                serde_json::from_str(&self.run(&format!("--json -c {index}"))).unwrap();
            assert_eq!(&one["connections"][0], connection, "{} -c {index}", self.capture);
        }
    }

    fn run(&self, options: &str) -> String {
        let line = format!("trace {} {options}", self.capture);
        self.home.run(&line).answer(&line)
    }

    fn lines(&self, whole: &Value, connections: &[Value]) {
        let text = self.run("--jsonl");
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
        for (list, kind) in LISTS {
            assert_eq!(of(kind).count(), count(connections, list), "{}: {list}", self.capture);
        }
        let mut found: Vec<&Value> = of("connection").collect();
        found.sort_by_key(|line| line["connection"].as_u64());
        assert_eq!(found.len(), connections.len(), "{}", self.capture);
        for (line, connection) in found.into_iter().zip(connections) {
            let mut line = line.clone();
            line.as_object_mut().unwrap().remove("type");
            let mut whole = connection.clone();
            for own in LISTS.map(|(list, _)| list).iter().chain(&["segments", "events", "findings"])
            {
                whole.as_object_mut().unwrap().remove(*own);
            }
            let identity = whole["connection"].clone();
            let mut there = present(&whole);
            there["connection"] = identity;
            let mut found = present(&line);
            found["connection"] = line["connection"].clone();
            assert_eq!(found, there, "{}", self.capture);
        }
        let capture: Map<String, Value> =
            of("capture").next().unwrap().as_object().unwrap().clone();
        for (key, value) in whole["capture"].as_object().unwrap() {
            assert_eq!(capture[key], *value, "{}: {key}", self.capture);
        }
    }

    fn csv(&self, connections: &[Value]) {
        let name = format!("{}.csv", self.number);
        self.run_writing(&format!("--csv {name}"));
        let text = self.home.text(&name);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let rows: Vec<BTreeMap<&str, &str>> =
            lines.map(|line| names.iter().copied().zip(line).collect()).collect();
        assert_eq!(rows.len(), connections.len(), "{}", self.capture);
        for row in rows {
            let connection = &connections[row["conn_#"].parse::<usize>().unwrap() - 1];
            for (column, key, is_opposite) in COLUMNS {
                for (way, directions) in
                    [("a2b", ["forward", "reverse"]), ("b2a", ["reverse", "forward"])]
                {
                    let expected = &connection[directions[usize::from(is_opposite)]][key];
                    let cell = row[format!("{column}_{way}").as_str()];
                    assert_eq!(cell, expected.to_string(), "{}: {column}", self.capture);
                }
            }
        }
    }

    fn parquet(&self, connections: &[Value]) {
        let folder = format!("{}.tables", self.number);
        let written = self.run_writing(&format!("--parquet {folder}"));
        for table in TABLES {
            let rows = count(connections, table);
            let s = if rows == 1 { "" } else { "s" };
            let line = format!("/{table}.parquet: {rows} row{s}\n");
            assert!(written.contains(&line), "{}: {line}{written}", self.capture);
        }
        // JSON also has packets without news, and proofs at the segments.
        let is_in_both = |kind: &str| !["repeated-ack", "spurious"].contains(&kind);
        let events = self.rows(&folder, "events");
        let kind =
            |row: &Row| row.get_column_iter().find(|it| it.0 == "kind").map(|it| it.1.to_string());
        let events =
            events.iter().filter_map(kind).filter(|kind| is_in_both(kind.trim_matches('"')));
        let listed = connections.iter().flat_map(|it| it["events"].as_array().unwrap());
        let listed = listed.filter(|event| is_in_both(event["kind"].as_str().unwrap()));
        assert_eq!(events.count(), listed.count(), "{}", self.capture);
        let rows = self.rows(&folder, "connections");
        assert_eq!(rows.len(), connections.len(), "{}", self.capture);
        for row in rows {
            let cells: BTreeMap<&str, &Field> =
                row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
            let Field::Long(number) = cells["connection"] else { panic!("{row}") };
            let connection = &connections[*number as usize];
            for (name, field) in cells {
                let Field::Long(cell) = field else { continue };
                let mut ways = ["forward", "reverse"].into_iter();
                let of_way = |way| Some((way, name.strip_prefix(way)?.strip_prefix('_')?));
                let value = match ways.find_map(of_way) {
                    Some((way, key)) => &connection[way][key],
                    None => &connection[name],
                };
                assert_eq!(value.as_i64(), Some(*cell), "{}: {name}", self.capture);
            }
        }
    }

    fn rows(&self, folder: &str, table: &str) -> Vec<Row> {
        let file = std::fs::File::open(self.home.path(format!("{folder}/{table}.parquet")));
        let reader = SerializedFileReader::new(file.unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    }

    fn table(&self, connections: &[Value]) {
        let table = self.run("--all");
        let text = table.split_whitespace().collect::<Vec<_>>().join(" ");
        if connections.is_empty() {
            assert!(text.contains("No TCP packet found") || text.contains("no packets"), "{text}");
            return;
        }
        let sum = |key: &str| -> u64 {
            let both = |it: &Value| [&it["forward"][key], &it["reverse"][key]].map(Value::as_u64);
            connections.iter().flat_map(both).map(Option::unwrap).sum()
        };
        let s = if connections.len() == 1 { "" } else { "s" };
        let all = format!(" {} connection{s}", grouped(connections.len() as u64));
        assert!(text.contains(&all), "{}: {all}\n{table}", self.capture);
        let listed = connections.iter().flat_map(|it| it["segments"].as_array().unwrap());
        let segments = listed.filter(|it| it["kind"] != "capture-duplicate").count() as u64;
        if segments > 0 {
            let again =
                format!("{} of {} segment", grouped(sum("retransmissions")), grouped(segments));
            assert!(text.contains(&again), "{}: {again}\n{table}", self.capture);
        }
        for (index, connection) in connections.iter().enumerate() {
            let own = format!("{index} ");
            let client = connection["client_address"].as_str().unwrap();
            let is_own = |line: &str| {
                line.trim_start().strip_prefix(&own).is_some_and(|rest| rest.contains(client))
            };
            let mut lines = table.lines().skip_while(|line| !is_own(line));
            for way in ["forward", "reverse"] {
                let sent = bytes(Bytes::new(connection[way]["unique_bytes"].as_u64().unwrap()));
                let line = lines.next().unwrap_or_default();
                assert!(line.contains(&sent), "{}: {index}, {sent}\n{table}", self.capture);
            }
        }
    }

    /// What it says on standard error, where it names the files.
    fn run_writing(&self, options: &str) -> String {
        let ended = self.home.run(&format!("trace {} {options}", self.capture));
        assert_eq!(ended.code, Some(0), "{}: {}", self.capture, ended.stderr);
        ended.stderr
    }
}

/// A pipe whose reader has enough, as `head` has, ends every form of output quietly.
#[test]
fn outputs_nobody_reads_end_quietly() {
    let home = Home::new();
    home.write("a.pcap", made(1));
    home.write("b.pcap", made(2));
    for line in [
        "trace a.pcap --all",
        "trace a.pcap --json",
        "trace a.pcap --jsonl",
        "trace a.pcap -c 1",
        "trace a.pcap -c 1 --json",
        "trace a.pcap -c 1 --listing",
        "trace a.pcap -c 1 --ladder",
        "trace a.pcap --csv /dev/stdout",
        "trace a.pcap --annotate /dev/stdout",
        "trace . --json",
        "export a.pcap --table segments -o -",
        "states a.pcap -c 1",
        "trace --client a.pcap --server b.pcap",
        "compare a.pcap b.pcap",
        "metrics",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let unread = ended(home.command(line).stdout(writer));
        assert_eq!((unread.code, &*unread.stderr), (Some(0), ""), "{line}");
    }
}

/// The items of a list in all connections.
fn count(connections: &[Value], list: &str) -> usize {
    connections.iter().map(|connection| connection[list].as_array().unwrap().len()).sum()
}

/// Captures hold what was sent.
#[test]
fn captures_belong_to_their_owner_alone() {
    let home = Home::with("small.toml", crate::errors::SMALL);
    home.answer("run small.toml --world sim --trials 1");
    let run = home.only("runs/small");
    assert_eq!(home.mode(&run), 0o700, "the run's directory");
    let trial = home.only(run.join("trials"));
    assert_eq!(home.mode(&trial), 0o700, "the trial's directory");
    for name in ["client.pcapng", "server.pcapng", "path.jsonl"] {
        assert_eq!(home.mode(trial.join(name)), 0o600, "{name}");
    }
    let capture = trial.join("client.pcapng");
    home.answer(&format!("trace {} --annotate copy.pcapng", capture.display()));
    assert_eq!(home.mode("copy.pcapng"), 0o600);
}
