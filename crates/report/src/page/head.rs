//! The beginning and the end of a run's page.

use askama::Template;
use tcplab_results::{Case, Run};

use super::gathered::{Gathered, Warnings};
use super::links::{Links, PageAssets, Rerun};
use super::matrix::Matrix;
use super::overview::{Overviews, overviews};
use super::verdicts::Verdicts;
use crate::check::Verified;
use crate::html::anchor::anchor;
use crate::html::unbroken::unbroken;
use crate::summary::answer::capital;
use crate::summary::metrics::{Block, blocks};
use crate::summary::outcome::sentences;
use crate::summary::question::Question;
use crate::summary::recovery::{has_connections, kinds};
use crate::summary::subject::{flow_of_metrics, part_of_each};
use crate::summary::trends::{Trends, trends};
use crate::summary::worlds::{VariantStacks, differ, everywhere, places};

/// More metrics are in a fold.
const SHOWN_METRICS: usize = 4;
/// With more trials, each has its link at its own place.
const MOST_LISTED: usize = 24;

/// The head of the page.
pub(crate) fn head(
    run: &Run,
    gathered: Gathered,
    links: Links,
    matrix: Option<Matrix>,
) -> Head<'_> {
    let mut metrics = blocks(run);
    let spread = metrics.iter().flat_map(|block| &block.rows).any(|row| row.spread.is_some());
    // Metrics for reference come last, in the fold.
    metrics.sort_by_key(|block| block.is_detail);
    let first = metrics.iter().take(SHOWN_METRICS).filter(|block| !block.is_detail).count();
    let others = metrics.split_off(first);
    let places = places(run);
    let path = run.path.iter().map(|line| line.split_once(": ").unwrap_or(("", line))).collect();
    let trends = trends(run);
    let mut asked = Question::of(run, trends.as_ref());
    asked.answer = unbroken(&asked.answer);
    Head {
        run,
        everywhere: everywhere(&places),
        places,
        differ: differ(run),
        look: PageAssets::of(links),
        outcome: unbroken(&sentences(run).join(" ")),
        path,
        verified: run.calibration.as_ref().map(Verified::all).unwrap_or_default(),
        pictures: gathered.paths.pictures(),
        overviews: overviews(&gathered.transfers),
        warnings: gathered.warnings,
        unwarned: gathered.unwarned,
        trends,
        asked,
        verdicts: Verdicts::all(run),
        spread,
        metrics,
        others,
        has_connections: has_connections(run),
        matrix,
        kinds: kinds(run),
        counts: kind_counts(run),
        flow: flow_of_metrics(run).map(|it| capital(&it)),
        part: part_of_each(run),
    }
}

/// Recovery episodes of each variant by type, where there are too many for a mark each.
fn kind_counts(run: &Run) -> Vec<(String, String, Vec<usize>)> {
    let row = |(index, case): (usize, &Case)| {
        let all = case.recovery();
        let count = |(kind, _): (&str, &str)| all.of_kind(kind);
        let href = format!("#{}", anchor(index, None, None));
        (case.name.clone(), href, kinds(run).into_iter().map(count).collect())
    };
    run.cases.iter().enumerate().map(row).collect()
}

pub(crate) fn foot(run: &Run, links: Links) -> Foot<'_> {
    let all: usize = run.cases.iter().map(|case| case.trials.len()).sum();
    let up = links.up();
    let again = Rerun::of_all(run);
    Foot { run, again, look: PageAssets::of(links), up, are_listed: all <= MOST_LISTED }
}

#[derive(Template)]
#[template(path = "head.html")]
pub(crate) struct Head<'a> {
    run: &'a Run,
    look: PageAssets,
    outcome: String,
    places: Vec<VariantStacks>,
    everywhere: Option<String>,
    differ: bool,
    /// Direction and description.
    path: Vec<(&'a str, &'a str)>,
    verified: Vec<Verified>,
    pictures: Vec<String>,
    overviews: Overviews,
    warnings: Vec<Warnings>,
    unwarned: usize,
    /// Metrics over a number that was varied.
    trends: Option<Trends>,
    asked: Question,
    /// Comparisons of the scenario.
    verdicts: Vec<Verdicts<'a>>,
    spread: bool,
    metrics: Vec<Block>,
    others: Vec<Block>,
    /// Whether any trial has a TCP connection.
    has_connections: bool,
    /// None where there are too many trials.
    matrix: Option<Matrix>,
    kinds: Vec<(&'static str, &'static str)>,
    counts: Vec<(String, String, Vec<usize>)>,
    /// Whose metrics these are, and which connection's episodes, where there are several.
    flow: Option<String>,
    part: Option<String>,
}

#[derive(Template)]
#[template(path = "foot.html")]
pub(crate) struct Foot<'a> {
    run: &'a Run,
    again: String,
    look: PageAssets,
    up: &'static str,
    are_listed: bool,
}
