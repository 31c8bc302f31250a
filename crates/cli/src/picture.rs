//! `tcplab path plot`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tcplab_path::{Direction, LinkPlan, Moment, Outage, Outlook};
use tcplab_plot::{PathPicture, path_svg};
use tcplab_scenario::PathFile;
use tcplab_units::{Instant, Span};

use crate::arguments::{PathChoice, PlotArguments};
use crate::output::{Output, tell};
use crate::paths;

/// What `--for` takes: below, a packet's own time counts; beyond, nothing is seen.
const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_secs(60 * 60);
/// What is drawn by default.
const USUAL: [Span; 2] = [Span::from_secs(10), Span::from_secs(120)];
/// About two for each pixel.
const POINTS: usize = 1_600;

pub(crate) fn plot(arguments: &PlotArguments) -> Result<ExitCode> {
    let file = paths::find(&arguments.choice)?;
    let links = [file.path.link(Direction::Forward)?, file.path.link(Direction::Reverse)?];
    let span = match arguments.span {
        Some(span) if (SHORTEST..=LONGEST).contains(&span) => span,
        Some(span) => bail!("a picture of {span} shows nothing: give --for 1 ms to 1 h"),
        None => {
            let [least, most] = USUAL;
            links.iter().map(LinkPlan::time_to_show).fold(least, Span::max).min(most)
        }
    };
    let until = Instant::ZERO + span;
    let outlooks = links.map(|link| link.outlook(until, arguments.seed, POINTS));
    let text = if arguments.json {
        as_json(&file, &outlooks, arguments.seed)? + "\n"
    } else {
        let [forward, reverse] = &outlooks;
        path_svg(&PathPicture { title: &title(&file, &arguments.choice), forward, reverse })
    };
    let name = arguments.output.as_deref().unwrap_or(Path::new(Output::STDOUT));
    let mut output = Output::create(name)?;
    if !arguments.json && output.is_terminal() {
        bail!("a picture is not for terminals: name a file with `-o FILE.svg`, or use --json");
    }
    output.write_all(text.as_bytes())?;
    if let Some(file) = output.commit()? {
        tell(&format!("{}: {span} of the path", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What it is, and what is different about it.
fn title(file: &PathFile, choice: &PathChoice) -> String {
    match &file.title {
        Some(title) if choice.set.is_empty() => title.clone(),
        Some(title) => format!("{title}; {}", choice.set.join(", ")),
        None => paths::description(choice),
    }
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
    Ok(serde_json::to_string_pretty(&shown)?)
}

fn outlook(outlook: &Outlook) -> Value {
    let Outlook { moments, is_managed, is_at_most, loss, outages, notes, until: _ } = outlook;
    json!({
        "rate_is_at_most": is_at_most,
        "queue_is_at_target": is_managed,
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
    let Moment { at, rate, left, delay, least, most, queue } = moment;
    json!({
        "at_ns": at,
        "rate_bits_per_second": rate.map(tcplab_units::Rate::bits_per_second),
        "left_bits_per_second": left.map(tcplab_units::Rate::bits_per_second),
        "delay_ns": delay.as_nanos(),
        "delay_1_percent_ns": least.as_nanos(),
        "delay_99_percent_ns": most.as_nanos(),
        "queue_ns": queue.map(tcplab_units::Span::as_nanos),
    })
}
