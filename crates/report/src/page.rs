//! The page: one HTML file that needs nothing else.

use std::borrow::Cow;
use std::error::Error;
use std::io;

use askama::Template;
use tcplab_lab::{Case, Run, Trial, TrialData};

use crate::asked::Asked;
use crate::check::Verified;
use crate::links::{Links, Look, Rerun};
use crate::matrix::{Matrix, matrix};
use crate::outcome::{KINDS, has_connections, sentences};
use crate::overview::{MOST, MOST_ALONE, Overview, Transferred, overviews};
use crate::pack::pack;
use crate::path::Paths;
use crate::place::{Place, differ, everywhere, places, world};
use crate::summary::{Block, blocks};
use crate::text::less_than_perfect;
use crate::trends::{Trends, trends};
use crate::trial::TrialView;
use crate::verdicts::Verdicts;

pub(crate) const STYLES: [&str; 5] = [
    tcplab_plot::STYLE,
    include_str!("../assets/page.css"),
    include_str!("../assets/tables.css"),
    include_str!("../assets/graphs.css"),
    include_str!("../assets/verdicts.css"),
];
/// Runs before anything is painted.
pub(crate) const THEME: &str = include_str!("../assets/theme.js");
pub(crate) const SCRIPTS: [&str; 5] = [
    include_str!("../assets/levels.js"),
    include_str!("../assets/graph.js"),
    include_str!("../assets/group.js"),
    include_str!("../assets/export.js"),
    include_str!("../assets/page.js"),
];
/// So many metrics are shown at once; the others unfold.
const SHOWN_METRICS: usize = 4;
/// So many bytes of trials stand in the page as they are, for readers without scripts too; a
/// browser lays them out in a moment.
const PLAIN: usize = 2_000_000;
/// So many trials that are less than perfect are told at the top.
const MOST_WARNINGS: usize = 100;
/// Captures of so many trials have a link under Setup; beyond, each is linked where its trial is.
const MOST_LISTED: usize = 24;

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
pub fn render(run: &Run, recordings: impl Recordings) -> Result<String, ReportError> {
    let mut page = Vec::new();
    write(run, recordings, &mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the page. Trials are loaded one after the other, so only the packets of one are in
/// memory at a time. What is told of the first trials stands in the page as it is; of those after
/// them it is packed, and the page unpacks it when somebody looks, so that it opens at once.
/// The same run and recordings give the same bytes.
///
/// # Errors
/// When a trial cannot be loaded or `out` refuses.
pub fn write(
    run: &Run,
    mut recordings: impl Recordings,
    out: &mut impl io::Write,
) -> Result<(), ReportError> {
    let mut gathered = Gathered::default();
    let mut cases = String::new();
    let mut plain_left = PLAIN;
    for (index, case) in run.cases.iter().enumerate() {
        let id = anchor(index, None, None);
        cases.push_str(&CaseHead { id, case, world: world(case) }.render()?);
        // Of one without packets there is nothing to be drawn; the tables have it.
        let shown = case.trials.iter().filter(|trial| trial.has_packets);
        for (i, trial) in shown.enumerate() {
            let data = loaded(&mut recordings, case, trial)?;
            let view = TrialView::new(&case.name, index, trial, &data, i == 0);
            let rerun = Rerun::of(run, case, trial, Links::Within);
            let body = TrialBody { view: &view, rerun };
            let body = body.render()?;
            let is_plain = body.len() <= plain_left;
            let packed = if is_plain { String::new() } else { pack(body.as_bytes()) };
            plain_left = plain_left.saturating_sub(body.len());
            let seen = Seen { view: &view, links: Links::Within, is_first: i == 0, is_plain };
            gathered.see(case, &data, &seen);
            let body = if is_plain { body } else { String::new() };
            cases.push_str(&TrialPart { view, body, packed }.render()?);
        }
        cases.push_str("</section>\n");
    }
    let matrix = matrix(run, &mut recordings)?;
    let head = head(run, gathered, Links::Within, Some(matrix));
    out.write_all(head.render()?.as_bytes())?;
    out.write_all(cases.as_bytes())?;
    out.write_all(foot(run, Links::Within).render()?.as_bytes())?;
    Ok(())
}

/// Where a report has from what the run does not hold of a trial. A function that gives the packets
/// will do where the run holds the rest.
pub trait Recordings {
    /// Why something cannot be read.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// The packets and samples of a trial.
    ///
    /// # Errors
    /// When they cannot be read.
    fn packets(&mut self, trial: &Trial) -> Result<TrialData, Self::Error>;

    /// The trial with all that is known of it, its episodes for instance.
    ///
    /// # Errors
    /// When that cannot be read.
    fn whole<'t>(&mut self, trial: &'t Trial) -> Result<Cow<'t, Trial>, Self::Error> {
        Ok(Cow::Borrowed(trial))
    }
}

impl<F, E> Recordings for F
where
    F: FnMut(&Trial) -> Result<TrialData, E>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    type Error = E;

    fn packets(&mut self, trial: &Trial) -> Result<TrialData, E> {
        self(trial)
    }
}

/// A trial's recording.
pub(crate) fn loaded(
    recordings: &mut impl Recordings,
    case: &Case,
    trial: &Trial,
) -> Result<TrialData, ReportError> {
    recordings.packets(trial).map_err(|source| unreadable(case, trial, source))
}

/// A trial with its episodes.
pub(crate) fn whole<'t>(
    recordings: &mut impl Recordings,
    case: &Case,
    trial: &'t Trial,
) -> Result<Cow<'t, Trial>, ReportError> {
    recordings.whole(trial).map_err(|source| unreadable(case, trial, source))
}

fn unreadable(
    case: &Case,
    trial: &Trial,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> ReportError {
    ReportError::Load { case: case.name.clone(), number: trial.number, source: source.into() }
}

/// What the head of the page needs of the trials once their packets are out of memory.
#[derive(Default)]
pub(crate) struct Gathered {
    transfers: Vec<Transferred>,
    /// The first of them.
    warnings: Vec<Warnings>,
    /// How many more there are.
    unwarned: usize,
    paths: Paths,
}

/// A trial that was just looked at.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'v> {
    pub(crate) view: &'v TrialView<'v>,
    pub(crate) links: Links,
    /// Of its variant.
    pub(crate) is_first: bool,
    /// Whether its figures are on the page as they are.
    pub(crate) is_plain: bool,
}

impl Gathered {
    pub(crate) fn see(&mut self, case: &Case, data: &TrialData, seen: &Seen<'_>) {
        let Seen { view, links, is_first, is_plain } = *seen;
        self.paths.see(&case.name, view.trial, data);
        let most = if links == Links::Within { MOST } else { MOST_ALONE };
        let enough = self.transfers.len() >= most;
        if is_first && view.trial.load.is_none() && !enough {
            self.transfers.extend(Transferred::of(view, world(case), links, is_plain));
        }
        self.warn(Warnings::of(view.case, view.trial, &view.warnings, links.of(view)));
    }

    /// Of a trial whose packets nobody looks at.
    pub(crate) fn see_warnings(&mut self, case: &Case, trial: &Trial, href: String) {
        self.warn(Warnings::of(&case.name, trial, &less_than_perfect(trial), href));
    }

    fn warn(&mut self, warnings: Option<Warnings>) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.extend(warnings);
        } else {
            self.unwarned += usize::from(warnings.is_some());
        }
    }
}

/// The head of the page.
pub(crate) fn head(
    run: &Run,
    gathered: Gathered,
    links: Links,
    matrix: Option<Matrix>,
) -> Head<'_> {
    let mut metrics = blocks(run);
    let spread = metrics.iter().flat_map(|block| &block.rows).any(|row| row.spread.is_some());
    // Those to look up come after all others, and unfold.
    metrics.sort_by_key(|block| block.is_detail);
    let first = metrics.iter().take(SHOWN_METRICS).filter(|block| !block.is_detail).count();
    let others = metrics.split_off(first);
    let places = places(run);
    let path = run.path.iter().map(|line| line.split_once(": ").unwrap_or(("", line))).collect();
    let trends = trends(run);
    let asked = Asked::of(run, trends.as_ref());
    Head {
        run,
        everywhere: everywhere(&places),
        places,
        differ: differ(run),
        look: Look::of(links),
        outcome: sentences(run).join(" "),
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
        kinds: KINDS,
        counts: kind_counts(run),
    }
}

/// Recovery episodes of each variant by type, where there are too many for each to have a mark.
fn kind_counts(run: &Run) -> Vec<(String, String, Vec<usize>)> {
    let row = |(index, case): (usize, &Case)| {
        let all = case.recovery();
        let count = |(kind, _): &(&str, &str)| all.of_kind(kind);
        let href = format!("#{}", anchor(index, None, None));
        (case.name.clone(), href, KINDS.iter().map(count).collect())
    };
    run.cases.iter().enumerate().map(row).collect()
}

pub(crate) fn foot(run: &Run, links: Links) -> Foot<'_> {
    let all: usize = run.cases.iter().map(|case| case.trials.len()).sum();
    let up = links.up();
    let again = Rerun::of_all(run);
    Foot { run, again, look: Look::of(links), up, are_listed: all <= MOST_LISTED }
}

/// What is less than perfect about a trial.
struct Warnings {
    case: String,
    number: u32,
    href: String,
    texts: Vec<String>,
}

impl Warnings {
    fn of(case: &str, trial: &Trial, texts: &[String], href: String) -> Option<Warnings> {
        let (case, texts) = (case.to_owned(), texts.to_owned());
        (!texts.is_empty()).then_some(Warnings { case, number: trial.number, href, texts })
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
pub(crate) struct Head<'a> {
    run: &'a Run,
    look: Look,
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
    /// Trials whose warnings are not told.
    unwarned: usize,
    /// Metrics over a number that was varied.
    trends: Option<Trends>,
    asked: Asked,
    /// Comparisons that the scenario asks for.
    verdicts: Vec<Verdicts<'a>>,
    /// Whether any variant has more than one trial.
    spread: bool,
    metrics: Vec<Block>,
    others: Vec<Block>,
    /// Whether there is anything that TCP could recover.
    has_connections: bool,
    /// None where there are too many trials for it.
    matrix: Option<Matrix>,
    kinds: [(&'static str, &'static str); 3],
    counts: Vec<(String, String, Vec<usize>)>,
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
    /// What unfolds, or the same packed.
    body: String,
    packed: String,
}

/// All that is told of a trial below its summary.
#[derive(Template)]
#[template(path = "trial_body.html")]
pub(crate) struct TrialBody<'a, 'v> {
    pub(crate) view: &'v TrialView<'a>,
    pub(crate) rerun: Rerun,
}

#[derive(Template)]
#[template(path = "foot.html")]
pub(crate) struct Foot<'a> {
    run: &'a Run,
    /// The command that runs all of it again.
    again: String,
    look: Look,
    /// From the page to the run's directory.
    up: &'static str,
    /// Whether each capture has a link here.
    are_listed: bool,
}
