//! The page: one HTML file that needs nothing else.

use std::error::Error;
use std::io;

use askama::Template;
use tcplab_lab::{Case, Run, Trial, TrialData};

use crate::check::Verified;
use crate::matrix::{Matrix, matrix};
use crate::outcome::{KINDS, has_connections, sentences};
use crate::overview::{Overview, Transferred, overviews};
use crate::path::Paths;
use crate::place::{Place, differ, everywhere, places, world};
use crate::summary::{Block, blocks};
use crate::trends::{Trends, trends};
use crate::trial::TrialView;

pub(crate) const STYLES: [&str; 4] = [
    tcplab_plot::STYLE,
    include_str!("../assets/page.css"),
    include_str!("../assets/tables.css"),
    include_str!("../assets/graphs.css"),
];
/// Runs before anything is painted.
pub(crate) const THEME: &str = include_str!("../assets/theme.js");
pub(crate) const SCRIPTS: [&str; 3] = [
    include_str!("../assets/graph.js"),
    include_str!("../assets/group.js"),
    include_str!("../assets/page.js"),
];
/// So many metrics are shown at once; the others unfold.
const SHOWN_METRICS: usize = 4;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A trial's recording could not be loaded.
    #[error("trial {number} of case {case}: {source}")]
    Load {
        /// The case's name.
        case: String,
        /// The trial's number.
        number: u32,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The page could not be put together.
    #[error("the page could not be put together: {0}")]
    Page(#[from] askama::Error),
    /// The page could not be written.
    #[error("the report could not be written: {0}")]
    Write(#[from] io::Error),
}

/// The whole page as text. See [`write`].
///
/// # Errors
/// As [`write`]; nothing is written, so only loading can really fail.
pub fn render<E: Into<Box<dyn Error + Send + Sync>>>(
    run: &Run,
    load: impl FnMut(&Trial) -> Result<TrialData, E>,
) -> Result<String, ReportError> {
    let mut page = Vec::new();
    write(run, load, &mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the page. Trials are loaded one after the other, so only the packets of one are in
/// memory at a time.
/// The same run and recordings give the same bytes.
///
/// # Errors
/// When a trial cannot be loaded or `out` refuses.
pub fn write<E: Into<Box<dyn Error + Send + Sync>>>(
    run: &Run,
    mut load: impl FnMut(&Trial) -> Result<TrialData, E>,
    out: &mut impl io::Write,
) -> Result<(), ReportError> {
    let mut transfers = Vec::new();
    let mut warnings = Vec::new();
    let mut paths = Paths::default();
    let mut cases = String::new();
    for (index, case) in run.cases.iter().enumerate() {
        let id = anchor(index, None, None);
        let world = world(case);
        cases.push_str(&CaseHead { id, case, world }.render()?);
        // Of one without packets there is nothing to be drawn; the tables have it.
        let shown = case.trials.iter().filter(|trial| trial.has_packets);
        for (i, trial) in shown.enumerate() {
            let data = load(trial).map_err(|source| ReportError::Load {
                case: case.name.clone(),
                number: trial.number,
                source: source.into(),
            })?;
            paths.see(&case.name, trial, &data);
            let view = TrialView::new(&case.name, index, trial, &data, i == 0);
            if i == 0 && trial.load.is_none() {
                transfers.extend(Transferred::of(&view, world));
            }
            warnings.extend(Warnings::of(&view));
            cases.push_str(&TrialPart { view }.render()?);
        }
        cases.push_str("</section>\n");
    }
    let head = head(run, paths.pictures(), overviews(&transfers), warnings);
    out.write_all(head.render()?.as_bytes())?;
    out.write_all(cases.as_bytes())?;
    let trials = run.cases.iter().map(|case| case.trials.len()).max().unwrap_or(0);
    out.write_all(Foot { run, trials, script: SCRIPTS.concat() }.render()?.as_bytes())?;
    Ok(())
}

fn head(
    run: &Run,
    pictures: Vec<String>,
    overviews: Vec<Overview>,
    warnings: Vec<Warnings>,
) -> Head<'_> {
    let mut metrics = blocks(run);
    let spread = metrics.iter().flat_map(|block| &block.rows).any(|row| row.spread.is_some());
    let others = metrics.split_off(metrics.len().min(SHOWN_METRICS));
    let places = places(run);
    let path = run.path.iter().map(|line| line.split_once(": ").unwrap_or(("", line))).collect();
    Head {
        run,
        everywhere: everywhere(&places),
        places,
        differ: differ(run),
        style: STYLES.concat(),
        theme: THEME,
        outcome: sentences(run).join(" "),
        path,
        verified: run.calibration.as_ref().map(Verified::all).unwrap_or_default(),
        pictures,
        overviews,
        warnings,
        trends: trends(run),
        spread,
        metrics,
        others,
        has_connections: has_connections(run),
        matrix: matrix(run),
        kinds: KINDS,
    }
}

/// What is less than perfect about a trial.
struct Warnings {
    case: String,
    number: u32,
    href: String,
    texts: Vec<String>,
}

impl Warnings {
    fn of(view: &TrialView<'_>) -> Option<Warnings> {
        let (case, number, texts) = (view.case.into(), view.trial.number, view.warnings.clone());
        let href = format!("#{}", view.id);
        (!texts.is_empty()).then_some(Warnings { case, number, href, texts })
    }
}

/// The place in the page of a case, a trial or an episode.
pub(crate) fn anchor(case: usize, trial: Option<u32>, episode: Option<usize>) -> String {
    let mut id = format!("case-{}", case + 1);
    if let Some(trial) = trial {
        id = format!("{id}-trial-{trial}");
    }
    if let Some(episode) = episode {
        id = format!("{id}-episode-{episode}");
    }
    id
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'a> {
    run: &'a Run,
    style: String,
    theme: &'static str,
    outcome: String,
    /// Where each variant ran.
    places: Vec<Place>,
    /// Where all ran, if in the same place.
    everywhere: Option<String>,
    /// Whether variants ran in different worlds.
    differ: bool,
    /// Direction and what it does.
    path: Vec<(&'a str, &'a str)>,
    /// How the paths were verified; nothing if they were not.
    verified: Vec<Verified>,
    /// What each path does over time.
    pictures: Vec<String>,
    overviews: Vec<Overview>,
    warnings: Vec<Warnings>,
    /// Metrics over a number that was varied.
    trends: Option<Trends>,
    /// Whether any variant has more than one trial.
    spread: bool,
    metrics: Vec<Block>,
    others: Vec<Block>,
    /// Whether there is anything that TCP could recover.
    has_connections: bool,
    matrix: Matrix,
    kinds: [(&'static str, &'static str); 3],
}

#[derive(Template)]
#[template(path = "case.html")]
struct CaseHead<'a> {
    id: String,
    case: &'a Case,
    /// Where it ran.
    world: &'static str,
}

#[derive(Template)]
#[template(path = "trial.html")]
struct TrialPart<'a> {
    view: TrialView<'a>,
}

#[derive(Template)]
#[template(path = "foot.html")]
struct Foot<'a> {
    run: &'a Run,
    /// Of each variant.
    trials: usize,
    script: String,
}
