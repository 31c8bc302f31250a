use tcplab_units::Bytes;
use tcplab_wire::Ecn;

use super::super::testing::{Hands, cause, ect, ms, plain, tcp};
use super::*;
use crate::Packet;

fn codel(control: CodelControl) -> Hands<CodelQueue> {
    Hands::new(CodelQueue::new(CodelPlan { limit: QueueLimit::Packets(100_000), control }))
}

/// Packets that come at `at`, numbered from `first`.
fn fill(hands: &mut Hands<CodelQueue>, at: u64, first: u64, count: u64) {
    for id in first..first + count {
        hands.push(ms(at), plain(id));
    }
}

/// Takes one packet out each millisecond, and says when something was dropped.
fn drops(hands: &mut Hands<CodelQueue>, from: u64, to: u64) -> Vec<u64> {
    let mut times = Vec::new();
    for now in from..to {
        assert!(hands.pop(ms(now)).is_some());
        times.extend(hands.dropped().iter().map(|_| now));
    }
    times
}

/// Everything came at zero, and a packet goes each millisecond: the wait reaches the target at 5
/// ms, and has been above it for an interval at 105 ms. From there on the n-th drop comes Σ 100/√i
/// later (RFC 8289 §5.6), at the first packet from then on.
#[test]
fn under_constant_overload_drops_follow_the_control_law() {
    let mut hands = codel(CodelControl::DEFAULT);
    fill(&mut hands, 0, 0, 20_000);
    let mut due = 105.0;
    let mut expected = Vec::new();
    for count in 1_u32.. {
        let at = f64::ceil(due) as u64;
        if at >= 10_000 {
            break;
        }
        expected.push(at);
        due += 100.0 / f64::from(count).sqrt();
    }
    assert_eq!(expected[..8], [105, 205, 276, 334, 384, 429, 469, 507], "worked by hand");
    let dropped = drops(&mut hands, 1, 10_000);
    // Each step is cut to whole nanoseconds, which may let a drop come one packet sooner.
    assert_eq!(dropped[..500], expected[..500]);
    assert_eq!(dropped.len(), expected.len());
    assert!(dropped.iter().zip(&expected).all(|(at, due)| due - at <= 1));
    // Σ 1/√i ≈ 2√n: after 9.9 s of a control interval of 0.1 s there are (99/2)² of them.
    assert!((2_300..2_600).contains(&dropped.len()), "{}", dropped.len());
}

#[test]
fn each_drop_reports_its_queue_delay() {
    let mut hands = codel(CodelControl::DEFAULT);
    fill(&mut hands, 0, 0, 200);
    for now in 1..105 {
        hands.pop(ms(now));
    }
    assert_eq!(hands.dropped(), []);
    assert_eq!(hands.pop_id(ms(105)), Some(105), "104 were sent, and the next is dropped");
    let [dropped] = hands.dropped()[..] else { panic!() };
    let (waited, packets) = (Span::from_millis(105), 95);
    let discipline = verdict::Discipline::Codel;
    assert_eq!((dropped.id, dropped.left), (104, ms(105)));
    assert_eq!(cause(&dropped), Cause::Aqm { discipline, waited, packets });
}

/// Three drops after the first make a count of 4 where it began with 1. A new overload soon after
/// begins with the difference, 3 (next drop 100/√3 = 57.7 ms later), and one long after with 1.
#[test]
fn codel_resumes_with_recent_drop_rate() {
    for (pause, next) in [(1_000, 58), (1_700, 100)] {
        let mut hands = codel(CodelControl::DEFAULT);
        fill(&mut hands, 0, 0, 1_000);
        assert_eq!(drops(&mut hands, 1, 360), [105, 205, 276, 334]);
        // The wait falls below the target at once.
        while hands.queue.held().count() > 1 {
            hands.pop(ms(360));
        }
        // It would have dropped next at 384; the recency counts from there.
        let start = 384 + pause;
        hands.pop(ms(361));
        hands.dropped();
        fill(&mut hands, start, 2_000, 1_000);
        let dropped = drops(&mut hands, start + 1, start + 300);
        assert_eq!(dropped[..2], [start + 105, start + 105 + next], "after {pause} ms");
    }
}

/// It began with a count of 1 and dropped once more: a difference of 1 is no reason to hurry.
#[test]
fn one_more_drop_is_not_carried_over() {
    let mut hands = codel(CodelControl::DEFAULT);
    fill(&mut hands, 0, 0, 1_000);
    assert_eq!(drops(&mut hands, 1, 210), [105, 205]);
    while hands.pop(ms(210)).is_some() {}
    hands.dropped();
    fill(&mut hands, 300, 2_000, 1_000);
    assert_eq!(drops(&mut hands, 301, 520), [405, 505]);
}

/// A dip below the target, however short, restarts the interval.
#[test]
fn one_short_wait_resets_the_clock() {
    let mut hands = codel(CodelControl::DEFAULT);
    fill(&mut hands, 0, 0, 90);
    for now in 1..=90 {
        assert_eq!(hands.pop_id(ms(now)), Some(now - 1));
        if now == 88 {
            // The last old one leaves two fresh ones behind, which wait 3 ms and more.
            fill(&mut hands, 88, 100, 1_000);
        }
    }
    assert_eq!(hands.dropped(), []);
    // Fresh ones wait 5 ms at 93, and an interval later is 193.
    assert_eq!(drops(&mut hands, 91, 200), [193]);
}

/// With no more than an MTU left behind a packet nothing is dropped, however long it waited.
#[test]
fn codel_never_drops_last_mtu() {
    for (behind, is_dropped) in [(1500, false), (1501, true)] {
        let mut hands = codel(CodelControl::DEFAULT);
        hands.push(ms(0), plain(0));
        hands.push(ms(0), plain(1));
        hands.push(ms(0), Packet::of_size(2, Bytes::new(behind)));
        hands.pop(ms(10));
        hands.push(ms(10), Packet::of_size(3, Bytes::new(0)));
        assert_eq!(hands.pop_id(ms(1_000)), Some(if is_dropped { 2 } else { 1 }), "{behind}");
    }
}

#[test]
fn marks_take_the_place_of_drops_where_packets_allow_it() {
    let control = CodelControl { ecn: true, ..CodelControl::DEFAULT };
    let mut hands = codel(control);
    // Those with odd numbers allow it.
    for id in 0..1_000 {
        hands.push(ms(0), if id % 2 == 1 { ect(id) } else { plain(id) });
    }
    let mut marked = Vec::new();
    let mut dropped = Vec::new();
    for now in 1..400 {
        let packet = hands.pop(ms(now)).unwrap();
        marked.extend(packet.marked.then_some((now, packet.packet.id)));
        dropped.extend(hands.dropped_ids().iter().map(|id| (now, *id)));
    }
    // The same times as for drops: 105, 205, 276, 334, 384. At 105 it is number 104's turn,
    // and each drop puts the numbers one ahead of the milliseconds.
    assert_eq!(dropped, [(105, 104), (276, 276)]);
    assert_eq!(marked, [(205, 205), (334, 335), (384, 385)]);
}

#[test]
fn codel_threshold_marks_longer_waits() {
    let ce_threshold = Some(Span::from_millis(1));
    let mut hands = codel(CodelControl { ce_threshold, ..CodelControl::DEFAULT });
    for id in 0..4 {
        hands.push(ms(0), tcp(id, 1, 1500, if id == 2 { Ecn::NotEct } else { Ecn::Ect1 }));
    }
    let marked: Vec<_> = (0..4).map(|now| hands.pop(ms(now)).unwrap().marked).collect();
    assert_eq!(marked, [false, false, false, true], "more than 1 ms, and it must be allowed");
}

#[test]
fn codel_full_queue_drops_arrival() {
    let plan = CodelPlan { limit: QueueLimit::Packets(2), control: CodelControl::DEFAULT };
    let mut hands = Hands::new(CodelQueue::new(plan));
    fill(&mut hands, 0, 0, 3);
    let [dropped] = hands.dropped()[..] else { panic!() };
    assert_eq!(cause(&dropped), Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) });
}

/// By integers: against f64, whose root and quotient are correctly rounded.
#[test]
fn codel_control_law_is_exact() {
    for count in (1..1_000).chain([u32::MAX]) {
        let next = CodelControl::DEFAULT.next_drop(Instant::ZERO, count).as_nanos();
        assert_eq!(next, (1e8 / f64::from(count).sqrt()).floor() as u64, "{count}");
    }
    let long = CodelControl { interval: Span::MAX, ..CodelControl::DEFAULT };
    assert_eq!(long.next_drop(Instant::ZERO, 4).as_nanos(), u64::MAX / 2);
}
