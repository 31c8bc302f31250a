//! How interruptions are written in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};

use super::{InterruptionPlan, InterruptionTimes};
use crate::fault::{Fault, Table};
use crate::text_or_table::text_or_table;
use crate::{Direction, Directions};

text_or_table!(
    InterruptionsSpec, "Interruptions", "Times at which all packets are dropped.",
    "a table such as { every = \"5 s\", lasting = \"200 ms\" }, or a list of them",
    list InterruptionSpec, text(Span): |text: &str| Err::<InterruptionsSpec, String>(format!(
        "`{text}` is not enough: give a table such as {{ every = \"5 s\", lasting = \"200 ms\" }}"
    ))
);

/// Times at which all packets are dropped: periodic (`every`), listed (`at`), or at random (`up`);
/// exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Interruption")]
pub struct InterruptionSpec {
    /// From the start of one to the start of the next, at least 1 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// When each starts, from the start of the trial, in order and none before the one before it
    /// has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Span>>,
    /// The mean time from the end of one to the start of the next, at least 1 ms: times up and
    /// times down (whose mean is `lasting`) are exponentially distributed. Directions that share
    /// the interruption are interrupted at the same times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Span>,
    /// How long each lasts; with `every`, less than that; with `up`, on average.
    pub lasting: Span,
    /// From the start of the trial to the start of the first; not with `at`. Default: as long as
    /// `every`, so that connections are set up in peace; with `up`, at random as the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Span>,
    /// Which directions are interrupted: `both`, `forward` (client to server) or `reverse`. Within
    /// the table of one direction it can only mean that one. Default: `both`.
    #[serde(default)]
    pub direction: Directions,
}

/// The least mean of random times up. An interruption takes some work even without packets, and a
/// line that fails more often than every millisecond is a matter of `loss`.
const LEAST_UP: Span = Span::from_millis(1);
/// The shortest period, for the same reason.
const LEAST_EVERY: Span = Span::from_millis(1);
/// The most tables in a list: every packet passes each.
const TABLES_MAX: usize = 64;

impl InterruptionsSpec {
    /// The interruption of `direction`; its key is in `table`.
    pub(crate) fn plan(
        &self,
        direction: Direction,
        table: Table,
    ) -> Result<Vec<InterruptionPlan>, Fault> {
        let several = self.0.len() > 1;
        if self.0.len() > TABLES_MAX {
            let found = self.0.len();
            return Err(Fault::here(format!(
                "{found} tables of interruptions: give at most {TABLES_MAX}, or list times with `at`"
            )));
        }
        let mut plans = Vec::new();
        for (spec, number) in self.0.iter().zip(1..) {
            let plan = spec.plan(direction, table, number);
            plans.extend(plan.map_err(|Fault { below, what }| {
                let what = if several { format!("interruption {number}: {what}") } else { what };
                Fault { below, what }
            })?);
        }
        Ok(plans)
    }
}

impl InterruptionSpec {
    /// None when it does not interrupt `direction`.
    fn plan(
        &self,
        direction: Direction,
        table: Table,
        number: usize,
    ) -> Result<Option<InterruptionPlan>, Fault> {
        let lasting = self.lasting;
        let times = match (self.every, &self.at, self.up) {
            (Some(every), None, None) => self.periodic(every)?,
            (None, Some(at), None) => self.listed(at)?,
            (None, None, Some(up)) => self.random(up, table, number)?,
            (None, None, None) => {
                let what = "no times given: add one of `every`, `at` and `up`";
                return Err(Fault::here(what));
            }
            _ => {
                let what = "give only one of `every`, `at` and `up`, or a list of interruptions";
                return Err(Fault::here(what));
            }
        };
        let affected = affects(self.direction, direction, table, "interruption")?;
        Ok((affected && !lasting.is_zero()).then_some(InterruptionPlan { times, lasting }))
    }

    fn periodic(&self, every: Span) -> Result<InterruptionTimes, Fault> {
        let lasting = self.lasting;
        if every < LEAST_EVERY {
            let what = format!("`every` is {every}: give at least {LEAST_EVERY}");
            return Err(Fault::below("every", what));
        }
        if lasting >= every {
            let what = format!("`lasting` ({lasting}) must be less than `every` ({every})");
            return Err(Fault::below("lasting", what));
        }
        Ok(InterruptionTimes::Periodic { every, offset: self.offset.unwrap_or(every) })
    }

    fn listed(&self, at: &[Span]) -> Result<InterruptionTimes, Fault> {
        if self.offset.is_some() {
            let what = "`at` lists all start times: remove `offset`";
            return Err(Fault::below("offset", what));
        }
        if at.is_empty() {
            let what = "the list is empty: give a time, or remove the interruption";
            return Err(Fault::below("at", what));
        }
        for pair in at.windows(2) {
            let (this, next) = (pair[0], pair[1]);
            let end = Instant::ZERO + this + self.lasting;
            if next <= this || Instant::ZERO + next < end {
                let end = end.since(Instant::ZERO);
                let what = format!(
                    "the interruption at {next} overlaps the one at {this}, which ends at {end}"
                );
                return Err(Fault::below("at", what));
            }
        }
        Ok(InterruptionTimes::Listed { at: at.to_vec() })
    }

    fn random(&self, up: Span, table: Table, number: usize) -> Result<InterruptionTimes, Fault> {
        if up < LEAST_UP {
            let what =
                format!("the mean time between interruptions is {up}: give at least {LEAST_UP}");
            return Err(Fault::below("up", what));
        }
        // Named by its place in the path, not by the link, so that links share it.
        let stream = format!("{table}interruption.{number}").replace('.', "/");
        Ok(InterruptionTimes::Random { up, offset: self.offset, stream })
    }
}

/// Whether a key for the `named` directions in `table` affects `direction`.
pub(super) fn affects(
    named: Directions,
    direction: Direction,
    table: Table,
    what: &str,
) -> Result<bool, Fault> {
    if let Some(table) = table.direction()
        && !named.include(table)
    {
        let what =
            format!("this {what} is in the table of the {table} direction: remove `direction`");
        return Err(Fault::below("direction", what));
    }
    Ok(named.include(direction))
}
