//! `tcplab plot`.

mod drawing;
mod listing;
mod looks;
mod recording;
mod several;
mod writing;

use std::process::ExitCode;

use anyhow::{Context, Error, Result, bail};
use tcplab_lab::{RunDirectory, load_trial, read_run};
use tcplab_path::tc::quoted_path;
use tcplab_report::{MetricFigures, RunFigure, queue_notes, run_figures, trial_figures};
use tcplab_results::{Case, Failure, Run, Trial};
use tcplab_scenario::nearest;

use crate::arguments::FigureArguments;
use crate::output::{answer, folded, shown_columns};
use crate::remedied::Remedied;
use drawing::draw;
use listing::{lines, list, list_of_run, trials};

pub(crate) fn plot(arguments: &FigureArguments) -> Result<ExitCode> {
    let [place] = &arguments.run[..] else {
        several::plot(arguments)?;
        return Ok(ExitCode::SUCCESS);
    };
    if !arguments.label.is_empty() {
        return Err(Remedied::error(
            "--label is for figures of several runs, and this is one",
            "`tcplab plot RUN RUN --label NAME --label NAME`",
        ));
    }
    if arguments.relative_to.is_some() {
        return Err(Remedied::error(
            "--relative-to is for figures of several runs, and this is one",
            "`tcplab plot RUN RUN --relative-to 1`",
        ));
    }
    let place = &*RunDirectory::named(place, &arguments.runs);
    if let Some(recording) = recording::at(place) {
        recording::plot(place, &recording, arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let directory = RunDirectory::open(place)?;
    let run = read_run(directory.path())?;
    let Some(name) = &arguments.figure else {
        answer(&folded(&(list_of_run(&run) + &trials(&run)), shown_columns()))?;
        return Ok(ExitCode::SUCCESS);
    };
    // What there is to say of queues that are not drawn.
    let mut queues = Vec::new();
    let (mut figures, is_all): (Vec<RunFigure>, bool) = match trial_of(&run, name) {
        Some((case, trial, is_all)) => {
            let whole = directory.whole(trial)?;
            let data = load_trial(&directory, trial)
                .with_context(|| format!("trial {} of case {}", trial.number, case.name))?;
            queues = queue_notes(&data.queues);
            (trial_figures(case, &whole, &data), is_all)
        }
        None => (run_figures(&run), false),
    };
    if is_all {
        let list = list(figures.iter().map(|it| (it.name.as_str(), it.title.as_str())));
        answer(&(list + &lines(&queues)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let of_metrics = MetricFigures::of(&run);
    let asked = of_metrics.list().iter().find(|it| it.name == *name);
    figures.extend(asked.map(|it| of_metrics.draw(it)));
    let Some(at) = figures.iter().position(|it| it.name == *name) else {
        if let Some((case, failure)) = failed_trial(&run, name) {
            return Err(refused_failed(case, failure, &directory));
        }
        if name.rsplit('/').next().is_some_and(|it| it.starts_with("queue")) && !queues.is_empty() {
            bail!("no figure `{name}`. {}", queues.join(" "));
        }
        let names = of_metrics.list().iter().map(|it| it.name.as_str());
        let near = nearest(name, figures.iter().map(|it| it.name.as_str()).chain(names));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        bail!("no figure `{name}`: {near}`tcplab plot RUN` lists them");
    };
    draw(figures.swap_remove(at), arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// The trial that a figure is of, and whether all its figures are meant: of `CASE/NUMBER`.
fn trial_of<'r>(run: &'r Run, name: &str) -> Option<(&'r Case, &'r Trial, bool)> {
    run.cases.iter().find_map(|case| {
        let (number, figure) = number_in(case, name)?;
        let trial = case.trials.iter().find(|trial| trial.number == number)?;
        Some((case, trial, figure.is_empty()))
    })
}

/// The trial without results that a figure would be of.
fn failed_trial<'r>(run: &'r Run, name: &str) -> Option<(&'r Case, &'r Failure)> {
    run.cases.iter().find_map(|case| {
        let (number, _) = number_in(case, name)?;
        Some((case, case.failures.iter().find(|failure| failure.number == number)?))
    })
}

/// The number of a trial of this case, and the rest of the figure's name.
fn number_in<'n>(case: &Case, name: &'n str) -> Option<(u32, &'n str)> {
    let rest = name.strip_prefix(&case.name)?.strip_prefix('/')?;
    let (number, figure) = rest.split_once('/').unwrap_or((rest, ""));
    Some((number.parse().ok()?, figure))
}

fn refused_failed(case: &Case, failure: &Failure, directory: &RunDirectory) -> Error {
    let Failure { number, reason, .. } = failure;
    let said = format!("trial {number} of {} failed: {reason}", case.name);
    let place = directory.path().join(&failure.directory);
    let remedy = if place.is_dir() {
        format!("`tcplab trace {}` shows what there is of it", quoted_path(&place))
    } else {
        "`tcplab plot RUN` lists the trials that have figures".to_owned()
    };
    Remedied::error(said, remedy)
}
