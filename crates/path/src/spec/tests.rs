use tcplab_units::{Instant, Rate};

use super::*;

fn path(json: &str) -> PathSpec {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

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
fn the_rate_of_a_link_is_that_of_its_slowest_bottleneck() {
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
fn each_direction_in_words() {
    let unlimited = "Packets pass at once.";
    let slow = "Bottleneck 1 Mbit/s, drop-tail queue 1000 packets.";
    for (json, forward, reverse) in [
        ("{}", unlimited, unlimited),
        (r#"{ "rate": "1 Mbit/s" }"#, slow, slow),
        (r#"{ "forward": { "rate": "1 Mbit/s" } }"#, slow, unlimited),
        (
            // A key of the path may be meant for one direction only.
            r#"{ "queue": "1 MB", "forward": { "rate": "1 Mbit/s" } }"#,
            "Bottleneck 1 Mbit/s, drop-tail queue 1 MB.",
            unlimited,
        ),
        (r#"{ "delay": "5 ms", "reverse": { "delay": "0 ms" } }"#, "Delay 5 ms.", unlimited),
        (r#"{ "loss": "1 %", "forward": { "loss": "0 %" } }"#, unlimited, "Random loss 1 %."),
        (
            // Twice the 20 ms of both delays together, at the rate of each.
            r#"{ "rate": "8 Mbit/s", "delay": "5 ms", "queue": "2 bdp",
                 "reverse": { "rate": "4 Mbit/s", "delay": "15 ms" } }"#,
            "Bottleneck 8 Mbit/s, drop-tail queue 40 kB. Delay 5 ms.",
            "Bottleneck 4 Mbit/s, drop-tail queue 20 kB. Delay 15 ms.",
        ),
        (
            // Without an offset, the first comes after as long a time as lies between them.
            r#"{ "interruption": { "every": "5 s", "lasting": "1 s", "direction": "reverse" } }"#,
            unlimited,
            "All packets are dropped for 1 s every 5 s, first at 5 s.",
        ),
        (
            r#"{ "forward": { "interruption": { "every": "5 s", "lasting": "1 s" } } }"#,
            "All packets are dropped for 1 s every 5 s, first at 5 s.",
            unlimited,
        ),
        (r#"{ "interruption": { "every": "5 s", "lasting": "0 s" } }"#, unlimited, unlimited),
    ] {
        let words = |direction| path(json).link(direction).unwrap().describe().join(" ");
        assert_eq!(words(Direction::Forward), forward, "{json}");
        assert_eq!(words(Direction::Reverse), reverse, "{json}");
    }
}

#[test]
fn the_smallest_queues_are_accepted() {
    for queue in ["1 packet", "1514 B", "0.6056 bdp"] {
        let json = format!(r#"{{ "rate": "1 Mbit/s", "delay": "10 ms", "queue": "{queue}" }}"#);
        assert!(path(&json).link(Direction::Forward).is_ok(), "{queue}");
    }
}

#[test]
fn what_is_not_a_key_or_a_value_is_refused() {
    for (json, reason) in [
        (
            r#"{ "rat": "1 Mbit/s" }"#,
            "unknown field `rat`, expected one of `preset`, `backend`, `same_host`, `rate`",
        ),
        (r#"{ "forward": { "forward": {} } }"#, "unknown field `forward`"),
        (r#"{ "loss": "101 %" }"#, "`101 %` is out of range for a probability"),
        (r#"{ "rate": "-5 Mbit/s" }"#, "`-5 Mbit/s` is negative: a data rate must be zero or more"),
        (r#"{ "interruption": { "every": "5 s" } }"#, "missing field `lasting`"),
        (
            r#"{ "interruption": { "every": "5 s", "lasting": "1 s", "direction": "up" } }"#,
            "unknown variant `up`, expected one of `both`, `forward`, `reverse`",
        ),
    ] {
        let error = serde_json::from_str::<PathSpec>(json).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{json}: {error}");
    }
}

#[test]
fn a_path_is_written_as_it_was_read() {
    let json = r#"{"rate":"5 Mbit/s","delay":"5 ms","queue":"1.5 bdp","loss":"0.3 %","interruption":[{"every":"5 s","lasting":"200 ms","direction":"both"}],"reverse":{"rate":"1 Mbit/s"}}"#;
    assert_eq!(serde_json::to_string(&path(json)).unwrap(), json);
}

#[test]
fn the_schema_describes_every_key_and_allows_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(PathSpec)).unwrap();
    let link = &schema["$defs"]["LinkSpec"];
    let interruption = &schema["$defs"]["Interruption"];
    for (table, keys) in [(&schema, 23), (link, 18), (interruption, 6)] {
        assert_eq!(table["additionalProperties"], serde_json::json!(false), "{table}");
        let properties = table["properties"].as_object().unwrap();
        assert_eq!(properties.len(), keys);
        for (key, property) in properties {
            assert!(property["description"].as_str().is_some_and(|it| it.len() > 20), "{key}");
        }
    }
}
