//! How answers look, and the files that are written beside them.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result};
use tcplab_report::trace::Look;
use terminal_size::Width;

use crate::export::beside;

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

/// Written beside and renamed, so that a file of this name is whole; devices and pipes take it as
/// it is.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    let named = || format!("cannot write {}", path.display());
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return fs::write(path, text).with_context(named);
    }
    let beside = beside(path);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written
        .inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })
        .with_context(named)
}
