//! Exit codes and output of experiments.

use std::path::Path;

use tcplab_recording::Recording;
use tcplab_results::Run;

use crate::experiment::{TINY, tiny};
use crate::home::{Ended, Home, names, skipped};
use crate::program::namespaces_allowed;

/// Runs [`TINY`] and `rest` in a new home.
fn run(rest: &str, options: &str) -> (Home, Ended) {
    let home = Home::new();
    let ended = tiny(&home, rest, options);
    (home, ended)
}

#[test]
fn failed_claim_exits_with_1() {
    if !namespaces_allowed() {
        return;
    }
    let claims = r#"
[[expect]]
claim   = "light is overtaken"
metric  = "transfer_time"
at_most = "1 µs"

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#;
    let (home, ended) = run(claims, "");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for part in ["✗ light is overtaken", "✓ all arrives", "report: "] {
        assert!(ended.stdout.contains(part), "`{part}` is missing: {}", ended.stdout);
    }
    let directory = home.only("runs/tiny");
    assert!(home.text(directory.join("report.html")).contains("light is overtaken"));
    // Report and resume run nothing and give the same verdict; paths are shown as they were named.
    let directory = directory.strip_prefix(home.path("")).unwrap();
    for line in ["report".to_owned(), format!("run --resume {}", directory.display())] {
        let again = home.run(&line);
        assert_eq!((again.code, &again.stdout), (Some(1), &ended.stdout), "{}", again.stderr);
    }
}

#[test]
fn json_is_the_only_output() {
    if !namespaces_allowed() {
        return;
    }
    let (home, ended) = run("", "--json");
    let printed: Run = serde_json::from_str(&ended.answer("--json")).unwrap();
    let written = home.bytes(home.only("runs/tiny").join("run.json"));
    let written: Run = serde_json::from_slice(&written).unwrap();
    assert_eq!(printed, written);
    assert_eq!(printed.cases.len(), 1);
}

#[test]
fn sysctls_are_set_and_recorded() {
    if !namespaces_allowed() {
        return;
    }
    let sides = r#"
[client]
sysctl = { "net.ipv4.tcp_early_retrans" = 0 }
socket = { congestion = "reno" }

[server]
sysctl = { "net.ipv4.tcp_rmem" = "4096 65536 500000" }
socket = { congestion = "cubic", maxseg = 1000 }
"#;
    let (home, ended) = run(sides, "");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let trial = home.only(home.only("runs/tiny").join("trials"));
    let record = Recording::open(&trial).unwrap().record().unwrap();
    let (probes, buffer) = ("net.ipv4.tcp_early_retrans", "net.ipv4.tcp_rmem");
    assert_eq!(record.client.sysctls[probes], "0");
    assert_ne!(record.server.sysctls[probes], "0");
    assert_eq!(record.server.sysctls[buffer], "4096 65536 500000");
    assert_ne!(record.client.sysctls[buffer], "4096 65536 500000");
    for (endpoint, control) in [(&record.client, "reno"), (&record.server, "cubic")] {
        let option = endpoint.options.iter().find(|option| option.name == "congestion").unwrap();
        assert_eq!(option.requested.as_deref(), Some(control));
        assert_eq!(option.effective, control);
    }
}

#[test]
fn attributes_of_routes_are_set_and_recorded() {
    if !namespaces_allowed() {
        return;
    }
    let sides = r#"
[client.route]
initcwnd = 3
rto_min = "50 ms"
congctl = "reno"
mtu = "1400 B"
[server.route]
quickack = true
initrwnd = 20
advmss = "1000 B"
window = "50 kB"
ecn = true
"#;
    let (home, ended) = run(sides, "");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let trial = home.only(home.only("runs/tiny").join("trials"));
    let record = Recording::open(&trial).unwrap().record().unwrap();
    for (endpoint, count) in [(&record.client, 4), (&record.server, 5)] {
        assert_eq!(endpoint.route.len(), count);
        for attribute in &endpoint.route {
            assert_eq!(attribute.requested.as_ref(), Some(&attribute.effective), "{attribute:?}");
        }
    }
    let of_client = |name: &str| {
        let option = record.client.options.iter().find(|option| option.name == name).unwrap();
        option.effective.clone()
    };
    assert_eq!(of_client("congestion"), "reno");
    // The server advertises 1000 bytes, of which timestamps take 12.
    assert_eq!(of_client("maxseg"), "988");
}

/// On one path, as each namespace has one address.
#[test]
fn multipath_tcp_runs_on_this_machines_kernel() {
    if !namespaces_allowed() {
        return;
    }
    let (home, ended) = run("[matrix]\n\"workload.through\" = [\"tcp\", \"mptcp\"]\n", "");
    if !Path::new("/proc/sys/net/mptcp/enabled").exists() {
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("its kernel has no Multipath TCP"), "{}", ended.stderr);
        return skipped("this kernel has no Multipath TCP");
    }
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let trials = home.only("runs/tiny").join("trials");
    let capture = home.bytes(trials.join("mptcp-1").join("client.pcapng"));
    // MP_CAPABLE of a SYN (RFC 8684 section 3.1): kind 30, 4 bytes, subtype 0, version 1.
    assert!(capture.windows(3).any(|bytes| bytes == [30, 4, 1]));
}

/// With cause and remedy; nothing incomplete stays.
#[test]
fn kernel_refusal_is_explained() {
    if !namespaces_allowed() {
        return;
    }
    for (sides, parts) in [
        (
            "[server]\nsysctl = { \"net.ipv4.tcp_no_such_thing\" = 1 }",
            &["net.ipv4.tcp_no_such_thing", "at the server", "kernel has no such setting"][..],
        ),
        (
            "[server]\nsysctl = { \"net.ipv4.tcp_sack\" = \"perhaps\" }",
            &["cannot set net.ipv4.tcp_sack = \"perhaps\" at the server", "Invalid argument"],
        ),
    ] {
        let slow = TINY.replace("delay = \"1 ms\"", "delay = \"200 ms\"");
        let home = Home::with("tiny.toml", format!("{slow}{sides}\n"));
        let ended = home.run("run tiny.toml --no-calibration");
        assert_eq!(ended.code, Some(2), "{sides}: {}", ended.stderr);
        for part in parts.iter().chain(&["trial 1 of case", "try: "]) {
            assert!(ended.stderr.contains(part), "{sides}: `{part}` is missing: {}", ended.stderr);
        }
        assert!(!home.exists("runs"), "{sides}: a run without any trial");
    }
}

/// It fails on each attempt; the run continues and reports it.
#[test]
fn trial_over_time_limit_is_missing() {
    if !namespaces_allowed() {
        return;
    }
    let slow = TINY.replace("delay = \"1 ms\"", "delay = \"200 ms\"");
    let slow = slow.replace("trials = 1", "trials = 1, retries = 1, warm_up = 1");
    let both = "[matrix]\n\"path.delay\" = [\"200 ms\", \"1 ms\"]\n[limits]\ntrial = \"300 ms\"\n";
    let home = Home::with("tiny.toml", format!("{slow}{both}"));
    let ended = home.run("run tiny.toml --no-calibration");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let failure = "failed: the trial was not done after 300 ms";
    assert_eq!(ended.stderr.matches(failure).count(), 2, "once more: {}", ended.stderr);
    for part in
        ["1 trial of 2 failed", "! 200ms, trial 1 failed after 2 attempts", "[limits] trial"]
    {
        assert!(ended.stdout.contains(part), "`{part}` is missing: {}", ended.stdout);
    }
    let directory = home.only("runs/tiny");
    let run: Run = serde_json::from_slice(&home.bytes(directory.join("run.json"))).unwrap();
    let counts: Vec<_> =
        run.cases.iter().map(|case| (case.trials.len(), case.failures.len())).collect();
    assert_eq!((counts, run.warm_up), (vec![(0, 1), (1, 0)], 1));
    assert_eq!(names(&directory.join("warm-up")).len(), 2, "one of each case stays");
}

#[test]
fn doctor_has_a_line_for_each_ability() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let text = home.answer("doctor");
    let expected = [
        "kernel",
        "network namespaces",
        "TUN devices",
        "veth and packet sockets",
        "congestion controls",
        "netem",
        "timers",
        "processors",
        "worlds",
        "kernel images",
        "figures as PNG, PDF",
    ];
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(['✓', '!', '✗'])).collect();
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, name) in lines.iter().zip(expected) {
        assert!(line[line.find(' ').unwrap()..].trim_start().starts_with(name), "{line}");
    }
    let document = home.json("doctor --json");
    let abilities = document["abilities"].as_array().unwrap();
    let listed: Vec<&str> = abilities.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(listed, expected);
}
