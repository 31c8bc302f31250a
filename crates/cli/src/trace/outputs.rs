//! How answers look.

use std::env;
use std::io::{self, IsTerminal};

use tcplab_report::trace::Look;
use terminal_size::Width;

/// The narrowest and widest layout, columns.
const WIDTHS: [usize; 2] = [60, 160];

/// The width is COLUMNS, the terminal's or the default; colours only on a terminal without
/// NO_COLOR.
pub(super) fn look() -> Look {
    let usual = Look::default().width;
    let configured = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(Width(w), _)| w.into());
    let [least, most] = WIDTHS;
    let width = configured.or_else(seen).unwrap_or(usual).clamp(least, most);
    let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Look { width, colours: io::stdout().is_terminal() && !plain }
}
