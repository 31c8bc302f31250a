//! Paths as Python sees them.

use anyhow::Result;
use pyo3::prelude::*;
use tcplab_path::{Direction, LinkPlan};
use tcplab_plot::{PathPicture, path_svg as picture};
use tcplab_units::{Instant, Span};

use crate::interrupt::here;

/// Bounds of the time that a picture shows where nobody says.
const USUAL: [Span; 2] = [Span::from_secs(10), Span::from_secs(120)];
/// About two per pixel.
const POINTS: usize = 1_600;

/// What a path does, a sentence for each direction, and its picture.
#[pyfunction]
#[pyo3(signature = (given, set=vec![], seconds=None, seed=1))]
pub(crate) fn path_svg(
    given: &str,
    set: Vec<String>,
    seconds: Option<f64>,
    seed: u64,
) -> PyResult<(String, String)> {
    here(|| -> Result<_> {
        let file = match given {
            "" => tcplab_actions::read_path("", "path", "the path", &set, "".as_ref())?,
            given => tcplab_actions::find_path(given, &set)?,
        };
        let links = [file.path.link(Direction::Forward)?, file.path.link(Direction::Reverse)?];
        let shown = links.iter().map(LinkPlan::time_to_show).fold(USUAL[0], Span::max);
        let span = match seconds {
            Some(seconds) if (0.001..=86_400.0).contains(&seconds) => {
                Span::from_nanos((seconds * 1e9) as u64)
            }
            Some(seconds) => anyhow::bail!("{seconds} s cannot be shown: use 0.001 to 86400"),
            None => shown.min(USUAL[1]),
        };
        let words = Direction::BOTH.into_iter().zip(&links).map(|(direction, link)| {
            format!("{}: {}", direction.name(), link.describe().join(" "))
        });
        let words = words.collect::<Vec<_>>().join("\n");
        let [forward, reverse] = links.map(|link| link.outlook(Instant::ZERO + span, seed, POINTS));
        let title = file.title.clone().unwrap_or_else(|| file.name.clone());
        let svg = picture(&PathPicture { title: &title, forward: &forward, reverse: &reverse });
        Ok((words, svg))
    })
}
