//! `tcplab compare`.

mod captures;
mod outputs;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tcplab_lab::compare::{
    Asked, CompareError, Progress, compare_as_written, compare_levels, compare_over_cases,
    compare_runs, is_results, read_run,
};
use tcplab_lab::{RunDirectory, load_trial};
use tcplab_quantities::COMPARISON_DOCUMENT;
use tcplab_report::compare::{CloseUp, compare_page, compare_text, junit, markdown};
use tcplab_results::comparison::{Comparison, Outcome, Row};
use tcplab_results::{Run, TrialData};

use crate::annotations::annotate_comparison;
use crate::arguments::{CompareArguments, RUNS};
use crate::control::at_end_of_input;
use crate::exit::{ERROR, FAILED};
use crate::output::{in_document, print_note};
use crate::packets_gone;
use crate::remedied::Remedied;
use crate::work::Work;
use outputs::Outputs;

/// Cases with packet graphs on the page, the worst first.
const DETAILED_CASES: usize = 2;
/// The first part of the work.
const READING: &str = "reading the runs";

pub(crate) fn compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let places = [Some(&arguments.a), arguments.b.as_ref()].into_iter().flatten();
    let places: Vec<PathBuf> =
        places.map(|place| RunDirectory::named(place, Path::new(RUNS))).collect();
    let places: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
    // Other files are none.
    for place in places.iter().filter(|place| is_capture(place)) {
        tcplab_actions::open(place)?;
    }
    match places[..] {
        [a, b] if is_capture(a) && is_capture(b) => {
            if arguments.control {
                bail!("--control tells how far a comparison of runs is: leave it out for captures");
            }
            return captures::compare([a, b], arguments);
        }
        [a] if is_capture(a) => {
            bail!("{} is a capture; pass a second capture to compare", a.display())
        }
        [a, b] if is_capture(a) || is_capture(b) => {
            if let Some(missing) = [a, b].into_iter().find(|place| !place.exists()) {
                let missing = format!("cannot open {}", missing.display());
                return Err(io::Error::from(io::ErrorKind::NotFound)).context(missing);
            }
            bail!(
                "cannot compare a capture with a run ({} and {}); pass two runs or two captures",
                a.display(),
                b.display()
            )
        }
        _ => {}
    }
    // Before anything is read: what cannot be written leaves no other file.
    let mut outputs = Outputs::of(arguments)?;
    let work = started(arguments.control)?;
    let progress = of(places.len());
    work.goes_on_by(READING, &progress, "runs");
    let read = |place: &&Path| read_run(place).inspect(|_| progress.advance(1));
    let runs = places.iter().map(read).collect::<Result<Vec<Run>, _>>()?;
    let both = arguments.html.is_some().then(|| with_packets(&places)).transpose()?;
    let asked = arguments.asked();
    work.goes_on_by("comparing", &asked.progress, "steps");
    let found = compared(arguments, &asked, &places, &runs)?;
    let fails = |outcome: &Outcome| arguments.fail_on.fails(*outcome);
    let page = both.map(|both| page(&found, &both, &runs, &work)).transpose()?;
    outputs.add(arguments.json.place.as_ref(), || in_document(&COMPARISON_DOCUMENT, &found))?;
    outputs.add(arguments.markdown.as_ref(), || Ok(markdown(&found)))?;
    outputs.add(arguments.junit.as_ref(), || Ok(junit(&found, fails)))?;
    outputs.add(arguments.html.as_ref(), || Ok(page.unwrap_or_default()))?;
    drop(work);
    if !arguments.control {
        outputs.finish(&compare_text(&found))?;
    }
    let has_nothing = found.rows.is_empty();
    let is_bad = has_nothing || found.count(fails) > 0;
    if arguments.annotate.is_some() {
        annotate_comparison(&found, is_bad);
    }
    if has_nothing {
        let remedy = "the warnings say which trials or values are missing";
        return Err(Remedied::error("nothing could be compared", remedy));
    }
    Ok(if is_bad { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// Shows how far it is. For a program that runs this one (`--control`) it is lines of JSON, and the
/// end of standard input ends the command.
fn started(is_controlled: bool) -> Result<Work> {
    if !is_controlled {
        return Ok(Work::of_parts(READING));
    }
    at_end_of_input(|| std::process::exit(i32::from(ERROR)))?;
    Ok(Work::of_told_parts(READING))
}

/// Progress of so many steps.
fn of(steps: usize) -> Progress {
    let progress = Progress::default();
    progress.begin(steps);
    progress
}

/// Whether a place is a file that holds packets, not results.
fn is_capture(place: &Path) -> bool {
    place.is_file() && !is_results(place)
}

fn compared(
    arguments: &CompareArguments,
    asked: &Asked,
    places: &[&Path],
    runs: &[Run],
) -> Result<Comparison, CompareError> {
    let side = |index: usize| (places[index], &runs[index]);
    match &arguments.by {
        Some(factor) => {
            let levels = arguments.levels.as_ref().map(|levels| levels.0.each_ref().map(|l| &**l));
            if arguments.over_cases {
                return compare_over_cases(side(0), factor, levels, asked);
            }
            compare_levels(side(0), factor, levels, asked)
        }
        None if places.len() == 1 => {
            let is_as_written = arguments.metrics.is_empty() && arguments.threshold.is_empty();
            compare_as_written(side(0), (!is_as_written).then_some(asked))
        }
        None => compare_runs(side(0), side(1), asked),
    }
}

/// The directories of runs, whose packets the page shows; kept results have none.
fn with_packets(places: &[&Path]) -> Result<Opened> {
    if let Some(file) = places.iter().find(|place| place.is_file()) {
        bail!("--html draws packets, which {} does not have: pass run directories", file.display());
    }
    Opened::new(places)
}

/// The page, with the most typical trials of the worst cases.
fn page(found: &Comparison, both: &Opened, runs: &[Run], work: &Work) -> Result<String> {
    let mut cases: Vec<&Row> = Vec::new();
    for row in &found.rows {
        if row.outcome == (Outcome::Equivalent { identical: true }) && !cases.is_empty() {
            continue;
        }
        if !cases.iter().any(|known| known.case == row.case) {
            cases.push(row);
        }
    }
    cases.truncate(DETAILED_CASES);
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    let progress = of(cases.len());
    work.goes_on_by("reading the packets that the page shows", &progress, "cases");
    for row in cases {
        let trials = loaded(found, row, runs, both);
        progress.advance(1);
        match trials {
            Ok(data) => all.push((row, data)),
            Err(error) if packets_gone::lacking(&error).is_some() => {
                let again = packets_gone::remedy(&error);
                let again =
                    again.map(|again| format!(" To see them, {again}.")).unwrap_or_default();
                notes.push(format!("No packets to draw for {}: {error}.{again}", row.case));
            }
            Err(error) => return Err(error),
        }
    }
    for note in &notes {
        print_note(note);
    }
    let close: Vec<CloseUp<'_>> = all
        .iter()
        .filter_map(|(row, data)| {
            let [x, y] = row.telling;
            let trials = if x == y { format!("trial {x}") } else { format!("trials {x} and {y}") };
            let title = format!("{}, {trials}", row.case);
            let names = found.sides.each_ref().map(|side| side.label.clone());
            let case = found.cases.iter().find(|case| case.name == row.case)?;
            CloseUp::of_trials(title, names, data.each_ref(), case.is_virtual)
        })
        .collect();
    compare_page(found, &close, notes).context("cannot make the page")
}

/// The most typical trials of a row.
fn loaded(found: &Comparison, row: &Row, runs: &[Run], both: &Opened) -> Result<[TrialData; 2]> {
    let case = found.cases.iter().find(|case| case.name == row.case);
    let names = case.map(|case| &case.names).context("no such case")?;
    let load = |side: usize| -> Result<TrialData> {
        // Two levels of one run have one run.
        let run = &runs[side.min(runs.len() - 1)];
        let case = run.cases.iter().find(|case| case.name == names[side]);
        let trials = case.map(|case| &case.trials[..]).unwrap_or_default();
        let trial = trials.iter().find(|trial| trial.number == row.telling[side]);
        let trial = trial.context("no such trial")?;
        Ok(load_trial(both.side(side), trial)?)
    };
    Ok([load(0)?, load(1)?])
}

/// The directories of both sides, which may be the same.
struct Opened(Vec<RunDirectory>);

impl Opened {
    fn new(places: &[&Path]) -> Result<Opened> {
        let same = |place: &&Path| place.canonicalize().unwrap_or_else(|_| place.to_path_buf());
        let mut real: Vec<PathBuf> = places.iter().map(same).collect();
        real.dedup();
        Ok(Opened(real.iter().map(|place| RunDirectory::open(place)).collect::<Result<_, _>>()?))
    }

    fn side(&self, side: usize) -> &RunDirectory {
        &self.0[side.min(self.0.len() - 1)]
    }
}
