//! Graphs for xplot, as tcptrace draws and names them, written while the capture is read.
//!
//! The format (T. Shepard, xplot): a line for each stroke; the first names the types of both axes,
//! `go` is the last. Sequence numbers count from the initial one, as with tcptrace's `-zy`; packets
//! that take no room in the sequence are not drawn (its `--noshowzerolensegs`). The marks are
//! tcptrace's; beside a repetition stands why it was sent: `R` on acknowledgements, `RTO` by the
//! retransmission timer, `TLP` as a probe; `O` is out of order, `HD` a duplicate, `P` a window
//! probe, `K` a keep-alive, `S` a SACK block, `D` a D-SACK, `3` the third duplicate
//! acknowledgement, `Z` a closed window.

mod direction;
mod ink;

use std::collections::BTreeSet;
use std::io;

use tcplab_trace::{Ack, Connection, FlowId, Segment, Sink};

use direction::Direction;
use ink::Page;

/// Where the graphs go.
pub trait Shelf {
    /// Adds to the file `name` (letters, digits, `_`, one dot); `begins` says that it is new, and
    /// what may stand there of old is to vanish.
    ///
    /// # Errors
    /// If it cannot be written; no more will be asked for.
    fn append(&mut self, name: &str, begins: bool, text: &[u8]) -> io::Result<()>;
}

/// What a graph shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XplGraph {
    /// `a2b_tsg.xpl`: sequence numbers over time.
    TimeSequence,
    /// `a2b_tput.xpl`: throughput over each ten data segments, and since the connection's begin.
    Throughput,
    /// `a2b_rtt.xpl`: round trips of data sent once.
    RoundTrips,
    /// `a2b_owin.xpl`: data in flight, also less what was SACKed, and the advertised window.
    Outstanding,
}

impl XplGraph {
    /// All of them.
    pub const ALL: [XplGraph; 4] =
        [XplGraph::TimeSequence, XplGraph::Throughput, XplGraph::RoundTrips, XplGraph::Outstanding];

    /// As in the name of its file: `tsg`, `tput`, `rtt`, `owin`.
    pub fn name(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "tsg",
            XplGraph::Throughput => "tput",
            XplGraph::RoundTrips => "rtt",
            XplGraph::Outstanding => "owin",
        }
    }
    fn title(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "time sequence graph",
            XplGraph::Throughput => "throughput",
            XplGraph::RoundTrips => "rtt samples",
            XplGraph::Outstanding => "outstanding data",
        }
    }
    fn unit(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "sequence offset",
            XplGraph::Throughput => "thruput (bytes/sec)",
            XplGraph::RoundTrips => "rtt (ms)",
            XplGraph::Outstanding => "Outstanding Data (bytes)",
        }
    }
}

/// Draws while the analyser reads. Memory: a buffer for each graph of a connection that is not
/// over, together at most some megabytes, and what is in flight.
#[derive(Debug)]
pub struct XplSink<S> {
    shelf: S,
    /// By [`XplGraph`].
    graphs: [bool; 4],
    /// Draw these only.
    only: Option<BTreeSet<usize>>,
    /// Added to all times, nanoseconds; the types of both axes.
    epoch: u64,
    types: &'static str,
    /// By the connection's number; forward and reverse.
    live: Vec<Option<Box<[Direction; 2]>>>,
    /// Bytes in all buffers, about.
    waiting: usize,
    drawn: u64,
    failed: Option<io::Error>,
}

/// A buffer as long as this goes out.
const LONG: usize = 64 << 10;
/// All go out when together they are as long as this.
const MOST: usize = 8 << 20;

impl<S: Shelf> XplSink<S> {
    /// A sink that draws `graphs` of all connections. With an `epoch`, the trace's zero in
    /// nanoseconds after the beginning of 1970, the axis of time shows the time of day; without,
    /// the time since the capture's first frame.
    pub fn new(shelf: S, graphs: &[XplGraph], epoch: Option<u64>) -> XplSink<S> {
        XplSink {
            shelf,
            graphs: XplGraph::ALL.map(|graph| graphs.contains(&graph)),
            only: None,
            epoch: epoch.unwrap_or(0),
            types: if epoch.is_some() { "timeval double" } else { "dtime double" },
            live: Vec::new(),
            waiting: 0,
            drawn: 0,
            failed: None,
        }
    }

    /// Draws these connections only, counted from 0.
    #[must_use]
    pub fn only(mut self, connections: BTreeSet<usize>) -> XplSink<S> {
        self.only = Some(connections);
        self
    }

    /// Whether a file could not be written: nothing more is drawn then.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// How many graphs were drawn, and the shelf.
    ///
    /// # Errors
    /// The first that the shelf had.
    pub fn finish(self) -> io::Result<(u64, S)> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok((self.drawn, self.shelf)),
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
        let axes = Axes { graphs: self.graphs, types: self.types, epoch: self.epoch };
        let direction = &mut self.live[index].get_or_insert_default()[usize::from(!flow.forward)];
        let before = direction.waiting();
        draw(direction, axes);
        let now = direction.waiting();
        self.waiting += now - before;
        if now > LONG {
            self.put_away(index, flow.forward);
        }
        if self.waiting > MOST {
            for index in 0..self.live.len() {
                self.put_away(index, true);
                self.put_away(index, false);
            }
        }
    }

    /// Writes what waits of a direction.
    fn put_away(&mut self, index: usize, forward: bool) {
        let Some(directions) = &mut self.live[index] else { return };
        if self.failed.is_some() {
            return;
        }
        for (page, kind) in directions[usize::from(!forward)].pages() {
            if page.text().is_empty() {
                continue;
            }
            self.waiting = self.waiting.saturating_sub(page.text().len());
            let begins = !std::mem::replace(&mut page.begun, true);
            self.drawn += u64::from(begins);
            let stored = self.shelf.append(&name(index, forward, kind), begins, page.text());
            page.clear();
            if let Err(error) = stored {
                self.failed = Some(error);
                return;
            }
        }
    }
}

/// What all graphs have in common.
#[derive(Debug, Clone, Copy)]
struct Axes {
    /// By [`XplGraph`].
    graphs: [bool; 4],
    types: &'static str,
    epoch: u64,
}

impl Axes {
    fn has(self, graph: XplGraph) -> bool {
        self.graphs[graph as usize]
    }

    fn page(self, kind: XplGraph) -> Page {
        let time = if self.types.starts_with("dtime") { "relative time" } else { "time" };
        Page::new(self.types, time, kind.unit())
    }
}

impl<S: Shelf> Sink for XplSink<S> {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.draw(flow, |direction, axes| direction.segment(&segment, axes));
        // The connection's first packet, for the other direction's throughput since then.
        if segment.syn {
            self.draw(FlowId { forward: !flow.forward, ..flow }, |direction, _| {
                direction.began(segment.at);
            });
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.draw(flow, |direction, axes| direction.ack(&ack, axes));
    }

    fn connection(&mut self, index: usize, connection: Connection) {
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
        self.put_away(index, true);
        self.put_away(index, false);
        self.live[index] = None;
    }
}

/// As tcptrace names its files: the first connection's ends are `a` and `b`, the next one's `c` and
/// `d`, the fourteenth's `aa` and `ab`.
fn name(connection: usize, forward: bool, kind: XplGraph) -> String {
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

#[cfg(test)]
mod tests;
