//! Where no thread or process can be made: an error with cause and remedy, no panic. Experiments
//! on the kernel are in `tests/kernel`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::home::{Ended, Home, ended, skipped};
use crate::limited::{FewProcesses, explained};
use crate::servers::Server;

const SIMULATED: &str = r#"
title    = "Small"
path     = { delay = "1 ms" }
workload = { upload = "20 kB" }
repeat   = { trials = 3 }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
"#;

#[test]
fn simulation_without_threads_is_refused() {
    let Some(few) = FewProcesses::new() else { return };
    few.home.write("small.toml", SIMULATED);
    few.sweep("run small.toml --world sim --jobs 3", 4);
}

/// Starts a server, waits until it listens or ends, and stops it.
fn served(mut command: Command) -> (bool, Ended) {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    let listens = first.starts_with("listening on ");
    if listens {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    }
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let Ended { code, stderr, .. } = child.wait_with_output().unwrap().into();
    (listens, Ended { code, stdout: first + &rest, stderr })
}

#[test]
fn server_says_it_listens_when_it_has_its_threads() {
    let Some(few) = FewProcesses::new() else { return };
    for design in ["iterative", "fork", "prefork", "thread", "thread-pool", "epoll", "io-uring"] {
        for processes in 1..=4 {
            let has_workers = !matches!(design, "iterative" | "fork" | "thread");
            let workers = if has_workers { " --workers 3" } else { "" };
            let line = format!("server --design {design}{workers}");
            let (listens, end) = served(few.command(processes, &line));
            if design == "io-uring" && end.stderr.contains("io_uring is disabled here") {
                skipped("io_uring is disabled here");
                break;
            }
            explained(&end, &format!("{line} with {processes}"));
            assert_eq!(listens, end.code == Some(0), "{line}: {}{}", end.stdout, end.stderr);
            let needs_threads = matches!(design, "thread-pool" | "epoll" | "io-uring");
            assert!(!(needs_threads && processes == 1 && listens), "{design}");
        }
    }
    let datagrams = "server --service time --design thread-pool --workers 2";
    explained(&served(few.command(2, datagrams)).1, datagrams);
}

/// Each worker has a ring, which is a descriptor.
#[test]
fn worker_that_fails_is_reported_at_once() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_tcplab");
    for design in ["epoll", "io-uring"] {
        let line = format!("ulimit -n 40; exec '{program}' server --design {design} --workers 64");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(home.path(""));
        let (listens, Ended { code, stdout, stderr }) = served(shell);
        if stderr.contains("io_uring is disabled here") {
            skipped("io_uring is disabled here");
            continue;
        }
        assert_eq!((listens, code), (false, Some(2)), "{design}: {stdout}{stderr}");
        assert!(stderr.contains(&format!("the design `{design}` cannot run here")), "{stderr}");
        assert!(stderr.contains("`ulimit -n`"), "{design}: no remedy: {stderr}");
    }
}

#[test]
fn load_without_threads_is_refused() {
    let Some(few) = FewProcesses::new() else { return };
    let server = Server::start(&Home::new(), "--service chargen").expect("epoll is everywhere");
    let address = server.address;
    few.sweep(&format!("load {address} --bulk download -c 2 --duration 0.05s -q"), 4);
    let end = ended(&mut few.command(2, &format!("load {address} -c 4 --threads 4")));
    explained(&end, "load");
    assert_eq!(end.code, Some(2), "{}", end.stdout);
    server.stop();
}

/// A thread decompresses ahead of who reads, where there can be one.
#[test]
fn compressed_capture_is_read_without_threads() {
    let Some(few) = FewProcesses::new() else { return };
    let capture = "../../corpus/limits/bbr_loss3.rcv.pcap.zst";
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join(capture);
    few.home.write("it.pcap.zst", fs::read(capture).unwrap());
    let end = ended(&mut few.command(1, "trace it.pcap.zst"));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
}
