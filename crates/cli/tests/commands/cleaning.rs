//! What captures keep of packets, what runs take of the disk, and how they are removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tcplab_quantities::CLEAN_DOCUMENT;

use crate::home::{Home, everything};
use crate::schema::check;

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
fn where_there_are_no_runs_their_directory_is_asked_for() {
    let refusal = Home::new().refusal("clean");
    assert_eq!(
        refusal,
        "error: no run of tcplab in runs: no such directory\n  \
         try: pass the directory that has the runs: `tcplab clean DIR`\n"
    );
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
        ("clean missing", "no run of tcplab in missing: no such directory"),
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
    assert!(home.answer(&format!("report '{path}'")).contains("– arrives: met so far"));
    home.answer(&format!("compare '{path}' '{}' --fail-on never", second.display()));
    home.answer(&format!("run --extend '{path}' --trials 3"));

    home.answer(&format!("clean '{path}' --runs --yes"));
    assert!(!first.exists() && second.exists());
    assert!(home.exists("runs/notes/keep.txt") && home.exists("runs/tiny/pcap/client.pcapng"));
}

/// The place of a run of two trials whose captures were removed, and that of the first client.
fn cleaned(home: &Home) -> (String, Vec<u8>) {
    home.write("tiny.toml", TINY);
    home.answer("run tiny.toml --world sim --trials 2 --seed 7");
    let run = home.only("runs/tiny");
    let capture = home.bytes(run.join("trials/base-1/client.pcapng"));
    home.answer("clean --captures --yes");
    (run.display().to_string(), capture)
}

#[test]
fn commands_that_need_removed_packets_say_so_and_how_to_get_them() {
    let home = Home::new();
    let (run, capture) = cleaned(&home);
    let gone = format!("{run}/trials/base-1 has no packets: they were removed, or never recorded");
    let again = format!(
        "run it again with `tcplab run {run}/scenario.toml --world sim --kernel model --case base \
         --trial 1 --seed 7`"
    );
    for line in [
        "trace 'RUN/trials/base-1/client.pcapng'",
        "trace 'RUN/trials/base-1'",
        "trace --client 'RUN/trials/base-1/client.pcapng' \
         --server 'RUN/trials/base-1/server.pcapng'",
        "states 'RUN'",
        "states 'RUN/trials/base-1'",
        "replay 'RUN/trials/base-1'",
        "export 'RUN/trials/base-1'",
        "plot 'RUN' --figure base/1/time-sequence",
    ] {
        let refusal = home.refusal(&line.replace("RUN", &run));
        assert!(refusal.contains(&gone), "{line}: {refusal}");
        assert!(refusal.contains(&format!("  try: {again}")), "{line}: {refusal}");
    }
    // The command that is named records the same packets.
    let flags = "--world sim --kernel model --case base --trial 1 --seed 7 --runs again";
    home.answer(&format!("run '{run}/scenario.toml' {flags}"));
    let new = home.only(home.only("again/tiny").join("trials"));
    assert!(home.bytes(new.join("client.pcapng")) == capture);
}

#[test]
fn results_of_a_cleaned_run_say_that_packets_are_gone() {
    let home = Home::new();
    let (run, _) = cleaned(&home);
    let kept: Value =
        serde_json::from_slice(&fs::read(format!("{run}/run.json")).unwrap()).unwrap();
    let trials = kept["cases"][0]["trials"].as_array().unwrap();
    assert!(trials.len() == 2 && trials.iter().all(|it| it["has_packets"] == false), "{trials:?}");
    let table = fs::read_to_string(format!("{run}/trials.csv")).unwrap();
    let column = table.lines().next().unwrap().split(',').position(|it| it == "packets_kept");
    for row in table.lines().skip(1) {
        assert_eq!(row.split(',').nth(column.unwrap()), Some("false"), "{row}");
    }
    let told = home.run(&format!("report '{run}'"));
    let note = "no graphs of 2 of 2 trials, whose packets were removed or not kept; to see those \
                of base-1, run it again with `tcplab run ";
    assert!(told.code == Some(0) && told.stderr.contains(note), "{}", told.stderr);
    let page = fs::read_to_string(format!("{run}/report.html")).unwrap();
    assert!(page.contains("No graphs of trials 1, 2: the packets were removed, or not kept."));
    assert!(
        !page.contains("client.pcapng") && !page.contains("#case-1-trial-"),
        "links to nothing"
    );
    let figures = home.answer(&format!("plot '{run}'"));
    assert!(figures.contains("no figures of trials: their packets were removed"), "{figures}");
    // The tables are those that a report of the same trials writes.
    assert_eq!(table, fs::read_to_string(format!("{run}/trials.csv")).unwrap());

    home.answer("run tiny.toml --world sim --trials 2 --seed 9 --runs other");
    let other = home.only("other/tiny").display().to_string();
    let compared = home.run(&format!("compare '{run}' '{other}' --html page.html --fail-on never"));
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    let note = "No packets to draw for base: ";
    assert!(compared.stderr.contains(note), "{}", compared.stderr);
    let page = home.text("page.html");
    assert!(page.contains(note) && page.contains("To see them, run it again with"), "{page}");
}

#[test]
fn clean_json_has_sizes_and_what_was_removed() {
    let home = Home::with("tiny.toml", TINY);
    home.answer("run tiny.toml --world sim --trials 2");
    let run = home.only("runs/tiny");
    let listed = home.json("clean --json");
    check(&CLEAN_DOCUMENT, &listed, "clean --json");
    let of_run = &listed["runs"][0];
    let [all, captures] = ["size_bytes", "captures_bytes"].map(|key| of_run[key].as_u64().unwrap());
    let on_disk: u64 = everything(&run)
        .iter()
        .map(|name| fs::symlink_metadata(run.join(name)).unwrap())
        .filter(|kind| !kind.is_dir())
        .map(|kind| kind.len())
        .sum();
    assert_eq!(all, on_disk);
    assert!(0 < captures && captures < all, "{listed}");
    assert_eq!(
        (&listed["asked_to_remove"], &listed["removable_bytes"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(run, home.path(of_run["path"].as_str().unwrap()));

    let removing = |flags: &str| {
        let shown = home.json(&format!("clean --captures --json {flags}"));
        check(&CLEAN_DOCUMENT, &shown, flags);
        [&shown, &shown["runs"][0]]
            .map(|it| ["removable_bytes", "removed_bytes"].map(|key| it[key].as_u64().unwrap()))
    };
    assert_eq!(removing("--dry-run"), [[captures, 0]; 2]);
    home.refuses(&[("clean --captures --json", "pass --yes")]);
    let [[removable, removed], of_run] = removing("--yes");
    assert_eq!((removable, removed, of_run), (captures, captures, [captures; 2]));
    let [left, size] =
        ["left_bytes", "size_bytes"].map(|key| home.json("clean --json")[key].clone());
    assert_eq!((&left, left.as_u64() < Some(all)), (&size, true));
    assert_eq!(removing("--yes"), [[0, 0]; 2]);
    // A file beside the text.
    assert!(home.answer("clean --runs --yes --json=said.json").contains("; 0 B left\n"));
    let said: Value = serde_json::from_str(&home.text("said.json")).unwrap();
    assert_eq!(said["removed_bytes"], said["size_bytes"]);
    assert_eq!((&said["left_bytes"], &said["runs"][0]["left_bytes"]), (&json!(0), &json!(0)));
    assert!(!run.exists());
}

#[test]
fn run_that_cannot_be_removed_is_named_in_json() {
    let home = Home::with("tiny.toml", TINY);
    home.answer("run tiny.toml --world sim --trials 1");
    let run = home.only("runs/tiny");
    let lock = fs::File::open(run.join("lock")).unwrap();
    lock.lock().unwrap();
    let ended = home.run("clean --runs --yes --json");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let of_run = &shown["runs"][0];
    assert_eq!((&shown["removed_bytes"], &of_run["removed_bytes"]), (&json!(0), &json!(0)));
    assert!(of_run["error"].as_str().unwrap().contains("locked"), "{shown}");
    assert!(run.exists());
    // Named, it is what this command is for.
    let line = format!("clean {} --runs --yes", run.display());
    let said = home.run(&line).stderr;
    assert!(
        said.contains("is locked by another tcplab process\n  try: wait for it, or stop it"),
        "{said}"
    );
}

#[test]
fn run_tells_its_size_before_and_after() {
    let home = Home::with("tiny.toml", TINY);
    let told = home.run("run tiny.toml --world sim --trials 2").stderr;
    assert!(told.contains(", about 150 kB") && told.contains("size: "), "{told}");
    assert!(told.contains(", of which captures, samples and the path's log "), "{told}");
    assert!(told.contains("tcplab clean --captures runs/tiny/"), "{told}");
}
