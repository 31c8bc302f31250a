//! The tables of a trace have what the analyser found; the CSV has what tcptrace counts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use tcplab_capture::Reader;
use tcplab_table::{ConnectionsCsv, Format, TraceTable, TraceTables};
use tcplab_trace::{Analyzer, Connection, Flow, Trace};
use tcplab_units::Span;
use tempfile::TempDir;

const CAPTURES: [&str; 4] = ["loss1_cubic.snd", "ackloss30.rcv", "blackout.snd", "app_limited.rcv"];

/// A capture of the corpus, unpacked.
fn unpacked(name: &str, place: &TempDir) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let path = place.path().join(name);
    let packed = folder.join(format!("{name}.pcap.zst"));
    let mut packed = tcplab_capture::Source::open(&packed).unwrap();
    std::io::copy(&mut packed, &mut std::fs::File::create(&path).unwrap()).unwrap();
    path
}

fn tables(capture: &Path, which: &[TraceTable]) -> BTreeMap<TraceTable, (u64, Vec<u8>)> {
    let sink = TraceTables::create(which, Format::Parquet, |_| Ok(Vec::new())).unwrap();
    let mut analyzer = Analyzer::with_sink(sink);
    analyzer.read(Reader::open(capture).unwrap());
    let (trace, sink) = analyzer.finish_into();
    let written = sink.finish(&trace).unwrap();
    written.into_iter().map(|table| (table.table, (table.rows, table.out))).collect()
}

fn rows(file: &[u8]) -> Vec<Row> {
    let place = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(place.path(), file).unwrap();
    let reader = SerializedFileReader::new(place.reopen().unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// Whole numbers and nothing; what else there is as text.
fn cell(row: &Row, name: &str) -> Option<String> {
    let (_, field) = row.get_column_iter().find(|(own, _)| *own == name).unwrap();
    match field {
        Field::Null => None,
        Field::Str(text) => Some(text.clone()),
        Field::Long(number) => Some(number.to_string()),
        Field::Bool(flag) => Some(flag.to_string()),
        Field::Double(number) => Some(number.to_string()),
        other => panic!("{name}: {other:?}"),
    }
}

fn number(row: &Row, name: &str) -> u64 {
    cell(row, name).unwrap().parse().unwrap()
}

/// Each direction with its columns `connection` and `direction`.
fn flows(trace: &Trace) -> impl Iterator<Item = (u64, &'static str, &Flow)> {
    let both = |c: &'static str| c;
    trace.connections.iter().enumerate().flat_map(move |(index, connection)| {
        let number = index as u64;
        let Connection { forward, reverse, .. } = connection;
        [(number, both("forward"), forward), (number, both("reverse"), reverse)]
    })
}

fn of<'a>(rows: &'a [Row], connection: u64, direction: &str) -> Vec<&'a Row> {
    let own = |row: &&Row| {
        number(row, "connection") == connection
            && cell(row, "direction").as_deref() == Some(direction)
    };
    rows.iter().filter(own).collect()
}

#[test]
fn rows_say_what_the_analyser_said() {
    let place = tempfile::tempdir().unwrap();
    let mut bare_resets = 0;
    for name in CAPTURES {
        let capture = unpacked(name, &place);
        let trace = tcplab_trace::analyze(Reader::open(&capture).unwrap());
        let files = tables(&capture, TraceTable::ALL);
        let all: BTreeMap<TraceTable, Vec<Row>> =
            files.iter().map(|(table, (_, file))| (*table, rows(file))).collect();
        for (table, (count, _)) in &files {
            assert_eq!(*count, all[table].len() as u64, "{name}: {}", table.name());
        }
        assert_eq!(all[&TraceTable::Connections].len(), trace.connections.len());
        for (row, connection) in all[&TraceTable::Connections].iter().zip(&trace.connections) {
            assert_eq!(cell(row, "client_address").unwrap(), connection.client.ip().to_string());
            assert_eq!(number(row, "packets"), connection.packets);
            assert_eq!(number(row, "forward_data_bytes"), connection.forward.totals.data.as_u64());
            assert_eq!(number(row, "reverse_pure_acks"), connection.reverse.totals.pure_acks);
        }
        for (connection, direction, flow) in flows(&trace) {
            let case = format!("{name} {connection} {direction}");
            let segments = of(&all[&TraceTable::Segments], connection, direction);
            assert_eq!(segments.len(), flow.segments.len(), "{case}");
            for (row, segment) in segments.iter().zip(&flow.segments) {
                assert_eq!(number(row, "frame"), segment.frame, "{case}");
                assert_eq!(number(row, "at_ns"), segment.at.as_nanos(), "{case}");
                assert_eq!(number(row, "start"), segment.range.start.as_u64(), "{case}");
                assert_eq!(number(row, "bytes_in_flight"), segment.in_flight.as_u64(), "{case}");
                let kind = cell(row, "kind").unwrap().replace('-', "");
                assert_eq!(kind, format!("{:?}", segment.kind).to_lowercase(), "{case}");
            }
            let events = of(&all[&TraceTable::Events], connection, direction);
            let duplicates =
                events.iter().filter(|row| cell(row, "kind").as_deref() == Some("duplicate-ack"));
            assert_eq!(duplicates.count() as u64, flow.totals.duplicate_acks, "{case}");
            let with_ack = flow.acks.iter().filter(|ack| ack.reset).map(|ack| ack.frame);
            let without = flow.resets.iter().filter(|reset| !reset.from_sender);
            let mut expected: Vec<u64> = with_ack.chain(without.map(|reset| reset.frame)).collect();
            expected.sort_unstable();
            let resets: Vec<u64> = events
                .iter()
                .filter(|row| cell(row, "kind").as_deref() == Some("reset"))
                .map(|row| number(row, "frame"))
                .collect();
            assert_eq!(resets, expected, "{case}");
            bare_resets += flow.resets.len();
            let acked: u64 = events
                .iter()
                .filter_map(|row| cell(row, "newly_acked_bytes"))
                .map(|bytes| bytes.parse::<u64>().unwrap())
                .sum();
            let highest = flow.acks.iter().map(|ack| ack.ack.as_u64()).max().unwrap_or(0);
            let first = flow.acks.first().map_or(0, |ack| ack.ack.as_u64());
            assert_eq!(acked, highest - first, "{case}");
            let episodes = of(&all[&TraceTable::Episodes], connection, direction);
            assert_eq!(episodes.len(), flow.episodes.len(), "{case}");
            for (row, episode) in episodes.iter().zip(&flow.episodes) {
                assert_eq!(number(row, "lost_segments"), episode.lost.len() as u64, "{case}");
                let silence = cell(row, "silence_ns").map(|it| it.parse().unwrap());
                assert_eq!(silence, episode.silence.map(Span::as_nanos), "{case}");
            }
            let stalls = of(&all[&TraceTable::Stalls], connection, direction);
            assert_eq!(stalls.len(), flow.stalls.len(), "{case}");
            let limits = of(&all[&TraceTable::Limits], connection, direction);
            assert_eq!(limits.len(), flow.limits.len(), "{case}");
        }
    }
    assert!(bare_resets > 0);
}

#[test]
fn only_the_tables_asked_for_are_written_and_each_explains_itself() {
    let place = tempfile::tempdir().unwrap();
    let capture = unpacked(CAPTURES[0], &place);
    let written = tables(&capture, &[TraceTable::Segments]);
    assert_eq!(written.keys().collect::<Vec<_>>(), [&TraceTable::Segments]);
    let file = place.path().join("segments.parquet");
    std::fs::write(&file, &written[&TraceTable::Segments].1).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let notes = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let note = |key: &str| notes.iter().find(|note| note.key == key)?.value.clone();
    assert!(note("tcplab.column.wireshark_flag").unwrap().contains("Wireshark"));
    let zero = tcplab_trace::analyze(Reader::open(&capture).unwrap()).epoch_nanos;
    assert_eq!(note("tcplab.zero_unix_ns"), Some(zero.to_string()));
}

#[test]
fn full_disk_is_an_error() {
    #[derive(Debug)]
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let failed = TraceTables::create(TraceTable::ALL, Format::Parquet, |_| Ok(Full))
        .and_then(|tables| tables.finish(&Trace::default()));
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(ConnectionsCsv::create(Full).is_err());
}

/// Our columns, by name, for each connection.
fn ours(capture: &Path) -> Vec<BTreeMap<String, String>> {
    let mut analyzer = Analyzer::with_sink(ConnectionsCsv::create(Vec::new()).unwrap());
    analyzer.read(Reader::open(capture).unwrap());
    let (count, file) = analyzer.finish_into().1.finish().unwrap();
    let lines = parsed(&String::from_utf8(file).unwrap());
    assert_eq!(count, lines.len() as u64);
    lines
}

fn parsed(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines().skip_while(|line| !line.starts_with("conn_#"));
    let cells = |line: &str| line.split(',').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
    let names = cells(lines.next().unwrap());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| names.iter().cloned().zip(cells(line)).collect())
        .collect()
}

/// Whether both values agree, apart from known quirks of tcptrace: it writes microseconds without
/// leading zeros, truncates means, counts resets modulo 256, and gives a stream without data the
/// length of its FIN.
fn is_same(column: &str, ours: &str, theirs: &str) -> bool {
    let parts = |text: &str| -> Option<(u64, u64)> {
        let (whole, part) = text.split_once('.')?;
        Some((whole.parse().ok()?, part.parse().ok()?))
    };
    let close = |most: u64| {
        let numbers = ours.parse::<u64>().ok().zip(theirs.parse::<u64>().ok());
        numbers.is_some_and(|(a, b)| a.abs_diff(b) <= most)
    };
    ours == theirs
        || match column.trim_end_matches("_a2b").trim_end_matches("_b2a") {
            "first_packet" | "last_packet" => parts(ours).is_some_and(|a| parts(theirs) == Some(a)),
            "avg_segm_size" => close(1),
            "resets_sent" => {
                let [ours, theirs] = [ours, theirs].map(str::parse::<u64>);
                matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours % 256 == theirs)
            }
            "missed_data" | "ttl_stream_length" => ours == "0" && theirs == "1",
            _ => false,
        }
}

#[test]
fn csv_matches_tcptrace() {
    let place = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let files: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".pcap.zst")).collect();
    assert!(names.len() >= CAPTURES.len());
    for name in names {
        let capture = unpacked(name, &place);
        let ours = ours(&capture);
        let theirs = Command::new("tcptrace").args(["-n", "-l", "--csv"]).arg(&capture).output();
        let Ok(theirs) = theirs else {
            eprintln!("SKIPPED: tcptrace cannot be run, so nothing was compared");
            return;
        };
        let theirs = parsed(&String::from_utf8_lossy(&theirs.stdout));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            for (column, value) in ours {
                let case = format!("{name}, connection {}: {column}", ours["conn_#"]);
                let Some(other) = theirs.get(column) else { panic!("{case} is not tcptrace's") };
                // So little has no rate here.
                let data = ours.get(&column.replace("throughput", "unique_bytes_sent"));
                let is_few = column.starts_with("throughput")
                    && data.is_some_and(|data| (1..5_840).contains(&data.parse().unwrap()));
                let right = if is_few { value == "NA" } else { is_same(column, value, other) };
                assert!(right, "{case}: {value}, theirs {other}");
            }
        }
    }
}
