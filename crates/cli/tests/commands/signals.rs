//! Ctrl-C ends each command with 130, as in shells.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;

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
            std::thread::yield_now();
        }
        let (code, said) = code_after(child, Signal::INT);
        assert_eq!(code, Some(130), "{line}: {said}");
        assert!(!said.contains("error"), "{line}: {said}");
    }
}
