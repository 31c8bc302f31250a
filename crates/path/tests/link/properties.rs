//! What must hold for every link, whatever the plan and whatever the packets.

use std::collections::BTreeSet;

use crate::support::{
    Arrivals, SEED, arrivals, bottleneck, bottlenecks, changing_bytes, delay, interruptions,
    irregular_interruptions, keeps_order, limits, link, loss, losses, plans, rates, run, run_late,
    step_until,
};
use proptest::collection::vec;
use proptest::prelude::*;
use tcplab_path::{
    BottleneckPlan, Cause, ElementPlan, FIRST_MADE_ID, Fate, LinkPlan, Packet, QueueLimit,
    QueuePlan, Transmission, Verdict,
};
use tcplab_units::{Bytes, Instant, Probability, Rate, Span};

const BILLION: u128 = 1_000_000_000;

proptest! {
    #[test]
    fn every_packet_gets_one_verdict_and_keeps_its_place(
        plan in plans(), packets in arrivals(), spare in 0..30_000_000_u64,
    ) {
        let mut link = link(&plan.elements);
        let mut verdicts = Vec::new();
        for (id, (now, size)) in packets.iter().enumerate() {
            step_until(&mut link, *now, &mut verdicts);
            link.handle_packet(*now, Packet::new(id as u64, vec![id as u8; *size]));
            let verdict_count = sent(verdicts.iter().map(|verdict| verdict.id)).count();
            let held = sent(link.in_flight().map(|packet| packet.id)).count();
            prop_assert!(verdict_count + held <= id + 1, "no packet is in two places");
        }
        let end = packets.last().map_or(Instant::ZERO, |(now, _)| *now + Span::from_nanos(spare));
        step_until(&mut link, end, &mut verdicts);
        let verdict_count = sent(verdicts.iter().map(|verdict| verdict.id)).count();
        let held = sent(link.in_flight().map(|packet| packet.id)).count();
        prop_assert_eq!(verdict_count + held, packets.len());

        for departure in link.drain(end) {
            let verdict = departure.verdict;
            prop_assert_eq!((verdict.fate, verdict.left), (Fate::StillOnLink, end));
            if is_background(&verdict) {
                verdicts.push(verdict);
                continue;
            }
            let (source, bytes) = (source(&verdict), departure.packet.bytes);
            let before = vec![source as u8; packets[source as usize].1];
            // A mark changes bytes, too, and the header's checksum.
            if !verdict.marked {
                returned_as_it_came(&before, &bytes, verdict.corrupted, changing_bytes(&plan))?;
            }
            verdicts.push(verdict);
        }
        prop_assert_eq!((link.in_flight().count(), link.poll_at()), (0, None));

        let mut ids: Vec<_> = sent(verdicts.iter().map(|verdict| verdict.id)).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..packets.len() as u64).collect::<Vec<_>>());
        let mut made: Vec<_> = verdicts.iter().filter(|v| v.is_made()).map(|v| v.id).collect();
        made.sort_unstable();
        let in_order = (0..made.len() as u64).map(|n| FIRST_MADE_ID + 2 * n);
        prop_assert_eq!(&made, &in_order.collect::<Vec<_>>(), "each copy is accounted for");
        verdicts.retain(|verdict| !is_background(verdict));
        for verdict in &verdicts {
            prop_assert_eq!(verdict.is_made(), verdict.origin.is_some());
            let (entered, size) = packets[source(verdict) as usize];
            prop_assert_eq!((verdict.entered, verdict.size), (entered, Bytes::from(size)));
            prop_assert!(verdict.left >= entered);
        }
        prop_assert!(verdicts.is_sorted_by_key(|verdict| verdict.left), "in order of time");
        if keeps_order(&plan) && !has_turns(&plan) {
            prop_assert!(delivered(&verdicts).is_sorted_by_key(source), "none overtakes");
        }
    }

    #[test]
    fn late_poll_gives_same_verdicts(
        plan in plans(), packets in arrivals(), spare in 0..30_000_000_u64,
        late in vec(proptest::option::of(0..3_000_000_u64), 80),
    ) {
        let end = packets.last().map_or(Instant::ZERO, |(now, _)| *now + Span::from_nanos(spare));
        let mut in_time = Vec::new();
        let mut punctual = link(&plan.elements);
        for (id, (now, size)) in packets.iter().enumerate() {
            step_until(&mut punctual, *now, &mut in_time);
            punctual.handle_packet(*now, Packet::new(id as u64, vec![0; *size]));
        }
        step_until(&mut punctual, end, &mut in_time);
        in_time.extend(punctual.drain(end).into_iter().map(|departure| departure.verdict));

        prop_assert_eq!(&run_late(&mut link(&plan.elements), &packets, &late, end), &in_time);
        prop_assert_eq!(&run_late(&mut link(&plan.elements), &packets, &[], end), &in_time);
    }

    #[test]
    fn judged_size_gets_same_verdict_as_packet(plan in plans(), packets in arrivals()) {
        let gates = plan.elements.into_iter().filter(|element| {
            LinkPlan { elements: vec![element.clone()] }.is_gate()
        });
        let plan = LinkPlan { elements: gates.collect() };
        let verdicts = run(&mut link(&plan.elements), &packets);
        let mut asked = link(&plan.elements);
        for (id, ((now, size), verdict)) in packets.iter().zip(&verdicts).enumerate() {
            prop_assert_eq!(&asked.judge(*now, id as u64, Bytes::from(*size)), verdict);
        }
    }

    #[test]
    fn finish_times_are_those_of_exact_fractions(rate in rates(), packets in arrivals()) {
        let unlimited = bottleneck(rate, QueueLimit::Packets(u32::MAX));
        let verdicts = run(&mut link(&[unlimited]), &packets);
        // Lindley's recursion, in units of 1/rate nanoseconds, in which nothing is rounded.
        let rate = u128::from(rate.bits_per_second());
        let mut ready = 0;
        for (verdict, (arrived, size)) in verdicts.iter().zip(&packets) {
            let began = ready.max(u128::from(arrived.as_nanos()) * rate);
            ready = began + *size as u128 * 8 * BILLION;
            let expected = Transmission {
                queued: *arrived,
                began: Instant::from_nanos(began.div_ceil(rate) as u64),
                ended: Instant::from_nanos(ready.div_ceil(rate) as u64),
            };
            prop_assert_eq!((verdict.transmission, verdict.left), (Some(expected), expected.ended));
        }
        prop_assert_eq!(verdicts.len(), packets.len());
    }

    #[test]
    fn rate_is_exceeded_over_no_interval(
        rate in rates(), limit in limits(), packets in arrivals(),
    ) {
        let verdicts = run(&mut link(&[bottleneck(rate, limit)]), &packets);
        let sent = delivered(&verdicts);
        for (i, first) in sent.iter().enumerate() {
            let mut bits = 0;
            for last in &sent[i + 1..] {
                bits += last.size.bits();
                // From the end of one packet to the end of a later one, the later ones were sent
                // whole; that instants are rounded up is worth less than a nanosecond.
                let nanos = u128::from(last.left.since(first.left).as_nanos());
                prop_assert!(bits * BILLION < u128::from(rate.bits_per_second()) * (nanos + 1));
            }
        }
    }

    #[test]
    fn delay_is_exact(n in 0..u64::MAX / 2, packets in arrivals()) {
        let span = Span::from_nanos(n);
        let verdicts = run(&mut link(&[delay(span)]), &packets);
        prop_assert_eq!(verdicts.len(), packets.len());
        let delayed = |v: &Verdict| v.fate == Fate::Delivered && v.left == v.entered + span;
        prop_assert!(verdicts.iter().all(delayed));
    }

    #[test]
    fn drop_tail_drops_if_and_only_if_there_is_no_room(
        rate in rates(), limit in limits(), packets in arrivals(),
    ) {
        let mut verdicts = run(&mut link(&[bottleneck(rate, limit)]), &packets);
        verdicts.sort_unstable_by_key(|verdict| verdict.id);
        for (i, verdict) in verdicts.iter().enumerate() {
            let now = verdict.entered;
            let taken = || verdicts[..i].iter().filter_map(|v| Some((v.size, v.transmission?)));
            let waiting: Vec<Bytes> =
                taken().filter(|(_, sent)| sent.began > now).map(|(size, _)| size).collect();
            let (packets, bytes) = (waiting.len() as u32, waiting.into_iter().sum());
            let is_idle = taken().all(|(_, sent)| sent.ended <= now);
            let has_room = is_idle || match limit {
                QueueLimit::Packets(most) => packets < most,
                QueueLimit::Bytes(most) => bytes + verdict.size <= most,
            };
            let full = Fate::Dropped(Cause::QueueFull { packets, bytes });
            prop_assert_eq!(verdict.fate, if has_room { Fate::Delivered } else { full });
            let is_kept = match limit {
                QueueLimit::Packets(most) => packets <= most,
                QueueLimit::Bytes(most) => bytes <= most,
            };
            prop_assert!(is_kept, "never more than the limit wait");
        }
    }

    #[test]
    fn interruption_drops_exactly_packets_during_it(
        bottleneck in bottlenecks(),
        interruption in prop_oneof![interruptions(), irregular_interruptions()],
        packets in arrivals(),
    ) {
        let plan = LinkPlan { elements: vec![bottleneck, interruption] };
        let verdicts = run(&mut link(&plan.elements), &packets);
        // A slow bottleneck may need years: look only as far as can be listed.
        let horizon = Instant::from_nanos(200_000_000);
        let windows = plan.interruptions(horizon, SEED);
        for verdict in verdicts.iter().filter(|verdict| verdict.left < horizon) {
            let hit = windows.iter().position(|(from, to)| (*from..*to).contains(&verdict.left));
            match verdict.fate {
                Fate::Delivered => prop_assert_eq!(hit, None),
                Fate::Dropped(Cause::Interruption { number, from, to }) => {
                    prop_assert_eq!(hit, Some(number as usize - 1));
                    prop_assert_eq!(windows[number as usize - 1], (from, to));
                }
                Fate::Dropped(Cause::QueueFull { .. }) => {}
                other => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn other_elements_do_not_shift_the_draws_of_a_loss(
        p in 0..=1_000_000_u32, other in losses(), packets in arrivals(),
    ) {
        let loss = loss(Probability::per_million(p));
        let wide = bottleneck(Rate::from_bits_per_second(1_000), QueueLimit::Packets(100));
        let alone = lost(&run(&mut link(std::slice::from_ref(&loss)), &packets));
        let amid = [wide, delay(Span::from_millis(3)), loss.clone(), delay(Span::from_millis(1))];
        prop_assert_eq!(&lost(&run(&mut link(&amid), &packets)), &alone);
        let both = lost(&run(&mut link(&[loss, other]), &packets));
        prop_assert!(alone.is_subset(&both), "a second loss only adds to the first");
    }
}

#[test]
fn loss_is_as_frequent_as_asked() {
    const DRAWS: u64 = 1_000_000;
    for per_million in [0, 1, 100, 3_000, 10_000, 500_000, 999_999, 1_000_000] {
        let packets: Arrivals = vec![(Instant::ZERO, 0); DRAWS as usize];
        let losses = [loss(Probability::per_million(per_million))];
        let verdicts = run(&mut link(&losses), &packets);
        let lost = verdicts.iter().filter(|v| v.fate == Fate::Dropped(Cause::Loss)).count();
        // Binomial: five σ either way, and no slack at all where nothing is random.
        let p = f64::from(per_million) / 1e6;
        let (mean, sigma) = (DRAWS as f64 * p, (DRAWS as f64 * p * (1.0 - p)).sqrt());
        assert!((lost as f64 - mean).abs() <= 5.0 * sigma, "{lost} lost of 10⁶ at {p}");
    }
}

#[test]
fn losses_depend_on_seed_and_direction() {
    use tcplab_path::{Direction, Link};
    let plan = LinkPlan { elements: vec![loss(Probability::per_million(500_000))] };
    let packets: Arrivals = vec![(Instant::ZERO, 0); 200];
    let lost = |seed, direction| lost(&run(&mut Link::new(&plan, seed, direction), &packets));
    assert_eq!(lost(1, Direction::Forward), lost(1, Direction::Forward));
    assert_ne!(lost(1, Direction::Forward), lost(2, Direction::Forward));
    assert_ne!(lost(1, Direction::Forward), lost(1, Direction::Reverse));
}

/// The ids of packets that the link did not make itself.
fn sent(ids: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    ids.filter(|id| *id < FIRST_MADE_ID)
}

/// Whether it is cross traffic, or a copy of some, without an endpoint that sent or receives it.
fn is_background(verdict: &Verdict) -> bool {
    verdict.is_made() && source(verdict) >= FIRST_MADE_ID
}

/// The packet that it is, or is a copy of.
fn source(verdict: &Verdict) -> u64 {
    verdict.origin.unwrap_or(verdict.id)
}

/// Bytes change only where the verdict says so; where one element alone changes any, the first that
/// differs is exactly the one in the verdict (two elements might undo one another).
fn returned_as_it_came(
    before: &[u8],
    after: &[u8],
    corrupted: Option<u32>,
    changing: usize,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(before.len(), after.len());
    let mut bits = (0..).zip(before.iter().zip(after)).flat_map(|(byte, (before, after))| {
        let differ = before ^ after;
        (0..8).filter(move |bit| differ & (0x80 >> bit) != 0).map(move |bit| 8 * byte + bit)
    });
    let first: Option<u32> = bits.next();
    match changing {
        0 => prop_assert_eq!((first, corrupted), (None, None)),
        1 => prop_assert_eq!(first, corrupted),
        _ => prop_assert!(
            first.is_none_or(|first| corrupted.is_some_and(|reported| reported <= first))
        ),
    }
    Ok(())
}

/// Whether flows take turns in it, so that their packets overtake each other's.
fn has_turns(plan: &LinkPlan) -> bool {
    let turns = |element: &ElementPlan| {
        matches!(
            element,
            ElementPlan::Bottleneck(BottleneckPlan { queue: QueuePlan::FqCodel(_), .. })
        )
    };
    plan.elements.iter().any(turns)
}

fn delivered(verdicts: &[Verdict]) -> Vec<Verdict> {
    verdicts.iter().copied().filter(|verdict| verdict.fate == Fate::Delivered).collect()
}

fn lost(verdicts: &[Verdict]) -> BTreeSet<u64> {
    let lost = verdicts.iter().filter(|verdict| verdict.fate == Fate::Dropped(Cause::Loss));
    lost.map(|verdict| verdict.id).collect()
}
