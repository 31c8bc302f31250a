//! A figure of a page, with its numbers for download.

use tcplab_plot::Drawn;

/// A picture with its title; see `figure.html`.
#[derive(Clone)]
pub(crate) struct PageFigure {
    pub(crate) title: String,
    pub(crate) svg: String,
    /// As comma-separated values.
    pub(crate) csv: String,
}

impl PageFigure {
    pub(crate) fn new(title: &str, svg: String, csv: &str) -> PageFigure {
        PageFigure { title: title.to_owned(), svg, csv: csv.to_owned() }
    }

    pub(crate) fn drawn(title: &str, drawn: Drawn) -> PageFigure {
        PageFigure::new(title, drawn.svg, &drawn.csv)
    }
}

/// The pictures of one metric, on one scale.
pub(crate) struct FigureGroup {
    pub(crate) name: String,
    pub(crate) meaning: &'static str,
    /// Titled by the levels that all its variants share, if there are others.
    pub(crate) pictures: Vec<PageFigure>,
}
