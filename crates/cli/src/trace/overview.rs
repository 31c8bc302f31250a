//! All connections at a glance.

use anyhow::Result;
use tcplab_findings::Finding;
use tcplab_report::trace::{Chosen, Summary, summary_text};

use super::input::{Input, Passed};
use super::outputs::look;
use crate::arguments::ViewArguments;
use crate::output::answer;

/// Of so many connections it is told what was found out.
const TOLD: usize = 3;
/// Rules that need packets are asked too, for which the capture is read once more, unless it has
/// more packets than this.
const SHORT: u64 = 200_000;

pub(super) fn show(input: &Input<'_>, view: &ViewArguments) -> Result<()> {
    let Passed { mut head, sink: summary, .. } = input.read(Summary::new(TOLD))?;
    head.lasted = summary.lasted();
    let findings = findings(input, &summary, head.packets)?;
    let top = if view.all { usize::MAX } else { view.top };
    answer(&summary_text(&head, &summary, &findings, top, look()))
}

/// What was found out about the worst connections.
fn findings(
    input: &Input<'_>,
    summary: &Summary,
    packets: u64,
) -> Result<Vec<(usize, Vec<Finding>)>> {
    let worst = summary.worst();
    if worst.is_empty() {
        return Ok(Vec::new());
    }
    let again = match packets {
        0..=SHORT => input.read_again(Chosen::new(worst.iter().map(|(index, _)| *index)))?,
        _ => None,
    };
    let whole = again.map(|passed| passed.sink.into_connections()).unwrap_or_default();
    Ok(worst
        .into_iter()
        .map(|(index, sums)| {
            let whole = whole.iter().find(|(place, _)| *place == index);
            let connection = whole.map_or(sums, |(_, connection)| connection);
            (index, tcplab_findings::examine(connection))
        })
        .collect())
}
