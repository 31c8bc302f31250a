use tcplab_units::{Instant, Rate};

use super::*;
use crate::testing::path;

/// The paper's path, and what each direction does in words.
#[test]
fn keys_become_elements_in_their_order() {
    let spec = path(
        r#"{
            "loss": "0.3 %", "delay": "5 ms", "rate": "5 Mbit/s", "queue": "512 packets",
            "interruption": { "every": "5 s", "lasting": "200 ms", "offset": "1 s" }
        }"#,
    );
    let plan = spec.link(Direction::Forward).unwrap();
    assert_eq!(
        plan.describe(),
        [
            "Bottleneck 5 Mbit/s, drop-tail queue 512 packets.",
            "All packets are dropped for 200 ms every 5 s, first at 1 s.",
            "Random loss 0.3 %.",
            "Delay 5 ms.",
        ]
    );
    assert_eq!(spec.link(Direction::Reverse), Ok(plan.clone()));
    assert_eq!((plan.delay(), spec.round_trip()), (Span::from_millis(5), Span::from_millis(10)));
    let seconds = |n| Instant::ZERO + Span::from_secs(n);
    let starts: Vec<_> =
        plan.interruptions(seconds(12), 1).into_iter().map(|(from, _)| from).collect();
    assert_eq!(starts, [seconds(1), seconds(6), seconds(11)]);
}

/// The slowest of all bottlenecks counts, whatever comes before or after; a policer is none.
#[test]
fn link_rate_is_that_of_slowest_bottleneck() {
    for (json, mbit) in [
        (r"{}", None),
        (r#"{ "delay": "5 ms", "police": { "rate": "1 Mbit/s", "burst": "15 kB" } }"#, None),
        (r#"{ "rate": "5 Mbit/s" }"#, Some(5)),
        (r#"{ "stages": [{ "rate": "9 Mbit/s" }, { "delay": "1 ms" }] }"#, Some(9)),
        (r#"{ "rate": "5 Mbit/s", "stages": [{ "rate": "3 Mbit/s" }] }"#, Some(3)),
        (r#"{ "stages": [{ "rate": "3 Mbit/s" }, { "rate": "5 Mbit/s" }] }"#, Some(3)),
        // The mean of a second at 2 and one at 6 Mbit/s.
        (
            r#"{ "rate": { "start": "2 Mbit/s", "steps": [{ "at": "1 s", "to": "6 Mbit/s" }],
                 "repeat": "2 s" } }"#,
            Some(4),
        ),
    ] {
        let plan = path(json).link(Direction::Forward).unwrap();
        let rate = plan.rate().map(Rate::bits_per_second);
        assert_eq!(rate, mbit.map(|mbit| mbit * 1_000_000), "{json}");
    }
}

#[test]
fn smallest_queues_are_accepted() {
    for queue in ["1 packet", "1514 B", "0.6056 bdp"] {
        let json = format!(r#"{{ "rate": "1 Mbit/s", "delay": "10 ms", "queue": "{queue}" }}"#);
        assert!(path(&json).link(Direction::Forward).is_ok(), "{queue}");
    }
}

#[test]
fn schema_describes_every_key_and_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(PathSpec)).unwrap();
    let link = &schema["$defs"]["LinkSpec"];
    let interruption = &schema["$defs"]["Interruption"];
    let event = &schema["$defs"]["PathEvent"];
    for (table, keys) in [(&schema, 27), (link, 19), (interruption, 6), (event, 7)] {
        assert_eq!(table["additionalProperties"], serde_json::json!(false), "{table}");
        let properties = table["properties"].as_object().unwrap();
        assert_eq!(properties.len(), keys);
        for (key, property) in properties {
            assert!(property["description"].as_str().is_some_and(|it| it.len() > 20), "{key}");
        }
    }
}
