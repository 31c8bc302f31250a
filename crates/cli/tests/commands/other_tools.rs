//! The tools of the Haiku report, tcptrace and xplot, on the files of a run; and the metrics that
//! it takes from RFC 6349, worked out from the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::home::Home;

const SCENARIO: &str = "\
title = \"Two losses\"
[path]
rate = \"10 Mbit/s\"
delay = \"10 ms\"
drop = { kind = \"data\", nth = [40, 90] }
[client]
stack = \"model:haiku-2017-after\"
[server]
stack = \"model:linux-6.18\"
[workload]
upload = \"500 kB\"
[repeat]
trials = 1
";

/// A run, and the capture beside its sender.
fn recorded() -> (Home, String) {
    let home = Home::with("two.toml", SCENARIO);
    let ended = home.run("run two.toml --world sim --kernel model --runs runs");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let capture = trial(&home, "two", "base-1").join("client.pcapng");
    (home, capture.display().to_string())
}

/// The directory of a trial of the only run.
fn trial(home: &Home, scenario: &str, trial: &str) -> PathBuf {
    let run = fs::read_dir(home.path(format!("runs/{scenario}"))).unwrap().next().unwrap();
    run.unwrap().path().join("trials").join(trial)
}

/// What tcptrace prints; none where it is not installed.
fn tcptrace(capture: &str) -> Option<String> {
    let output = Command::new("tcptrace").args(["-n", "-l", "-r", capture]).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A number that tcptrace prints, from client to server: the first column.
fn counted(text: &str, name: &str) -> u64 {
    let (_, rest) = text.split_once(name).unwrap_or_else(|| panic!("no {name}: {text}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

/// The sums of the data from client to server.
fn sums(home: &Home, capture: &str) -> Value {
    let printed = home.run(&format!("trace {capture} --json")).stdout;
    let mut document: Value = serde_json::from_str(&printed).expect("a document");
    document["connections"][0]["forward"].take()
}

#[test]
fn tcptrace_reads_a_run_and_counts_the_same() {
    let (home, capture) = recorded();
    let Some(text) = tcptrace(&capture) else {
        println!("skipped: tcptrace is not installed");
        return;
    };
    let sent = sums(&home, &capture);
    for (theirs, key) in [
        ("actual data pkts:", "data_segments"),
        ("actual data bytes:", "data_bytes"),
        ("rexmt data pkts:", "retransmissions"),
        ("rexmt data bytes:", "retransmitted_bytes"),
    ] {
        assert_eq!(Value::from(counted(&text, theirs)), sent[key], "{key}: {sent}");
    }
    assert!(counted(&text, "rexmt data pkts:") >= 2);
}

/// xplot reads its files in order and ends at the first that it cannot read: so it has read all
/// graphs when it complains about what is no graph.
#[test]
fn xplot_reads_the_graphs() {
    let (home, capture) = recorded();
    let ended = home.run(&format!("trace {capture} --xpl graphs"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    home.write("none.xpl", "no graph\n");
    let mut graphs: Vec<_> =
        fs::read_dir(home.path("graphs")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(graphs.len() >= 5, "{graphs:?}");
    graphs.push(home.path("none.xpl"));
    let mut command = Command::new("xvfb-run");
    let installed = |program| Command::new("which").arg(program).output().unwrap().status.success();
    if !installed("xvfb-run") || !installed("xplot.org") {
        println!("skipped: xplot.org or xvfb-run is not installed");
        return;
    }
    let output = command.args(["-a", "xplot.org"]).args(&graphs).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("no graph"), "{said}");
    assert_eq!(said.matches("line number").count(), 1, "{said}");
}

/// The page `docs/rfc6349-worked.md`, made from the trial that it explains.
#[test]
fn metrics_of_rfc_6349_are_worked_out_from_a_trial() {
    const CASE: &str = "loss=10%_before";
    let home = Home::new();
    let command = format!("run haiku-tcp/loss --case {CASE} --trial 1 --world sim --kernel model");
    let ended = home.run(&format!("{command} --runs runs"));
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let trial = trial(&home, "haiku-tcp-loss", &format!("{CASE}-1"));
    let capture = trial.join("client.pcapng").display().to_string();
    let sent = sums(&home, &capture);
    let number = |key: &str| sent[key].as_f64().unwrap();
    let (all, again) = (number("data_bytes"), number("retransmitted_bytes"));
    if let Some(text) = tcptrace(&capture) {
        assert_eq!(Value::from(counted(&text, "actual data bytes:")), sent["data_bytes"]);
        assert_eq!(Value::from(counted(&text, "rexmt data bytes:")), sent["retransmitted_bytes"]);
    }
    let mean = number("rtt_mean_ns") / 1e6;
    let stored: Value =
        serde_json::from_slice(&fs::read(trial.join("trial.json")).unwrap()).unwrap();
    let base = metric(&stored, "base_rtt");
    let (efficiency, delay) = (metric(&stored, "efficiency"), metric(&stored, "buffer_delay"));
    assert!((efficiency - (all - again) / all * 100.0).abs() < 1e-6, "{efficiency}");
    assert!((delay - (mean - base) / base * 100.0).abs() < 0.01, "{delay}");
    let longer = f64::from((1_500 - 64) * 8) / 20e6 * 1e3;
    let full = base + longer;
    let of_full = (mean - full) / full * 100.0;
    let page = format!(
        "\
# The metrics of RFC 6349, worked out

The Haiku report compares transfers by two percentages of RFC 6349 (sections 4.2 and 4.3). One trial by hand, with the numbers of its capture:

```console
$ tcplab {command}
$ tcplab trace runs/haiku-tcp-loss/*/trials/{CASE}-1/client.pcapng --json
$ tcptrace -n -l -r runs/haiku-tcp-loss/*/trials/{CASE}-1/client.pcapng
```

| | | `trace --json` | tcptrace |
|---|---:|---|---|
| transmitted, with what was sent again | {all} B | `data_bytes` | actual data bytes |
| retransmitted | {again} B | `retransmitted_bytes` | rexmt data bytes |
| mean RTT (the metric leaves out SYN and FIN: less than 0.01 % of the base RTT here) | {mean:.3} ms | `rtt_mean_ns` | (RTT avg, from fewer samples) |
| base RTT: that of a small packet on the idle path, as the report took it by ping | {base:.3} ms | the run's `base_rtt` | (RTT min) |

- **TCP efficiency** = (transmitted − retransmitted) ÷ transmitted = ({all} − {again}) ÷ {all} = **{efficiency:.3} %**. With a loss of 10 % a tenth of what is sent is lost and sent again, so 90 % is about the most.
- **Buffer delay** = (mean RTT − base RTT) ÷ base RTT = ({mean:.3} − {base:.3}) ÷ {base:.3} = **{delay:.2} %**. A sender that waits for timers most of the time fills no queue.

RFC 6349 (section 3.2.1) means the round trip of a full segment. On this path, 20 Mbit/s, one of 1500 B takes {longer:.3} ms longer than the packet of 64 B: with {full:.3} ms the buffer delay would be {of_full:.2} %. `tcplab rfc6349` measures
with full segments ([how](advice.md#the-test-of-rfc-6349)).

The run's report shows the same in its table of metrics (`--verbose` on the terminal); `tcplab metrics` defines them. This page is made by a test
(`TCPLAB_BLESS=1 cargo test -p tcplab --test commands rfc_6349`).
"
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rfc6349-worked.md");
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), page, "bless it: see the page's last line");
    let document = fs::read_to_string(file.with_file_name("documents/004.toml")).unwrap();
    for line in [
        format!("an efficiency of {efficiency:.3} % and a buffer delay of {delay:.2} %."),
        format!("here = \"{efficiency:.3} %\""),
        format!("here = \"{delay:.2} %\""),
    ] {
        assert!(document.contains(&line), "docs/documents/004.toml lacks: {line}");
    }
}

/// A metric in the stored analysis of a trial, wherever it stands.
fn metric(stored: &Value, name: &str) -> f64 {
    fn find(value: &Value, name: &str) -> Option<f64> {
        match value {
            Value::Object(map) if map.get("name").and_then(Value::as_str) == Some(name) => {
                map.get("value")?.as_f64()
            }
            Value::Object(map) => map.values().find_map(|it| find(it, name)),
            Value::Array(list) => list.iter().find_map(|it| find(it, name)),
            _ => None,
        }
    }
    find(stored, name).unwrap_or_else(|| panic!("no {name}"))
}
