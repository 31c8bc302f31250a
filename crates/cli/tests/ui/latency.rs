//! Latency to a host as a job, and its results.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::page::{Page, until};

/// A server of tcplab, which ends with its standard input.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    address: SocketAddr,
}

impl Server {
    fn start(service: &str) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
        command.args(["server", "--service", service, "--control"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let begun: Value = serde_json::from_str(&first).unwrap();
        let address = begun["listening"].as_str().unwrap().parse().unwrap();
        Server { input: child.stdin.take(), child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().unwrap();
    }
}

fn wish(port: u16) -> Value {
    json!({ "do": "latency", "host": "127.0.0.1", "port": port, "interval_ms": 1, "seconds": 0.4 })
}

/// Measures for a moment; gives the server that answered and the name of the result.
pub(crate) fn kept_result(page: &Page) -> (Server, String) {
    let server = Server::start("latency");
    let state = page.wait(page.begin(&wish(server.address.port())));
    assert_eq!(state["is_finished"], true, "{state}");
    (server, kept(page).remove(0))
}

/// The events of a job that has ended.
fn events(page: &Page, id: u64) -> Vec<Value> {
    let text = page.get(&format!("/api/jobs/{id}/events")).text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn last<'a>(events: &'a [Value], name: &str) -> &'a Value {
    events.iter().rfind(|it| it["event"] == name).unwrap_or_else(|| panic!("no {name}: {events:?}"))
}

/// The names of the results that are kept.
fn kept(page: &Page) -> Vec<String> {
    let results = page.get("/api/latencies").json();
    let results = results["results"].as_array().unwrap();
    results.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn latency_is_told_while_it_is_measured_and_kept() {
    let (server, discard) = (Server::start("latency"), Server::start("discard"));
    let page = Page::start();
    let mut wish = wish(server.address.port());
    // What a load has carried is looked at ten times a second.
    wish["seconds"] = json!(1.5);
    wish["load"] =
        json!({ "upload_port": discard.address.port(), "connections": 2, "idle_seconds": 0.2 });
    let id = page.begin(&wish);
    let state = page.wait(id);
    assert_eq!((&state["is_finished"], &state["exit_code"]), (&json!(true), &json!(0)), "{state}");
    let command = state["command"].as_str().unwrap();
    assert!(command.starts_with("tcplab latency 127.0.0.1:"), "{command}");
    let events = events(&page, id);
    let parts: Vec<&Value> =
        events.iter().filter(|it| it["event"] == "part").map(|it| &it["name"]).collect();
    assert_eq!(parts, ["idle", "under load"]);
    let progress = last(&events, "progress");
    let series = progress["series"].as_object().unwrap();
    let points = series["at_seconds"].as_array().unwrap().len();
    assert!(points > 1 && series.values().all(|it| it.as_array().unwrap().len() == points));
    assert_eq!((&progress["lost"], &progress["clock"]["is_same"]), (&json!(0), &json!(true)));
    assert!(series["upload_bits_per_second"].as_array().unwrap().iter().any(Value::is_number));
    let finished = last(&events, "finished");
    assert_eq!(finished["result"]["phases"][1]["name"], "under load", "{finished}");
    assert_eq!(finished["result"]["series"], json!([]));
    // It is found again, also by a server that is started anew.
    let home = page.end(rustix::process::Signal::KILL);
    let page = Page::start_in(home, "127.0.0.1:0");
    let [name] = &kept(&page)[..] else { panic!("one is kept: {:?}", kept(&page)) };
    assert!(finished["file"].as_str().unwrap().ends_with(&format!("/{name}.json")), "{finished}");
    let found = page.get(&format!("/api/latency?name={name}")).json();
    assert_eq!(found["sent"], finished["result"]["sent"]);
    assert!(found["series"].as_array().unwrap().len() > 1);
    for (ending, begin) in [("json", "{"), ("svg", "<svg"), ("csv", "host,at_unix_seconds")] {
        let file = page.get(&format!("/api/latency/file?name={name}&as={ending}"));
        assert!(file.status == 200 && file.text().contains(begin), "{ending}: {}", file.text());
        let saved = file.header("content-disposition").unwrap();
        assert_eq!(saved, format!("attachment; filename=\"{name}.{ending}\""));
    }
    assert_eq!(page.delete(&format!("/api/latency?name={name}")).status, 200);
    assert_eq!(page.get(&format!("/api/latency?name={name}")).status, 404);
    assert!(kept(&page).is_empty());
    assert_eq!(fs::read_dir(page.runs().join(".latency")).unwrap().count(), 0);
}

#[test]
fn measurement_until_stopped_runs_beside_others_and_keeps_its_result() {
    let server = Server::start("latency");
    let page = Page::start();
    let mut wish = wish(server.address.port());
    wish["seconds"] = Value::Null;
    let ids: Vec<u64> = (0..4).map(|_| page.begin(&wish)).collect();
    let refused = page.post("/api/jobs", &wish);
    assert!(refused.status == 409 && refused.text().contains("stop one"), "{}", refused.text());
    // An experiment is not in their way.
    let run = json!({ "do": "run", "toml": crate::page::SMALL, "name": "small", "world": "sim" });
    page.run(&run);
    for id in ids {
        // Stopped before there is an answer there would be nothing to keep.
        until(|| {
            let state = page.get(&format!("/api/jobs/{id}")).json();
            (state["latest"]["event"] == "progress").then_some(())
        });
        assert_eq!(page.post(&format!("/api/jobs/{id}/stop"), &json!({})).status, 200);
        let state = page.wait(id);
        assert_eq!(state["is_finished"], true, "{state}");
        assert_eq!(state["latest"]["result"]["was_stopped"], true, "{state}");
    }
    assert_eq!(kept(&page).len(), 4);
}

#[test]
fn bad_hosts_and_numbers_are_refused() {
    let page = Page::start();
    let refused = |wish: &Value| {
        let answer = page.post("/api/jobs", wish);
        assert!((400..500).contains(&answer.status), "{wish}: {}", answer.text());
    };
    for host in [
        "",
        "--json=/tmp/x",
        "-",
        "127.0.0.1:7 --svg=/tmp/x",
        "a/../b",
        "<script>alert(1)</script>",
        "user@127.0.0.1",
        "a\u{1b}[31m",
        "\u{202e}moc.elpmaxe",
        &"a.".repeat(500),
    ] {
        let mut wish = wish(1);
        wish["host"] = json!(host);
        refused(&wish);
    }
    let load = |load: Value| json!({ "load": load });
    for other in [
        json!({ "port": 0 }),
        json!({ "port": 65_536 }),
        json!({ "seconds": 0 }),
        json!({ "seconds": 1e300 }),
        json!({ "seconds": -1 }),
        json!({ "interval_ms": 0 }),
        json!({ "interval_ms": 100_000 }),
        json!({ "timeout_ms": 1 }),
        json!({ "clocks": "--json" }),
        json!({ "together": ["/etc/passwd"] }),
        load(json!({ "connections": 1, "idle_seconds": 1 })),
        load(json!({ "upload_port": 9, "connections": 65, "idle_seconds": 1 })),
        load(json!({ "upload_port": 9, "connections": 1, "idle_seconds": 0 })),
        load(json!({ "upload_port": 0, "connections": 1, "idle_seconds": 1 })),
        json!({ "third": { "host": "--json=/tmp/x", "port": 1 } }),
        json!({ "third": { "host": "127.0.0.1", "port": 0 } }),
        json!({ "third": { "host": "127.0.0.1" } }),
    ] {
        let mut wish = wish(1);
        wish.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        refused(&wish);
    }
    assert_eq!(page.get("/api/jobs").json()["jobs"], json!([]));
}

#[test]
fn failures_name_cause_and_remedy() {
    let page = Page::start();
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let state = page.wait(page.begin(&wish(closed.port())));
    assert_eq!(state["is_finished"], false, "{state}");
    let said = state["said"].as_str().unwrap();
    assert!(said.contains("no answer to probes from 127.0.0.1"), "{said}");
    assert!(said.contains("tcplab server --service latency"), "{said}");
    let mut unknown = wish(1);
    unknown["host"] = json!("no-such-host.invalid");
    let state = page.wait(page.begin(&unknown));
    let said = state["said"].as_str().unwrap();
    assert!(said.contains("cannot find no-such-host.invalid:1"), "{said}");
    assert!(said.contains("check the spelling, or use the IP address"), "{said}");
    assert!(kept(&page).is_empty());
}

/// It answers the greeting, and then sends what nobody asked for as fast as it can.
#[test]
fn nonsense_without_end_costs_no_memory() {
    let page = Page::start();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let is_over = AtomicBool::new(false);
    let state = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; 100];
            let mut client = None;
            while !is_over.load(Ordering::Relaxed) {
                if let Ok((length, from)) = socket.recv_from(&mut buffer) {
                    client = Some(from);
                    // A welcome with the token and counts of its own.
                    let mut answer = buffer;
                    answer[7] = b'1';
                    answer[16..64].fill(0xff);
                    if buffer[7] == b'0' && length == 64 {
                        let _ = socket.send_to(&answer[..64], from);
                        continue;
                    }
                    // An answer whose times are the ends of what there is.
                    buffer[7] = b'3';
                    buffer[24..56].fill(0xff);
                    let _ = socket.send_to(&buffer[..64], from);
                }
                for junk in [&b"<img src=x onerror=alert(1)>"[..], &[0xff; 1400], b""] {
                    let _ = client.map(|client| socket.send_to(junk, client));
                }
            }
        });
        let port = socket.local_addr().unwrap().port();
        let state = page.wait(page.begin(&wish(port)));
        is_over.store(true, Ordering::Relaxed);
        state
    });
    assert_eq!(state["is_finished"], true, "{state}");
    let result = &state["latest"]["result"];
    assert!(result["ignored"].as_u64() > Some(0), "{result}");
    let [name] = &kept(&page)[..] else { panic!("one is kept") };
    assert_eq!(page.get(&format!("/api/latency?name={name}")).status, 200);
    assert!(page.memory() < 200_000_000, "{}", page.memory());
}

#[test]
fn names_of_results_lead_nowhere_else() {
    let page = Page::start();
    let place = page.runs().join(".latency");
    fs::create_dir_all(place.join("inner")).unwrap();
    fs::write(page.runs().join("secret.json"), "{}").unwrap();
    fs::write(place.join("inner/a.json"), "{}").unwrap();
    fs::write(place.join(".hidden.json"), "{}").unwrap();
    std::os::unix::fs::symlink(page.runs().join("secret.json"), place.join("link.json")).unwrap();
    for name in ["../secret", "..%2fsecret", "inner/a", ".hidden", "link", "%00", "none", ""] {
        for path in [format!("latency?name={name}"), format!("latency/file?name={name}&as=json")] {
            let answer = page.get(&format!("/api/{path}"));
            assert!([403, 404].contains(&answer.status), "{path}: {}", answer.text());
        }
        assert!([403, 404].contains(&page.delete(&format!("/api/latency?name={name}")).status));
    }
    // What is no result is said to be none, and what has a strange name is saved under a plain one.
    let strange = "<b>\"x";
    fs::write(place.join(format!("{strange}.json")), "[]").unwrap();
    assert_eq!(page.get("/api/latency?name=%3Cb%3E%22x").status, 400);
    let saved = page.get("/api/latency/file?name=%3Cb%3E%22x&as=json");
    assert_eq!(saved.header("content-disposition").unwrap(), "attachment; filename=\"_b__x.json\"");
    assert_eq!(page.get("/api/latency/file?name=none&as=exe").status, 400);
    assert!(page.runs().join("secret.json").exists());
}
