//! The report of many trials: a folder with an index, a page for each variant, and a page for each
//! trial that has graphs.

use askama::Template;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use tcplab_results::{Case, EpisodeRow, Run, Trial};
use tcplab_units::rounded::with_unit;

use super::body::TrialBody;
use super::failures::Failures;
use super::gathered::{Gathered, ShownTrial};
use super::head::{foot, head};
use super::links::{
    Links, PageAssets, Rerun, SCRIPT_FILE, STYLE_FILE, WithoutPackets, case_page_name, page_name,
};
use super::marks::Marks;
use super::recordings::{Recordings, loaded, packets, whole};
use crate::html::anchor::anchor;
use crate::html::assets::{SCRIPTS, STYLES};
use crate::html::error::ReportError;
use crate::html::rendered::rendered;
use crate::summary::measure::values;
use crate::summary::metrics::rank;
use crate::summary::worlds::world;
use crate::title::title;
use crate::trial::view::TrialView;
use tcplab_results::main_metric;

/// Reports of up to this many trials are one file; larger ones are a folder.
pub const ONE_FILE: usize = 200;
/// Up to this many trials, each has a page with graphs. Beyond, these of each variant have one: the
/// first, the minimum, median and maximum of the main metric, and a few with warnings.
const ALL_HAVE_PAGES: usize = 1_000;
const MOST_IMPERFECT: usize = 5;
/// Metrics in the table of a variant's trials.
const COLUMNS: usize = 8;
const PAGES: &str = "trials";

/// Writes the report of a run of many trials to `directory`, which must not exist: `index.html`,
/// style and script, and in `trials/` a page for each variant and each trial. Only one trial's
/// packets and episodes are in memory at a time.
///
/// # Errors
/// When a trial cannot be loaded or a file cannot be written.
pub fn write_folder(
    run: &Run,
    mut recordings: impl Recordings,
    directory: &Path,
) -> Result<(), ReportError> {
    let pages = directory.join(PAGES);
    fs::create_dir(directory)?;
    fs::create_dir(&pages)?;
    fs::write(directory.join(STYLE_FILE), STYLES.concat())?;
    fs::write(directory.join(SCRIPT_FILE), SCRIPTS.concat())?;
    let mut gathered = Gathered::default();
    let mut chosen = Vec::new();
    for (index, case) in run.cases.iter().enumerate() {
        let with_pages = with_pages(run, case);
        for (nth, trial) in case.trials.iter().enumerate() {
            if !with_pages.contains(&trial.number) {
                let place = format!("{PAGES}/{}", row_place(case, trial));
                gathered.add_warnings(case, trial, place);
                continue;
            }
            let data = loaded(&mut recordings, case, trial)?;
            let mut view = TrialView::new(&case.name, index, trial, &data, nth == 0);
            view.open = true;
            view.packets = packets(&mut recordings, case, trial, &data)?;
            let shown = ShownTrial {
                view: &view,
                links: Links::Index,
                is_first: nth == 0,
                is_plain: false,
            };
            gathered.add(case, &data, &shown);
            let page = pages.join(page_name(&case.name, trial.number));
            trial_page(run, case, view, &page)?;
        }
        let failures = Failures::of(run, case, &mut recordings, Links::Below);
        let page = CasePage::of(run, (index, case), &with_pages, failures);
        let out = BufWriter::new(File::create(pages.join(case_page_name(&case.name)))?);
        page.write(&mut recordings, out)?;
        chosen.push(with_pages);
    }
    let mut out = BufWriter::new(File::create(directory.join("index.html"))?);
    out.write_all(rendered(&head(run, gathered, Links::Index, None))?.as_bytes())?;
    for ((index, case), with_pages) in run.cases.iter().enumerate().zip(&chosen) {
        out.write_all(rendered(&CaseSection::of(index, case, with_pages))?.as_bytes())?;
    }
    out.write_all(rendered(&foot(run, Links::Index))?.as_bytes())?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}

/// The numbers of the trials that have a page.
fn with_pages(run: &Run, case: &Case) -> BTreeSet<u32> {
    let all: usize = run.cases.iter().map(|case| case.trials.len()).sum();
    let seen: BTreeSet<u32> =
        case.trials.iter().filter(|it| it.has_packets).map(|it| it.number).collect();
    if all <= ALL_HAVE_PAGES {
        return seen;
    }
    let mut chosen: BTreeSet<u32> = case.trials.first().map(|it| it.number).into_iter().collect();
    let mut by_value = main_metric(run).map_or(vec![], |info| values(case, info.name));
    by_value.sort_by(|one, other| one.1.total_cmp(&other.1));
    let middle = by_value.get(by_value.len() / 2);
    let ends = [by_value.first(), middle, by_value.last()];
    chosen.extend(ends.into_iter().flatten().map(|(number, _)| *number));
    let imperfect = case.trials.iter().filter(|it| !it.flaws.is_empty() || !it.warnings.is_empty());
    chosen.extend(imperfect.take(MOST_IMPERFECT).map(|trial| trial.number));
    chosen.intersection(&seen).copied().collect()
}

fn row_place(case: &Case, trial: &Trial) -> String {
    format!("{}#trial-{}", case_page_name(&case.name), trial.number)
}

fn trial_page(run: &Run, case: &Case, view: TrialView<'_>, page: &Path) -> Result<(), ReportError> {
    let place = case.trials.iter().position(|trial| trial.number == view.trial.number);
    let near = |offset: isize| {
        let trial = case.trials.get(place?.checked_add_signed(offset)?)?;
        trial.has_packets.then_some(())?;
        Some((trial.number, page_name(&case.name, trial.number)))
    };
    let all = run.cases.iter().map(|case| case.trials.len()).sum::<usize>() <= ALL_HAVE_PAGES;
    let rerun = Rerun::of(run, case, view.trial, Links::Below);
    let body = TrialBody { view: &view, rerun };
    let body = rendered(&body)?;
    let part = TrialPage {
        run,
        case,
        case_page: case_page_name(&case.name),
        world: world(case),
        look: PageAssets::of(Links::Below),
        before: near(-1).filter(|_| all),
        after: near(1).filter(|_| all),
        body,
        view,
    };
    fs::write(page, rendered(&part)?)?;
    Ok(())
}

#[derive(Template)]
#[template(path = "trial_page.html")]
struct TrialPage<'a> {
    run: &'a Run,
    case: &'a Case,
    case_page: String,
    world: &'static str,
    look: PageAssets,
    before: Option<(u32, String)>,
    after: Option<(u32, String)>,
    view: TrialView<'a>,
    body: String,
}

#[derive(Template)]
#[template(path = "case_section.html")]
struct CaseSection<'a> {
    id: String,
    case: &'a Case,
    world: &'static str,
    page: String,
    with_pages: &'a BTreeSet<u32>,
}

impl<'a> CaseSection<'a> {
    fn of(index: usize, case: &'a Case, with_pages: &'a BTreeSet<u32>) -> CaseSection<'a> {
        CaseSection {
            id: anchor(index, None, None),
            case,
            world: world(case),
            page: format!("{PAGES}/{}", case_page_name(&case.name)),
            with_pages,
        }
    }

    fn has_page(&self, trial: &Trial) -> bool {
        self.with_pages.contains(&trial.number)
    }

    fn place(&self, trial: &Trial) -> String {
        let place = if self.has_page(trial) {
            page_name(&self.case.name, trial.number)
        } else {
            row_place(self.case, trial)
        };
        format!("{PAGES}/{place}")
    }
}

/// The page of a variant up to its table's rows.
#[derive(Template)]
#[template(path = "case_page.html")]
struct CasePage<'a> {
    run: &'a Run,
    index: usize,
    case: &'a Case,
    world: &'static str,
    look: PageAssets,
    /// The variant on the first page.
    back: String,
    /// Metrics with a column, and their headings.
    names: Vec<&'a str>,
    titles: Vec<String>,
    with_pages: &'a BTreeSet<u32>,
    has_rows_only: bool,
    lacking: Option<WithoutPackets>,
    failures: Failures<'a>,
}

#[derive(Template)]
#[template(path = "case_row.html")]
struct TrialRow<'a> {
    trial: &'a Trial,
    href: Option<String>,
    cells: Vec<String>,
    marks: Marks,
    findings: Vec<&'a str>,
    up: &'static str,
}

#[derive(Template)]
#[template(path = "case_end.html")]
struct CaseEnd<'a> {
    look: &'a PageAssets,
}

impl<'a> CasePage<'a> {
    fn of(
        run: &'a Run,
        (index, case): (usize, &'a Case),
        with_pages: &'a BTreeSet<u32>,
        failures: Failures<'a>,
    ) -> CasePage<'a> {
        let mut names: Vec<&str> = Vec::new();
        for metric in case.trials.iter().flat_map(|trial| trial.metrics.iter()) {
            if !names.contains(&metric.name) {
                names.push(metric.name);
            }
        }
        let main = main_metric(run).map(|info| info.name);
        names.sort_by_key(|name| (main != Some(*name), rank(name)));
        names.truncate(COLUMNS);
        CasePage {
            run,
            index,
            case,
            world: world(case),
            look: PageAssets::of(Links::Below),
            back: format!("../index.html#{}", anchor(index, None, None)),
            titles: names.iter().map(|name| title(name)).collect(),
            names,
            with_pages,
            has_rows_only: case
                .trials
                .iter()
                .any(|it| it.has_packets && !with_pages.contains(&it.number)),
            lacking: WithoutPackets::of(run, case, Links::Below),
            failures,
        }
    }

    fn write(
        &self,
        recordings: &mut impl Recordings,
        mut out: BufWriter<File>,
    ) -> Result<(), ReportError> {
        out.write_all(rendered(self)?.as_bytes())?;
        for trial in &self.case.trials {
            let whole = whole(recordings, self.case, trial)?;
            out.write_all(b"\n")?;
            out.write_all(rendered(&self.row(trial, &whole.episodes))?.as_bytes())?;
        }
        out.write_all(b"\n")?;
        out.write_all(rendered(&CaseEnd { look: &self.look })?.as_bytes())?;
        Ok(out.flush()?)
    }

    fn row<'t>(&self, trial: &'t Trial, episodes: &'t [EpisodeRow]) -> TrialRow<'t> {
        let cell = |name: &&str| {
            let metric = trial.metrics.find_named(name);
            metric.map_or("–".to_owned(), |it| with_unit(it.value, it.unit))
        };
        let has_page = self.with_pages.contains(&trial.number);
        let href = has_page.then(|| page_name(&self.case.name, trial.number));
        let id = anchor(self.index, Some(trial.number), None);
        let place = href.as_ref().map(|href| format!("{href}#{id}"));
        TrialRow {
            trial,
            href,
            cells: self.names.iter().map(cell).collect(),
            marks: Marks::of(episodes.iter(), place),
            findings: trial.findings.iter().map(|it| it.statement.as_str()).collect(),
            up: Links::Below.up(),
        }
    }
}
