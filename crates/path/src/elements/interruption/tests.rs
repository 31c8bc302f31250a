use super::*;
use crate::Direction;
use crate::testing::{distance, link, ms, path};

fn spans(list: &[u64]) -> Vec<Span> {
    list.iter().map(|n| Span::from_millis(*n)).collect()
}

/// The element of a plan, with seed 1.
fn at_work(plan: &InterruptionPlan) -> Interruption {
    let (direction, kind) = (Direction::Forward, "interruption");
    Interruption::new(plan, Streams { seed: 1, direction, kind, number: 1 })
}

fn periodic() -> InterruptionPlan {
    let times =
        InterruptionTimes::Periodic { every: Span::from_secs(5), offset: Span::from_secs(1) };
    InterruptionPlan { times, lasting: Span::from_millis(200) }
}

fn random(up: Span, lasting: Span, offset: Option<Span>) -> InterruptionPlan {
    let stream = "interruption/1".into();
    InterruptionPlan { times: InterruptionTimes::Random { up, offset, stream }, lasting }
}

#[test]
fn starts_belong_to_an_interruption_and_ends_do_not() {
    let mut element = at_work(&periodic());
    for (now, number) in [
        (ms(0), None),
        (Instant::from_nanos(999_999_999), None),
        (ms(1000), Some(1)),
        (Instant::from_nanos(1_199_999_999), Some(1)),
        (ms(1200), None),
        (ms(5999), None),
        (ms(6000), Some(2)),
        (ms(11_100), Some(3)),
    ] {
        assert_eq!(element.at(now).map(|(number, ..)| number), number, "{now:?}");
    }
    let plan = periodic();
    let until = |end| plan.windows(end, 1).collect::<Vec<_>>();
    assert!(until(ms(1000)).is_empty());
    assert_eq!(until(ms(1001)), [(ms(1000), ms(1200))]);
    assert_eq!(until(ms(6001)), [(ms(1000), ms(1200)), (ms(6000), ms(6200))]);
}

#[test]
fn listed_ones_may_touch() {
    let at = spans(&[1000, 1200, 3500]);
    let lasting = Span::from_millis(200);
    let plan = InterruptionPlan { times: InterruptionTimes::Listed { at }, lasting };
    let mut element = at_work(&plan);
    for (now, window) in [
        (ms(0), None),
        (ms(999), None),
        (ms(1000), Some((1, ms(1000), ms(1200)))),
        (ms(1200), Some((2, ms(1200), ms(1400)))),
        (ms(1400), None),
        (ms(3600), Some((3, ms(3500), ms(3700)))),
        (ms(3700), None),
        (ms(9_999_999), None),
    ] {
        assert_eq!(element.at(now), window, "{now:?}");
    }
    let until = |end| plan.windows(end, 1).collect::<Vec<_>>();
    assert_eq!(until(ms(1201)), [(ms(1000), ms(1200)), (ms(1200), ms(1400))]);
    assert_eq!(until(Instant::MAX).len(), 3);
}

#[test]
fn far_times_do_not_overflow() {
    let (every, lasting) = (Span::from_nanos(3), Span::from_nanos(2));
    for times in [
        InterruptionTimes::Periodic { every, offset: Span::MAX },
        InterruptionTimes::Listed { at: vec![Span::MAX] },
        random(Span::MAX, Span::MAX, Some(Span::MAX)).times,
    ] {
        let plan = InterruptionPlan { times, lasting };
        assert_eq!(at_work(&plan).at(Instant::MAX), None, "the end of time has no length");
        assert_eq!(plan.windows(Instant::MAX, 1).count(), 0);
    }
    let years = Span::from_secs(3_000_000_000);
    let mut element = at_work(&random(years, years, None));
    for now in [Instant::ZERO, Instant::ZERO + years, Instant::MAX, Instant::MAX] {
        element.at(now);
    }
}

#[test]
fn random_ones_are_the_same_however_they_are_asked() {
    let plan = random(Span::from_millis(5), Span::from_millis(2), None);
    let windows: Vec<_> = plan.windows(ms(1000), 1).collect();
    let inside = |now| windows.iter().position(|(from, to)| (*from..*to).contains(&now));
    for step in [1_000, 77_777, 3_000_000, 40_000_000] {
        let mut element = at_work(&plan);
        for now in (0..1_000_000_000).step_by(step).map(Instant::from_nanos) {
            let number = element.at(now).map(|(number, ..)| number as usize - 1);
            assert_eq!(number, inside(now), "{now:?}");
        }
    }
    let first = |plan: &InterruptionPlan, seed| plan.windows(ms(1000), seed).next().unwrap();
    assert_ne!(first(&plan, 1), first(&plan, 2));
    let set = random(Span::from_millis(5), Span::from_millis(2), Some(Span::from_millis(1)));
    assert_eq!(first(&set, 1).0, ms(1));
    // The same draws, whatever the means: with twice the means everything takes twice as long.
    let slow = random(Span::from_millis(10), Span::from_millis(4), None);
    for (slow, fast) in slow.windows(ms(900), 1).zip(&windows) {
        let off = slow.1.as_nanos().abs_diff(2 * fast.1.as_nanos());
        assert!(off < 1_000, "but for rounding: {off} ns");
    }
}

#[test]
fn directions_share_what_the_path_has_and_not_what_is_their_own() {
    let windows = |json: &str| {
        Direction::BOTH
            .map(|direction| path(json).link(direction).unwrap().interruptions(ms(60_000), 7))
    };
    let one = r#"{ "up": "1 s", "lasting": "100 ms" }"#;
    let [forward, reverse] = windows(&format!(r#"{{ "interruption": {one} }}"#));
    assert!(forward.len() > 20 && forward == reverse);

    let [own, others] = windows(&format!(
        r#"{{ "forward": {{ "interruption": {one} }}, "reverse": {{ "interruption": {one} }} }}"#
    ));
    assert!(own != others && own != forward);

    // By its place in the list, whatever else a direction has: the second is the same in both.
    let first = r#"{ "every": "1 h", "lasting": "1 s", "direction": "forward" }"#;
    let [amid, alone] = windows(&format!(r#"{{ "interruption": [{first}, {one}] }}"#));
    assert!(amid == alone && amid != forward);

    let staged = |table: &str| format!(r#"{{ {table} "stages": [{{ "interruption": {one} }}] }}"#);
    let [stage, same] = windows(&staged(""));
    assert!(stage == same && stage != forward);
}

#[test]
fn times_up_and_times_down_are_exponential() {
    const ROUNDS: usize = 100_000;
    for (up, lasting) in [(5_000, 200), (1, 50), (30, 30)] {
        let plan = random(Span::from_millis(up), Span::from_millis(lasting), None);
        let windows: Vec<_> = plan.windows(Instant::MAX, 9).take(ROUNDS).collect();
        let (mut ups, mut downs, mut end) = (Vec::new(), Vec::new(), Instant::ZERO);
        for (from, to) in windows {
            ups.push(from.since(end).as_millis_f64());
            downs.push(to.since(from).as_millis_f64());
            end = to;
        }
        let (up, lasting) = (up as f64, lasting as f64);
        // Neighbours are independent: their correlation is normal with σ = 1/√n.
        let pairs = ups.iter().zip(&downs).map(|(a, b)| (a / up - 1.0) * (b / lasting - 1.0));
        let correlation = pairs.sum::<f64>() / ROUNDS as f64;
        assert!(correlation.abs() < 5.0 / (ROUNDS as f64).sqrt(), "{correlation}");
        // The share of time down, by the delta method: variance 2 (d (1 − d))² / n.
        let down = lasting / (up + lasting);
        let seen = downs.iter().sum::<f64>() / end.since(Instant::ZERO).as_millis_f64();
        let sigma = down * (1.0 - down) * (2.0 / ROUNDS as f64).sqrt();
        assert!((seen - down).abs() < 5.0 * sigma, "{seen} of the time, not {down}");

        let exponential = |mean: f64| move |time: f64| 1.0 - (-time / mean).exp();
        let (ups, downs) = (distance(ups, exponential(up)), distance(downs, exponential(lasting)));
        assert!(ups < 2.7 && downs < 2.7, "{ups} {downs}");
    }
}

#[test]
fn black_hole_has_start_and_end() {
    for (json, fates) in [
        (r#"{ "blackhole": "3 s" }"#, [false, false, true, true, true]),
        (
            r#"{ "blackhole": { "from": "3 s", "until": "4 s" } }"#,
            [false, false, true, false, false],
        ),
        (
            r#"{ "blackhole": { "from": "0 s", "direction": "reverse" } }"#,
            [false, false, false, false, false],
        ),
    ] {
        let mut link = link(json, 1);
        for (now, is_dropped) in [ms(0), ms(2999), ms(3000), ms(4000), ms(9000)].iter().zip(fates) {
            link.handle_packet(*now, crate::Packet::new(0, vec![0; 40]));
            let cause = link.poll(*now).unwrap().verdict.fate.cause();
            assert_eq!(cause, is_dropped.then_some(Cause::Blackhole), "{json} at {now:?}");
        }
    }
}
