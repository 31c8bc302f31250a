//! The page: one HTML file that needs nothing else.

use askama::Template;
use std::io;
use tcplab_results::{Case, Run};

use super::body::TrialBody;
use super::failures::Failures;
use super::gathered::{Gathered, ShownTrial};
use super::head::{foot, head};
use super::links::{Links, Rerun, WithoutPackets};
use super::marks::Marks;
use super::matrix::matrix;
use super::recordings::{Recordings, loaded, packets};
use crate::html::anchor::anchor;
use crate::html::error::ReportError;
use crate::html::pack::pack;
use crate::html::rendered::rendered;
use crate::summary::worlds::world;
use crate::trial::view::TrialView;

/// Bytes of trials in the page unpacked, also for readers without JavaScript; a browser lays out
/// this much at once.
const PLAIN: usize = 2_000_000;
/// The whole page as text. See [`write`].
///
/// # Errors
/// As [`write`]; nothing is written, so only loading can really fail.
pub fn render(run: &Run, recordings: impl Recordings) -> Result<String, ReportError> {
    let mut page = Vec::new();
    write(run, recordings, &mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the page. Loads one trial after the other, so only the packets of one are in memory. The
/// first trials are in the page as they are; later ones are packed until they are opened, so that
/// the page loads at once. The same run and recordings give the same bytes.
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
        let lacking = WithoutPackets::of(run, case, Links::Within);
        let failures = Failures::of(run, case, &mut recordings, Links::Within);
        cases.push_str(&rendered(&CaseHead { id, case, world: world(case), lacking, failures })?);
        // Without packets there is nothing to draw; the tables have the trial.
        let shown = case.trials.iter().filter(|trial| trial.has_packets);
        for (i, trial) in shown.enumerate() {
            let data = loaded(&mut recordings, case, trial)?;
            let mut view = TrialView::new(&case.name, index, trial, &data, i == 0);
            view.packets = packets(&mut recordings, case, trial, &data)?;
            let rerun = Rerun::of(run, case, trial, Links::Within);
            let body = TrialBody { view: &view, rerun };
            let body = rendered(&body)?;
            let is_plain = body.len() <= plain_left;
            let packed = if is_plain { String::new() } else { pack(body.as_bytes()) };
            plain_left = plain_left.saturating_sub(body.len());
            let shown =
                ShownTrial { view: &view, links: Links::Within, is_first: i == 0, is_plain };
            gathered.add(case, &data, &shown);
            let body = if is_plain { body } else { String::new() };
            let marks = Marks::of(trial.episodes.iter(), None);
            cases.push_str(&rendered(&TrialPart { view, marks, body, packed })?);
        }
        cases.push_str("</section>\n");
    }
    let matrix = matrix(run, &mut recordings)?;
    let head = head(run, gathered, Links::Within, Some(matrix));
    out.write_all(rendered(&head)?.as_bytes())?;
    out.write_all(cases.as_bytes())?;
    out.write_all(rendered(&foot(run, Links::Within))?.as_bytes())?;
    Ok(())
}

#[derive(Template)]
#[template(path = "case.html")]
struct CaseHead<'a> {
    id: String,
    case: &'a Case,
    world: &'static str,
    lacking: Option<WithoutPackets>,
    failures: Failures<'a>,
}

#[derive(Template)]
#[template(path = "trial.html")]
struct TrialPart<'a> {
    view: TrialView<'a>,
    marks: Marks,
    body: String,
    packed: String,
}
