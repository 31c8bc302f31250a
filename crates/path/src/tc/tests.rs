//! Paths as scripts, and what is refused of them.

use std::fmt::Write;

use super::Interfaces;
use super::shaper::exponent_of;
use super::words::time;
use crate::Direction;
use crate::testing::path;
use tcplab_units::Span;

/// The script for a path and what it says is different.
fn script(json: &str) -> String {
    let plan = path(json).tc().unwrap_or_else(|refused| panic!("{json}: {refused:#?}"));
    let interfaces = Interfaces { client: "eth1".into(), server: "eth 2".into() };
    let script = plan.script(&interfaces);
    let mut text = format!("{json}\n\n{}\n{}", script.setup_shell(), script.undo_shell());
    for note in plan.notes() {
        let _ = write!(text, "\n{}: {}", note.key, note.what);
    }
    let patience = [plan.forward.patience, plan.reverse.patience];
    let _ = write!(text, "\n\npatience: {} and {}", patience[0], patience[1]);
    text
}

#[test]
fn scripts() {
    for (name, json) in [
        ("nothing", "{}"),
        ("rate", r#"{ "rate": "50 Mbit/s", "queue": "512 packets" }"#),
        ("delay", r#"{ "delay": "20 ms", "loss": "0.3 %" }"#),
        (
            "both",
            r#"{ "rate": "5 Mbit/s", "delay": "10 ms", "queue": "1 bdp", "loss": "1 %",
               "duplicate": "1 %", "corrupt": "0.5 %" }"#,
        ),
        (
            "asymmetric",
            r#"{ "forward": { "rate": "1 Mbit/s", "burst": "10 kB", "queue": "30 packets" },
               "reverse": { "delay": "7.5 ms", "loss":
                 { "gilbert_elliott": { "p": "1 %", "r": "25 %", "bad": "90 %", "good": "2 %" } } } }"#,
        ),
        ("jitter_uniform", r#"{ "delay": "5 ms", "jitter": "2 ms" }"#),
        (
            "jitter_normal",
            r#"{ "delay": "5 ms", "jitter": { "normal": "1.5 µs", "reorder": true } }"#,
        ),
        (
            "jitter_pareto",
            r#"{ "delay": "5 ms", "forward": { "jitter": { "pareto": "1 ms" } },
               "reverse": { "jitter": { "pareto_normal": "1 ms" } } }"#,
        ),
        (
            "jitter_table",
            r#"{ "delay": "5 ms", "jitter":
               { "table": "mine.dist", "scale": "2 ms", "values": [-8192, 0, 0, 16384] } }"#,
        ),
        ("reorder", r#"{ "reorder": { "probability": "1 %", "extra": "20 ms" } }"#),
        ("mark", r#"{ "mark": "5 %" }"#),
        ("codel", r#"{ "rate": "10 Mbit/s", "queue": { "codel": { "ce_threshold": "1 ms" } } }"#),
        ("fq_codel", r#"{ "rate": "10 Mbit/s", "queue": { "fq_codel": {} } }"#),
        ("pie", r#"{ "rate": "10 Mbit/s", "queue": { "pie": { "ecn": true } } }"#),
        (
            "red",
            r#"{ "rate": "10 Mbit/s", "queue": { "red":
               { "limit": "400 kB", "min": "30 kB", "max": "90 kB", "ecn": true } } }"#,
        ),
        ("drop_head", r#"{ "rate": "10 Mbit/s", "queue": { "drop_head": "100 packets" } }"#),
    ] {
        insta::assert_snapshot!(name, script(json));
    }
}

/// What each key that the kernel cannot do the same is refused with.
#[test]
fn refusals() {
    let mut text = String::new();
    for json in [
        r#"{ "mtu": "1400 B" }"#,
        r#"{ "police": { "rate": "1 Mbit/s", "burst": "10 kB" } }"#,
        r#"{ "rate": "1 Mbit/s", "cross": { "rate": "100 kbit/s" } }"#,
        r#"{ "interruption": { "every": "5 s", "lasting": "200 ms" } }"#,
        r#"{ "blackhole": "3 s" }"#,
        r#"{ "drop": { "kind": "syn", "nth": [1] } }"#,
        r#"{ "rate": { "start": "1 Mbit/s", "steps": [{ "at": "1 s", "to": "2 Mbit/s" }] } }"#,
        r#"{ "rate": { "opportunities": [1, 2, 3] } }"#,
        r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" } }"#,
        r#"{ "rate": "7 bit/s" }"#,
        r#"{ "rate": "1 kbit/s", "burst": "1 MB" }"#,
        r#"{ "rate": "1 Mbit/s", "queue": "5 GB" }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "drop_head": "64 kB" } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "drop_tail": "64 kB", "mark": "30 kB" } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "codel": { "limit": "64 kB" } } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "fq_codel": { "limit": "64 kB" } } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "pie": { "limit": "64 kB", "burst": "0 ms",
            "ecn": true, "mark_threshold": "20 %" } } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "red": { "min": "5 packets", "max": "15 packets",
            "gentle": true } } }"#,
        r#"{ "rate": "1 Mbit/s", "queue": { "red": { "limit": "4 GB", "min": "1 GB", "max": "3 GB" } } }"#,
        r#"{ "loss": { "every": 100 } }"#,
        r#"{ "loss": { "burst": { "probability": "1 %", "length": 8 } } }"#,
        r#"{ "loss": "0.00000001 %" }"#,
        r#"{ "loss": "1 %", "mark": "1 %" }"#,
        r#"{ "corrupt": { "probability": "1 %", "part": "headers", "bits": 2 } }"#,
        r#"{ "duplicate": { "probability": "1 %", "copies": 2 } }"#,
        r#"{ "reorder": { "probability": "1 %", "gap": 3 } }"#,
        r#"{ "reorder": { "every": 10, "extra": "5 ms" } }"#,
        r#"{ "reorder": { "probability": "1 %", "extra": "5 ms" }, "delay": "5 ms" }"#,
        r#"{ "delay": { "start": "1 ms", "steps": [{ "at": "1 s", "to": "2 ms" }] } }"#,
        r#"{ "delay": "300 s" }"#,
        r#"{ "delay": "5 ms", "jitter": { "normal": "1 ms", "correlation": "25 %" } }"#,
        r#"{ "delay": "5 s", "jitter": "3 s" }"#,
        r#"{ "jitter": { "normal": "1 ms" } }"#,
        r#"{ "delay": "5 ms", "stages": [{ "loss": "1 %" }] }"#,
        r#"{ "delay": "5 ms", "events": [{ "at": "1 s", "delay": "9 ms", "loss": "1 %", "drop": 1 }] }"#,
        // All at once, each with the key as it is written; what holds for both, once.
        r#"{ "mtu": "1400 B", "forward": { "blackhole": "3 s", "stages": [{ "loss": "1 %" }] },
            "reverse": { "loss": { "every": 7 }, "corrupt": { "probability": "1 %", "bits": 3 } } }"#,
    ] {
        let refused = path(json).tc().expect_err(json);
        let _ = writeln!(text, "{json}");
        for error in refused {
            let _ = writeln!(text, "    {}: {error}", error.key);
        }
    }
    insta::assert_snapshot!("refusals", text);
}

/// Against what tc (iproute2 6.1) put into its messages for `red min … avpkt 1000 burst …`, as
/// strace showed them.
#[test]
fn weights_are_those_of_tc() {
    for (min, burst, exponent) in [
        (30_000, 55, 5),
        (30_000, 40, 4),
        (15_000, 20, 3),
        (15_000, 200, 11),
        (15_000, 600, 14),
        (15_000, 1100, 16),
        (5_000, 10, 4),
    ] {
        assert_eq!(exponent_of(burst, min), Some(exponent), "min {min} burst {burst}");
    }
}

#[test]
fn times_as_tc_reads_them() {
    for (nanos, text) in [
        (0, "0ms"),
        (20_000_000, "20ms"),
        (7_500_000, "7500us"),
        (1_500, "1.500us"),
        (1, "0.001us"),
    ] {
        assert_eq!(time(Span::from_nanos(nanos)), text);
    }
}

/// The limit of netem holds all that can be in it at once: what the rate brings in the longest
/// time, were all of it the smallest packets.
#[test]
fn netem_limit_is_never_reached() {
    let plan =
        path(r#"{ "rate": "8 Mbit/s", "burst": "4 kB", "delay": "100 ms", "jitter": "20 ms" }"#);
    let link = plan.tc().unwrap().forward;
    let words = link.line.unwrap().words;
    let limit: u64 =
        words[words.iter().position(|word| word == "limit").unwrap() + 1].parse().unwrap();
    // 1 B/µs for 120 ms, and the burst: 124 kB of 40 B packets.
    assert_eq!(limit, 124_000 / 40 + 1000);
}

#[test]
fn plans_survive_being_written() {
    let plan = path(r#"{ "rate": "8 Mbit/s", "delay": "100 ms", "loss": "1 %" }"#).tc().unwrap();
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<super::TcPlan>(&json).unwrap(), plan);
    assert_eq!(plan.links()[1].0, Direction::Reverse);
}

/// Times that tc cuts have a note, and those of which it would leave nothing are refused.
#[test]
fn times_are_whole_microseconds() {
    let codel = |target| {
        format!(r#"{{ "rate": "9 Mbit/s", "queue": {{ "codel": {{ "target": "{target}" }} }} }}"#)
    };
    let pie = |target| {
        format!(r#"{{ "rate": "9 Mbit/s", "queue": {{ "pie": {{ "target": "{target}" }} }} }}"#)
    };
    let fq_codel = |target| {
        format!(
            r#"{{ "rate": "9 Mbit/s", "queue": {{ "fq_codel": {{ "target": "{target}" }} }} }}"#
        )
    };
    let reorder =
        |extra| format!(r#"{{ "reorder": {{ "probability": "1 %", "extra": "{extra}" }} }}"#);
    let delay = |delay| format!(r#"{{ "delay": "{delay}" }}"#);
    let each: [(&str, &dyn Fn(&'static str) -> String); 5] = [
        ("queue.codel.target", &codel),
        ("queue.pie.target", &pie),
        ("queue.fq_codel.target", &fq_codel),
        ("reorder.extra", &reorder),
        ("delay", &delay),
    ];
    for (key, json) in each {
        let notes = |time| {
            let plan =
                path(&json(time)).tc().unwrap_or_else(|refused| panic!("{key}: {refused:?}"));
            let own = plan.notes().iter().filter(|note| note.key == key).count();
            own > 0
        };
        assert_eq!([notes("5 ms"), notes("1500 ns")], [false, true], "{key}");
        let refused = path(&json("500 ns")).tc().unwrap_err();
        assert!(refused.iter().any(|it| it.key == key && it.what.contains("none")), "{refused:?}");
    }
}
