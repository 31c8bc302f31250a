//! The figures of a recording that is no run: of `shell` and `bridge`, or a trial's.

use std::path::Path;

use anyhow::{Result, bail};
use tcplab_path::tc::quoted_path;
use tcplab_recording::Recording;
use tcplab_report::{queue_figures, queue_notes};
use tcplab_scenario::nearest;
use tcplab_units::Instant;

use super::drawing::draw;
use super::listing::{lines, list};
use crate::arguments::FigureArguments;
use crate::output::answer;

/// The recording in this directory, if it is one.
pub(super) fn at(place: &Path) -> Option<Recording> {
    Recording::open(place).ok().filter(|_| !place.join("plan.json").exists())
}

/// Lists its figures, which are of the path's queues, or draws one.
pub(super) fn plot(place: &Path, recording: &Recording, arguments: &FigureArguments) -> Result<()> {
    let queues = recording.queues()?;
    let mut figures = queue_figures(&queues, Instant::ZERO + recording.record()?.duration);
    let notes = queue_notes(&queues);
    let Some(name) = &arguments.figure else {
        let names = figures.iter().map(|it| (it.name.as_str(), it.title.as_str()));
        let text = list(names) + &lines(&notes);
        if text.is_empty() {
            return answer(&format!("{}\n", no_bottleneck(place)));
        }
        return answer(&text);
    };
    if let Some(at) = figures.iter().position(|it| it.name == *name) {
        return draw(figures.swap_remove(at), arguments);
    }
    if figures.is_empty() && notes.is_empty() {
        bail!("{}", no_bottleneck(place));
    }
    if figures.is_empty() {
        bail!("no figure `{name}`. {}", notes.join(" "));
    }
    let near = nearest(name, figures.iter().map(|it| it.name.as_str()));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    bail!("no figure `{name}`: {near}`tcplab plot {}` lists them", quoted_path(place));
}

fn no_bottleneck(place: &Path) -> String {
    format!("{} has no figures: its path has no bottleneck, so that nothing waits", place.display())
}
