//! `tcplab states` of this machine, a trial and a capture.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SMALL: &str = r#"title = "Small"

[path]
rate = "10 Mbit/s"
delay = "7 ms"

[workload]
upload = "200 kB"

[sampling]
tcp_info = "1 ms"

[repeat]
trials = 2

[matrix]
"path.loss" = ["0 %", "1 %"]
"#;

fn tcplab(home: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(line.split(' ')).current_dir(home).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    command.output().unwrap()
}

fn answer(home: &Path, line: &str) -> String {
    let Output { status, stdout, stderr } = tcplab(home, line);
    let complaint = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(0), "{line}: {complaint}");
    String::from_utf8(stdout).unwrap()
}

fn refusal(home: &Path, line: &str) -> String {
    let Output { status, stdout, stderr } = tcplab(home, line);
    let complaint = String::from_utf8(stderr).unwrap();
    assert_eq!((status.code(), &stdout[..]), (Some(2), &b""[..]), "{line}: {complaint}");
    complaint
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A run in virtual time, and where it is.
fn run() -> (TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("small.toml"), SMALL).unwrap();
    answer(home.path(), "run small.toml --world sim");
    let mut runs = fs::read_dir(home.path().join("runs/small")).unwrap();
    let name = runs.next().unwrap().unwrap().file_name();
    let run = format!("runs/small/{}", name.to_string_lossy());
    (home, run)
}

#[test]
fn sockets_of_machine_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = json(&answer(home.path(), &format!("states --port {port} --json")));
    assert_eq!(found["counts"][0]["state"], "LISTEN");
    let socket = &found["connections"][0];
    assert_eq!(socket["local"], format!("127.0.0.1:{port}"));
    assert_eq!(socket["waits_for"], "a SYN from anywhere");
    let text = answer(home.path(), &format!("states --port {port} --state listen"));
    assert!(text.contains("1 LISTEN        waits for a SYN from anywhere"), "{text}");
    let none = answer(home.path(), &format!("states --port {port} --state time-wait"));
    assert_eq!(none, "No such TCP connection.\n");
    assert!(refusal(home.path(), "states --state asleep").contains("TIME-WAIT"));
}

/// The walk that the captures show, beside the model's own word, a thousand times a second.
#[test]
fn walk_of_trial_equals_its_models() {
    let (home, run) = run();
    let home = home.path();
    for (case, trial) in [("0", 1), ("1", 1), ("1", 2)] {
        let cases = refusal(home, &format!("states {run}"));
        let names = cases.rsplit("--case: ").next().unwrap();
        let name = names.trim().split(", ").nth(case.parse().unwrap()).unwrap();
        let line = format!("states {run} --case {name} --trial {trial} --json --svg walk.svg");
        let found = json(&answer(home, &line));
        let states = |end: &str| {
            let edges = found[end]["edges"].as_array().unwrap();
            edges.iter().map(|edge| edge["to"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let client = ["SYN-SENT", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT"];
        assert_eq!(states("client"), client);
        let server = ["LISTEN", "SYN-RECEIVED", "ESTABLISHED", "CLOSE-WAIT", "LAST-ACK", "CLOSED"];
        assert_eq!(states("server"), server);
        assert_eq!(found["time_wait"][0]["end"], "client");
        for check in found["samples"].as_array().unwrap() {
            let count = |name: &str| check[name].as_u64().unwrap();
            assert!(count("samples") > 100, "{check}");
            assert_eq!(count("differing"), 0, "{check}");
            assert_eq!(count("agree") + count("closed_before_fin"), count("samples"), "{check}");
        }
        let svg = fs::read_to_string(home.join("walk.svg")).unwrap();
        assert!(svg.contains("finally in TIME-WAIT") && svg.contains("</svg>"), "{svg}");
    }
    // The same trial by its recording, and by the client's capture alone.
    let trials = fs::read_dir(home.join(&run).join("trials")).unwrap();
    let recording = trials.map(|entry| entry.unwrap().file_name()).min().unwrap();
    let recording = format!("{run}/trials/{}", recording.to_string_lossy());
    let text = answer(home, &format!("states {recording}"));
    assert!(text.contains("TIME-WAIT at the client, which closed first"), "{text}");
    let text = answer(home, &format!("states {recording}/client.pcapng"));
    assert!(text.contains("Not captured at the server"), "{text}");
    assert!(text.contains("(arrival inferred)"), "{text}");
    let page = fs::read_to_string(home.join(&run).join("report.html")).unwrap();
    assert_eq!(page.matches(r#"class="state-diagram""#).count(), 4, "one for each trial");
    for (line, told) in [
        (format!("states {run} --case none"), "no case `none`"),
        (format!("states {recording} --case none"), "is not a run: omit --case"),
        (format!("states {recording} -c 1"), "no such connection: there are 1"),
        (format!("states {recording}/client.pcapng -c 5"), "no connection 5"),
        (format!("states {recording}/app.json"), "app.json"),
        (format!("states {run}/trials"), "trials"),
        ("states missing.pcapng".into(), "missing.pcapng"),
    ] {
        let said = refusal(home, &line);
        assert!(said.contains(told), "{line}: {said}");
    }
}
