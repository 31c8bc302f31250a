//! Packets that the path damages: lost to the receiver, whatever bits they have.

use serde_json::Value;

use crate::home::Home;

/// The run of a transfer over a path that damages packets like this.
fn run(home: &Home, corrupt: &str) -> Value {
    let scenario = format!(
        "title = \"Damaged\"\npath = {{ rate = \"20 Mbit/s\", delay = \"10 ms\", corrupt = {corrupt} }}\n\
         client = {{ stack = \"model:linux-6.18\" }}\nserver = {{ stack = \"model:linux-6.18\" }}\n\
         workload = {{ upload = \"1 MB\" }}\nrepeat = {{ trials = 1 }}\n"
    );
    home.write("damaged.toml", scenario);
    home.run("run damaged.toml --runs r").answer(corrupt);
    let run = home.only("r/damaged");
    serde_json::from_str(&std::fs::read_to_string(run.join("run.json")).unwrap()).unwrap()
}

fn metric(trial: &Value, name: &str) -> f64 {
    let all = trial["metrics"].as_array().unwrap();
    let found = all.iter().find(|metric| metric["name"] == name);
    found
        .and_then(|metric| metric["value"].as_f64())
        .unwrap_or_else(|| panic!("no {name}: {trial}"))
}

/// What the analyser finds is what the path's log says, and both captures agree.
#[test]
fn damaged_packets_are_lost_in_every_account() {
    let home = Home::new();
    let run = run(&home, r#"{ probability = "1 %", part = "payload" }"#);
    let trial = &run["cases"][0]["trials"][0];
    assert_eq!(trial["warnings"], Value::Array(Vec::new()), "{trial}");
    for episode in trial["episodes"].as_array().unwrap() {
        let differ = ["segments_not_lost", "segments_not_found"].map(|key| &episode[key]);
        assert_eq!(differ, [0, 0], "{trial}");
    }
    let lost = metric(trial, "lost");
    assert!(lost > 1.0, "{trial}");
    let captures = home.only("r/damaged").join("trials/base-1");
    let line = format!("trace {} --json", captures.display());
    let joined: Value = serde_json::from_str(&home.run(&line).answer(&line)).unwrap();
    let way = &joined["connections"][0]["forward"];
    for key in ["lost", "damaged", "retransmissions"] {
        assert_eq!(way[key].as_f64(), Some(lost), "{key}: {way}");
    }
    assert_eq!(way["retransmissions_spurious"], 0, "{way}");
    let audit = &joined["audit"];
    // Nor does a damaged packet count in the capture of one end, also of a damaged header.
    assert_eq!(audit["retransmissions_false"], 0, "{audit}");
    let found = ["losses_found", "losses_false"].map(|key| audit[key].as_f64());
    assert_eq!(found, [Some(lost), Some(0.0)], "{audit}");
}

/// Damaged headers acknowledge nothing and open nothing, in the run's metrics and in `trace`.
#[test]
fn damaged_headers_count_nowhere() {
    let home = Home::new();
    let run = run(&home, r#""2 %""#);
    let trial = &run["cases"][0]["trials"][0];
    assert_eq!(trial["warnings"], Value::Array(Vec::new()), "{trial}");
    assert!(metric(trial, "rtt.min") >= 20.0, "{trial}");
    let capture = home.only("r/damaged").join("trials/base-1/client.pcapng");
    let line = format!("trace {} --json", capture.display());
    let trace: Value = serde_json::from_str(&home.run(&line).answer(&line)).unwrap();
    assert_eq!(trace["connections"].as_array().unwrap().len(), 1, "{trace}");
    assert_eq!(trace["capture"]["others"][0]["protocol"], "damaged", "{}", trace["capture"]);
}

/// Two bits that cancel in the checksum pass it: the data differ, which is a result.
#[test]
fn undetected_damage_is_a_result() {
    let home = Home::new();
    let run = run(&home, r#"{ probability = "10 %", bits = 2, part = "payload" }"#);
    let trial = &run["cases"][0]["trials"][0];
    assert!(trial["failed"].is_null() && metric(trial, "payload_intact") == 0.0, "{trial}");
}
