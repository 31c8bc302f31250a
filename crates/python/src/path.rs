//! Paths as Python sees them.

use anyhow::Result;
use pyo3::prelude::*;
use tcplab_path::Direction;
use tcplab_plot::{PathPicture, path_svg as picture};
use tcplab_units::Span;

use crate::interrupt::alone;

/// What a path does, a sentence for each direction, and its picture.
#[pyfunction]
#[pyo3(signature = (given, set=vec![], seconds=None, seed=1))]
pub(crate) fn path_svg(
    py: Python<'_>,
    given: &str,
    set: Vec<String>,
    seconds: Option<f64>,
    seed: u64,
) -> PyResult<(String, String)> {
    alone(py, |_| -> Result<_> {
        let file = match given {
            "" => tcplab_actions::read_path("", "path", "the path", &set, "".as_ref())?,
            given => tcplab_actions::find_path(given, &set)?,
        };
        let span = match seconds {
            Some(seconds) if (0.001..=86_400.0).contains(&seconds) => {
                Some(Span::from_nanos((seconds * 1e9) as u64))
            }
            Some(seconds) => anyhow::bail!("{seconds} s cannot be shown: use 0.001 to 86400"),
            None => None,
        };
        let (_, [forward, reverse]) = tcplab_actions::outlooks(&file, span, seed)?;
        let words = Direction::BOTH.map(|direction| {
            let link = file.path.link(direction)?;
            Ok(format!("{}: {}", direction.name(), link.describe().join(" ")))
        });
        let words = words.into_iter().collect::<Result<Vec<_>>>()?.join("\n");
        let title = file.title.clone().unwrap_or_else(|| file.name.clone());
        let svg = picture(&PathPicture { title: &title, forward: &forward, reverse: &reverse });
        Ok((words, svg))
    })
}
