//! The runs of both worlds compared.

use std::ops::ControlFlow;

use tcplab_results::fidelity::{Compared, Fidelity, Quantity};
use tcplab_scenario::Case;

use super::figures::{Figure, Figures, QUANTITIES};
use super::pairs::Pair;
use super::partings::parting;
use super::{curve, ratios};
use crate::error::LabError;
use crate::store::RunDirectory;

/// Compares finished runs. `report` is called after each trial and may stop the comparison.
///
/// # Errors
/// When a trial is missing or unreadable, or `report` stopped it.
pub fn compare(
    pairs: &[Pair],
    mut report: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Fidelity, LabError> {
    let of = |run: &RunDirectory| run.scenario().cases.len() * run.plan().trials as usize;
    let total = pairs.iter().map(|pair| of(&pair.kernel) + of(&pair.model)).sum();
    let is_exact = name_of(pairs.first()).is_some();
    let mut done = 0;
    let mut cases = Vec::new();
    for pair in pairs {
        for case in &pair.kernel.scenario().cases {
            let [kernel, model] = [&pair.kernel, &pair.model].map(|run| {
                all(run, case, || {
                    done += 1;
                    report(done, total)
                })
            });
            cases.push(compared(&pair.kernel.plan().name, case, &kernel?, &model?));
        }
    }
    let environment = match pairs.first() {
        Some(pair) => pair.kernel.environment()?,
        None => Vec::new(),
    };
    let summary = ratios::summarise(&cases);
    let goals =
        if is_exact { ratios::exact_goals(&summary, &cases) } else { ratios::goals(&summary) };
    let kernel = name_of(pairs.first());
    let tcplab = env!("CARGO_PKG_VERSION").into();
    Ok(Fidelity { tcplab, kernel, environment, cases, summary, goals })
}

/// The kernel in virtual time that the model was compared with; none: this machine's.
fn name_of(pair: Option<&Pair>) -> Option<String> {
    let kernel = pair?.kernel.plan().kernels.newest.as_ref()?;
    Some(format!("linux-{} ({})", kernel.name, kernel.release))
}

/// What the trials of a case say; nothing of one that failed.
fn all(
    run: &RunDirectory,
    case: &Case,
    mut report: impl FnMut() -> ControlFlow<()>,
) -> Result<Vec<Option<Figures>>, LabError> {
    let mut all = Vec::new();
    for number in 1..=run.plan().trials {
        all.push(match run.failure(&case.name, number) {
            None => Some(Figures::of(run.recording(&case.name, number)?, case)?),
            Some(_) => None,
        });
        if report().is_break() {
            return Err(LabError::Stopped);
        }
    }
    Ok(all)
}

/// Trials of which one failed do not count, so that both have the same seeds.
fn compared(
    scenario: &str,
    case: &Case,
    kernel: &[Option<Figures>],
    model: &[Option<Figures>],
) -> Compared {
    let numbered = (1..).zip(kernel.iter().zip(model));
    let pairs: Vec<(u32, [&Figures; 2])> = numbered
        .filter_map(|(trial, (kernel, model))| Some((trial, [kernel.as_ref()?, model.as_ref()?])))
        .collect();
    let [kernel_all, model_all] = [0, 1]
        .map(|side| -> Vec<&Figures> { pairs.iter().map(|(_, figures)| figures[side]).collect() });
    let values = |all: &[&Figures], index: usize| -> Vec<f64> {
        all.iter().filter_map(|figures| figures.values[index]).collect()
    };
    let quantity = |(index, figure): (usize, &Figure)| {
        let (kernel, model) = (values(&kernel_all, index), values(&model_all, index));
        let ratio = ratios::ratio(&kernel, &model);
        let noise = ratios::noise(&kernel);
        let (name, unit) = (figure.name(), figure.unit().into());
        Quantity { name, unit, kernel, model, ratio, noise }
    };
    let curves =
        |all: &[&Figures]| -> Vec<_> { all.iter().filter_map(|f| f.curve.clone()).collect() };
    let partings = pairs
        .iter()
        .filter_map(|(trial, [kernel, model])| parting(*trial, &kernel.packets, &model.packets));
    Compared {
        scenario: scenario.into(),
        case: case.name.clone(),
        levels: case.levels.clone(),
        flawed: kernel_all.iter().filter(|figures| figures.is_flawed).count(),
        trials: pairs.len(),
        failed: kernel.len() - pairs.len(),
        partings: partings.collect(),
        quantities: QUANTITIES.iter().enumerate().map(quantity).collect(),
        cwnd_distance: curve::distance(&curves(&kernel_all), &curves(&model_all)),
    }
}
