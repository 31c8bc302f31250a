//! `tcplab bench`: commands run behind paths, their times and packets are counted, nothing is left.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tcplab_quantities::BENCH_DOCUMENT;

use crate::home::{Home, ended, names};
use crate::processes::await_that;
use crate::program::{installed, namespaces_allowed};
use crate::schema::check;

#[test]
fn commands_are_timed_behind_each_path() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let line = "bench --path - --path dsl-25 --runs 4 --warmup 0 --seed 5 --export-json b.json \
                --export-csv b.csv --export-markdown - -- 'sleep 0.05' 'sleep 0.01; echo never'";
    let markdown = home.answer(line);
    assert!(markdown.contains("### dsl\\-25\n") && !markdown.contains("never\n"), "{markdown}");
    let value = serde_json::from_str(&home.text("b.json")).unwrap();
    check(&BENCH_DOCUMENT, &value, "bench");
    for path in value["paths"].as_array().unwrap() {
        for (command, least) in path["commands"].as_array().unwrap().iter().zip([0.05, 0.01]) {
            let runs = command["runs"].as_array().unwrap();
            let seeds: Vec<u64> = runs.iter().filter_map(|run| run["path_seed"].as_u64()).collect();
            assert_eq!(seeds, [5, 6, 7, 8]);
            assert!(runs.iter().all(|run| run["time_seconds"].as_f64() >= Some(least)), "{runs:?}");
        }
        assert_eq!(
            path["verdicts"][0]["answer"], "no_difference_shown",
            "4 runs are too few for 2 paths"
        );
    }
    assert_eq!(home.text("b.csv").lines().count(), 1 + 2 * 2 * 4);
}

/// The first sends 100 kB more than the second.
#[test]
fn packets_of_each_command_are_counted() {
    if !(namespaces_allowed() && installed(&["python3"])) {
        return;
    }
    let home = Home::new();
    home.write(
        "far.py",
        "import socket\nl = socket.create_server(('', 7))\nwhile True:\n  s = l.accept()[0]\n  \
         while s.recv(65536): pass\n",
    );
    home.write(
        "near.py",
        "import os, socket, sys\ns = socket.create_connection((os.environ['TCPLAB_FAR'], 7))\n\
         s.sendall(bytes(int(sys.argv[1])))\n",
    );
    let value = home.json(
        "bench -s 'delay=1 ms' --runs 2 --warmup 0 --far-command 'python3 far.py' --wait-for 7 \
         --export-json - -- 'python3 near.py 101000' 'python3 near.py 1000'",
    );
    let bytes = |command: usize| {
        value["paths"][0]["commands"][command]["median_bytes"].as_f64().expect("a number")
    };
    assert!(bytes(1) > 1_000.0 && bytes(0) - bytes(1) > 99_000.0, "{value}");
    let goodput = &value["paths"][0]["commands"][0]["median_goodput_mbit_per_second"];
    assert!(goodput.is_null(), "there is no capture: {value}");
}

/// The second moves three times as much, in more time; goodput is compared, and nothing is kept.
#[test]
fn commands_are_judged_by_goodput_without_a_capture() {
    if !(namespaces_allowed() && installed(&["nc"])) {
        return;
    }
    let home = Home::new();
    home.write("sent", vec![7; 50_000]);
    home.make_directory("tmp");
    let line = "bench -s 'rate=20 Mbit/s' -s 'delay=5 ms' --runs 4 --warmup 1 --by goodput \
                --far-command 'nc -l 7 >/dev/null' --wait-for 7";
    let once = "'nc -N $TCPLAB_FAR 7 < sent'";
    let many = "'cat sent sent sent | nc -N $TCPLAB_FAR 7; sleep 0.2'";
    let mut json = home.command(&format!("{line} --export-json - -- {once} {many} true"));
    let told = ended(json.env("TMPDIR", home.path("tmp")));
    let value: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    check(&BENCH_DOCUMENT, &value, "bench --by goodput");
    assert_eq!(value["by"], "goodput");
    let path = &value["paths"][0];
    for command in 0..2 {
        let of = |key: &str| path["commands"][command][key].as_f64().expect("a number");
        let rates = ["min", "median", "max"].map(|it| of(&format!("{it}_goodput_mbit_per_second")));
        assert!(rates.is_sorted() && rates[0] > 0.01 && rates[2] < 20.0, "{value}");
    }
    let [of_many, of_none] = [0, 1].map(|verdict| &path["verdicts"][verdict]);
    assert!(of_many["ratio"].as_f64() > Some(0.0) && of_many["by"] == "goodput", "{value}");
    assert_eq!((&of_none["answer"], of_none["p"].is_null()), (&"unknown".into(), true));
    let why = "warning: rate=20 Mbit/s, delay=5 ms: in 4 of 12 runs, all of C: the goodput is \
               unknown: there was no TCP connection";
    assert!(told.stderr.contains(why), "{}", told.stderr);
    assert_eq!(names(&home.path("tmp")), Vec::<String>::new());
}

/// Each run has a recording, with the retransmissions that were counted.
#[test]
fn recordings_of_runs_have_the_counted_retransmissions() {
    if !(namespaces_allowed() && installed(&["nc"])) {
        return;
    }
    let home = Home::new();
    home.write("sent", vec![7; 200_000]);
    let value = home.json(
        "bench -s 'rate=20 Mbit/s' -s 'delay=5 ms' -s 'loss=4 %' --runs 2 --warmup 1 \
         --capture kept --far-command 'nc -l 7 >/dev/null' --wait-for 7 --export-json - -- \
         'nc -N $TCPLAB_FAR 7 < sent' 'nc -N $TCPLAB_FAR 7 < sent; true'",
    );
    check(&BENCH_DOCUMENT, &value, "bench --capture");
    // As `tcplab shell --expect` has it: below the rate of the path, its headers not counted.
    let goodput = &value["paths"][0]["commands"][0]["median_goodput_mbit_per_second"];
    assert!((0.01..20.0).contains(&goodput.as_f64().expect("a number")), "{value}");
    let folder = home.only("kept");
    assert_eq!(names(&folder), ["A-1", "A-2", "B-1", "B-2"]);
    let mut all = 0;
    for (command, letter) in ["A", "B"].iter().enumerate() {
        for (index, run) in (1..=2).enumerate() {
            let told = &value["paths"][0]["commands"][command]["runs"][index]["retransmissions"];
            let place = folder.join(format!("{letter}-{run}"));
            // Each end's capture has what it sent; the other's, what arrived.
            let sent = |end: &str, direction: &str| {
                let capture = place.join(format!("{end}.pcapng"));
                let trace = home.json(&format!("trace '{}' --json", capture.display()));
                trace["connections"][0][direction]["retransmissions"].as_u64().unwrap()
            };
            let seen = sent("client", "forward") + sent("server", "reverse");
            assert_eq!(told.as_u64(), Some(seen), "{letter}-{run}");
            all += seen;
        }
    }
    assert!(all > 0, "4 % of 560 segments are lost");
    home.refuses(&[(
        "bench --capture kept -- true false",
        "kept is not empty try: a new directory",
    )]);
}

#[test]
fn run_that_takes_too_long_is_ended_with_all_that_it_started() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    // A process group of its own, and a child that ignores the request to end.
    let late = "'setsid sh -c \"trap : TERM; echo \\$\\$ >pid; sleep 1000; sleep 1000\" & wait'";
    let line = |flags: &str| format!("bench --timeout 300ms --warmup 0 {flags} -- true {late}");
    let refusal = home.refusal(&line("--runs 1"));
    let said =
        ") took longer than 300 ms behind empty\n  try: a longer --timeout; --ignore-failure";
    assert!(refusal.contains("error: B (") && refusal.contains(said), "{refusal}");
    let gone = |home: &Home| {
        let pid = home.text("pid");
        assert!(!home.path(format!("/proc/{}", pid.trim())).exists(), "{pid} is there");
    };
    gone(&home);
    let value = home.json(&line("--runs 2 --ignore-failure --export-json -"));
    check(&BENCH_DOCUMENT, &value, "bench --timeout");
    gone(&home);
    let [quick, late] = [0, 1].map(|command| &value["paths"][0]["commands"][command]);
    assert_eq!((&quick["timed_out_runs"], &late["timed_out_runs"]), (&0.into(), &2.into()));
    assert_eq!((&late["failed_runs"], &late["runs"][0]["exit_code"]), (&2.into(), &124.into()));
    assert!(late["min_time_seconds"].as_f64() >= Some(0.3), "{late}");
    let text = home.answer(&line("--runs 1 --ignore-failure"));
    assert!(text.contains("  B failed in 1 of 1 run, 1 of them timed out\n"), "{text}");
}

#[test]
fn mistaken_benches_are_refused_before_anything_runs() {
    let home = Home::new();
    home.write("file", "");
    home.refuses(&[
        ("bench -- 'touch ran'", "2 values required by '<CMD> <CMD>...'; only 1 was provided"),
        ("bench --runs 0 -- 'touch ran' true", "0 is out of range: use 1 to 10000"),
        ("bench --path dls-25 -- 'touch ran' true", "dsl-25"),
        ("bench -- 'touch ran' ' '", "an empty command"),
        ("bench --timeout 0s -- 'touch ran' true", "0s is out of range: use 1 ms to"),
        ("bench --timeout soon -- 'touch ran' true", "soon"),
        ("bench --path lte --path lte -- 'touch ran' true", "--path lte is there twice"),
        ("bench --snaplen 100 -- 'touch ran' true", "--capture <DIR>"),
        ("bench --export-csv file/b.csv -- 'touch ran' true", "cannot write file/b.csv"),
        ("bench --export-json missing/b.json -- 'touch ran' true", "cannot write missing/b.json"),
        (
            "bench --runs 4 --path lte --path dsl-25 --fail-on worse -- 'touch ran' true",
            "with 4 runs each no difference can be shown: --fail-on says nothing \
             try: --runs 5 or more",
        ),
        ("bench --capture file -- 'touch ran' true", "cannot record into file"),
        (
            "bench --capture file/kept -- 'touch ran' true",
            "cannot make file/kept: Not a directory (os error 20) try: choose another place with",
        ),
    ]);
    assert!(!home.exists("ran") && names(&home.path("")) == ["file"]);
}

#[test]
fn same_command_twice_is_told() {
    if !namespaces_allowed() {
        return;
    }
    let told = Home::new().run("bench --runs 1 --warmup 0 -- true 'exit 0' true");
    let warning = "tcplab: warning: A and C are the same command: what differs is chance\n";
    assert!(told.code == Some(0) && told.stderr.contains(warning), "{}", told.stderr);
}

/// The command of `docs/how-to/ci.md`, with one client slower than the other.
#[test]
fn bench_of_the_docs_fails_a_build_for_a_slower_client() {
    if !namespaces_allowed() {
        return;
    }
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/ci.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let script = docs.split("```sh\n").find(|block| block.starts_with("tcplab bench")).unwrap();
    let script = script.split("```").next().unwrap();
    let home = Home::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tcplab")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for (before, after, code) in [("0.01", "0.1", 1), ("0.1", "0.01", 0)] {
        for (name, seconds) in [("client-before", before), ("client", after)] {
            home.write(name, format!("#!/bin/sh\nsleep {seconds}\n"));
            std::fs::set_permissions(home.path(name), Permissions::from_mode(0o755)).unwrap();
        }
        let mut sh = std::process::Command::new("sh");
        let run = ended(sh.args(["-c", script]).env("PATH", &path).current_dir(home.path("")));
        assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
        assert!(home.text("bench.md").contains("B takes "), "{}", home.text("bench.md"));
    }
}

#[test]
fn failing_command_ends_bench() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    home.refuses(&[(
        "bench -- true 'exit 3'",
        "B (`exit 3`) ended with exit code 3 behind empty try: --show-output",
    )]);
    let text = home.answer("bench --ignore-failure --runs 2 -- true 'exit 3'");
    assert!(text.contains("  B failed in 2 of 2 runs\n"), "{text}");
    assert!(text.contains("  B against A: unknown: all runs of B failed\n"), "{text}");
}

/// What is not judged is no success.
#[test]
fn unknown_verdict_is_an_error_where_verdicts_count() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    for (flags, why) in [
        ("--ignore-failure", "all runs of B failed"),
        ("--ignore-failure --by goodput", "a run of A and of B has no goodput"),
    ] {
        let line = format!("bench {flags} --runs 4 --warmup 0 --fail-on");
        for what in ["worse", "inconclusive", "different"] {
            let told = home.run(&format!("{line} {what} -- true 'exit 1'"));
            let is_said = told.stderr.contains("error: 1 verdict is unknown\n  try: the answer");
            assert!(told.code == Some(2) && is_said, "{flags} {what}: {}", told.stderr);
            assert!(told.stdout.contains(&format!("B against A: unknown: {why}\n")), "{flags}");
        }
        home.answer(&format!("{line} never -- true 'exit 1'"));
    }
}

/// The third run of the second command fails: two blocks are whole.
#[test]
fn blocks_before_a_failure_are_written() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    home.write("flaky.sh", "echo >>runs; test $(wc -l <runs) -lt 3\n");
    let line = "bench --runs 8 --warmup 0 --export-csv b.csv --export-json b.json \
                --export-markdown b.md -- true 'sh flaky.sh'";
    let told = home.run(line);
    assert_eq!(told.code, Some(2), "{}", told.stderr);
    assert!(told.stderr.contains("error: B (`sh flaky.sh`) ended with exit code 1"));
    let unfinished = "unfinished: 2 of 8 runs of each command";
    assert!(told.stderr.contains(&format!("tcplab: warning: {unfinished}\n")), "{}", told.stderr);
    let is_marked = |text: &str| text.ends_with(&format!("\nThis bench is {unfinished}.\n"));
    assert!(is_marked(&told.stdout) && is_marked(&home.text("b.md")), "{}", told.stdout);
    assert_eq!(home.text("b.csv").lines().count(), 1 + 2 * 2);
    let value: serde_json::Value = serde_json::from_str(&home.text("b.json")).unwrap();
    check(&BENCH_DOCUMENT, &value, "unfinished bench");
    assert_eq!(value["warnings"].as_array().unwrap().last(), Some(&unfinished.into()));
    let runs = |command: usize| value["paths"][0]["commands"][command]["runs"].as_array();
    assert!([0, 1].into_iter().all(|command| runs(command).unwrap().len() == 2), "{value}");
}

#[test]
fn stopped_bench_leaves_no_command() {
    if !namespaces_allowed() {
        return;
    }
    for (command, signal) in [
        ("echo $$ >pid; exec sleep 1000", Signal::TERM),
        // A shell that waits for its program does not heed SIGINT.
        ("sh inner.sh; true", Signal::INT),
    ] {
        let home = Home::new();
        home.write("inner.sh", "echo $$ >pid\nexec sleep 1000\n");
        let line = format!("bench --export-csv b.csv -- '{command}' true");
        let mut bench = home.command(&line).stderr(Stdio::null()).spawn().unwrap();
        let read = || std::fs::read_to_string(home.path("pid")).ok()?.trim().parse::<i32>().ok();
        assert!(await_that(|| read().is_some()), "the command did not start");
        let pid = Pid::from_raw(bench.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(bench.wait().unwrap().code(), Some(128 + signal.as_raw()), "{command}");
        assert!(!home.path(format!("/proc/{}", read().unwrap())).exists(), "{command}");
        assert!(!home.path("b.csv").exists(), "{command}");
    }
}
