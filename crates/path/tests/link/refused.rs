//! What is refused, and in which words.

use std::fmt::Write;

use tcplab_path::{Direction, PathSpec};

/// What is said of each of these paths, whether they cannot be read or cannot be.
fn said(paths: &[&str]) -> String {
    let mut table = String::new();
    for json in paths {
        let said = match serde_json::from_str::<PathSpec>(json) {
            Err(error) => error.to_string(),
            Ok(path) => match path.link(Direction::Forward) {
                Err(error) => format!("{}: {error}", error.key),
                Ok(plan) => panic!("{json} is accepted: {plan:?}"),
            },
        };
        writeln!(table, "{json}\n    {said}").unwrap();
    }
    table
}

#[test]
fn losses_that_cannot_be() {
    insta::assert_snapshot!(said(&[
        r#"{ "loss": "0.3" }"#,
        r#"{ "loss": ["1 %"] }"#,
        r#"{ "loss": {} }"#,
        r#"{ "loss": { "evry": 5 } }"#,
        r#"{ "loss": { "every": 5, "burst": { "probability": "1 %", "length": 3 } } }"#,
        r#"{ "loss": { "every": 0 } }"#,
        r#"{ "loss": { "every": -1 } }"#,
        r#"{ "loss": { "every": 5, "first": 0 } }"#,
        r#"{ "loss": { "first": 5 } }"#,
        r#"{ "loss": { "burst": { "probability": "1 %" } } }"#,
        r#"{ "loss": { "gilbert_elliott": { "p": "1 %" } } }"#,
        r#"{ "loss": { "gilbert_elliott": { "p": "1 %", "r": "0 %" } } }"#,
        r#"{ "forward": { "loss": { "gilbert_elliott":
            { "p": "1 %", "r": "9 %", "good": "3 %", "bad": "2 %" } } } }"#,
    ]));
}

#[test]
fn rules_that_cannot_be() {
    insta::assert_snapshot!(said(&[
        r#"{ "drop": "syn" }"#,
        r#"{ "drop": {} }"#,
        r#"{ "drop": { "kind": "ack" } }"#,
        r#"{ "drop": { "kind": "syn", "nth": 1 } }"#,
        r#"{ "drop": { "kind": "syn", "nth": [] } }"#,
        r#"{ "drop": { "nth": [0] } }"#,
        r#"{ "drop": { "nth": [-1] } }"#,
        r#"{ "drop": { "nth": ["0..3"] } }"#,
        r#"{ "drop": { "nth": ["8..5"] } }"#,
        r#"{ "drop": { "nth": ["5-8"] } }"#,
        r#"{ "drop": { "nth": ["5.."] } }"#,
        r#"{ "drop": { "bytes": "10 kB" } }"#,
        r#"{ "drop": { "bytes": "5..5" } }"#,
        r#"{ "drop": [{ "kind": "syn" }, { "bytes": "9..5" }] }"#,
        r#"{ "drop": { "kind": "syn", "probability": "200 %" } }"#,
    ]));
}

#[test]
fn interruptions_that_cannot_be() {
    insta::assert_snapshot!(said(&[
        r#"{ "interruption": "5 s" }"#,
        r#"{ "interruption": { "lasting": "1 s" } }"#,
        r#"{ "interruption": { "every": "5 s", "up": "5 s", "lasting": "1 s" } }"#,
        r#"{ "interruption": { "at": [], "lasting": "1 s" } }"#,
        r#"{ "interruption": { "at": ["1 s", "1.5 s"], "lasting": "1 s" } }"#,
        r#"{ "interruption": { "at": ["3 s", "1 s"], "lasting": "1 s" } }"#,
        r#"{ "interruption": { "at": ["3 s", "3 s"], "lasting": "0 s" } }"#,
        r#"{ "interruption": { "at": ["1 s"], "lasting": "1 s", "offset": "1 s" } }"#,
        r#"{ "interruption": { "up": "0 s", "lasting": "1 s" } }"#,
        r#"{ "interruption": [{ "up": "1 s", "lasting": "1 s" },
            { "every": "1 s", "lasting": "2 s" }] }"#,
        r#"{ "blackhole": { "from": "3 s", "until": "3 s" } }"#,
        r#"{ "blackhole": { "until": "3 s" } }"#,
        r#"{ "forward": { "blackhole": { "from": "3 s", "direction": "reverse" } } }"#,
    ]));
}

#[test]
fn sizes_that_cannot_be() {
    insta::assert_snapshot!(said(&[
        r#"{ "mtu": 1400 }"#,
        r#"{ "mtu": "67 B" }"#,
        r#"{ "forward": { "mtu": { "size": "60 B", "answer": false } } }"#,
        r#"{ "mtu": "65536 B" }"#,
        r#"{ "mtu": { "answer": false } }"#,
    ]));
}
