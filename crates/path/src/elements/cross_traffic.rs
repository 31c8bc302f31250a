//! Cross traffic: packets of others that share the bottleneck.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Rng, Span};

use crate::Packet;
use crate::behaviour::{Behaviour, Outbox, Streams, Transit, exponential, standard_exponential};
use crate::bottleneck::BILLION;
use crate::fault::Fault;
use crate::text_or_table::{is_default, text_or_table};

text_or_table!(
    CrossSpec, "CrossTraffic", "Cross traffic that shares the bottleneck.",
    "a table such as { rate = \"2 Mbit/s\" }, or a list of them",
    list CrossFlow, text(Rate): |text: &str| text.parse().map(|rate| CrossSpec(vec![CrossFlow {
        rate, size: full_size(), arrivals: Arrivals::default(), on: None, off: None,
        from: Span::ZERO, until: None,
    }]))
);

/// One flow of others' packets. They wait and are sent at the bottleneck as all others, and leave
/// the path behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossFlow {
    /// How much of it comes on average while it is on, in bits of IP packets; above zero.
    pub rate: Rate,
    /// The size of its packets, 1 B to 65535 B of IP. Default: 1500 B.
    #[serde(default = "full_size")]
    pub size: Bytes,
    /// How its packets are spaced. Default: `poisson`.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// How long it is on at a time, on average; the times are exponentially distributed; at
    /// least 1 µs, and a 10,000th of the mean time between packets. It is on at first. Default:
    /// always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Span>,
    /// How long it is off between, on average; likewise. Needs `on`, and `on` needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Span>,
    /// When it begins, from the world's zero. Default: at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Span,
    /// When it ends, from the world's zero; later than `from`. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
}

/// How packets are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At random, each at a moment that knows nothing of the others: a Poisson process.
    #[default]
    Poisson,
    /// Evenly, the first at once.
    Even,
}

fn full_size() -> Bytes {
    Bytes::new(1500)
}

/// The most flows of cross traffic in a list: every packet passes each, and many Poisson processes
/// are one of their rates' sum.
const FLOWS_MAX: usize = 64;
/// The most times that it is on between two packets, on average: each is drawn.
const ON_TIMES_MAX: u128 = 10_000;
/// The largest IP packet there is: its length field has 16 bits (RFC 791, section 3.1).
const LARGEST: Bytes = Bytes::new(65_535);

impl CrossSpec {
    /// Each flow, checked.
    pub(crate) fn plan(&self, has_bottleneck: bool) -> Result<Vec<CrossFlow>, Fault> {
        if !has_bottleneck {
            return Err(Fault::here("`cross` needs `rate`: without a bottleneck it has no effect"));
        }
        if self.0.len() > FLOWS_MAX {
            let found = self.0.len();
            return Err(Fault::here(format!(
                "{found} flows of cross traffic: give at most {FLOWS_MAX}, at higher rates"
            )));
        }
        self.0.iter().try_for_each(CrossFlow::check)?;
        Ok(self.0.clone())
    }
}

impl CrossFlow {
    fn check(&self) -> Result<(), Fault> {
        let CrossFlow { rate, size, on, off, from, until, .. } = *self;
        if rate.bits_per_second() == 0 {
            return Err(Fault::below(
                "rate",
                "the rate is zero: give a rate above zero, or remove the cross traffic",
            ));
        }
        if size == Bytes::ZERO || size > LARGEST {
            let what = format!("the packet size is {} B: give 1 B to 65535 B", size.as_u64());
            return Err(Fault::below("size", what));
        }
        if u128::from(rate.bits_per_second()) > size.bits() * BILLION {
            let what =
                format!("{rate} in packets of {size} is more than one packet per nanosecond");
            return Err(Fault::below("rate", what));
        }
        match (on, off) {
            (Some(_), None) => {
                let what = "`on` needs `off`";
                return Err(Fault::below("on", what));
            }
            (None, Some(_)) => {
                let what = "`off` needs `on`";
                return Err(Fault::below("off", what));
            }
            (Some(on), Some(_)) => self.check_on(on)?,
            (None, None) => {}
        }
        if let Some(until) = until.filter(|until| *until <= from) {
            let what = format!("`until` ({until}) must be after `from` ({from})");
            return Err(Fault::below("until", what));
        }
        Ok(())
    }

    /// Whether it is on for long enough at a time.
    fn check_on(&self, on: Span) -> Result<(), Fault> {
        let CrossFlow { rate, size, .. } = *self;
        if on < Span::from_micros(1) {
            return Err(Fault::below("on", format!("`on` is {on}: give at least 1 µs")));
        }
        let gap = size.bits() * BILLION / u128::from(rate.bits_per_second());
        let least = gap.div_ceil(ON_TIMES_MAX);
        if u128::from(on.as_nanos()) < least {
            let [gap, least] =
                [gap, least].map(|it| Span::from_nanos(u64::try_from(it).unwrap_or(u64::MAX)));
            let what = format!(
                "`on` is {on}, and {rate} in packets of {size} is one packet in {gap} of it: give \
                 at least {least}"
            );
            return Err(Fault::below("on", what));
        }
        Ok(())
    }

    pub(crate) fn describe(&self) -> String {
        let CrossFlow { rate, size, arrivals, on, off, from, until } = self;
        let how = match arrivals {
            Arrivals::Poisson => "Poisson arrivals",
            Arrivals::Even => "evenly spaced",
        };
        let mut text = format!("Cross traffic {rate} in packets of {size}, {how}");
        if let (Some(on), Some(off)) = (on, off) {
            text += &format!(", mean on time {on}, mean off time {off}");
        }
        if !from.is_zero() {
            text += &format!(", from {from}");
        }
        if let Some(until) = until {
            text += &format!(", until {until}");
        }
        text + "."
    }
}

/// Cross traffic at work.
///
/// Gaps between packets count only the time that it is on: an off period shifts the later packets.
/// A Poisson process is memoryless, so it stays one while it is on, and the mean rate is exact.
#[derive(Debug)]
pub(crate) struct CrossTraffic {
    plan: CrossFlow,
    /// Which flow of cross traffic it is on this link, from 1.
    number: u32,
    rng: Rng,
    /// When the next packet comes; none when no more do.
    next: Option<Instant>,
    /// What that instant was rounded down by, in nanoseconds.
    rest: f64,
    /// The same exactly, for even gaps: in billionths of a bit of its rate.
    fraction: u128,
    /// When it goes off; [`Instant::MAX`] for never.
    off_at: Instant,
}

impl CrossTraffic {
    pub(crate) fn new(plan: &CrossFlow, streams: Streams) -> CrossTraffic {
        let began = Instant::ZERO + plan.from;
        let number = streams.number as u32;
        let mut rng = streams.own();
        let off_at = plan.on.map_or(Instant::MAX, |on| began + exponential(on, &mut rng));
        let (plan, next) = (*plan, Some(began));
        let mut traffic = CrossTraffic { plan, number, rng, next, rest: 0.0, fraction: 0, off_at };
        if plan.arrivals == Arrivals::Poisson {
            traffic.next = traffic.after(began);
        }
        traffic
    }

    /// When the packet after one at `now` comes.
    fn after(&mut self, now: Instant) -> Option<Instant> {
        let mut gap = self.gap();
        let mut from = now;
        while let Some(late) = gap.checked_sub(self.off_at.since(from).as_nanos()) {
            let (Some(on), Some(off)) = (self.plan.on, self.plan.off) else { break };
            gap = late;
            from = self.off_at + exponential(off, &mut self.rng);
            if from == Instant::MAX {
                return None;
            }
            self.off_at = from + exponential(on, &mut self.rng);
        }
        let next = from + Span::from_nanos(gap);
        let end = self.plan.until.map_or(Instant::MAX, |until| Instant::ZERO + until);
        (next < end).then_some(next)
    }

    /// How long it is on until the next packet, in nanoseconds; what is rounded off comes later.
    fn gap(&mut self) -> u64 {
        let work = self.plan.size.bits() * BILLION;
        let rate = u128::from(self.plan.rate.bits_per_second());
        match self.plan.arrivals {
            Arrivals::Even => {
                let work = work + self.fraction;
                self.fraction = work % rate;
                u64::try_from(work / rate).unwrap_or(u64::MAX)
            }
            Arrivals::Poisson => {
                let exact =
                    self.rest + work as f64 / rate as f64 * standard_exponential(&mut self.rng);
                let whole = exact as u64;
                self.rest = exact - whole as f64;
                whole
            }
        }
    }
}

impl Behaviour for CrossTraffic {
    fn accept(&mut self, _now: Instant, packet: Transit, out: &mut Outbox) {
        out.pass(packet);
    }

    fn poll_at(&self) -> Option<Instant> {
        self.next
    }

    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        let packet = Packet::of_size(out.next_id(), self.plan.size);
        out.pass(Transit { cross_flow: Some(self.number), ..Transit::new(packet, now) });
        self.next = self.after(now);
    }

    fn release(&mut self, _into: &mut Vec<Transit>) {
        self.next = None;
    }
}

#[cfg(test)]
mod tests;
