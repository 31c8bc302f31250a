use super::*;
use crate::testing::{distance, link};
use crate::{FIRST_MADE_ID, Fate, Packet, Verdict};

/// When the packets of cross traffic come, in nanoseconds, until some second.
fn instants(cross: &str, until: u64) -> Vec<u64> {
    let json =
        format!(r#"{{ "rate": "100 Gbit/s", "queue": "100000 packets", "cross": {cross} }}"#);
    let mut link = link(&json, 11);
    let end = Instant::ZERO + Span::from_secs(until);
    std::iter::from_fn(|| link.poll(end)).map(|it| it.verdict.entered.as_nanos()).collect()
}

/// But for one of a thousand samples of the law.
fn follows(sample: Vec<f64>, law: impl Fn(f64) -> f64) -> bool {
    distance(sample, law) < 1.95
}

fn gaps(instants: &[u64]) -> Vec<f64> {
    instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

#[test]
fn gaps_of_poisson_traffic_are_exponential_and_independent() {
    // 10 Mbit/s in packets of 1,250 B: one in a millisecond.
    let instants = instants(r#"{ "rate": "10 Mbit/s", "size": "1250 B" }"#, 1000);
    let n = instants.len() as f64;
    assert!((n - 1e6).abs() < 5.0 * 1e3, "{n} packets: mean a million, σ a thousand");
    let gaps = gaps(&instants);
    assert!(follows(gaps.clone(), |x| 1.0 - (-x / 1e6).exp()));
    assert!(!follows(gaps.clone(), |x| 1.0 - (-x / 1.01e6).exp()), "one percent more is detected");
    // The correlation of neighbours has σ = 1/√n.
    let products: f64 = gaps.windows(2).map(|it| (it[0] / 1e6 - 1.0) * (it[1] / 1e6 - 1.0)).sum();
    assert!((products / n).abs() < 5.0 / n.sqrt());
}

#[test]
fn even_traffic_is_spaced_to_the_fraction() {
    // 1,500 B at 36 Mbit/s: a third of a millisecond.
    let cross = r#"{ "rate": "36 Mbit/s", "arrivals": "even", "from": "1 s", "until": "1001 ms" }"#;
    assert_eq!(instants(cross, 5), [1_000_000_000, 1_000_333_333, 1_000_666_666]);
    let minute = instants(r#"{ "rate": "36 Mbit/s", "arrivals": "even" }"#, 60);
    // The next comes at the end and is still being sent then.
    assert_eq!((minute.len(), minute[179_999]), (180_000, 59_999_666_666));
}

#[test]
fn traffic_that_is_on_and_off_has_its_share() {
    // On for 10 ms of 40 on average, with a packet each 10 µs while it is on.
    let cross = r#"{ "rate": "1 Gbit/s", "size": "1250 B", "arrivals": "even",
                     "on": "10 ms", "off": "30 ms" }"#;
    let seconds = 100;
    let instants = instants(cross, seconds);
    let cycles = seconds as f64 / 0.04;
    // The share of an alternating renewal process: on/(on+off), with variance
    // 2·on²·off²/(on+off)³/T for exponential times.
    let share = instants.len() as f64 * 10e-6 / seconds as f64;
    let sigma = (2.0 * 0.25_f64.powi(2) * 0.75_f64.powi(2) / cycles).sqrt();
    assert!((share - 0.25).abs() < 5.0 * sigma, "{share}");
    // A gap above 10 µs has an off time in it, which is what is left of it.
    let offs: Vec<_> = gaps(&instants).into_iter().filter(|gap| *gap > 10_001.0).collect();
    assert!((offs.len() as f64 - cycles).abs() < 5.0 * cycles.sqrt(), "{} cycles", offs.len());
    // Two on times within a gap put two off times into one: one in a thousand.
    assert!(follows(offs, |x| 1.0 - (-(x - 10_000.0) / 30e6).exp()));
}

#[test]
fn others_share_the_queue_and_leave_behind_it() {
    // A packet of 1,250 B each 10 ms from 5 ms on takes 10 ms at 1 Mbit/s: no room for more.
    let mut link = link(
        r#"{ "rate": "1 Mbit/s", "delay": "1 s", "loss": "100 %", "queue": "2 packets",
             "cross": { "rate": "1 Mbit/s", "size": "1250 B", "arrivals": "even", "from": "5 ms" } }"#,
        11,
    );
    let at = |ms| Instant::ZERO + Span::from_millis(ms);
    link.handle_packet(at(7), Packet::of_size(1, Bytes::new(125)));
    assert_eq!(link.in_flight().map(|it| it.id).collect::<Vec<_>>(), [1], "others do not count");
    let verdicts: Vec<Verdict> =
        std::iter::from_fn(|| link.poll(at(27))).map(|it| it.verdict).collect();
    let found: Vec<_> =
        verdicts.iter().map(|it| (it.id, it.entered, it.left, it.fate.name(), it.origin)).collect();
    // The loss behind the bottleneck hits only ours.
    assert_eq!(
        found,
        [
            (FIRST_MADE_ID, at(5), at(15), "absorbed", None),
            (1, at(7), at(16), "dropped", None),
            (FIRST_MADE_ID + 2, at(15), at(26), "absorbed", None),
        ]
    );
    assert_eq!(verdicts[1].transmission.unwrap().waited(), Span::from_millis(8));
    assert!(link.in_flight().next().is_none(), "the link is idle for all that counts");
    let left_over = link.drain(at(30));
    assert_eq!(left_over.len(), 1);
    assert_eq!(left_over[0].verdict.fate, Fate::StillOnLink);
    assert_eq!(link.poll_at(), None);
}

/// A flow that fills its queue beside others that fill theirs gets what each of them gets.
#[test]
fn fair_queueing_gives_each_cross_flow_a_share() {
    for flows in [1, 2, 5] {
        let cross = vec![r#"{ "rate": "12 Mbit/s" }"#; flows].join(", ");
        let json = format!(
            r#"{{ "rate": "12 Mbit/s", "queue": {{ "fq_codel": {{}} }}, "cross": [{cross}] }}"#
        );
        let mut link = link(&json, 11);
        let mut delivered = 0;
        // A packet each millisecond fills the rate.
        for ms in 0..10_000 {
            let now = Instant::ZERO + Span::from_millis(ms);
            link.handle_packet(now, Packet::of_size(ms, Bytes::new(1500)));
            while let Some(departure) = link.poll(now) {
                delivered += u64::from(departure.verdict.fate == Fate::Delivered);
            }
        }
        let fair = 10_000 / (flows as u64 + 1);
        assert!(delivered.abs_diff(fair) < 100, "{flows} flows: {delivered}, not {fair}");
    }
}

#[test]
fn traffic_ends_in_time_and_with_the_world() {
    let ending = r#"{ "rate": "1 Mbit/s", "from": "1 s", "until": "3 s" }"#;
    let times = instants(ending, 100);
    assert!(times.iter().all(|it| (1_000_000_000..3_000_000_000).contains(it)), "{times:?}");
    assert!(times.len() > 100);
    // One that comes at the end of time, as it were, does not.
    let mut rare = link(
        r#"{ "rate": "1 bit/s", "cross": { "rate": "1 bit/s", "size": "65535 B", "arrivals": "even" } }"#,
        11,
    );
    let mut polls = 0;
    while let Some(now) = rare.poll_at().filter(|_| polls < 100) {
        while rare.poll(now).is_some() {}
        polls += 1;
    }
    assert_eq!(polls, 100, "it advances step by step");
}
