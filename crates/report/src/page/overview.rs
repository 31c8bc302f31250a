//! The transfers of all variants beside one another: the first picture on the page.

use tcplab_plot::{Band, Pane, Plane, pane};
use tcplab_units::Instant;

use super::links::Links;
use super::marks::Marks;
use crate::trial::view::TrialView;

/// More variants are not drawn.
pub(crate) const MOST: usize = 12;
/// Fewer where each figure has strokes of its own.
pub(crate) const MOST_ALONE: usize = 4;
const SIZE: (i64, i64) = (460, 250);

/// What an overview needs of a variant's first trial whose packets are no longer in memory.
pub(crate) struct FirstTransfer {
    case: String,
    world: &'static str,
    number: u32,
    href: String,
    facts: Vec<(String, String)>,
    marks: Marks,
    plane: Plane,
    bands: Vec<Band>,
    /// Where the page does not contain the trial's own figure unpacked.
    layers: Option<String>,
}

/// All of them.
pub(crate) struct Overviews {
    pub(crate) each: Vec<Overview>,
    /// Whether the path was interrupted during any.
    pub(crate) are_interrupted: bool,
}

pub(crate) struct Overview {
    pub(crate) case: String,
    pub(crate) world: &'static str,
    pub(crate) number: u32,
    pub(crate) href: String,
    /// Name and value.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) marks: Marks,
    pub(crate) svg: String,
}

impl FirstTransfer {
    /// None without a transfer in the captures.
    pub(crate) fn of(
        view: &TrialView<'_>,
        world: &'static str,
        links: Links,
        is_plain: bool,
    ) -> Option<FirstTransfer> {
        let figure = view.figures.first().filter(|_| view.has_connection)?;
        Some(FirstTransfer {
            case: view.case.to_string(),
            world,
            number: view.trial.number,
            href: links.of(view),
            facts: view.metrics.iter().take(2).cloned().collect(),
            marks: Marks::of(view.trial.episodes.iter(), Some(links.anchor(view))),
            plane: figure.plane.clone(),
            layers: (!is_plain).then(|| figure.layers().to_owned()),
            bands: view
                .bands
                .iter()
                .map(|band| Band { label: band.short.clone(), ..band.clone() })
                .collect(),
        })
    }
}

/// The pictures, all on the same axes.
pub(crate) fn overviews(transfers: &[FirstTransfer]) -> Overviews {
    let until = transfers.iter().map(|t| t.plane.until()).max().unwrap_or(Instant::ZERO);
    let high = transfers.iter().map(|t| t.plane.high()).fold(0.0, f64::max);
    let transfers = &transfers[..transfers.len().min(MOST)];
    let each = transfers
        .iter()
        .map(|transfer| Overview {
            case: transfer.case.clone(),
            world: transfer.world,
            number: transfer.number,
            href: transfer.href.clone(),
            facts: transfer.facts.clone(),
            marks: transfer.marks.clone(),
            svg: pane(&Pane {
                title: &format!("Sequence numbers over time, {}", transfer.case),
                plane: &transfer.plane,
                time: Some((Instant::ZERO, until)),
                values: Some((0.0, high)),
                bands: &transfer.bands,
                size: SIZE,
                layers: transfer.layers.as_deref(),
            }),
        })
        .collect();
    Overviews { each, are_interrupted: transfers.iter().any(|it| !it.bands.is_empty()) }
}
