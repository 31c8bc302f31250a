//! Interruptions: for a while, nothing passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;
use crate::{Cause, Direction, Directions};

/// Interruptions of one kind, or of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InterruptionsSpec(pub Vec<InterruptionSpec>);

/// Times at which all packets are dropped: periodic (`every`), listed (`at`), or at random (`up`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Interruption")]
pub struct InterruptionSpec {
    /// From the start of one to the start of the next; above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// When each starts, in order, instead of `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Span>>,
    /// The mean time from the end of one to the start of the next, instead of `every`: times up and
    /// times down (whose mean is `lasting`) are exponentially distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Span>,
    /// How long each lasts; with `every`, less than that.
    pub lasting: Span,
    /// From the start of the trial to the start of the first. Default: as long as `every`, so that
    /// connections are set up in peace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Span>,
    /// Which directions are interrupted: `both`, `forward` (client to server) or `reverse`. Within
    /// the table of one direction it can only mean that one. Default: `both`.
    #[serde(default)]
    pub direction: Directions,
}

text_or_table!(
    InterruptionsSpec, "Interruptions", "Times at which all packets are dropped.",
    "a table such as { every = \"5 s\", lasting = \"200 ms\" }, or a list of them",
    text(Span): |text: &str| Err::<InterruptionsSpec, String>(format!(
        "`{text}` does not tell when: write a table such as {{ every = \"5 s\", lasting = \"200 ms\" }}"
    )),
    table: InterruptionSpec, list: list
);

impl From<InterruptionSpec> for InterruptionsSpec {
    fn from(one: InterruptionSpec) -> InterruptionsSpec {
        InterruptionsSpec(vec![one])
    }
}
impl From<Vec<InterruptionSpec>> for InterruptionsSpec {
    fn from(several: Vec<InterruptionSpec>) -> InterruptionsSpec {
        InterruptionsSpec(several)
    }
}

/// From when on everything is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum BlackholeSpec {
    /// From then on for ever.
    From(Span),
    /// In full.
    Table(BlackholePlan),
}

/// A time during which everything is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Blackhole")]
pub struct BlackholePlan {
    /// When it begins.
    pub from: Span,
    /// When it ends. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
}

text_or_table!(
    BlackholeSpec, "BlackholeFrom", "From when on everything is dropped.",
    "a time such as \"3 s\", or a table",
    text(Span): |text: &str| text.parse().map(BlackholeSpec::From), table: BlackholePlan
);

impl From<BlackholePlan> for BlackholeSpec {
    fn from(table: BlackholePlan) -> BlackholeSpec {
        BlackholeSpec::Table(table)
    }
}

impl BlackholeSpec {
    pub(crate) fn plan(&self) -> Result<BlackholePlan, Fault> {
        Ok(match self {
            BlackholeSpec::From(from) => BlackholePlan { from: *from, until: None },
            BlackholeSpec::Table(table) => *table,
        })
    }
}

impl InterruptionsSpec {
    /// What interrupts `direction`; the key stands in the table of one direction, or in the path's.
    pub(crate) fn plan(
        &self,
        direction: Direction,
        table: Option<Direction>,
    ) -> Result<Vec<InterruptionPlan>, Fault> {
        let mut plans = Vec::new();
        for spec in &self.0 {
            plans.extend(spec.plan(direction, table)?);
        }
        Ok(plans)
    }
}

impl InterruptionSpec {
    fn plan(
        &self,
        direction: Direction,
        table: Option<Direction>,
    ) -> Result<Option<InterruptionPlan>, Fault> {
        let InterruptionSpec { every, lasting, offset, direction: interrupted, .. } = self;
        let (lasting, interrupted) = (*lasting, *interrupted);
        let every = every.unwrap_or_default();
        if every.is_zero() {
            let what =
                format!("interruptions every {every} come all at once: give a time above zero");
            return Err(Fault::below("every", what));
        }
        if lasting >= every {
            let what = format!(
                "interruptions lasting {lasting} every {every} never end: `lasting` must be less than `every`"
            );
            return Err(Fault::below("lasting", what));
        }
        if let Some(table) = table
            && !interrupted.include(table)
        {
            let what = format!(
                "this interruption stands in the table of the {table} direction, and names the other one"
            );
            return Err(Fault::below("direction", what));
        }
        let offset = offset.unwrap_or(every);
        Ok((interrupted.include(direction) && !lasting.is_zero()).then_some(InterruptionPlan {
            every,
            lasting,
            offset,
        }))
    }
}

impl BlackholePlan {
    pub(crate) fn describe(&self) -> String {
        match self.until {
            None => format!("From {} on, all packets are dropped.", self.from),
            Some(until) => format!("From {} to {until}, all packets are dropped.", self.from),
        }
    }
}

/// Drops all that comes to it during its time.
#[derive(Debug)]
pub(crate) struct Blackhole {
    plan: BlackholePlan,
}

impl Blackhole {
    pub(crate) fn new(plan: &BlackholePlan, _streams: Streams) -> Blackhole {
        Blackhole { plan: *plan }
    }
}

impl Behaviour for Blackhole {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let since = now.since(Instant::ZERO);
        if since >= self.plan.from && self.plan.until.is_none_or(|until| since < until) {
            out.drop(now, packet, Cause::Blackhole);
        } else {
            out.pass(packet);
        }
    }
}

/// When a link is interrupted: during [`offset` + k·`every`, `offset` + k·`every` + `lasting`)
/// for k = 0, 1, 2...
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InterruptionPlan {
    /// From the start of one to the start of the next; above zero.
    pub every: Span,
    /// The length of each; less than `every`.
    pub lasting: Span,
    /// From the world's zero to the start of the first.
    pub offset: Span,
}

impl InterruptionPlan {
    /// The interruption that `now` lies in: its number, counted from 1, its start and its end.
    pub fn at(&self, now: Instant) -> Option<(u64, Instant, Instant)> {
        let first = Instant::ZERO + self.offset;
        if now < first {
            return None;
        }
        let index = now.since(first).as_nanos() / self.every.as_nanos();
        let (from, to) = self.window(first, index);
        (now < to).then_some((index + 1, from, to))
    }

    /// All that start before `until`, as start and end.
    pub fn windows(&self, until: Instant) -> impl Iterator<Item = (Instant, Instant)> {
        let plan = *self;
        let first = Instant::ZERO + plan.offset;
        (0..until.since(first).as_nanos().div_ceil(plan.every.as_nanos()))
            .map(move |index| plan.window(first, index))
    }

    pub(crate) fn describe(&self) -> String {
        let InterruptionPlan { every, lasting, offset } = self;
        format!("Every {every}, first at {offset}, all packets are dropped for {lasting}.")
    }

    fn window(&self, first: Instant, index: u64) -> (Instant, Instant) {
        let from = first + self.every * index;
        (from, from + self.lasting)
    }
}

/// Drops what comes to its place while that is interrupted, and holds nothing.
#[derive(Debug)]
pub(crate) struct Interruption {
    plan: InterruptionPlan,
}

impl Interruption {
    /// # Panics
    /// When `every` is zero.
    pub(crate) fn new(plan: &InterruptionPlan, _streams: Streams) -> Interruption {
        assert!(!plan.every.is_zero(), "interruptions need a time between them");
        Interruption { plan: *plan }
    }
}

impl Behaviour for Interruption {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.plan.at(now) {
            Some((number, from, to)) => {
                out.drop(now, packet, Cause::Interruption { number, from, to });
            }
            None => out.pass(packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_belong_to_an_interruption_and_ends_do_not() {
        let plan = InterruptionPlan {
            every: Span::from_secs(5),
            lasting: Span::from_millis(200),
            offset: Span::from_secs(1),
        };
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        for (now, number) in [
            (ms(0), None),
            (Instant::from_nanos(999_999_999), None),
            (ms(1000), Some(1)),
            (Instant::from_nanos(1_199_999_999), Some(1)),
            (ms(1200), None),
            (ms(5999), None),
            (ms(6000), Some(2)),
            (ms(11_100), Some(3)),
        ] {
            assert_eq!(plan.at(now).map(|(number, ..)| number), number, "{now:?}");
        }
        let until = |end| plan.windows(end).collect::<Vec<_>>();
        assert_eq!(until(ms(1000)), []);
        assert_eq!(until(ms(1001)), [(ms(1000), ms(1200))]);
        assert_eq!(until(ms(6001)), [(ms(1000), ms(1200)), (ms(6000), ms(6200))]);
    }

    #[test]
    fn far_times_do_not_overflow() {
        let plan = InterruptionPlan {
            every: Span::from_nanos(3),
            lasting: Span::from_nanos(2),
            offset: Span::MAX,
        };
        assert_eq!(plan.at(Instant::MAX), None, "the end of time has no length");
        assert_eq!(plan.windows(Instant::MAX).count(), 0);
    }
}
