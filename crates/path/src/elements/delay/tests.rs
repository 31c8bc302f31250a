#![expect(clippy::float_cmp, reason = "these results are exact, or were rounded")]

use super::*;
use crate::testing::{link_of, ms, path};
use crate::{Direction, ElementPlan, Link, LinkPlan, Packet, Step};
use tcplab_units::{Bytes, Probability};

fn link(plan: DelayPlan) -> Link {
    link_of(ElementPlan::Delay(plan))
}

/// A packet at each of these milliseconds, numbered from 0: in order of leaving, each with the
/// millisecond at which it leaves.
fn leaving(link: &mut Link, entering: &[u64]) -> Vec<(u64, u64)> {
    for (id, at) in (0..).zip(entering) {
        link.handle_packet(ms(*at), Packet::of_size(id, Bytes::new(1500)));
    }
    let departures = std::iter::from_fn(|| link.poll(Instant::MAX));
    departures.map(|it| (it.verdict.id, it.verdict.left.as_nanos() / 1_000_000)).collect()
}

/// 20 ms; from 10 ms on 5 ms; from 30 ms on evenly up to 15 ms, which it reaches at 40 ms; again
/// every 50 ms.
fn changing(reorder: bool) -> DelayPlan {
    let span = Span::from_millis;
    let steps = vec![
        Step { at: span(10), to: span(5), over: Span::ZERO },
        Step { at: span(30), to: span(15), over: span(10) },
    ];
    let delay = DelaySpec::Schedule(Schedule { start: span(20), steps, repeat: Some(span(50)) });
    let even = JitterPlan {
        law: JitterLaw::Uniform(Span::ZERO),
        correlation: Probability::NEVER,
        reorder,
    };
    DelayPlan { delay, jitter: reorder.then_some(even) }
}

#[test]
fn packet_delay_is_fixed_on_entry_and_keeps_order() {
    let entering = [0, 9, 10, 24, 25, 30, 33, 40, 49, 50, 60];
    assert_eq!(
        leaving(&mut link(changing(false)), &entering),
        [
            (0, 20),
            (1, 29),
            (2, 29), // due at 15, behind packet 1
            (3, 29), // still due at 29
            (4, 30),
            (5, 35),
            (6, 41), // 3 ms up the ramp: 8 ms
            (7, 55),
            (8, 64),
            (9, 70),
            (10, 70), // due at 65
        ]
    );
    assert_eq!(
        leaving(&mut link(changing(true)), &entering),
        [
            (2, 15),
            (0, 20),
            (1, 29), // due with packet 3, and came first
            (3, 29),
            (4, 30),
            (5, 35),
            (6, 41),
            (7, 55),
            (8, 64),
            (10, 65),
            (9, 70),
        ]
    );
}

#[test]
fn packets_in_flight_are_listed_in_departure_order() {
    for (reorder, order) in [(false, [0, 1, 2]), (true, [2, 0, 1])] {
        let mut link = link(changing(reorder));
        for (id, at) in [(0, 0), (1, 9), (2, 10)] {
            link.handle_packet(ms(at), Packet::of_size(id, Bytes::new(1500)));
        }
        assert_eq!(link.in_flight().map(|packet| packet.id).collect::<Vec<_>>(), order);
        let left: Vec<_> = link.drain(ms(11)).into_iter().map(|it| it.packet.id).collect();
        assert_eq!((left.as_slice(), link.poll_at()), (order.as_slice(), None));
    }
}

#[test]
fn extreme_delays_and_jitter_end_at_the_ends_of_time() {
    for (delay, law) in [
        (Span::ZERO, JitterLaw::Normal(Span::MAX)),
        (Span::MAX, JitterLaw::Uniform(Span::MAX)),
        (Span::MAX, JitterLaw::Pareto(Span::from_nanos(1))),
    ] {
        for correlation in [0, 999_999].map(Probability::per_million) {
            let jitter = JitterPlan { law: law.clone(), correlation, reorder: true };
            let delay = DelaySpec::Constant(delay);
            let left = leaving(&mut link(DelayPlan { delay, jitter: Some(jitter) }), &[5; 20]);
            assert_eq!(left.len(), 20);
            assert!(left.iter().all(|(_, at)| *at >= 5));
        }
    }
}

#[test]
fn delay_probability_is_that_of_jitter_or_step() {
    let constant = DelaySpec::Constant(Span::from_millis(5));
    let plain = DelayPlan { delay: constant.clone(), jitter: None };
    let at = |plan: &DelayPlan, nanos| plan.cdf(Span::from_nanos(nanos));
    assert_eq!([4_999_999, 5_000_000, 5_000_001].map(|n| at(&plain, n)), [0.0, 1.0, 1.0]);
    let law = JitterLaw::Uniform(Span::from_millis(10));
    let jitter = Some(JitterPlan { law, correlation: Probability::NEVER, reorder: false });
    let wide = DelayPlan { delay: constant, jitter };
    // A quarter would be below zero.
    assert_eq!(
        [0, 5_000_000, 10_000_000, 15_000_000].map(|n| at(&wide, n)),
        [0.25, 0.5, 0.75, 1.0]
    );
    assert_eq!(changing(false).cdf(Span::from_millis(20)), 1.0);
}

#[test]
fn delay_table_is_read_once_by_name() {
    let mut path = path(r#"{ "jitter": { "table": "x.dist", "scale": "8192 ns" } }"#);
    let Some(JitterSpec::Table(table)) = &mut path.jitter else { panic!("a table") };

    let missing = table.load(&mut |name| Err(format!("`{name}`: no such file")));
    assert_eq!(missing, Err("`x.dist`: no such file".into()));
    let wrong = table.load(&mut |_| Ok(b"1 2\n3 x".into()));
    assert_eq!(wrong, Err("`x.dist`: line 2: entry 2 is not a whole number".into()));

    let mut times = 0;
    for _ in 0..2 {
        let mut read = |name: &str| {
            times += 1;
            assert_eq!(name, "x.dist");
            Ok(b"# three values\n30 10\n20".into())
        };
        assert_eq!(table.load(&mut read), Ok(()));
    }
    assert_eq!((times, table.values.as_deref()), (1, Some(&[30, 10, 20][..])));

    // A plan, which a trial is handed as JSON, holds all that it needs, and each value occurs.
    let plan = path.link(Direction::Forward).unwrap();
    let plan: LinkPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    let mut link = Link::new(&plan, 1, Direction::Forward);
    let mut seen = std::collections::BTreeSet::new();
    for id in 0..100 {
        link.handle_packet(ms(id), Packet::of_size(id, Bytes::new(1500)));
        let departure = link.poll(Instant::MAX).expect("the packet leaves");
        seen.insert(departure.verdict.time_on_link().as_nanos());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [10, 20, 30]);

    let mut other = serde_json::from_str::<JitterTable>(r#"{ "normal": "1 ms" }"#).unwrap();
    assert_eq!(other.load(&mut |_| panic!("there is nothing to read")), Ok(()));
}
