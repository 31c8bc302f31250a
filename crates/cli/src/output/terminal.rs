//! The only place that writes to standard output and standard error (`xtask tidy`).
//!
//! Texts may contain what others wrote: comments of captures, names in files, answers of servers.
//! So control characters are shown as such ([`visible`]). What steers the terminal (colours, the
//! changing line, the bar) is made by tcplab alone and added behind that.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd as AsStream;
#[cfg(windows)]
use std::os::windows::io::AsHandle as AsStream;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tcplab_report::coloured;
use tcplab_units::visible;
use terminal_size::Width;

/// Moves to the begin of the line and clears it (ECMA-48: CR, EL).
const CLEAR_LINE: &str = "\r\x1b[K";

/// How often a bar that shows the time is drawn.
const TICK: Duration = Duration::from_millis(250);

/// Prints a text on standard output.
///
/// # Errors
/// If standard output fails: the pipe is closed, the disk is full.
pub(super) fn print(text: &str) -> io::Result<()> {
    send(io::stdout().lock(), &visible(text))
}

/// Prints a text with colours if standard output is a terminal: `text(true)` is `text(false)` with
/// colours.
///
/// # Errors
/// As [`print`].
pub(super) fn print_coloured(text: impl Fn(bool) -> String) -> io::Result<()> {
    send(io::stdout().lock(), &coloured(text, has_colours(&io::stdout())))
}

/// Prints a line to standard error; ignores failures.
pub(crate) fn print_note(line: &str) {
    print_coloured_note(|_| line.into());
}

/// Prints a line to standard error where that is not to be `quiet`.
pub(crate) fn print_note_unless(quiet: bool, line: &str) {
    if !quiet {
        print_note(line);
    }
}

/// Prints a line with colours to standard error if that is a terminal, as [`print_coloured`].
pub(crate) fn print_coloured_note(line: impl Fn(bool) -> String) {
    let line = coloured(line, has_colours(&io::stderr()));
    let _ = send(io::stderr().lock(), &(line + "\n"));
}

fn send(mut to: impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

/// Standard output for data, which is not altered beyond its format.
pub(super) fn stdout_for_data() -> io::Result<File> {
    duplicate(&io::stdout())
}

/// Standard error for a view that fills the screen.
pub(crate) fn output_for_screen() -> io::Result<File> {
    duplicate(&io::stderr())
}

fn duplicate(stream: &impl AsStream) -> io::Result<File> {
    #[cfg(unix)]
    let stream = stream.as_fd();
    #[cfg(windows)]
    let stream = stream.as_handle();
    Ok(stream.try_clone_to_owned()?.into())
}

/// Whether notes are seen on a terminal.
pub(crate) fn has_seen_notes() -> bool {
    io::stderr().is_terminal()
}

/// Columns of the terminal that shows notes.
pub(crate) fn note_columns() -> Option<usize> {
    columns_of(io::stderr())
}

/// Columns of what shows standard output: `COLUMNS`, else those of its terminal.
pub(crate) fn columns() -> Option<usize> {
    let set = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    set.or_else(|| columns_of(io::stdout()))
}

/// As [`columns`], where a terminal shows standard output.
pub(crate) fn screen_columns() -> Option<usize> {
    columns().filter(|_| io::stdout().is_terminal())
}

fn columns_of(stream: impl AsStream) -> Option<usize> {
    terminal_size::terminal_size_of(stream).map(|(Width(columns), _)| columns.into())
}

/// Colours are for terminals that have them, without NO_COLOR (<https://no-color.org>).
fn has_colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && may_have_colours(|name| env::var_os(name))
}

/// The name of terminals that know no control sequences (term(7)).
const DUMB: &str = "dumb";

/// Whether the terminal knows no control sequences.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == DUMB)
}

/// Whether nothing in the environment says that there are none.
fn may_have_colours(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_dumb = variable("TERM").is_some_and(|term| term == DUMB);
    !is_dumb && variable("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A line on standard error that changes: in its place on a terminal, elsewhere a line each time.
pub(crate) struct LiveLine {
    is_terminal: bool,
}

impl LiveLine {
    pub(crate) fn new() -> LiveLine {
        LiveLine { is_terminal: has_seen_notes() }
    }

    /// A line after the other, also on a terminal.
    pub(crate) fn plain() -> LiveLine {
        LiveLine { is_terminal: false }
    }

    pub(crate) fn show(&self, line: &str) {
        if self.is_terminal {
            let _ = send(io::stderr().lock(), &format!("{CLEAR_LINE}{}", visible(line)));
        } else {
            print_note(line);
        }
    }

    /// Erases the line on a terminal.
    pub(crate) fn clear(&self) {
        if self.is_terminal {
            let _ = send(io::stderr().lock(), CLEAR_LINE);
        }
    }
}

/// Draws a bar until it is finished or dropped. Where no thread can be made, where indicatif's own
/// steady tick would panic, it is drawn only when it changes.
fn draw_steadily(bar: &ProgressBar) {
    let shown = bar.downgrade();
    let draw = move || {
        while let Some(bar) = shown.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            thread::sleep(TICK);
        }
    };
    let _ = thread::Builder::new().spawn(draw);
}

/// A bar on standard error; nothing where that is no terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar of this length with indicatif's template.
    pub(crate) fn new(length: Option<u64>, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(template).expect("the template is well-formed");
        bar.set_style(style.progress_chars("━━─"));
        Bar(bar)
    }

    /// A bar with `{left}` in its template, which is asked for each time it is drawn: often enough
    /// to go on while nothing happens.
    pub(crate) fn with_time_left(
        length: u64,
        template: &str,
        left: impl Fn() -> String + Clone + Send + Sync + 'static,
    ) -> Bar {
        let Bar(bar) = Bar::new(Some(length), template);
        let text = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&left());
        };
        bar.set_style(bar.style().with_key("left", text));
        if has_seen_notes() {
            draw_steadily(&bar);
        }
        Bar(bar)
    }

    /// A bar that is not shown.
    pub(crate) fn hidden() -> Bar {
        Bar(ProgressBar::hidden())
    }

    pub(crate) fn set_length(&self, length: u64) {
        self.0.set_length(length);
    }

    pub(crate) fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }

    pub(crate) fn set_message(&self, text: &str) {
        self.0.set_message(visible(text).into_owned());
    }

    /// How far it is.
    pub(crate) fn position(&self) -> u64 {
        self.0.position()
    }

    /// Prints a line above the bar.
    pub(crate) fn print_above(&self, line: &str) {
        self.0.suspend(|| print_note(line));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_can_say_that_there_are_no_colours() {
        for (term, no_color, expected) in [
            (Some("xterm-256color"), None, true),
            (Some("xterm"), Some(""), true),
            (None, None, true),
            (Some("dumb"), None, false),
            (Some("xterm"), Some("1"), false),
        ] {
            let found = may_have_colours(|name| {
                if name == "TERM" { term.map(Into::into) } else { no_color.map(Into::into) }
            });
            assert_eq!(found, expected, "{term:?} {no_color:?}");
        }
    }
}
