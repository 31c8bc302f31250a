//! `tcplab path plot`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tcplab_path::{Moment, Outage, Outlook, Wait};
use tcplab_plot::{PathPicture, Table, path_picture};
use tcplab_quantities::PATH_OUTLOOK_DOCUMENT;
use tcplab_report::figure_file;
use tcplab_scenario::PathFile;

use crate::arguments::{PathChoice, PlotArguments};
use crate::converter::{Picture, converted};
use crate::output::{Output, commit, in_document, write_file};
use crate::path_choice;

pub(crate) fn plot(arguments: &PlotArguments) -> Result<ExitCode> {
    let file = path_choice::find(&arguments.choice)?;
    let (span, outlooks) = tcplab_actions::outlooks(&file, arguments.duration, arguments.seed)?;
    if let Some(place) = &arguments.json.place {
        write_file(place, &as_json(&file, &outlooks, arguments.seed)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let title = title(&file, &arguments.choice);
    let [forward, reverse] = &noted(outlooks.clone(), &arguments.choice);
    let drawn = PathPicture { title: &title, forward, reverse };
    let name = arguments.output.as_deref().unwrap_or(Path::new(Output::STDOUT));
    let ending = name.extension().map(|it| it.to_string_lossy().to_lowercase());
    let is_svg = name == Path::new(Output::STDOUT) || ending.as_deref() == Some("svg");
    let bytes = match ending.as_deref() {
        _ if is_svg => plain(&drawn).into(),
        Some("png") => converted(&plain(&drawn), Picture::Png)?,
        Some("pdf") => converted(&plain(&drawn), Picture::Pdf)?,
        Some("csv") => as_csv(&outlooks).into(),
        Some("json") => as_json(&file, &outlooks, arguments.seed)?.into(),
        _ => bail!(
            "cannot tell the format of {}: use FILE.svg, FILE.png, FILE.pdf, FILE.csv or FILE.json",
            name.display()
        ),
    };
    let mut output = Output::create(name)?;
    if output.is_terminal() {
        bail!("cannot draw on a terminal: write a file with `-o FILE.svg`, or use --json");
    }
    output.write_all(&bytes)?;
    commit(output, &format!("{span} of the path"))?;
    Ok(ExitCode::SUCCESS)
}

/// The title of the path, with its overrides.
fn title(file: &PathFile, choice: &PathChoice) -> String {
    match &file.title {
        Some(title) if choice.set.is_empty() => title.clone(),
        Some(title) => format!("{title}; {}", choice.set.join(", ")),
        None if is_of_keys(choice) => "A path of the command line".into(),
        None => path_choice::description(choice),
    }
}

/// Whether it is made of keys of the command line alone.
fn is_of_keys(choice: &PathChoice) -> bool {
    choice.path == "-" && !choice.set.is_empty()
}

/// With these keys as a note.
fn noted(mut outlooks: [Outlook; 2], choice: &PathChoice) -> [Outlook; 2] {
    if is_of_keys(choice) {
        for outlook in &mut outlooks {
            outlook.notes.insert(0, choice.set.join(", "));
        }
    }
    outlooks
}

/// The picture in plain colours and fonts, without a style sheet, which few programs but browsers
/// know.
fn plain(drawn: &PathPicture<'_>) -> String {
    figure_file(&path_picture(drawn))
}

/// A row for each time at which a direction changes; nothing where a rate is not limited.
fn as_csv(outlooks: &[Outlook; 2]) -> String {
    let columns = [
        "direction",
        "at_ns",
        "rate_bits_per_second",
        "left_bits_per_second",
        "delay_ns",
        "delay_1_percent_ns",
        "delay_99_percent_ns",
        "queue_ns",
        "loss",
    ];
    let ways = ["forward", "reverse"].into_iter().zip(outlooks);
    let rows = ways.flat_map(|(way, outlook)| {
        outlook.moments.iter().map(move |moment| {
            let cells = moment_cells(moment);
            let cells = cells.map(|cell| cell.map_or_else(String::new, |it| it.to_string()));
            [vec![way.to_owned()], cells.to_vec(), vec![moment.loss.to_string()]].concat()
        })
    });
    Table::new(&columns, rows).csv()
}

fn moment_cells(moment: &Moment) -> [Option<u64>; 7] {
    let Moment { at, rate, left, delay, least, most, queue, loss: _ } = moment;
    [
        Some(at.as_nanos()),
        rate.map(tcplab_units::Rate::bits_per_second),
        left.map(tcplab_units::Rate::bits_per_second),
        Some(delay.as_nanos()),
        Some(least.as_nanos()),
        Some(most.as_nanos()),
        queue.map(tcplab_units::Span::as_nanos),
    ]
}

fn as_json(file: &PathFile, outlooks: &[Outlook; 2], seed: u64) -> Result<String> {
    let [forward, reverse] = outlooks;
    let shown = json!({
        "name": file.name,
        "title": file.title,
        "seed": seed,
        "until_ns": forward.until,
        "forward": outlook(forward),
        "reverse": outlook(reverse),
    });
    in_document(&PATH_OUTLOOK_DOCUMENT, &shown)
}

fn outlook(outlook: &Outlook) -> Value {
    let Outlook { moments, wait, loss, outages, notes, .. } = outlook;
    json!({
        // Kept for those who read it: rates are means.
        "rate_is_at_most": false,
        "queue_is_at_target": *wait == Wait::Target,
        "loss": loss,
        "outages": outages.iter().map(outage).collect::<Vec<_>>(),
        "notes": notes,
        "moments": moments.iter().map(moment).collect::<Vec<_>>(),
    })
}

fn outage(outage: &Outage) -> Value {
    json!({ "from_ns": outage.from, "until_ns": outage.until })
}

fn moment(moment: &Moment) -> Value {
    let Moment { at, rate, left, delay, least, most, queue, loss } = moment;
    json!({
        "at_ns": at,
        "rate_bits_per_second": rate.map(tcplab_units::Rate::bits_per_second),
        "left_bits_per_second": left.map(tcplab_units::Rate::bits_per_second),
        "delay_ns": delay.as_nanos(),
        "delay_1_percent_ns": least.as_nanos(),
        "delay_99_percent_ns": most.as_nanos(),
        "queue_ns": queue.map(tcplab_units::Span::as_nanos),
        "loss": loss,
    })
}
