//! Prints errors with their remedies.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use anyhow::Error;
use miette::{GraphicalReportHandler, GraphicalTheme, ThemeStyles};
use tcplab_capture::ReadError;
#[cfg(target_os = "linux")]
use tcplab_kernels::BuildError;
use tcplab_kernels::CacheError;
use tcplab_lab::bisect::BisectError;
use tcplab_lab::compare::CompareError;
use tcplab_lab::{LabError, ShellError};
#[cfg(target_os = "linux")]
use tcplab_load::{LoadError, TargetError};
use tcplab_recording::{RUNS_FLAG, RecordingError, readable_again};
use tcplab_results::verification::AboveCeiling;
use tcplab_scenario::ScenarioError;
#[cfg(target_os = "linux")]
use tcplab_servers::ServeError;
use tcplab_testbed::TrialError;
use tcplab_ui::UiError;
use tcplab_units::MORE_DESCRIPTORS;

use crate::exit::ERROR;
use crate::mistaken;
use crate::output::{
    UNHEARD, Unwritten, answer_coloured, note_columns, print_coloured_note, print_note, remedy_of,
};
use crate::packets_gone;
use crate::remedied::Remedied;

/// Prints an error with its source line or remedy, if it has one.
pub(crate) fn print_error(error: &Error) -> ExitCode {
    if is_unread(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(scenario) = scenario_error(error) {
        print_coloured_note(|colours| in_their_source(scenario, colours));
        return ExitCode::from(ERROR);
    }
    let is_stop = error.chain().any(|cause| {
        cause.downcast_ref::<LabError>().is_some_and(LabError::is_stop)
            || matches!(cause.downcast_ref::<TrialError>(), Some(TrialError::Stopped))
    });
    let head = if is_stop { "" } else { "error: " };
    let said = unwritten(error).map_or_else(|| chain(error), ToString::to_string);
    print_note(&format!("{head}{said}"));
    let remedy = packets_gone::remedy(error)
        .or_else(|| mistaken::other_command(error, &said))
        .or_else(|| remedy(error, &said))
        .or_else(|| mistaken::remedy(error, &said));
    if let Some(remedy) = remedy {
        print_note(&format!("  try: {remedy}"));
    }
    ExitCode::from(ERROR)
}

/// All mistakes of a file, and how many there are.
fn in_their_source(error: &ScenarioError, colours: bool) -> String {
    let (others, unshown) = (error.others(), error.unshown());
    let all = std::iter::once(error).chain(others);
    let mut text = all.map(|error| in_its_source(error, colours)).collect::<Vec<_>>().join("\n\n");
    let perhaps = if error.are_all_counted() { "" } else { ", and perhaps more" };
    if unshown > 0 {
        text += &format!("\n\nand {unshown} more mistakes{perhaps}");
    } else if !others.is_empty() {
        text += &format!("\n\n{} mistakes{perhaps}", others.len() + 1);
    }
    text
}

/// Prints what clap has to say of the command line: help to standard output, a mistake to standard
/// error. The exit code is clap's: 0 for help, 2 for mistakes.
pub(crate) fn print_usage(said: &clap::Error) -> ExitCode {
    let text = said.render();
    let text = |colours| {
        with_plain_numbers(&if colours { text.ansi().to_string() } else { text.to_string() })
    };
    if said.use_stderr() {
        print_coloured_note(|colours| text(colours).trim_end().to_owned());
        return ExitCode::from(ERROR);
    }
    // Nobody need read help to its end; a full disk is an error.
    match answer_coloured(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => print_error(&error),
    }
}

/// Rewrites what is Rust in a message about a number: `0 is not in 1..=99999`.
fn with_plain_numbers(text: &str) -> String {
    let text = text
        .replace("invalid digit found in string", "not a whole number of 0 or more")
        .replace("invalid float literal", "not a number");
    let Some((before, range)) = text.split_once(" is not in ") else { return text };
    let (range, after) = range.split_at(range.find(char::is_whitespace).unwrap_or(range.len()));
    let Some((least, most)) = range.split_once("..") else { return text };
    let number = |text: &str| text.trim_start_matches('=').parse::<i128>().ok();
    let given = before.rsplit(' ').next().and_then(number);
    let is_too_large = given.zip(number(most)).is_some_and(|(given, most)| given > most);
    let plain = match most.trim_start_matches('=') {
        // The largest number that there is.
        "" | "18446744073709551615" | "4294967295" if !is_too_large => {
            format!("use {least} or more")
        }
        most => format!("use {least} to {most}"),
    };
    format!("{before} is out of range: {plain}{after}")
}

/// Columns of an error that no terminal shows.
const WIDEST: usize = 200;

/// The error below the line of the file that has it.
fn in_its_source(error: &ScenarioError, colours: bool) -> String {
    let mut theme = GraphicalTheme::default();
    if !colours {
        theme.styles = ThemeStyles::none();
    }
    let mut text = String::new();
    let width = note_columns().unwrap_or(WIDEST);
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(width);
    match handler.render_report(&mut text, error) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => format!("error: {error}"),
    }
}

/// Whether who read standard output, or another output that is a pipe, has enough, as `head` does.
fn is_unread(error: &Error) -> bool {
    let is_answer = error.to_string().starts_with(UNHEARD);
    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        let closed = cause.downcast_ref::<io::Error>();
        let closed = closed.filter(|it| it.kind() == ErrorKind::BrokenPipe);
        let is_output = |it: &io::Error| {
            it.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Unwritten>)
        };
        closed.is_some_and(|it| is_answer || is_output(it))
    };
    error.chain().any(is_closed)
}

/// The error and its causes, without repetition: most messages contain their cause's.
fn chain(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            if !text.is_empty() {
                text += ": ";
            }
            text += &cause;
        }
    }
    text
}

fn scenario_error(error: &Error) -> Option<&ScenarioError> {
    if let Some(scenario) = error.downcast_ref::<ScenarioError>() {
        return Some(scenario);
    }
    match error.downcast_ref::<LabError>() {
        Some(LabError::Scenario(scenario)) => Some(scenario),
        _ => None,
    }
}

fn remedy(error: &Error, said: &str) -> Option<String> {
    if let Some(unwritten) = unwritten(error) {
        return unwritten.remedy().map(str::to_owned);
    }
    if error.to_string().starts_with(UNHEARD) {
        let refusal = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>())?;
        return remedy_of(refusal.kind()).map(str::to_owned);
    }
    let own = error.chain().find_map(|cause| cause.downcast_ref::<Remedied>());
    own.map(Remedied::remedy)
        .or_else(|| instead_of_no_run(error))
        .or_else(|| error.downcast_ref::<LabError>().and_then(LabError::remedy))
        .or_else(|| error.downcast_ref::<ShellError>().and_then(ShellError::remedy))
        .or_else(|| error.downcast_ref::<BisectError>().and_then(BisectError::remedy))
        .or_else(|| error.downcast_ref::<CompareError>().and_then(CompareError::remedy))
        .or_else(|| error.downcast_ref::<TrialError>().and_then(TrialError::remedy))
        .or_else(|| of_linux(error))
        .or_else(|| error.downcast_ref::<UiError>().and_then(UiError::remedy).map(str::to_owned))
        .or_else(|| error.downcast_ref::<CacheError>().and_then(CacheError::remedy))
        .or_else(|| {
            error.downcast_ref::<RecordingError>().and_then(|error| error.remedy(RUNS_FLAG))
        })
        .or_else(|| of_capture(error))
        .or_else(|| error.downcast_ref::<AboveCeiling>().map(AboveCeiling::remedy))
        .or_else(|| said.contains(TOO_MANY_FILES).then(|| MORE_DESCRIPTORS.into()))
}

/// What helps where a capture may not be read.
fn of_capture(error: &Error) -> Option<String> {
    let unread = error.chain().find_map(|cause| cause.downcast_ref::<ReadError>());
    match unread? {
        ReadError::Open { path, source } => readable_again(path, source),
        _ => None,
    }
}

/// What to pass where a place is no run directory, of commands that do not take the newest run.
fn instead_of_no_run(error: &Error) -> Option<String> {
    let is_no_run = matches!(error.downcast_ref(), Some(LabError::NotARun { .. }));
    (is_no_run && !mistaken::takes_newest_run())
        .then(|| "pass a run directory (RUNS/<name>/<time>-<hash>)".into())
}

/// Of commands for Linux alone.
#[cfg(target_os = "linux")]
fn of_linux(error: &Error) -> Option<String> {
    error
        .downcast_ref::<ServeError>()
        .and_then(ServeError::remedy)
        .or_else(|| error.downcast_ref::<LoadError>().and_then(LoadError::remedy))
        .or_else(|| {
            let target = error.downcast_ref::<TargetError>();
            target.and_then(TargetError::remedy).map(str::to_owned)
        })
        .or_else(|| error.downcast_ref::<BuildError>().and_then(BuildError::remedy))
}

#[cfg(not(target_os = "linux"))]
fn of_linux(_: &Error) -> Option<String> {
    None
}

/// The end of the error where a process has all descriptors that it may have (EMFILE), as the
/// standard library says it.
const TOO_MANY_FILES: &str = "(os error 24)";

/// An output that could not be written, if the error is about one: it says all.
fn unwritten(error: &Error) -> Option<&Unwritten> {
    error.chain().find_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>()?.get_ref()?;
        inner.downcast_ref()
    })
}
