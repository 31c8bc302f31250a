//! How answers look.

use std::env;

use tcplab_report::trace::Look;

use crate::output::columns;

/// The narrowest and widest layout, columns.
const WIDTHS: [usize; 2] = [60, 160];

/// The width is COLUMNS, the terminal's or the default.
pub(crate) fn look(colours: bool) -> Look {
    let usual = Look::default().width;
    let configured = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let [least, most] = WIDTHS;
    let width = configured.or_else(columns).unwrap_or(usual).clamp(least, most);
    Look { width, colours }
}
