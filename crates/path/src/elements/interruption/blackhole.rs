//! Black holes: from some time on, nothing passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Span};

use super::spec::affects;
use crate::behaviour::Gate;
use crate::fault::{Fault, Table};
use crate::text_or_table::text_or_table;
use crate::{Cause, Direction, Directions};

text_or_table! {
    BlackholeSpec, "BlackholeFrom", "The time from which on all packets are dropped.",
    "a time such as \"3 s\", or a table",
    /// From then on for ever.
    From(Span),
    /// In full.
    Table(BlackholeTable),
}

/// A time during which everything is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Blackhole")]
pub struct BlackholeTable {
    /// When it begins, from the start of the trial.
    pub from: Span,
    /// When it ends, from the start of the trial; after `from`. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// Which directions it swallows: `both`, `forward` (client to server) or `reverse`. Within the
    /// table of one direction it can only mean that one. Default: `both`.
    #[serde(default)]
    pub direction: Directions,
}

/// A time during which everything is dropped, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlackholePlan {
    /// When it begins.
    pub from: Span,
    /// When it ends, if ever; after `from`.
    pub until: Option<Span>,
}

impl BlackholeSpec {
    /// The black hole of `direction`; its key is in `table`.
    pub(crate) fn plan(
        &self,
        direction: Direction,
        table: Table,
    ) -> Result<Option<BlackholePlan>, Fault> {
        let (from, until, swallowed) = match *self {
            BlackholeSpec::From(from) => (from, None, Directions::Both),
            BlackholeSpec::Table(BlackholeTable { from, until, direction }) => {
                (from, until, direction)
            }
        };
        if let Some(until) = until.filter(|until| *until <= from) {
            let what = format!("`until` ({until}) must be after `from` ({from})");
            return Err(Fault::below("until", what));
        }
        let affected = affects(swallowed, direction, table, "black hole")?;
        Ok(affected.then_some(BlackholePlan { from, until }))
    }
}

impl BlackholePlan {
    pub(crate) fn describe(&self) -> String {
        match self.until {
            None => format!("All packets are dropped from {} on.", self.from),
            Some(until) => format!("All packets are dropped from {} to {until}.", self.from),
        }
    }
}

impl Gate for BlackholePlan {
    fn refuse(&mut self, now: Instant, _size: Bytes) -> Option<Cause> {
        let since = now.since(Instant::ZERO);
        let is_hit = since >= self.from && self.until.is_none_or(|until| since < until);
        is_hit.then_some(Cause::Blackhole)
    }
}
