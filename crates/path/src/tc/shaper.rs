//! Rate and queue: tbf, and a qdisc in it.

use tcplab_units::{Bytes, Probability, Rate, Span};

use super::job::Job;
use super::plan::TcQdisc;
use super::words::words;
use crate::schedule::Schedule;
use crate::{
    BottleneckPlan, CodelPlan, FqCodelPlan, PiePlan, QueueLimit, QueuePlan, RedPlan, ServerPlan,
};

/// A shaper and what is to be known of it.
pub(super) struct Shaper {
    /// The root and the queue in it.
    pub(super) qdiscs: [TcQdisc; 2],
    pub(super) rate: Rate,
    /// In bytes of IP.
    pub(super) burst: u64,
    /// How long the largest packet takes.
    pub(super) packet_time: Span,
}

/// What an Ethernet frame has before its IP packet, in bytes. A qdisc counts it (`qdisc_pkt_len`),
/// rates and limits here do not: a size table with this overhead takes it away again.
const ETHERNET: u64 = 14;
/// The largest frame where packets are up to 1500 B of IP.
const LARGEST_FRAME: u64 = 1514;
/// How late a timer may be without any loss of rate. tbf forgets tokens beyond its burst
/// (`tbf_dequeue`: `toks = min(toks, q->buffer)`), so with a burst of one packet each late
/// timer would take away from the rate; a millisecond's worth more allows for what timers are late
/// on a busy machine.
const LATE: Span = Span::from_millis(1);
/// The packet that tbf sends next, as large as most are. tbf leaves it in the queue until its
/// tokens are there (`tbf_dequeue` peeks), so it counts in the queue's limit; here it is being
/// sent, and does not.
const NEXT: Bytes = Bytes::new(1500);
/// What tc holds in one number: 2³² ticks of 64 ns.
const MOST_TICKS_NANOS: u128 = (1 << 32) * 64;

impl Job<'_> {
    pub(super) fn shaper(&mut self, plan: &BottleneckPlan) -> Option<Shaper> {
        let queue = self.queue(&plan.queue, plan.server.rate());
        let (rate, burst) = self.server(&plan.server)?;
        let queue = queue?;
        let (rate_text, given) = (rate.to_string(), burst.is_some());
        let bits = rate.bits_per_second();
        if bits < 8 {
            self.refuse("rate", "tc counts rates in whole bytes per second: give 8 bit/s or more");
            return None;
        }
        let burst =
            burst.map_or_else(|| LARGEST_FRAME + rate.bytes_in(LATE).as_u64(), Bytes::as_u64);
        let burst_nanos = u128::from(burst) * 8 * 1_000_000_000 / u128::from(bits);
        if burst > u64::from(u32::MAX) || burst_nanos >= MOST_TICKS_NANOS {
            let key = if given { "burst" } else { "rate" };
            self.refuse(key, format!("a burst of {burst} B at {rate_text} is more than tbf takes"));
            return None;
        }
        if !given {
            let what = format!(
                "tbf sends a packet when its tokens are there, where this path takes its time for \
                 it: after a pause, up to {burst} B leave at once (the smallest burst with which \
                 timers that are late by up to {LATE} cost no rate)"
            );
            self.note("rate", what);
        }
        let root = TcQdisc {
            kind: "tbf".into(),
            // The limit is that of a queue that the next command puts another in place of.
            words: words(&[
                &format!("stab overhead -{ETHERNET}"),
                &format!("tbf rate {bits}bit burst {burst} limit {LARGEST_FRAME}"),
            ]),
            stands_for: vec![format!(
                "{rate_text} in bits of IP packets, without the {ETHERNET} B of Ethernet; up to \
                 {burst} B at once"
            )],
        };
        let packet_nanos = u128::from(LARGEST_FRAME) * 8 * 1_000_000_000 / u128::from(bits);
        let packet_time = Span::from_nanos(u64::try_from(packet_nanos).unwrap_or(u64::MAX));
        Some(Shaper { qdiscs: [root, queue], rate, burst, packet_time })
    }

    /// The rate, and the burst where one is given.
    fn server(&mut self, server: &ServerPlan) -> Option<(Rate, Option<Bytes>)> {
        match server {
            ServerPlan::Rate(rate) => Some((*rate, None)),
            ServerPlan::Varying(schedule) => Some((self.steady(schedule)?, None)),
            ServerPlan::TokenBucket(plan) => Some((self.steady(&plan.rate)?, Some(plan.burst))),
            ServerPlan::Trace(_) => {
                let what = "tbf sends at a rate: it cannot follow a trace";
                self.refuse("rate.trace", what);
                None
            }
            ServerPlan::Wifi(_) => {
                let what = "no qdisc models a wireless station";
                self.refuse("wifi", what);
                None
            }
        }
    }

    fn steady(&mut self, schedule: &Schedule<Rate>) -> Option<Rate> {
        if schedule.steps.is_empty() {
            return Some(schedule.start);
        }
        self.refuse("rate.steps", "tbf has no schedule: its rate is constant");
        None
    }

    fn queue(&mut self, plan: &QueuePlan, rate: Rate) -> Option<TcQdisc> {
        let stands_for = vec![plan.describe()];
        let (kind, words) = match plan {
            QueuePlan::DropTail(QueueLimit::Packets(most)) => ("pfifo", limit(with_next(*most))),
            QueuePlan::DropTail(QueueLimit::Bytes(most)) => {
                let most = self.bytes("queue", *most)?.saturating_add(NEXT.as_u64() as u32);
                let what = format!(
                    "the packet that tbf sends next counts in bfifo, which therefore has {NEXT} \
                     more: a smaller one leaves more room"
                );
                self.note("queue", what);
                ("bfifo", limit(most))
            }
            QueuePlan::DropHead(QueueLimit::Packets(most)) => {
                let what = "pfifo_head_drop drops the packet that tbf would send next, where this \
                    path drops the one behind it";
                self.note("queue", what);
                ("pfifo_head_drop", limit(with_next(*most)))
            }
            QueuePlan::DropHead(QueueLimit::Bytes(_)) => {
                let what = "pfifo_head_drop counts packets: give the size in packets";
                self.refuse("queue.drop_head", what);
                return None;
            }
            QueuePlan::StepMark(_) => {
                let what = "no qdisc marks from a length of its queue on: the nearest is `codel` \
                    with a `ce_threshold`, a time";
                self.refuse("queue.mark", what);
                return None;
            }
            QueuePlan::Codel(plan) => ("codel", self.codel(plan)?),
            QueuePlan::FqCodel(plan) => ("fq_codel", self.fq_codel(plan)?),
            QueuePlan::Pie(plan) => ("pie", self.pie(plan)?),
            QueuePlan::Red(plan) => ("red", self.red(plan, rate)?),
        };
        let words = std::iter::once(kind.to_owned()).chain(words).collect();
        Some(TcQdisc { kind: kind.into(), words, stands_for })
    }

    fn codel(&mut self, plan: &CodelPlan) -> Option<Vec<String>> {
        let most = self.packets("queue.codel.limit", "codel", plan.limit)?;
        let control = plan.control;
        let target = self.time("queue.codel.target", control.target);
        let interval = self.time("queue.codel.interval", control.interval);
        let threshold = control.ce_threshold.map(|it| self.time("queue.codel.ce_threshold", it));
        let mut arguments = limit(most);
        arguments.extend(words(&[
            &format!("target {} interval {}", target?, interval?),
            ecn(control.ecn),
        ]));
        if let Some(threshold) = threshold {
            arguments.extend(["ce_threshold".to_owned(), threshold?]);
        }
        Some(arguments)
    }

    fn fq_codel(&mut self, plan: &FqCodelPlan) -> Option<Vec<String>> {
        let most = self.packets("queue.fq_codel.limit", "fq_codel", plan.limit)?;
        let memory = self.bytes("queue.fq_codel.memory", plan.memory)?;
        let control = plan.control;
        let target = self.time("queue.fq_codel.target", control.target);
        let interval = self.time("queue.fq_codel.interval", control.interval);
        let what = "fq_codel counts its memory in whole buffers, somewhat more than the packets in \
            them";
        self.note("queue", what);
        let mut arguments = limit(most);
        arguments.extend(words(&[
            &format!("flows {} quantum {}", plan.flows, plan.quantum.as_u64()),
            &format!("target {} interval {}", target?, interval?),
            &format!("memory_limit {memory}"),
            ecn(control.ecn),
        ]));
        Some(arguments)
    }

    fn pie(&mut self, plan: &PiePlan) -> Option<Vec<String>> {
        /// `pie_vars_init` in include/net/pie.h.
        const BURST: Span = Span::from_millis(150);
        let most = self.packets("queue.pie.limit", "pie", plan.limit);
        if plan.burst != BURST {
            let what = format!("the kernel's pie always has a burst allowance of {BURST}");
            self.refuse("queue.pie.burst", what);
        }
        // `pie_drop_early`'s caller marks up to MAX_PROB / 10 (net/sched/sch_pie.c).
        let threshold = Probability::per_million(100_000);
        if plan.mark_threshold.is_some_and(|it| it != threshold) {
            let what = format!("the kernel's pie always marks up to a probability of {threshold}");
            self.refuse("queue.pie.mark_threshold", what);
        }
        if !plan.derandomize {
            let what = "the kernel's pie keeps its drops from coming too close together or too far \
                apart, always (`derandomize`)";
            self.note("queue", what);
        }
        let what = "the kernel's pie sets its probability anew every `update`, rounded up to whole \
            ticks of its clock (of 1 to 10 ms), and a tick";
        self.note("queue", what);
        let target = self.time("queue.pie.target", plan.target);
        let update = self.time("queue.pie.update", plan.update);
        let mut arguments = limit(most?);
        arguments.extend(words(&[
            &format!("target {} tupdate {}", target?, update?),
            ecn(plan.mark_threshold.is_some()),
        ]));
        Some(arguments)
    }

    fn red(&mut self, plan: &RedPlan, rate: Rate) -> Option<Vec<String>> {
        let bytes = |limit| match limit {
            QueueLimit::Bytes(bytes) => u32::try_from(bytes.as_u64()).ok(),
            QueueLimit::Packets(_) => None,
        };
        let [most, min, max] = [plan.limit, plan.min, plan.max].map(bytes);
        let most = most.and_then(|most| most.checked_add(NEXT.as_u64() as u32));
        for (key, value) in [("limit", most), ("min", min), ("max", max)] {
            if value.is_none() {
                let what = "the kernel's red counts bytes, up to 4 GB: give the size in bytes";
                self.refuse(&format!("queue.red.{key}"), what);
            }
        }
        if plan.gentle {
            let what = "the kernel's red drops everything above `max`: remove `gentle`";
            self.refuse("queue.red.gentle", what);
        }
        let (most, min, max) = (most?, min?, max?);
        let exponent = (-libm::log2(plan.weight.as_f64())).round().clamp(1.0, 31.0) as u32;
        let fits = |bytes: u32| 32 - bytes.leading_zeros() + exponent <= 32;
        let burst = burst_for(exponent, min).filter(|_| fits(min) && fits(max));
        let Some(burst) = burst else {
            let what = format!("the kernel's red has no such weight beside a `min` of {min} B");
            self.refuse("queue.red.weight", what);
            return None;
        };
        let weight = libm::exp2(-f64::from(exponent));
        if (weight - plan.weight.as_f64()).abs() > 1e-12 {
            let what = format!(
                "the kernel's red weighs by powers of two: 2⁻{} ({weight:.6}) in place of {}",
                superscript(exponent),
                plan.weight
            );
            self.note("queue", what);
        }
        let what = "the packet that tbf sends next counts in red's average";
        self.note("queue", what);
        let mut arguments = limit(most);
        arguments.extend(words(&[&format!(
            "min {min} max {max} avpkt {AVERAGE} burst {burst} probability {} bandwidth {}bit",
            plan.probability.as_f64(),
            rate.bits_per_second()
        )]));
        arguments.extend(plan.ecn.then(|| "ecn".to_owned()));
        Some(arguments)
    }

    /// A limit in packets, for a qdisc that knows no other; with room for the one sent next.
    fn packets(&mut self, key: &str, kind: &str, limit: QueueLimit) -> Option<u32> {
        match limit {
            QueueLimit::Packets(most) => Some(with_next(most)),
            QueueLimit::Bytes(_) => {
                self.refuse(key, format!("{kind} counts packets: give the limit in packets"));
                None
            }
        }
    }

    fn bytes(&mut self, key: &str, bytes: Bytes) -> Option<u32> {
        let most = u32::try_from(bytes.as_u64()).ok();
        if most.is_none() {
            self.refuse(key, format!("{bytes} is more than tc takes: up to 4 GB"));
        }
        most
    }
}

/// A limit in packets and [the one that is sent next](NEXT).
const fn with_next(most: u32) -> u32 {
    most.saturating_add(1)
}

fn limit(most: u32) -> Vec<String> {
    vec!["limit".into(), most.to_string()]
}

fn ecn(is_on: bool) -> &'static str {
    if is_on { "ecn" } else { "noecn" }
}

/// The size of a middling packet, as in [`RedPlan`]'s idle times.
const AVERAGE: u32 = 1000;

/// The `burst` from which tc computes the weight 2^-exponent: the smallest, if there is one.
fn burst_for(exponent: u32, min: u32) -> Option<u32> {
    // A longer burst never gives a larger weight, so the smallest is found by halving.
    let (mut low, mut high) = (min.div_ceil(AVERAGE).max(1), 1 << 24);
    while low < high {
        let middle = low.midpoint(high);
        if exponent_of(middle, min).is_some_and(|found| found < exponent) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (exponent_of(low, min) == Some(exponent)).then_some(low)
}

/// The weight, as the exponent of a power of two, that tc computes from a burst: the first with
/// which so many packets of the average size in a row, on an empty queue, lead the average to `min`
/// or not as far (`tc_red_eval_ewma` in tc/tc_red.c of iproute2).
pub(super) fn exponent_of(burst: u32, min: u32) -> Option<u32> {
    let reach = f64::from(burst) + 1.0 - f64::from(min) / f64::from(AVERAGE);
    (1..32).find(|&exponent| {
        let weight = libm::exp2(-f64::from(exponent));
        reach <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight
    })
}

fn superscript(number: u32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or(c, |digit| digits[digit as usize]);
    number.to_string().chars().map(digit).collect()
}
