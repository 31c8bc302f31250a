//! Which of a metric's values a claim checks.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tcplab_units::Endpoint;
use tcplab_workload::CALLS;
use toml::Spanned;

use crate::case::Case;
use crate::fault::Fault;
use crate::metrics::{MetricInfo, MetricKind, Scope};
use crate::problem::Problem;

use super::ExpectSpec;

/// Which values of endpoints, calls or flows count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Those of this flow; `None`: of the flow that a trial's metrics belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Those of this endpoint; `None`: of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// Those of these calls, such as `close` or `read MSG_OOB`; `None`: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Only the nth of each endpoint and trial, from 1; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
}

impl Selection {
    /// The values of one endpoint of a trial that count.
    pub fn of<T>(&self, end: Endpoint, values: impl Iterator<Item = T>) -> Vec<T> {
        if self.endpoint.is_some_and(|wanted| wanted != end) {
            return Vec::new();
        }
        match self.nth {
            None => values.collect(),
            Some(nth) => values.skip((nth - 1) as usize).take(1).collect(),
        }
    }

    /// Whether the call `call` with the argument `asked` counts.
    pub fn has_call(&self, call: &str, asked: &str) -> bool {
        let Some(wanted) = &self.call else { return true };
        match wanted.strip_prefix(call) {
            Some("") => true,
            Some(rest) => rest.strip_prefix(' ') == Some(asked),
            None => false,
        }
    }
}

/// Such as ` of the client's 2nd read`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(flow) = &self.flow {
            write!(f, " of flow {flow}")?;
        }
        if let Some(end) = self.endpoint {
            write!(f, " of the {}", end.name())?;
        }
        if let Some(call) = &self.call {
            write!(f, ", {call}")?;
        }
        if let Some(nth) = self.nth {
            write!(f, ", number {nth}")?;
        }
        Ok(())
    }
}

/// Metrics of all flows together.
const OF_ALL_FLOWS: [&str; 4] =
    ["fairness", "convergence", "aggregate_goodput", "path_utilisation"];

/// Checks that the flow exists and has this metric.
pub(crate) fn check_flow(
    flow: &Spanned<String>,
    metric: &MetricInfo,
    cases: &[Case],
) -> Result<(), Fault> {
    let is_of_flows = match metric.scope {
        Scope::Trial => metric.kind == MetricKind::Number && !OF_ALL_FLOWS.contains(&metric.name),
        Scope::Request => true,
        Scope::Episode | Scope::Interruption | Scope::Endpoint | Scope::Call => false,
    };
    if !is_of_flows {
        let problem = Problem::NotSelected { key: "flow", metric: metric.name };
        return Err(Fault::new(problem, flow.span()));
    }
    let names: Vec<String> =
        cases.iter().flat_map(|case| &case.flows).map(|flow| flow.name.clone()).collect();
    if names.contains(flow.get_ref()) {
        return Ok(());
    }
    let known: BTreeSet<String> = names.into_iter().collect();
    let (name, flows) = (flow.get_ref().clone(), known.into_iter().collect());
    Err(Fault::new(Problem::NoSuchFlow { name, flows }, flow.span()))
}

impl ExpectSpec {
    pub(super) fn selection(
        &self,
        metric: &MetricInfo,
        cases: &[Case],
    ) -> Result<Selection, Fault> {
        if let Some(flow) = &self.flow {
            check_flow(flow, metric, cases)?;
        }
        let (of_ends, of_calls) = match metric.scope {
            Scope::Trial | Scope::Episode | Scope::Interruption => (false, false),
            Scope::Endpoint | Scope::Request => (true, false),
            Scope::Call => (true, true),
        };
        let keys = [
            ("endpoint", self.endpoint.as_deref().map(Spanned::span), of_ends),
            ("call", self.call.as_deref().map(Spanned::span), of_calls),
            ("nth", self.nth.as_deref().map(Spanned::span), of_ends),
        ];
        for (key, span, fits) in keys {
            if let Some(span) = span
                && !fits
            {
                let problem = Problem::NotSelected { key, metric: metric.name };
                return Err(Fault::new(problem, span));
            }
        }
        if let Some(call) = &self.call {
            let name = call.get_ref().split(' ').next().unwrap_or_default();
            if !CALLS.contains(&name) {
                let allowed = CALLS.iter().map(|call| (*call).into()).collect();
                let problem = Problem::UnknownWord { word: name.into(), allowed };
                return Err(Fault::new(problem, call.span()));
            }
        }
        if let Some(nth) = &self.nth
            && *nth.get_ref() == 0
        {
            return Err(Fault::new(Problem::NoZeroth, nth.span()));
        }
        Ok(Selection {
            flow: self.flow.as_ref().map(|it| it.get_ref().clone()),
            endpoint: self.endpoint.as_ref().map(|it| *it.get_ref()),
            call: self.call.as_ref().map(|it| it.get_ref().clone()),
            nth: self.nth.as_ref().map(|it| *it.get_ref()),
        })
    }
}
