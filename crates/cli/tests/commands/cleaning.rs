//! What captures keep of packets, what runs take of the disk, and how they are removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::home::Home;

/// Paths whose elements read packets: fair queues, fragments, copies, drops by number; and damage.
const PATHS: [(&str, &str); 5] = [
    ("plain", r#"rate = "10 Mbit/s", loss = "2 %""#),
    ("queue", r#"rate = "10 Mbit/s", queue = { fq_codel = {} }"#),
    ("elements", r#"mtu = "1200 B", duplicate = "1 %", nat = "5 min""#),
    ("drops", r#"rate = "10 Mbit/s", drop = { kind = "data", nth = [20] }"#),
    ("damage", r#"rate = "10 Mbit/s", corrupt = "1 %""#),
];

/// The trial of a run over each path.
fn trials(home: &Home, runs: &str, options: &str) -> Vec<PathBuf> {
    let trial = |(name, path): &(&str, &str)| {
        let file = format!(
            "title = \"Snaplen\"\npath = {{ delay = \"5 ms\", {path} }}\n\
             client = {{ stack = \"model:linux-6.18\" }}\n\
             server = {{ stack = \"model:linux-6.18\" }}\nworkload = {{ upload = \"200 kB\" }}\n"
        );
        home.write(&format!("{name}.toml"), file);
        home.answer(&format!("run {name}.toml --trials 1 --runs {runs} {options}"));
        home.only(home.only(format!("{runs}/{name}")).join("trials"))
    };
    PATHS.iter().map(trial).collect()
}

/// The analysis of a capture, apart from its name.
fn analysis(home: &Home, trial: &Path, end: &str) -> Value {
    let capture = trial.join(format!("{end}.pcapng"));
    let mut found = home.json(&format!("trace '{}' --json", capture.display()));
    found["capture"]["files"] = Value::Null;
    found
}

#[test]
fn headers_alone_have_the_same_analysis_and_replay_as_whole_packets() {
    let home = Home::new();
    let (headers, whole) =
        (trials(&home, "headers", ""), trials(&home, "whole", "--snaplen whole"));
    for ((name, _), (short, long)) in PATHS.iter().zip(headers.iter().zip(&whole)) {
        for end in ["client", "server"] {
            let [a, b] = [short, long].map(|trial| analysis(&home, trial, end));
            assert!(a == b, "{name}, {end}");
            let size =
                |trial: &Path| fs::metadata(trial.join(format!("{end}.pcapng"))).unwrap().len();
            let (short, long) = (size(short), size(long));
            // What is damaged is known by checksums, which cover the data.
            let is_shorter = if *name == "damage" { short == long } else { short * 2 < long };
            assert!(is_shorter, "{name}, {end}: {short} of {long} bytes");
        }
        let [a, b] = [short, long].map(|trial| -> Value {
            let mut kept: Value =
                serde_json::from_slice(&fs::read(trial.join("trial.json")).unwrap()).unwrap();
            kept["identity"] = Value::Null;
            kept
        });
        assert_eq!(a, b, "{name}");
        for trial in [short, long] {
            home.answer(&format!("replay '{}'", trial.display()));
        }
    }
}

#[test]
fn snaplen_is_of_scenario_and_flag_goes_first() {
    let home = Home::new();
    let scenario = "title = \"S\"\npath = { delay = \"1 ms\" }\nworkload = { upload = \"50 kB\" }\n\
                    [recording]\nsnaplen = \"SIZE\"\n";
    let longest = |runs: &str| {
        let trial = home.only(home.only(format!("{runs}/s")).join("trials"));
        let capture = fs::File::open(trial.join("client.pcapng")).unwrap();
        let mut reader = tcplab_capture::Reader::new(capture).unwrap();
        let mut longest = (0, 0);
        while let Some(record) = reader.next_record().unwrap() {
            longest = longest.max((record.original_len as usize, record.captured.len()));
        }
        (longest, reader.interfaces()[0].snap_len)
    };
    for (nth, (size, flag, expected)) in [
        ("100 B", "", 100),
        ("whole", "", 65_535),
        ("whole", "--snaplen 200", 200),
        ("100 B", "--snaplen '1 kB'", 1000),
    ]
    .into_iter()
    .enumerate()
    {
        home.write("s.toml", scenario.replace("SIZE", size));
        home.answer(&format!("run s.toml --world sim --trials 1 -q --runs r{nth} {flag}"));
        let kept = expected.min(1500);
        assert_eq!(longest(&format!("r{nth}")), ((1500, kept), expected as u32), "{size} {flag}");
    }
    home.refuses(&[
        ("run s.toml --snaplen 20", "20 B is out of range: use 96 B"),
        ("run s.toml --snaplen much", "or write `whole`"),
        ("run s.toml --resume --snaplen 200", "cannot be used with"),
    ]);
}

const TINY: &str = "title = \"Tiny\"\npath = { delay = \"1 ms\" }\nworkload = { upload = \"50 kB\" }\n\
                    [[expect]]\nclaim = \"arrives\"\nmetric = \"payload_intact\"\nequals = true\n";

#[test]
fn clean_removes_captures_or_runs_and_nothing_else() {
    let home = Home::with("tiny.toml", TINY);
    let run = |runs: &str| {
        home.answer(&format!("run tiny.toml --world sim --trials 2 --runs {runs}"));
        home.only(format!("{runs}/tiny"))
    };
    let (first, second) = (run("runs"), run("other"));
    home.write("runs/notes/keep.txt", "mine");
    home.write("runs/tiny/pcap/client.pcapng", "mine");
    symlink(home.path("other"), home.path("runs/elsewhere")).unwrap();
    symlink(home.path("other"), home.path("linked")).unwrap();
    let before = home.bytes(first.join("report.html"));

    let listed = home.answer("clean");
    assert!(listed.contains("runs/tiny/") && listed.contains("1 run\n"), "{listed}");
    assert!(!listed.contains("elsewhere") && !listed.contains("pcap/"), "{listed}");
    home.answer("clean --captures --dry-run");
    home.answer("clean --captures --yes --older-than '1 day'");
    home.answer("clean --captures --yes --larger-than 1GB");
    home.refuses(&[
        ("clean --captures", "pass --yes"),
        ("clean linked --runs --yes", "links are not followed"),
        ("clean runs/notes --runs --yes", "no run of tcplab in runs/notes"),
        ("clean missing", "cannot read missing"),
        ("clean --runs --captures", "cannot be used with"),
    ]);
    let trial = first.join("trials/base-1");
    assert!(trial.join("client.pcapng").exists());

    home.answer("clean --captures --yes");
    for name in ["client.pcapng", "server.pcapng", "path.jsonl", "samples.csv"] {
        assert!(!trial.join(name).exists(), "{name}");
    }
    assert_eq!(home.bytes(first.join("report.html")), before);
    assert!(
        home.exists("runs/tiny/pcap/client.pcapng")
            && second.join("trials/base-1/client.pcapng").exists()
    );
    // The answers stay, and the run can be extended.
    let path = first.display();
    assert!(home.answer(&format!("report '{path}'")).contains("✓ arrives"));
    home.answer(&format!("compare '{path}' '{}' --fail-on never", second.display()));
    home.answer(&format!("run --extend '{path}' --trials 3"));

    home.answer(&format!("clean '{path}' --runs --yes"));
    assert!(!first.exists() && second.exists());
    assert!(home.exists("runs/notes/keep.txt") && home.exists("runs/tiny/pcap/client.pcapng"));
}

#[test]
fn run_tells_its_size_before_and_after() {
    let home = Home::with("tiny.toml", TINY);
    let told = home.run("run tiny.toml --world sim --trials 2").stderr;
    assert!(told.contains(", about 150 kB") && told.contains("size: "), "{told}");
    assert!(told.contains("tcplab clean --captures runs/tiny/"), "{told}");
}
