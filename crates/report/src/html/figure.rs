//! A figure of a page, with its numbers for download.

use tcplab_plot::{Drawn, Looks, Picture};

/// A picture with its title; see `figure.html`.
#[derive(Clone)]
pub(crate) struct PageFigure {
    pub(crate) title: String,
    pub(crate) svg: String,
    /// As comma-separated values.
    pub(crate) csv: String,
    /// To draw it otherwise, where it can be.
    pub(crate) picture: Option<Picture>,
}

impl PageFigure {
    pub(crate) fn new(title: &str, svg: String, csv: &str) -> PageFigure {
        PageFigure { title: title.to_owned(), svg, csv: csv.to_owned(), picture: None }
    }

    pub(crate) fn drawn(title: &str, drawn: Drawn) -> PageFigure {
        PageFigure::new(title, drawn.svg, &drawn.csv)
    }

    pub(crate) fn of(title: &str, picture: Picture) -> PageFigure {
        let (drawn, _) = picture.drawn(&Looks::default());
        PageFigure { picture: Some(picture), ..PageFigure::drawn(title, drawn) }
    }
}

/// The pictures of one metric, on one scale.
pub(crate) struct FigureGroup {
    pub(crate) name: String,
    pub(crate) meaning: &'static str,
    /// Titled by the levels that all its variants share, if there are others.
    pub(crate) pictures: Vec<PageFigure>,
}
