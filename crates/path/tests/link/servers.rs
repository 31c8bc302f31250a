//! What sends packets, against independent reckonings of when it must.

use std::collections::VecDeque;

use crate::support::{
    Arrivals, GRID, arrivals, forward, link, opportunities, policers, run, schedules, serving,
};
use proptest::prelude::*;
use tcplab_path::{
    Cause, Direction, ElementPlan, Fate, PathSpec, PolicerSpec, QueueLimit, Schedule, ServerPlan,
    Step, TokenBucketPlan, TracePlan, Transmission, Verdict,
};
use tcplab_units::{Bytes, Instant, Rate, Span};

const BILLION: u128 = 1_000_000_000;
const UNLIMITED: QueueLimit = QueueLimit::Packets(u32::MAX);

/// What a rate lets pass between two instants, in billionths of a bit: added up over the cells of a
/// grid on which alone it changes; none after many cells, for some rates take years.
fn passed(rate: &Schedule<Rate>, from: Instant, to: Instant) -> Option<u128> {
    let (mut at, mut sum) = (from, 0);
    for _ in 0..20_000 {
        if at >= to {
            return Some(sum);
        }
        let grid = GRID.as_nanos();
        let cell = Instant::from_nanos(at.as_nanos() / grid * grid);
        let until = (cell + GRID).min(to);
        let bits_per_second = u128::from(rate.at(cell).bits_per_second());
        sum += bits_per_second * u128::from(until.since(at).as_nanos());
        at = until;
    }
    None
}

fn work(size: usize) -> u128 {
    size as u128 * 8 * BILLION
}

proptest! {
    /// Of packets sent without a pause, each ends at the first nanosecond by which the rate has let
    /// all of them pass, however it changed on the way.
    #[test]
    fn changing_rate_is_integrated_exactly(rate in schedules(), packets in arrivals()) {
        let server = serving(ServerPlan::Varying(rate.clone()), UNLIMITED);
        let verdicts = run(&mut link(&[server]), &packets);
        prop_assert_eq!(verdicts.len(), packets.len());
        let (mut busy_since, mut busy_until, mut all) = (Instant::ZERO, Instant::ZERO, 0);
        for (verdict, (arrived, size)) in verdicts.iter().zip(&packets) {
            let sent = verdict.transmission.unwrap();
            if *arrived >= busy_until {
                (busy_since, all) = (*arrived, 0);
            }
            prop_assert_eq!((sent.queued, sent.began), (*arrived, busy_until.max(*arrived)));
            prop_assert_eq!(verdict.left, sent.ended);
            all += work(*size);
            let Some(by_end) = passed(&rate, busy_since, sent.ended) else { return Ok(()) };
            prop_assert!(by_end >= all, "its last bit has been sent");
            if sent.ended > busy_since {
                let just_before = sent.ended - Span::from_nanos(1);
                prop_assert!(passed(&rate, busy_since, just_before).unwrap() < all, "not before");
            }
            busy_until = sent.ended;
        }
    }

    /// A packet leaves at the first instant at which, with all that left since any earlier one, it
    /// is within the burst and what the rate has let pass since that one: no earlier and no later.
    #[test]
    fn token_bucket_sends_exactly_its_tokens(
        rate in schedules(), burst in 1514..10_000_usize, packets in arrivals(),
    ) {
        let plan = TokenBucketPlan { rate: rate.clone(), burst: Bytes::from(burst) };
        let bucket = serving(ServerPlan::TokenBucket(plan), UNLIMITED);
        let mut verdicts = run(&mut link(&[bucket]), &packets);
        verdicts.sort_by_key(|verdict| verdict.id);
        // Those that left, with the work that left before them.
        let mut left: Vec<(Instant, u128)> = vec![];
        let (mut all, mut turn) = (0, Instant::ZERO);
        for (verdict, (arrived, size)) in verdicts.iter().zip(&packets) {
            if *size > burst {
                let limit = Bytes::from(burst);
                prop_assert_eq!(verdict.fate, Fate::Dropped(Cause::TooBig { limit }));
                continue;
            }
            turn = turn.max(*arrived);
            let ended = verdict.left;
            let expected = Transmission { queued: *arrived, began: turn, ended };
            prop_assert_eq!(verdict.transmission, Some(expected));
            left.push((ended, all));
            all += work(*size);
            // From each that left at or before it on: what left, against what may have.
            let may_leave = |at: Instant| {
                left.iter().try_fold(true, |so_far, (since, before)| {
                    let since = (*since).min(at);
                    let allowed = work(burst) + passed(&rate, since, at)?;
                    Some(so_far && all - before <= allowed)
                })
            };
            let Some(allowed) = may_leave(ended) else { return Ok(()) };
            prop_assert!(allowed);
            if ended > turn {
                prop_assert_eq!(may_leave(ended - Span::from_nanos(1)), Some(false));
            }
            turn = ended;
        }
    }

    #[test]
    fn policer_drops_exactly_the_excess(
        policer in policers(), packets in arrivals(),
    ) {
        let ElementPlan::Policer(PolicerSpec { rate, burst }) = policer else { unreachable!() };
        let mut verdicts = run(&mut link(&[policer]), &packets);
        verdicts.sort_by_key(|verdict| verdict.id);
        let (mut passed, mut all) = (vec![], 0_u128);
        for (verdict, (arrived, size)) in verdicts.iter().zip(&packets) {
            passed.push((*arrived, all));
            all += work(*size);
            let conforms = passed.iter().all(|(since, before)| {
                let nanos = u128::from(arrived.since(*since).as_nanos());
                let earned = u128::from(rate.bits_per_second()) * nanos;
                all - before <= burst.bits() * BILLION + earned
            });
            let dropped = Fate::Dropped(Cause::Policed);
            prop_assert_eq!(verdict.fate, if conforms { Fate::Delivered } else { dropped });
            prop_assert_eq!(verdict.left, *arrived);
            if !conforms {
                passed.pop();
                all -= work(*size);
            }
        }
    }

    /// Mahimahi's rule, by going through one opportunity after the other.
    #[test]
    fn trace_is_followed_opportunity_by_opportunity(
        times in opportunities(), packets in arrivals(),
    ) {
        let plan = TracePlan { opportunities: times.clone() };
        let verdicts = run(&mut link(&[serving(ServerPlan::Trace(plan), UNLIMITED)]), &packets);
        let mut to_come: VecDeque<_> =
            packets.iter().map(|(at, size)| (*at, *size as u64 + 4, None)).collect();
        let mut expected = vec![];
        for turn in 0.. {
            if to_come.is_empty() {
                break;
            }
            let (round, index) = (turn / times.len(), turn % times.len());
            let ms = round as u64 * times[times.len() - 1] + times[index];
            let now = Instant::ZERO + Span::from_millis(ms);
            let mut room = 1504;
            while room > 0 {
                let Some((arrived, left, began)) = to_come.front_mut() else { break };
                if *arrived >= now {
                    break;
                }
                let began = *began.get_or_insert(now);
                let part = room.min(*left);
                (*left, room) = (*left - part, room - part);
                if *left == 0 {
                    expected.push(Transmission { queued: *arrived, began, ended: now });
                    to_come.pop_front();
                }
            }
        }
        let found: Vec<_> = verdicts.iter().map(|verdict| verdict.transmission.unwrap()).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(verdicts.iter().all(|it| Some(it.left) == it.transmission.map(|it| it.ended)));
    }
}

/// The path of some keys, and where packets of these sizes that come at these milliseconds end up.
fn left(json: &str, packets: &[(u64, usize)]) -> Vec<(f64, Fate)> {
    let packets: Arrivals =
        packets.iter().map(|(ms, size)| (Instant::ZERO + Span::from_millis(*ms), *size)).collect();
    let mut verdicts: Vec<Verdict> = run(&mut forward(json), &packets);
    verdicts.sort_by_key(|verdict| verdict.id);
    verdicts.iter().map(|it| (it.left.as_nanos() as f64 / 1e6, it.fate)).collect()
}

fn delivered(times: &[f64]) -> Vec<(f64, Fate)> {
    times.iter().map(|ms| (*ms, Fate::Delivered)).collect()
}

#[test]
fn packets_wait_while_the_rate_is_zero_and_go_on_where_they_were() {
    // 1,500 B take 1 ms at 12 Mbit/s. From 2.5 ms to 10 ms nothing is sent, then at half the rate.
    let path = r#"{ "rate": { "start": "12 Mbit/s", "steps": [
        { "at": "2.5 ms", "to": "0 Mbit/s" }, { "at": "10 ms", "to": "6 Mbit/s" } ] } }"#;
    let packets = [(0, 1500), (0, 1500), (0, 1500), (4, 1500)];
    assert_eq!(left(path, &packets), delivered(&[1.0, 2.0, 11.0, 13.0]));
}

#[test]
fn ramp_is_a_staircase() {
    // 12 to 0 Mbit/s over 4 ms: 12, 9, 6, 3 Mbit/s for 1 ms each let 1,500, 1,125, 750 and 375 B
    // pass, 3,750 B together; and again every 4 ms.
    let path = r#"{ "rate": { "start": "12 Mbit/s", "repeat": "4.001 ms", "steps": [
        { "at": "0 ms", "to": "0 Mbit/s", "over": "4 ms" } ] } }"#;
    let sizes = [(0, 1500), (0, 1125), (0, 750), (0, 375), (0, 1500)];
    assert_eq!(left(path, &sizes), delivered(&[1.0, 2.0, 3.0, 4.0, 5.001]));
    // A thousand rounds and 1,500 B more.
    assert_eq!(left(path, &[(0, 3_751_500)]), delivered(&[4002.0]));
    // The last bit of a thousandth round is sent before its outage, not behind it.
    let path = r#"{ "rate": { "start": "0 Mbit/s", "repeat": "2 ms", "steps": [
        { "at": "1 ms", "to": "12 Mbit/s" } ] } }"#;
    assert_eq!(left(path, &[(0, 1_500_000)]), delivered(&[2000.0]));
}

#[test]
fn token_bucket_sends_burst_at_once_then_at_rate() {
    let path = r#"{ "rate": "12 Mbit/s", "burst": "3 kB" }"#;
    let packets = [(0, 1500), (0, 1500), (0, 1500), (0, 750), (10, 1500), (10, 1500), (10, 1500)];
    assert_eq!(left(path, &packets), delivered(&[0.0, 0.0, 1.0, 1.5, 10.0, 10.0, 11.0]));
    let limit = Bytes::new(3000);
    let too_big = (0.0, Fate::Dropped(Cause::TooBig { limit }));
    assert_eq!(left(path, &[(0, 3001), (0, 3000)]), [too_big, (0.0, Fate::Delivered)]);
}

#[test]
fn policer_passes_burst_then_rate() {
    let path = r#"{ "police": { "rate": "12 Mbit/s", "burst": "3 kB" } }"#;
    let packets = [(0, 1500), (0, 1500), (0, 1500), (1, 1500), (1, 40), (9, 3000), (9, 1)];
    let (yes, no) = (Fate::Delivered, Fate::Dropped(Cause::Policed));
    let fates: Vec<_> = left(path, &packets).into_iter().map(|(_, fate)| fate).collect();
    assert_eq!(fates, [yes, yes, no, yes, no, yes, no]);
}

#[test]
fn opportunities_are_shared_spanned_and_wasted() {
    let path = r#"{ "rate": { "opportunities": [0, 2, 2, 5] } }"#;
    for (packets, times) in [
        // A full packet fills one; what comes at 2 ms, or at 5 ms, comes too late for it.
        (&[(0, 1500), (0, 1500), (0, 1500), (0, 1500)][..], &[2.0, 2.0, 5.0, 5.0][..]),
        (&[(2, 1500), (5, 1500)], &[5.0, 7.0]),
        // Three of 500 B are 12 B too much; the third takes 8 B of the next.
        (&[(1, 500), (1, 500), (1, 500), (1, 1492)], &[2.0, 2.0, 2.0, 2.0]),
        (&[(1, 500), (1, 500), (1, 500), (1, 1493)], &[2.0, 2.0, 2.0, 5.0]),
        // 5 opportunities: 2, 2, 5, 5 (the next round's first), 7 ms.
        (&[(1, 5 * 1504 - 4)], &[7.0]),
    ] {
        assert_eq!(left(path, packets), delivered(times), "{packets:?}");
    }
}

#[test]
fn trace_file_is_read_once_and_errors_are_reported() {
    let written = r#"{ "rate": { "trace": "lte.up" } }"#;
    let mut path: PathSpec = serde_json::from_str(written).unwrap();
    let error = path.link(Direction::Forward).unwrap_err();
    assert_eq!(
        (error.key.as_str(), error.what.as_str()),
        ("rate.trace", "the trace `lte.up` has not been read")
    );
    let rate = path.rate.as_mut().unwrap();
    assert_eq!(rate.load(&mut |_| Err("no such file".into())), Err("no such file".into()));
    assert_eq!(
        rate.load(&mut |_| Ok(b"1\n5\n3\n".to_vec())),
        Err("the trace `lte.up`, line 3: is less than the one before: times do not fall".into())
    );
    let mut asked = vec![];
    for _ in 0..2 {
        let mut read = |name: &str| {
            asked.push(name.to_string());
            Ok(b"1\n2\n3\n4\n".to_vec())
        };
        rate.load(&mut read).unwrap();
    }
    assert_eq!(asked, ["lte.up"]);
    let plan = path.link(Direction::Forward).unwrap();
    assert_eq!(
        plan.describe(),
        ["Bottleneck from a trace of 4 full packets in 4 ms, repeated (mean 12.0 Mbit/s), \
             drop-tail queue 1000 packets."]
    );
    let rare: PathSpec =
        serde_json::from_str(r#"{ "rate": { "opportunities": [18446744073709] } }"#).unwrap();
    let words = rare.link(Direction::Forward).unwrap().describe().concat();
    assert!(words.contains("trace of 1 full packet in "), "{words}");
    assert!(words.contains("(mean below 1 bit/s)"), "{words}");
}

#[test]
fn queues_in_bdp_count_with_the_mean_of_what_repeats() {
    let ms = Span::from_millis;
    let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
    // 10 for 2 ms, a ramp to 2 of 4 ms (6 on average), 2 for 4 ms: 52 Mbit/s·ms in 10 ms.
    let steps = vec![Step { at: ms(2), to: mbit(2), over: ms(4) }];
    let repeating = Schedule { start: mbit(10), steps, repeat: Some(ms(10)) };
    assert_eq!(
        ServerPlan::Varying(repeating.clone()).rate(),
        Rate::from_bits_per_second(5_200_000)
    );
    let once = Schedule { repeat: None, ..repeating };
    assert_eq!(ServerPlan::Varying(once).rate(), mbit(10));
    assert_eq!(
        ServerPlan::Trace(TracePlan { opportunities: vec![0, 1, 2, 3] }).rate(),
        mbit(16),
        "four full packets in 3 ms"
    );
}
