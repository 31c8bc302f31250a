//! The report of many trials: a folder with a first page, a page for each variant and one for each
//! trial, as far as somebody would look at so many.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use askama::Template;
use tcplab_lab::{Case, Metric, Run, Trial, TrialData};

use crate::links::{Links, Look, Rerun, SCRIPT_FILE, STYLE_FILE, case_page_name, page_name};
use crate::measure::{main_metric, values};
use crate::number::{title, with_unit};
use crate::outcome::kind_class;
use crate::page::{
    Gathered, ReportError, SCRIPTS, STYLES, Seen, TrialBody, anchor, foot, head, loaded,
};
use crate::place::world;
use crate::summary::rank;
use crate::trial::TrialView;

/// The report of so many trials is one file; beyond, it is a folder.
pub const ONE_FILE: usize = 200;
/// So many trials have a page with graphs each. Of more, those of each variant have one that
/// somebody would look at: the first, the least, the middle and the most of the main metric, and
/// those that were less than perfect, so many of them.
const ALL_HAVE_PAGES: usize = 1_000;
const MOST_IMPERFECT: usize = 5;
/// Metrics in the table of a variant's trials.
const COLUMNS: usize = 8;
const PAGES: &str = "trials";

/// Writes the report of a run of many trials to `directory`, which must not be there: `index.html`,
/// style and script, and in `trials/` a page for each variant and each trial. Only the packets of
/// one trial are in memory at a time; pages are written as they are made.
///
/// # Errors
/// When a trial cannot be loaded or a file cannot be written.
pub fn write_folder<E: Into<Box<dyn Error + Send + Sync>>>(
    run: &Run,
    mut load: impl FnMut(&Trial) -> Result<TrialData, E>,
    directory: &Path,
) -> Result<(), ReportError> {
    let pages = directory.join(PAGES);
    fs::create_dir(directory)?;
    fs::create_dir(&pages)?;
    fs::write(directory.join(STYLE_FILE), STYLES.concat())?;
    fs::write(directory.join(SCRIPT_FILE), SCRIPTS.concat())?;
    let mut gathered = Gathered::default();
    let mut sections = Vec::new();
    for (index, case) in run.cases.iter().enumerate() {
        let with_pages = with_pages(run, case);
        for (nth, trial) in case.trials.iter().enumerate() {
            if !with_pages.contains(&trial.number) {
                let place = format!("{PAGES}/{}", row_place(case, trial));
                gathered.see_warnings(case, trial, place);
                continue;
            }
            let data = loaded(&mut load, case, trial)?;
            let mut view = TrialView::new(&case.name, index, trial, &data, nth == 0);
            view.open = true;
            let seen =
                Seen { view: &view, links: Links::Index, is_first: nth == 0, is_plain: false };
            gathered.see(case, &data, &seen);
            let page = pages.join(page_name(&case.name, trial.number));
            trial_page(run, case, view, &page)?;
        }
        let page = CasePage::of(run, index, case, &with_pages);
        fs::write(pages.join(case_page_name(&case.name)), page.render()?)?;
        sections.push(CaseSection::of(index, case, &with_pages));
    }
    let mut out = BufWriter::new(File::create(directory.join("index.html"))?);
    out.write_all(head(run, gathered, Links::Index).render()?.as_bytes())?;
    for section in sections {
        out.write_all(section.render()?.as_bytes())?;
    }
    out.write_all(foot(run, Links::Index).render()?.as_bytes())?;
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

/// Where a trial without a page is told.
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
    let body = body.render()?;
    let part = TrialPage {
        run,
        case,
        case_page: case_page_name(&case.name),
        world: world(case),
        look: Look::of(Links::Below),
        before: near(-1).filter(|_| all),
        after: near(1).filter(|_| all),
        body,
        view,
    };
    fs::write(page, part.render()?)?;
    Ok(())
}

#[derive(Template)]
#[template(path = "trial_page.html")]
struct TrialPage<'a> {
    run: &'a Run,
    case: &'a Case,
    case_page: String,
    world: &'static str,
    look: Look,
    /// The trials beside it: number and page.
    before: Option<(u32, String)>,
    after: Option<(u32, String)>,
    view: TrialView<'a>,
    body: String,
}

/// A variant on the first page: links to its trials.
#[derive(Template)]
#[template(path = "case_section.html")]
struct CaseSection<'a> {
    id: String,
    case: &'a Case,
    world: &'static str,
    page: String,
    /// Number, place, and whether that is a page with graphs.
    trials: Vec<(u32, String, bool)>,
}

impl<'a> CaseSection<'a> {
    fn of(index: usize, case: &'a Case, with_pages: &BTreeSet<u32>) -> CaseSection<'a> {
        let place = |trial: &Trial| {
            let has_page = with_pages.contains(&trial.number);
            let place =
                if has_page { page_name(&case.name, trial.number) } else { row_place(case, trial) };
            (trial.number, format!("{PAGES}/{place}"), has_page)
        };
        CaseSection {
            id: anchor(index, None, None),
            case,
            world: world(case),
            page: format!("{PAGES}/{}", case_page_name(&case.name)),
            trials: case.trials.iter().map(place).collect(),
        }
    }
}

/// All trials of a variant in a table.
#[derive(Template)]
#[template(path = "case_page.html")]
struct CasePage<'a> {
    run: &'a Run,
    case: &'a Case,
    world: &'static str,
    look: Look,
    /// Where the first page has it.
    back: String,
    metrics: Vec<String>,
    rows: Vec<TrialRow<'a>>,
    has_rows_only: bool,
}

struct TrialRow<'a> {
    trial: &'a Trial,
    /// Its page, if it has one.
    href: Option<String>,
    cells: Vec<String>,
    marks: Vec<(&'static str, &'a str, usize)>,
    findings: Vec<&'a str>,
    up: &'static str,
}

impl<'a> CasePage<'a> {
    fn of(run: &'a Run, index: usize, case: &'a Case, with_pages: &BTreeSet<u32>) -> CasePage<'a> {
        let mut names: Vec<&str> = Vec::new();
        for metric in case.trials.iter().flat_map(|trial| &trial.metrics) {
            if !names.contains(&metric.name.as_str()) {
                names.push(&metric.name);
            }
        }
        let main = main_metric(run).map(|info| info.name);
        names.sort_by_key(|name| (main != Some(*name), rank(name)));
        names.truncate(COLUMNS);
        let cell = |trial: &Trial, name: &str| {
            let metric = trial.metrics.iter().find(|metric| metric.name == name);
            metric.map_or("–".to_owned(), |Metric { value, unit, .. }| with_unit(*value, unit))
        };
        let row = |trial: &'a Trial| {
            let has_page = with_pages.contains(&trial.number);
            let marks = trial.episodes.iter();
            let marks = marks.map(|it| (kind_class(&it.kind), it.kind.as_str(), it.lost_segments));
            TrialRow {
                trial,
                href: has_page.then(|| page_name(&case.name, trial.number)),
                cells: names.iter().map(|name| cell(trial, name)).collect(),
                marks: marks.collect(),
                findings: trial.findings.iter().map(|it| it.statement.as_str()).collect(),
                up: Links::Below.up(),
            }
        };
        CasePage {
            run,
            case,
            world: world(case),
            look: Look::of(Links::Below),
            back: format!("../index.html#{}", anchor(index, None, None)),
            metrics: names.iter().map(|name| title(name)).collect(),
            has_rows_only: case.trials.iter().any(|it| !with_pages.contains(&it.number)),
            rows: case.trials.iter().map(row).collect(),
        }
    }
}
