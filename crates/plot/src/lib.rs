//! Graphs as SVG text: time-sequence, window, rate, lengths of segments, RTT, ladder,
//! state diagram, strips, panes of these, packets as bytes, trends over a number that was varied,
//! one metric against another, and what a path will do; of many trials heat maps, distributions,
//! every trial as a dot, box plots and bars.
//!
//! Everything drawn is complete without scripts. Colours are CSS variables of [`STYLE`], so a
//! page decides about dark mode and print; layers are `<path>`s with a class each, so a page can
//! zoom, hide and read them.

mod axis;
mod bars;
mod boxes;
mod chart;
mod clip;
mod coverage;
mod dots;
mod drawn;
mod ecdf;
mod forest;
mod frame;
mod heat;
mod keys;
mod ladder;
mod legend;
mod letters;
mod line_style;
mod looks;
mod mean_bars;
mod overlay;
mod packet_bytes;
mod pane;
mod pareto;
mod path_data;
mod path_picture;
mod pgf;
mod picture;
mod plane;
mod points;
mod pyramid;
mod round_trips;
mod rows;
mod scale;
mod segment_layers;
mod segment_lengths;
mod series;
mod spread;
mod stacked;
mod state_diagram;
mod strip;
mod svg;
mod table;
mod time_sequence;
mod titled;
mod trend;
mod trips;
mod view;
pub mod xpl;

pub use bars::{Bar, Bars, bars};
pub use boxes::{BoxRow, BoxShape};
pub use chart::{Chart, Marks, chart, marked_chart};
pub use dots::{Dots, dots};
pub use drawn::Drawn;
pub use ecdf::EcdfLine;
pub use forest::{ForestRow, forest};
pub use heat::{Heat, heat};
pub use ladder::{LadderScene, ladder, ladder_svg};
pub use looks::{AxisLooks, COLOURS, Colour, ColourError, Looks};
pub use mean_bars::BarRow;
pub use overlay::{OverlaidFlow, overlay};
pub use packet_bytes::packet_bytes;
pub use pane::{Pane, pane};
pub use pareto::{Estimate, Pareto, ParetoAxis, ParetoPoint, front, pareto};
pub use path_picture::{PathPicture, path_picture, path_svg, small_path_picture};
pub use pgf::chart_pgf;
pub use picture::{AxisKind, Content, Picture};
pub use plane::{Figure, Key, Plane};
pub use pyramid::{LayerLevels, Level, Tile};
pub use round_trips::{RoundTrip, RttKind, round_trips};
pub use segment_lengths::segment_lengths;
pub use series::{
    Averaging, Series, advertised_window, delivered_amounts, delivered_rate, in_flight,
    sent_amounts, sent_rate,
};
pub use spread::SpreadRow;
pub use stacked::stacked;
pub use state_diagram::{StateDiagram, state_diagram};
pub use strip::{StripScale, strip, strip_axis};
pub use svg::escape;
pub use table::{Table, number_cell};
pub use time_sequence::time_sequence;
pub use titled::titled;
pub use trend::{TrendLine, TrendPoint, TrendScale};
pub use trips::{round_trips_by_sequence, round_trips_over_time};
pub use view::{Band, View};

/// The style sheet of everything drawn here.
pub const STYLE: &str = include_str!("../assets/plot.css");

#[cfg(test)]
mod tests;
