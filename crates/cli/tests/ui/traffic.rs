//! The page of a shell: what passes its path, and changes of it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::page::{Answer, answer, until};
use crate::schema::faults;

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

/// A shell with a page.
struct Shell {
    home: TempDir,
    child: Child,
    at: String,
    token: String,
}

impl Shell {
    /// None where this machine has no namespaces for it.
    fn start(arguments: &[&str]) -> Option<Shell> {
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
        let address = link.strip_prefix("tcplab: http://").unwrap_or_else(|| panic!("{link}"));
        let (at, token) = address.split_once("/?token=").unwrap();
        let (at, token) = (at.to_owned(), token.to_owned());
        let shell = Shell { home, child, at, token };
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

    fn try_get(&self, path: &str) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.at).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\n{}Connection: close\r\n\r\n", self.own());
        stream.write_all(head.as_bytes()).ok()?;
        Some(answer(stream)).filter(|answer| answer.status > 0)
    }

    fn get(&self, path: &str) -> Answer {
        self.try_get(path).unwrap_or_else(|| panic!("{path} is not answered"))
    }

    fn change(&self, change: &Value) -> Answer {
        let body = change.to_string();
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let head = format!(
            "POST /api/traffic/change HTTP/1.1\r\n{}Content-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.own(),
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        answer(stream)
    }

    fn own(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.at, self.token)
    }

    /// The events of its history, until it is over.
    fn listen(&self) -> std::thread::JoinHandle<Vec<(String, Value)>> {
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let head = format!("GET /api/traffic/live HTTP/1.1\r\n{}\r\n", self.own());
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::spawn(move || {
            let (mut told, mut name) = (Vec::new(), String::new());
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(event) = line.strip_prefix("event: ") {
                    event.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    told.push((name.clone(), serde_json::from_str(data).unwrap()));
                }
            }
            told
        })
    }

    /// What is left in the directory for temporary files.
    fn left(&self) -> usize {
        fs::read_dir(self.home.path().join("tmp")).unwrap().count()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// An answer is what the document says.
fn is_described(path: &str, method: &str, answer: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/ui-openapi.json");
    let document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let content = &document["paths"][path][method]["responses"]["200"]["content"];
    let schema = &content["application/json"]["schema"];
    let found = faults(schema, answer, "");
    assert!(found.is_empty() && schema.get("type").is_some(), "{path}: {found:#?}");
}

#[test]
fn traffic_of_a_shell_is_watched_and_its_path_changed() {
    let keeps = ["--capture", "seen"];
    let Some(mut shell) = Shell::start(&[&keeps[..], &TRAFFIC[..]].concat()) else { return };
    let told = shell.listen();
    let packets = || {
        let answer = shell.get("/api/traffic/packets").json();
        is_described("/api/traffic/packets", "get", &answer);
        answer["packets"].as_array().unwrap().clone()
    };
    let first = until(|| Some(packets()).filter(|packets| packets.len() > 20));
    assert_eq!((&first[0]["flags"], &first[0]["from_client"]), (&json!("SYN"), &json!(true)));
    until(|| (packets().len() > first.len()).then_some(()));
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
    let mut stranger = TcpStream::connect(&shell.at).unwrap();
    let head =
        format!("GET /api/traffic HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", shell.at);
    stranger.write_all(head.as_bytes()).unwrap();
    assert_eq!(answer(stranger).status, 401);
    let dropped = |packets: &[Value]| {
        let of_event = |it: &&Value| it["verdict"].as_str().is_some_and(|it| it.contains("event"));
        packets.iter().filter(of_event).count()
    };
    until(|| (dropped(&packets()) == 3).then_some(()));
    fs::write(shell.home.path().join("end"), "").unwrap();
    assert!(shell.child.wait().unwrap().success());
    // The page was told of all, and of the end.
    let told = told.join().unwrap();
    assert_eq!(
        told.last().map(|(name, state)| (&**name, &state["is_running"])),
        Some(("over", &json!(false)))
    );
    assert!(told.iter().any(|(name, _)| name == "path"));
    let flows =
        told.iter().filter(|it| it.0 == "history").flat_map(|it| it.1["flows"].as_array().unwrap());
    let rows: Vec<&Value> = flows.flat_map(|it| it["intervals"].as_array().unwrap()).collect();
    let rtt = rows.iter().filter_map(|row| row[8].as_u64()).min().unwrap();
    assert!((20_000_000..1_000_000_000).contains(&rtt), "{rtt}");
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
        let Some(mut shell) = Shell::start(&TRAFFIC) else { return };
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
        assert!(TcpStream::connect(&shell.at).is_err(), "the port is still taken");
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

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
