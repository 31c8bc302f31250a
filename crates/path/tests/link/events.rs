//! Events: a path that was planned with them, and one that they befall, do the same.

use crate::support::{Arrivals, SEED, arrivals, plans, step_until, tcp};
use proptest::collection::vec;
use proptest::prelude::*;
use tcplab_path::{
    Cause, Direction, Fate, Link, LinkPlan, PathChange, PathEvent, PathSpec, Verdict,
};
use tcplab_units::{Instant, Probability, Rate, Span};
use tcplab_wire::Ecn;

const NANOSECOND: Span = Span::from_nanos(1);

/// Some changes while packets come and after, in order of time; several at once, too.
fn events() -> impl Strategy<Value = Vec<PathEvent>> {
    let rate = prop_oneof![1_000..100_000_u64, 1_000_000..10_000_000_000_u64];
    let span = |most: u64| (1..most).prop_map(Span::from_nanos);
    let change = (
        proptest::option::of(rate.prop_map(Rate::from_bits_per_second)),
        proptest::option::of(span(5_000_000)),
        proptest::option::of((0..=1_000_000_u32).prop_map(Probability::per_million)),
        proptest::option::of(span(3_000_000)),
        proptest::option::of(1..4_u32),
    );
    let change = change.prop_map(|(rate, delay, loss, interrupt, drop)| {
        let is_nothing = rate.is_none() && delay.is_none();
        let drop = drop.or(is_nothing.then_some(1));
        PathChange { rate, delay, loss, interrupt, drop, ..PathChange::default() }
    });
    vec((prop_oneof![Just(0), 0..4_000_000_u64], change), 1..8).prop_map(|changes| {
        let mut at = NANOSECOND;
        let event = |(pause, change): (u64, PathChange)| {
            at += Span::from_nanos(pause);
            change.at(at)
        };
        changes.into_iter().map(event).collect()
    })
}

/// A link at work that events befall at their times.
fn befallen(
    plan: &LinkPlan,
    events: &[PathEvent],
    packets: &Arrivals,
    is_polled: bool,
) -> Vec<Verdict> {
    let mut link = Link::changeable(plan, SEED, Direction::Forward);
    let mut verdicts = Vec::new();
    let mut events = events.iter().peekable();
    let mut befall = |link: &mut Link, until: Instant, verdicts: &mut Vec<Verdict>| {
        while let Some(event) = events.next_if(|event| Instant::ZERO + event.at <= until) {
            let at = Instant::ZERO + event.at;
            if is_polled {
                step_until(link, at - NANOSECOND, verdicts);
            }
            assert_eq!(link.change(at, event.change()), Ok(at));
        }
    };
    for (id, (now, size)) in packets.iter().enumerate() {
        befall(&mut link, *now, &mut verdicts);
        if is_polled {
            step_until(&mut link, *now, &mut verdicts);
        }
        link.handle_packet(*now, tcp(id as u64, 1, (*size).max(40), Ecn::NotEct));
    }
    befall(&mut link, Instant::MAX, &mut verdicts);
    step_until_end(&mut link, &mut verdicts);
    verdicts
}

/// A world that was late may find much due at once.
fn step_until_end(link: &mut Link, verdicts: &mut Vec<Verdict>) {
    while let Some(due) = link.poll_at() {
        while let Some(departure) = link.poll(due) {
            verdicts.push(departure.verdict);
        }
    }
}

/// A link that was planned with the events.
fn foreseen(plan: &LinkPlan, packets: &Arrivals) -> Vec<Verdict> {
    befallen(plan, &[], packets, true)
}

/// What of the events this plan is able of, which has them afterwards.
fn foresee(plan: &mut LinkPlan, events: &[PathEvent]) -> Vec<PathEvent> {
    let mut possible = Vec::new();
    for event in events {
        // A link without a rate that can change is able of the rest.
        let others = PathChange { rate: None, ..event.change() };
        let change = match plan.change(event.at, event.change()) {
            Ok(()) => event.change(),
            Err(error) => {
                assert_eq!(error.key, "rate");
                match plan.change(event.at, others) {
                    Ok(()) => others,
                    Err(_) => continue,
                }
            }
        };
        possible.push(change.at(event.at));
    }
    possible
}

fn sorted(mut verdicts: Vec<Verdict>) -> Vec<Verdict> {
    verdicts.sort_by_key(|verdict| (verdict.left, verdict.id));
    verdicts
}

proptest! {
    /// Whether all of them are foreseen, none, or some.
    #[test]
    fn foreseen_event_does_what_it_does_when_it_comes(
        plan in plans(), events in events(), packets in arrivals(),
        is_foreseen in vec(any::<bool>(), 8),
    ) {
        let mut with_events = plan.clone();
        let events = foresee(&mut with_events, &events);
        let expected = foreseen(&with_events, &packets);
        prop_assert_eq!(&befallen(&plan, &events, &packets, true), &expected);
        let expected = sorted(expected);
        prop_assert_eq!(&sorted(befallen(&plan, &events, &packets, false)), &expected);

        let (mut with_some, mut others) = (plan, Vec::new());
        for (event, is_foreseen) in events.iter().zip(is_foreseen) {
            if is_foreseen {
                with_some.change(event.at, event.change()).unwrap();
            } else {
                others.push(*event);
            }
        }
        // Of two at the same time, the one that comes holds.
        let is_clear = events.windows(2).all(|pair| pair[0].at < pair[1].at);
        if is_clear {
            prop_assert_eq!(&sorted(befallen(&with_some, &others, &packets, true)), &expected);
        }
        // A link that cannot be changed is the same.
        let mut whole = Link::new(&with_events, SEED, Direction::Forward);
        let mut verdicts = Vec::new();
        for (id, (now, size)) in packets.iter().enumerate() {
            step_until(&mut whole, *now, &mut verdicts);
            whole.handle_packet(*now, tcp(id as u64, 1, (*size).max(40), Ecn::NotEct));
        }
        step_until_end(&mut whole, &mut verdicts);
        prop_assert_eq!(&sorted(verdicts), &expected);
    }
}

fn run(json: &str, packets: &Arrivals) -> Vec<Verdict> {
    let path: PathSpec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
    let plan = path.link(Direction::Forward).unwrap();
    let mut verdicts = foreseen(&plan, packets);
    verdicts.sort_unstable_by_key(|verdict| verdict.id);
    verdicts
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// 1,500 B take 1 ms at 12 Mbit/s. At 2.5 ms the third is half sent, and the rest of it takes 5 ms.
#[test]
fn packet_being_sent_continues_at_the_new_rate() {
    let packets = vec![(ms(0), 1500); 4];
    let json = r#"{ "rate": "12 Mbit/s", "delay": "1 ms", "events": [
                      { "at": "2.5 ms", "rate": "1.2 Mbit/s", "delay": "3 ms" }] }"#;
    let left: Vec<u64> = run(json, &packets).iter().map(|v| v.left.as_nanos() / 100_000).collect();
    assert_eq!(left, [20, 30, 105, 205]);
}

#[test]
fn next_data_segments_are_dropped_one_event_after_the_other() {
    // Segments of 40 B carry no data.
    let sizes = [1500, 1500, 40, 1500, 1500, 1500, 1500];
    let packets = sizes.iter().zip(0..).map(|(size, n)| (ms(n), *size)).collect();
    let json = r#"{ "events": [{ "at": "1 ms", "drop": 2 }, { "at": "1 ms", "drop": 1 },
                               { "at": "5.5 ms", "drop": 9 }] }"#;
    let fates: Vec<_> = run(json, &packets).into_iter().map(|v| v.fate.cause()).collect();
    let event = |number, nth| Some(Cause::Event { number, nth });
    let expected = [None, event(1, 1), None, event(1, 2), event(2, 1), None, event(3, 1)];
    assert_eq!(fates, expected);
}

#[test]
fn overlapping_interruptions_last_until_each_has_ended() {
    let packets = (0..9).map(|n| (ms(n), 1500)).collect();
    let json = r#"{ "events": [{ "at": "1 ms", "interrupt": "5 ms" },
                               { "at": "2 ms", "interrupt": "2 ms" }] }"#;
    let numbers: Vec<u64> = run(json, &packets)
        .iter()
        .map(|verdict| match verdict.fate {
            Fate::Dropped(Cause::Interruption { number, .. }) => number,
            _ => 0,
        })
        .collect();
    assert_eq!(numbers, [0, 1, 2, 2, 1, 1, 0, 0, 0]);
}

/// What is lost and how long each takes depends on the seed, whatever events there are.
#[test]
fn event_leaves_the_chance_of_others_alone() {
    let packets: Arrivals = (0..400).map(|n| (ms(n), 1500)).collect();
    let before = r#""loss": "10 %", "stages": [{ "jitter": "1 ms" }]"#;
    let plain = run(&format!("{{ {before} }}"), &packets);
    let events = r#""events": [{ "at": "50 ms", "drop": 3 }, { "at": "100 ms", "loss": "10 %" }]"#;
    let steered = run(&format!("{{ {before}, {events} }}"), &packets);
    let lost = |verdicts: &[Verdict]| -> Vec<u64> {
        let lost = verdicts.iter().filter(|v| v.fate == Fate::Dropped(Cause::Loss));
        lost.map(|verdict| verdict.id).collect()
    };
    assert_eq!(lost(&steered), lost(&plain));
    let dropped = steered.iter().filter(|v| matches!(v.fate.cause(), Some(Cause::Event { .. })));
    assert_eq!(dropped.count(), 3);
}

#[test]
fn impossible_change_leaves_the_link_as_it_was() {
    let mut link = Link::changeable(&LinkPlan::default(), SEED, Direction::Forward);
    let rate = Some(Rate::from_bits_per_second(1));
    let change = PathChange { rate, delay: Some(Span::from_millis(5)), ..PathChange::default() };
    assert_eq!(link.change(ms(1), change).unwrap_err().key, "rate");
    link.handle_packet(ms(2), tcp(1, 1, 1500, Ecn::NotEct));
    assert_eq!(link.poll_at(), Some(ms(2)));
    // What has happened stays: a change holds from the next nanosecond on.
    let change = PathChange { rate: None, ..change };
    assert_eq!(link.change(ms(1), change), Ok(ms(2) + NANOSECOND));
}
