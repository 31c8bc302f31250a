//! Propagation: a packet comes out as it went in, a while later.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Span};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::schedule::Schedule;
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// A delay as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DelaySpec {
    /// Always the same.
    Constant(Span),
    /// It changes with time.
    Schedule(Schedule<Span>),
}

text_or_table!(
    DelaySpec, "Delay", "How long a packet takes.",
    "a time such as \"5 ms\", or a table of steps",
    text(Span): |text: &str| text.parse().map(DelaySpec::Constant), table: Schedule<Span>
);

impl From<Schedule<Span>> for DelaySpec {
    fn from(schedule: Schedule<Span>) -> DelaySpec {
        DelaySpec::Schedule(schedule)
    }
}

impl DelaySpec {
    /// The delay at the world's zero.
    pub(crate) fn at_start(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => schedule.start,
        }
    }

    pub(crate) fn plan(&self) -> Result<DelaySpec, Fault> {
        if let DelaySpec::Schedule(schedule) = self {
            schedule.check()?;
        }
        Ok(self.clone())
    }
}

/// Jitter as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum JitterSpec {
    /// Evenly, from so much less than the delay to so much more.
    Uniform(Span),
    /// Another law.
    Table(JitterTable),
}

/// The law of jitter: exactly one of `uniform`, `normal`, `pareto`, `pareto_normal` and `table`.
/// What would make a delay negative makes it zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JitterLaw")]
pub struct JitterTable {
    /// Evenly distributed, from so much less than the delay to so much more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Span>,
    /// Normally distributed around the delay, with this standard deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<Span>,
    /// Pareto distributed as netem's table `pareto`, with this scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Span>,
    /// A quarter normal and three quarters Pareto, as netem's table `paretonormal`, with this scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto_normal: Option<Span>,
    /// A file with a distribution in netem's format (`*.dist`), scaled by `scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The time that 1 in the table's unit (a standard deviation, 8192 as written) stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Span>,
    /// The content of `table`; filled in when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<i32>>,
    /// How much the jitter of a packet is like that of the one before: the correlation of the
    /// normal variates that it is made from, so that the law stays as asked. Default: 0 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Probability>,
    /// Whether packets overtake one another when their delays ask for it. Default: false, a packet
    /// waits for those before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

text_or_table!(
    JitterSpec, "Jitter", "By how much the delay differs from packet to packet.",
    "a time such as \"2 ms\", or a table",
    text(Span): |text: &str| text.parse().map(JitterSpec::Uniform), table: JitterTable
);

impl From<JitterTable> for JitterSpec {
    fn from(table: JitterTable) -> JitterSpec {
        JitterSpec::Table(table)
    }
}

impl JitterTable {
    pub(crate) fn load(
        &mut self,
        _read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        Ok(())
    }
}

/// The law of jitter, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JitterPlan {}

impl JitterSpec {
    /// None when there is none.
    pub(crate) fn plan(&self) -> Result<Option<JitterPlan>, Fault> {
        Err(Fault::here("not yet"))
    }
}

/// A delay and its jitter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayPlan {
    /// The delay.
    pub delay: DelaySpec,
    /// By how much it differs from packet to packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterPlan>,
}

impl DelayPlan {
    /// None when packets pass at once.
    pub(crate) fn of(delay: Option<DelaySpec>, jitter: Option<JitterPlan>) -> Option<DelayPlan> {
        let delay = delay.unwrap_or(DelaySpec::Constant(Span::ZERO));
        let is_nothing = jitter.is_none() && delay == DelaySpec::Constant(Span::ZERO);
        (!is_nothing).then_some(DelayPlan { delay, jitter })
    }

    pub(crate) fn describe(&self) -> String {
        match &self.delay {
            DelaySpec::Constant(delay) => format!("Each packet takes {delay}."),
            DelaySpec::Schedule(schedule) => format!("Each packet takes {}.", schedule.describe()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Delay {
    delay: Span,
    /// With the instant each is due; the delay being constant, in order of it.
    under_way: VecDeque<(Instant, Transit)>,
}

impl Delay {
    pub(crate) fn new(plan: &DelayPlan, _streams: Streams) -> Delay {
        let delay = plan.delay.at_start();
        Delay { delay, under_way: VecDeque::new() }
    }
}

impl Behaviour for Delay {
    fn accept(&mut self, now: Instant, packet: Transit, _out: &mut Outbox) {
        self.under_way.push_back((now + self.delay, packet));
    }
    fn poll_at(&self) -> Option<Instant> {
        self.under_way.front().map(|(due, _)| *due)
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        if let Some((_, packet)) = self.under_way.pop_front() {
            out.pass(packet);
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.under_way.iter().map(|(_, packet)| packet))
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.under_way.drain(..).map(|(_, packet)| packet));
    }
}
