//! The tools of the Haiku report, tcptrace and xplot, on the files of a run.

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
    let run = std::fs::read_dir(home.path("runs/two")).unwrap().next().unwrap().unwrap();
    let capture = run.path().join("trials/base-1/client.pcapng");
    (home, capture.display().to_string())
}

#[test]
fn tcptrace_reads_a_run_and_counts_the_same() {
    let (home, capture) = recorded();
    let Ok(output) = Command::new("tcptrace").args(["-n", "-l", "-r", &capture]).output() else {
        println!("skipped: tcptrace is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The first column is from client to server.
    let counted = |name: &str| -> u64 {
        let (_, rest) = text.split_once(name).unwrap_or_else(|| panic!("no {name}: {text}"));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let ours: Value = serde_json::from_str(&home.run(&format!("trace {capture} --json")).stdout)
        .expect("a document");
    let sent = &ours["connections"][0]["forward"];
    for (theirs, key) in [
        ("total packets:          ", "packets"),
        ("actual data bytes:", "data_bytes"),
        ("rexmt data pkts:", "retransmissions"),
        ("rexmt data bytes:", "retransmitted_bytes"),
    ] {
        assert_eq!(Value::from(counted(theirs)), sent[key], "{key}: {sent}");
    }
    assert!(counted("rexmt data pkts:") >= 2);
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
        std::fs::read_dir(home.path("graphs")).unwrap().map(|it| it.unwrap().path()).collect();
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
