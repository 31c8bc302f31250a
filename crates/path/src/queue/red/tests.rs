use super::super::testing::{Hands, cause, ect, ms, plain, rng};
use super::*;

/// Between 5 and 15 packets, at 8 Mbit/s: a packet of 1,000 B takes 1 ms.
fn plan() -> RedPlan {
    let json = r#"{ "min": "5 packets", "max": "15 packets" }"#;
    let spec: RedSpec = serde_json::from_str(json).unwrap();
    spec.plan(Rate::from_bits_per_second(8_000_000), Span::ZERO).unwrap()
}

/// A RED queue with `waiting` packets for so long that they are the average.
fn red(plan: RedPlan, waiting: u64) -> Hands<Red> {
    let mut hands = Hands::new(Red::new(plan, rng()));
    for id in 0..waiting {
        let packet = plain(id);
        hands.queue.waiting.push(ms(0), Transit::new(packet, ms(0)));
    }
    hands.queue.average.value = waiting as f64;
    hands.queue.average.idle_since = None;
    hands
}

/// Packets come one by one, and each that is taken makes another go, so that the queue stays as it
/// is: the numbers of those dropped or marked.
fn hits(hands: &mut Hands<Red>, packets: u64) -> Vec<u64> {
    let mut hits = Vec::new();
    for id in 0..packets {
        hands.push(ms(1), plain(id));
        if hands.dropped().is_empty() {
            hands.pop(ms(1));
        } else {
            hits.push(id);
        }
    }
    hits
}

/// With p the probability before spacing, the number of packets from one drop to the next is
/// uniform over 1 … 1/p − 1 (each with p/(1 − p), by the paper's figure 2, whose count stands at 1
/// for the first packet after a drop), so one in 1/(2p) is dropped.
#[test]
fn drops_between_the_thresholds_are_uniformly_spaced() {
    const PACKETS: u64 = 1_000_000;
    // An average of 10 lies half way: 1 %. At 15, less a bit, it is 2 %.
    for (waiting, average, most) in [(10, 10.0, 99), (14, 14.999_999_999, 49)] {
        let mut hands = red(plan(), waiting);
        hands.queue.average = Average { value: average, weight: 0.0, ..hold(&hands.queue.average) };
        let hits = hits(&mut hands, PACKETS);
        // The mean gap is (most + 1)/2, its variance (most² − 1)/12; renewal theory: five σ.
        let mean = f64::from(most + 1) / 2.0;
        let variance = f64::from(most * most - 1) / 12.0;
        let expected = PACKETS as f64 / mean;
        let sigma = (PACKETS as f64 * variance / mean.powi(3)).sqrt();
        assert!((hits.len() as f64 - expected).abs() < 5.0 * sigma, "{} drops", hits.len());

        let mut gaps = vec![0_u32; most as usize + 2];
        for pair in hits.windows(2) {
            gaps[(pair[1] - pair[0]) as usize] += 1;
        }
        assert_eq!((gaps[0], gaps[most as usize + 1]), (0, 0), "none beyond");
        let (n, p) = (hits.len() as f64, 1.0 / f64::from(most));
        let bound = 5.0 * (n * p * (1.0 - p)).sqrt();
        for (gap, count) in gaps.iter().enumerate().skip(1).take(most as usize) {
            assert!((f64::from(*count) - n * p).abs() < bound, "gap {gap}: {count} of {n}");
        }
    }
}

fn hold(average: &Average) -> Average {
    Average { idle_since: None, ..*average }
}

#[test]
fn red_drops_nothing_below_min_and_all_above_max() {
    assert!(hits(&mut red(plan(), 4), 10_000).is_empty());
    assert_eq!(hits(&mut red(plan(), 15), 50), (0..50).collect::<Vec<_>>());
    // Gently: at 18 packets 2 % + 98 % · 3/15 = 21.6 %, so gaps are 1 to 4 (or the fifth, surely).
    let gentle = RedPlan { gentle: true, ..plan() };
    assert!((gentle.share(18.0).unwrap() - 0.216).abs() < 1e-12);
    let hits = hits(&mut red(gentle, 18), 50_000);
    let gaps: Vec<_> = hits.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&4)));
    assert_eq!(gentle.share(30.0), Some(1.0));
}

/// (1 − w) · old + w · now at each packet; 0 to start with.
#[test]
fn red_average_is_exponentially_weighted() {
    let mut average =
        Average { weight: 0.25, packet_time: Span::from_millis(1), value: 0.0, idle_since: None };
    for (waiting, value) in [(8.0, 2.0), (8.0, 3.5), (0.0, 2.625), (2.625, 2.625)] {
        average.sample(ms(7), waiting);
        assert_eq!(average.value.to_bits(), f64::to_bits(value));
    }
    // In 2 idle milliseconds two packets could have come: (3/4)² of it is left, and in half a one
    // √¾ of that.
    average.idle_since = Some(ms(10));
    average.sample(ms(12), 0.0);
    assert!((average.value - 2.625 * 0.5625).abs() < 1e-12);
    average.idle_since = Some(ms(12));
    average.sample(ms(12) + Span::from_micros(500), 0.0);
    assert!((average.value - 2.625 * 0.5625 * 0.75_f64.sqrt()).abs() < 1e-12);
    assert_eq!(average.idle_since, None, "until the queue is idle again");
}

/// The link is idle from the moment that nothing is found to be sent.
#[test]
fn idle_time_begins_when_nothing_is_left_to_send() {
    let mut hands = red(RedPlan { weight: Probability::per_million(500_000), ..plan() }, 4);
    for now in 1..=4 {
        assert!(hands.pop(ms(now)).is_some());
    }
    assert_eq!(hands.pop_id(ms(5)), None);
    assert!(hands.pass(ms(7), plain(9)).is_some());
    assert!((hands.queue.average.value - 1.0).abs() < 1e-12, "a quarter of 4 after 2 ms");
    hands.push(ms(8), plain(10));
    assert!((hands.queue.average.value - 0.5).abs() < 1e-12, "half of it: it found nobody waiting");
}

/// A high average drops arriving packets even on an idle link.
#[test]
fn idle_link_with_high_average_drops() {
    let mut hands = red(plan(), 0);
    hands.queue.average.value = 20.0;
    assert!(hands.pass(ms(0), plain(1)).is_none());
    let [dropped] = hands.dropped()[..] else { panic!() };
    let discipline = verdict::Discipline::Red;
    assert_eq!(cause(&dropped), Cause::Aqm { discipline, waited: Span::ZERO, packets: 0 });
}

#[test]
fn red_marks_ect_packets_and_full_queue_drops_all() {
    let mut hands = red(RedPlan { ecn: true, limit: QueueLimit::Packets(22), ..plan() }, 18);
    for id in 100..104 {
        hands.push(ms(1), if id == 101 { plain(id) } else { ect(id) });
    }
    assert_eq!(hands.dropped_ids(), [101]);
    let marked: Vec<_> = hands.queue.held().filter(|it| it.marked).map(|it| it.packet.id).collect();
    assert_eq!(marked, [100, 102, 103]);
    hands.push(ms(1), ect(104));
    hands.push(ms(1), ect(105));
    let [dropped] = hands.dropped()[..] else { panic!() };
    assert_eq!(dropped.id, 105);
    let bytes = Bytes::new(22 * 1500);
    assert_eq!(cause(&dropped), Cause::QueueFull { packets: 22, bytes });
}

/// Thresholds in bytes look at bytes.
#[test]
fn red_average_has_unit_of_thresholds() {
    let bytes = |n: u64| QueueLimit::Bytes(Bytes::new(n));
    let plan =
        RedPlan { min: bytes(3_000), max: bytes(9_000), weight: Probability::ALWAYS, ..plan() };
    let mut hands = red(plan, 4);
    hands.push(ms(1), plain(5));
    assert!((hands.queue.average.value - 6_000.0).abs() < 1e-9);
    assert!((plan.share(6_000.0).unwrap() - 0.01).abs() < 1e-12);
}
