//! Graphs as SVG text: time-sequence, window, rate, ladder, state diagram, strips, panes of these,
//! trends over a number that was varied, and what a path will do.
//!
//! Everything drawn is complete without scripts. Colours are CSS variables of [`STYLE`], so a
//! page decides about dark mode and print; layers are `<path>`s with a class each, so a page can
//! zoom, hide and read them.

mod bars;
mod chart;
mod coverage;
mod dots;
mod forest;
mod frame;
mod ladder;
mod overlay;
mod pane;
mod path_data;
mod path_picture;
mod plane;
mod round_trips;
mod scale;
mod series;
mod state_diagram;
mod strip;
mod svg;
mod time_sequence;
mod trend;
pub mod xpl;

pub use bars::{Bar, Bars, bars};
pub use chart::{Chart, chart};
pub use dots::{Dots, dots};
pub use forest::{ForestRow, forest};
pub use ladder::{LadderScene, ladder, ladder_svg};
pub use overlay::{Laid, overlay};
pub use pane::{Pane, pane};
pub use path_picture::{PathPicture, path_picture, path_svg};
pub use plane::{Band, Figure, Key, Plane, View};
pub use scale::{decimal, grouped, spoken};
pub use series::{Series, advertised_window, delivered_rate, in_flight, round_trips, sent_rate};
pub use state_diagram::{StateDiagram, state_diagram, state_diagram_svg};
pub use strip::{StripScale, strip, strip_axis};
pub use svg::escape;
pub use time_sequence::time_sequence;
pub use trend::{Trend, TrendLine, TrendPoint, TrendScale, trend};

/// The style sheet of everything drawn here.
pub const STYLE: &str = include_str!("../assets/plot.css");

#[cfg(test)]
mod tests;
