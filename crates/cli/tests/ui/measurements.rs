//! Advice, tests of a path and load, as jobs.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::page::{Page, until};

/// Advice for a path that is short of everything, in virtual time.
fn advice() -> Value {
    let set = json!({ "rate": "10 Mbit/s", "delay": "20 ms", "queue": "200 packets" });
    json!({
        "do": "advise", "from": { "of": "path", "set": set }, "goal": "both", "trials": 2,
        "payload": "500 kB", "world": "sim",
    })
}

/// The events of a job that has ended.
fn events(page: &Page, id: u64) -> Vec<Value> {
    let text = page.get(&format!("/api/jobs/{id}/events")).text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|it| it["event"] == name).collect()
}

/// What is refused, with the words of the answer.
fn refused(page: &Page, wish: &Value) -> String {
    let answer = page.post("/api/jobs", wish);
    assert!((400..500).contains(&answer.status), "{wish}: {}", answer.text());
    answer.text()
}

#[test]
fn advice_has_its_measured_gain() {
    let page = Page::start();
    let id = page.begin(&advice());
    let state = page.wait(id);
    assert_eq!(
        (&state["is_finished"], &state["kind"]),
        (&json!(true), &json!("advise")),
        "{state}"
    );
    let command = state["command"].as_str().unwrap();
    assert!(command.starts_with("tcplab advise '--set=delay=20 ms'"), "{command}");
    let events = events(&page, id);
    let recommended = named(&events, "recommended")[0];
    assert!(!recommended["advice"].as_array().unwrap().is_empty(), "{recommended}");
    assert!(recommended["bdp_bytes"].as_u64().unwrap() > 40_000);
    let parts = named(&events, "part");
    let tried = named(&events, "tried");
    assert!(!tried.is_empty() && parts.len() == tried.len());
    assert_eq!(parts[0]["total"], json!(parts.len()));
    for tried in &tried {
        assert_eq!(tried["gains"][0]["pairs"], 2, "{tried}");
        assert!(tried["gains"][0]["interval"][0].is_number());
        // Its run is among the others.
        let run = tried["run"].as_str().unwrap();
        assert_eq!(page.get(&format!("/api/run?run={run}")).status, 200);
    }
    let finished = named(&events, "finished")[0];
    assert_eq!(finished["result"]["tried"].as_array().unwrap().len(), tried.len());
    assert_eq!(finished["result"]["schema"], "tcplab.advice");
}

#[test]
fn advice_is_for_figures_captures_and_runs() {
    let page = Page::start();
    let figures = json!({ "of": "figures", "rtt": "40 ms", "rate": "50 Mbit/s", "loss": "0.1 %" });
    let of = |from: Value| json!({ "do": "advise", "from": from, "trials": 0, "world": "sim" });
    let state = page.wait(page.begin(&of(figures)));
    assert_eq!(state["is_finished"], true, "{state}");
    assert!(state["command"].as_str().unwrap().contains("--no-trials"), "{state}");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut all: Vec<_> = fs::read_dir(corpus).unwrap().map(|it| it.unwrap().path()).collect();
    all.retain(|it| it.extension().is_some_and(|ending| ending == "zst"));
    all.sort();
    let headers = format!("{}Content-Type: application/octet-stream\r\n", page.own());
    let bytes = fs::read(&all[0]).unwrap();
    let brought = page.ask("POST", "/api/captures?name=-s.pcap.zst", &headers, &bytes).json();
    let state = page.wait(page.begin(&of(json!({ "of": "capture", "id": brought["id"] }))));
    assert_eq!(state["is_finished"], true, "{state}");
    let run = json!({ "do": "run", "toml": crate::page::SMALL, "name": "small", "world": "sim" });
    let run = page.run(&run);
    let id = page.begin(&of(json!({ "of": "run", "run": run })));
    assert_eq!(page.wait(id)["is_finished"], true);
    let events = events(&page, id);
    assert!(!named(&events, "recommended")[0]["choices"].as_array().unwrap().is_empty());
}

#[test]
fn path_is_tested_step_by_step() {
    let page = Page::start();
    let wish = json!({
        "do": "rfc6349", "of": { "what": "path", "preset": "dsl-25" }, "seconds": 2,
        "connections": 2, "world": "sim", "download": true,
    });
    let id = page.begin(&wish);
    let state = page.wait(id);
    assert_eq!(state["is_finished"], true, "{state}");
    let events = events(&page, id);
    let baseline = named(&events, "baseline")[0];
    assert_eq!(baseline["baseline"]["mtu_bytes"], 1500, "{baseline}");
    let measured: usize =
        named(&events, "measured").iter().map(|it| it["rows"].as_array().unwrap().len()).sum();
    let finished = named(&events, "finished")[0];
    assert_eq!(finished["result"]["rows"].as_array().unwrap().len(), measured);
    assert!(measured >= 5 && !finished["result"]["summary"].as_array().unwrap().is_empty());
    assert_eq!(named(&events, "part").len(), 3);
    assert_eq!(named(&events, "begun").len(), 3);
}

#[test]
fn bad_wishes_are_refused_with_words() {
    let page = Page::start();
    let path = json!({ "of": "path", "preset": "lte" });
    let markup = "<img src=x onerror=alert(1)>";
    let capture = "0".repeat(32);
    for from in [
        json!({ "of": "path", "preset": "nothing-like-it" }),
        json!({ "of": "path", "preset": "/etc/passwd" }),
        json!({ "of": "path", "preset": "--runs=/tmp" }),
        json!({ "of": "path" }),
        json!({ "of": "path", "preset": "lte", "set": { "rate": markup } }),
        json!({ "of": "path", "preset": "lte", "set": { "rate": "{ trace = \"/etc/passwd\" }" } }),
        json!({ "of": "path", "preset": "lte", "set": { "--runs": "/tmp" } }),
        json!({ "of": "path", "preset": "lte", "set": { "rate": "9".repeat(400) } }),
        json!({ "of": "figures", "rtt": "--control" }),
        json!({ "of": "figures", "rtt": "99999999999999999999 s" }),
        json!({ "of": "figures", "rtt": "40 ms", "queue": "40 ms" }),
        json!({ "of": "capture", "id": "../../etc" }),
        json!({ "of": "capture", "id": capture }),
        json!({ "of": "run", "run": "../.." }),
        json!({ "of": "run", "run": "--help" }),
        json!({ "of": "file", "path": "/etc/passwd" }),
    ] {
        refused(&page, &json!({ "do": "advise", "from": from }));
    }
    for (key, value) in [
        ("trials", json!(1)),
        ("trials", json!(1_000)),
        ("trials", json!(-1)),
        ("trials", json!(1e30)),
        ("goal", json!("--goal")),
        ("stack", json!("other")),
        ("payload", json!("much")),
        ("congestion", json!("a b")),
        ("congestion", json!("x".repeat(99))),
        ("world", json!("elsewhere")),
        ("more", json!(1)),
    ] {
        let mut wish = json!({ "do": "advise", "from": path });
        wish[key] = value;
        refused(&page, &wish);
    }
    let path = json!({ "what": "path", "preset": "lte" });
    for (key, value) in [
        ("seconds", json!(0)),
        ("seconds", json!(1e9)),
        ("connections", json!(65)),
        ("trials", json!(0)),
        ("of", json!({ "what": "target", "address": "example.org:1" })),
        ("of", json!({ "what": "target", "address": "user:secret@127.0.0.1:1" })),
        ("of", json!({ "what": "target", "address": "--path=lte" })),
    ] {
        let mut wish = json!({ "do": "rfc6349", "of": path });
        wish[key] = value;
        refused(&page, &wish);
    }
    let target = json!({ "what": "target", "address": "127.0.0.1:1" });
    refused(&page, &json!({ "do": "rfc6349", "of": target, "download": true }));
    assert_eq!(page.get("/api/jobs").json()["jobs"], json!([]));
    // What cannot work is explained by the command.
    let state = page.wait(page.begin(&json!({ "do": "rfc6349", "of": target, "seconds": 0.5 })));
    assert_eq!(state["is_finished"], false);
    assert!(state["said"].as_str().unwrap().contains("cannot connect to 127.0.0.1:1"), "{state}");
}

#[test]
fn stopped_advice_ends_and_so_does_that_of_a_killed_server() {
    let page = Page::start();
    let mut wish = advice();
    wish["trials"] = json!(900);
    wish["payload"] = json!("20 MB");
    let id = page.begin(&wish);
    page.wait_or_stored(id);
    assert_eq!(page.post(&format!("/api/jobs/{id}/stop"), &json!({})).status, 200);
    let state = page.wait(id);
    assert_eq!(state["is_finished"], false, "{state}");
    // Its runs are steps of it, which to resume gives no advice.
    assert_eq!(state["said"], "stopped\n", "{state}");
    let id = page.begin(&wish);
    let run = page.wait_or_stored(id)["run"].as_str().unwrap().to_owned();
    let place = page.runs().join(run);
    let home = page.end(Signal::KILL);
    let page = Page::start_in(home, "127.0.0.1:0");
    // Its directory is free: nothing runs in it any more.
    until(|| {
        let name = place.strip_prefix(page.runs()).unwrap().display().to_string();
        (page.delete(&format!("/api/run?run={name}")).status == 200).then_some(())
    });
}

/// Processes of a test server that this directory's server started.
fn test_servers(page: &Page) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let served = page.runs().join(".drafts");
    let lines = all.filter_map(|it| fs::read_to_string(it.path().join("cmdline")).ok());
    lines
        .filter(|it| it.contains("server\0--control") && it.contains(&*served.to_string_lossy()))
        .count()
}

fn load(designs: &[&str], seconds: u32) -> Value {
    let on = json!({ "what": "servers", "designs": designs, "bytes": 2_000, "http": true });
    json!({ "do": "load", "on": on, "connections": 4, "seconds": seconds, "rate": 200 })
}

#[test]
fn designs_are_loaded_one_after_the_other() {
    let page = Page::start();
    let id = page.begin(&load(&["epoll", "fork"], 1));
    let state = page.wait(id);
    assert_eq!((&state["is_finished"], &state["exit_code"]), (&json!(true), &json!(0)), "{state}");
    let events = events(&page, id);
    let loaded = named(&events, "loaded");
    assert_eq!(loaded.iter().map(|it| &it["name"]).collect::<Vec<_>>(), ["epoll", "fork"]);
    for it in loaded {
        let requests = it["outcome"]["requests"].as_u64().unwrap();
        assert!((150..=250).contains(&requests), "{it}");
        assert!(it["latency_buckets"].as_array().unwrap().len() > 1);
        assert_eq!(it["outcome"]["body"]["length"], 2_000);
    }
    assert!(!named(&events, "progress").is_empty());
    assert_eq!(test_servers(&page), 0);
}

#[test]
fn servers_end_with_their_load_and_with_the_page() {
    let page = Page::start();
    let id = page.begin(&load(&["prefork"], 60));
    until(|| (test_servers(&page) > 0).then_some(()));
    assert_eq!(page.post(&format!("/api/jobs/{id}/stop"), &json!({})).status, 200);
    page.wait(id);
    assert_eq!(test_servers(&page), 0);
    page.begin(&load(&["thread"], 60));
    until(|| (test_servers(&page) > 0).then_some(()));
    let home = page.end(Signal::KILL);
    let page = Page::start_in(home, "127.0.0.1:0");
    until(|| (test_servers(&page) == 0).then_some(()));
}

#[test]
fn bad_loads_are_refused() {
    let page = Page::start();
    let url = |url: &str| json!({ "what": "url", "url": url });
    for on in [
        url("http://user:secret@127.0.0.1/"),
        url("http://127.0.0.1/<script>alert(1)</script>"),
        url("https://127.0.0.1/"),
        url("file:///etc/passwd"),
        url("--serve=/etc/passwd"),
        url(&format!("http://127.0.0.1/{}", "x".repeat(400))),
        json!({ "what": "servers", "designs": [], "bytes": 1 }),
        json!({ "what": "servers", "designs": ["--file=/etc/passwd"], "bytes": 1 }),
        json!({ "what": "servers", "designs": vec!["epoll"; 8], "bytes": 1 }),
        json!({ "what": "servers", "designs": ["epoll"], "bytes": 4_000_000_000_u32 }),
        json!({ "what": "servers", "designs": ["epoll"], "bytes": 0 }),
    ] {
        refused(&page, &json!({ "do": "load", "on": on, "connections": 1, "seconds": 1 }));
    }
    for (key, value) in [
        ("connections", json!(0)),
        ("connections", json!(1_000_000)),
        ("seconds", json!(3_600)),
        ("rate", json!(1e300)),
        ("rate", json!(-1)),
        ("threads", json!(1_000)),
    ] {
        let mut wish = load(&["epoll"], 1);
        wish[key] = value;
        refused(&page, &wish);
    }
    assert_eq!(page.get("/api/jobs").json()["jobs"], json!([]));
    // A server that is not there is explained.
    let wish =
        json!({ "do": "load", "on": url("http://127.0.0.1:1/"), "connections": 1, "seconds": 1 });
    let state = page.wait(page.begin(&wish));
    assert!(state["said"].as_str().unwrap().contains("cannot connect to 127.0.0.1:1"), "{state}");
}
