//! The table of the path's log has what the log has.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use serde_json::{Value, json};
use tcplab_recording::TruthRow;
use tcplab_table::{Format, TableError, write_truth};
use tempfile::NamedTempFile;

const COLUMNS: [&str; 18] = [
    "frame",
    "id",
    "direction",
    "size_bytes",
    "entered_ns",
    "queued_ns",
    "began_ns",
    "ended_ns",
    "left_ns",
    "fate",
    "cause",
    "detail",
    "origin_id",
    "marked",
    "corrupted_bit",
    "fragment_offset_bytes",
    "second_path",
    "because",
];
/// Those that can be empty.
const NULLABLE: [&str; 10] = [
    "frame",
    "queued_ns",
    "began_ns",
    "ended_ns",
    "cause",
    "detail",
    "origin_id",
    "corrupted_bit",
    "fragment_offset_bytes",
    "because",
];

/// A row from a line of the log.
fn row(line: &Value) -> TruthRow {
    serde_json::from_value(line.clone()).unwrap()
}

/// What the table should say of a line of the log, read from its JSON and not from our types.
fn expected(line: &Value) -> Value {
    let sent = |name: &str| line["transmission"].get(name).cloned().unwrap_or_default();
    let (fate, cause) = match (&line["fate"], &line["fate"]["dropped"]) {
        (Value::String(name), _) => (name.as_str(), Value::Null),
        (_, Value::Object(cause)) => ("dropped", json!(cause.keys().next().unwrap())),
        (_, cause) => ("dropped", cause.clone()),
    };
    // Columns are signed: what does not fit is the largest number that does.
    let signed = |value: &Value| match value.as_u64() {
        Some(number) => json!(i64::try_from(number).unwrap_or(i64::MAX)),
        None => Value::Null,
    };
    let sent = |name: &str| signed(&sent(name));
    let detail = (!cause.is_null()).then(|| row(line).verdict.fate.to_string());
    json!({
        "frame": signed(&line["frame"]), "id": line["id"], "direction": line["direction"],
        "size_bytes": signed(&line["size_bytes"]), "entered_ns": signed(&line["entered_ns"]),
        "queued_ns": sent("queued_ns"), "began_ns": sent("began_ns"), "ended_ns": sent("ended_ns"),
        "left_ns": signed(&line["left_ns"]), "fate": fate, "cause": cause, "detail": detail,
        "origin_id": line["origin_id"], "marked": line["marked"] == true,
        "corrupted_bit": signed(&line["corrupted_bit"]),
        "fragment_offset_bytes": signed(&line["fragment_offset_bytes"]), "because": line["because"],
        "second_path": line["second_path"] == true,
    })
}

/// The table of a log.
fn table(log: &[Value]) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let rows = log.iter().map(|line| Ok::<_, Infallible>(row(line)));
    assert_eq!(write_truth(Format::Parquet, rows, file.as_file()).unwrap(), log.len() as u64);
    file
}

fn reader(file: &NamedTempFile) -> SerializedFileReader<File> {
    SerializedFileReader::new(file.reopen().unwrap()).unwrap()
}

/// The rows of a table, as the Parquet library reads them.
fn read(file: &NamedTempFile) -> Vec<Value> {
    let cell = |(name, field): (&String, &Field)| {
        let value = match field {
            Field::Null => Value::Null,
            Field::Long(number) => json!(number),
            Field::ULong(number) => json!(number),
            Field::Bool(flag) => json!(flag),
            Field::Str(text) => json!(text),
            other => panic!("`{name}` is {other:?}"),
        };
        (name.clone(), value)
    };
    let rows = reader(file).into_iter().map(Result::unwrap);
    rows.map(|row| Value::Object(row.get_column_iter().map(cell).collect())).collect()
}

/// A packet each way, and one for each way to end.
fn small_log() -> Vec<Value> {
    let sent = json!({ "queued_ns": 5, "began_ns": 6, "ended_ns": 120_006 });
    let interruption =
        json!({ "number": 2, "from_ns": 6_000_000_000_u64, "until_ns": 6_200_000_000_u64 });
    let fates = [
        ("forward", json!("delivered"), &sent),
        ("reverse", json!("still-on-link"), &sent),
        ("forward", json!({ "dropped": "loss" }), &sent),
        (
            "forward",
            json!({ "dropped": { "queue-full": { "packets": 2, "bytes": 3000 } } }),
            &Value::Null,
        ),
        ("reverse", json!({ "dropped": { "interruption": interruption } }), &sent),
    ];
    let line = |(frame, (direction, fate, transmission)): (usize, (&str, Value, &Value))| {
        json!({
            "frame": frame + 1, "id": (1_u64 << 63) - 1 - frame as u64, "direction": direction,
            "size_bytes": 1500, "entered_ns": 5, "transmission": transmission, "left_ns": 10_000_006,
            "fate": fate,
        })
    };
    let mut log: Vec<Value> = fates.into_iter().enumerate().map(line).collect();
    // A copy that the path made, marked and spoilt: no endpoint ever sent it.
    log.push(json!({
        "id": 1_u64 << 63, "direction": "forward", "size_bytes": 40, "entered_ns": 7, "left_ns": 8,
        "fate": "absorbed", "origin_id": 3, "marked": true, "corrupted_bit": 17,
        "fragment_offset_bytes": 976, "second_path": true,
    }));
    log
}

/// Any line of a log, possible or not: near the numbers before, or anywhere.
fn any_line() -> impl Strategy<Value = Value> {
    let number = || prop_oneof![0..2000_u64, any::<u64>(), Just(u64::MAX), Just(1 << 63)];
    let instants = (number(), number(), number());
    let transmission = proptest::option::of(instants).prop_map(|instants| {
        instants.map(
            |(queued, began, ended)| json!({ "queued_ns": queued, "began_ns": began, "ended_ns": ended }),
        )
    });
    let fate = prop_oneof![
        Just(json!("delivered")),
        Just(json!("still-on-link")),
        Just(json!({ "dropped": "loss" })),
        (any::<u32>(), number()).prop_map(|(packets, bytes)| {
            json!({ "dropped": { "queue-full": { "packets": packets, "bytes": bytes } } })
        }),
        (number(), number(), number()).prop_map(|(number, from, to)| {
            json!({ "dropped": { "interruption": { "number": number, "from_ns": from, "until_ns": to } } })
        }),
    ];
    let direction = prop_oneof![Just("forward"), Just("reverse")];
    (number(), number(), direction, number(), number(), transmission, number(), fate).prop_map(
        |(frame, id, direction, size, entered, transmission, left, fate)| {
            json!({
                "frame": frame, "id": id, "direction": direction, "size_bytes": size,
                "entered_ns": entered, "transmission": transmission, "left_ns": left, "fate": fate,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_log_round_trips_through_its_table(log in proptest::collection::vec(any_line(), 0..100)) {
        let expected: Vec<Value> = log.iter().map(expected).collect();
        prop_assert_eq!(read(&table(&log)), expected);
    }
}

#[test]
fn empty_log_is_a_table_without_rows() {
    let file = table(&[]);
    let reader = reader(&file);
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 0);
    let columns = metadata.schema_descr().columns();
    assert_eq!(columns.iter().map(|column| column.name()).collect::<Vec<_>>(), COLUMNS);
    assert_eq!(read(&file), [Value::Null; 0]);
}

#[test]
fn parquet_metadata_explains_columns_and_creator() {
    let file = table(&small_log());
    let reader = reader(&file);
    let notes = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let note = |key: &str| {
        let note = notes.iter().find(|note| note.key == key);
        note.and_then(|note| note.value.clone()).unwrap_or_else(|| panic!("no `{key}`"))
    };
    assert_eq!(note("tcplab.version"), env!("CARGO_PKG_VERSION"));
    for column in COLUMNS {
        let doc = note(&format!("tcplab.column.{column}"));
        let unit = notes.iter().find(|note| note.key == format!("tcplab.unit.{column}"));
        let unit = unit.and_then(|note| note.value.as_deref());
        assert_eq!(column.ends_with("_ns"), unit == Some("ns"), "{column}: {unit:?}");
        assert_eq!(column.ends_with("_bytes"), unit == Some("B"), "{column}: {unit:?}");
        assert_eq!(NULLABLE.contains(&column), doc.contains("empty if"), "{column}: {doc}");
    }
}

/// More than one group of rows, the last of them short.
const MANY: usize = 200_000;

#[test]
fn rows_leave_in_groups_while_others_still_come() {
    let lines = small_log();
    let written = AtomicUsize::new(0);
    let mut written_before_the_last = 0;
    let rows = (0..MANY).map(|index| {
        written_before_the_last = written.load(Ordering::Relaxed);
        Ok::<_, Infallible>(row(&lines[index % lines.len()]))
    });
    let file = NamedTempFile::new().unwrap();
    let out = Tee { file: file.reopen().unwrap(), written: &written };
    assert_eq!(write_truth(Format::Parquet, rows, out).unwrap(), MANY as u64);
    let all = written.load(Ordering::Relaxed);
    assert!(written_before_the_last > all / 2, "{written_before_the_last} of {all} bytes");

    let read = read(&file);
    let expected: Vec<Value> = lines.iter().map(expected).collect();
    assert!(reader(&file).num_row_groups() > 1);
    assert_eq!(read.len(), MANY);
    for (index, row) in read.iter().enumerate() {
        assert_eq!(*row, expected[index % expected.len()], "row {index}");
    }
}

/// Counts what is written to a file.
struct Tee<'a> {
    file: File,
    written: &'a AtomicUsize,
}

impl Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.fetch_add(bytes.len(), Ordering::Relaxed);
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A disk with limited room. Written bytes may be lost until it is flushed.
struct Disk {
    room: usize,
    flushes: bool,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        if taken == 0 && !bytes.is_empty() { Err(ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }
    fn flush(&mut self) -> io::Result<()> {
        if self.flushes { Ok(()) } else { Err(ErrorKind::QuotaExceeded.into()) }
    }
}

#[test]
fn full_disk_at_any_byte_is_an_error() {
    let log = small_log();
    let size = usize::try_from(table(&log).as_file().metadata().unwrap().len()).unwrap();
    let onto = |room, flushes| {
        let rows = log.iter().map(|line| Ok::<_, Infallible>(row(line)));
        write_truth(Format::Parquet, rows, Disk { room, flushes })
    };
    for room in 0..size {
        let error = onto(room, true).unwrap_err();
        assert_eq!(error.to_string(), "cannot write the table: no storage space");
        let TableError::Write { source } = error;
        assert_eq!(source.kind(), ErrorKind::StorageFull, "room for {room}");
    }
    assert_eq!(onto(size, true).unwrap(), log.len() as u64);
    let error = onto(size, false).unwrap_err().to_string();
    assert_eq!(error, "cannot write the table: quota exceeded");
}

#[test]
fn truncated_log_reports_its_own_error() {
    #[derive(Debug, PartialEq)]
    struct Torn;
    impl fmt::Display for Torn {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("path.jsonl, line 3: torn")
        }
    }
    impl std::error::Error for Torn {}
    let first = row(&small_log()[0]);
    let rows = [Ok(first.clone()), Ok(first.clone()), Err(Torn), Ok(first)];
    let error = write_truth(Format::Parquet, rows.into_iter(), io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "path.jsonl, line 3: torn");
    assert!(matches!(error, TableError::Row(Torn)));
}

/// Prints what Arrow's own reader reads: columns, notes, rows.
const PYARROW: &str = r#"
import json, sys
try:
    import pyarrow.parquet
except ImportError:
    sys.exit(77)
table = pyarrow.parquet.read_table(sys.argv[1])
print(json.dumps({
    "columns": [[column.name, str(column.type), column.nullable] for column in table.schema],
    "notes": sorted(key.decode() for key in table.schema.metadata),
    "rows": table.to_pylist(),
}))
"#;

/// An independent reader must see in our files what was written.
#[test]
fn pyarrow_sees_the_same_table() {
    let (mut log, edge) = (small_log(), u64::MAX);
    log.push(json!({
        "frame": edge, "id": 0, "direction": "reverse", "size_bytes": edge, "entered_ns": 1_u64 << 63,
        "left_ns": edge, "fate": "delivered",
    }));
    let file = table(&log);
    // `make test` installs pyarrow there, where the system has none.
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    let python = if tools.exists() { tools } else { "python3".into() };
    let ran = Command::new(python).args(["-c", PYARROW]).arg(file.path()).output();
    let output = match ran {
        Err(error) if error.kind() == ErrorKind::NotFound => return skip("python3"),
        ran => ran.unwrap(),
    };
    if output.status.code() == Some(77) {
        return skip("pyarrow");
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let columns = COLUMNS.map(|name| {
        let kind = match name {
            "direction" | "fate" | "cause" | "detail" | "because" => "string",
            "marked" | "second_path" => "bool",
            "id" | "origin_id" => "uint64",
            _ => "int64",
        };
        json!([name, kind, NULLABLE.contains(&name)])
    });
    assert_eq!(seen["columns"], json!(columns));
    let mut notes = COLUMNS.map(|name| format!("tcplab.column.{name}")).to_vec();
    let units = COLUMNS.iter().filter(|name| name.ends_with("_ns") || name.ends_with("_bytes"));
    notes.extend(units.map(|name| format!("tcplab.unit.{name}")));
    notes.push("tcplab.version".into());
    notes.sort();
    assert_eq!(seen["notes"], json!(notes));
    assert_eq!(seen["rows"], json!(log.iter().map(expected).collect::<Vec<_>>()));
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skip(missing: &str) {
    eprintln!("SKIPPED: {missing} is not installed, so our tables were not shown to it");
}
