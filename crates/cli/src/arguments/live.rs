//! `--live`.

use clap::{Args, ValueEnum};

/// How to show what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveMode {
    /// Fill the terminal; `?` lists the keys
    Screen,
    /// Print a line a second to standard error
    Plain,
}

/// How to show traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineMode {
    /// One line that changes, on a terminal; else as `plain`
    Line,
    /// Print a line a second
    Plain,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct LiveChoice {
    /// Show what happens while it happens [default: on the whole screen]
    ///
    /// Without a terminal on standard error, or with TERM=dumb, `plain` it is.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "screen")]
    pub(crate) live: Option<LiveMode>,
}
