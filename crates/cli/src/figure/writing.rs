//! The file or the table of a figure.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tcplab_plot::Table;
use tcplab_quantities::FIGURE_DOCUMENT;
use tcplab_report::{RunFigure, figure_file, figure_pgf};
use tcplab_units::visible_line;

use crate::arguments::{FigureArguments, TableFormat};
use crate::converter::{Picture, converted};
use crate::output::{Output, commit, in_document};
use crate::remedied::Remedied;

/// What is in the file of a figure.
enum Content {
    Text(String),
    Picture(Picture),
}

/// Writes a figure to where `arguments` say, or prints its table.
///
/// # Errors
/// If it cannot be drawn in that format, or not be written.
pub(super) fn write(figure: &RunFigure, arguments: &FigureArguments) -> Result<()> {
    let place = arguments.output.as_deref().unwrap_or(Path::new(Output::STDOUT));
    let table = arguments.table;
    let content = content(figure, place, table)?;
    let mut output = Output::create(place)?;
    if output.is_terminal() && table.is_none() {
        bail!("cannot draw on a terminal: write a file with `-o FILE.svg`, or use --table");
    }
    match content {
        Content::Text(text) => output.write_all(text.as_bytes())?,
        Content::Picture(picture) => {
            output.write_all(&converted(&figure_file(&figure.svg), picture)?)?;
        }
    }
    commit(output, &figure.title)
}

/// What the ending of `place` asks for, unless it is a table.
fn content(figure: &RunFigure, place: &Path, table: Option<TableFormat>) -> Result<Content> {
    let ending = place.extension().map(|it| it.to_string_lossy().to_lowercase());
    if let (Some(format), Some(ending)) = (table, ending.as_deref()) {
        check_table(format, ending)?;
    }
    let text = match (table, ending.as_deref()) {
        (Some(format), _) => table_of(figure, format)?,
        _ if place == Path::new(Output::STDOUT) => figure_file(&figure.svg),
        (_, Some("svg")) => figure_file(&figure.svg),
        (_, Some("png")) => return Ok(Content::Picture(Picture::Png)),
        (_, Some("pdf")) => return Ok(Content::Picture(Picture::Pdf)),
        (_, Some("csv")) => table_of(figure, TableFormat::Csv)?,
        (_, Some("json")) => table_of(figure, TableFormat::Json)?,
        (_, Some("pgf" | "tex")) => figure_pgf(figure).with_context(|| {
            format!(
                "pgfplots cannot draw `{}`, only means, trials, distributions, box plots, bars, \
                 queues and plots over a number: write FILE.svg or FILE.pdf",
                figure.name
            )
        })?,
        _ => bail!(
            "cannot tell the format of {}: use FILE.svg, FILE.png, FILE.pdf, FILE.csv, FILE.json \
             or FILE.pgf",
            place.display()
        ),
    };
    Ok(Content::Text(text))
}

/// A file with the ending of another format would not be what its name says.
fn check_table(format: TableFormat, ending: &str) -> Result<()> {
    let name = match format {
        TableFormat::Text => "text",
        TableFormat::Csv => "csv",
        TableFormat::Json => "json",
    };
    match ending {
        "svg" | "png" | "pdf" | "pgf" | "tex" => Err(Remedied::error(
            format!("--table={name} prints numbers, and FILE.{ending} is a picture"),
            "leave out --table, or write to a file with another ending",
        )),
        "csv" | "json" if ending != name => Err(Remedied::error(
            format!("--table={name} is another format than that of FILE.{ending}"),
            format!("use --table={ending}, or leave out --table"),
        )),
        _ => Ok(()),
    }
}

/// The numbers of a figure.
fn table_of(figure: &RunFigure, format: TableFormat) -> Result<String> {
    let table = figure.table.as_ref().with_context(|| {
        format!(
            "`{}` draws packets: `tcplab export RUN/trials/CASE-NUMBER` writes their tables",
            figure.name
        )
    })?;
    match format {
        TableFormat::Csv => Ok(table.csv()),
        TableFormat::Text => Ok(aligned(table)),
        TableFormat::Json => {
            let mut rows = table.rows();
            let columns = rows.next().unwrap_or_default();
            let rows: Vec<Vec<Value>> =
                rows.map(|row| row.into_iter().map(value).collect()).collect();
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
fn aligned(table: &Table) -> String {
    let visible = |cell: &str| visible_line(cell).into_owned();
    let rows: Vec<Vec<String>> =
        table.rows().map(|row| row.into_iter().map(visible).collect()).collect();
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
    fn table_goes_to_no_file_of_another_format() {
        use TableFormat::{Csv, Json, Text};
        for (format, ending, is_good) in [
            (Csv, "svg", false),
            (Text, "pdf", false),
            (Json, "csv", false),
            (Text, "json", false),
            (Csv, "csv", true),
            (Json, "json", true),
            (Text, "txt", true),
            (Csv, "txt", true),
        ] {
            assert_eq!(check_table(format, ending).is_ok(), is_good, "{format:?} {ending}");
        }
    }

    #[test]
    fn tables_are_aligned_and_numbers_are_numbers() {
        let rows = [["=a, b", "0.5", ""], ["\u{1b}[2J", "12.25", "7"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        let table = Some(Table::new(&["name", "time, s", "n"], rows));
        let (name, title) = ("x".into(), "X".into());
        let figure = RunFigure { name, title, table, ..RunFigure::default() };
        let text = "name     time, s  n\n=a, b        0.5\n\\x1b[2J    12.25  7\n";
        assert_eq!(table_of(&figure, TableFormat::Text).unwrap(), text);
        let json = table_of(&figure, TableFormat::Json).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["columns"], json!(["name", "time, s", "n"]));
        assert_eq!(json["rows"], json!([["=a, b", 0.5, null], ["\u{1b}[2J", 12.25, 7]]));
        let csv = "name,\"time, s\",n\n\"'=a, b\",0.5,\n\u{1b}[2J,12.25,7\n";
        assert_eq!(table_of(&figure, TableFormat::Csv).unwrap(), csv);
        let packets = RunFigure { table: None, ..figure };
        let refusal = table_of(&packets, TableFormat::Text).unwrap_err().to_string();
        assert!(refusal.contains("tcplab export"), "{refusal}");
    }
}
