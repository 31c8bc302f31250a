//! The transfers of all variants beside one another: the first picture on the page.

use tcplab_plot::{Band, Pane, Plane, pane};
use tcplab_units::Instant;

use super::links::Links;
use crate::trial::episode::EpisodeView;
use crate::trial::view::TrialView;

/// The most that are drawn.
pub(crate) const MOST: usize = 12;
/// And so many where each needs strokes of its own.
pub(crate) const MOST_ALONE: usize = 4;
/// Pixels.
const SIZE: (i64, i64) = (460, 250);

/// What an overview needs of a variant's first trial once its packets are out of memory.
pub(crate) struct FirstTransfer {
    case: String,
    world: &'static str,
    number: u32,
    href: String,
    facts: Vec<(String, String)>,
    marks: Vec<Mark>,
    plane: Plane,
    bands: Vec<Band>,
    /// Where the trial's own figure is not on the page as it is.
    layers: Option<String>,
}

/// One picture.
pub(crate) struct Overview {
    pub(crate) case: String,
    /// Where it ran.
    pub(crate) world: &'static str,
    pub(crate) number: u32,
    pub(crate) href: String,
    /// Names and values of the first metrics.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) svg: String,
}

/// An episode of the trial.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) kind: String,
    pub(crate) class: &'static str,
    pub(crate) lost: usize,
    pub(crate) href: String,
}

impl FirstTransfer {
    /// None when the trial's captures hold no transfer.
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
            marks: view.episodes.iter().map(|it| mark(it, &links.page(view))).collect(),
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

fn mark(episode: &EpisodeView<'_>, page: &str) -> Mark {
    Mark {
        kind: episode.row.kind.clone(),
        class: episode.class,
        lost: episode.row.lost_segments,
        href: format!("{page}#{}", episode.id),
    }
}

/// The pictures, all on the same axes.
pub(crate) fn overviews(transfers: &[FirstTransfer]) -> Vec<Overview> {
    let until = transfers.iter().map(|t| t.plane.until()).max().unwrap_or(Instant::ZERO);
    let high = transfers.iter().map(|t| t.plane.high()).fold(0.0, f64::max);
    transfers
        .iter()
        .take(MOST)
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
        .collect()
}
