//! `--html`: the page of a capture.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use tcplab_report::trace::{Chosen, Row};
use tcplab_report::{ShownConnection, TracePage};
use tcplab_trace::{Connection, Sink, Trace};

use super::super::input::Input;
use crate::arguments::ViewArguments;
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
}

impl Page {
    pub(super) fn new(output: Output, view: &ViewArguments) -> Page {
        let most = if view.all { MOST } else { view.top.min(MOST) };
        Page { output, only: view.connection, most }
    }

    /// The connections with graphs: by lost time, then by amount of data.
    pub(super) fn shown(&self, sums: &Sums) -> Vec<usize> {
        if let Some(only) = self.only {
            return vec![only];
        }
        let mut order: Vec<(usize, &Connection)> =
            sums.connections.iter().map(|(index, connection)| (*index, connection)).collect();
        order.sort_by_cached_key(|(index, connection)| {
            let data = connection.forward.totals.unique + connection.reverse.totals.unique;
            (Reverse(Row::lost_by(connection)), Reverse(data), *index)
        });
        let mut packets = 0;
        let fits = |(index, connection): (usize, &Connection)| {
            let first = packets == 0;
            packets += connection.packets;
            (first || packets <= MOST_PACKETS).then_some(index)
        };
        order.into_iter().take(self.most).map_while(fits).collect()
    }

    /// Writes the page. Connections of `shown` without packets in `whole` are read again.
    pub(super) fn write(
        self,
        input: &Input<'_>,
        trace: &Trace,
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
        let shown: Vec<ShownConnection<'_>> = shown
            .iter()
            .map(|(index, connection, findings)| ShownConnection {
                index: *index,
                connection,
                findings,
            })
            .collect();
        let mut output = self.output;
        // The page does not show local directories.
        let own = |name: &String| match Path::new(name).file_name() {
            Some(own) => own.to_string_lossy().into_owned(),
            None => name.clone(),
        };
        let names: Vec<String> = names.iter().map(own).collect();
        let page = TracePage { name: &names.join(" + "), trace, shown: &shown };
        tcplab_report::write_trace(&page, &mut output)?;
        let all = counted(trace.connections.len() as u64, "connection");
        commit(output, &format!("{all}, {} with graphs", shown.len()))
    }
}

/// The sums of all connections.
#[derive(Default)]
pub(super) struct Sums {
    connections: BTreeMap<usize, Connection>,
}

impl Sums {
    /// The trace with these connections.
    pub(super) fn into_trace(self, trace: Trace) -> Trace {
        Trace { connections: self.connections.into_values().collect(), ..trace }
    }
}

impl Sink for Sums {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        self.connections.insert(index, connection);
    }
}
