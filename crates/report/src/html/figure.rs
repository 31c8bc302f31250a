//! A figure of a page, with its numbers for download.

use tcplab_plot::{Drawn, Looks, Picture, Table};

/// A picture with its title; see `figure.html`.
#[derive(Clone, Default)]
pub(crate) struct PageFigure {
    pub(crate) title: String,
    pub(crate) svg: String,
    /// Its numbers.
    pub(crate) table: Table,
    /// To draw it otherwise, where it can be.
    pub(crate) picture: Option<Picture>,
    /// What its parts are; empty where the page says it elsewhere.
    pub(crate) explanation: &'static str,
    /// Where the reader chooses how it is drawn.
    pub(crate) ways: Option<Ways>,
}

/// Other ways to draw a figure, beside its own. The page shows one of them at a time.
#[derive(Clone)]
pub(crate) struct Ways {
    /// The name of the figure's own way.
    pub(crate) own: &'static str,
    /// The names of the others, with their figures.
    pub(crate) others: Vec<(&'static str, PageFigure)>,
}

impl PageFigure {
    pub(crate) fn new(title: &str, svg: String, table: Table) -> PageFigure {
        PageFigure { title: title.to_owned(), svg, table, ..PageFigure::default() }
    }

    pub(crate) fn drawn(title: &str, drawn: Drawn) -> PageFigure {
        PageFigure::new(title, drawn.svg, drawn.table)
    }

    pub(crate) fn of(title: &str, picture: Picture) -> PageFigure {
        let (drawn, _) = picture.drawn(&Looks::default());
        PageFigure { picture: Some(picture), ..PageFigure::drawn(title, drawn) }
    }

    /// The same with a choice of other ways, if there are any; `own` is what this one is called.
    pub(crate) fn or(self, own: &'static str, others: Vec<(&'static str, PageFigure)>) -> Self {
        let ways = (!others.is_empty()).then_some(Ways { own, others });
        PageFigure { ways, ..self }
    }

    pub(crate) fn explained(self, explanation: &'static str) -> Self {
        PageFigure { explanation, ..self }
    }
}

/// The pictures of one metric, on one scale.
pub(crate) struct FigureGroup {
    pub(crate) name: String,
    pub(crate) metric: String,
    pub(crate) meaning: &'static str,
    /// Titled by the levels that all its variants share, if there are others.
    pub(crate) pictures: Vec<PageFigure>,
}
