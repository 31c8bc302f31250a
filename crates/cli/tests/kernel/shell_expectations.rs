//! `tcplab shell --expect`: the exit code tells whether a program's traffic was as expected.

use serde_json::Value;
use tcplab_quantities::TRAFFIC_DOCUMENT;

use crate::home::{Home, ended};
use crate::program::{installed, namespaces_allowed};
use crate::schema::check;

/// 300 kB over a path that loses nothing, whoever sends them.
#[test]
fn expectations_decide_the_exit_code() {
    if !namespaces_allowed() || !installed(&["nc"]) {
        return;
    }
    let home = Home::new();
    home.write("sent", vec![7; 300_000]);
    let far = "nc -l 5000 > got";
    for (expected, code, signs) in [
        (&["bytes == 300 kB", "retransmissions <= 5 %", "rtt.min >= 20 ms"][..], 0, "✓✓✓"),
        (&["connections == 1", "goodput >= 1 Gbit/s", "goodput <= 5.1 Mbit/s"], 1, "✓✗✓"),
    ] {
        let line = "shell -s 'rate=5 Mbit/s' -s 'delay=10 ms' --json=end.json --wait-for 5000";
        let mut shell = home.command(line);
        shell.args(["--far-command", far]);
        for one in expected {
            shell.args(["--expect", one]);
        }
        let run = ended(shell.args(["--", "sh", "-c", "nc -N $TCPLAB_FAR 5000 < sent"]));
        assert_eq!(run.code, Some(code), "{expected:?}: {}", run.stderr);
        let last: String = run.stderr.lines().filter_map(|line| line.chars().last()).collect();
        assert!(last.ends_with(signs), "{signs}: {}", run.stderr);
        let document: Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
        check(&TRAFFIC_DOCUMENT, &document, "shell --expect");
        assert_eq!(document["expectations"].as_array().unwrap().len(), signs.chars().count());
    }
    let document: Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
    let goodput = &document["expectations"][1];
    assert_eq!(
        (&goodput["verdict"], &goodput["expected_bits_per_second"]),
        (&"failed".into(), &1_000_000_000_u64.into())
    );
}

/// What cannot be measured fails; a program's own failure keeps its code; and nothing stays.
#[test]
fn unknown_fails_unless_the_program_did() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    home.make_directory("temporary");
    let run = |flags: &str, program: &str| {
        let mut shell = home.command(&format!("shell {flags} --json=end.json -- sh -c"));
        shell.env("TMPDIR", home.path("temporary"));
        let run = ended(shell.arg(program));
        let left = std::fs::read_dir(home.path("temporary")).unwrap().count();
        assert_eq!(left, 0, "{}", run.stderr);
        run
    };
    let unknown = run("--expect 'goodput >= 1 kbit/s' --expect 'connections == 0'", "true");
    assert_eq!(unknown.code, Some(1), "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("(there was no TCP connection)  unknown"),
        "{}",
        unknown.stderr
    );
    let document: Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
    check(&TRAFFIC_DOCUMENT, &document, "shell --expect");
    assert_eq!(document["expectations"][0]["verdict"], "unknown");
    assert_eq!(document["exit_code"], 0);
    assert_eq!(run("-q --expect 'goodput >= 1 kbit/s'", "exit 7").code, Some(7));
    let kept = run("-q --expect 'connections == 0'", "true");
    assert_eq!((kept.code, &*kept.stderr), (Some(0), ""));
}
