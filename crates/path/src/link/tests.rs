use proptest::prelude::*;
use tcplab_units::{Probability, Rate, Span};

use super::*;
use crate::{
    BottleneckPlan, DelayPlan, DelaySpec, ElementPlan, JitterLaw, QueueLimit, QueuePlan, ServerPlan,
};

fn plan(rate: u64, limit: QueueLimit, delay: u64) -> LinkPlan {
    let rate = ServerPlan::Rate(Rate::from_bits_per_second(rate));
    let queue = QueuePlan::DropTail(limit);
    let delay = DelaySpec::Constant(Span::from_nanos(delay));
    LinkPlan {
        elements: vec![
            ElementPlan::Bottleneck(BottleneckPlan { server: rate, queue }),
            ElementPlan::Delay(DelayPlan { delay, jitter: None }),
        ],
    }
}

/// Polled only when something may leave; nothing leaves late.
fn departures(mut link: Link, packets: &[(u64, u64)], end: u64) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut step = |link: &mut Link, until: Instant| {
        while let Some(at) = link.next_departure().filter(|at| *at <= until) {
            while let Some(departure) = link.poll(at) {
                assert_eq!(departure.verdict.left, at, "it left unseen");
                verdicts.push(departure.verdict);
            }
        }
    };
    let mut now = Instant::ZERO;
    for (id, (pause, size)) in packets.iter().enumerate() {
        now += Span::from_nanos(*pause);
        step(&mut link, now);
        link.handle_packet(now, Packet::of_size(id as u64, Bytes::new(*size)));
    }
    now += Span::from_nanos(end);
    step(&mut link, now);
    verdicts.extend(link.drain(now).into_iter().map(|departure| departure.verdict));
    verdicts
}

proptest! {
    /// In one piece or element by element: every packet fares the same.
    #[test]
    fn link_as_a_whole_equals_its_elements(
        rate in 1_000_000u64..20_000_000_000,
        limit in prop_oneof![
            (1u32..20).prop_map(QueueLimit::Packets),
            (1_500u64..30_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
        ],
        delay in prop_oneof![Just(0u64), 0u64..20_000_000],
        packets in prop::collection::vec(
            (prop_oneof![Just(0u64), 0u64..2_000, 0u64..5_000_000], 40u64..1_500), 1..120,
        ),
        end in 0u64..30_000_000,
    ) {
        let plan = plan(rate, limit, delay);
        let whole = Link::new(&plan, 1, Direction::Forward);
        prop_assert!(whole.conveyor.is_some());
        let parts = Link::of_elements(&plan, 1, Direction::Forward);
        prop_assert_eq!(departures(whole, &packets, end), departures(parts, &packets, end));
    }
}

#[test]
fn only_what_is_known_beforehand_is_in_one_piece() {
    let simple = plan(1_000_000, QueueLimit::Packets(5), 0);
    assert!(Conveyor::of(&simple).is_some());
    let mut random = simple.clone();
    if let Some(ElementPlan::Delay(delay)) = random.elements.last_mut() {
        delay.jitter = Some(crate::JitterPlan {
            law: JitterLaw::Uniform(Span::from_millis(1)),
            correlation: Probability::NEVER,
            reorder: false,
        });
    }
    assert!(Conveyor::of(&random).is_none());
    assert!(Conveyor::of(&LinkPlan::default()).is_none());
}

/// A packet has the times of the last bottleneck that it came to, and none of one that did not send
/// it.
#[test]
fn times_are_those_of_the_last_bottleneck() {
    let mut two = plan(12_000_000, QueueLimit::Packets(9), 0);
    two.elements.pop();
    two.elements.extend(plan(1_200_000, QueueLimit::Packets(1), 0).elements);
    let mut link = Link::new(&two, 1, Direction::Forward);
    for id in 0..3 {
        link.handle_packet(Instant::ZERO, Packet::of_size(id, Bytes::new(1500)));
    }
    let verdicts = std::iter::from_fn(|| link.poll(Instant::MAX)).map(|it| it.verdict);
    // They reach the second, which takes 10 ms for each, after 1, 2 and 3 ms.
    let found: Vec<_> = verdicts.map(|it| (it.id, it.transmission.map(|it| it.queued))).collect();
    let ms = crate::testing::ms;
    assert_eq!(found, [(2, None), (0, Some(ms(1))), (1, Some(ms(2)))]);
}

proptest! {
    /// What is settled leaves then and in this order, whatever comes later, and nothing else does
    /// before what is not settled can.
    #[test]
    fn settled_packets_leave_as_was_said(
        rate in 1_000_000u64..1_000_000_000,
        limit in (1u32..20).prop_map(QueueLimit::Packets),
        delay in 0u64..5_000_000,
        in_one_piece in any::<bool>(),
        loss in 0u32..500_000,
        packets in proptest::collection::vec((0u64..2_000_000, 40u64..1500), 1..60),
    ) {
        let mut plan = plan(rate, limit, delay);
        if !in_one_piece {
            let loss = crate::LossPlan::Independent(Probability::per_million(loss));
            plan.elements.insert(1, ElementPlan::Loss(loss));
        }
        let last_delay = plan.last_delay();
        let mut link = Link::new(&plan, 7, Direction::Forward);
        let (mut said, mut left) = (Vec::new(), Vec::new());
        let leave = |link: &mut Link, until: Instant, left: &mut Vec<(Instant, u64)>| {
            while let Some(Departure { verdict, .. }) = link.poll(until) {
                let is_delivered = verdict.fate == Fate::Delivered;
                left.extend(is_delivered.then_some((verdict.left, verdict.id)));
            }
        };
        let mut now = Instant::ZERO;
        for (id, (pause, size)) in packets.iter().enumerate() {
            now += Span::from_nanos(*pause);
            leave(&mut link, now, &mut left);
            link.handle_packet(now, Packet::of_size(id as u64, Bytes::new(*size)));
            let unsettled = link.unsettled_at().map(|at| at + last_delay);
            let settled: Vec<_> = link.settled().map(|(at, packet)| (at, packet.id)).collect();
            said.push((left.len(), unsettled, settled));
        }
        while let Some(at) = link.poll_at() {
            leave(&mut link, at, &mut left);
        }
        for (from, unsettled, settled) in said {
            let (first, rest) = left[from..].split_at(settled.len());
            prop_assert_eq!(first, settled);
            if let (Some(unsettled), Some((at, _))) = (unsettled, rest.first()) {
                prop_assert!(*at >= unsettled, "{at:?} before {unsettled:?}");
            }
        }
    }
}
