//! The comparison as a page that needs nothing else.

use askama::Template;
use tcplab_plot::Figure;
use tcplab_results::comparison::{Comparison, Row};

use super::captures::{CapturedPair, change as change_of, parting, value};
use super::intervals::pictures;
pub use super::parting::CloseUp;
use crate::compared::{
    change, detectable, difference, estimate, interval, missing_lines, probability, sentence, side,
    trials, verdict,
};
use crate::html::assets::{SCRIPTS, STYLES, THEME};
use crate::html::error::ReportError;
use crate::html::rendered::rendered;
use crate::html::unbroken::unbroken;
use crate::title::title;

/// A page about a comparison of runs, with transfers seen close; `notes` say which are not there.
///
/// # Errors
/// When it cannot be put together.
pub fn compare_page(
    found: &Comparison,
    close: &[CloseUp<'_>],
    mut notes: Vec<String>,
) -> Result<String, ReportError> {
    notes.splice(0..0, missing_lines(found));
    notes.extend([format!("Tested: {}.", found.family), NOTE.into()]);
    let titles = [side(found, 0), side(found, 1)];
    let heading = match &found.by {
        Some(factor) => {
            format!("{}: {factor}, {} against {}", found.sides[0].scenario, titles[1], titles[0])
        }
        None => format!("{}: B against A", found.sides[0].scenario),
    };
    let page = Page {
        heading,
        style: style(),
        theme: THEME,
        script: SCRIPTS.concat(),
        lead: unbroken(&sentence(found)),
        sides: titles,
        warnings: &found.warnings,
        pictures: pictures(found).into_iter().map(|it| (it.title, it.svg)).collect(),
        table: "All rows, worst first",
        head: HEAD.to_vec(),
        rows: found.rows.iter().map(|row| cells(found, row)).collect(),
        notes,
        closes: close.iter().enumerate().map(CloseView::new).collect(),
    };
    rendered(&page)
}

/// A page about two captures.
///
/// # Errors
/// When it cannot be put together.
pub fn captures_page(
    names: &[String; 2],
    pairs: &[CapturedPair],
    close: &[CloseUp<'_>],
) -> Result<String, ReportError> {
    let rows = pairs.iter().flat_map(|pair| {
        let [x, y] = pair.places;
        let name =
            format!("A's connection {x}, {}; B's connection {y}, {}", pair.names[0], pair.names[1]);
        let facts = pair.facts.iter().filter(|fact| fact.differs()).map(|fact| {
            let cells = [
                fact.about.clone(),
                fact.name.clone(),
                value(fact, 0),
                value(fact, 1),
                change_of(fact),
            ];
            ("", cells.to_vec())
        });
        std::iter::once(("pair", vec![name])).chain(facts)
    });
    let page = Page {
        heading: "Two captures".into(),
        style: style(),
        theme: THEME,
        script: SCRIPTS.concat(),
        lead: pairs
            .iter()
            .find_map(|pair| pair.divergence.as_ref().map(parting))
            .unwrap_or_else(|| "One connection of each capture, compared.".into()),
        sides: names.clone(),
        warnings: &[],
        pictures: Vec::new(),
        table: "What differs",
        head: vec!["about", "what", "A", "B", "change"],
        rows: rows.collect(),
        notes: vec!["One connection each: differences may be due to chance.".into()],
        closes: close.iter().enumerate().map(CloseView::new).collect(),
    };
    rendered(&page)
}

fn style() -> String {
    [STYLES.concat().as_str(), include_str!("../../assets/compare.css")].concat()
}

/// The meaning of the columns.
pub(crate) const NOTE: &str = "A is its median, B that changed by the estimate: the Hodges–Lehmann \
                               shift (of logarithms where amounts are positive: then a ratio), or, \
                               where that is beyond all trials of B, the difference of the medians; \
                               with the 95 % confidence interval of the rank test. p is corrected by \
                               Holm within its family. Minimum detectable difference: the \
                               smallest difference that these trials find with 90 % power.";

pub(crate) const HEAD: [&str; 11] = [
    "verdict",
    "case",
    "metric",
    "trials",
    "A",
    "B",
    "B − A",
    "change",
    "95 % CI",
    "p (Holm)",
    "min. detectable (90 % power)",
];

/// The CSS class and the cells of a row.
pub(crate) fn cells(found: &Comparison, row: &Row) -> (&'static str, Vec<String>) {
    let cells = vec![
        verdict(found, row),
        row.case.clone(),
        title(&row.metric),
        trials(row),
        estimate(row, 0),
        estimate(row, 1),
        difference(row),
        change(row),
        interval(row),
        probability(row, row.p_corrected),
        detectable(row),
    ];
    (row.outcome.name(), cells)
}

#[derive(Template)]
#[template(path = "compare.html")]
struct Page<'a> {
    heading: String,
    style: String,
    theme: &'static str,
    script: String,
    lead: String,
    sides: [String; 2],
    warnings: &'a [String],
    /// Metric and its interval plot.
    pictures: Vec<(String, String)>,
    table: &'static str,
    head: Vec<&'static str>,
    rows: Vec<(&'static str, Vec<String>)>,
    notes: Vec<String>,
    closes: Vec<CloseView>,
}

/// Two transfers.
struct CloseView {
    title: String,
    overlaid: Figure,
    beside: [Figure; 2],
    /// Their first difference in words, or that there is none.
    parting: String,
    ladders: Vec<(&'static str, String, String)>,
}

impl CloseView {
    fn new((nth, close): (usize, &CloseUp<'_>)) -> CloseView {
        let divergence = close.divergence();
        let ladders = divergence.as_ref().map(|divergence| {
            let [a, b] = close.ladders(divergence);
            let [of_a, of_b] = divergence.words.clone();
            vec![("A", of_a, a), ("B", of_b, b)]
        });
        CloseView {
            title: close.title.clone(),
            overlaid: close.overlaid(),
            beside: close.beside(nth),
            parting: divergence
                .as_ref()
                .map_or_else(|| "Identical, packet by packet.".into(), parting),
            ladders: ladders.unwrap_or_default(),
        }
    }
}
