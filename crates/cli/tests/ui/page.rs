//! A server of the page, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with runs of its own.
pub(crate) struct Page {
    pub(crate) home: TempDir,
    child: Child,
    /// Its address and port.
    pub(crate) at: String,
    pub(crate) token: String,
}

/// An answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        { lines }.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Page {
    pub(crate) fn start() -> Page {
        Page::start_in(tempfile::tempdir().unwrap(), "127.0.0.1:0")
    }

    /// A server in a place where another may have been.
    pub(crate) fn start_in(home: TempDir, listen: &str) -> Page {
        let mut child = command(home.path(), listen).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let address = link.trim().strip_prefix("http://").unwrap_or_else(|| panic!("{link}"));
        let (at, token) = address.split_once("/?token=").unwrap();
        Page { at: at.into(), token: token.into(), home, child }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.home.path().join("runs")
    }

    /// Ends it as Ctrl-C does, or at once; returns its place.
    pub(crate) fn end(mut self, signal: Signal) -> TempDir {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap();
        let place = tempfile::tempdir().unwrap();
        std::mem::replace(&mut self.home, place)
    }

    /// Memory of the server, bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Asks with the token.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.own(), b"")
    }
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = format!("{}Content-Type: application/json\r\n", self.own());
        self.ask("POST", path, &headers, body.to_string().as_bytes())
    }
    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &self.own(), b"")
    }

    /// The headers of those who may ask.
    pub(crate) fn own(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.at, self.token)
    }

    /// Asks with these headers.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        answer(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Runs a scenario to its end; the run's name.
    pub(crate) fn run(&self, wish: &Value) -> String {
        let id = self.begin(wish);
        let state = self.wait(id);
        assert_eq!(state["is_finished"], true, "{state}");
        state["run"].as_str().unwrap().to_owned()
    }

    /// Starts a job.
    pub(crate) fn begin(&self, wish: &Value) -> u64 {
        let answer = self.post("/api/jobs", wish);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["id"].as_u64().unwrap()
    }

    /// Waits until a job has stored a trial, or has ended.
    pub(crate) fn wait_or_stored(&self, id: u64) -> Value {
        until(|| {
            let state = self.get(&format!("/api/jobs/{id}")).json();
            let is_stored = state["latest"]["event"] == "stored";
            (is_stored || state["is_running"] == false).then_some(state)
        })
    }

    /// Waits for the end of a job.
    pub(crate) fn wait(&self, id: u64) -> Value {
        until(|| {
            let state = self.get(&format!("/api/jobs/{id}")).json();
            (state["is_running"] == false).then_some(state)
        })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until there is an answer.
pub(crate) fn until<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads an answer whose connection is closed after it.
pub(crate) fn answer(mut stream: impl Read) -> Answer {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(all.len(), |at| at + 4);
    let (head, body) = all.split_at(end);
    let head = String::from_utf8_lossy(head).into_owned();
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { whole(body) } else { body.to_vec() };
    Answer { status, head, body }
}

/// What came in chunks (RFC 9112 section 7.1).
fn whole(mut chunks: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(line) = chunks.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&chunks[..line]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok()).unwrap_or(0);
        let from = line + 2;
        if size == 0 || chunks.len() < from + size + 2 {
            break;
        }
        all.extend_from_slice(&chunks[from..from + size]);
        chunks = &chunks[from + size + 2..];
    }
    all
}

fn command(home: &Path, listen: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command
        .args(["ui", "--no-browser", "--listen", listen, "--runs"])
        .arg(home.join("runs"))
        .current_dir(home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("TCPLAB_KERNELS", home.join("no-kernels"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// A small experiment in virtual time.
pub(crate) const SMALL: &str = r#"
title    = "Small"
path     = { rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets", loss = "1 %" }
workload = { upload = "500 kB" }
repeat   = { trials = 2 }

[matrix]
"client.socket.congestion" = ["reno", "cubic"]
"#;
