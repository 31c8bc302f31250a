//! Errors as Python's exceptions, with the words of the command.

use std::fmt::Display;

use anyhow::Error;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ThemeStyles};
use pyo3::PyErr;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tcplab_lab::LabError;

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
    let lab = error.chain().find_map(<dyn std::error::Error>::downcast_ref::<LabError>);
    if let Some(remedy) = lab.and_then(LabError::remedy) {
        words += &format!("\n  try: {remedy}");
    }
    failed(words)
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
