//! How a queue is written in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Rate, Span};

use super::codel::CodelSpec;
use super::drop::StepMarkPlan;
use super::fq_codel::FqCodelSpec;
use super::pie::PieSpec;
use super::plan::QueuePlan;
use super::red::RedSpec;
use super::size::{QueueSize, limit_below};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

/// The queue of a bottleneck whose scenario names none: Linux's `txqueuelen` of an Ethernet
/// device (`DEFAULT_TX_QUEUE_LEN`), which is what its `pfifo` takes for a limit.
pub const DEFAULT_QUEUE: QueueSpec = QueueSpec::Size(QueueSize::Packets(1000));

text_or_table! {
    QueueSpec, "Queue", "The queue of a bottleneck.",
    "the size of a queue such as \"512 packets\", \"64 kB\", \"50 ms\" or \"1 bdp\", or a table",
    /// Drop-tail of that size.
    Size(QueueSize),
    /// Another discipline.
    Table(Box<QueueTable>),
}

/// A queueing discipline: exactly one of its keys, `mark` aside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueueDiscipline")]
pub struct QueueTable {
    /// FIFO that drops arriving packets when full. The size alone means the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_tail: Option<QueueSize>,
    /// With `drop_tail`, and less than that: ECT packets that find more than this waiting are
    /// marked (CE), as DCTCP needs it (RFC 8257 §3.1). In the unit of `drop_tail`: packets, or
    /// bytes, time or bdp. Default: no marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<QueueSize>,
    /// FIFO that drops its oldest packet when full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_head: Option<QueueSize>,
    /// Controlled Delay (RFC 8289); `{}` for its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codel: Option<CodelSpec>,
    /// Flow Queue CoDel (RFC 8290); `{}` for its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fq_codel: Option<FqCodelSpec>,
    /// Proportional Integral controller Enhanced (RFC 8033); `{}` for its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pie: Option<PieSpec>,
    /// Random Early Detection (Floyd and Jacobson 1993).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red: Option<RedSpec>,
}

impl QueueSpec {
    /// The queue of a bottleneck with this rate, on a path with this round trip.
    pub(crate) fn plan(&self, rate: Rate, round_trip: Span) -> Result<QueuePlan, Fault> {
        match self {
            QueueSpec::Size(size) => {
                size.limit(rate, round_trip).map(QueuePlan::DropTail).map_err(Fault::here)
            }
            QueueSpec::Table(table) => table.plan(rate, round_trip),
        }
    }
}

impl QueueTable {
    fn plan(&self, rate: Rate, round_trip: Span) -> Result<QueuePlan, Fault> {
        let limit = |key, size| limit_below(key, size, rate, round_trip);
        let QueueTable { drop_tail, mark, drop_head, codel, fq_codel, pie, red } = self;
        let mut plans = [
            drop_tail.map(|size| limit("drop_tail", size).map(QueuePlan::DropTail)),
            drop_head.map(|size| limit("drop_head", size).map(QueuePlan::DropHead)),
            codel.as_ref().map(|it| it.plan(rate, round_trip).map(QueuePlan::Codel)),
            fq_codel.as_ref().map(|it| it.plan(rate, round_trip).map(QueuePlan::FqCodel)),
            pie.as_ref().map(|it| it.plan(rate, round_trip).map(QueuePlan::Pie)),
            red.as_ref().map(|it| it.plan(rate, round_trip).map(QueuePlan::Red)),
        ]
        .into_iter()
        .flatten();
        let (Some(plan), None) = (plans.next(), plans.next()) else {
            return Err(Fault::here(
                "give exactly one of `drop_tail`, `drop_head`, `codel`, `fq_codel`, `pie` and `red`",
            ));
        };
        let Some(mark) = *mark else { return plan };
        let QueuePlan::DropTail(limit) = plan? else {
            return Err(Fault::below("mark", "`mark` needs `drop_tail`"));
        };
        let mark = limit_below("mark", mark, rate, round_trip)?;
        if mark.is_less(limit) == Some(true) {
            return Ok(QueuePlan::StepMark(StepMarkPlan { limit, mark }));
        }
        let what = format!(
            "`mark` ({mark}) must be less than `drop_tail` ({limit}), and in the same unit: packets, or \
             bytes, time or bdp"
        );
        Err(Fault::below("mark", what))
    }
}
