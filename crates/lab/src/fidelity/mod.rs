//! The model against the kernel: the same cases in both worlds, and how far apart they are.
//!
//! Nothing here runs or reads a trial in a way of its own: each world has an ordinary run
//! directory, filled by [`execute`](crate::execute()).

mod curve;
mod figures;
mod judge;
mod pairs;
mod table;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tcplab_scenario::Case;

use crate::{LabError, RunDirectory};

use figures::{Figures, QUANTITIES};

pub use judge::{GOALS, Goal, Overall};
pub use pairs::Pair;
pub use table::csv;

/// Both worlds compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// tcplab's version.
    pub tcplab: String,
    /// The machine on which the kernel's trials ran: (name, value).
    pub environment: Vec<(String, String)>,
    /// What was compared, in the order of the scenarios and their matrices.
    pub cases: Vec<Compared>,
    /// Each quantity over all cases.
    pub summary: Vec<Overall>,
    /// What is asked of the model, and whether it holds.
    pub goals: Vec<Goal>,
}

impl Fidelity {
    /// Whether every goal is met.
    pub fn is_within(&self) -> bool {
        self.goals.iter().all(|goal| goal.held)
    }

    /// Of one quantity over all cases, by its name.
    pub fn overall(&self, name: &str) -> Option<&Overall> {
        self.summary.iter().find(|overall| overall.name == name)
    }
}

/// A case in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The scenario's name.
    pub scenario: String,
    /// The case's.
    pub case: String,
    /// The factors and their levels.
    pub levels: Vec<(String, String)>,
    /// Trials of the kernel whose path misbehaved, and which count all the same.
    pub flawed: usize,
    /// What was measured, in one order for all cases.
    pub quantities: Vec<Quantity>,
    /// The mean difference of the curves of the congestion window, as a share of the kernel's
    /// mean; none where there were no samples.
    pub cwnd_distance: Option<f64>,
}

impl Compared {
    /// One of its quantities, by its name.
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|quantity| quantity.name == name)
    }
}

/// A quantity of a case in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// A metric's name, or `cause.` and one of the trace engine's names of what prompts a
    /// retransmission.
    pub name: String,
    /// Such as `s`; empty for a count.
    pub unit: String,
    /// A value for each of the kernel's trials that has it.
    pub kernel: Vec<f64>,
    /// And of the model's.
    pub model: Vec<f64>,
    /// The model's median over the kernel's: 1 where both are zero, none where only the kernel's is
    /// or one has no values.
    pub ratio: Option<f64>,
    /// How far from 1 the ratio of two medians lies, in the middle, when both are drawn from the
    /// kernel's own trials: what no model could be told apart from.
    pub noise: Option<f64>,
}

/// Compares finished runs. `tell` hears of each trial that was read, and may break off.
///
/// # Errors
/// When a trial is missing or unreadable, or `tell` broke off.
pub fn compare(
    pairs: &[Pair],
    mut tell: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Fidelity, LabError> {
    let of = |run: &RunDirectory| run.scenario().cases.len() * run.plan().trials as usize;
    let total = pairs.iter().map(|pair| of(&pair.kernel) + of(&pair.model)).sum();
    let mut done = 0;
    let mut cases = Vec::new();
    for pair in pairs {
        for case in &pair.kernel.scenario().cases {
            let [kernel, model] = [&pair.kernel, &pair.model].map(|run| {
                all(run, case, || {
                    done += 1;
                    tell(done, total)
                })
            });
            cases.push(compared(&pair.kernel.plan().name, case, &kernel?, &model?));
        }
    }
    let environment = match pairs.first() {
        Some(pair) => pair.kernel.environment()?,
        None => Vec::new(),
    };
    let summary = judge::summarise(&cases);
    let goals = judge::goals(&summary);
    Ok(Fidelity { tcplab: env!("CARGO_PKG_VERSION").into(), environment, cases, summary, goals })
}

/// What the trials of a case say.
fn all(
    run: &RunDirectory,
    case: &Case,
    mut tell: impl FnMut() -> ControlFlow<()>,
) -> Result<Vec<Figures>, LabError> {
    let mut all = Vec::new();
    for number in 1..=run.plan().trials {
        if let Some(failure) = run.failure(&case.name, number) {
            let (case, reason) = (case.name.clone(), failure.reason);
            return Err(LabError::Failed { case, number, reason });
        }
        all.push(Figures::of(&run.recording(&case.name, number)?, &case.path)?);
        if tell().is_break() {
            return Err(LabError::Stopped);
        }
    }
    Ok(all)
}

fn compared(scenario: &str, case: &Case, kernel: &[Figures], model: &[Figures]) -> Compared {
    let values = |all: &[Figures], index: usize| -> Vec<f64> {
        all.iter().filter_map(|figures| figures.values[index]).collect()
    };
    let quantity = |(index, (name, unit)): (usize, &(&str, &str))| {
        let (kernel, model) = (values(kernel, index), values(model, index));
        let ratio = judge::ratio(&kernel, &model);
        let noise = judge::noise(&kernel);
        Quantity { name: (*name).into(), unit: (*unit).into(), kernel, model, ratio, noise }
    };
    let curves =
        |all: &[Figures]| -> Vec<_> { all.iter().filter_map(|f| f.curve.clone()).collect() };
    Compared {
        scenario: scenario.into(),
        case: case.name.clone(),
        levels: case.levels.clone(),
        flawed: kernel.iter().filter(|figures| figures.is_flawed).count(),
        quantities: QUANTITIES.iter().enumerate().map(quantity).collect(),
        cwnd_distance: curve::distance(&curves(kernel), &curves(model)),
    }
}
