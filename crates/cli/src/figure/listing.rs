//! The list of a run's figures.

use std::collections::BTreeSet;

use tcplab_report::{MetricFigure, MetricFigures, run_figures};
use tcplab_results::{Case, Run};
use tcplab_units::visible_line;

/// The figures of the report, then those that each metric has, and the metrics.
pub(super) fn list_of_run(run: &Run) -> String {
    let figures = run_figures(run);
    let of_metrics = MetricFigures::of(run);
    let parts = |it: &MetricFigure| {
        let (metric, rest) = it.name.split_once('/')?;
        let (_, shows) = it.title.split_once(": ")?;
        Some((metric.to_owned(), format!("METRIC/{rest}"), shows.to_owned()))
    };
    let (of_requests, of_metrics): (Vec<_>, Vec<_>) =
        of_metrics.list().iter().partition(|it| it.is_of_requests());
    let parts: Vec<_> = of_metrics.into_iter().filter_map(parts).collect();
    let mut seen = BTreeSet::new();
    let first = parts.iter().filter(|(_, name, _)| seen.insert(name));
    let kinds: Vec<(&str, &str)> =
        first.map(|(_, name, shows)| (name.as_str(), shows.as_str())).collect();
    let own = figures.iter().map(|it| (it.name.as_str(), it.title.as_str()));
    let metrics = once_each(parts.iter().map(|(metric, ..)| metric.as_str()));
    let metrics = match &metrics[..] {
        [] => String::new(),
        metrics => format!("METRIC: {}\n", metrics.join(", ")),
    };
    let of_requests = of_requests.iter().map(|it| (it.name.as_str(), it.title.as_str()));
    list(own.chain(of_requests).chain(kinds)) + &metrics
}

/// A line for each name and title.
pub(super) fn list<'f>(figures: impl Iterator<Item = (&'f str, &'f str)> + Clone) -> String {
    let widest = figures.clone().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    figures
        .map(|(name, title)| {
            let line = format!("{name:widest$}  {title}");
            visible_line(line.trim_end()).into_owned() + "\n"
        })
        .collect()
}

/// Each on a line.
pub(super) fn lines(notes: &[String]) -> String {
    notes.iter().flat_map(|note| [note.as_str(), "\n"]).collect()
}

/// Each text where it first comes.
pub(super) fn once_each<'f>(all: impl Iterator<Item = &'f str>) -> Vec<&'f str> {
    let mut seen = BTreeSet::new();
    all.filter(|it| seen.insert(*it)).collect()
}

/// One line for each case.
pub(super) fn trials(run: &Run) -> String {
    let line = |case: &Case| {
        let name = visible_line(&case.name);
        let mut drawn = case.trials.iter().filter(|trial| trial.has_packets);
        let Some(first) = drawn.next() else {
            let first = case.trials.first()?.number;
            let why = "no figures of trials: their packets were removed or not kept";
            return Some(format!("{name}/{first}/…  {why}\n"));
        };
        let (first, last) = (first.number, drawn.next_back().unwrap_or(first).number);
        Some(if first == last {
            format!("{name}/{first}/…  figures of the trial\n")
        } else {
            format!("{name}/{first}/… to {name}/{last}/…  figures of each trial\n")
        })
    };
    run.cases.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_begin_no_line() {
        let text = list([("a\n::error::b", "t\n::error::c")].into_iter());
        assert_eq!(text, "a\\n::error::b  t\\n::error::c\n");
    }
}
