//! How answers look, and the files that are written beside them.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use tcplab_report::trace::Look;
use terminal_size::Width;

use crate::output::Output;

/// Below this nothing can be laid out, above nobody reads a line.
const WIDTHS: [usize; 2] = [60, 160];

/// As wide as the terminal, or what COLUMNS says, or the house's usual width; in colours on a
/// terminal, unless NO_COLOR is set.
pub(super) fn look() -> Look {
    let usual = Look::default().width;
    let told = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(Width(w), _)| w.into());
    let [least, most] = WIDTHS;
    let width = told.or_else(seen).unwrap_or(usual).clamp(least, most);
    let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Look { width, colours: io::stdout().is_terminal() && !plain }
}

/// A file of this name is whole; devices and pipes take it as it is.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    output.commit()?;
    Ok(())
}
