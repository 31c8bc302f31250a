use tcplab_wire::Ecn;

use super::super::testing::{Hands, cause, ect, ms, plain, rng, tcp};
use super::*;

fn plan() -> PiePlan {
    PieSpec::default().plan(Rate::from_bits_per_second(1), Span::ZERO).unwrap()
}

fn controller() -> Controller {
    Controller::new(&plan())
}

/// PIE with that probability, a wait of 20 ms, no grace left, and so many full packets waiting.
fn pie(plan: PiePlan, probability: f64, waiting: u64) -> Hands<Pie> {
    let mut hands = Hands::new(Pie::new(plan, rng()));
    for id in 0..waiting {
        hands.push(ms(0), plain(id));
    }
    assert_eq!(hands.dropped(), []);
    let wait = Span::from_millis(20);
    let (burst_left, wait_before) = (Span::ZERO, wait);
    hands.queue.controller =
        Controller { probability, wait, wait_before, burst_left, ..controller() };
    hands
}

/// Worked out in exact fractions. The first line by hand: ⅛ · 0.020 s + 1¼ · 0.035 s = 0.04625, at
/// a probability of nothing divided by 2048.
#[test]
fn pie_probability_follows_queue_delay() {
    let mut controller = controller();
    for (wait, probability) in [
        (35, 0.000_022_583_007_812_5),
        (35, 0.000_042_114_257_812_5),
        (35, 0.000_061_645_507_812_5),
        (35, 0.000_081_176_757_812_5),
        (35, 0.000_100_708_007_812_5),
        (40, 0.000_393_676_757_812_5),
        (60, 0.001_350_708_007_812_5),
        (100, 0.008_928_833_007_812_5),
        (100, 0.010_256_958_007_812_5),
        (150, 0.049_944_458_007_812_5),
        (200, 0.092_756_958_007_812_5),
        (300, 0.173_069_458_007_812_5),
        // From 10 % on no step is larger than 2 %.
        (300, 0.193_069_458_007_812_5),
        (300, 0.213_069_458_007_812_5),
        (200, 0.111_194_458_007_812_5),
        // It cannot be less than nothing.
        (100, 0.0),
        (0, 0.0),
    ] {
        controller.wait = Span::from_millis(wait);
        controller.update();
        let error = (controller.probability - probability).abs();
        assert!(error < 1e-15, "{wait} ms: {} is not {probability}", controller.probability);
    }
}

/// From certainty: ⅛ · −0.015 − 1¼ · 0.1 = −0.126875; then −0.001875 and 2 % less; and so on.
#[test]
fn without_any_wait_the_probability_decays() {
    let wait_before = Span::from_millis(100);
    let mut controller = Controller { probability: 1.0, wait_before, ..controller() };
    for probability in [0.873_125, 0.853_825, 0.834_911] {
        controller.update();
        assert!((controller.probability - probability).abs() < 1e-12, "{probability}");
    }
}

/// Updates are at multiples of 15 ms, however often it is polled.
#[test]
fn updates_do_not_depend_on_who_looks_when() {
    let mut punctual = controller();
    let mut late = controller();
    for (at, wait) in [(3, 20), (14, 35), (15, 60), (100, 90), (101, 0), (400, 200), (5_000, 0)] {
        for now in 0..=at {
            punctual.catch_up(ms(now));
        }
        late.catch_up(ms(at));
        assert_eq!(format!("{punctual:?}"), format!("{late:?}"), "at {at} ms");
        punctual.wait = Span::from_millis(wait);
        late.wait = Span::from_millis(wait);
    }
    // 400 to 5,000 ms with a wait of 200 ms led to certainty long ago.
    assert!((late.probability - 1.0).abs() < f64::EPSILON);
    // It has settled, so centuries pass at once.
    late.catch_up(Instant::from_nanos(u64::MAX - 1));
    late.catch_up(Instant::MAX);
    assert_eq!((late.probability, late.burst_left), (0.0, Span::ZERO));
}

/// Of an hour in updates of 100 µs, one is enough: with nothing to lose the probability stays 0.
#[test]
fn settled_updates_use_up_the_grace_at_once() {
    let (update, burst) = (Span::from_micros(100), Span::from_secs(3600));
    let mut controller = Controller::new(&PiePlan { update, burst, ..plan() });
    controller.catch_up(Instant::ZERO + Span::from_secs(3599));
    assert_eq!(controller.burst_left, Span::from_secs(1));
    assert_eq!(controller.next_update, Instant::ZERO + Span::from_secs(3599) + update);
    controller.catch_up(Instant::ZERO + Span::from_secs(3600));
    assert!(!controller.is_bursting());
}

/// 1 ns above the target the probability grows by less than 10⁻¹² with each update.
#[test]
fn updates_that_do_not_settle_end() {
    let mut controller = controller();
    controller.wait = Span::from_nanos(15_000_001);
    controller.catch_up(Instant::from_nanos(u64::MAX - 1));
    assert!(controller.next_update >= Instant::from_nanos(u64::MAX - 1));
    // The first jumps by 1¼ · 15.000001 ms, divided by 2048; from then on by ⅛ ns, divided by 512.
    let (first, each) = (1.25 * 0.015_000_001 / 2048.0, 0.125e-9 / 512.0);
    let expected = first + each * f64::from(MOST_UPDATES);
    assert!((controller.probability - expected).abs() < 1e-3 * expected, "{controller:?}");
}

/// 10⁶ packets come while the probability is constant: binomial, five σ.
#[test]
fn drops_are_as_frequent_as_the_probability() {
    const PACKETS: u64 = 1_000_000;
    for (probability, derandomize) in [(0.01, false), (0.3, false), (0.9, false), (0.01, true)] {
        let mut hands = pie(PiePlan { derandomize, ..plan() }, probability, 3);
        let mut dropped = Vec::new();
        for id in 0..PACKETS {
            hands.push(ms(1), plain(100 + id));
            let hit = hands.dropped();
            if hit.is_empty() {
                // The queue keeps its length, without PIE noticing.
                hands.queue.waiting.pop();
            } else {
                let (waited, packets) = (Span::ZERO, 3);
                let discipline = verdict::Discipline::Pie;
                assert_eq!(cause(&hit[0]), Cause::Aqm { discipline, waited, packets });
                dropped.push(id);
            }
        }
        let count = dropped.len() as f64;
        if derandomize {
            // After 85 packets, of which none is dropped, each with 1 %: a mean of 84 + 100.
            let least = dropped.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
            let most = dropped.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!((85..=86).contains(&least) && most <= 851, "{least} to {most}");
            let mean = PACKETS as f64 / count;
            // σ of a gap is about 100, of the mean of 5,400 of them 1.36.
            assert!((mean - 184.0).abs() < 7.0, "{mean}");
        } else {
            let (mean, p) = (PACKETS as f64 * probability, probability);
            assert!((count - mean).abs() <= 5.0 * (mean * (1.0 - p)).sqrt(), "{count} at {p}");
        }
    }
}

#[test]
fn pie_short_queue_short_wait_or_new_burst_no_drops() {
    let dropped = |mut hands: Hands<Pie>| {
        for id in 0..100 {
            hands.push(ms(1), tcp(100 + id, 1, 40, Ecn::NotEct));
        }
        hands.dropped().len()
    };
    assert!(dropped(pie(plan(), 0.999, 3)) > 90);
    // No more than two packets: 3,000 B in all, so the third may come, and 40 B more are too many.
    let mut short = pie(plan(), 1.0, 2);
    short.push(ms(1), plain(7));
    short.push(ms(1), plain(8));
    assert_eq!(short.dropped_ids(), [8]);
    // Less than half the target at the last update, unless it is already dropping one in five.
    for (wait, probability, is_let_be) in [(7, 0.199, true), (7, 0.999, false), (8, 0.199, false)] {
        let mut calm = pie(plan(), probability, 3);
        calm.queue.controller.wait_before = Span::from_millis(wait);
        assert_eq!(dropped(calm) == 0, is_let_be, "{wait} ms at {probability}");
    }
    let mut young = pie(plan(), 1.0, 3);
    young.queue.controller.burst_left = Span::from_nanos(1);
    assert_eq!(dropped(young), 0);
}

/// The grace of 150 ms is over with the tenth update after the last packet that found no
/// congestion, and earned again by the first that finds none.
#[test]
fn pie_burst_allowance_ends_and_is_renewed() {
    let mut controller = controller();
    controller.wait = Span::from_millis(20);
    controller.catch_up(ms(149));
    controller.allow_burst();
    assert_eq!(controller.burst_left, Span::from_millis(15));
    controller.catch_up(ms(150));
    assert!(!controller.is_bursting());
    controller.wait = Span::ZERO;
    controller.catch_up(ms(151));
    controller.allow_burst();
    assert!(!controller.is_bursting(), "the wait was long at the last update");
    controller.catch_up(ms(1_000));
    controller.allow_burst();
    assert_eq!(controller.burst_left, Span::from_millis(150));
}

#[test]
fn pie_marks_up_to_threshold_and_drops_above() {
    let ecn = PiePlan { mark_threshold: Some(Probability::per_million(100_000)), ..plan() };
    for (plan, probability, is_marked) in
        [(ecn, 0.1, true), (ecn, 0.100_1, false), (plan(), 0.1, false)]
    {
        let mut hands = pie(plan, probability, 3);
        for id in 0..100 {
            hands.push(ms(1), ect(id));
        }
        let marked = hands.queue.held().filter(|transit| transit.marked).count();
        let dropped = hands.dropped().len();
        assert_eq!((marked > 0, dropped > 0), (is_marked, !is_marked), "{probability}");
    }
}

#[test]
fn pie_queue_delay_is_that_of_departing_packet() {
    let mut hands = Hands::new(Pie::new(plan(), rng()));
    hands.push(ms(0), plain(0));
    hands.push(ms(2), plain(1));
    for (now, wait) in [(5, 5), (9, 0)] {
        hands.pop(ms(now));
        assert_eq!(hands.queue.controller.wait, Span::from_millis(wait));
    }
}
