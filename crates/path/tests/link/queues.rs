//! Queues of every discipline: what holds for all.

use proptest::prelude::*;
use tcplab_path::{
    BottleneckPlan, CodelControl, CodelPlan, Direction, ElementPlan, Fate, FqCodelPlan, PathSpec,
    PiePlan, QueueLimit, QueuePlan, RedPlan, StepMarkPlan, Verdict,
};
use tcplab_units::{Bytes, Instant, Probability, Span};

use crate::support::{arrivals, limits, link, queued, run};

/// Of every discipline, with times and sizes about as short as those of [`arrivals`].
pub(crate) fn queues() -> impl Strategy<Value = QueuePlan> {
    prop_oneof![
        limits().prop_map(QueuePlan::DropTail),
        (limits(), limits())
            .prop_map(|(limit, mark)| QueuePlan::StepMark(StepMarkPlan { limit, mark })),
        limits().prop_map(QueuePlan::DropHead),
        (limits(), controls())
            .prop_map(|(limit, control)| QueuePlan::Codel(CodelPlan { limit, control })),
        fq_codels().prop_map(QueuePlan::FqCodel),
        pies().prop_map(QueuePlan::Pie),
        reds().prop_map(QueuePlan::Red),
    ]
}

fn controls() -> impl Strategy<Value = CodelControl> {
    let threshold = proptest::option::of((0..2_000_000_u64).prop_map(Span::from_nanos));
    (1..1_000_000_u64, 1..2_000_000_u64, any::<bool>(), threshold).prop_map(
        |(target, longer, ecn, ce_threshold)| CodelControl {
            target: Span::from_nanos(target),
            interval: Span::from_nanos(target + longer),
            ecn,
            ce_threshold,
        },
    )
}

fn fq_codels() -> impl Strategy<Value = FqCodelPlan> {
    (limits(), 1514..20_000_u64, 1..5_u32, 68..3000_u64, controls()).prop_map(
        |(limit, memory, flows, quantum, control)| FqCodelPlan {
            limit,
            memory: Bytes::new(memory),
            flows,
            quantum: Bytes::new(quantum),
            control,
        },
    )
}

fn pies() -> impl Strategy<Value = PiePlan> {
    let micros = |range| Strategy::prop_map(range, Span::from_micros);
    let threshold = proptest::option::of(probabilities());
    (limits(), micros(1..2_000_u64), micros(100..2_000), micros(0..5_000), threshold, any::<bool>())
        .prop_map(|(limit, target, update, burst, mark_threshold, derandomize)| PiePlan {
            limit,
            target,
            update,
            burst,
            mark_threshold,
            derandomize,
        })
}

fn reds() -> impl Strategy<Value = RedPlan> {
    let thresholds = prop_oneof![
        (1..5_u32, 1..5_u32).prop_map(|(min, more)| [min, min + more].map(QueueLimit::Packets)),
        (1514..5_000_u64, 1..5_000_u64)
            .prop_map(|(min, more)| [min, min + more].map(|n| QueueLimit::Bytes(Bytes::new(n)))),
    ];
    let switches = (any::<bool>(), any::<bool>());
    (limits(), thresholds, probabilities(), probabilities(), switches, 1..1_000_000_u64).prop_map(
        |(limit, [min, max], probability, weight, (gentle, ecn), packet_time)| RedPlan {
            limit,
            min,
            max,
            probability,
            weight,
            gentle,
            ecn,
            packet_time: Span::from_nanos(packet_time),
        },
    )
}

fn probabilities() -> impl Strategy<Value = Probability> {
    (1..=1_000_000_u32).prop_map(Probability::per_million)
}

proptest! {
    #[test]
    fn no_queue_ever_holds_more_than_its_limit(element in queued(), packets in arrivals()) {
        let verdicts = run(&mut link(std::slice::from_ref(&element)), &packets);
        let ElementPlan::Bottleneck(BottleneckPlan { queue, .. }) = element else { unreachable!() };
        for arrival in &verdicts {
            let waiting: Vec<_> =
                verdicts.iter().filter(|it| waits_at(it, arrival.entered)).collect();
            let bytes: Bytes = waiting.iter().map(|it| it.size).sum();
            let (limits, memory) = limits_of(&queue);
            let is_within = match limits {
                QueueLimit::Packets(most) => waiting.len() <= most as usize,
                QueueLimit::Bytes(most) => bytes <= most,
            };
            prop_assert!(is_within && bytes <= memory, "{} packets, {bytes}", waiting.len());
        }
    }

    #[test]
    fn not_ect_packet_is_never_marked(element in queued(), packets in arrivals()) {
        let verdicts = run(&mut link(&[element]), &packets);
        prop_assert!(verdicts.iter().all(|it| !it.marked), "zeros allow nothing");
    }
}

/// Whether a packet waits just after everything has happened that happens at `now`.
fn waits_at(verdict: &Verdict, now: Instant) -> bool {
    let until = verdict.transmission.map_or(verdict.left, |sent| sent.began);
    verdict.entered <= now && now < until
}

fn limits_of(queue: &QueuePlan) -> (QueueLimit, Bytes) {
    let most = Bytes::new(u64::MAX);
    match *queue {
        QueuePlan::DropTail(limit) | QueuePlan::DropHead(limit) => (limit, most),
        QueuePlan::StepMark(plan) => (plan.limit, most),
        QueuePlan::Codel(plan) => (plan.limit, most),
        QueuePlan::FqCodel(plan) => (plan.limit, plan.memory),
        QueuePlan::Pie(plan) => (plan.limit, most),
        QueuePlan::Red(plan) => (plan.limit, most),
    }
}

/// The seed decides, the other way round nothing else does.
#[test]
fn random_disciplines_draw_from_the_links_seed() {
    use tcplab_path::Link;
    let json = r#"{ "rate": "12 Mbit/s",
                    "queue": { "red": { "min": "2 packets", "max": "20 packets",
                                        "probability": "50 %", "weight": "50 %" } } }"#;
    let plan = serde_json::from_str::<PathSpec>(json).unwrap().link(Direction::Forward).unwrap();
    let packets = (0..400_u64).map(|i| (Instant::from_nanos(i * 700_000), 1500)).collect();
    let fates = |seed| -> Vec<Fate> {
        let mut verdicts = run(&mut Link::new(&plan, seed, Direction::Forward), &packets);
        verdicts.sort_by_key(|verdict| verdict.id);
        verdicts.into_iter().map(|verdict| verdict.fate).collect()
    };
    assert_eq!(fates(1), fates(1));
    assert_ne!(fates(1), fates(2));
}
