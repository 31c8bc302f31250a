//! `tcplab plot`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tcplab_lab::{RunDirectory, load_trial, read_run};
use tcplab_plot::csv_rows;
use tcplab_quantities::FIGURE_DOCUMENT;
use tcplab_report::{RunFigure, figure_file, figure_pgf, run_figures, trial_figures};
use tcplab_results::{Case, Run, Trial};
use tcplab_scenario::nearest;
use tcplab_units::visible_line;

use crate::arguments::{FigureArguments, TableFormat};
use crate::converter::{LIMIT, Picture, convert};
use crate::output::{Output, answer, commit, in_document, print_note};
use crate::signals::stop_on_signals;

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
    write(figure, place, arguments.table)?;
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
            let why = "no figures of trials: their packets were removed or not kept";
            return Some(format!("{name}/{first}/…  {why}\n"));
        };
        let (first, last) = (first.number, drawn.next_back().unwrap_or(first).number);
        Some(if first == last {
            format!("{name}/{first}/…  figures of the trial\n")
        } else {
            format!("{name}/{first}/… to {name}/{last}/…  figures of each trial\n")
        })
    };
    run.cases.iter().filter_map(line).collect()
}

/// What is in the file of a figure.
enum Content {
    Text(String),
    Picture(Picture),
}

fn write(figure: &RunFigure, place: &Path, table: Option<TableFormat>) -> Result<()> {
    let content = content(figure, place, table)?;
    let mut output = Output::create(place)?;
    if output.is_terminal() && table.is_none() {
        bail!("cannot draw on a terminal: write a file with `-o FILE.svg`, or use --table");
    }
    match content {
        Content::Text(text) => output.write_all(text.as_bytes())?,
        Content::Picture(picture) => output.write_all(&converted(figure, picture)?)?,
    }
    commit(output, &figure.title)
}

/// What the ending of `place` asks for, unless it is a table.
fn content(figure: &RunFigure, place: &Path, table: Option<TableFormat>) -> Result<Content> {
    let ending = place.extension().map(|it| it.to_string_lossy().to_lowercase());
    let text = match (table, ending.as_deref()) {
        (Some(format), _) => table_of(figure, format)?,
        _ if place == Path::new(Output::STDOUT) => figure_file(figure),
        (_, Some("svg")) => figure_file(figure),
        (_, Some("png")) => return Ok(Content::Picture(Picture::Png)),
        (_, Some("pdf")) => return Ok(Content::Picture(Picture::Pdf)),
        (_, Some("csv")) => table_of(figure, TableFormat::Csv)?,
        (_, Some("json")) => table_of(figure, TableFormat::Json)?,
        (_, Some("pgf" | "tex")) => figure_pgf(figure).with_context(|| {
            format!("`{}` has no numbers for the axes of pgfplots: write FILE.svg", figure.name)
        })?,
        _ => bail!(
            "cannot tell the format of {}: use FILE.svg, FILE.png, FILE.pdf, FILE.csv, FILE.json \
             or FILE.pgf",
            place.display()
        ),
    };
    Ok(Content::Text(text))
}

/// The figure as a picture, by a converter, which a signal ends.
fn converted(figure: &RunFigure, picture: Picture) -> Result<Vec<u8>> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let made = convert(&figure_file(figure), picture, LIMIT, &stop)?;
    if !made.said.is_empty() {
        print_note(&format!("{} says: {}", made.program, made.said));
    }
    Ok(made.bytes)
}

/// The numbers of a figure.
fn table_of(figure: &RunFigure, format: TableFormat) -> Result<String> {
    let csv = figure.csv.as_ref().with_context(|| {
        format!(
            "`{}` draws packets: `tcplab export RUN/trials/CASE-NUMBER` writes their tables",
            figure.name
        )
    })?;
    match format {
        TableFormat::Csv => Ok(csv.clone()),
        TableFormat::Text => Ok(aligned(&csv_rows(csv))),
        TableFormat::Json => {
            let mut rows = csv_rows(csv).into_iter();
            let columns = rows.next().unwrap_or_default();
            let rows: Vec<Vec<Value>> =
                rows.map(|row| row.iter().map(|cell| value(cell)).collect()).collect();
            let RunFigure { name, title, .. } = figure;
            let whole = json!({ "figure": name, "title": title, "columns": columns, "rows": rows });
            in_document(&FIGURE_DOCUMENT, &whole)
        }
    }
}

/// A cell of a table: a number, or a text; nothing where it is empty.
fn value(cell: &str) -> Value {
    let number = || cell.parse::<f64>().ok().filter(|it| it.is_finite());
    match (cell, cell.parse::<i64>()) {
        ("", _) => Value::Null,
        (_, Ok(whole)) => json!(whole),
        _ => number().map_or_else(|| json!(cell), |number| json!(number)),
    }
}

/// Columns with two spaces between them, those of numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| visible_line(cell).into_owned()).collect())
        .collect();
    let columns = rows.first().map_or(0, Vec::len);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let width = |column: usize| cells(column).map(|it| it.chars().count()).max().unwrap_or(0);
    let is_number = |column: usize| cells(column).skip(1).all(|it| !value(it).is_string());
    let layout: Vec<(usize, bool)> = (0..columns).map(|it| (width(it), is_number(it))).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&layout).map(|(cell, (width, is_number))| {
            if *is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_and_numbers_are_numbers() {
        let csv = "name,\"time, s\",n\n\"a, b\",0.5,\n\u{1b}[2J,12.25,7\n".to_owned();
        let figure =
            RunFigure { name: "x".into(), title: "X".into(), svg: String::new(), csv: Some(csv) };
        let text = "name     time, s  n\na, b         0.5\n\\x1b[2J    12.25  7\n";
        assert_eq!(table_of(&figure, TableFormat::Text).unwrap(), text);
        let json = table_of(&figure, TableFormat::Json).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["columns"], json!(["name", "time, s", "n"]));
        assert_eq!(json["rows"], json!([["a, b", 0.5, null], ["\u{1b}[2J", 12.25, 7]]));
        let packets = RunFigure { csv: None, ..figure };
        let refusal = table_of(&packets, TableFormat::Text).unwrap_err().to_string();
        assert!(refusal.contains("tcplab export"), "{refusal}");
    }
}
