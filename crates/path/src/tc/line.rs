//! What happens behind the bottleneck: netem.

use tcplab_units::{Probability, Rate, Span};

use super::job::Job;
use super::plan::{TcQdisc, TcTable};
use super::words::{time, words};
use crate::{
    CorruptionPlan, DelayPlan, DelaySpec, DuplicationPlan, GilbertElliott, HeldBack, JitterLaw,
    JitterPlan, LossPlan, MarkPlan, PacketPart, ReorderingPlan,
};

/// The arguments of netem as they come together.
#[derive(Default)]
pub(super) struct Line {
    delay: Option<Part>,
    loss: Option<Part>,
    duplicate: Option<Part>,
    corrupt: Option<Part>,
    pub(super) table: Option<TcTable>,
    /// How long a packet may stay.
    longest: Span,
    is_random: Option<&'static str>,
}

/// Some arguments, and their meaning.
struct Part {
    words: Vec<String>,
    stands_for: String,
}

/// What a link without a bottleneck is taken to bring at most.
const FASTEST: Rate = Rate::from_bits_per_second(10_000_000_000);
/// The smallest packet of TCP over IPv4 (RFC 9293 §3.1, RFC 791 §3.1).
const SMALLEST_PACKET: u128 = 40;
/// Room for bursts.
const RESERVE: u128 = 1000;
/// A rate at which even 64 kB take no nanosecond (`packet_time_ns` in net/sched/sch_netem.c).
const NO_TIME: &str = "1000tbit";
/// `tc_netem_qopt` counts in ticks of 64 ns, 32 bits of them.
const LONGEST: Span = Span::from_nanos((1 << 32) * 64 - 64);
/// Jitter is an `s32` of nanoseconds in the kernel (`tabledist`).
const MOST_JITTER: Span = Span::from_nanos((1 << 31) - 1);

impl Line {
    /// The key of something in it that is drawn at random.
    pub(super) fn draws(&self) -> Option<&'static str> {
        self.is_random
    }

    pub(super) fn longest(&self) -> Span {
        self.longest
    }

    /// netem, with a limit that it never reaches where packets `arrive` at no more than a rate,
    /// after a burst in bytes.
    pub(super) fn qdisc(self, arrive: Option<(Rate, u64)>, longest: Span) -> Option<TcQdisc> {
        let is_doubled = self.duplicate.is_some();
        let parts: Vec<Part> =
            [self.delay, self.loss, self.duplicate, self.corrupt].into_iter().flatten().collect();
        if parts.is_empty() {
            return None;
        }
        let (rate, burst) = arrive.unwrap_or((FASTEST, 0));
        let bytes = u128::from(rate.bytes_in(longest).as_u64()) + u128::from(burst);
        let copies = if is_doubled { 2 } else { 1 };
        let packets = bytes.div_ceil(SMALLEST_PACKET) * copies + RESERVE;
        let limit = u32::try_from(packets).unwrap_or(u32::MAX);
        let mut stands_for: Vec<String> =
            parts.iter().map(|part| part.stands_for.clone()).collect();
        let named = match arrive {
            Some(_) => "the bottleneck sends".to_owned(),
            None => format!("{FASTEST} bring"),
        };
        stands_for.push(format!(
            "a limit it never meets: what {named} of {SMALLEST_PACKET} B packets in {longest}, and \
             {RESERVE} more"
        ));
        let arguments = words(&["netem", &format!("limit {limit}")]);
        let words = arguments.into_iter().chain(parts.into_iter().flat_map(|part| part.words));
        Some(TcQdisc { kind: "netem".into(), words: words.collect(), stands_for })
    }
}

impl Job<'_> {
    /// Whether netem, which holds probabilities in steps of 2⁻³², has one like this.
    fn percent(&mut self, key: &str, probability: Probability) -> Option<String> {
        if probability != Probability::NEVER && probability.as_f64() < libm::exp2(-32.0) {
            self.refuse(key, "netem holds probabilities in steps of 2⁻³²: this one rounds to zero");
            return None;
        }
        Some(probability.to_string().replace(' ', ""))
    }

    pub(super) fn loss(&mut self, plan: &LossPlan, line: &mut Line) {
        let arguments = match plan {
            LossPlan::Independent(probability) => {
                let Some(percent) = self.percent("loss", *probability) else { return };
                format!("loss random {percent}")
            }
            LossPlan::GilbertElliott(GilbertElliott { p, r, good, bad }) => {
                // tc-netem(8): `gemodel p [r [1-h [1-k]]]`, 1-h being the loss in the bad state
                // and 1-k that in the good one. `loss_gilb_ell` lets a packet meet the state
                // before its change, here it meets the one after: the same chain, a packet later.
                let percents =
                    [*p, *r, *bad, *good].map(|it| self.percent("loss.gilbert_elliott", it));
                let [Some(p), Some(r), Some(bad), Some(good)] = percents else { return };
                format!("loss gemodel {p} {r} {bad} {good}")
            }
            LossPlan::Every { .. } => {
                return self.refuse("loss.every", "netem drops at random: it cannot count packets");
            }
            LossPlan::Burst(_) => {
                let what = "netem has no bursts of fixed length; the nearest is `gilbert_elliott`";
                return self.refuse("loss.burst", what);
            }
        };
        line.is_random = Some("loss");
        line.loss = Some(Part { words: words(&[&arguments]), stands_for: plan.describe() });
    }

    pub(super) fn mark(&mut self, plan: &MarkPlan, line: &mut Line) {
        if line.loss.is_some() {
            let what = "netem cannot mark and lose: remove `mark` or `loss`";
            return self.refuse("mark", what);
        }
        let Some(percent) = self.percent("mark", plan.probability) else { return };
        let what = "netem loses what it cannot mark: of packets that do not allow it (SYN, most \
            pure ACKs, everything of connections without ECN) it drops the same share, where this \
            path lets them pass";
        self.note("mark", what);
        line.is_random = Some("mark");
        let arguments = words(&[&format!("loss random {percent} ecn")]);
        line.loss = Some(Part { words: arguments, stands_for: plan.describe() });
    }

    pub(super) fn corruption(&mut self, plan: &CorruptionPlan, line: &mut Line) {
        if plan.part != PacketPart::Anywhere {
            let what = "netem flips a bit anywhere: it does not parse headers";
            self.refuse("corrupt.part", what);
        }
        if plan.bits != 1 {
            self.refuse("corrupt.bits", "netem flips one bit of a packet, not several");
        }
        let Some(percent) = self.percent("corrupt", plan.probability) else { return };
        let what = "netem flips a bit of what the kernel holds in one piece (`skb_headlen`): the \
            Ethernet header is part of it, and a payload that lies elsewhere is spared";
        self.note("corrupt", what);
        line.is_random = Some("corrupt");
        let arguments = words(&[&format!("corrupt {percent}")]);
        line.corrupt = Some(Part { words: arguments, stands_for: plan.describe() });
    }

    pub(super) fn duplication(&mut self, plan: &DuplicationPlan, line: &mut Line) {
        if plan.copies != 1 {
            self.refuse("duplicate.copies", "netem makes one copy of a packet, not several");
        }
        let Some(percent) = self.percent("duplicate", plan.probability) else { return };
        if line.loss.is_some() {
            let what = "netem draws for a copy before it draws for a loss, and a packet that is \
                drawn for both passes once; the copy may be lost by itself";
            self.note("duplicate", what);
        }
        line.is_random = Some("duplicate");
        let arguments = words(&[&format!("duplicate {percent}")]);
        line.duplicate = Some(Part { words: arguments, stands_for: plan.describe() });
    }

    /// netem holds nothing back: it sends some packets at once, before all those that wait for
    /// their delay (`netem_enqueue`). So where there is no delay but this one, those that are not
    /// held back are the ones that it sends at once.
    pub(super) fn reordering(&mut self, plan: &ReorderingPlan, line: &mut Line) {
        if plan.gap.is_some() {
            let what = "netem's `gap` has another meaning (how often, not how far): give `extra` \
                without `gap`";
            return self.refuse("reorder.gap", what);
        }
        let HeldBack::Random(probability) = plan.held_back else {
            let what = "netem cannot hold back every n-th packet: give a `probability`";
            return self.refuse("reorder.every", what);
        };
        if plan.at_most > LONGEST {
            return self.refuse("reorder.extra", too_long());
        }
        let Some(percent) = self.percent("reorder.probability", probability.complement()) else {
            return;
        };
        let Some(time) = self.time("reorder.extra", plan.at_most) else { return };
        line.is_random = Some("reorder");
        line.longest = plan.at_most;
        let arguments = words(&[&format!("delay {time} reorder {percent} gap 1")]);
        line.delay = Some(Part { words: arguments, stands_for: plan.describe() });
    }

    pub(super) fn delay(&mut self, plan: &DelayPlan, line: &mut Line) {
        if line.delay.is_some() {
            let what = "netem reorders by skipping the delay, so it cannot reorder beside a `delay`: \
                remove one";
            return self.refuse("reorder", what);
        }
        let delay = match &plan.delay {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) if schedule.steps.is_empty() => schedule.start,
            DelaySpec::Schedule(_) => {
                let what = "netem has no schedule: its delay is constant";
                return self.refuse("delay.steps", what);
            }
        };
        if delay > LONGEST {
            return self.refuse("delay", too_long());
        }
        let Some(time) = self.time("delay", delay) else { return };
        let mut arguments = words(&["delay", &time]);
        line.longest = delay;
        if let Some(jitter) = &plan.jitter {
            let Some((most, more)) = self.jitter(jitter, delay, line) else { return };
            arguments.extend(more);
            line.longest = delay + most;
        }
        line.delay = Some(Part { words: arguments, stands_for: plan.describe() });
    }

    /// A time as tc takes it, with a note where it is cut; nothing where nothing would be left.
    pub(super) fn time(&mut self, key: &str, span: Span) -> Option<String> {
        const LEAST: Span = Span::from_micros(1);
        if span < LEAST && !span.is_zero() {
            let what = format!("tc cuts times to whole microseconds: {span} would be none");
            self.refuse(key, what);
            return None;
        }
        if !span.as_nanos().is_multiple_of(LEAST.as_nanos()) {
            self.note(key, "tc cuts times to whole microseconds");
        }
        Some(time(span))
    }

    /// By how much it makes a delay longer at most, and its arguments.
    fn jitter(
        &mut self,
        plan: &JitterPlan,
        delay: Span,
        line: &mut Line,
    ) -> Option<(Span, Vec<String>)> {
        if plan.correlation != Probability::NEVER {
            let what = "netem's correlation changes the distribution: remove `correlation`";
            self.refuse("jitter.correlation", what);
        }
        let scale = plan.law.scale();
        if scale > MOST_JITTER {
            let what = format!("netem takes jitter of up to {MOST_JITTER}");
            self.refuse("jitter", what);
            return None;
        }
        let time = self.time("jitter", scale)?;
        line.is_random = Some("jitter");
        let distribution = match &plan.law {
            JitterLaw::Uniform(_) => None,
            JitterLaw::Normal(_) => {
                let what = "netem's normal distribution is a table that ends at four standard \
                    deviations";
                self.note("jitter", what);
                Some("normal".to_owned())
            }
            JitterLaw::Pareto(_) => Some("pareto".to_owned()),
            JitterLaw::ParetoNormal(_) => Some("paretonormal".to_owned()),
            JitterLaw::Table(table) => {
                let name = format!("tcplab-{}", self.direction);
                line.table = Some(TcTable { name: name.clone(), values: table.values.clone() });
                Some(name)
            }
        };
        if distribution.is_some() && delay.is_zero() {
            let what = "tc takes a distribution only with a delay: give a `delay` above zero";
            self.refuse("jitter", what);
            return None;
        }
        let mut arguments = vec![time];
        arguments.extend(distribution.into_iter().flat_map(|name| ["distribution".into(), name]));
        // With a rate, a packet is due no earlier than the one before it (`netem_enqueue`); at
        // this one, no later for it either.
        if !plan.reorder {
            arguments.extend(words(&["rate", NO_TIME]));
        }
        Some((most(&plan.law), arguments))
    }
}

fn too_long() -> String {
    format!("tc takes times of up to {LONGEST}")
}

/// By how much a law makes a delay longer at most; tables end at 4 where 1 is their unit.
fn most(law: &JitterLaw) -> Span {
    let scale = law.scale().as_nanos();
    Span::from_nanos(match law {
        JitterLaw::Uniform(_) => scale,
        JitterLaw::Normal(_) | JitterLaw::Pareto(_) | JitterLaw::ParetoNormal(_) => 4 * scale,
        JitterLaw::Table(table) => {
            let largest = table.values.last().copied().unwrap_or_default().max(0);
            let nanos = u128::from(scale) * u128::from(largest.unsigned_abs()) / UNIT;
            u64::try_from(nanos).unwrap_or(u64::MAX)
        }
    })
}

/// What a standard deviation is in netem's tables (`NETEM_DIST_SCALE`).
const UNIT: u128 = 8192;
