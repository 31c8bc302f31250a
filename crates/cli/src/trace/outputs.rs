//! How answers look.

use std::env;
use std::io::{self, IsTerminal};

use tcplab_report::trace::Look;
use terminal_size::Width;

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
