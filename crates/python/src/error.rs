//! Errors as Python's exceptions, with the words of the command.

use std::fmt::Display;

use anyhow::Error;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ThemeStyles};
use pyo3::PyErr;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tcplab_capture::ReadError;
use tcplab_lab::compare::CompareError;
use tcplab_lab::{LabError, packets_again};
use tcplab_recording::{RUNS_FLAG, RecordingError};
use tcplab_testbed::TrialError;

mod exceptions {
    use pyo3::create_exception;
    use pyo3::exceptions::PyException;

    create_exception!(tcplab, TcplabError, PyException, "Something that tcplab cannot do.");
    create_exception!(tcplab, ScenarioError, TcplabError, "A scenario that cannot run.");
}
pub(crate) use exceptions::{ScenarioError, TcplabError};

/// An exception with these words.
pub(crate) fn failed(what: impl Display) -> PyErr {
    TcplabError::new_err(what.to_string())
}

/// As the command prints it: the causes after it, and what to do about it.
pub(crate) fn exception(error: &Error) -> PyErr {
    let scenario = error.chain().find_map(<dyn std::error::Error>::downcast_ref);
    if let Some(scenario) = scenario {
        return of_scenario(scenario);
    }
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Some errors quote their cause themselves.
        if !words.contains(&cause) {
            words += if words.is_empty() { "" } else { ": " };
            words += &cause;
        }
    }
    if let Some(remedy) = remedy(error) {
        words += &format!("\n  try: {}", in_python(&remedy));
    }
    failed(words)
}

/// What can be done about it, in the words of the command.
fn remedy(error: &Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let of_lab = || cause.downcast_ref().and_then(LabError::remedy);
        let of_compare = || cause.downcast_ref().and_then(CompareError::remedy);
        let of_trial = || cause.downcast_ref().and_then(TrialError::remedy);
        let within = || match cause.downcast_ref()? {
            LabError::Recording(error) => Some(error),
            _ => None,
        };
        let of_recording = || match cause.downcast_ref().or_else(within)? {
            RecordingError::NoPackets { path } => packets_again(path),
            other => other.remedy(RUNS_FLAG),
        };
        let of_capture = || cause.downcast_ref().and_then(ReadError::remedy).map(str::to_owned);
        of_lab().or_else(of_compare).or_else(of_capture).or_else(of_trial).or_else(of_recording)
    })
}

/// Options of commands, in their backticks, as the arguments that the package has for them.
///
/// `--by path.loss --levels A,B` becomes `by="path.loss", levels=("A", "B")`.
fn in_python(remedy: &str) -> String {
    let spans = remedy.split('`').enumerate();
    let spans =
        spans.map(|(place, span)| match span.strip_prefix("--").filter(|_| place % 2 == 1) {
            Some(options) => options.split(" --").map(argument).collect::<Vec<_>>().join(", "),
            None => span.to_owned(),
        });
    spans.collect::<Vec<_>>().join("`")
}

/// An option, without its dashes, as an argument; one that the package does not have stays.
fn argument(option: &str) -> String {
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    let name = match name {
        "by" | "kernel" | "levels" | "world" => name,
        "runs" => "directory",
        _ => return format!("--{option}"),
    };
    match (name, value.split_once(',')) {
        ("levels", Some((first, second))) => format!("levels=(\"{first}\", \"{second}\")"),
        _ if value.is_empty() => name.to_owned(),
        _ => format!("{name}=\"{value}\""),
    }
}

/// With the line of each mistake, and the file's text below it.
fn of_scenario(error: &tcplab_scenario::ScenarioError) -> PyErr {
    let all = std::iter::once(error).chain(error.others());
    let text = all.map(in_its_source).collect::<Vec<_>>().join("\n\n");
    let exception = ScenarioError::new_err(text);
    let others: Vec<(usize, String)> =
        error.others().iter().map(|other| (other.line(), other.to_string())).collect();
    let remedy = Diagnostic::help(error).map(|help| help.to_string());
    let told = Python::attach(|py| {
        let value = exception.value(py);
        value.setattr("line", error.line())?;
        value.setattr("remedy", remedy)?;
        value.setattr("others", PyList::new(py, others)?)
    });
    told.err().unwrap_or(exception)
}

fn in_its_source(error: &tcplab_scenario::ScenarioError) -> String {
    let theme = GraphicalTheme { styles: ThemeStyles::none(), ..GraphicalTheme::default() };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    match handler.render_report(&mut text, error) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => error.to_string(),
    }
}
