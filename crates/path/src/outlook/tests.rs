use super::*;
use crate::testing::{ms, plan};

fn span(n: u64) -> Span {
    Span::from_millis(n)
}

fn kbit(n: u64) -> Rate {
    Rate::from_bits_per_second(n * 1_000)
}

/// What holds from so many milliseconds on.
fn at(outlook: &Outlook, n: u64) -> Moment {
    *outlook.moments.iter().rfind(|moment| moment.at <= ms(n)).unwrap()
}

#[test]
fn empty_path_outlook_has_no_change() {
    let outlook = plan("{}").outlook(ms(10_000), 1, 100);
    let (least, most) = (Span::ZERO, Span::ZERO);
    let free = Moment {
        at: ms(0),
        rate: None,
        left: None,
        delay: Span::ZERO,
        least,
        most,
        queue: None,
        loss: 0.0,
    };
    assert_eq!(outlook.moments, [free]);
    assert_eq!((outlook.loss, outlook.outages.len(), outlook.notes.len()), (0.0, 0, 0));
    assert_eq!(plan("{}").time_to_show(), Span::ZERO);
}

#[test]
fn events_are_part_of_the_outlook() {
    let json = r#"{ "rate": "8 Mbit/s", "delay": "5 ms", "events": [
                      { "at": "2 s", "rate": "1 Mbit/s", "delay": "50 ms", "loss": "4 %" },
                      { "at": "3 s", "interrupt": "200 ms", "drop": 1 }] }"#;
    let outlook = plan(json).outlook(ms(4_000), 1, 100);
    assert_eq!((at(&outlook, 1_999).rate, at(&outlook, 1_999).delay), (Some(kbit(8_000)), span(5)));
    assert_eq!(
        (at(&outlook, 2_000).rate, at(&outlook, 2_000).delay),
        (Some(kbit(1_000)), span(50))
    );
    assert_eq!(outlook.outages, [Outage { from: ms(3_000), until: ms(3_200) }]);
    // In the mean over time; as it is, none and then 4 %.
    assert!((outlook.loss - 0.02).abs() < 1e-9, "{}", outlook.loss);
    for (n, share) in [(0, 0.0), (1_999, 0.0), (2_000, 0.04)] {
        assert!((at(&outlook, n).loss - share).abs() < 1e-12, "at {n} ms");
    }
    assert!(outlook.has_rules);
    let notes = ["Random loss 4 % from 2 s.", "Dropped by event: the next data segment from 3 s."];
    assert_eq!(outlook.notes, notes);
    assert_eq!(plan(json).time_to_show(), span(4_000));
}

#[test]
fn constant_path_outlook_is_one_moment() {
    // 100 packets of 12,000 bit at 12 Mbit/s are 100 ms; uniform jitter of 10 ms lies between 9.8
    // ms less and 9.8 ms more, within 2 %.
    let json = r#"{ "rate": "12 Mbit/s", "queue": "100 packets", "delay": "20 ms",
                    "jitter": "10 ms", "loss": "0.5 %" }"#;
    let outlook = plan(json).outlook(ms(10_000), 1, 100);
    let moment = Moment {
        at: ms(0),
        rate: Some(kbit(12_000)),
        left: None,
        delay: span(20),
        least: Span::from_micros(10_200),
        most: Span::from_micros(29_800),
        queue: Some(span(100)),
        loss: outlook.loss,
    };
    assert_eq!(outlook.moments, [moment]);
    assert!((outlook.loss - 0.005).abs() < 1e-12);
    assert_eq!(outlook.notes, [""; 0]);
    // What would be negative is zero.
    let near = plan(r#"{ "delay": "5 ms", "jitter": "10 ms" }"#).outlook(ms(10_000), 1, 100);
    assert_eq!((near.moments[0].least, near.moments[0].queue), (Span::ZERO, None));
}

#[test]
fn jumps_are_where_they_are_and_ramps_at_points() {
    let json = r#"{ "delay": { "start": "10 ms", "repeat": "2 s", "steps": [
                    { "at": "333 ms", "to": "30 ms" },
                    { "at": "1 s", "to": "10 ms", "over": "500 ms" }] } }"#;
    let outlook = plan(json).outlook(ms(3_000), 1, 30);
    assert_eq!(
        outlook.moments[..3].iter().map(|it| it.at).collect::<Vec<_>>(),
        [ms(0), ms(333), ms(1_000)]
    );
    for (n, micros) in [
        (0, 10_000),
        (332, 10_000),
        (333, 30_000),
        (999, 30_000),
        // Means of a tenth of a second: the ramp falls by 4 ms in it.
        (1_000, 28_000),
        (1_100, 24_000),
        (1_400, 12_000),
        (1_500, 10_000),
        (2_333, 30_000),
    ] {
        assert_eq!(at(&outlook, n).delay, Span::from_micros(micros), "at {n} ms");
    }
    assert_eq!(plan(json).time_to_show(), span(4_000));
    // More jumps than points: means between these. In each second of this, 10 ms for half of it.
    let json = r#"{ "delay": { "start": "10 ms", "repeat": "1 s",
                               "steps": [{ "at": "500 ms", "to": "20 ms" }] } }"#;
    let outlook = plan(json).outlook(ms(100_000), 1, 50);
    assert_eq!(outlook.moments.len(), 1);
    assert_eq!(outlook.moments[0].delay, span(15));
}

#[test]
fn full_queue_delay_follows_future_rate() {
    // 100 packets, 1.2 Mbit: 100 ms at 12 Mbit/s, and from 5 s on 50 ms in which nothing is sent.
    let json = r#"{ "queue": "100 packets", "rate": { "start": "12 Mbit/s", "repeat": "10 s",
        "steps": [{ "at": "5 s", "to": "0 bit/s" }, { "at": "5.05 s", "to": "12 Mbit/s" }] } }"#;
    let outlook = plan(json).outlook(ms(20_000), 1, 2_000);
    for (n, rate, wait) in [
        (0, 12_000, 100),
        (4_890, 12_000, 100),
        (4_910, 12_000, 150),
        (4_990, 12_000, 150),
        (5_000, 0, 150),
        (5_040, 0, 110),
        (5_050, 12_000, 100),
        (15_000, 0, 150),
    ] {
        let Moment { rate: found, queue, .. } = at(&outlook, n);
        assert_eq!((found, queue), (Some(kbit(rate)), Some(span(wait))), "at {n} ms");
    }
}

#[test]
fn outlook_rate_is_slowest_less_cross_traffic() {
    let json = r#"{ "stages": [
        { "rate": "10 Mbit/s", "queue": "10 kB",
          "cross": { "rate": "4 Mbit/s", "on": "1 s", "off": "3 s", "from": "2 s", "until": "4 s" } },
        { "rate": "9.5 Mbit/s", "queue": "19 kB" }] }"#;
    let outlook = plan(json).outlook(ms(10_000), 1, 100);
    // A quarter of 4 Mbit/s; on the second bottleneck they are gone. 8 ms and 16 ms.
    for (n, left) in [(0, 9_500), (1_999, 9_500), (2_000, 9_000), (3_999, 9_000), (4_000, 9_500)] {
        let Moment { rate, left: found, queue, .. } = at(&outlook, n);
        assert_eq!((rate, found), (Some(kbit(9_500)), Some(kbit(left))), "at {n} ms");
        assert_eq!(queue, Some(span(24)));
    }
    let policed = plan(r#"{ "police": { "rate": "2 Mbit/s", "burst": "10 kB" } }"#);
    let policed = policed.outlook(ms(10_000), 1, 100);
    assert_eq!(policed.moments[0].rate, Some(kbit(2_000)));
    assert_eq!(policed.notes.len(), 1);
}

#[test]
fn trace_rate_is_counted_in_bins() {
    // Ten in the first 100 ms, five in the second: 12,000 bit each are 1.2 and 0.6 Mbit/s.
    let times: Vec<String> = (1..=10)
        .map(|n| n * 10)
        .chain((1..=5).map(|n| 100 + n * 20))
        .map(|n| n.to_string())
        .collect();
    let json = format!(
        r#"{{ "rate": {{ "opportunities": [{}] }}, "queue": "3 packets" }}"#,
        times.join(", ")
    );
    let outlook = plan(&json).outlook(ms(1_000), 1, 1_000);
    // Behind 60 ms there are opportunities at 70, 80 and 90 ms; behind 160 ms at 180, 200, 210.
    for (n, rate, wait) in [(0, 1_200, 30), (100, 600, 60), (200, 1_200, 30), (300, 600, 60)] {
        let Moment { at: from, rate: found, queue, .. } = at(&outlook, n);
        assert_eq!((from, found, queue), (ms(n), Some(kbit(rate)), Some(span(wait))), "at {n} ms");
    }
    assert_eq!(plan(&json).time_to_show(), span(400));
}

/// By hand, of 10 Mbit/s: flows that ask for more than an equal share get that.
#[test]
fn fair_queueing_leaves_a_flow_its_share() {
    let of = |queue: &str, cross: &[&str]| {
        let cross: Vec<_> = cross.iter().map(|it| format!(r#"{{ "rate": "{it}" }}"#)).collect();
        let cross = cross.join(", ");
        let json = format!(r#"{{ "rate": "10 Mbit/s", "queue": {queue}, "cross": [{cross}] }}"#);
        plan(&json).outlook(ms(1_000), 1, 10).moments[0].left.unwrap().bits_per_second()
    };
    let fq_codel = r#"{ "fq_codel": {} }"#;
    for (cross, fair, plain) in [
        (&["20 Mbit/s"][..], 5_000_000, 0),
        (&["8 Mbit/s", "8 Mbit/s"], 3_333_333, 0),
        (&["2 Mbit/s"], 8_000_000, 8_000_000),
        (&["8 Mbit/s", "2 Mbit/s"], 4_000_000, 0),
        (&["8 Mbit/s"; 5], 1_666_666, 0),
    ] {
        assert_eq!(of(fq_codel, cross), fair, "{cross:?}");
        assert_eq!(of(r#""50 ms""#, cross), plain, "{cross:?}");
        // All in one queue.
        assert_eq!(of(r#"{ "fq_codel": { "flows": 1 } }"#, cross), plain, "{cross:?}");
    }
}

#[test]
fn losses_add_up_as_independent_ones() {
    for (json, share) in [
        (r#"{ "stages": [{ "loss": "10 %" }, { "loss": "20 %" }] }"#, 0.28),
        // 1 / (1 + 4) of the time bad: half of it, and 1 % of the rest.
        (
            r#"{ "loss": { "gilbert_elliott": { "p": "1 %", "r": "4 %", "bad": "50 %", "good": "1 %" } } }"#,
            0.108,
        ),
        (r#"{ "loss": { "every": 50 } }"#, 0.02),
        // Nine pass on average before a burst of three.
        (r#"{ "loss": { "burst": { "probability": "10 %", "length": 3 } } }"#, 0.25),
        // Seven times damaged.
        (r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "error": "50 %" } }"#, 1.0 / 128.0),
    ] {
        let found = plan(json).outlook(ms(1_000), 1, 10).loss;
        assert!((found - share).abs() < 1e-12, "{json}: {found}");
    }
}

#[test]
fn outages_are_those_of_the_seed_and_apart() {
    let json = r#"{ "interruption": [{ "every": "2 s", "lasting": "100 ms" },
                                     { "at": ["4.05 s", "7 s"], "lasting": "200 ms" }],
                    "blackhole": "9 s" }"#;
    let outlook = plan(json).outlook(ms(10_000), 1, 10);
    let found: Vec<_> = outlook.outages.iter().map(|it| (it.from, it.until)).collect();
    let expected = [(2_000, 2_100), (4_000, 4_250), (6_000, 6_100), (7_000, 7_200), (8_000, 8_100)];
    let expected = expected.into_iter().chain([(9_000, 10_000)]);
    assert_eq!(found, expected.map(|(from, until)| (ms(from), ms(until))).collect::<Vec<_>>());
    // The black hole begins at 9 s, and a quarter more is shown.
    assert_eq!(plan(json).time_to_show(), span(11_250));

    let random = plan(r#"{ "interruption": { "up": "1 s", "lasting": "100 ms" } }"#);
    let windows: Vec<_> = random.interruptions(ms(10_000), 7);
    let outages = random.outlook(ms(10_000), 7, 10).outages;
    let begun: Vec<_> = outages.iter().map(|it| it.from).collect();
    assert_eq!(begun, windows.iter().map(|it| it.0).collect::<Vec<_>>());
}

#[test]
fn outages_beyond_the_most_are_told() {
    let json = r#"{ "interruption": [{ "every": "10 ms", "lasting": "1 ms" },
                                     { "at": ["2000 s"], "lasting": "1 s" }] }"#;
    let outlook = plan(json).outlook(ms(3_600_000), 1, 10);
    assert_eq!(outlook.outages.len(), LinkPlan::MOST_OUTAGES);
    assert_eq!(outlook.outages_until, Some(ms(1_000_010)), "the next begins then");
    let note = "Interruptions are shown until 1000.01 s, and there are more later.";
    assert_eq!(outlook.notes, [note]);
    let outlook = plan(json).outlook(ms(1_000_010), 1, 10);
    assert_eq!((outlook.outages.len(), outlook.outages_until), (LinkPlan::MOST_OUTAGES, None));
    assert_eq!(outlook.notes, [""; 0]);
}

#[test]
fn outlook_notes_what_numbers_do_not_show() {
    let json = r#"{ "rate": "10 Mbit/s", "queue": { "codel": { "target": "7 ms" } },
        "mark": "1 %", "corrupt": "1 %", "duplicate": "1 %", "loss": { "every": 9 },
        "reorder": { "probability": "1 %", "gap": 3 } }"#;
    let plan = plan(json);
    let outlook = plan.outlook(ms(10_000), 1, 10);
    assert_eq!(outlook.notes, plan.describe());
    assert_eq!((outlook.wait, outlook.moments[0].queue), (Wait::Target, Some(span(7))));
}

#[test]
fn law_of_loss_and_what_events_put_in_its_place_are_shown_in_turn() {
    let json = r#"{ "loss": { "every": 50 }, "events": [
        { "at": "3 s", "loss": "10 %" }, { "at": "7 s", "loss": "0 %" }] }"#;
    let outlook = plan(json).outlook(ms(10_000), 1, 100);
    assert_eq!(
        outlook.moments.iter().map(|it| it.at).collect::<Vec<_>>(),
        [0, 3_000, 7_000].map(ms)
    );
    for (n, share) in [(0, 0.02), (3_000, 0.1), (7_000, 0.0)] {
        assert!((at(&outlook, n).loss - share).abs() < 1e-12, "at {n} ms");
    }
    assert!((outlook.loss - (3.0 * 0.02 + 4.0 * 0.1) / 10.0).abs() < 1e-12, "{}", outlook.loss);
    assert!(!outlook.has_rules);
}

#[test]
fn waits_of_several_queues_are_what_they_are() {
    for (second, wait) in [
        ("{}", Wait::Full),
        (r#"{ "rate": "9 Mbit/s", "queue": "9 packets" }"#, Wait::Full),
        (r#"{ "rate": "9 Mbit/s", "queue": { "codel": {} } }"#, Wait::Both),
    ] {
        let json =
            format!(r#"{{ "rate": "8 Mbit/s", "queue": "10 packets", "stages": [{second}] }}"#);
        assert_eq!(plan(&json).outlook(ms(1_000), 1, 10).wait, wait, "{json}");
    }
}
