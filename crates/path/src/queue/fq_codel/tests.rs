use tcplab_wire::Ecn;

use super::super::testing::{Hands, cause, ms, plain, rng, tcp};
use super::*;

fn plan() -> FqCodelPlan {
    FqCodelSpec::default().plan(Rate::from_bits_per_second(1), Span::ZERO).unwrap()
}

fn queue(plan: FqCodelPlan) -> Hands<FqCodel> {
    Hands::new(FqCodel::new(plan, rng()))
}

/// The flow of the port, at zero.
fn push(hands: &mut Hands<FqCodel>, id: u64, port: u16, size: usize) {
    hands.push(ms(0), tcp(id, port, size, Ecn::NotEct));
}

fn take(hands: &mut Hands<FqCodel>, count: usize) -> Vec<u64> {
    (0..count).map_while(|_| hands.pop_id(ms(1))).collect()
}

/// Flows A (ids 100 and up, 1500 B), B (200, 500 B) and C (300, 1000 B), quantum 1514 B, by hand:
///
/// | turn | credit before | sent | credit after |
/// |---|---|---|---|
/// | A, new | 1514 | 100, 101 | −1486: to the end, 28 |
/// | B, new | 1514 | 200 to 203 | −486: to the end, 1028 |
/// | C, new | 1514 | 300, 301 | −486: to the end, 1028 |
/// | A | 28 | 102 | −1472: to the end, 42 |
/// | B | 1028 | 204 to 206 | −472: to the end, 1042 |
/// | C | 1028 | 302, 303 | −972: to the end, 542 |
/// | A | 42 | 103 | −1458 |
#[test]
fn flows_take_turns_by_their_credit() {
    let mut hands = queue(plan());
    for i in 0..8 {
        push(&mut hands, 100 + i, 1, 1500);
        push(&mut hands, 200 + i, 2, 500);
        push(&mut hands, 300 + i, 3, 1000);
    }
    assert_eq!(
        take(&mut hands, 15),
        [100, 101, 200, 201, 202, 203, 300, 301, 102, 204, 205, 206, 302, 303, 103]
    );
    assert_eq!(hands.held().len(), 24 - 15);
    assert_eq!(hands.dropped(), []);
}

/// A flow that has just become busy goes before all others, but not again before it has waited for
/// its turn among them.
#[test]
fn sparse_flow_is_served_first_without_starving_others() {
    let mut hands = queue(plan());
    for i in 0..20 {
        push(&mut hands, 100 + i, 1, 1500);
        push(&mut hands, 200 + i, 2, 1500);
    }
    assert_eq!(take(&mut hands, 5), [100, 101, 200, 201, 102]);
    push(&mut hands, 300, 3, 100);
    assert_eq!(take(&mut hands, 1), [300], "new, and at once");
    // Its queue has run dry, but that is only seen at the next turn: it is still new, with the
    // credit it has left.
    push(&mut hands, 301, 3, 100);
    assert_eq!(take(&mut hands, 2), [301, 202]);
    // Now it has been found dry and stands behind the others, of whom the first had no credit left
    // and the second has just had its turn.
    push(&mut hands, 302, 3, 100);
    push(&mut hands, 303, 3, 1500);
    assert_eq!(take(&mut hands, 4), [302, 303, 103, 203]);
}

/// Over the limit, the fattest flow loses its oldest packets until half of its bytes are gone, 64
/// at most; what had come is not dropped for being last.
#[test]
fn fq_codel_full_queue_drops_from_fattest_flow() {
    for (fat, dropped) in [(9, 5), (10, 5), (200, 64)] {
        let limit = QueueLimit::Packets(fat + 2);
        let mut hands = queue(FqCodelPlan { limit, ..plan() });
        push(&mut hands, 900, 2, 1000);
        push(&mut hands, 901, 2, 1000);
        for id in 0..u64::from(fat) {
            push(&mut hands, id, 1, 1500);
        }
        assert_eq!(hands.dropped(), []);
        push(&mut hands, 1000, 3, 40);
        let verdicts = hands.dropped();
        let ids: Vec<_> = verdicts.iter().map(|verdict| verdict.id).collect();
        assert_eq!(ids, (0..dropped).collect::<Vec<_>>(), "{fat}");
        let bytes = Bytes::new(2000 + u64::from(fat) * 1500);
        assert_eq!(cause(&verdicts[0]), Cause::QueueFull { packets: fat + 2, bytes });
        assert_eq!(hands.held().len() as u64, u64::from(fat) + 3 - dropped);
    }
}

#[test]
fn memory_is_a_limit_too() {
    let memory = Bytes::new(6000);
    let mut hands = queue(FqCodelPlan { memory, ..plan() });
    for id in 0..4 {
        push(&mut hands, id, 1, 1500);
    }
    assert_eq!(hands.dropped(), []);
    push(&mut hands, 4, 1, 1500);
    assert_eq!(hands.dropped_ids(), [0, 1, 2], "half of 7,500 B");
    // As often as it takes: 64 of 150 small ones leave it the fattest, at 3,440 B, and then half of
    // these, 43, go too.
    let mut hands = queue(FqCodelPlan { memory, ..plan() });
    for id in 0..150 {
        push(&mut hands, id, 1, 40);
    }
    push(&mut hands, 150, 2, 3200);
    assert_eq!(hands.dropped_ids(), (0..64 + 43).collect::<Vec<_>>());
}

/// The overloaded flow is brought down by its CoDel at 105, 205, 276 ms, and the other keeps all.
#[test]
fn each_flow_has_a_codel_of_its_own() {
    let control = CodelControl { ecn: false, ..plan().control };
    let mut hands = queue(FqCodelPlan { control, ..plan() });
    for id in 0..1000 {
        push(&mut hands, id, 1, 1500);
    }
    let mut dropped = Vec::new();
    for now in 1..300 {
        // This one is never long in the queue.
        hands.push(ms(now), tcp(2000 + now, 2, 1500, Ecn::NotEct));
        hands.pop(ms(now));
        hands.pop(ms(now));
        for verdict in hands.dropped() {
            assert!(verdict.id < 2000);
            let Cause::Aqm { discipline: verdict::Discipline::FqCodel, waited, .. } =
                cause(&verdict)
            else {
                panic!("{:?}", verdict.fate)
            };
            assert_eq!(waited, Span::from_millis(now), "it came at zero");
            dropped.push(now);
        }
    }
    assert_eq!(dropped, [105, 205, 276]);
}

#[test]
fn cross_traffic_and_what_cannot_be_read_are_a_flow_each() {
    let mut hands = queue(plan());
    for id in 0..4 {
        hands.push(ms(0), plain(id));
    }
    let mut queue = hands.queue;
    let mut out = Outbox::new(crate::Direction::Forward);
    for id in 10..14 {
        let packet = crate::Packet::of_size(id, Bytes::new(1500));
        let transit = Transit { cross_flow: Some(1), ..Transit::new(packet, ms(0)) };
        queue.push(ms(0), transit, &mut out);
    }
    let order: Vec<u64> = std::iter::from_fn(|| queue.pop(ms(1), &mut out))
        .map(|(_, transit)| transit.packet.id)
        .collect();
    assert_eq!(order, [0, 1, 10, 11, 2, 12, 3, 13]);
}

#[test]
fn idle_link_sends_at_once() {
    let mut hands = queue(plan());
    for id in 0..5 {
        assert_eq!(hands.pass(ms(id), plain(id)).map(|it| it.packet.id), Some(id));
        assert_eq!((hands.pop_id(ms(id)), hands.held().len()), (None, 0));
    }
}

#[test]
fn all_that_waits_is_released_in_its_order() {
    let mut hands = queue(plan());
    for id in 0..10 {
        push(&mut hands, id, id as u16 % 3, 600);
    }
    take(&mut hands, 3);
    let held = hands.held();
    let mut released = Vec::new();
    hands.queue.release(&mut released);
    let released: Vec<u64> = released.iter().map(|transit| transit.packet.id).collect();
    assert_eq!((released.len(), released), (7, held));
    assert_eq!((hands.held(), hands.pop_id(ms(2))), (vec![], None));
}
