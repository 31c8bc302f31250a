//! How delays, jitter, reordering, copies and bit errors are written, and what is said of them.

use crate::support::{described, refused};

#[test]
fn possible_ones_are_described() {
    let text = described(&[
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
    ]);
    insta::assert_snapshot!(text);
}

#[test]
fn impossible_ones_are_refused_with_key_and_reason() {
    let values = format!(
        r#"{{ "jitter": {{ "table": "x.dist", "scale": "1 ms", "values": [{}1] }} }}"#,
        "1, ".repeat(16_384)
    );
    let long = refused(&[&values]).lines().next_back().unwrap_or_default().to_owned();
    assert_eq!(long, "    jitter.values: a table has 1 to 16384 values, not 16385");
    let text = refused(&[
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
    ]);
    insta::assert_snapshot!(text);
}
