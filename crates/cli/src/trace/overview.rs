//! Overview of all connections.

use std::collections::BTreeSet;

use anyhow::Result;
use tcplab_findings::{Finding, worst_first};
use tcplab_report::trace::{Chosen, Summary, summary_text};
use tcplab_trace::Connection;

use super::files::Files;
use super::input::{Input, Passed};
use super::outputs::look;
use crate::arguments::ViewArguments;
use crate::output::answer_coloured;

/// The most connections whose findings are shown.
const SHOWN: usize = 3;
/// Up to this many packets the capture is read again for the rules that need packets.
const SHORT: u64 = 200_000;

pub(super) fn show(input: &Input<'_>, files: Files<'_>, view: &ViewArguments) -> Result<()> {
    let top = if view.all { usize::MAX } else { view.top };
    let (Passed { mut head, sink: summary, .. }, files) = files.read(Summary::new(top, SHOWN))?;
    head.lasted = summary.lasted();
    let worst = summary.worst();
    let whole = whole(input, &worst, &files.wanted(), head.packets)?;
    files.finish(&whole)?;
    let findings: Vec<(usize, Vec<Finding>)> = worst
        .into_iter()
        .map(|(index, sums)| {
            let whole = whole.iter().find(|(place, _)| *place == index);
            let connection = whole.map_or(sums, |(_, connection)| connection);
            let mut findings = tcplab_findings::examine(connection);
            worst_first(&mut findings);
            (index, findings)
        })
        .collect();
    answer_coloured(|colours| summary_text(&head, &summary, &findings, look(colours)))
}

/// The worst connections (of a short capture) and those that output files need, with their
/// packets. Empty if the capture cannot be read again.
fn whole(
    input: &Input<'_>,
    worst: &[(usize, &Connection)],
    wanted: &[usize],
    packets: u64,
) -> Result<Vec<(usize, Connection)>> {
    let worst = worst.iter().map(|(index, _)| *index).filter(|_| packets <= SHORT);
    let places: BTreeSet<usize> = worst.chain(wanted.iter().copied()).collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let again = input.read_again(Chosen::new(places))?;
    Ok(again.map(|passed| passed.sink.into_connections()).unwrap_or_default())
}
