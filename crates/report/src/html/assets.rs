//! The style sheets and scripts of all pages.

/// The style sheets, for another page that is to look like a report.
pub const STYLES: [&str; 6] = [
    tcplab_plot::STYLE,
    include_str!("../../assets/page.css"),
    include_str!("../../assets/tables.css"),
    include_str!("../../assets/graphs.css"),
    include_str!("../../assets/verdicts.css"),
    include_str!("../../assets/packets.css"),
];
/// Runs before the first paint.
pub(crate) const THEME: &str = include_str!("../../assets/theme.js");
pub(crate) const SCRIPTS: [&str; 6] = [
    include_str!("../../assets/levels.js"),
    include_str!("../../assets/graph.js"),
    include_str!("../../assets/group.js"),
    include_str!("../../assets/export.js"),
    include_str!("../../assets/packets.js"),
    include_str!("../../assets/page.js"),
];
