//! A shell or a bridge with a page, and requests to it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::page::{Answer, answer};
use crate::schema::faults;

/// What is served while programs use a path.
pub(crate) struct Watched {
    pub(crate) home: TempDir,
    pub(crate) child: Child,
    /// Its address and port.
    pub(crate) at: String,
    pub(crate) token: String,
    /// A socket that leads to it, where it is in another network.
    pub(crate) relay: Option<PathBuf>,
}

pub(crate) trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

impl Watched {
    pub(crate) fn try_connect(&self) -> Option<Box<dyn Stream>> {
        let patience = Some(Duration::from_secs(10));
        if let Some(relay) = &self.relay {
            let stream = UnixStream::connect(relay).ok()?;
            stream.set_read_timeout(patience).unwrap();
            return Some(Box::new(stream));
        }
        let stream = TcpStream::connect(&self.at).ok()?;
        stream.set_read_timeout(patience).unwrap();
        Some(Box::new(stream))
    }

    /// Sends a request with these lines of headers; none if nobody answers.
    pub(crate) fn ask(&self, head: &str, headers: &str, body: &str) -> Option<Answer> {
        let mut stream = self.try_connect()?;
        let head = format!("{head} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).ok()?;
        Some(answer(stream)).filter(|answer| answer.status > 0)
    }

    pub(crate) fn try_get(&self, path: &str) -> Option<Answer> {
        self.ask(&format!("GET {path}"), &self.own(), "")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.try_get(path).unwrap_or_else(|| panic!("{path} is not answered"))
    }

    /// Changes the path.
    pub(crate) fn change(&self, change: &Value) -> Answer {
        let body = change.to_string();
        let length = body.len();
        let about = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
        let headers = self.own() + &about;
        self.ask("POST /api/traffic/change", &headers, &body).expect("it is answered")
    }

    pub(crate) fn packets(&self) -> Vec<Value> {
        let answer = self.get("/api/traffic/packets").json();
        is_described("/api/traffic/packets", "get", &answer);
        answer["packets"].as_array().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> Value {
        let answer = self.get("/api/traffic/connections").json();
        is_described("/api/traffic/connections", "get", &answer);
        answer
    }

    /// The headers of those who may ask.
    pub(crate) fn own(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.at, self.token)
    }

    /// The events of its history, until it is over.
    pub(crate) fn listen(&self) -> JoinHandle<Vec<(String, Value)>> {
        let mut stream = self.try_connect().unwrap();
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

    /// Listens until it is told what is waited for.
    pub(crate) fn hear(&self, mut is_it: impl FnMut(&str, &Value) -> bool) {
        let mut stream = self.try_connect().unwrap();
        let head = format!("GET /api/traffic/live HTTP/1.1\r\n{}\r\n", self.own());
        stream.write_all(head.as_bytes()).unwrap();
        let mut name = String::new();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ")
                && is_it(&name, &serde_json::from_str(data).unwrap())
            {
                return;
            }
        }
        panic!("it is over, and was not told");
    }

    /// What is left in the directory for temporary files.
    pub(crate) fn left(&self) -> usize {
        fs::read_dir(self.home.path().join("tmp")).unwrap().count()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The intervals of what one end sends, as an event of the history tells them.
fn intervals(history: &Value) -> impl Iterator<Item = &Value> {
    let flows = history["flows"].as_array().into_iter().flatten();
    let forward = flows.filter(|flow| flow["forward"] == true);
    forward.flat_map(|flow| flow["intervals"].as_array().unwrap())
}

/// The RTTs of what one end sends, nanoseconds.
pub(crate) fn round_trips(history: &Value) -> Vec<u64> {
    intervals(history).filter_map(|row| row[8].as_u64()).collect()
}

/// What the sockets of one end say: congestion window, bytes, and smoothed RTT, nanoseconds.
pub(crate) fn sockets(history: &Value) -> Vec<[u64; 2]> {
    intervals(history).filter_map(|row| Some([row[9].as_u64()?, row[11].as_u64()?])).collect()
}

/// The packets that a change of the path dropped.
pub(crate) fn dropped(packets: &[Value]) -> usize {
    let of_event = |it: &&Value| it["verdict"].as_str().is_some_and(|it| it.contains("event"));
    packets.iter().filter(of_event).count()
}

/// Address, port and token of a link, as the command prints it.
pub(crate) fn parts_of(line: &str) -> Option<(String, String)> {
    let (at, token) = line.strip_prefix("tcplab: http://")?.split_once("/?token=")?;
    Some((at.to_owned(), token.trim().to_owned()))
}

/// An answer is what the document says.
pub(crate) fn is_described(path: &str, method: &str, answer: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/ui-openapi.json");
    let document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let content = &document["paths"][path][method]["responses"]["200"]["content"];
    let schema = &content["application/json"]["schema"];
    let found = faults(schema, answer, "");
    assert!(found.is_empty() && schema.get("type").is_some(), "{path}: {found:#?}");
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
