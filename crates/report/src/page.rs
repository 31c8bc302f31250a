//! The page: one HTML file that needs nothing else.

use std::error::Error;
use std::io;

use askama::Template;
use tcplab_lab::{Case, Run, Trial, TrialData};

use crate::matrix::{Matrix, matrix};
use crate::outcome::{KINDS, sentences};
use crate::summary::{Block, blocks};
use crate::trial::TrialView;

const STYLES: [&str; 4] = [
    tcplab_plot::STYLE,
    include_str!("../assets/page.css"),
    include_str!("../assets/tables.css"),
    include_str!("../assets/graphs.css"),
];
/// Runs before anything is painted.
const THEME: &str = include_str!("../assets/theme.js");
const SCRIPTS: [&str; 3] = [
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

/// Writes the page. Trials are loaded one after the other, so only one is in memory at a time.
/// The same run and recordings give the same bytes.
///
/// # Errors
/// When a trial cannot be loaded or `out` refuses.
pub fn write<E: Into<Box<dyn Error + Send + Sync>>>(
    run: &Run,
    mut load: impl FnMut(&Trial) -> Result<TrialData, E>,
    out: &mut impl io::Write,
) -> Result<(), ReportError> {
    let mut metrics = blocks(run);
    let others = metrics.split_off(metrics.len().min(SHOWN_METRICS));
    let head = Head {
        run,
        style: STYLES.concat(),
        theme: THEME,
        outcome: sentences(run).join(" "),
        metrics,
        others,
        matrix: matrix(run),
        kinds: KINDS,
    };
    out.write_all(head.render()?.as_bytes())?;
    for (index, case) in run.cases.iter().enumerate() {
        let id = anchor(index, None, None);
        out.write_all(CaseHead { id, case }.render()?.as_bytes())?;
        for (i, trial) in case.trials.iter().enumerate() {
            let data = load(trial).map_err(|source| ReportError::Load {
                case: case.name.clone(),
                number: trial.number,
                source: source.into(),
            })?;
            let view = TrialView::new(&case.name, index, trial, &data, i == 0);
            out.write_all(TrialPart { view }.render()?.as_bytes())?;
        }
        out.write_all(b"</section>\n")?;
    }
    out.write_all(Foot { run, script: SCRIPTS.concat() }.render()?.as_bytes())?;
    Ok(())
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
    metrics: Vec<Block>,
    others: Vec<Block>,
    matrix: Matrix,
    kinds: [(&'static str, &'static str); 3],
}

#[derive(Template)]
#[template(path = "case.html")]
struct CaseHead<'a> {
    id: String,
    case: &'a Case,
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
    script: String,
}
