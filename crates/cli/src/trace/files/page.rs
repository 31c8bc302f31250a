//! `--html`: the page of a capture.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};
use tcplab_findings::Finding;
use tcplab_report::trace::Chosen;
use tcplab_report::{CaptureSums, GraphChoice, Rank, ShownConnection, TracePage, page_frames};
use tcplab_trace::{Connection, ConnectionNumbers, PacketBytes, Trace};

use super::super::hex;
use super::super::input::Input;
use crate::arguments::{Outputs, ViewArguments};
use crate::output::{Output, commit, counted};

/// The most connections with graphs on a page.
const MOST: usize = 10;
/// The most packets of these connections together (beyond the first): all are in memory at once.
const MOST_PACKETS: u64 = 1 << 20;

/// A page that is not written yet.
pub(super) struct Page {
    output: Output,
    /// The connection to be shown, if that is named.
    only: Option<usize>,
    most: usize,
    choice: GraphChoice,
}

impl Page {
    pub(super) fn new(output: Output, view: &ViewArguments, outputs: &Outputs) -> Page {
        let most = if view.all { MOST } else { view.top.min(MOST) };
        let choice = GraphChoice { rtt: outputs.rtt.clone(), average: outputs.average };
        Page { output, only: view.connection, most, choice }
    }

    /// The connections with graphs: by lost time, then by amount of data.
    pub(super) fn shown(&self, sums: &CaptureSums) -> Vec<usize> {
        if let Some(only) = self.only {
            return vec![only];
        }
        let first: Vec<(usize, u64)> = sums.ranked().take(self.most).collect();
        let fit = fitting(first.iter().map(|(_, packets)| *packets));
        first.into_iter().take(fit).map(|(index, _)| index).collect()
    }

    /// To keep the connections with graphs as they end.
    pub(super) fn keeper(&self) -> Shown {
        Shown { most: if self.only.is_some() { 1 } else { self.most }, kept: BTreeMap::new() }
    }

    /// Writes the page. Connections of `shown` without packets in `whole` are read again.
    pub(super) fn write(
        self,
        input: &Input<'_>,
        (trace, sums): (&Trace, &CaptureSums),
        names: &[String],
        shown: &[usize],
        whole: &[(usize, Connection)],
    ) -> Result<()> {
        let find = |index: usize| whole.iter().find(|(place, _)| *place == index);
        let missing = shown.iter().filter(|index| find(**index).is_none());
        let missing: Vec<usize> = missing.copied().collect();
        let again = if missing.is_empty() {
            Vec::new()
        } else if let Some(passed) = input.read_again(Chosen::new(missing))? {
            passed.sink.into_connections()
        } else {
            bail!("the capture cannot be read a second time");
        };
        let dropped = input.dropped_frames()?;
        let find = |index: &usize| {
            let (place, connection) =
                find(*index).or_else(|| again.iter().find(|(place, _)| place == index))?;
            let mut connection = Cow::Borrowed(connection);
            if let Some(frames) = &dropped {
                connection.to_mut().mark_dropped(frames);
            }
            let findings = tcplab_findings::examine(&connection);
            Some((*place, connection, findings))
        };
        let shown: Vec<_> = shown.iter().filter_map(find).collect();
        let packets = packets(input, &shown)?;
        let shown: Vec<ShownConnection<'_>> = shown
            .iter()
            .map(|(index, connection, findings)| ShownConnection {
                index: *index,
                connection,
                findings,
                packets: packets.get(index).map_or(&[], Vec::as_slice),
            })
            .collect();
        let mut output = self.output;
        // The page does not show local directories.
        let own = |name: &String| match Path::new(name).file_name() {
            Some(own) => own.to_string_lossy().into_owned(),
            None => name.clone(),
        };
        let names: Vec<String> = names.iter().map(own).collect();
        let page = TracePage {
            name: &names.join(" + "),
            trace,
            sums,
            shown: &shown,
            choice: &self.choice,
        };
        tcplab_report::write_trace(&page, &mut output)?;
        let all = counted(sums.connections() as u64, "connection");
        commit(output, &format!("{all}, {} with graphs", shown.len()))
    }
}

/// The packets that the page opens as bytes, by connection; none if they cannot be read again.
fn packets(
    input: &Input<'_>,
    shown: &[(usize, Cow<'_, Connection>, Vec<Finding>)],
) -> Result<BTreeMap<usize, Vec<PacketBytes>>> {
    let mut frames = BTreeSet::new();
    let mut numbers = Vec::new();
    for (index, connection, findings) in shown {
        frames.extend(page_frames(connection, findings));
        numbers.push(ConnectionNumbers::new(*index, connection));
    }
    let mut found: BTreeMap<usize, Vec<PacketBytes>> = BTreeMap::new();
    for packet in hex::packets(input, &frames, &numbers)? {
        if let Some(index) = packet.connection {
            found.entry(index).or_default().push(packet);
        }
    }
    Ok(found)
}

/// How many connections of these packets a page shows.
fn fitting(packets: impl Iterator<Item = u64>) -> usize {
    let mut all = 0;
    let fits = |(place, packets): &(usize, u64)| {
        all += packets;
        *place == 0 || all <= MOST_PACKETS
    };
    packets.enumerate().take_while(fits).count()
}

/// Keeps the connections that a page shows, of those that have ended.
#[derive(Debug, Default)]
pub(in crate::trace) struct Shown {
    most: usize,
    kept: BTreeMap<Rank, Connection>,
}

impl Shown {
    /// Whether it is one of them so far.
    pub(in crate::trace) fn wants(&self, index: usize, connection: &Connection) -> bool {
        let last = self.kept.last_key_value();
        let is_before = || last.is_none_or(|(last, _)| Rank::new(index, connection) < *last);
        self.most > 0 && (self.kept.len() < self.most || is_before())
    }

    pub(in crate::trace) fn add(&mut self, index: usize, connection: Connection) {
        self.kept.insert(Rank::new(index, &connection), connection);
        let fit = fitting(self.kept.values().map(|it| it.packets)).min(self.most);
        while self.kept.len() > fit {
            self.kept.pop_last();
        }
    }

    pub(in crate::trace) fn into_connections(self) -> Vec<(usize, Connection)> {
        self.kept.into_iter().map(|(rank, connection)| (rank.index(), connection)).collect()
    }
}
