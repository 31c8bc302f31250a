//! What is refused, and in which words; and that what is not refused keeps its meaning.

use tcplab_path::{Direction, LinkPlan};

use crate::support::{path, refused};

#[test]
fn losses_that_cannot_be() {
    insta::assert_snapshot!(refused(&[
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
    insta::assert_snapshot!(refused(&[
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
    insta::assert_snapshot!(refused(&[
        r#"{ "interruption": { "every": "0 s", "lasting": "0 s" } }"#,
        r#"{ "reverse": { "interruption": { "every": "5 s", "lasting": "5 s" } } }"#,
        r#"{ "forward": { "interruption":
            { "every": "5 s", "lasting": "1 s", "direction": "reverse" } } }"#,
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
    insta::assert_snapshot!(refused(&[
        r#"{ "mtu": 1400 }"#,
        r#"{ "mtu": "67 B" }"#,
        r#"{ "forward": { "mtu": { "size": "60 B", "answer": false } } }"#,
        r#"{ "mtu": "65536 B" }"#,
        r#"{ "mtu": { "answer": false } }"#,
    ]));
}

/// Scenarios are kept beside their results, and plans are handed to other processes.
#[test]
fn what_is_written_is_read_again() {
    for json in [
        r#"{"loss":{"gilbert_elliott":{"p":"1 %","r":"25 %","good":"0 %","bad":"50 %"}}}"#,
        r#"{"loss":{"every":100,"first":5}}"#,
        r#"{"loss":{"burst":{"probability":"1 %","length":5}}}"#,
        r#"{"interruption":[{"at":["1 s","3.5 s"],"lasting":"200 ms","direction":"both"}]}"#,
        r#"{"interruption":[{"up":"5 s","lasting":"200 ms","offset":"1 s","direction":"forward"}]}"#,
        r#"{"blackhole":"3 s"}"#,
        r#"{"blackhole":{"from":"3 s","until":"4 s","direction":"both"}}"#,
        r#"{"drop":[{"kind":"pure-ack","probability":"30 %"},{"bytes":"1..2","nth":[1,"5..8"]}]}"#,
        r#"{"mtu":"1.4 kB"}"#,
        r#"{"mtu":{"size":"1.4 kB","answer":false}}"#,
    ] {
        let path = path(json);
        assert_eq!(serde_json::to_string(&path).unwrap(), json);
        let plan = path.link(Direction::Forward).unwrap();
        assert_eq!(plan.elements.len(), 1);
        let written = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<LinkPlan>(&written).unwrap(), plan, "{written}");
    }
}
