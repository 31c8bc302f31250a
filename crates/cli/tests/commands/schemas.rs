//! The JSON of commands against its schemas in `docs/schemas`, and the tables against pyarrow.
//!
//! `TCPLAB_BLESS=1 cargo nextest run -p tcplab --test commands schemas` widens schemas to fit what
//! is written; that of a trace is made from its columns. A key that vanishes or changes its type
//! breaks the promise of docs/formats.md, and this test.

use std::collections::BTreeSet;
use std::fmt::{self, Formatter};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};
use tcplab_quantities::{self as q, Document};

use crate::home::{Ended, Home, names, skipped};
use crate::kernels::{manifest, write_kernel};
use crate::schema::check;

const SCENARIO: &str = r#"title = "Small"

[path]
rate  = "10 Mbit/s"
delay = "5 ms"

[client]
stack = "model:linux-6.18"

[server]
stack = "model:linux-6.18"

[workload]
upload = "60 kB"

[matrix]
"path.loss" = ["0.5 %", "2 %"]
"client.socket.congestion" = ["reno", "cubic"]

[repeat]
trials = 3

[[compare]]
factor = "client.socket.congestion"

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#;

/// Some packets of a three-way handshake, in packetdrill's language.
const SCRIPT: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";

/// Commands with JSON output, and the document that each prints.
const COMMANDS: &[(&str, Document)] = &[
    ("trace a.pcap.zst --json", q::TRACE_DOCUMENT),
    ("trace a.pcap.zst --hex 1,40 --json", q::PACKETS_DOCUMENT),
    ("trace --client a.pcap.zst --server hops.pcap --json", q::JOINED_DOCUMENT),
    ("compare a.pcap.zst b.pcap.zst --json", q::CAPTURE_COMPARISON_DOCUMENT),
    ("states a.pcap.zst --connection 1 --json", q::STATES_DOCUMENT),
    ("metrics --json", q::METRICS_DOCUMENT),
    ("scenarios --json", q::SCENARIOS_DOCUMENT),
    ("path presets --json", q::PATHS_DOCUMENT),
    ("scenarios flows --json", q::SCENARIOS_DOCUMENT),
    ("scenarios interruption --json", q::SCENARIOS_DOCUMENT),
    ("path presets dsl-25 --json", q::PATHS_DOCUMENT),
    ("path show dsl-25 --json", q::PATH_DOCUMENT),
    ("path show bufferbloat-cured --json", q::PATH_DOCUMENT),
    ("path show bursty-losses --json", q::PATH_DOCUMENT),
    ("path show geo-satellite --json", q::PATH_DOCUMENT),
    ("path show wifi-n --json", q::PATH_DOCUMENT),
    ("path show leo-satellite --json", q::PATH_DOCUMENT),
    ("path plot dsl-25 --json", q::PATH_OUTLOOK_DOCUMENT),
    ("path tc dsl-25 --client-side veth0 --server-side veth1 --json", q::TC_DOCUMENT),
    ("packetdrill a.pkt --json", q::PACKETDRILL_DOCUMENT),
    (
        "packetdrill a.pkt --stack model:linux-6.18 --stack freebsd-15 --json",
        q::PACKETDRILL_DOCUMENT,
    ),
    ("run small.toml --world sim --dry-run --json", q::ESTIMATE_DOCUMENT),
    ("run small.toml --world sim --json", q::RUN_DOCUMENT),
    ("compare RUN --by client.socket.congestion --json", q::COMPARISON_DOCUMENT),
    ("replay RUN/trials/TRIAL --json", q::REPLAY_DOCUMENT),
    ("plot RUN --figure answer --table=json", q::FIGURE_DOCUMENT),
    ("plot RUN --figure TRIALFIGURE --table=json", q::FIGURE_DOCUMENT),
    ("clean --json", q::CLEAN_DOCUMENT),
    ("clean --runs --dry-run --json", q::CLEAN_DOCUMENT),
    ("advise --rtt 40ms --rate 20Mbit/s --no-trials --json", q::ADVICE_DOCUMENT),
    ("advise a.pcap.zst --no-trials --json", q::ADVICE_DOCUMENT),
    (
        "advise --rtt 10ms --rate 25Mbit/s --congestion reno --goal throughput --payload 90kB \
         --stack netburner --trials 2 --world sim --json",
        q::ADVICE_DOCUMENT,
    ),
    ("rfc6349 --path dsl-25 --world sim --duration 5s --json", q::RFC6349_DOCUMENT),
    ("sockopts --json", q::SOCKET_OPTIONS_DOCUMENT),
    ("doctor --json", q::ABILITIES_DOCUMENT),
    ("kernel list --json", q::KERNELS_DOCUMENT),
    ("kernel show 6.12 --json", q::KERNEL_DOCUMENT),
    ("kernel show tree --json", q::KERNEL_DOCUMENT),
    ("kernel show bisect-00ff --json", q::KERNEL_DOCUMENT),
];

/// JSON files of a run, and what they are.
const FILES: &[(&str, Document)] = &[
    ("run.json", q::RUN_DOCUMENT),
    ("plan.json", q::PLAN_DOCUMENT),
    ("environment.json", q::ENVIRONMENT_DOCUMENT),
];

/// JSON files of a trial, and what they are.
const TRIAL_FILES: &[(&str, Document)] = &[
    ("trial.json", q::TRIAL_DOCUMENT),
    ("app.json", q::APPLICATIONS_DOCUMENT),
    ("result.json", q::RECORDING_DOCUMENT),
];

/// Some of its many cases: episodes of all types.
const INTERRUPTION: &str = "interruption --case reno_300ms --case osx-10.7_300ms";

/// Scenarios of the catalogue that between them have nearly all keys and types that its results
/// have: episodes, interruptions, flows, datagrams, options, calls and transfers that fail, queues
/// and losses of all kinds. The others take longer or add nothing.
const SCENARIOS: &[&str] = &[
    INTERRUPTION,
    "flows/latency-under-load",
    "flows/short-flows",
    "flows/two-flows",
    "interruption-figures/figure-10",
    "socket-options/keepalive",
    "socket-options/linger",
    "socket-options/nat",
    "socket-options/receive-timeout",
    "socket-options/urgent",
    "sockets-course/closing-orders",
    "sockets-course/datagrams",
    "sockets-course/states",
    "throughput-vs-response/linux-bulk-beside-dialogue",
    "throughput-vs-response/linux-hanging-clients",
    "throughput-vs-response/write-and-writeall",
    "tuning/lossy-wifi",
    "tuning/small-messages",
];

/// A directory with captures, a scenario and a run of it.
fn home() -> (Home, PathBuf) {
    let home = Home::with("small.toml", SCENARIO);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    for (name, file) in [("a", "nots_loss1.snd"), ("b", "nots_loss1.rcv")] {
        let capture = fs::read(corpus.join(format!("{file}.pcap.zst"))).unwrap();
        home.write(&format!("{name}.pcap.zst"), capture);
    }
    let mut plain = Vec::new();
    let mut source = tcplab_capture::Source::open(&corpus.join("nots_loss1.rcv.pcap.zst")).unwrap();
    std::io::Read::read_to_end(&mut source, &mut plain).unwrap();
    routed(&mut plain);
    home.write("hops.pcap", plain);
    home.write("a.pkt", SCRIPT);
    write_kernel(&home, "6.12", &manifest("6.12"));
    write_kernel(&home, "broken", "");
    for (name, source) in [
        ("tree", json!({ "kind": "tree", "directory": "/linux", "fingerprint": "00ff" })),
        ("bisect-00ff", json!({ "kind": "commit", "repository": "/linux", "commit": "00ff" })),
    ] {
        let mut manifest: Value = serde_json::from_str(&manifest(name)).unwrap();
        manifest["source"] = source;
        write_kernel(&home, name, &manifest.to_string());
    }
    home.answer("run small.toml --world sim --runs runs");
    let run = home.only("runs/small");
    (home, run)
}

/// The packets of a capture (pcap of raw IP, little-endian) as behind one more router.
fn routed(pcap: &mut [u8]) {
    let mut at = 24;
    while at < pcap.len() {
        let length = u32::from_le_bytes(pcap[at + 8..at + 12].try_into().unwrap()) as usize;
        let ip = &mut pcap[at + 16..at + 16 + length];
        ip[8] -= 1;
        let sum = u32::from(u16::from_be_bytes([ip[10], ip[11]])) + 0x100;
        let sum = (sum & 0xffff) + (sum >> 16);
        ip[10..12].copy_from_slice(&(sum as u16).to_be_bytes());
        at += 16 + length;
    }
}

/// What a command prints, which may find differences or claims that fail.
fn output(home: &Home, line: &str) -> String {
    let Ended { code, stdout, stderr } = home.run(line);
    assert!(matches!(code, Some(0 | 1)), "{line}: {stderr}");
    stdout
}

#[test]
fn json_of_each_command_fits_its_schema() {
    let (home, run) = home();
    let trial = &names(&run.join("trials"))[0];
    let (case, number) = trial.rsplit_once('-').unwrap();
    let figure = format!("{case}/{number}/state-diagram");
    let named = |line: &str| {
        let line = line.replace("RUN", &run.display().to_string());
        line.replace("TRIALFIGURE", &figure).replace("TRIAL", trial)
    };
    for (line, document) in COMMANDS {
        let line = named(line);
        let text = output(&home, &line);
        has_no_key_twice(&text, &line);
        let value = serde_json::from_str(&text);
        check(document, &value.unwrap_or_else(|error| panic!("{line}: {error}")), &line);
    }
}

#[test]
fn json_files_of_runs_fit_their_schemas() {
    let (home, small) = home();
    check_file(&small.join("comparisons.json"), &q::COMPARISONS_DOCUMENT);
    for scenario in SCENARIOS {
        let options = "--world sim --kernel model --trials 1 --runs catalogue";
        output(&home, &format!("run {scenario} {options}"));
    }
    let entries = |place: &Path| -> Vec<PathBuf> {
        names(place).into_iter().map(|name| place.join(name)).collect()
    };
    let runs = entries(&home.path("catalogue")).into_iter().flat_map(|of| entries(&of));
    for run in runs.chain([small]) {
        for (name, document) in FILES {
            check_file(&run.join(name), document);
        }
        for trial in entries(&run.join("trials")) {
            for (name, document) in TRIAL_FILES {
                check_file(&trial.join(name), document);
            }
        }
    }
}

/// Of a list, that of one name is the only element.
#[test]
fn json_of_one_name_is_what_the_whole_list_has_of_it() {
    let home = Home::new();
    for (list, name, key) in
        [("scenarios", "interruption", "scenarios"), ("path presets", "dsl-25", "paths")]
    {
        let all = home.json(&format!("{list} --json"));
        let all = all[key].as_array().unwrap();
        let one: Vec<&Value> = all.iter().filter(|it| it["name"] == name).collect();
        let found = home.json(&format!("{list} {name} --json"));
        assert_eq!(found[key], json!(one));
        let text = home.answer(&format!("{list} {name} --json=one.json"));
        assert_eq!(text, home.answer(&format!("{list} {name}")));
        let written: Value = serde_json::from_str(&home.text("one.json")).unwrap();
        assert_eq!(written, found);
    }
}

fn check_file(file: &Path, document: &Document) {
    let of = file.display();
    let text = fs::read(file).unwrap_or_else(|error| panic!("{of}: {error}"));
    let value = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{of}: {error}"));
    has_no_key_twice(&String::from_utf8(text).unwrap(), &of.to_string());
    check(document, &value, &of.to_string());
}

/// Parsers keep one of two equal keys of an object, and drop the other without a word.
fn has_no_key_twice(text: &str, of: &str) {
    let unique: Result<Unique, _> = serde_json::from_str(text);
    if let Err(error) = unique {
        panic!("{of}: {error}");
    }
}

#[test]
fn key_that_is_there_twice_is_found() {
    let read = |text| serde_json::from_str::<Unique>(text).is_ok();
    assert!(read(r#"{"a": [{"b": 1}, {"b": null}], "b": "x"}"#));
    assert!(!read(r#"{"a": [{"b": 1, "b": 2}]}"#));
}

/// Any JSON without a key twice in one object.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Unique, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Unique;
            fn expecting(&self, to: &mut Formatter<'_>) -> fmt::Result {
                to.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
                Ok(Unique)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Unique, A::Error> {
                while all.next_element::<Unique>()?.is_some() {}
                Ok(Unique)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Unique, A::Error> {
                let mut keys = BTreeSet::new();
                while let Some((key, _)) = all.next_entry::<String, Unique>()? {
                    if !keys.insert(key.clone()) {
                        return Err(A::Error::custom(format!("the key {key} is there twice")));
                    }
                }
                Ok(Unique)
            }
        }
        from.deserialize_any(Any)
    }
}

/// docs/formats.md lists each document with its schema and version.
#[test]
fn page_of_formats_lists_all_documents() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("formats.md")).unwrap();
    for Document { schema, version, about } in q::DOCUMENTS {
        let name = if docs.join(format!("schemas/{schema}.json")).exists() {
            format!("[`{schema}`](schemas/{schema}.json)")
        } else {
            format!("`{schema}`")
        };
        let row = format!("| {name} | {version} | {about} |");
        assert!(page.contains(&row), "docs/formats.md lacks this row: {row}");
    }
}

/// Each line of a capture's findings is of a known type, and the first says the schema.
#[test]
fn json_lines_begin_with_schema() {
    let (home, _) = home();
    let text = home.answer("trace a.pcap.zst --jsonl");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&"header".into(), &2.into()));
    assert_eq!(lines[0]["schema"], "tcplab.trace-lines");
    for line in &lines {
        let kinds =
            ["header", "episode", "lost", "stall", "limit", "connection", "finding", "capture"];
        assert!(kinds.contains(&line["type"].as_str().unwrap()), "{line}");
    }
}

/// pyarrow reads all tables; no column of words holds numbers; differences of columns do not wrap.
#[test]
fn pyarrow_reads_numbers_in_all_tables() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    let python = if python.exists() { python } else { "python3".into() };
    let has =
        Command::new(&python).args(["-c", "import pyarrow.parquet, pyarrow.feather"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return skipped("pyarrow is not installed, so no table was read with it");
    }
    let (home, run) = home();
    home.make_directory("tables");
    let run = run.display().to_string();
    let trial = format!("{run}/trials/{}", names(&Path::new(&run).join("trials"))[0]);
    for (source, prefix) in [(&*run, "run"), (&*trial, "trial"), ("a.pcap.zst", "capture")] {
        let list = home.answer(&format!("export {source}"));
        for name in list.lines().take_while(|line| !line.is_empty()) {
            let name = name.split(' ').next().unwrap();
            for format in ["parquet", "arrow", "csv", "jsonl"] {
                let file = format!("tables/{prefix}.{}.{format}", name.replace('/', "."));
                if prefix == "run" && name == "flows" {
                    continue;
                }
                home.answer(&format!("export {source} --table {name} --format {format} -o {file}"));
            }
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/tables.py");
    let read = Command::new(&python).arg(script).arg(home.path("tables")).output().unwrap();
    let said = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{said}{}", String::from_utf8_lossy(&read.stderr));
    assert!(said.contains("tables read"), "{said}");
}
