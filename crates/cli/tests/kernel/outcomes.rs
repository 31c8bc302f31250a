//! Exit codes and output of experiments.

use std::fs;

use tcplab_recording::Recording;
use tcplab_results::Run;

use crate::experiment::{TINY, only_entry, tiny};
use crate::program::{namespaces_allowed, tcplab};

/// Runs a scenario that starts as `TINY` does; gives its home, code, output and errors.
fn run(rest: &str, options: &[&str]) -> (tempfile::TempDir, crate::program::Ended) {
    let home = tempfile::tempdir().unwrap();
    let ended = tiny(home.path(), rest, options);
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
    let (home, ended) = run(claims, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for part in ["✗ light is overtaken", "✓ all arrives", "report: "] {
        assert!(ended.stdout.contains(part), "`{part}` is missing: {}", ended.stdout);
    }
    let directory = only_entry(&home.path().join("runs/tiny"));
    assert!(
        fs::read_to_string(directory.join("report.html")).unwrap().contains("light is overtaken")
    );
    // To look again is not to run again, and gives the same verdict.
    let again = tcplab(home.path(), &["report"]);
    assert_eq!((again.code, again.stdout), (Some(1), ended.stdout.clone()), "{}", again.stderr);
    let directory = directory.strip_prefix(home.path()).unwrap();
    let resumed = tcplab(home.path(), &["run", "--resume", directory.to_str().unwrap()]);
    assert_eq!((resumed.code, resumed.stdout), (Some(1), ended.stdout), "{}", resumed.stderr);
}

#[test]
fn json_is_the_only_output() {
    if !namespaces_allowed() {
        return;
    }
    let (home, ended) = run("", &["--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let printed: Run = serde_json::from_str(&ended.stdout).unwrap();
    let directory = only_entry(&home.path().join("runs/tiny"));
    let written: Run =
        serde_json::from_slice(&fs::read(directory.join("run.json")).unwrap()).unwrap();
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
    let (home, ended) = run(sides, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let trial = only_entry(&only_entry(&home.path().join("runs/tiny")).join("trials"));
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

/// What only the kernel can refuse is told with the cause and a remedy; nothing half-done stays.
#[test]
fn kernel_refusal_is_explained() {
    if !namespaces_allowed() {
        return;
    }
    for (sides, parts) in [
        (
            "[client]\nsocket = { congestion = \"veno-plus\" }",
            &["the client's socket does not take congestion = veno-plus", "tcplab doctor"][..],
        ),
        (
            "[server]\nsysctl = { \"net.ipv4.tcp_no_such_thing\" = 1 }",
            &["net.ipv4.tcp_no_such_thing", "at the server", "this kernel has no such setting"],
        ),
        (
            "[server]\nsysctl = { \"net.ipv4.tcp_sack\" = \"perhaps\" }",
            &["cannot set net.ipv4.tcp_sack = \"perhaps\" at the server", "Invalid argument"],
        ),
    ] {
        let slow = TINY.replace("delay = \"1 ms\"", "delay = \"200 ms\"");
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("tiny.toml"), format!("{slow}{sides}\n")).unwrap();
        let ended = tcplab(home.path(), &["run", "tiny.toml", "--no-calibration"]);
        assert_eq!(ended.code, Some(2), "{sides}: {}", ended.stderr);
        for part in parts.iter().chain(&["trial 1 of case", "try: "]) {
            assert!(ended.stderr.contains(part), "{sides}: `{part}` is missing: {}", ended.stderr);
        }
        assert!(!home.path().join("runs").exists(), "{sides}: a run without any trial");
    }
}

/// A trial that takes too long has failed, as often as it was run; the run goes on, and tells.
#[test]
fn trial_over_time_limit_is_missing() {
    if !namespaces_allowed() {
        return;
    }
    let slow = TINY.replace("delay = \"1 ms\"", "delay = \"200 ms\"");
    let slow = slow.replace("trials = 1", "trials = 1\nretries = 1\nwarm_up = 1");
    let both = "[matrix]\n\"path.delay\" = [\"200 ms\", \"1 ms\"]\n[limits]\ntrial = \"300 ms\"\n";
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("tiny.toml"), format!("{slow}{both}")).unwrap();
    let ended = tcplab(home.path(), &["run", "tiny.toml", "--no-calibration"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let told = "failed: the trial was not done after 300 ms";
    assert_eq!(ended.stderr.matches(told).count(), 2, "once more: {}", ended.stderr);
    for part in
        ["1 trial of 2 failed", "! 200ms, trial 1 failed after 2 attempts", "[limits] trial"]
    {
        assert!(ended.stdout.contains(part), "`{part}` is missing: {}", ended.stdout);
    }
    let directory = only_entry(&home.path().join("runs/tiny"));
    let run: Run = serde_json::from_slice(&fs::read(directory.join("run.json")).unwrap()).unwrap();
    let counts: Vec<_> =
        run.cases.iter().map(|case| (case.trials.len(), case.failures.len())).collect();
    assert_eq!((counts, run.warm_up), (vec![(0, 1), (1, 0)], 1));
    let warm: Vec<_> = fs::read_dir(directory.join("warm-up")).unwrap().collect();
    assert_eq!(warm.len(), 2, "one of each case, kept for whoever wants to look");
}

#[test]
fn doctor_has_a_line_for_each_ability() {
    if !namespaces_allowed() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let ended = tcplab(home.path(), &["doctor"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let names = [
        "kernel",
        "network namespaces",
        "TUN devices",
        "veth and packet sockets",
        "congestion controls",
        "netem",
        "timers",
        "processors",
        "worlds",
    ];
    let lines: Vec<&str> =
        ended.stdout.lines().filter(|line| line.starts_with(['✓', '!', '✗'])).collect();
    assert_eq!(lines.len(), names.len(), "{}", ended.stdout);
    for (line, name) in lines.iter().zip(names) {
        assert!(line[line.find(' ').unwrap()..].trim_start().starts_with(name), "{line}");
    }
    let json = tcplab(home.path(), &["doctor", "--json"]);
    assert_eq!(json.code, Some(0));
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let abilities = document["abilities"].as_array().unwrap();
    let told: Vec<&str> = abilities.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(told, names);
}
