//! Paths as they are written: what they do, in words, or why they are refused.

use std::fmt::Write;

use tcplab_path::{Direction, LinkPlan, PathError, PathSpec};

/// The key at fault and why, of each path; they cannot be read, or cannot be.
fn refused(paths: &[impl AsRef<str>]) -> String {
    let error = |json: &str| {
        let path: PathSpec = match serde_json::from_str(json) {
            Ok(path) => path,
            Err(error) => return error.to_string(),
        };
        let links = Direction::BOTH.map(|direction| path.link(direction));
        let PathError { key, what } = links.into_iter().find_map(Result::err).expect(json);
        format!("{key}: {what}")
    };
    paths.iter().fold(String::new(), |mut text, json| {
        let json = json.as_ref();
        writeln!(text, "{json}\n    {}", error(json)).unwrap();
        text
    })
}

/// What each path does, once where that is the same in both directions. Paths are kept beside their
/// results, and plans are handed to other processes: both are read again as they were.
fn described(paths: &[impl AsRef<str>]) -> String {
    let mut text = String::new();
    for json in paths.iter().map(AsRef::as_ref) {
        let path: PathSpec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
        let written = serde_json::to_string(&path).unwrap();
        assert_eq!(serde_json::from_str::<PathSpec>(&written).unwrap(), path, "{written}");
        let [forward, reverse] = Direction::BOTH.map(|direction| {
            let plan = path.link(direction).unwrap_or_else(|e| panic!("{json}: {e}"));
            let written = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<LinkPlan>(&written).unwrap(), plan, "{written}");
            plan.describe().join(" ")
        });
        writeln!(text, "{json}\n    {forward}").unwrap();
        if forward != reverse {
            writeln!(text, "    reverse: {reverse}").unwrap();
        }
    }
    text
}

/// Paths with this under a key.
fn with<const N: usize>(key: &str, values: [&str; N]) -> [String; N] {
    values.map(|value| format!(r#"{{ "rate": "8 Mbit/s", "delay": "50 ms", "{key}": {value} }}"#))
}

#[test]
fn each_direction_in_words() {
    insta::assert_snapshot!(described(&[
        "{}",
        r#"{ "rate": "1 Mbit/s" }"#,
        r#"{ "forward": { "rate": "1 Mbit/s" } }"#,
        // A key of the path may be meant for one direction only.
        r#"{ "queue": "1 MB", "forward": { "rate": "1 Mbit/s" } }"#,
        r#"{ "cross": "1 Mbit/s", "forward": { "rate": "2 Mbit/s" } }"#,
        r#"{ "burst": "10 kB", "forward": { "rate": "2 Mbit/s" } }"#,
        r#"{ "burst": "10 kB", "forward": { "rate": "2 Mbit/s" },
             "reverse": { "wifi": { "standard": "g", "rate": "54 Mbit/s" } } }"#,
        r#"{ "delay": "5 ms", "reverse": { "delay": "0 ms" } }"#,
        r#"{ "loss": "1 %", "forward": { "loss": "0 %" } }"#,
        // Twice the 20 ms of both delays together, at the rate of each.
        r#"{ "rate": "8 Mbit/s", "delay": "5 ms", "queue": "2 bdp",
                 "reverse": { "rate": "4 Mbit/s", "delay": "15 ms" } }"#,
        // Without an offset, the first comes as long after the start as one after another.
        r#"{ "interruption": { "every": "5 s", "lasting": "1 s", "direction": "reverse" } }"#,
        r#"{ "forward": { "interruption": { "every": "5 s", "lasting": "1 s" } } }"#,
        r#"{ "interruption": { "every": "5 s", "lasting": "0 s" } }"#,
    ]));
}

#[test]
fn servers_in_words() {
    insta::assert_snapshot!(described(&[
        r#"{ "rate": { "start": "10 Mbit/s", "steps": [{ "at": "5 s", "to": "2 Mbit/s", "over": "1 s" }], "repeat": "10 s" } }"#,
        r#"{ "rate": "10 Mbit/s", "burst": "15 kB" }"#,
        r#"{ "rate": { "opportunities": [0, 3, 7] } }"#,
        r#"{ "wifi": { "standard": "b", "rate": "11 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "error": "10 %" } }"#,
        r#"{ "wifi": { "standard": "n", "rate": "65 Mbit/s", "stations": 1 } }"#,
        r#"{ "wifi": { "standard": "ac", "rate": "433.3 Mbit/s", "stations": 3, "aggregate": 32 } }"#,
        r#"{ "police": { "rate": "10 Mbit/s", "burst": "15 kB" } }"#,
        r#"{ "rate": "10 Mbit/s", "cross": [{ "rate": "2 Mbit/s" }, { "rate": "1 Mbit/s", "size": "200 B", "arrivals": "even", "on": "1 s", "off": "2 s", "from": "5 s", "until": "9 s" }] }"#,
    ]));
}

#[test]
fn delays_and_changes_in_words() {
    insta::assert_snapshot!(described(&[
        r#"{ "delay": { "start": "20 ms", "steps": [{ "at": "5 s", "to": "80 ms", "over": "1 s" }] } }"#,
        r#"{ "delay": { "start": "20 ms", "steps": [{ "at": "5 s", "to": "1 ms" }], "repeat": "9 s" },
             "jitter": { "uniform": "0 ms", "reorder": true } }"#,
        r#"{ "delay": "5 ms", "jitter": "2 ms" }"#,
        r#"{ "delay": "5 ms", "jitter": "0 ms" }"#,
        r#"{ "delay": "5 ms", "jitter": { "normal": "0 ms", "reorder": true } }"#,
        r#"{ "jitter": { "uniform": "2 ms" } }"#,
        r#"{ "delay": "100 ms", "jitter": { "normal": "20 ms", "correlation": "25 %" } }"#,
        r#"{ "delay": "100 ms", "jitter": { "pareto": "20 ms", "reorder": true } }"#,
        r#"{ "delay": "100 ms", "jitter": { "pareto_normal": "20 ms", "correlation": "0 %" } }"#,
        r#"{ "jitter": { "table": "x.dist", "scale": "10 ms", "values": [3, -1, 2] } }"#,
        r#"{ "reorder": { "probability": "1 %", "gap": 3 } }"#,
        r#"{ "reorder": { "every": 100, "gap": 1, "extra": "5 ms" } }"#,
        r#"{ "reorder": { "every": 2, "extra": "5 ms" } }"#,
        r#"{ "reorder": { "probability": "0 %", "extra": "5 ms" } }"#,
        r#"{ "duplicate": "1 %" }"#,
        r#"{ "duplicate": { "probability": "0.5 %", "copies": 100 } }"#,
        r#"{ "duplicate": "0 %" }"#,
        r#"{ "corrupt": "1 %" }"#,
        r#"{ "corrupt": { "probability": "1 %", "part": "payload", "bits": 64 } }"#,
        r#"{ "corrupt": { "probability": "1 %", "part": "headers" } }"#,
        r#"{ "corrupt": "0 %" }"#,
    ]));
}

#[test]
fn events_in_words() {
    insta::assert_snapshot!(described(&[
        r#"{ "rate": "8 Mbit/s", "delay": "5 ms", "events": [
               { "at": "2 s", "rate": "1 Mbit/s", "delay": "50 ms" }, { "at": "3 s", "rate": "9 Mbit/s" }] }"#,
        // Of elements that there are not yet.
        r#"{ "events": [{ "at": "1 s", "direction": "forward", "delay": "5 ms", "loss": "2 %",
               "interrupt": "200 ms", "drop": 1 }, { "at": "1.1 s", "interrupt": "1 s", "drop": 3 }] }"#,
        r#"{ "loss": { "every": 9 }, "events": [{ "at": "1 s", "loss": "0 %" }, { "at": "2 s", "loss": "1 %" }] }"#,
        r#"{ "rate": { "start": "10 Mbit/s", "steps": [{ "at": "4 s", "to": "2 Mbit/s" }], "repeat": "10 s" },
             "burst": "15 kB", "events": [{ "at": "25 s", "rate": "3 Mbit/s" }] }"#,
        // In any order.
        r#"{ "rate": "8 Mbit/s", "events": [{ "at": "2 s", "rate": "2 Mbit/s", "loss": "2 %", "drop": 2 },
               { "at": "1 s", "rate": "1 Mbit/s", "loss": "1 %", "drop": 1 }] }"#,
        // The rate is meant for the direction that has one.
        r#"{ "forward": { "rate": "8 Mbit/s" }, "events": [{ "at": "1 s", "rate": "1 Mbit/s" }] }"#,
        // The first of its kind, wherever it stands.
        r#"{ "delay": "5 ms", "stages": [{ "rate": "8 Mbit/s", "delay": "9 ms" }],
             "events": [{ "at": "1 s", "rate": "1 Mbit/s", "delay": "7 ms", "loss": "1 %" }] }"#,
    ]));
}

#[test]
fn impossible_event_is_refused() {
    insta::assert_snapshot!(refused(&[
        r#"{ "events": [{ "at": "1 s" }] }"#,
        r#"{ "events": [{ "loss": "1 %" }] }"#,
        r#"{ "events": [{ "at": "1 s", "los": "1 %" }] }"#,
        r#"{ "events": [{ "at": "1 s", "drop": 0 }] }"#,
        r#"{ "events": [{ "at": "1 s", "drop": 1001 }] }"#,
        r#"{ "events": [{ "at": "1 s", "interrupt": "0 s" }] }"#,
        r#"{ "rate": "1 Mbit/s", "events": [{ "at": "1 s", "rate": "0 bit/s" }] }"#,
        r#"{ "events": [{ "at": "1 s", "drop": 1 }, { "at": "1 s", "rate": "1 Mbit/s" }] }"#,
        r#"{ "forward": { "rate": "1 Mbit/s" },
             "events": [{ "at": "1 s", "direction": "reverse", "rate": "1 Mbit/s" }] }"#,
        r#"{ "rate": { "opportunities": [1] }, "events": [{ "at": "1 s", "rate": "1 Mbit/s" }] }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" },
             "events": [{ "at": "1 s", "rate": "1 Mbit/s" }] }"#,
    ]));
}

#[test]
fn queues_in_words() {
    insta::assert_snapshot!(described(&with(
        "queue",
        [
            r#"{ "drop_tail": "512 packets" }"#,
            r#"{ "drop_tail": "1 bdp", "mark": "0.2 bdp" }"#,
            r#"{ "drop_head": "64 kB" }"#,
            r#"{ "codel": {} }"#,
            r#"{ "codel": { "limit": "1 bdp", "target": "1 ms", "interval": "20 ms", "ecn": true,
             "ce_threshold": "500 µs" } }"#,
            r#"{ "fq_codel": {} }"#,
            r#"{ "fq_codel": { "flows": 1, "quantum": "300 B", "ecn": false, "memory": "4 MB" } }"#,
            r#"{ "pie": {} }"#,
            r#"{ "pie": { "ecn": true, "derandomize": true, "burst": "0 ms" } }"#,
            r#"{ "red": { "min": "5 packets", "max": "15 packets" } }"#,
            r#"{ "red": { "min": "0.2 bdp", "max": "60 kB", "limit": "1 bdp", "gentle": true,
             "ecn": true, "probability": "10 %", "weight": "1 %" } }"#,
        ]
    )));
}

#[test]
fn losses_in_words() {
    insta::assert_snapshot!(described(&with(
        "loss",
        [
            r#""0 %""#,
            r#""0.3 %""#,
            r#"{ "gilbert_elliott": { "p": "1 %", "r": "25 %" } }"#,
            // Never bad, or never a loss.
            r#"{ "gilbert_elliott": { "p": "0 %", "r": "25 %" } }"#,
            r#"{ "gilbert_elliott": { "p": "1 %", "r": "25 %", "bad": "0 %" } }"#,
            r#"{ "every": 100 }"#,
            r#"{ "every": 100, "first": 5 }"#,
            r#"{ "burst": { "probability": "0.1 %", "length": 8 } }"#,
            r#"{ "burst": { "probability": "0 %", "length": 8 } }"#,
            r#"{ "burst": { "probability": "1 %", "length": 0 } }"#,
        ]
    )));
}

#[test]
fn interruptions_and_sizes_in_words() {
    insta::assert_snapshot!(described(&[
        r#"{ "interruption": { "at": ["1 s", "3.5 s", "7 s"], "lasting": "200 ms" } }"#,
        r#"{ "interruption": { "at": ["1 s"], "lasting": "200 ms" } }"#,
        r#"{ "interruption": { "up": "5 s", "lasting": "200 ms" } }"#,
        r#"{ "interruption": { "up": "5 s", "lasting": "200 ms", "offset": "1 s" } }"#,
        r#"{ "blackhole": "3 s" }"#,
        r#"{ "mtu": "1400 B" }"#,
        r#"{ "mtu": { "size": "1280 B", "answer": false } }"#,
        r#"{ "nat": "5 min" }"#,
        r#"{ "nat": { "idle": "30 s", "answer": true } }"#,
    ]));
}

#[test]
fn keys_and_values_that_cannot_be() {
    insta::assert_snapshot!(refused(&[
        r#"{ "rat": "1 Mbit/s" }"#,
        r#"{ "forward": { "forward": {} } }"#,
        r#"{ "loss": "101 %" }"#,
        r#"{ "rate": "-5 Mbit/s" }"#,
        r#"{ "interruption": { "every": "5 s" } }"#,
        r#"{ "interruption": { "every": "5 s", "lasting": "1 s", "direction": "up" } }"#,
    ]));
}

#[test]
fn bottlenecks_that_cannot_be() {
    insta::assert_snapshot!(refused(&[
        r#"{ "rate": "0 Mbit/s" }"#,
        r#"{ "rate": "1 Mbit/s", "reverse": { "rate": "0 Mbit/s" } }"#,
        r#"{ "queue": "10 packets" }"#,
        r#"{ "reverse": { "queue": "10 packets" }, "forward": { "rate": "1 Mbit/s" } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": "0 packets" }"#,
        r#"{ "rate": "1 Mbit/s", "forward": { "queue": "1513 B" } }"#,
        r#"{ "rate": "1 Mbit/s", "delay": "10 ms", "queue": "0.5 bdp" }"#,
        r#"{ "rate": "1 Mbit/s", "queue": "1 bdp" }"#,
        r#"{ "rate": "10000000 Tbit/s", "delay": "1000000 h", "queue": "1 bdp" }"#,
        r#"{ "rate": {} }"#,
        r#"{ "rate": { "steps": [{ "at": "1 s", "to": "1 Mbit/s" }] } }"#,
        r#"{ "rate": { "start": "1 Mbit/s" } }"#,
        r#"{ "rate": { "start": "1 Mbit/s", "steps": [{ "at": "1 s", "to": "0 Mbit/s" }] } }"#,
        r#"{ "rate": { "start": "0 Mbit/s", "repeat": "2 s", "steps": [{ "at": "1 s", "to": "0 Mbit/s" }] } }"#,
        r#"{ "rate": { "start": "1 Mbit/s", "repeat": "1 s", "steps": [{ "at": "1 s", "to": "2 Mbit/s" }] } }"#,
        r#"{ "rate": { "start": "1 Mbit/s", "trace": "lte.up" } }"#,
        r#"{ "rate": { "repeat": "1 s", "opportunities": [1] } }"#,
        r#"{ "rate": { "trace": "lte.up" } }"#,
        r#"{ "rate": { "opportunities": [] } }"#,
        r#"{ "rate": { "opportunities": [0, 0] } }"#,
        r#"{ "rate": { "opportunities": [1, 512, 498] } }"#,
        r#"{ "rate": { "opportunities": [18446744073710] } }"#,
        r#"{ "rate": { "opportunities": [1] }, "burst": "10 kB" }"#,
        r#"{ "rate": "1 Mbit/s", "burst": "1513 B" }"#,
        r#"{ "rate": "0 Mbit/s", "burst": "10 kB" }"#,
        r#"{ "burst": "10 kB" }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" }, "burst": "10 kB" }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" }, "rate": "1 Mbit/s" }"#,
        r#"{ "wifi": { "standard": "b", "rate": "54 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "0 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "n", "rate": "66 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "ac", "rate": "433 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "n", "rate": "65 Mbit/s", "basic_rate": "65 Mbit/s" } }"#,
        r#"{ "wifi": { "standard": "n", "rate": "65 Mbit/s", "aggregate": 0 } }"#,
        r#"{ "wifi": { "standard": "n", "rate": "65 Mbit/s", "aggregate": 65 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "aggregate": 2 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "stations": 101 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "retries": 256 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "cw_min": 16 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "cw_max": 4294967295 } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "cw_max": 7 } }"#,
        r#"{ "police": { "rate": "0 Mbit/s", "burst": "10 kB" } }"#,
        r#"{ "police": { "rate": "1 Mbit/s", "burst": "1513 B" } }"#,
        r#"{ "cross": "1 Mbit/s" }"#,
        r#"{ "rate": "1 Mbit/s", "cross": "0 Mbit/s" }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "size": "0 B" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "size": "65536 B" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "9 Gbit/s", "size": "1 B" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "on": "1 s" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "off": "1 s" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "on": "0 s", "off": "1 s" } }"#,
        r#"{ "rate": "1 Mbit/s",
             "cross": { "rate": "100 bit/s", "on": "11 ms", "off": "1 s" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "from": "2 s", "until": "2 s" } }"#,
        r#"{ "forward": { "rate": "1 Mbit/s" }, "reverse": { "cross": "1 Mbit/s" } }"#,
    ]));
}

#[test]
fn queues_that_cannot_be() {
    insta::assert_snapshot!(refused(&with(
        "queue",
        [
            "{}",
            r#"{ "mark": "3 packets" }"#,
            r#"{ "codel": {}, "pie": {} }"#,
            r#"{ "codel": {}, "mark": "3 packets" }"#,
            r#"{ "drop_tail": "30 packets", "mark": "30 packets" }"#,
            r#"{ "drop_tail": "64 kB", "mark": "30 packets" }"#,
            r#"{ "drop_head": "1 kB" }"#,
            r#"{ "codel": { "target": "0 ms" } }"#,
            r#"{ "codel": { "target": "100 ms" } }"#,
            r#"{ "codel": { "interval": "5 ms" } }"#,
            r#"{ "codel": { "limit": "0 packets" } }"#,
            r#"{ "codel": { "quantum": "1514 B" } }"#,
            r#"{ "fq_codel": { "flows": 0 } }"#,
            r#"{ "fq_codel": { "flows": 65537 } }"#,
            r#"{ "fq_codel": { "quantum": "67 B" } }"#,
            r#"{ "fq_codel": { "quantum": "3 GB" } }"#,
            r#"{ "fq_codel": { "memory": "1 kB" } }"#,
            r#"{ "fq_codel": { "target": "1 s" } }"#,
            r#"{ "pie": { "target": "0 s" } }"#,
            r#"{ "pie": { "update": "0 s" } }"#,
            r#"{ "pie": { "update": "99 us" } }"#,
            r#"{ "pie": { "mark_threshold": "10 %" } }"#,
            r#"{ "red": { "max": "15 packets" } }"#,
            r#"{ "red": { "min": "15 packets", "max": "15 packets" } }"#,
            r#"{ "red": { "min": "15 packets", "max": "64 kB" } }"#,
            r#"{ "red": { "min": "15 packets", "max": "30 packets", "limit": "20 packets" } }"#,
            r#"{ "red": { "min": "5 packets", "max": "15 packets", "probability": "0 %" } }"#,
            r#"{ "red": { "min": "5 packets", "max": "15 packets", "weight": "0 %" } }"#,
        ]
    )));
}

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
        r#"{ "drop": { "kind": "pure-ack", "bytes": "0..100" } }"#,
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
        r#"{ "nat": "0 s" }"#,
        r#"{ "nat": { "answer": true } }"#,
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

#[test]
fn delays_and_changes_that_cannot_be() {
    let values = format!(
        r#"{{ "jitter": {{ "table": "x.dist", "scale": "1 ms", "values": [{}1] }} }}"#,
        "1, ".repeat(16_384)
    );
    let long = refused(&[&values]).lines().next_back().unwrap_or_default().to_owned();
    assert_eq!(long, "    jitter.values: a table has 1 to 16384 values, not 16385");
    insta::assert_snapshot!(refused(&[
        r#"{ "delay": { "start": "20 ms", "steps": [] } }"#,
        r#"{ "delay": { "start": "20 ms", "steps": [{ "at": "5 s", "to": "1 ms" }], "repeat": "5 s" } }"#,
        r#"{ "delay": "20 Mbit/s" }"#,
        r#"{ "jitter": "-2 ms" }"#,
        r#"{ "jitter": {} }"#,
        r#"{ "jitter": { "gamma": "2 ms" } }"#,
        r#"{ "jitter": { "reorder": true } }"#,
        r#"{ "forward": { "jitter": { "normal": "2 ms", "pareto": "2 ms" } } }"#,
        r#"{ "jitter": { "normal": "2 ms", "table": "x.dist", "scale": "1 ms" } }"#,
        r#"{ "jitter": { "normal": "2 ms", "scale": "2 ms" } }"#,
        r#"{ "jitter": { "normal": "2 ms", "values": [1] } }"#,
        r#"{ "jitter": { "normal": "2 ms", "correlation": "100 %" } }"#,
        r#"{ "jitter": { "table": "x.dist" } }"#,
        r#"{ "jitter": { "table": "x.dist", "scale": "1 ms" } }"#,
        r#"{ "jitter": { "table": "x.dist", "scale": "1 ms", "values": [] } }"#,
        r#"{ "jitter": { "table": "x.dist", "scale": "1 ms", "values": [1, 32768] } }"#,
        r#"{ "reorder": "1 %" }"#,
        r#"{ "reorder": {} }"#,
        r#"{ "reorder": { "gap": 3 } }"#,
        r#"{ "reorder": { "probability": "1 %" } }"#,
        r#"{ "reorder": { "probability": "1 %", "every": 7, "gap": 3 } }"#,
        r#"{ "reorder": { "probability": "100 %", "gap": 3 } }"#,
        r#"{ "reorder": { "every": 1, "gap": 3 } }"#,
        r#"{ "reorder": { "every": 0, "gap": 3 } }"#,
        r#"{ "reverse": {}, "stages": [{ "reorder": { "every": 9, "gap": 0 } }] }"#,
        r#"{ "reorder": { "every": 9, "extra": "0 ms" } }"#,
        r#"{ "reorder": { "every": 9, "gap": 3, "extra": "0 ms" } }"#,
        r#"{ "duplicate": { "probability": "1 %", "copies": 0 } }"#,
        r#"{ "duplicate": { "probability": "1 %", "copies": 101 } }"#,
        r#"{ "duplicate": { "copies": 1 } }"#,
        r#"{ "corrupt": { "probability": "1 %", "bits": 0 } }"#,
        r#"{ "corrupt": { "probability": "1 %", "bits": 65 } }"#,
        r#"{ "corrupt": { "probability": "1 %", "part": "trailer" } }"#,
    ]));
}

/// Every packet would pass all of it; what is refused says how much was found and how much may be.
#[test]
fn paths_that_would_stall_are_refused() {
    let list = |key: &str, one: &str, count: usize| {
        format!(r#"{{ "rate": "5 Mbit/s", "{key}": [{}] }}"#, vec![one; count].join(", "))
    };
    let stage = r#"{ "delay": "1 ms" }"#;
    let twice = r#"{ "duplicate": "100 %" }"#;
    let cross = r#"{ "rate": "1 Mbit/s" }"#;
    let interruption = r#"{ "every": "1 s", "lasting": "1 ms" }"#;
    let rule = r#"{ "kind": "syn" }"#;
    for (key, one, most, refusal) in [
        ("stages", stage, 64, "stages: 65 stages: give at most 64"),
        ("stages", twice, 6, "stages: the stages make up to 127 copies of a packet: give at most"),
        ("cross", cross, 64, "cross: 65 flows of cross traffic: give at most 64"),
        ("interruption", interruption, 64, "interruption: 65 tables of interruptions: give at"),
        ("drop", rule, 1_000, "drop: 1001 rules: give at most 1000"),
    ] {
        let whole = |count| list(key, one, count);
        let spec: PathSpec = serde_json::from_str(&whole(most)).unwrap();
        assert!(spec.link(Direction::Forward).is_ok(), "{key}");
        let answer = refused(&[&whole(most + 1)]);
        let answer = answer.lines().next_back().unwrap_or_default().trim();
        assert!(answer.starts_with(refusal), "{answer}");
    }
}

#[test]
fn paths_are_written_as_they_were_read() {
    for json in [
        r#"{"rate":"5 Mbit/s","delay":"5 ms","queue":"1.5 bdp","loss":"0.3 %","interruption":[{"every":"5 s","lasting":"200 ms","direction":"both"}],"reverse":{"rate":"1 Mbit/s"}}"#,
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
        r#"{"nat":"5 min"}"#,
        r#"{"nat":{"idle":"30 s","answer":true}}"#,
    ] {
        let path: PathSpec = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&path).unwrap(), json);
        let plan = path.link(Direction::Forward).unwrap();
        assert!(!plan.elements.is_empty());
        let written = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<LinkPlan>(&written).unwrap(), plan, "{written}");
    }
}
