//! `tcplab bench`: commands run behind paths, their times and packets are counted, nothing is left.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tcplab_quantities::BENCH_DOCUMENT;

use crate::home::Home;
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
    assert!(text.contains("(2 of 2 runs failed)"), "{text}");
}

#[test]
fn stopped_bench_leaves_no_command() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let line = "bench --export-csv b.csv -- 'echo $$ >pid; exec sleep 1000' true";
    let mut bench = home.command(line).stderr(Stdio::null()).spawn().unwrap();
    let read = || std::fs::read_to_string(home.path("pid")).ok()?.trim().parse::<i32>().ok();
    assert!(await_that(|| read().is_some()), "the command did not start");
    let pid = Pid::from_raw(bench.id().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(bench.wait().unwrap().code(), Some(128 + 15));
    assert!(!home.path(format!("/proc/{}", read().unwrap())).exists());
    assert!(!home.path("b.csv").exists());
}
