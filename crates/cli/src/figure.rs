//! `tcplab plot`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tcplab_lab::{RunDirectory, load_trial, read_run};
use tcplab_report::{RunFigure, figure_file, figure_pgf, run_figures, trial_figures};
use tcplab_results::{Case, Run, Trial};
use tcplab_scenario::nearest;

use crate::arguments::FigureArguments;
use crate::output::{Output, answer, commit};

pub(crate) fn plot(arguments: &FigureArguments) -> Result<ExitCode> {
    let directory = RunDirectory::open(&RunDirectory::named(&arguments.run, &arguments.runs))?;
    let run = read_run(directory.path())?;
    let Some(name) = &arguments.figure else {
        answer(&format!("{}{}", list(&run_figures(&run)), trials(&run)))?;
        return Ok(ExitCode::SUCCESS);
    };
    let (figures, is_all) = match trial_of(&run, name) {
        Some((case, trial, is_all)) => {
            let whole = directory.whole(trial)?;
            let data = load_trial(&directory, trial)
                .with_context(|| format!("trial {} of case {}", trial.number, case.name))?;
            (trial_figures(case, &whole, &data), is_all)
        }
        None => (run_figures(&run), false),
    };
    if is_all {
        answer(&list(&figures))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(figure) = figures.iter().find(|it| it.name == *name) else {
        let near = nearest(name, figures.iter().map(|it| it.name.as_str()));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        bail!("no figure `{name}`: {near}`tcplab plot RUN` lists them");
    };
    let place = arguments.output.as_deref().unwrap_or(Path::new(Output::STDOUT));
    write(figure, place)?;
    Ok(ExitCode::SUCCESS)
}

/// The trial that a figure is of, and whether all its figures are meant: of `CASE/NUMBER`.
fn trial_of<'r>(run: &'r Run, name: &str) -> Option<(&'r Case, &'r Trial, bool)> {
    run.cases.iter().find_map(|case| {
        let rest = name.strip_prefix(&case.name)?.strip_prefix('/')?;
        let (number, figure) = rest.split_once('/').unwrap_or((rest, ""));
        let number: u32 = number.parse().ok()?;
        let trial = case.trials.iter().find(|trial| trial.number == number)?;
        Some((case, trial, figure.is_empty()))
    })
}

fn list(figures: &[RunFigure]) -> String {
    let widest = figures.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    figures
        .iter()
        .map(|it| format!("{:widest$}  {}", it.name, it.title).trim_end().to_owned() + "\n")
        .collect()
}

/// One line for each case.
fn trials(run: &Run) -> String {
    let line = |case: &Case| {
        let name = &case.name;
        let mut drawn = case.trials.iter().filter(|trial| trial.has_packets);
        let Some(first) = drawn.next() else {
            let first = case.trials.first()?.number;
            let why = "no graphs of trials: their packets were removed or not kept";
            return Some(format!("{name}/{first}/…  {why}\n"));
        };
        let (first, last) = (first.number, drawn.next_back().unwrap_or(first).number);
        Some(if first == last {
            format!("{name}/{first}/…  graphs of the trial\n")
        } else {
            format!("{name}/{first}/… to {name}/{last}/…  graphs of each trial\n")
        })
    };
    run.cases.iter().filter_map(line).collect()
}

fn write(figure: &RunFigure, place: &Path) -> Result<()> {
    let ending = place.extension().map(|it| it.to_string_lossy().to_lowercase());
    let text = match ending.as_deref() {
        _ if place == Path::new(Output::STDOUT) => figure_file(figure),
        Some("svg") => figure_file(figure),
        Some("csv") => figure.csv.clone().with_context(|| {
            format!(
                "`{}` draws packets: `tcplab export RUN/trials/CASE-NUMBER` writes their tables",
                figure.name
            )
        })?,
        Some(other @ ("png" | "pdf")) => bail!(
            "`tcplab plot` writes no {}: write FILE.svg, which stands alone, and convert it \
             (`rsvg-convert -f {other} -o FILE.{other} FILE.svg`, Inkscape, or a browser)",
            other.to_uppercase()
        ),
        Some("pgf" | "tex") => figure_pgf(figure).with_context(|| {
            format!("`{}` has no numbers for the axes of pgfplots: write FILE.svg", figure.name)
        })?,
        _ => bail!(
            "cannot tell the format of {}: use FILE.svg, FILE.csv or FILE.pgf",
            place.display()
        ),
    };
    let mut output = Output::create(place)?;
    if output.is_terminal() {
        bail!("cannot draw on a terminal: write a file with `-o FILE.svg`");
    }
    output.write_all(text.as_bytes())?;
    commit(output, &figure.title)
}
