//! The page of a shell: what passes its path, and changes of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::page::until;
use crate::watched::{Watched, dropped, is_described, parts_of, round_trips, skipped, sockets};

/// 10 kB every tenth of a second to the far end, for a minute at most.
const TRAFFIC: [&str; 8] = [
    "--far-command",
    "python3 -c 'import socket\ns = socket.create_server((\"\", 5000))\nc = s.accept()[0]\n\
     while c.recv(65536): pass'",
    "--wait-for",
    "5000",
    "--",
    "python3",
    "-c",
    "import os, socket, time\nc = socket.create_connection((os.environ['TCPLAB_FAR'], 5000))\n\
     for _ in range(600):\n    c.sendall(bytes(10000)); time.sleep(0.1)\n\
     \x20   if os.path.exists('end'): break",
];

/// A shell with a page; none where this machine has no namespaces for it.
fn start(arguments: &[&str]) -> Option<Watched> {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tmp")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["shell", "-s", "rate=5 Mbit/s", "-s", "delay=10 ms", "--ui=link"])
        .args(arguments)
        .current_dir(home.path())
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .env("TMPDIR", home.path().join("tmp"))
        .env_remove("TCPLAB_SHELL")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let link = lines.next().unwrap_or_default();
    let rest = std::thread::spawn(move || lines.collect::<Vec<_>>().join("\n"));
    let (at, token) = parts_of(&link).unwrap_or_else(|| panic!("{link}"));
    let shell = Watched { home, child, at, token, relay: None };
    // It has begun when it answers; else it says why not.
    let began = until(|| {
        let is_over = rest.is_finished();
        (is_over || shell.try_get("/api/traffic").is_some()).then_some(!is_over)
    });
    if !began {
        let said = rest.join().unwrap();
        assert!(said.contains("namespace"), "{said}");
        skipped(&said);
        return None;
    }
    Some(shell)
}

#[test]
fn traffic_of_a_shell_is_watched_and_its_path_changed() {
    let keeps = ["--capture", "seen"];
    let Some(mut shell) = start(&[&keeps[..], &TRAFFIC[..]].concat()) else { return };
    let told = shell.listen();
    let first = until(|| Some(shell.packets()).filter(|packets| packets.len() > 20));
    assert_eq!((&first[0]["flags"], &first[0]["from_client"]), (&json!("SYN"), &json!(true)));
    until(|| (shell.packets().len() > first.len()).then_some(()));
    // Both ends, by their packets and by their sockets.
    let row = until(|| {
        let met = shell.connections();
        let row = met["connections"][0].clone();
        (row["sockets"][0].is_object() && row["sockets"][1].is_object()).then_some(row)
    });
    assert_eq!(row["states"], json!(["ESTABLISHED", "ESTABLISHED"]), "{row}");
    for end in 0..2 {
        let socket = &row["sockets"][end];
        assert_eq!((&socket["local"], &socket["state"]), (&row["ends"][end], &json!(1)));
        assert!(socket["cwnd_bytes"].as_u64() > Some(0), "{socket}");
    }
    let made = shell.change(&json!({ "direction": "forward", "drop": 3 }));
    assert_eq!(made.status, 200, "{}", made.text());
    is_described("/api/traffic/change", "post", &made.json());
    let refused = shell.change(&json!({ "interrupt": "0 ms", "drop": 0 }));
    assert!(refused.status == 409 || refused.status == 422, "{}", refused.text());
    let state = shell.get("/api/traffic").json();
    is_described("/api/traffic", "get", &state);
    assert_eq!(state["path_events"][0]["drop"], 3);
    assert!(state["path_file"].as_str().unwrap().contains("[[events]]"), "{state}");
    // Nobody else is answered.
    let stranger = format!("Host: {}\r\n", shell.at);
    assert_eq!(shell.ask("GET /api/traffic", &stranger, "").unwrap().status, 401);
    until(|| (dropped(&shell.packets()) == 3).then_some(()));
    fs::write(shell.home.path().join("end"), "").unwrap();
    assert!(shell.child.wait().unwrap().success());
    // The page was told of all, and of the end.
    let told = told.join().unwrap();
    assert_eq!(
        told.last().map(|(name, state)| (&**name, &state["is_running"])),
        Some(("over", &json!(false)))
    );
    assert!(told.iter().any(|(name, _)| name == "path"));
    let rtt = told.iter().flat_map(|(_, data)| round_trips(data)).min().unwrap();
    assert!((20_000_000..1_000_000_000).contains(&rtt), "{rtt}");
    // What the sender's socket says is in its curves: at least the initial window (RFC 6928).
    let windows: Vec<[u64; 2]> = told.iter().flat_map(|(_, data)| sockets(data)).collect();
    let ranges = (1..100_000_000, 20_000_000..1_000_000_000);
    assert!(windows.iter().any(|[cwnd, _]| *cwnd >= 10 * 1_000), "{windows:?}");
    for [cwnd, srtt] in windows {
        assert!(ranges.0.contains(&cwnd) && ranges.1.contains(&srtt), "{cwnd} {srtt}");
    }
    // It is on record, and replays.
    let record = fs::read(shell.home.path().join("seen/result.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["path_events"], state["path_events"]);
    let mut replay = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    let replayed = replay.args(["replay", "seen"]).current_dir(shell.home.path()).output().unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
    assert_eq!(shell.left(), 0);
}

#[test]
fn nothing_is_left_of_a_recording_that_nobody_keeps() {
    for signal in [Signal::TERM, Signal::KILL] {
        let Some(mut shell) = start(&TRAFFIC) else { return };
        until(|| {
            (shell.get("/api/traffic/packets").json()["packets"][0].is_object()).then_some(())
        });
        let state = shell.get("/api/traffic").json();
        assert_eq!((&state["recording"], &state["snaplen_bytes"]), (&Value::Null, &json!(128)));
        assert_eq!(shell.left(), 1);
        kill_process(Pid::from_child(&shell.child), signal).unwrap();
        shell.child.wait().unwrap();
        // After SIGKILL the other half of the shell does it.
        until(|| (shell.left() == 0).then_some(()));
        // The port is free once the last process has ended.
        until(|| TcpStream::connect(&shell.at).is_err().then_some(()));
    }
}

#[test]
fn page_is_refused_where_it_cannot_be() {
    let refused = |arguments: &[&str], depth: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
        command.arg("shell").args(arguments).args(["--", "true"]);
        depth.map(|depth| command.env("TCPLAB_SHELL", depth));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused(&["--ui"], Some("1"));
    assert!(said.contains("give --ui to the outermost shell"), "{said}");
    let said = refused(&["--ui", "--world", "sim"], None);
    assert!(said.contains("--ui exists in real time only"), "{said}");
}

/// The far end resets the connection while more data is on its way to it.
const RESET: [&str; 8] = [
    "--far-command",
    "python3 -c 'import socket, struct, time\ns = socket.create_server((\"\", 5000))\n\
     c = s.accept()[0]\nc.recv(1)\n\
     c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack(\"ii\", 1, 0))\nc.close()\n\
     time.sleep(60)'",
    "--wait-for",
    "5000",
    "--",
    "python3",
    "-c",
    "import os, socket, time\nc = socket.create_connection((os.environ['TCPLAB_FAR'], 5000))\n\
     c.sendall(bytes(12000))\n\
     while not os.path.exists('end'): time.sleep(0.1)",
];

#[test]
fn reset_is_shown_as_a_reset() {
    let Some(shell) = start(&RESET) else { return };
    let has = |packets: &[Value], acknowledges: bool| {
        let is_it = |it: &&Value| it["flags"] == "RST" && it["ack"].is_null() != acknowledges;
        packets.iter().any(|it| is_it(&it) && it["from_client"] == false)
    };
    // The first with its acknowledgement; those that answer what comes later have none.
    until(|| has(&shell.packets(), true).then_some(()));
    until(|| has(&shell.packets(), false).then_some(()));
}
