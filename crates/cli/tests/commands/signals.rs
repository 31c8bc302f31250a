//! Ctrl-C ends each command with 130, as in shells.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde_json::Value;

use crate::home::{Ended, Home, everything, skipped};

/// Its exit code after the signal, with what it says on standard error.
fn code_after(child: Child, signal: Signal) -> (Option<i32>, String) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn start(home: &Home, line: &str) -> Child {
    let mut command = home.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn ctrl_c_on_a_server_exits_with_130_and_sigterm_with_0() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 0)] {
        let home = Home::new();
        let mut server = start(&home, "server --port 0");
        let mut first = String::new();
        // Kept open: the server still prints its counters.
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut first).unwrap();
        assert!(first.starts_with("listening"), "{first}");
        let (found, said) = code_after(server, signal);
        assert_eq!(found, Some(code), "{signal:?}: {said}");
    }
}

#[test]
fn ctrl_c_on_a_load_exits_with_130() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let load = start(&Home::new(), &format!("load echo://{address} -c 1 --duration 1h"));
    // It handles signals before it connects, and never gets an answer.
    let connection = listener.accept().unwrap();
    let (code, said) = code_after(load, Signal::INT);
    drop(connection);
    assert_eq!(code, Some(130), "{said}");
}

/// As timeout(1) does it: to its command, and then to the group that this is in.
#[test]
fn signals_that_come_together_lose_no_result() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let line = format!("load echo://{address} -c 1 --duration 1h --json -q");
    let load = start(&Home::new(), &line);
    let connection = listener.accept().unwrap();
    let pid = Pid::from_child(&load);
    let status = format!("/proc/{}/status", load.id());
    let is_pending = || {
        let status = fs::read_to_string(&status).unwrap();
        !status.contains("ShdPnd:\t0000000000000000")
    };
    for _ in 0..2 {
        kill_process(pid, Signal::TERM).unwrap();
        // Two that wait for their handler are one (signal(7)).
        while is_pending() {
            thread::yield_now();
        }
    }
    let Ended { code, stdout, stderr } = load.wait_with_output().unwrap().into();
    drop(connection);
    assert_eq!(code, Some(143), "{stderr}");
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found["was_stopped"], true, "{found}");
}

/// Commands that make runs of their own, stopped in the first.
#[test]
fn ctrl_c_on_commands_that_run_scenarios_exits_with_130() {
    for line in [
        "rfc6349 --path dsl-25 --world sim --trials 90",
        "advise --rtt 40ms --rate 10Mbit/s --loss 1% --world sim --trials 90",
    ] {
        let home = Home::new();
        let mut child = start(&home, line);
        while !home.exists("runs") {
            assert_eq!(child.try_wait().unwrap(), None, "{line}: it ended");
            thread::yield_now();
        }
        let (code, said) = code_after(child, Signal::INT);
        assert_eq!(code, Some(130), "{line}: {said}");
        assert!(!said.contains("error"), "{line}: {said}");
        // They cannot go on with that run.
        assert!(said.ends_with("stopped\n") && !said.contains("resume"), "{line}: {said}");
    }
}

/// As a terminal sends it: to every process of the group.
#[test]
fn ctrl_c_on_a_server_of_many_processes_leaves_none() {
    // Side by side: each waits for its client for some seconds.
    thread::scope(|scope| {
        for design in ["prefork", "fork", "thread", "io-uring"] {
            scope.spawn(move || ctrl_c_leaves_none(design));
        }
    });
}

fn ctrl_c_leaves_none(design: &str) {
    let home = Home::new();
    let mut command = home.command(&format!("server --port 0 --design {design}"));
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let Some((_, after)) = line.split_once("127.0.0.1:") else {
        let Ended { code, stderr, .. } = server.wait_with_output().unwrap().into();
        assert_eq!((design, code), ("io-uring", Some(2)), "{line}{stderr}");
        return skipped("this kernel has no io_uring for this user");
    };
    let port = after.chars().take_while(char::is_ascii_digit).collect::<String>();
    // A process of its own carries it, once it has answered.
    let client = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    (&client).write_all(b"hello\n").unwrap();
    BufReader::new(&client).read_line(&mut String::new()).unwrap();
    let group = Pid::from_child(&server);
    kill_process_group(group, Signal::INT).unwrap();
    let Ended { code, stderr, .. } = server.wait_with_output().unwrap().into();
    assert_eq!(code, Some(130), "{design}: {stderr}");
    assert!(test_kill_process_group(group).is_err(), "{design}: a process is left");
}

const CAPTURE: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../corpus/groundtruth/app_limited.snd.pcap.zst"
));

/// The rest of the capture never comes.
#[test]
fn ctrl_c_on_a_trace_leaves_no_half_file() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let home = Home::with("kept.csv", "old");
        let outputs = "--csv kept.csv --xpl graphs --parquet tables";
        let mut command = home.command(&format!("trace - {outputs}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut trace = command.spawn().unwrap();
        let mut input = trace.stdin.take().unwrap();
        input.write_all(&CAPTURE[..CAPTURE.len() / 2]).unwrap();
        let growing = || {
            let all = everything(&home.path("")).into_iter();
            all.filter(|path| path.extension().is_some_and(|it| it == "part")).count()
        };
        while growing() < 3 {
            assert_eq!(trace.try_wait().unwrap(), None, "it ended");
            thread::yield_now();
        }
        let (found, said) = code_after(trace, signal);
        drop(input);
        assert_eq!((found, said.as_str()), (Some(code), ""));
        assert_eq!(everything(&home.path("")), ["kept.csv".as_ref()] as [&std::path::Path; 1]);
        assert_eq!(home.text("kept.csv"), "old");
    }
}

/// Its results are a pipe that nobody fills.
#[test]
fn ctrl_c_on_a_comparison_leaves_nothing() {
    let home = Home::new();
    home.make_directory("run");
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, home.path("run/run.json"), FileType::Fifo, mode, 0).unwrap();
    let line = "compare run --by path.delay --html page.html --json=out.json";
    let mut compare = start(&home, line);
    // Opened when the command has opened it, too (fifo(7)).
    let unfilled = OpenOptions::new().write(true).open(home.path("run/run.json")).unwrap();
    kill_process(Pid::from_child(&compare), Signal::INT).unwrap();
    let status = compare.wait().unwrap();
    drop(unfilled);
    // What a shell calls 130: there is nothing to put in order.
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status}");
    assert_eq!(everything(&home.path("")).len(), 2);
}

#[test]
fn ctrl_c_on_a_live_capture_completes_it() {
    let home = Home::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let line = format!("trace -i lo -w kept.pcapng --json --filter 'port {port}'");
    let mut trace = start(&home, &line);
    while !home.exists("kept.pcapng") {
        if trace.try_wait().unwrap().is_some() {
            let Ended { stderr, .. } = trace.wait_with_output().unwrap().into();
            assert!(stderr.contains("CAP_NET_RAW"), "{stderr}");
            return skipped("this user may not capture");
        }
        thread::yield_now();
    }
    kill_process(Pid::from_child(&trace), Signal::INT).unwrap();
    let Ended { code, stdout, stderr } = trace.wait_with_output().unwrap().into();
    assert_eq!((code, stderr.as_str()), (Some(130), ""), "{stdout}");
    let seen: Value = serde_json::from_str(&stdout).unwrap();
    let kept = home.json("trace kept.pcapng --json");
    assert_eq!(kept["connections"], seen["connections"]);
    assert_eq!(everything(&home.path("")).len(), 1);
}

/// A run that was stopped goes on by the file of its scenario, as by its name.
#[test]
fn run_is_resumed_by_its_file() {
    let home = Home::with("small.toml", crate::errors::SMALL);
    home.answer("run small.toml --world sim --trials 2");
    let run = home.only("runs/small");
    for resumed in ["run small.toml --resume", "run ./small.toml --resume"] {
        fs::remove_file(run.join("run.json")).unwrap();
        home.answer(resumed);
        assert!(run.join("run.json").exists(), "{resumed}");
    }
    home.write("other.toml", crate::errors::SMALL);
    home.refuses(&[("run other.toml --resume", "no unfinished run below")]);
}
