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
    Some(images.run_scenario(&Home::new(), &format!("{HEAD}{rest}"), ""))
}

/// The first trial of each case, by the case's name.
fn trials(run: &Value) -> Vec<(String, Value)> {
    let cases = run["cases"].as_array().unwrap();
    let first = |case: &Value| {
        let name = case["name"].as_str().unwrap().to_owned();
        assert_eq!(case["failures"], serde_json::json!([]), "{name}");
        (name, case["trials"][0].clone())
    };
    cases.iter().map(first).collect()
}

#[test]
fn transfers_go_both_ways_with_all_controls() {
    let Some(run) = run(r#"
[matrix.workload]
up   = { "workload.upload" = "400 kB" }
down = { "workload.download" = "400 kB" }
[matrix]
"client.socket.congestion" = ["reno", "cubic", "westwood", "bbr", "vegas", "dctcp", "htcp"]
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
    for claim in run["claims"].as_array().unwrap() {
        assert_eq!(claim["verdict"], "holds", "{claim}");
    }
}
