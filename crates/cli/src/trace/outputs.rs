//! How answers look.

use tcplab_report::trace::Look;

use crate::output::columns;

/// The narrowest and widest layout, columns.
const WIDTHS: [usize; 2] = [60, 160];

/// The width is that of what shows it, or the default.
pub(crate) fn look(colours: bool) -> Look {
    let usual = Look::default().width;
    let [least, most] = WIDTHS;
    let width = columns().unwrap_or(usual).clamp(least, most);
    Look { width, colours }
}
