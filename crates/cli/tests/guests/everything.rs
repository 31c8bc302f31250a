//! What the kernel's world can do, a kernel in virtual time can.

use serde_json::Value;

use crate::home::Home;
use crate::image::Images;

const HEAD: &str = r#"
title  = "All"
path   = { rate = "20 Mbit/s", delay = "5 ms", queue = "64 kB" }
client = { stack = "linux-6.12" }
server = { stack = "linux-6.12" }
repeat = { trials = 1 }
"#;

fn run(rest: &str) -> Option<Value> {
    let images = Images::find()?;
    let head: String = if rest.contains("[path]") {
        HEAD.lines().filter(|line| !line.starts_with("path")).collect::<Vec<_>>().join("\n")
    } else {
        HEAD.into()
    };
    Some(images.run_scenario(&Home::new(), &format!("{head}\n{rest}"), ""))
}

fn claims_hold(run: &Value) {
    for claim in run["claims"].as_array().unwrap() {
        assert_eq!((&claim["held"], &claim["is_judged"]), (&true.into(), &true.into()), "{claim}");
    }
}

/// The first trial of each case, by the case's name.
fn trials(run: &Value) -> Vec<(String, Value)> {
    let cases = run["cases"].as_array().unwrap();
    let first = |case: &Value| {
        let name = case["name"].as_str().unwrap().to_owned();
        assert!(case["failures"].is_null(), "{name}: {case}");
        (name, case["trials"][0].clone())
    };
    cases.iter().map(first).collect()
}

#[test]
fn transfers_go_both_ways_with_all_controls() {
    let Some(run) = run(r#"
[workload]
[matrix.way]
up   = { "workload.upload" = "400 kB" }
down = { "workload.download" = "400 kB" }
[matrix]
"client.socket.congestion" = ["reno", "cubic", "westwood", "bbr", "vegas", "illinois", "htcp"]
[[expect]]
claim  = "Every byte arrives intact"
metric = "payload_intact"
equals = true
[[expect]]
claim   = "Nothing is faster than the path: 400 kB at 20 Mbit/s"
metric  = "transfer_time"
at_least = "160 ms"
[[expect]]
claim   = "and not much slower"
metric  = "transfer_time"
at_most = "400 ms"
"#)
    else {
        return;
    };
    assert_eq!(trials(&run).len(), 14);
    claims_hold(&run);
}

#[test]
fn workloads_of_all_kinds_run() {
    let Some(run) = run(r#"
[workload]
[matrix.kind]
requests  = { "workload.requests" = { count = 5, request = "300 B", response = "20 kB" } }
datagrams = { "workload.datagrams" = { count = 10, request = "64 B", timeout = "200 ms" } }
load      = { "workload.load" = { design = "epoll", requests = 40, concurrency = 4 } }
forked    = { "workload.load" = { design = "fork", requests = 20, concurrency = 2 } }
"#)
    else {
        return;
    };
    for (name, trial) in trials(&run) {
        if !trial["load"].is_null() {
            assert_eq!(trial["load"]["is_intact"], true, "{name}: {trial}");
        }
    }
}

/// The last answer meets a closed socket, and what refuses it is sure to arrive twice: the server
/// may be told ahead, and yet run no farther than to the order that may follow when nothing moves.
#[test]
fn a_server_of_datagrams_does_not_run_past_its_end() {
    let Some(run) = run(r#"
[path]
rate    = "10 Mbit/s"
delay   = "10 ms"
forward = { duplicate = "100 %" }
[workload]
datagrams = { count = 20, request = "64 B", timeout = "200 ms", retries = 3 }
"#)
    else {
        return;
    };
    trials(&run);
}

#[test]
fn options_and_sysctls_are_in_force() {
    let Some(run) = run(r#"
[workload]
upload = "40 kB"
[matrix]
"client.socket.congestion" = ["westwood"]
"client.socket.nodelay" = [true]
"client.sysctl" = [{ "net.ipv4.tcp_sack" = "0" }]
"#)
    else {
        return;
    };
    let (_, trial) = trials(&run).remove(0);
    let options = trial["options"].as_array().unwrap();
    let of = |name: &str| {
        let is_it = |it: &&Value| it["name"] == name && it["socket"] == "client";
        options.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {options:?}"))
    };
    assert_eq!(of("congestion")["effective"], "westwood");
    assert_eq!(of("nodelay")["effective"], "on");
}

#[test]
fn both_ends_may_be_on_one_host() {
    let Some(run) = run(r#"
[path]
same_host = true
[workload]
upload = "1 MB"
[[expect]]
claim  = "Every byte arrives intact"
metric = "payload_intact"
equals = true
"#)
    else {
        return;
    };
    claims_hold(&run);
}

#[test]
fn flows_share_the_path_with_others_in_the_background() {
    let Some(run) = run(r#"
[workload]
upload = "1 kB"
[flow.main]
workload = { upload = "300 kB" }
[flow.late]
start    = "100 ms"
workload = { download = "100 kB" }
[flow.noise]
background = true
workload   = { upload = "100 MB" }
[[expect]]
claim  = "Every byte arrives intact"
metric = "payload_intact"
equals = true
"#)
    else {
        return;
    };
    claims_hold(&run);
    let (_, trial) = trials(&run).remove(0);
    let late = trial["flows"].as_array().unwrap().iter().find(|it| it["name"] == "late").unwrap();
    let start = late["connections"][0]["start_seconds"].as_f64().unwrap();
    assert!((0.1..0.100_01).contains(&start), "as in virtual time: {start} s");
}
