//! The comparisons that a scenario asks for, made when its run is finished.

use std::path::Path;

use tcplab_path::tc::quoted;
use tcplab_results::compare::{
    Asked, CompareError, Metrics, compare_levels, compare_planned, factors, level_word, side,
};
use tcplab_results::{Comparison, Run};
use tcplab_scenario::Compare;

/// The outcome of a `[[compare]]` section. Of what trials do not have, and where nothing can be
/// compared, that is a warning: a run does not fail for it. The run is in the directory
/// that the answer is read from.
pub(crate) fn of_scenario(run: &Run, compare: &Compare) -> Comparison {
    let has = |name: &String| {
        let mut trials = run.cases.iter().flat_map(|case| &case.trials);
        trials.any(|trial| trial.metrics.find_named(name).is_some())
    };
    let (had, lacking): (Vec<String>, Vec<String>) = compare.metrics.iter().cloned().partition(has);
    let warnings = lacking.iter().map(|name| format!("no trial has `{name}`: left out"));
    let mut warnings: Vec<String> = warnings.collect();
    let metrics = if compare.metrics.is_empty() { Metrics::Usual } else { Metrics::Named(had) };
    let thresholds = compare.thresholds.clone();
    let asked = Asked { metrics, threshold: compare.threshold, thresholds, ..Asked::default() };
    let here = Path::new(".");
    let levels = compare.levels.each_ref().map(String::as_str);
    match compare_planned((here, run), &compare.factor, levels, &asked) {
        Ok(mut found) => {
            found.warnings.splice(0..0, warnings);
            found
        }
        Err(error) => {
            warnings.push(error.to_string());
            Comparison {
                tcplab: env!("CARGO_PKG_VERSION").into(),
                sides: levels.map(|level| side(here, level.into(), run)),
                by: Some(compare.factor.clone()),
                metrics: compare.metrics.clone(),
                warnings,
                family: "nothing".into(),
                tests: 0,
                cases: Vec::new(),
                rows: Vec::new(),
                missing: Vec::new(),
                is_over_cases: false,
            }
        }
    }
}

/// The comparison that the scenario of a run asks for; of other metrics or thresholds, where
/// `asked` says so.
///
/// # Errors
/// When it asks for none, or for several; otherwise as for [`compare_levels`].
pub fn compare_as_written(
    (path, run): (&Path, &Run),
    asked: Option<&Asked>,
) -> Result<Comparison, CompareError> {
    let [written] = &run.comparisons[..] else {
        let options = |found: &Comparison| {
            let [a, b] = found.sides.each_ref().map(|side| side.label.as_str());
            let levels = quoted(&format!("{},{}", level_word(a), level_word(b)));
            format!("--by {} --levels {levels}", quoted(found.by.as_deref().unwrap_or_default()))
        };
        let written = run.comparisons.iter().map(options).collect();
        let factors = factors(run);
        return Err(CompareError::NotWritten { run: run.name.clone(), written, factors });
    };
    let labels = written.sides.each_ref().map(|side| side.label.as_str());
    if let (Some(asked), Some(factor)) = (asked, &written.by) {
        return compare_levels((path, run), factor, Some(labels), asked);
    }
    let sides = labels.map(|level| side(path, level.into(), run));
    Ok(Comparison { sides, ..written.clone() })
}
