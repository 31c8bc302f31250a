//! The JSON of commands against its schemas in `docs/schemas`, and the tables against pyarrow.
//!
//! Schemas of results are made from what is written (`TCPLAB_BLESS=1 cargo nextest run -p tcplab
//! --test schemas`), that of a trace from its columns. A key that vanishes or changes its type
//! breaks the promise of docs/formats.md, and this test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

#[path = "schemas/schema.rs"]
mod schema;

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

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#;

/// Some packets of a three-way handshake, in packetdrill's language.
const SCRIPT: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";

/// Commands with JSON output, and the schema of each.
const COMMANDS: [(&str, &str); 12] = [
    ("trace a.pcap.zst --json", "tcplab.trace"),
    ("trace --client a.pcap.zst --server b.pcap.zst --json", "tcplab.joined-captures"),
    ("states a.pcap.zst --connection 1 --json", "tcplab.states"),
    ("metrics --json", "tcplab.metrics"),
    ("scenarios --json", "tcplab.scenarios"),
    ("path presets --json", "tcplab.paths"),
    ("path show dsl-25 --json", "tcplab.path"),
    ("path tc dsl-25 --client-side veth0 --server-side veth1 --json", "tcplab.tc"),
    ("packetdrill a.pkt --json", "tcplab.packetdrill"),
    ("run small.toml --world sim --dry-run --json", "tcplab.run-estimate"),
    ("compare RUN --by client.socket.congestion --json", "tcplab.comparison"),
    ("advise --rtt 40ms --rate 20Mbit/s --no-trials --json", "tcplab.advice"),
];

/// A directory with captures, a scenario and a run of it.
fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    for (name, file) in [("a", "nots_loss1.snd"), ("b", "nots_loss1.rcv")] {
        let to = home.path().join(format!("{name}.pcap.zst"));
        fs::copy(corpus.join(format!("{file}.pcap.zst")), to).unwrap();
    }
    fs::write(home.path().join("small.toml"), SCENARIO).unwrap();
    fs::write(home.path().join("a.pkt"), SCRIPT).unwrap();
    output(home.path(), &["run", "small.toml", "--world", "sim", "--runs", "runs"]);
    let run = fs::read_dir(home.path().join("runs/small")).unwrap().next().unwrap().unwrap();
    (home, run.path())
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(arguments).current_dir(home).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    command
}

/// What a command prints, which may find differences or claims that fail.
fn output(home: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = command(home, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
    output.stdout
}

#[test]
fn json_of_each_command_fits_its_schema() {
    let (home, run) = home();
    let mut documents: Vec<(Value, String, &str)> = Vec::new();
    for (line, name) in COMMANDS {
        let line = line.replace("RUN", &run.display().to_string());
        let words: Vec<&str> = line.split(' ').collect();
        let text = output(home.path(), &words);
        let value = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{line}: {error}"));
        documents.push((value, line.clone(), name));
    }
    let whole = fs::read(run.join("run.json")).unwrap();
    documents.push((serde_json::from_slice(&whole).unwrap(), "run.json".into(), "tcplab.run"));
    for (value, line, name) in documents {
        assert_eq!(value["schema"], *name, "{line}");
        assert!(value["version"].is_u64(), "{line}");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        let file = folder.join(format!("{name}.json"));
        if std::env::var_os("TCPLAB_BLESS").is_some() && name != "tcplab.trace" {
            let known = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
            let text =
                serde_json::to_string_pretty(&schema::document(name, &value, known.as_ref()));
            fs::write(&file, text.unwrap() + "\n").unwrap();
        }
        let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let wanted: Value = serde_json::from_slice(&text).unwrap();
        let faults = schema::faults(&wanted, &value, "");
        assert!(faults.is_empty(), "{line} does not fit {name}.json: {faults:#?}");
    }
}

/// Each line of a capture's findings is of a known type, and the first says the schema.
#[test]
fn json_lines_begin_with_schema() {
    let (home, _) = home();
    let text = String::from_utf8(output(home.path(), &["trace", "a.pcap.zst", "--jsonl"])).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&"header".into(), &1.into()));
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
        eprintln!("SKIPPED: pyarrow is not installed, so no table was read with it");
        return;
    }
    let (home, run) = home();
    let tables = home.path().join("tables");
    fs::create_dir(&tables).unwrap();
    let run = run.display().to_string();
    let trial = fs::read_dir(format!("{run}/trials")).unwrap().next().unwrap().unwrap().path();
    for (source, prefix) in
        [(run.as_str(), "run"), (trial.to_str().unwrap(), "trial"), ("a.pcap.zst", "capture")]
    {
        let list = String::from_utf8(output(home.path(), &["export", source])).unwrap();
        for name in list.lines().take_while(|line| !line.is_empty()) {
            let name = name.split(' ').next().unwrap();
            for format in ["parquet", "arrow", "csv", "jsonl"] {
                let file = format!("tables/{prefix}.{}.{format}", name.replace('/', "."));
                let line = ["export", source, "--table", name, "--format", format, "-o", &file];
                if prefix == "run" && name == "flows" {
                    continue;
                }
                output(home.path(), &line);
            }
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/tables.py");
    let read = Command::new(&python).arg(script).arg(&tables).output().unwrap();
    let said = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{said}{}", String::from_utf8_lossy(&read.stderr));
    assert!(said.contains("tables read"), "{said}");
}
