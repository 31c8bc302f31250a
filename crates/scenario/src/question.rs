//! What a scenario's question may be about.

use crate::compares::{compared, is_compared};
use crate::fault::Fault;
use crate::located::Located;
use crate::metrics::{Better, METRICS};
use crate::problem::Problem;

/// The [`Scenario::question_metric`](crate::Scenario::question_metric) of a question that asks for
/// no number: its claims answer it.
pub const CLAIMS: &str = "claims";

/// What `question_metric` may be, for the schema.
pub(crate) fn asked_metrics() -> serde_json::Value {
    let metrics = METRICS.iter().filter(|it| is_compared(it) && it.better != Better::Neither);
    metrics.map(|it| it.name).chain([CLAIMS]).collect()
}

/// The metric that a question may be about.
pub(crate) fn asked_metric(written: &Located<String>) -> Result<String, Fault> {
    let name = written.get_ref();
    if name != CLAIMS && compared(name, written)?.better == Better::Neither {
        return Err(Fault::new(Problem::NoMerit(name.clone()), written.span()));
    }
    Ok(name.clone())
}
