//! Graphs drawn while the analyser reads.

use std::collections::BTreeSet;
use std::io;
use tcplab_trace::{Ack, Connection, FlowId, Segment, Sink};
use tcplab_units::Span;

use super::direction::Direction;
use super::graph::{Axes, XplGraph};
use crate::round_trips::RttKind;

/// The files of the graphs.
pub trait XplFiles {
    /// Appends to the file `name` (letters, digits, `_`, one dot); `begins` creates it, replacing
    /// an old one.
    ///
    /// # Errors
    /// If it cannot be written; the sink then stops.
    fn append(&mut self, name: &str, begins: bool, text: &[u8]) -> io::Result<()>;
}

/// Draws while the analyser reads. Memory: a buffer for each graph of an open connection, some
/// megabytes at most, and the data in flight.
#[derive(Debug)]
pub struct XplSink<S> {
    files: S,
    axes: Axes,
    /// Draw these only.
    only: Option<BTreeSet<usize>>,
    /// By connection number; forward and reverse.
    live: Vec<Option<Box<[Direction; 2]>>>,
    /// About the bytes in all buffers.
    waiting: usize,
    drawn: u64,
    failed: Option<io::Error>,
}

/// What is written at once, bytes: a piece of another length ends within a page of the kernel's,
/// and takes it half as long again.
const PIECE: usize = 64 << 10;
/// At this length together all buffers are written.
const MOST: usize = 8 << 20;

impl<S: XplFiles> XplSink<S> {
    /// Draws `graphs` of all connections. With an `epoch`, the trace's zero in Unix nanoseconds,
    /// the time axis shows the time of day; without, the time since the first frame.
    pub fn new(files: S, graphs: &[XplGraph], epoch: Option<u64>) -> XplSink<S> {
        XplSink {
            files,
            axes: Axes {
                graphs: XplGraph::ALL.map(|graph| graphs.contains(&graph)),
                samples: RttKind::ALL.map(|kind| kind == RttKind::Once),
                average: None,
                epoch: epoch.unwrap_or(0),
                types: if epoch.is_some() { "timeval double" } else { "dtime double" },
            },
            only: None,
            live: Vec::new(),
            waiting: 0,
            drawn: 0,
            failed: None,
        }
    }

    /// Draws RTT samples of these kinds; by default those of data sent once, as tcptrace.
    #[must_use]
    pub fn samples(mut self, kinds: &[RttKind]) -> XplSink<S> {
        self.axes.samples = RttKind::ALL.map(|kind| kinds.contains(&kind));
        self
    }

    /// Averages throughput over a moving span; without, over ten data segments, as tcptrace.
    #[must_use]
    pub fn averaged_over(mut self, span: Option<Span>) -> XplSink<S> {
        self.axes.average = span;
        self
    }

    /// Draws these connections only, by number from 0.
    #[must_use]
    pub fn only(mut self, connections: BTreeSet<usize>) -> XplSink<S> {
        self.only = Some(connections);
        self
    }

    /// Whether a file could not be written, so that drawing stopped.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The number of graphs, and the files.
    ///
    /// # Errors
    /// The first error of the files.
    pub fn finish(self) -> io::Result<(u64, S)> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok((self.drawn, self.files)),
        }
    }

    /// Lets `draw` go on with a direction.
    fn draw(&mut self, flow: FlowId, draw: impl FnOnce(&mut Direction, Axes)) {
        let index = flow.connection;
        if self.failed.is_some() || self.only.as_ref().is_some_and(|only| !only.contains(&index)) {
            return;
        }
        if self.live.len() <= index {
            self.live.resize_with(index + 1, || None);
        }
        let axes = self.axes;
        let direction = &mut self.live[index].get_or_insert_default()[usize::from(!flow.forward)];
        let before = direction.waiting();
        draw(direction, axes);
        let now = direction.waiting();
        self.waiting += now - before;
        if now > PIECE {
            self.put_away(index, flow.forward, PIECE);
        }
        if self.waiting > MOST {
            for index in 0..self.live.len() {
                self.put_away(index, true, 1);
                self.put_away(index, false, 1);
            }
        }
    }

    /// Writes each buffer of a direction as far as it fills pieces of `piece` bytes.
    fn put_away(&mut self, index: usize, forward: bool, piece: usize) {
        let Some(directions) = &mut self.live[index] else { return };
        if self.failed.is_some() {
            return;
        }
        for (page, kind) in directions[usize::from(!forward)].pages() {
            let written = page.text().len() / piece * piece;
            if written == 0 {
                continue;
            }
            self.waiting = self.waiting.saturating_sub(written);
            let begins = !std::mem::replace(&mut page.begun, true);
            self.drawn += u64::from(begins);
            let stored =
                self.files.append(&name(index, forward, kind), begins, &page.text()[..written]);
            page.remove(written);
            if let Err(error) = stored {
                self.failed = Some(error);
                return;
            }
        }
    }
}

impl<S: XplFiles> Sink for XplSink<S> {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.draw(flow, |direction, axes| direction.segment(&segment, axes));
        // The other direction's throughput starts at the connection's first packet.
        if segment.syn {
            self.draw(FlowId { forward: !flow.forward, ..flow }, |direction, _| {
                direction.began(segment.at);
            });
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.draw(flow, |direction, axes| direction.ack(&ack, axes));
    }

    fn connection(&mut self, index: usize, connection: &Connection) {
        let Some(Some(directions)) = self.live.get_mut(index) else { return };
        let (client, server) = (connection.client, connection.server);
        for (direction, (from, to)) in
            directions.iter_mut().zip([(client, server), (server, client)])
        {
            for (page, kind) in direction.pages() {
                let before = page.text().len();
                page.end(&format!("{from}_==>_{to} ({})", kind.title()));
                self.waiting += page.text().len() - before;
            }
        }
        self.put_away(index, true, 1);
        self.put_away(index, false, 1);
        self.live[index] = None;
    }
}

/// As tcptrace names its files: the first connection's ends are `a` and `b`, the next one's `c` and
/// `d`, the fourteenth's `aa` and `ab`.
pub(super) fn name(connection: usize, forward: bool, kind: XplGraph) -> String {
    let ends = [letters(2 * connection), letters(2 * connection + 1)];
    let [from, to] = if forward { [0, 1] } else { [1, 0] };
    format!("{}2{}_{}.xpl", ends[from], ends[to], kind.name())
}

fn letters(mut number: usize) -> String {
    let mut reversed = Vec::new();
    loop {
        reversed.push((b'a' + (number % 26) as u8) as char);
        number /= 26;
        if number == 0 {
            return reversed.into_iter().rev().collect();
        }
        number -= 1;
    }
}
