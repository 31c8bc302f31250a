//! What this program does when it is started as a contender: a process of its own for each run.

use std::io::{self, Write};
use std::path::Path;

use tcplab_capture::Reader;
use tcplab_trace::{Analyzer, Connection, Episode, FlowId, Sink};
use tcplab_wire::{FrameView, LinkType};

/// Reads and decodes every packet and adds up a few numbers: the least that any analysis costs.
pub(crate) fn parse(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut reader = Reader::open(path)?;
    let link = reader
        .interfaces()
        .first()
        .map_or(LinkType::Ethernet, |interface| LinkType::from_number(interface.link_type));
    let (mut packets, mut bytes, mut numbers) = (0_u64, 0_u64, 0_u64);
    while let Some(record) = reader.next_record()? {
        packets += 1;
        let Some(tcp) = FrameView::new(link, record.captured, record.original_len).tcp() else {
            continue;
        };
        bytes += u64::from(tcp.payload_len());
        numbers ^= u64::from(tcp.seq().as_u32()) << 16 ^ u64::from(tcp.ack().as_u32());
    }
    writeln!(io::stdout(), "{packets} packets, {bytes} bytes, {numbers:x}")?;
    Ok(())
}

/// Analyses everything and keeps of each connection a row of sums.
pub(crate) fn summary(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut analyzer = Analyzer::with_sink(Rows::default());
    analyzer.read(Reader::open(path)?);
    let (trace, rows) = analyzer.finish_into();
    let mut out = io::BufWriter::new(io::stdout());
    writeln!(out, "{} packets, {} connections", trace.packets, rows.rows.len())?;
    for (index, row) in rows.rows.iter().enumerate() {
        writeln!(out, "{index} {row:?}")?;
    }
    out.flush()?;
    Ok(())
}

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    packets: u64,
    bytes: [u64; 2],
    repeats: [u64; 2],
    episodes: u64,
}

#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
}

impl Rows {
    fn row(&mut self, index: usize) -> &mut Row {
        if self.rows.len() <= index {
            self.rows.resize(index + 1, Row::default());
        }
        &mut self.rows[index]
    }
}

impl Sink for Rows {
    fn wants_packets(&self) -> bool {
        false
    }
    fn episode(&mut self, flow: FlowId, _episode: Episode) {
        self.row(flow.connection).episodes += 1;
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        let row = self.row(index);
        row.packets = connection.packets;
        for (place, flow) in [&connection.forward, &connection.reverse].into_iter().enumerate() {
            row.bytes[place] = flow.totals.unique.as_u64();
            row.repeats[place] = flow.totals.retransmissions;
        }
    }
}
