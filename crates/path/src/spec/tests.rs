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
fn impossible_bottlenecks_are_refused_with_key_and_reason() {
    refused(&[
        (
            r#"{ "rate": "0 Mbit/s" }"#,
            Direction::Forward,
            "rate",
            "the rate is zero: give a rate above zero, or remove it for no bottleneck",
        ),
        (
            r#"{ "rate": "1 Mbit/s", "reverse": { "rate": "0 Mbit/s" } }"#,
            Direction::Reverse,
            "reverse.rate",
            "the rate is zero: give a rate above zero, or remove it for no bottleneck",
        ),
        (
            r#"{ "queue": "10 packets" }"#,
            Direction::Forward,
            "queue",
            "`queue` needs `rate`: without a bottleneck no packet waits",
        ),
        (
            r#"{ "reverse": { "queue": "10 packets" }, "forward": { "rate": "1 Mbit/s" } }"#,
            Direction::Reverse,
            "reverse.queue",
            "`queue` needs `rate`: without a bottleneck no packet waits",
        ),
        (
            r#"{ "rate": "1 Mbit/s", "queue": "0 packets" }"#,
            Direction::Forward,
            "queue",
            "a queue of 0 packets cannot hold a packet: give at least 1514 B",
        ),
        (
            r#"{ "rate": "1 Mbit/s", "forward": { "queue": "1513 B" } }"#,
            Direction::Forward,
            "forward.queue",
            "a queue of 1.513 kB cannot hold a packet: give at least 1514 B",
        ),
        (
            r#"{ "rate": "1 Mbit/s", "delay": "10 ms", "queue": "0.5 bdp" }"#,
            Direction::Forward,
            "queue",
            "a queue of 0.5 bdp (1250 B) cannot hold a packet: give at least 1514 B",
        ),
        (
            r#"{ "rate": "1 Mbit/s", "queue": "1 bdp" }"#,
            Direction::Reverse,
            "queue",
            "a queue in bdp needs a `delay`: without one the bandwidth-delay product is zero",
        ),
        (
            r#"{ "rate": "10000000 Tbit/s", "delay": "1000000 h", "queue": "1 bdp" }"#,
            Direction::Forward,
            "queue",
            "a queue of 1 bdp is larger than 2⁶⁴ bytes",
        ),
    ]);
}

#[test]
fn impossible_interruptions_are_refused_with_key_and_reason() {
    refused(&[
        (
            r#"{ "interruption": { "every": "0 s", "lasting": "0 s" } }"#,
            Direction::Forward,
            "interruption.every",
            "`every` is 0 ns: give a time above zero",
        ),
        (
            r#"{ "reverse": { "interruption": { "every": "5 s", "lasting": "5 s" } } }"#,
            Direction::Reverse,
            "reverse.interruption.lasting",
            "`lasting` (5 s) must be less than `every` (5 s)",
        ),
        (
            r#"{ "forward": { "interruption":
                 { "every": "5 s", "lasting": "1 s", "direction": "reverse" } } }"#,
            Direction::Forward,
            "forward.interruption.direction",
            "this interruption is in the table of the forward direction: remove `direction`",
        ),
    ]);
}

/// Each path, the direction that is refused, the key at fault, and what is said of it.
fn refused(paths: &[(&str, Direction, &str, &str)]) {
    for (json, direction, key, reason) in paths {
        let error = path(json).link(*direction).unwrap_err();
        assert_eq!((error.key.as_str(), error.to_string().as_str()), (*key, *reason));
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
