//! Captures that come over HTTP: read as the command reads them, in little memory.

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::page::{Answer, Page, answer, until};

/// Records of the large capture: some 200 MB.
const RECORDS: u32 = 150_000;
/// What the server may need for it besides what it needs anyway, bytes.
const MEMORY: u64 = 128 << 20;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth").join(name)
}

impl Page {
    fn upload(&self, query: &str, body: &[u8]) -> Answer {
        let headers = format!("{}Content-Type: application/octet-stream\r\n", self.own());
        self.ask("POST", &format!("/api/captures?{query}"), &headers, body)
    }

    /// The capture of one file.
    fn brought(&self, name: &str, body: &[u8]) -> String {
        let answer = self.upload(&format!("name={name}"), body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Has it read, and waits for the end.
    fn read(&self, id: &str, filter: &str) -> Value {
        let begun = self.post("/api/capture/read", &json!({ "id": id, "filter": filter }));
        assert_eq!(begun.json()["mistake"], Value::Null, "{}", begun.text());
        until(|| {
            let reading = self.get(&format!("/api/capture?id={id}&most=5000")).json();
            let reading = reading["reading"].clone();
            (reading["is_running"] == false).then_some(reading)
        })
    }

    /// Has something made, and waits for the end.
    fn make(&self, id: &str, wish: &Value) -> Value {
        let mut wish = wish.clone();
        wish["id"] = id.into();
        let begun = self.post("/api/capture/products", &wish);
        assert_eq!(begun.status, 200, "{}", begun.text());
        let number = begun.json()["number"].as_u64().unwrap();
        until(|| {
            let made = self.get(&format!("/api/capture/product?id={id}&number={number}")).json();
            (made["is_running"] == false).then_some(made)
        })
    }

    /// Files of captures, without what was made of them.
    fn kept(&self) -> usize {
        let captures = fs::read_dir(self.runs().join(".captures")).into_iter().flatten();
        let places =
            captures.flatten().flat_map(|it| ["files", "parts"].map(|name| it.path().join(name)));
        places.map(|place| fs::read_dir(place).into_iter().flatten().count()).sum()
    }
}

/// What the command says of a capture.
fn by_command(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    let said = command.arg("trace").args(arguments).arg("--json").output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice(&said.stdout).unwrap()
}

/// The rows by number have the numbers of the command.
fn assert_same(reading: &Value, command: &Value) {
    let mut rows = reading["rows"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["number"].as_u64());
    let connections = command["connections"].as_array().unwrap();
    assert_eq!(rows.len(), connections.len());
    assert_eq!(reading["packets"], command["capture"]["packets"]);
    assert_eq!(reading["zero_unix_ns"], command["capture"]["zero_unix_ns"]);
    for (row, of) in rows.iter().zip(connections) {
        let end = |which: &str| {
            let address = of[format!("{which}_address")].as_str().unwrap();
            format!("{address}:{}", of[format!("{which}_port")])
        };
        assert_eq!(row["number"], of["connection"]);
        assert_eq!(
            [&row["client"], &row["server"]],
            [&json!(end("client")), &json!(end("server"))]
        );
        for key in ["first_ns", "last_ns", "packets"] {
            assert_eq!(row[key], of[key], "{key}");
        }
        for direction in ["forward", "reverse"] {
            for key in ["unique_bytes", "retransmissions"] {
                assert_eq!(row[direction][key], of[direction][key], "{direction} {key}");
            }
        }
    }
}

#[test]
fn rows_are_those_of_the_command() {
    let page = Page::start();
    for name in ["loss1_cubic.snd.pcap.zst", "rwnd_limited.rcv.pcap.zst"] {
        let file = corpus(name);
        let id = page.brought(name, &fs::read(&file).unwrap());
        let reading = page.read(&id, "");
        assert_same(&reading, &by_command(&[file.to_str().unwrap()]));
        assert!(reading["command"].as_str().unwrap().starts_with("tcplab trace "), "{reading}");
    }
    let [latest, first] = [0, 1].map(|at| page.get("/api/captures").json()["captures"][at].clone());
    assert_eq!(latest["files"][0]["name"], "rwnd_limited.rcv.pcap.zst");
    assert_eq!(first["files"][0]["name"], "loss1_cubic.snd.pcap.zst");
    // Findings lead to their connections; the deepest needs the packets.
    let reading = page.read(first["id"].as_str().unwrap(), "");
    let findings = reading["findings"].as_array().unwrap();
    let rules: Vec<&str> = findings.iter().filter_map(|it| it["rule"].as_str()).collect();
    assert!(!rules.is_empty(), "{reading}");
    assert!(findings.iter().all(|it| it["examples"][0]["connection"].is_u64()), "{findings:?}");
    let deleted = page.delete(&format!("/api/capture?id={}", latest["id"].as_str().unwrap()));
    assert_eq!(deleted.status, 200);
    assert_eq!(page.get("/api/captures").json()["captures"].as_array().unwrap().len(), 1);
    assert_eq!(page.kept(), 1);
}

#[test]
fn filter_is_that_of_the_command_and_its_mistakes_have_a_place() {
    let page = Page::start();
    let file = corpus("loss1_cubic.snd.pcap.zst");
    let id = page.brought("a.pcap.zst", &fs::read(&file).unwrap());
    let filter = "ip.addr == 10.98.0.1 && tcp.port == 52200";
    let reading = page.read(&id, filter);
    assert_same(&reading, &by_command(&[file.to_str().unwrap(), "--filter", filter]));
    assert_eq!(reading["totals"]["connections"], 1);
    assert_eq!(page.read(&id, "port 1")["totals"]["connections"], 0);
    for (filter, from, until) in [
        ("port 80 nad host 10.0.0.1", 8, 11),
        ("host 10.0.0.1 and", 17, 17),
        ("é and port x", 0, 1),
        ("tcp.port == 99999", 12, 17),
        ("(port 80", 8, 8),
    ] {
        let wish = json!({ "id": id, "filter": filter });
        let mistake = page.post("/api/capture/read", &wish).json()["mistake"].clone();
        assert_eq!(
            [&mistake["from"], &mistake["until"]],
            [&json!(from), &json!(until)],
            "{mistake}"
        );
        assert!(!mistake["what"].as_str().unwrap().is_empty());
    }
}

#[test]
fn connection_is_shown_and_saved_by_commands() {
    let page = Page::start();
    let id = page.brought("a.pcap.zst", &fs::read(corpus("loss1_cubic.snd.pcap.zst")).unwrap());
    let made = page.make(&id, &json!({ "kind": "page", "connection": 1 }));
    assert!(
        made["command"].as_str().unwrap().ends_with("--connection=1 --html=report.html"),
        "{made}"
    );
    // It lies in the sandbox of reports.
    let shown = page.get(made["page"].as_str().unwrap());
    assert!(shown.header("content-security-policy").unwrap().starts_with("sandbox "));
    assert!(shown.text().contains("52200"));
    // What was made already is there at once.
    let again = page.make(&id, &json!({ "kind": "page", "connection": 1 }));
    assert_eq!(again["number"], made["number"]);
    let listing = page.make(&id, &json!({ "kind": "listing", "connection": 1 }));
    assert!(listing["text"].as_str().unwrap().contains("SACK"), "{listing}");
    let wish = |packets: &str| {
        let kind = json!({ "kind": "listing", "connection": 1, "packets": packets });
        page.make(&id, &kind)
    };
    let syns = wish("tcp.flags.syn == 1");
    assert!(syns["text"].as_str().unwrap().ends_with("\n2 of 5805 packets\n"), "{syns}");
    assert!(syns["command"].as_str().unwrap().ends_with("'--display-filter=tcp.flags.syn == 1'"));
    let wrong = json!({ "id": id, "kind": "listing", "connection": 1, "packets": "tcp.len >" });
    assert_eq!(page.post("/api/capture/products", &wrong).status, 400);
    let bytes = page.make(&id, &json!({ "kind": "bytes", "frame": 12 }));
    assert!(bytes["text"].as_str().unwrap().contains("52200"), "{bytes}");
    // The page colours bytes by their fields.
    let fields =
        page.get(&format!("/api/capture/file?id={id}&number={}&name=packet.json", bytes["number"]));
    let fields = serde_json::from_slice::<serde_json::Value>(&fields.body).unwrap();
    assert_eq!(fields["packets"][0]["frame"], 12, "{fields}");
    let shared = page.get("/dump.js").text();
    assert!(shared.contains(r#"["tcp-option", "TCP options"]"#), "the names of layers");
    for (wish, names) in [
        (json!({ "kind": "annotated" }), &["annotated.pcapng"][..]),
        (json!({ "kind": "csv" }), &["connections.csv"]),
        (json!({ "kind": "json" }), &["trace.json"]),
        (
            json!({ "kind": "parquet" }),
            &["parquet/connections.parquet", "parquet/segments.parquet"],
        ),
        (json!({ "kind": "xplot", "connection": 1 }), &["xplot/c2d_tsg.xpl"]),
    ] {
        let made = page.make(&id, &wish);
        let files = made["files"].as_array().unwrap();
        for name in names {
            let file =
                files.iter().find(|file| file["name"] == *name).unwrap_or_else(|| panic!("{made}"));
            let saved = page
                .get(&format!("/api/capture/file?id={id}&number={}&name={name}", made["number"]));
            assert_eq!(saved.body.len() as u64, file["bytes"].as_u64().unwrap(), "{name}");
            let short = name.rsplit('/').next().unwrap();
            let disposition = format!("attachment; filename=\"{short}\"");
            assert_eq!(saved.header("content-disposition"), Some(disposition.as_str()));
        }
    }
    // A connection that is not there, and names that lead elsewhere.
    let none = page.make(&id, &json!({ "kind": "page", "connection": 99 }));
    assert!(none["error"].as_str().unwrap().contains("no connection 99"), "{none}");
    for name in ["..", "../../files/a.pcap.zst", "/etc/passwd", "", "%00"] {
        let path = format!("/api/capture/file?id={id}&number={}&name={name}", made["number"]);
        assert!([403, 404].contains(&page.get(&path).status), "{name}");
    }
    let wish = json!({ "id": id, "kind": "csv", "filter": "port" });
    assert_eq!(page.post("/api/capture/products", &wish).status, 400);
}

#[test]
fn two_ends_are_joined() {
    let page = Page::start();
    let [sender, receiver] = ["loss1_cubic.snd.pcap.zst", "loss1_cubic.rcv.pcap.zst"];
    let id = page.brought(sender, &fs::read(corpus(sender)).unwrap());
    let second =
        page.upload(&format!("name={receiver}&id={id}"), &fs::read(corpus(receiver)).unwrap());
    assert_eq!((second.status, second.json()["id"].as_str()), (200, Some(id.as_str())));
    // Read as one, each packet would look duplicated.
    let reading = page.read(&id, "");
    assert_eq!(reading["ends"], json!([sender, receiver]), "{reading}");
    assert!(reading["error"].as_str().unwrap().contains("two points"), "{reading}");
    let made = page.make(&id, &json!({ "kind": "joined", "client": sender, "server": receiver }));
    let text = made["text"].as_str().unwrap_or_else(|| panic!("{made}"));
    assert!(text.contains("10.98.0.1:52200") && text.contains("lost"), "{text}");
    for server in [sender, "../x", "none.pcap"] {
        let wish = json!({ "id": id, "kind": "joined", "client": sender, "server": server });
        assert!(page.post("/api/capture/products", &wish).status >= 400, "{server}");
    }
}

/// A record of a pcap file: an Ethernet frame of a TCP segment with this sequence number.
fn record(number: u32, data: usize) -> Vec<u8> {
    let length = 40 + data;
    let mut ip = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 0, 0x40, 0, 64, 6, 0, 0];
    ip.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    let port = 1_024 + (number / 100) as u16 % 50_000;
    ip.extend([&port.to_be_bytes()[..], &[0, 80]].concat());
    ip.extend((number % 100 * data as u32).to_be_bytes());
    ip.extend([0, 0, 0, 1, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
    ip.resize(length, number as u8);
    let head = [number / 10_000, number % 10_000 * 100, length as u32, length as u32];
    [head.map(u32::to_le_bytes).concat(), ip].concat()
}

/// The head of a pcap file of raw IP packets.
fn pcap_head() -> Vec<u8> {
    let mut head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    // The version: 2.4, two halves.
    head[4..8].copy_from_slice(&[2, 0, 4, 0]);
    head
}

#[test]
fn large_upload_needs_little_memory() {
    let page = Page::start();
    let before = page.memory();
    let head = pcap_head();
    let sum = head.len() + RECORDS as usize * record(0, 1_300).len();
    let mut stream = page.connect();
    let request = format!(
        "POST /api/captures?name=large.pcap HTTP/1.1\r\n{}Content-Length: {sum}\r\nConnection: close\r\n\r\n",
        page.own()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.write_all(&head).unwrap();
    for number in 0..RECORDS {
        stream.write_all(&record(number, 1_300)).unwrap();
    }
    let taken = answer(stream).json();
    assert_eq!(taken["bytes"], sum, "{taken}");
    let id = taken["id"].as_str().unwrap();
    page.post("/api/capture/read", &json!({ "id": id }));
    let mut seen = Vec::new();
    let reading = until(|| {
        let reading = page.get(&format!("/api/capture?id={id}&most=10")).json()["reading"].clone();
        seen.push(reading["read_bytes"].as_u64().unwrap());
        (reading["is_running"] == false).then_some(reading)
    });
    assert!(seen.is_sorted() && seen.last() == Some(&(sum as u64)), "{seen:?}");
    assert_eq!(reading["packets"], RECORDS);
    assert_eq!(reading["totals"]["connections"], RECORDS / 100);
    assert!(page.memory() < before + MEMORY, "{} bytes, {before} before", page.memory());
}

#[test]
fn half_upload_leaves_nothing() {
    let page = Page::start();
    let head = |more: &str| {
        format!("POST /api/captures?name=a.pcap HTTP/1.1\r\n{}{more}\r\n\r\n", page.own())
    };
    // It ends too early; the connection may be gone, too.
    for is_whole in [true, false] {
        let mut stream = page.connect();
        stream.write_all(head("Content-Length: 100000").as_bytes()).unwrap();
        stream.write_all(&pcap_head()).unwrap();
        until(|| (page.kept() == 1).then_some(()));
        if is_whole {
            stream.shutdown(Shutdown::Write).unwrap();
            let _ = answer(stream);
        } else {
            drop(stream);
        }
        until(|| (page.kept() == 0).then_some(()));
    }
    // More than is taken.
    let mut stream = page.connect();
    stream.write_all(head("Content-Length: 9000000000000").as_bytes()).unwrap();
    let refused = answer(stream);
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(refused.text().contains("8 GB"), "{}", refused.text());
    assert_eq!(page.get("/api/captures").json()["captures"], json!([]));
    until(|| (fs::read_dir(page.runs().join(".captures")).unwrap().count() == 0).then_some(()));
}

#[test]
fn broken_captures_are_named_so() {
    let page = Page::start();
    assert_eq!(page.upload("name=empty.pcap", b"").status, 400);
    let garbage: Vec<u8> =
        (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (name, body) in [("garbage", garbage), ("short", vec![0xd4]), ("zeros.gz", zeros(64 << 20))]
    {
        let id = page.brought(name, &body);
        let reading = page.read(&id, "");
        let error = reading["error"].as_str().unwrap_or_else(|| panic!("{name}: {reading}"));
        assert!(error.contains("not a capture") && !error.contains(".captures"), "{error}");
        let made = page.make(&id, &json!({ "kind": "csv" }));
        let error = made["error"].as_str().unwrap();
        assert!(error.contains(name) && !error.contains(".captures"), "{error}");
    }
    // What can be read of one that is cut off is shown, with a note.
    let mut cut = pcap_head();
    (0..10).for_each(|number| cut.extend(record(number, 100)));
    cut.truncate(cut.len() - 7);
    let id = page.brought("cut.pcap", &cut);
    let reading = page.read(&id, "");
    assert_eq!([&reading["error"], &reading["totals"]["connections"]], [&Value::Null, &json!(1)]);
    assert!(!reading["notes"].as_array().unwrap().is_empty(), "{reading}");
    // Empty records without end, from little: reading stops when nobody wants it any more.
    let bomb = gzip(&pcap_head(), 1 << 30);
    let id = page.brought("bomb.pcap.gz", &bomb);
    page.post("/api/capture/read", &json!({ "id": id }));
    assert_eq!(page.delete(&format!("/api/capture?id={id}")).status, 200);
    assert_eq!(page.get(&format!("/api/capture?id={id}")).status, 404);
    // There is room for others again.
    let id = page.brought("cut.pcap", &cut);
    assert_eq!(page.read(&id, "")["totals"]["connections"], 1);
    assert!(page.memory() < 256 << 20, "{}", page.memory());
}

#[test]
fn end_of_the_server_ends_its_commands() {
    let page = Page::start();
    let id = page.brought("bomb.pcap.gz", &gzip(&pcap_head(), 1 << 30));
    let wish = json!({ "id": id, "kind": "csv" });
    assert_eq!(page.post("/api/capture/products", &wish).status, 200);
    page.post("/api/capture/read", &json!({ "id": id }));
    until(|| (commands_with(&id) == 1).then_some(()));
    // Stopped by the page, and by the end of the server.
    assert_eq!(page.delete(&format!("/api/capture/product?id={id}&number=1")).status, 200);
    until(|| (commands_with(&id) == 0).then_some(()));
    assert_eq!(page.post("/api/capture/products", &wish).status, 200);
    until(|| (commands_with(&id) == 1).then_some(()));
    let _home = page.end(Signal::INT);
    until(|| (commands_with(&id) == 0).then_some(()));
}

/// How many processes have this text among their arguments.
fn commands_with(text: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// Zeros, compressed with gzip.
fn zeros(count: u64) -> Vec<u8> {
    gzip(b"", count)
}

/// These bytes and so many zeros, as a gzip file in whose pieces each is repeated (RFC 1951: a
/// block with fixed codes, whose matches copy the byte before).
fn gzip(first: &[u8], zeros: u64) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // Stored: the bytes, and the zero that is repeated.
    let length = first.len() as u16 + 1;
    out.push(0);
    out.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
    out.extend(first);
    out.push(0);
    // 258 bytes from one before: code 285 (11000101), distance code 0 (00000).
    let mut bits = vec![true, true, false];
    for _ in 0..zeros / 258 {
        bits.extend([true, true, false, false, false, true, false, true]);
        bits.extend([false; 5]);
    }
    // The end of the block: seven zeros.
    bits.extend([false; 7]);
    let byte =
        |eight: &[bool]| (0..8).map(|at| u8::from(eight.get(at) == Some(&true)) << at).sum::<u8>();
    out.extend(bits.chunks(8).map(byte));
    // Neither sum is right: who reads so far has read all.
    out.extend([0; 8]);
    out
}

#[test]
fn files_keep_the_order_in_which_they_came() {
    let page = Page::start();
    let body = [pcap_head(), record(0, 10)].concat();
    let id = page.brought("c.pcap", &body);
    let names = ["b.pcap", "d.pcap", "a.pcap"];
    for name in names {
        assert_eq!(page.upload(&format!("name={name}&id={id}"), &body).status, 200);
    }
    let files = page.get(&format!("/api/capture?id={id}")).json()["files"].clone();
    let kept: Vec<&str> =
        files.as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(kept, ["c.pcap", "b.pcap", "d.pcap", "a.pcap"]);
}

#[test]
fn names_are_made_safe() {
    let page = Page::start();
    let body = [pcap_head(), record(0, 10)].concat();
    for (given, kept) in [
        ("..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("%2Fabsolute.pcap", "absolute.pcap"),
        ("a%00b.pcap", "a_b.pcap"),
        ("%3Cscript%3Ealert(1)%3C%2Fscript%3E", "script_"),
        ("--annotate", "annotate"),
        (".hidden", "hidden"),
        ("", "capture"),
        ("%F0%9F%92%A3", "_"),
        ("%D0%BA%D0%BB%D0%B8%D0%B5%D0%BD%D1%82.pcap", "клиент.pcap"),
        ("a%E2%80%AEpacp.exe", "a_pacp.exe"),
    ] {
        let answer = page.upload(&format!("name={given}"), &body);
        assert_eq!(answer.json()["name"], kept, "{given}");
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        let reading = page.read(&id, "");
        assert_eq!(reading["packets"], 1, "{given}: {reading}");
        let again = page.upload(&format!("name={given}&id={id}"), &body).json();
        assert_ne!(again["name"], kept);
    }
    for id in ["..", "", "%00", "..%2F..", &"0".repeat(32), &"A".repeat(32)] {
        assert_eq!(page.get(&format!("/api/capture?id={id}")).status, 404, "{id}");
        assert_eq!(page.delete(&format!("/api/capture?id={id}")).status, 404, "{id}");
        assert_eq!(page.upload(&format!("name=x&id={id}"), &body).status, 404, "{id}");
    }
    assert!(!page.home.path().join("passwd").exists());
}
