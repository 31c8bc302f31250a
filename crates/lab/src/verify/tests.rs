//! Verdicts on machines that are made up: a good one, and each that is bad in its own way.

use tcplab_path::{Direction, Fate, Link, LinkPlan, Packet, PathSpec};
use tcplab_recording::{Lateness, MoverRecord, RingWait};
use tcplab_results::verification::{CheckRow, Machine, Outcome};
use tcplab_testbed::{Arrival, DirectionRecord, RoundRecord, Train};
use tcplab_units::{Instant, Rate, Rng, Span};

use super::measure::{as_probed, links};
use super::rounds::Plan;
use super::*;

/// What a made-up machine does to a datagram that the path of the test lets through.
struct Fake {
    /// Added to each delay, in nanoseconds.
    late: u64,
    /// In a million.
    drops: u64,
    /// In per mille of the rate asked for.
    speed: u64,
}

const GOOD: Fake = Fake { late: 5_000, drops: 0, speed: 1000 };

const PATH: &str = r#"{ "rate": "20 Mbit/s", "delay": "10 ms", "loss": "1 %" }"#;
const RATE: u64 = 20_000_000;

impl Fake {
    /// Closed form: a transmitter, 1 % lost, 10 ms.
    fn way(&self, train: Train, rng: &mut Rng) -> DirectionRecord {
        let mut way = DirectionRecord::default();
        let busy = train.size.as_u64() * 8 * 1_000_000_000 / (RATE * self.speed / 1000);
        let mut free = 0;
        for number in 0..train.count {
            let later = u64::from((number + 1).saturating_sub(train.ahead));
            let sent = 5_000_000 + (train.gap * later).as_nanos();
            way.sent.push(sent);
            free = free.max(sent) + busy;
            if rng.below(1_000_000) < 10_000 + self.drops {
                continue;
            }
            let at = free + 10_000_000 + self.late + rng.below(10_000);
            let number = Some(number);
            way.arrivals.push(Arrival { number, at, damaged: false, marked: false });
        }
        way
    }

    fn rows(&self, path: &str, lasting: Span) -> Vec<CheckRow> {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let links = links(&path).unwrap();
        let plan = Plan::of(&links, lasting, 1);
        let mut rng = Rng::new(1, "machine");
        let rounds: Vec<RoundRecord> = plan
            .rounds()
            .iter()
            .map(|round| {
                let mut way = |train: Option<Train>| {
                    train.map(|train| self.way(train, &mut rng)).unwrap_or_default()
                };
                RoundRecord {
                    directions: [way(round.forward), way(round.reverse)],
                    lateness: Lateness { p99: Span::from_nanos(self.late), ..Lateness::default() },
                    ring_wait: RingWait::default(),
                    device_drops: 0,
                    mover: MoverRecord::default(),
                    lasted: lasting,
                }
            })
            .collect();
        achieved::rows(&links, &plan, &rounds)
    }
}

/// The names of the rows with that outcome.
fn with(rows: &[CheckRow], outcome: Outcome) -> Vec<String> {
    let name = |row: &CheckRow| match row.direction {
        Some(direction) => format!("{direction} {}", row.quantity),
        None => row.quantity.clone(),
    };
    rows.iter().filter(|row| row.outcome == outcome).map(name).collect()
}

#[test]
fn bad_machine_fails_matching_check() {
    for (machine, off) in [
        (GOOD, &[][..]),
        (Fake { late: 1_500_000, ..GOOD }, &["forward delay", "reverse delay", "lateness"]),
        (Fake { late: 150_000, ..GOOD }, &["forward delay", "reverse delay"]),
        (Fake { drops: 50_000, ..GOOD }, &["forward loss", "reverse loss"]),
        (Fake { speed: 970, ..GOOD }, &["forward rate", "reverse rate"]),
        (Fake { speed: 998, ..GOOD }, &[]),
    ] {
        let rows = machine.rows(PATH, Span::from_secs(2));
        assert_eq!(with(&rows, Outcome::Off), off, "{rows:#?}");
        assert_eq!(
            with(&rows, Outcome::NotMeasured),
            ["forward queue", "reverse queue"],
            "{rows:#?}"
        );
    }
}

/// What a good machine does: the link itself in virtual time, and each arrival 20 to 30 µs late.
fn by_the_link(plan: &LinkPlan, direction: Direction, train: Train) -> DirectionRecord {
    let (mut link, mut rng) = (Link::new(plan, 1, direction), Rng::new(1, "machine"));
    let mut way = DirectionRecord::default();
    let mut take = |link: &mut Link, now: Instant, way: &mut DirectionRecord| {
        while let Some(departure) = link.poll(now) {
            let verdict = departure.verdict;
            let number = verdict.origin.or((!verdict.is_made()).then_some(verdict.id));
            let Some(number) = number.filter(|_| verdict.fate == Fate::Delivered) else { continue };
            let at = verdict.left.as_nanos() + 20_000 + rng.below(10_000);
            let number = Some(number as u32);
            way.arrivals.push(Arrival { number, at, damaged: false, marked: false });
        }
    };
    for number in 0..train.count {
        let later = u64::from((number + 1).saturating_sub(train.ahead));
        let sent = Instant::from_nanos(5_000_000) + train.gap * later;
        while let Some(due) = link.poll_at().filter(|due| *due < sent) {
            take(&mut link, due, &mut way);
        }
        way.sent.push(sent.as_nanos());
        link.handle_packet(sent, Packet::of_size(u64::from(number), train.size));
        take(&mut link, sent, &mut way);
    }
    let end = Instant::from_nanos(way.sent.last().copied().unwrap_or_default());
    let patience = Span::from_secs(5);
    while let Some(due) = link.poll_at().filter(|due| *due < end + patience) {
        take(&mut link, due, &mut way);
    }
    way
}

/// The rows of a path on a good machine.
fn good_rows(path: &str, lasting: Span) -> Vec<CheckRow> {
    let path: PathSpec = serde_json::from_str(path).unwrap();
    let links = links(&path).unwrap();
    let plan = Plan::of(&links, lasting, 1);
    let record = |round: &tcplab_testbed::Round| {
        let way = |way: usize, train: Option<Train>| {
            let by_the_link = |train| by_the_link(&links[way], Direction::BOTH[way], train);
            train.map(by_the_link).unwrap_or_default()
        };
        RoundRecord {
            directions: [way(0, round.forward), way(1, round.reverse)],
            lateness: Lateness::default(),
            ring_wait: RingWait::default(),
            device_drops: 0,
            mover: MoverRecord::default(),
            lasted: lasting,
        }
    };
    let rounds: Vec<RoundRecord> = plan.rounds().iter().map(record).collect();
    achieved::rows(&links, &plan, &rounds)
}

#[test]
fn path_that_keeps_its_promises_is_not_blamed() {
    for (path, judged) in [
        (PATH, &["loss", "delay", "rate"][..]),
        (r#"{ "rate": "64 kbit/s", "burst": "2 kB", "loss": "20 %" }"#, &["loss"]),
        (
            r#"{ "rate": { "start": "64 kbit/s", "steps": [{ "at": "5 s", "to": "1 Mbit/s" }] } }"#,
            &["loss"],
        ),
        (r#"{ "rate": { "opportunities": [40] }, "queue": "2 packets" }"#, &["loss"]),
        (r#"{ "rate": { "opportunities": [1, 30, 31, 90] }, "loss": "10 %" }"#, &["loss"]),
        (
            r#"{ "rate": "64 kbit/s", "burst": "2 kB",
                 "interruption": { "every": "1 s", "lasting": "100 ms" } }"#,
            &["loss", "interruption"],
        ),
        // Nobody knows when cross traffic lets a probe go.
        (
            r#"{ "rate": "1 Mbit/s", "queue": "2 packets", "cross": { "rate": "900 kbit/s" },
                 "interruption": { "every": "1 s", "lasting": "100 ms" } }"#,
            &[],
        ),
        (
            r#"{ "rate": { "opportunities": [40] },
                 "interruption": { "every": "1 s", "lasting": "100 ms" } }"#,
            &[],
        ),
        (
            r#"{ "rate": { "start": "64 kbit/s", "steps": [
                 { "at": "500 ms", "to": "0 bit/s" }, { "at": "2 s", "to": "1 Mbit/s" }] },
                 "queue": "2 packets" }"#,
            &[],
        ),
        (
            r#"{ "jitter": { "normal": "3 ms", "reorder": true }, "delay": "2 ms" }"#,
            &["loss", "jitter"],
        ),
        (r#"{ "jitter": { "uniform": "5 ms" }, "delay": "1 ms" }"#, &["loss", "jitter"]),
    ] {
        let rows = good_rows(path, Span::from_secs(4));
        assert_eq!(with(&rows, Outcome::Off), Vec::<String>::new(), "{path}: {rows:#?}");
        let found = with(&rows, Outcome::Ok);
        for direction in Direction::BOTH {
            for quantity in judged {
                assert!(found.contains(&format!("{direction} {quantity}")), "{path}: {rows:#?}");
            }
        }
    }
}

/// The law that is cut at zero still tells others from it.
#[test]
fn wrong_law_of_jitter_is_blamed_beside_delays_of_zero() {
    let asked = r#"{ "jitter": { "normal": "3 ms", "reorder": true }, "delay": "2 ms" }"#;
    let links_of = |path: &str| links(&serde_json::from_str(path).unwrap()).unwrap();
    let links = links_of(asked);
    let plan = Plan::of(&links, Span::from_secs(4), 1);
    for (made, outcome) in [
        (asked, Outcome::Ok),
        (r#"{ "jitter": { "normal": "4 ms", "reorder": true }, "delay": "2 ms" }"#, Outcome::Off),
        (r#"{ "jitter": { "normal": "3 ms", "reorder": true }, "delay": "3 ms" }"#, Outcome::Off),
    ] {
        let made_links = links_of(made);
        let train = plan.probes.forward.unwrap();
        let way = |way: usize| by_the_link(&made_links[way], Direction::BOTH[way], train);
        let round = RoundRecord {
            directions: [way(0), way(1)],
            lateness: Lateness::default(),
            ring_wait: RingWait::default(),
            device_drops: 0,
            mover: MoverRecord::default(),
            lasted: Span::from_secs(4),
        };
        let rows = achieved::rows(&links, &plan, &[round]);
        let row = rows.iter().find(|row| row.quantity == "jitter").unwrap();
        assert_eq!(row.outcome, outcome, "{made}: {row:?}");
    }
}

#[test]
fn rows_without_a_sample_are_not_measured() {
    let path = r#"{ "rate": "20 Mbit/s", "delay": "10 ms", "loss": "100 %",
        "corrupt": "1 %", "duplicate": "1 %" }"#;
    let all_lost = Fake { drops: 990_000, ..GOOD };
    let real = all_lost.rows(path, Span::from_secs(1));
    let model = check_model(&serde_json::from_str(path).unwrap(), 7, 1_000).unwrap();
    for (rows, wanted) in [
        (&real, &["forward delay", "forward corruption", "lateness"][..]),
        (&model, &["forward delay", "forward corruption", "forward duplication"]),
    ] {
        let unknown = with(rows, Outcome::NotMeasured);
        assert!(wanted.iter().all(|it| unknown.contains(&(*it).to_owned())), "{rows:#?}");
        assert!(with(rows, Outcome::Ok).contains(&"forward loss".into()), "{rows:#?}");
    }
}

#[test]
fn element_without_a_probe_is_named() {
    let path = r#"{
        "forward": {
            "rate": "20 Mbit/s", "mtu": "1400 B", "police": { "rate": "9 Mbit/s", "burst": "30 kB" },
            "drop": { "kind": "syn", "nth": [1] },
            "cross": { "rate": "1 Mbit/s" }
        },
        "delay": "5 ms"
    }"#;
    let real = GOOD.rows(path, Span::from_secs(1));
    let model = check_model(&serde_json::from_str(path).unwrap(), 7, 1_000).unwrap();
    for rows in [real, model] {
        let named = with(&rows, Outcome::NotMeasured);
        for quantity in ["queue", "mtu", "policer", "cross traffic", "drop rules"] {
            assert!(named.contains(&format!("forward {quantity}")), "{quantity}: {named:?}");
        }
        assert!(!named.iter().any(|name| name.starts_with("reverse")), "{named:?}");
    }
}

#[test]
fn delay_with_jitter_has_a_row_in_either_time() {
    let path = r#"{ "rate": "20 Mbit/s", "delay": "9 ms", "jitter": "2 ms" }"#;
    let real = GOOD.rows(path, Span::from_secs(1));
    let model = check_model(&serde_json::from_str(path).unwrap(), 7, 1_000).unwrap();
    for rows in [real, model] {
        assert!(with(&rows, Outcome::NotMeasured).contains(&"forward delay".into()), "{rows:#?}");
    }
}

/// A million packets of 12 kbit take 12,000 s at 1 Mbit/s, in which 10⁹ others come at 1 Gbit/s,
/// and 10¹³ of 1 B at 8 Gbit/s.
#[test]
fn cross_traffic_much_faster_than_the_bottleneck_ends() {
    let conservation = |cross: &str| {
        let path = format!(r#"{{ "rate": "1 Mbit/s", "forward": {{ "cross": {cross} }} }}"#);
        let rows = check_model(&serde_json::from_str(&path).unwrap(), 7, 1_000_000).unwrap();
        let row = rows.iter().find(|row| row.quantity == "conservation").unwrap().clone();
        (row.direction == Some(Direction::Forward)).then_some((row.outcome, row.asked))
    };
    let few = (Outcome::Ok, "1000 packets".to_owned());
    assert_eq!(conservation(r#"{ "rate": "1 Gbit/s" }"#), Some(few));
    assert_eq!(conservation(r#"{ "rate": "8 Gbit/s", "size": "1 B" }"#), None);
}

/// A thousand packets at 1 bit/s take 12 million seconds, in which 12 thousand million
/// interruptions begin.
#[test]
fn interruptions_of_years_are_not_looked_at_one_by_one() {
    let path = r#"{ "rate": "1 bit/s", "interruption": { "every": "1 ms", "lasting": "1 us" } }"#;
    let rows = check_model(&serde_json::from_str(path).unwrap(), 7, 1_000).unwrap();
    let row = rows.iter().find(|row| row.quantity == "interruption").unwrap();
    assert_eq!(
        (row.outcome, row.why.as_str()),
        (Outcome::NotMeasured, "there are too many of them")
    );
}

/// Whatever ports probes have: the base RTT that they find is the path's, to which each connection
/// adds its own delay.
#[test]
fn path_is_measured_without_the_way_that_some_connections_have_to_it() {
    let path = r#"{ "rate": "20 Mbit/s", "delay": "10 ms", "loss": "1 %",
                    "port_delay": [{ "port": 5002, "delay": "40 ms" }] }"#;
    let rows = GOOD.rows(path, Span::from_secs(2));
    assert_eq!(with(&rows, Outcome::Off), Vec::<String>::new(), "{rows:#?}");
    assert!(with(&rows, Outcome::NotMeasured).contains(&"reverse port_delay".to_owned()));
    let spec = |text: &str| serde_json::from_str::<PathSpec>(text).unwrap();
    assert_eq!(links(&as_probed(&spec(path))).unwrap(), links(&spec(PATH)).unwrap());
}

#[test]
fn unmeasurable_check_gives_reason() {
    for (path, quantity, why) in [
        (r#"{ "rate": "200 kbit/s", "delay": "400 ms" }"#, "rate", "to send 20 packets"),
        (r#"{ "rate": "5 Gbit/s" }"#, "rate", "see ceiling"),
        (r#"{ "rate": "100 Mbit/s", "queue": "2 packets" }"#, "rate", "a queue of 2 packets"),
        (r#"{ "rate": "20 Mbit/s", "jitter": "2 ms", "delay": "9 ms" }"#, "delay", "see jitter"),
        (
            r#"{ "rate": "20 Mbit/s", "interruption": { "every": "5 s", "lasting": "200 ms" } }"#,
            "interruption",
            "the first is at 5.00 s",
        ),
        (
            r#"{ "rate": "20 Mbit/s", "loss": { "burst": { "probability": "0.01 %", "length": 5 } } }"#,
            "loss",
            "bursts among",
        ),
        (
            r#"{ "rate": "20 Mbit/s", "reorder": { "probability": "1 %", "extra": "1 ms" } }"#,
            "reordering",
            "too far to overtake",
        ),
    ] {
        let rows = GOOD.rows(path, Span::from_secs(1));
        let row = rows.iter().find(|row| row.quantity == quantity).unwrap();
        assert_eq!(row.outcome, Outcome::NotMeasured, "{path}: {row:?}");
        assert!(row.why.contains(why), "{path}: {row:?}");
    }
}

#[test]
fn model_follows_its_laws() {
    for path in [
        PATH,
        r#"{ "delay": "3 ms", "jitter": { "normal": "1 ms", "reorder": true } }"#,
        r#"{ "rate": "7 Mbit/s", "loss": { "gilbert_elliott": { "p": "1 %", "r": "20 %" } } }"#,
        r#"{ "rate": "9 Mbit/s", "interruption": { "every": "1 s", "lasting": "50 ms" } }"#,
        r#"{ "delay": "1 ms", "duplicate": "2 %", "corrupt": "1 %", "mark": "10 %" }"#,
        r#"{ "rate": "1 Gbit/s", "reorder": { "probability": "2 %", "gap": 3 } }"#,
        WIRELESS,
    ] {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let rows = check_model(&path, 7, 100_000).unwrap();
        assert_eq!(with(&rows, Outcome::Off), Vec::<String>::new(), "{rows:#?}");
        assert!(with(&rows, Outcome::Ok).len() >= 4, "{rows:#?}");
    }
}

/// Elements that follow one another change what the others do: that is compared where it can be
/// reckoned with, and else has the reason.
#[test]
fn elements_behind_one_another_are_not_blamed() {
    let (every, rate) = (r#""every": "1 s", "lasting": "50 ms""#, r#""rate": "5 Mbit/s""#);
    for (path, quantity, outcome) in [
        (
            r#""reorder": { "every": 5, "gap": 3 }, "duplicate": "10 %""#.into(),
            "conservation",
            Outcome::Ok,
        ),
        (
            r#""reorder": { "probability": "20 %", "gap": 3 }, "duplicate": "30 %""#.into(),
            "reordering",
            Outcome::NotMeasured,
        ),
        (
            r#""reorder": { "probability": "5 %", "gap": 3 }, "stages": [{ "loss": "30 %" }]"#
                .into(),
            "reordering",
            Outcome::NotMeasured,
        ),
        (
            r#""duplicate": "3 %", "stages": [{ "loss": { "every": 7 } }]"#.into(),
            "loss",
            Outcome::NotMeasured,
        ),
        (r#""duplicate": "3 %", "stages": [{ "loss": "10 %" }]"#.into(), "loss", Outcome::Ok),
        (
            r#""duplicate": "30 %", "stages": [{ "loss": "40 %" }]"#.into(),
            "duplication",
            Outcome::NotMeasured,
        ),
        (
            format!(r#""loss": "10 %", "stages": [{{ "interruption": {{ {every} }} }}]"#),
            "loss",
            Outcome::NotMeasured,
        ),
        // In front of the bottleneck, and behind a delay: these moments are known.
        (
            format!(
                r#""delay": "3 ms", "interruption": {{ "up": "1 s", "lasting": "50 ms" }},
                   "stages": [{{ {rate} }}]"#
            ),
            "interruption",
            Outcome::Ok,
        ),
        (format!(r#""delay": "3 ms", "stages": [{{ {rate} }}]"#), "delay", Outcome::Ok),
        (
            format!(
                r#""delay": "3 ms",
                   "stages": [{{ "delay": "3 ms", "interruption": {{ {every} }} }}]"#
            ),
            "interruption",
            Outcome::Ok,
        ),
        (
            format!(
                r#"{rate}, "delay": "3 ms", "loss": "10 %",
                   "stages": [{{ "interruption": {{ {every} }} }}]"#
            ),
            "interruption",
            Outcome::Ok,
        ),
        (
            format!(
                r#""rate": "10 Mbit/s", "interruption": {{ {every} }}, "stages": [{{ {rate} }}],
                   "events": [{{ "at": "1 s", "rate": "2 Mbit/s" }}]"#
            ),
            "interruption",
            Outcome::NotMeasured,
        ),
        (
            format!(
                r#""delay": "1 ms", "jitter": "1 ms",
                   "stages": [{{ "interruption": {{ {every} }} }}]"#
            ),
            "interruption",
            Outcome::NotMeasured,
        ),
    ] {
        let path = format!("{{ {path} }}");
        let spec: PathSpec = serde_json::from_str(&path).unwrap();
        let rows = check_model(&spec, 7, 100_000).unwrap();
        assert_eq!(with(&rows, Outcome::Off), Vec::<String>::new(), "{path}: {rows:#?}");
        let found = with(&rows, outcome);
        assert!(found.contains(&format!("forward {quantity}")), "{path}: {rows:#?}");
        let rows = good_rows(&path, Span::from_secs(4));
        assert_eq!(with(&rows, Outcome::Off), Vec::<String>::new(), "{path}: {rows:#?}");
    }
}

/// A link that is busy for far longer with a small packet than its rate says.
const WIRELESS: &str = r#"{
    "wifi": { "standard": "g", "rate": "54 Mbit/s", "error": "10 %", "stations": 3 },
    "loss": { "gilbert_elliott": { "p": "0.1 %", "r": "33 %" } },
    "interruption": { "up": "7 s", "lasting": "300 ms" }
}"#;

#[test]
fn probes_find_a_wireless_link_idle() {
    let links = links(&serde_json::from_str(WIRELESS).unwrap()).unwrap();
    let plan = Plan::of(&links, Span::from_secs(3), 1);
    // A full frame and its acknowledgement take 0.39 ms (1500 B at 30.5 Mbit/s), and four take
    // turns, so that a packet in a thousandth of a second would wait for the one before.
    for probes in [plan.probes.forward, plan.probes.reverse].into_iter().flatten() {
        assert!(probes.gap > Span::from_micros(2 * 4 * 390), "{probes:?}");
        assert!(probes.count > 300, "{probes:?}");
    }
}

#[test]
fn rate_is_bounded_by_share_of_ceiling() {
    let machine = Machine {
        device: "tun".into(),
        privilege: "held".into(),
        scheduling: "real-time".into(),
        lead: Span::from_micros(16),
        spin: Span::from_micros(60),
        error_without_lead: (16_000, 60_000),
        error: (0, 40_000),
        ceiling_pps: 100_000,
        ceiling_rate: Rate::from_bits_per_second(1_000_000_000),
    };
    let outcome =
        |mbit: u64| machine.ceiling_row(Some(Rate::from_bits_per_second(mbit * 1_000_000))).outcome;
    assert_eq!((outcome(800), outcome(801)), (Outcome::Ok, Outcome::Off));
    assert_eq!(machine.ceiling_row(None).outcome, Outcome::Ok);
    let can_model = |json: &str| machine.can_model("a path", &serde_json::from_str(json).unwrap());
    for json in ["{}", r#"{ "rate": "800 Mbit/s" }"#] {
        assert_eq!(can_model(json), Ok(()), "{json}");
    }
    // Of two bottlenecks in a row the slower one counts, of two directions the faster one.
    assert_eq!(can_model(r#"{ "rate": "2 Gbit/s", "stages": [{ "rate": "1 Mbit/s" }] }"#), Ok(()));
    let refused = can_model(r#"{ "rate": "1 Mbit/s", "reverse": { "rate": "801 Mbit/s" } }"#);
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a path asks for 801 Mbit/s; this machine models 1 Gbit/s at most, and up to 800 Mbit/s \
         with confidence"
    );
    // Only a run has the option to continue.
    let flag = "--allow-above-ceiling";
    assert!(!refused.remedy().contains(flag));
    assert!(crate::LabError::from(refused).remedy().unwrap().contains(flag));
    assert_eq!(tuning_of(&machine).lead, Span::from_micros(16));
    let late = Machine { error: (100_001, 200_000), ..machine.clone() };
    assert_eq!(
        (machine.timer_row().outcome, late.timer_row().outcome),
        (Outcome::Ok, Outcome::Off)
    );
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
}

#[test]
fn path_on_which_packets_take_too_long_is_not_measured() {
    let why = |path: &str, lasting: Span| {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        Plan::of(&links(&path).unwrap(), lasting, 1).too_slow()
    };
    let [short, long] = [Span::from_secs(1), Span::from_secs(60)];
    let slow = r#"{ "delay": "30 s" }"#;
    assert_eq!(why(slow, short).unwrap(), "a packet takes 30 s: too long to measure in 1 s");
    assert_eq!(why(slow, long), None, "it takes about as long as was asked for");
    // 12,000 bits.
    let slow = why(r#"{ "rate": "1 bit/s" }"#, long).unwrap();
    assert_eq!(slow, "a packet takes 200 min: too long to measure in 1 min");
    let slow = why(r#"{ "rate": "1.1 kbit/s" }"#, short).unwrap();
    assert_eq!(slow, "a packet takes 10.909 s: too long to measure in 1 s");
    let slow = why(r#"{ "forward": { "delay": "10 h" } }"#, short).unwrap();
    assert_eq!(slow, "a packet takes 10 h: too long to measure in 1 s");
    assert_eq!(why(r#"{ "delay": "300 ms", "rate": "1 Mbit/s" }"#, short), None);
}
