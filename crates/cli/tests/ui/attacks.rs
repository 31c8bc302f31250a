//! Attacks on the page: each is refused, and the server goes on.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::json;

use crate::page::{Page, SMALL, answer};

fn is_alive(page: &Page) {
    assert_eq!(page.get("/api/jobs").status, 200);
}

#[test]
fn who_has_no_token_gets_nothing() {
    let page = Page::start();
    let host = format!("Host: {}\r\n", page.at);
    let wrong = format!("{host}Authorization: Bearer {}\r\n", "0".repeat(32));
    let near = format!("{host}Authorization: Bearer {}\r\n", &page.token[..31]);
    for headers in [&host, &wrong, &near] {
        for path in ["/", "/app.js", "/api/runs", "/api/about", "/?token=", "/?token=0", "/%2e%2e"]
        {
            let answer = page.ask("GET", path, headers, b"");
            assert_eq!(answer.status, 401, "{path}: {}", answer.text());
            assert!(answer.header("set-cookie").is_none());
        }
    }
    // The link gives a cookie that other sites' pages cannot use, and leads on without the token.
    let entry = page.ask("GET", &format!("/?token={}", page.token), &host, b"");
    assert_eq!((entry.status, entry.header("location")), (303, Some("/")));
    let cookie = entry.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let with = format!("{host}Cookie: other=1; {pair}\r\n");
    assert_eq!(page.ask("GET", "/", &with, b"").status, 200);
    // Not even a link with two slashes leads to another host.
    let twisted = page.ask("GET", &format!("//evil.example/?token={}", page.token), &host, b"");
    assert_eq!(twisted.header("location"), Some("/evil.example/"));
}

#[test]
fn other_sites_are_refused() {
    let page = Page::start();
    let port = page.at.rsplit(':').next().unwrap();
    let bearer = format!("Authorization: Bearer {}\r\n", page.token);
    // A name that someone bound to this address (DNS rebinding), none, or two.
    for host in [
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: {}\r\nHost: evil.example\r\n", page.at),
        String::new(),
    ] {
        let answer = page.ask("GET", "/api/runs", &format!("{host}{bearer}"), b"");
        assert!([400, 403].contains(&answer.status), "{host}: {answer:?}");
    }
    // Names that are its own.
    for host in [format!("localhost:{port}"), format!("[::1]:{port}"), format!("LOCALHOST:{port}")]
    {
        let answer = page.ask("GET", "/api/jobs", &format!("Host: {host}\r\n{bearer}"), b"");
        assert_eq!(answer.status, 200, "{host}");
    }
    let own = page.own();
    for header in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        &format!("Origin: https://{}", page.at),
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        let body = json!({ "do": "run", "toml": SMALL, "name": "x" }).to_string();
        let headers = format!("{own}Content-Type: application/json\r\n{header}\r\n");
        let answer = page.ask("POST", "/api/jobs", &headers, body.as_bytes());
        assert_eq!(answer.status, 403, "{header}: {}", answer.text());
    }
    // A form of another site, which needs no permission to be sent, is no JSON.
    let form = format!("{own}Content-Type: text/plain\r\n");
    assert_eq!(page.ask("POST", "/api/check", &form, br#"{"toml":""}"#).status, 415);
    assert!(!page.runs().exists());
    is_alive(&page);
}

#[test]
fn every_answer_has_the_policy() {
    let page = Page::start();
    for path in ["/", "/app.js", "/style.css", "/none", "/api/runs", "/api/none"] {
        let answer = page.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
        assert!(!policy.contains("unsafe") && !policy.contains("data:"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(!answer.text().contains(&page.token), "{path} has the token");
    }
}

#[test]
fn nothing_outside_the_runs_is_reached() {
    let page = Page::start();
    let runs = page.runs();
    fs::create_dir_all(runs.join("a/1")).unwrap();
    fs::write(page.home.path().join("plan.json"), "{}").unwrap();
    fs::write(page.home.path().join("secret"), "secret").unwrap();
    symlink(page.home.path(), runs.join("out")).unwrap();
    for run in
        ["..", "../", "a/../..", "out", "/etc", "a/1/../../..", "%2e%2e", "a%00", "", "a\\..\\.."]
    {
        for path in [
            format!("/api/run?run={run}"),
            format!("/api/live?run={run}&case=x&trial=1"),
            format!("/api/live/packets?run={run}&case=x&trial=1"),
        ] {
            let answer = page.get(&path);
            assert!([400, 403, 404].contains(&answer.status), "{path}: {answer:?}");
            assert!(!answer.text().contains("secret\n"));
        }
        assert!(page.delete(&format!("/api/run?run={run}")).status >= 400);
    }
    for path in ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/reports/x/../../secret"] {
        assert!(page.get(path).status >= 400, "{path}");
    }
    for name in ["../x", "a/b", "", ".hidden", "x\0", "é", &"x".repeat(81)] {
        let answer = page.post("/api/jobs", &json!({ "do": "run", "toml": SMALL, "name": name }));
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.text());
    }
    // What looks like a flag is none.
    let flag = json!({ "do": "run", "toml": SMALL, "name": "x", "case": "--runs=/tmp/elsewhere" });
    let state = page.wait(page.begin(&flag));
    assert_eq!(state["is_finished"], false, "{state}");
    assert!(page.home.path().join("secret").exists());
}

#[test]
fn too_much_is_refused_in_little_memory() {
    let page = Page::start();
    let before = page.memory();
    let long = json!({ "toml": "# ".repeat(4 << 20) });
    assert_eq!(page.post("/api/check", &long).status, 413);
    // One that never ends.
    let mut endless = page.connect();
    let head = format!(
        "POST /api/check HTTP/1.1\r\n{}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        page.own()
    );
    endless.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".to_vec(), vec![b'['; 0x10000], b"\r\n".to_vec()].concat();
    let sent = (0..2_000).take_while(|_| endless.write_all(&chunk).is_ok()).count();
    assert!(sent < 2_000, "all of it was taken");
    // A head that never ends, and one that is none.
    let mut stream = page.connect();
    let line = format!("X: {}\r\n", "x".repeat(8_000));
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let sent = (0..1_000).take_while(|_| stream.write_all(line.as_bytes()).is_ok()).count();
    assert!(sent < 1_000);
    let mut stream = page.connect();
    stream.write_all(&[0xff; 100]).unwrap();
    assert_eq!(answer(stream).status, 400);
    assert!(page.memory() < before + (64 << 20), "{} bytes", page.memory());
    is_alive(&page);
}

#[test]
fn thousand_connections_leave_room() {
    let page = Page::start();
    // Idle ones, as many as the server has places and more: until the kernel's queue is full, too,
    // and drops each SYN, also those sent again after 1 and 3 s.
    let at = page.at.parse().unwrap();
    let connect = |_| TcpStream::connect_timeout(&at, Duration::from_secs(4)).ok();
    let idle: Vec<TcpStream> = (0..1_000).map_while(connect).collect();
    assert!(idle.len() > 300, "{}", idle.len());
    drop(idle);
    is_alive(&page);
}

#[test]
fn malformed_scenarios_are_explained() {
    let page = Page::start();
    let nested = format!("x = {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    for toml in
        ["", "title = ", "= = =", "[path]\nrate = \"fast\"", "\u{0}\u{7f}\u{1b}[31m", &nested]
    {
        let checked = page.post("/api/check", &json!({ "toml": toml }));
        assert_eq!(checked.status, 200, "{toml:.20}");
        let mistakes = checked.json()["mistakes"].as_array().unwrap().clone();
        assert!(!mistakes.is_empty(), "{toml:.20}");
        for mistake in mistakes {
            let (from, until) = (mistake["from"].as_u64(), mistake["until"].as_u64());
            let length = toml.encode_utf16().count() as u64;
            assert!(from <= until && until <= Some(length), "{mistake}");
        }
    }
    for body in ["", "{", "[]", "null", r#"{"toml":1}"#, r#"{"toml":"","more":1}"#] {
        let headers = format!("{}Content-Type: application/json\r\n", page.own());
        let answer = page.ask("POST", "/api/check", &headers, body.as_bytes());
        assert!((400..500).contains(&answer.status), "{body}: {}", answer.status);
    }
    // A scenario reads no file of somebody else's.
    let toml = SMALL.replace(r#"rate = "10 Mbit/s""#, r#"rate = { trace = "/etc/passwd" }"#);
    let checked = page.post("/api/check", &json!({ "toml": toml })).json();
    assert!(checked["mistakes"][0]["what"].as_str().unwrap().contains("lies outside"), "{checked}");
}
