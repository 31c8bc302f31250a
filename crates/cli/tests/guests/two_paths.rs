//! Multipath TCP over one path and over two.

use serde_json::{Value, json};
use tcplab_path::{Direction, Fate};
use tcplab_recording::{Recording, TruthRow};
use tcplab_units::Instant;

use crate::home::Home;
use crate::image::Images;
use crate::same_bytes::recordings;

/// 10 Mbit/s each: a transfer of 10 MB takes 8.4 s over one.
const SCENARIO: &str = r#"
title    = "Two paths"
repeat   = { trials = 1 }
client   = { stack = "linux-6.12" }
server   = { stack = "linux-6.12" }
[path]
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "50 packets"
[second_path]
rate  = "10 Mbit/s"
delay = "25 ms"
queue = "50 packets"
"#;

const UPLOAD: &str = "[workload]\nthrough = \"mptcp\"\nupload = \"10 MB\"\n";

fn metric(run: &Value, name: &str) -> f64 {
    let metrics = run["cases"][0]["trials"][0]["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|it| it["name"] == name);
    found.and_then(|it| it["value"].as_f64()).unwrap_or_else(|| panic!("{name}: {metrics:?}"))
}

/// What the client sent, by the path's log.
fn sent(home: &Home) -> Vec<TruthRow> {
    let trial = home.only(home.only(home.only("runs")).join("trials"));
    let mut rows = Recording::open(&trial).unwrap().truth().unwrap();
    rows.retain(|row| row.verdict.direction == Direction::Forward);
    rows
}

#[test]
fn transfer_uses_both_paths_at_once() {
    let Some(images) = Images::find() else { return };
    for workload in [UPLOAD.to_owned(), UPLOAD.replace("upload", "download")] {
        let home = Home::new();
        let run = images.run_scenario(&home, &format!("{SCENARIO}{workload}"), "");
        let goodput = metric(&run, "goodput");
        assert!((17.0..20.0).contains(&goodput), "{goodput} Mbit/s");
        assert_eq!(run["cases"][0]["trials"][0]["warnings"], json!([]));
        let captured = home.json(&format!("trace {} --json", capture(&home)));
        let connections = captured["connections"].as_array().unwrap().clone();
        let client = |it: &Value| it["client_address"].as_str().unwrap().to_owned();
        let mut clients: Vec<String> = connections.iter().map(client).collect();
        clients.sort();
        assert_eq!(clients, ["10.98.0.1", "10.98.1.1"]);
    }
}

fn capture(home: &Home) -> String {
    let trial = home.only(home.only(home.only("runs")).join("trials"));
    trial.join("client.pcapng").to_str().unwrap().to_owned()
}

/// The log says which path each packet took, and its delays are those of that path.
#[test]
fn log_names_the_path_of_each_packet() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    images.run_scenario(&home, &format!("{SCENARIO}{UPLOAD}").replace("10 MB", "1 MB"), "");
    let sent = sent(&home);
    for (is_second, delay) in [(false, 10), (true, 25)] {
        let own = sent.iter().filter(|row| row.verdict.second_path == is_second);
        let delivered = own.filter(|row| row.verdict.fate == Fate::Delivered);
        let least = delivered.map(|row| row.verdict.time_on_link().as_nanos() / 1_000_000).min();
        assert_eq!(least, Some(delay), "second: {is_second}");
    }
}

/// What was sent and lost is that of both subflows, however the workload is written.
#[test]
fn metrics_count_the_losses_of_both_paths() {
    let Some(images) = Images::find() else { return };
    let names = ["lost", "retransmissions", "throughput", "goodput", "rtt.p95", "max_in_flight"];
    let text = SCENARIO.replace("queue =", "loss = \"0.5 %\"\nqueue =");
    let upload = UPLOAD.replace("10 MB", "2 MB");
    let several = format!("{upload}connections = {{ total = 1, at_once = 1 }}\n");
    let [one, other] = [&upload, &several].map(|workload| {
        let home = Home::new();
        let run = images.run_scenario(&home, &format!("{text}{workload}"), "");
        let dropped = sent(&home).iter().filter(|row| row.verdict.fate != Fate::Delivered).count();
        let values = names.map(|name| metric(&run, name));
        assert_eq!(values[0] as usize, dropped);
        // Until the last ACK, which comes after the last byte.
        assert!(values[2] > values[3] * 0.95, "{values:?}");
        values.map(|value| value.to_string())
    });
    assert_eq!(one, other);
}

#[test]
fn transfer_goes_on_when_a_path_is_interrupted() {
    let Some(images) = Images::find() else { return };
    for path in ["[path]", "[second_path]"] {
        let home = Home::new();
        let down = "interruption = { at = [\"1 s\"], lasting = \"60 s\" }\n";
        let scenario = SCENARIO.replace(path, &format!("{path}\n{down}"));
        let run = images.run_scenario(&home, &format!("{scenario}{UPLOAD}"), "");
        // Until 1 s by both, then by the other alone.
        let took = metric(&run, "transfer_time");
        assert!((7.0..11.0).contains(&took), "{path}: {took} s");
        let other_goes_on = sent(&home).iter().any(|row| {
            let is_other = row.verdict.second_path == (path == "[path]");
            is_other && row.verdict.entered > Instant::from_nanos(6_000_000_000)
        });
        assert!(other_goes_on, "{path}");
    }
}

/// Two links a direction, losses on both, several flows, one of them plain TCP.
#[test]
fn same_seed_gives_the_same_bytes_over_two_paths() {
    let Some(images) = Images::find() else { return };
    let text = SCENARIO.replace("queue =", "loss = \"0.3 %\"\nqueue =");
    let text = format!(
        "{text}[workload]\nupload = \"1 MB\"\n\
         [flow.both]\nworkload = {{ through = \"mptcp\", upload = \"2 MB\" }}\n\
         [flow.back]\nworkload = {{ through = \"mptcp\", download = \"1 MB\" }}\n\
         [flow.plain]\nstart = \"50 ms\"\n"
    );
    let [first, second] = ["here", "there/and/farther"].map(|runs| {
        let home = Home::new();
        images.run_scenario(&home, &text, &format!("--runs {runs}"));
        recordings(&home, runs)
    });
    assert!(first.len() >= 7, "{}", first.len());
    assert!(first == second);
}

#[test]
fn multipath_tcp_takes_one_path_as_tcp_does() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let one = SCENARIO.split("[second_path]").next().unwrap();
    let requests = "[workload]\nthrough = \"mptcp\"\n\
                    requests = { count = 5, request = \"300 B\", response = \"20 kB\" }\n";
    let run = images.run_scenario(&home, &format!("{one}{requests}"), "");
    assert!(run["cases"][0]["failures"].is_null(), "{run}");
    assert!(sent(&home).iter().all(|row| !row.verdict.second_path));
}

#[test]
fn what_cannot_be_multipath_is_refused_before_the_first_trial() {
    let home = Home::new();
    let one = SCENARIO.split("[second_path]").next().unwrap();
    let model = one.replace("linux-6.12", "model:linux-6.18");
    let half = one.replacen("linux-6.12", "model:linux-6.18", 1);
    let real = SCENARIO.replace("linux-6.12", "linux");
    let plain = UPLOAD.replace("through = \"mptcp\"\n", "");
    for (text, world, part) in [
        (format!("{model}{UPLOAD}"), "", "the client: a model has no Multipath TCP"),
        (format!("{real}{UPLOAD}"), "--world kernel", "a second path, which there is in virtual"),
        (format!("{real}{plain}"), "", "only Multipath TCP takes a second path"),
        (format!("{one}{UPLOAD}urgent_at = \"1 kB\"\n"), "", "does not apply to Multipath TCP"),
    ] {
        home.write("it.toml", text);
        home.refuses(&[(&format!("run it.toml --dry-run {world}"), part)]);
    }
    let Some(images) = Images::find() else { return };
    home.write("it.toml", format!("{half}{UPLOAD}"));
    let refused = images.run(&home, "run it.toml --dry-run").refusal("run");
    assert!(refused.contains("the client: a model has no Multipath TCP"), "{refused}");
}
