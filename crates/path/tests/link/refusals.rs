//! Bottlenecks and their company that cannot be, and what is said of them.

use tcplab_path::Direction;

use crate::support::{described, path, refused};

const REFUSED: &[&str] = &[
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
    r#"{ "rate": "1 Mbit/s", "cross": { "rate": "1 Mbit/s", "from": "2 s", "until": "2 s" } }"#,
    r#"{ "forward": { "rate": "1 Mbit/s" }, "reverse": { "cross": "1 Mbit/s" } }"#,
];

#[test]
fn what_cannot_be_is_refused_with_key_and_reason() {
    insta::assert_snapshot!(refused(REFUSED));
}

#[test]
fn what_serves_one_direction_may_stand_for_both() {
    for json in [
        r#"{ "cross": "1 Mbit/s", "forward": { "rate": "2 Mbit/s" } }"#,
        r#"{ "burst": "10 kB", "forward": { "rate": "2 Mbit/s" } }"#,
        r#"{ "burst": "10 kB", "forward": { "rate": "2 Mbit/s" },
             "reverse": { "wifi": { "standard": "g", "rate": "54 Mbit/s" } } }"#,
    ] {
        let path = path(json);
        assert!(Direction::BOTH.iter().all(|way| path.link(*way).is_ok()), "{json}");
    }
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
