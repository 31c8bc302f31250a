//! Random plans and arrivals, and two ways for a world to drive a link.

use std::net::Ipv4Addr;

use crate::queues::queues;
use proptest::collection::vec;
use proptest::prelude::*;
use tcplab_path::{
    Arrivals as Spacing, BlackholePlan, BottleneckPlan, CorruptionPlan, CrossFlow, DelayPlan,
    DelaySpec, Departure, Direction, DropPlan, DuplicationPlan, ElementPlan, GilbertElliott,
    HeldBack, InterruptionPlan, InterruptionTimes, JitterLaw, JitterPlan, Link, LinkPlan,
    LossBurst, LossPlan, MtuPlan, NatPlan, Packet, PacketPart, PathSpec, PolicerSpec, QueueLimit,
    QueuePlan, ReorderingPlan, RulePlan, Schedule, ServerPlan, Step, TokenBucketPlan, TracePlan,
    Verdict, WifiPlan, WifiStandard,
};
use tcplab_units::{Bytes, Instant, Probability, Rate, Span};
use tcplab_wire::{Ecn, IpRepr, Ipv4Repr, TcpRepr};

/// Packets as they come: when, and how long in bytes. In order of time.
pub(crate) type Arrivals = Vec<(Instant, usize)>;

pub(crate) const SEED: u64 = 42;

/// Up to five elements of any kind in any order, also several of a kind.
pub(crate) fn plans() -> impl Strategy<Value = LinkPlan> {
    let element = prop_oneof![
        bottlenecks(),
        queued(),
        interruptions(),
        losses(),
        delays(),
        jitters(),
        reorderings(),
        duplications(),
        corruptions(),
        clumped_losses(),
        irregular_interruptions(),
        blackholes(),
        drops(),
        mtus(),
        nats(),
        varying_bottlenecks(),
        token_buckets(),
        traces(),
        wireless(),
        policers(),
        cross_traffic(),
    ];
    vec(element, 0..6).prop_map(|elements| LinkPlan { elements })
}

/// Whether packets come out in the order in which they went in, copies right behind theirs.
pub(crate) fn keeps_order(plan: &LinkPlan) -> bool {
    plan.elements.iter().all(|element| match element {
        ElementPlan::Reordering(_) => false,
        ElementPlan::Delay(plan) => !plan.reorders(),
        _ => true,
    })
}

/// How many elements may change the bytes of packets.
pub(crate) fn changing_bytes(plan: &LinkPlan) -> usize {
    let changes = |element: &&ElementPlan| matches!(element, ElementPlan::Corruption(_));
    plan.elements.iter().filter(changes).count()
}

pub(crate) fn bottlenecks() -> impl Strategy<Value = ElementPlan> {
    (rates(), limits()).prop_map(|(rate, limit)| bottleneck(rate, limit))
}

pub(crate) fn bottleneck(rate: Rate, limit: QueueLimit) -> ElementPlan {
    serving(ServerPlan::Rate(rate), limit)
}

/// Bottlenecks with a queue of any discipline.
pub(crate) fn queued() -> impl Strategy<Value = ElementPlan> {
    (rates(), queues()).prop_map(|(rate, queue)| {
        ElementPlan::Bottleneck(BottleneckPlan { server: ServerPlan::Rate(rate), queue })
    })
}

/// From one bit in a second to more than a bit in a nanosecond; few divide a second evenly.
pub(crate) fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![1..100_u64, 9_600..1_000_000_u64, 1_000_000..40_000_000_000_u64, Just(u64::MAX)]
        .prop_map(Rate::from_bits_per_second)
}

pub(crate) fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (1..12_u32).prop_map(QueueLimit::Packets),
        // Some are just full with whole packets.
        prop_oneof![(2..12_u64).prop_map(|n| n * 1500), 1514..20_000_u64]
            .prop_map(|n| QueueLimit::Bytes(Bytes::new(n))),
    ]
}

/// Rates that change on a grid of a quarter of a millisecond, also to zero, but not for ever.
pub(crate) fn schedules() -> impl Strategy<Value = Schedule<Rate>> {
    let rate = prop_oneof![Just(0), 1..100_000_u64, 1_000_000..10_000_000_000_u64]
        .prop_map(Rate::from_bits_per_second);
    let step = (1..20_u64, rate.clone(), prop_oneof![Just(0), 1..20_u64]);
    let above_zero = (1_000..10_000_000_000_u64).prop_map(Rate::from_bits_per_second);
    (rate, vec(step, 1..5), above_zero, proptest::option::of(1..20_u64)).prop_map(
        |(start, steps, last, repeat)| {
            let mut free = Span::ZERO;
            let mut steps: Vec<_> = steps
                .into_iter()
                .map(|(gap, to, over)| {
                    let (at, over) = (free + GRID * gap, GRID * over);
                    free = at + over;
                    Step { at, to, over }
                })
                .collect();
            steps.push(Step { at: free, to: last, over: Span::ZERO });
            Schedule { start, steps, repeat: repeat.map(|more| free + GRID * more) }
        },
    )
}

/// Changes of [`schedules`] fall on whole multiples of this, and so do the stairs of their ramps.
pub(crate) const GRID: Span = Span::from_micros(250);

fn varying_bottlenecks() -> impl Strategy<Value = ElementPlan> {
    (schedules(), limits())
        .prop_map(|(schedule, limit)| serving(ServerPlan::Varying(schedule), limit))
}

fn token_buckets() -> impl Strategy<Value = ElementPlan> {
    (schedules(), 1514..10_000_u64, limits()).prop_map(|(rate, burst, limit)| {
        let burst = Bytes::new(burst);
        serving(ServerPlan::TokenBucket(TokenBucketPlan { rate, burst }), limit)
    })
}

fn traces() -> impl Strategy<Value = ElementPlan> {
    (opportunities(), limits()).prop_map(|(opportunities, limit)| {
        serving(ServerPlan::Trace(TracePlan { opportunities }), limit)
    })
}

pub(crate) fn opportunities() -> impl Strategy<Value = Vec<u64>> {
    (vec(0..20_u64, 1..20), 1..20_u64).prop_map(|(mut times, last)| {
        times.push(last);
        times.sort_unstable();
        times
    })
}

fn wireless() -> impl Strategy<Value = ElementPlan> {
    let frames = prop_oneof![
        Just((WifiStandard::B, 11_000_000, 1)),
        Just((WifiStandard::G, 54_000_000, 1)),
        (1..=64_u32).prop_map(|aggregate| (WifiStandard::N, 65_000_000, aggregate)),
        (1..=64_u32).prop_map(|aggregate| (WifiStandard::Ac, 433_300_000, aggregate)),
    ];
    (frames, 0..900_000_u32, 0..4_u32, 0..4_u32, limits()).prop_map(
        |((standard, rate, aggregate), error, retries, stations, limit)| {
            let plan = WifiPlan {
                standard,
                rate: Rate::from_bits_per_second(rate),
                basic_rate: Rate::from_bits_per_second(match standard {
                    WifiStandard::B => 2_000_000,
                    _ => 24_000_000,
                }),
                error: Probability::per_million(error),
                retries,
                aggregate,
                stations,
                cw_min: 15,
                cw_max: 63,
            };
            serving(ServerPlan::Wifi(plan), limit)
        },
    )
}

pub(crate) fn serving(server: ServerPlan, limit: QueueLimit) -> ElementPlan {
    ElementPlan::Bottleneck(BottleneckPlan { server, queue: QueuePlan::DropTail(limit) })
}

pub(crate) fn policers() -> impl Strategy<Value = ElementPlan> {
    (rates(), 1514..10_000_u64).prop_map(|(rate, burst)| {
        ElementPlan::Policer(PolicerSpec { rate, burst: Bytes::new(burst) })
    })
}

/// It ends after a tenth of a second, so that a trial can go on until nothing is left.
fn cross_traffic() -> impl Strategy<Value = ElementPlan> {
    let on_off = proptest::option::of((1_000..5_000_000_u64, 0..5_000_000_u64));
    (1_000..100_000_000_u64, 1..3000_u64, any::<bool>(), on_off, 0..20_000_000_u64).prop_map(
        |(rate, size, evenly, on_off, from)| {
            ElementPlan::CrossTraffic(CrossFlow {
                rate: Rate::from_bits_per_second(rate),
                size: Bytes::new(100 + size),
                arrivals: if evenly { Spacing::Even } else { Spacing::Poisson },
                on: on_off.map(|(on, _)| Span::from_nanos(on)),
                off: on_off.map(|(_, off)| Span::from_nanos(off)),
                from: Span::from_nanos(from),
                until: Some(Span::from_millis(100)),
            })
        },
    )
}

pub(crate) fn interruptions() -> impl Strategy<Value = ElementPlan> {
    (1..20_000_000_u64, 0..20_000_000_u64, 0..20_000_000_u64).prop_map(
        |(every, lasting, offset)| {
            let (every, offset) = (Span::from_nanos(every), Span::from_nanos(offset));
            ElementPlan::Interruption(InterruptionPlan {
                times: InterruptionTimes::Periodic { every, offset },
                lasting: Span::from_nanos(lasting % every.as_nanos()),
            })
        },
    )
}

pub(crate) fn losses() -> impl Strategy<Value = ElementPlan> {
    probabilities().prop_map(loss)
}

fn probabilities() -> impl Strategy<Value = Probability> {
    (0..=1_000_000_u32).prop_map(Probability::per_million)
}

pub(crate) fn loss(probability: Probability) -> ElementPlan {
    ElementPlan::Loss(LossPlan::Independent(probability))
}

/// Every other law of loss.
fn clumped_losses() -> impl Strategy<Value = ElementPlan> {
    let chain = (probabilities(), probabilities(), probabilities(), probabilities())
        .prop_map(|(p, r, good, bad)| LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad }));
    let every = (1..20_u64, 1..20_u64).prop_map(|(every, first)| LossPlan::Every { every, first });
    let burst = (probabilities(), 1..10_u32)
        .prop_map(|(probability, length)| LossPlan::Burst(LossBurst { probability, length }));
    prop_oneof![chain, every, burst].prop_map(ElementPlan::Loss)
}

/// Listed ones and random ones. The latter are rare after the first, because a slow bottleneck may
/// make a trial last for days.
pub(crate) fn irregular_interruptions() -> impl Strategy<Value = ElementPlan> {
    let nanos = || (1..20_000_000_u64).prop_map(Span::from_nanos);
    let listed = (vec(nanos(), 1..8), nanos()).prop_map(|(gaps, lasting)| {
        let starts = gaps.iter().scan(Span::ZERO, |end, gap| {
            let start = *end + *gap;
            *end = start + lasting;
            Some(start)
        });
        let times = InterruptionTimes::Listed { at: starts.collect() };
        ElementPlan::Interruption(InterruptionPlan { times, lasting })
    });
    let random = (nanos(), nanos(), 10..100_u64).prop_map(|(offset, lasting, up)| {
        let (up, stream) = (Span::from_secs(up), "interruption/1".into());
        let times = InterruptionTimes::Random { up, offset: Some(offset), stream };
        ElementPlan::Interruption(InterruptionPlan { times, lasting })
    });
    prop_oneof![listed, random]
}

fn blackholes() -> impl Strategy<Value = ElementPlan> {
    (0..50_000_000_u64, proptest::option::of(1..50_000_000_u64)).prop_map(|(from, lasting)| {
        let until = lasting.map(|lasting| Span::from_nanos(from + lasting));
        ElementPlan::Blackhole(BlackholePlan { from: Span::from_nanos(from), until })
    })
}

/// Rules that need no TCP to be met.
fn drops() -> impl Strategy<Value = ElementPlan> {
    let rule =
        (vec((1..50_u64, 0..10_u64), 0..3), probabilities()).prop_map(|(nth, probability)| {
            let nth = nth.into_iter().map(|(from, more)| (from, from + more)).collect();
            RulePlan { kind: None, bytes: None, nth, probability }
        });
    vec(rule, 1..4).prop_map(|rules| ElementPlan::Drop(DropPlan { rules }))
}

fn mtus() -> impl Strategy<Value = ElementPlan> {
    (68..1600_u64, any::<bool>())
        .prop_map(|(size, answer)| ElementPlan::Mtu(MtuPlan { size: Bytes::new(size), answer }))
}

fn nats() -> impl Strategy<Value = ElementPlan> {
    (1..50_000_000_u64, any::<bool>()).prop_map(|(idle, answer)| {
        ElementPlan::Nat(NatPlan { idle: Span::from_nanos(idle), answer })
    })
}

pub(crate) fn delays() -> impl Strategy<Value = ElementPlan> {
    prop_oneof![Just(0), 0..20_000_000_u64].prop_map(|n| delay(Span::from_nanos(n)))
}

pub(crate) fn delay(delay: Span) -> ElementPlan {
    ElementPlan::Delay(DelayPlan { delay: DelaySpec::Constant(delay), jitter: None })
}

/// Delays that change with time, from packet to packet, or both; correlated or not, in order or
/// not.
fn jitters() -> impl Strategy<Value = ElementPlan> {
    let span = |most: u64| (0..=most).prop_map(Span::from_nanos);
    let law = (0..4, span(3_000_000)).prop_map(|(kind, scale)| match kind {
        0 => JitterLaw::Uniform(scale),
        1 => JitterLaw::Normal(scale),
        2 => JitterLaw::Pareto(scale),
        _ => JitterLaw::ParetoNormal(scale),
    });
    let jitter = (law, 0..1_000_000_u32, any::<bool>()).prop_map(|(law, n, reorder)| {
        let correlation = Probability::per_million(if n < 500_000 { 0 } else { n });
        JitterPlan { law, correlation, reorder }
    });
    let delay = prop_oneof![span(5_000_000).prop_map(DelaySpec::Constant), delay_schedules()];
    (delay, proptest::option::of(jitter))
        .prop_map(|(delay, jitter)| ElementPlan::Delay(DelayPlan { delay, jitter }))
}

/// Delays with up to three steps and ramps.
fn delay_schedules() -> impl Strategy<Value = DelaySpec> {
    let step = (1..5_000_000_u64, 0..5_000_000_u64, 0..5_000_000_u64);
    let repeat = proptest::option::of(1..5_000_000_u64);
    (0..5_000_000_u64, vec(step, 1..4), repeat).prop_map(|(start, steps, repeat)| {
        let span = Span::from_nanos;
        let mut free = 0;
        let step = |(pause, to, over): (u64, u64, u64)| {
            let at = free + pause;
            free = at + over;
            Step { at: span(at), to: span(to), over: span(over) }
        };
        let steps = steps.into_iter().map(step).collect();
        let repeat = repeat.map(|pause| span(free + pause));
        DelaySpec::Schedule(Schedule { start: span(start), steps, repeat })
    })
}

fn reorderings() -> impl Strategy<Value = ElementPlan> {
    let held_back = prop_oneof![
        (1..1_000_000_u32).prop_map(|n| HeldBack::Random(Probability::per_million(n))),
        (2..10_u64).prop_map(HeldBack::Every),
    ];
    let gap = proptest::option::of(1..5_u32);
    (held_back, gap, 1..5_000_000_u64).prop_map(|(held_back, gap, at_most)| {
        let at_most = Span::from_nanos(at_most);
        ElementPlan::Reordering(ReorderingPlan { held_back, gap, at_most })
    })
}

fn duplications() -> impl Strategy<Value = ElementPlan> {
    (probabilities(), 1..3_u8).prop_map(|(probability, copies)| {
        ElementPlan::Duplication(DuplicationPlan { probability, copies })
    })
}

fn corruptions() -> impl Strategy<Value = ElementPlan> {
    let part = prop_oneof![
        Just(PacketPart::Anywhere),
        Just(PacketPart::Payload),
        Just(PacketPart::Headers)
    ];
    (probabilities(), part, 1..=64_u8).prop_map(|(probability, part, bits)| {
        ElementPlan::Corruption(CorruptionPlan { probability, part, bits })
    })
}

/// Bursts, trickles and pauses of packets of all lengths, an empty one among them.
pub(crate) fn arrivals() -> impl Strategy<Value = Arrivals> {
    let gap = prop_oneof![Just(0), 0..1_000_u64, 0..2_000_000_u64];
    vec((gap, prop_oneof![Just(1500), 0..1600_usize]), 0..80).prop_map(|packets| {
        let mut now = Instant::ZERO;
        let arrive = |(gap, size)| {
            now += Span::from_nanos(gap);
            (now, size)
        };
        packets.into_iter().map(arrive).collect()
    })
}

/// The forward direction of a path.
pub(crate) fn forward(json: &str) -> Link {
    let path: PathSpec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
    Link::new(&path.link(Direction::Forward).unwrap(), 1, Direction::Forward)
}

/// A segment of this many bytes of IP.
pub(crate) fn tcp(id: u64, src_port: u16, size: usize, ecn: Ecn) -> Packet {
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let ip = IpRepr::from(Ipv4Repr { src, dst, id: 1, ttl: 64, ecn });
    let header = TcpRepr { src_port, dst_port: 80, ..TcpRepr::default() };
    Packet::new(id, header.to_packet(&ip, &vec![0; size - 40]))
}

pub(crate) fn link(elements: &[ElementPlan]) -> Link {
    Link::new(&LinkPlan { elements: elements.to_vec() }, SEED, Direction::Forward)
}

/// A world in virtual time: it polls whenever something is due, just then. Packets are numbered
/// as they come, and the trial runs until the link is empty.
pub(crate) fn run(link: &mut Link, arrivals: &Arrivals) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (id, (now, size)) in arrivals.iter().enumerate() {
        step_until(link, *now, &mut verdicts);
        link.handle_packet(*now, Packet::new(id as u64, vec![0; *size]));
    }
    step_until(link, Instant::MAX, &mut verdicts);
    verdicts
}

/// Steps from one due time to the next, up to `end`.
pub(crate) fn step_until(link: &mut Link, end: Instant, verdicts: &mut Vec<Verdict>) {
    while let Some(due) = link.poll_at().filter(|due| *due <= end) {
        while let Some(Departure { verdict, .. }) = link.poll(due) {
            assert_eq!(verdict.left, due, "a timely poll returns the verdict in time");
            verdicts.push(verdict);
        }
        assert_ne!(link.poll_at(), Some(due), "time advances");
    }
}

/// A world in real time: it polls sometimes, `late[i]` nanoseconds after packet i but not after
/// the next, and drains at the end.
pub(crate) fn run_late(
    link: &mut Link,
    arrivals: &Arrivals,
    late: &[Option<u64>],
    end: Instant,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (id, (now, size)) in arrivals.iter().enumerate() {
        link.handle_packet(*now, Packet::new(id as u64, vec![0; *size]));
        let next = arrivals.get(id + 1).map_or(end, |(next, _)| *next);
        if let Some(late) = late.get(id).copied().flatten() {
            let poll = (*now + Span::from_nanos(late)).min(next);
            while let Some(departure) = link.poll(poll) {
                assert!(departure.verdict.left <= poll);
                verdicts.push(departure.verdict);
            }
        }
    }
    verdicts.extend(link.drain(end).into_iter().map(|departure| departure.verdict));
    verdicts
}
