//! Packets as bytes, with their fields.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use tcplab_quantities::PACKETS_DOCUMENT;
use tcplab_report::figure_file;
use tcplab_report::trace::packet_text;
use tcplab_trace::{Connection, ConnectionNumbers, PacketBytes, Sink};

use super::deep::no_connection;
use super::files::Files;
use super::input::{Input, Passed};
use super::outputs::look;
use crate::arguments::{Outputs, ViewArguments};
use crate::output::{answer_coloured, write_file, write_json};

pub(super) fn show(
    input: &Input<'_>,
    files: Files<'_>,
    view: &ViewArguments,
    outputs: &Outputs,
) -> Result<()> {
    let wanted: BTreeSet<u64> = view.hex.iter().copied().collect();
    let numbers = Numbers { wanted: wanted.clone(), found: Vec::new(), connections: 0 };
    let (Passed { head, sink: numbers, .. }, files) = files.read(numbers)?;
    if let Some(beyond) = wanted.last().filter(|last| **last > head.packets) {
        bail!("no frame {beyond}: the capture has {}, numbered from 1", head.packets);
    }
    if let Some(index) = view.connection.filter(|index| *index >= numbers.connections) {
        return Err(no_connection(index, numbers.connections));
    }
    let read = packets(input, &wanted, &numbers.found)?;
    let find = |frame: &u64| {
        let place = read.binary_search_by_key(frame, |packet| packet.frame);
        place.map(|place| read[place].clone()).map_err(|_| anyhow!("frame {frame} cannot be read"))
    };
    let packets: Vec<PacketBytes> = view.hex.iter().map(find).collect::<Result<_>>()?;
    if let Some(index) = view.connection {
        for packet in &packets {
            check_connection(packet, index)?;
        }
    }
    if let Some(file) = &outputs.hex_svg {
        write_file(file, &figure_file(&tcplab_plot::packet_bytes(&packets)))?;
    }
    files.finish(&[])?;
    write_json(&PACKETS_DOCUMENT, &view.json, &Whole { files: &head.names, packets: &packets })?;
    if view.json.is_printed() {
        return Ok(());
    }
    answer_coloured(|colours| {
        let texts = packets.iter().map(|packet| packet_text(packet, view.all, look(colours)));
        texts.collect::<Vec<_>>().join("\n")
    })
}

/// The packets in these frames, in their order.
pub(super) fn packets(
    input: &Input<'_>,
    wanted: &BTreeSet<u64>,
    connections: &[ConnectionNumbers],
) -> Result<Vec<PacketBytes>> {
    let mut packets = Vec::new();
    input.read_frames(wanted, |place, frame| {
        packets.push(PacketBytes::new(place, frame, connections));
    })?;
    Ok(packets)
}

/// Whether it is of the connection that was asked for.
fn check_connection(packet: &PacketBytes, index: usize) -> Result<()> {
    let frame = packet.frame;
    match packet.connection {
        Some(own) if own == index => Ok(()),
        Some(own) => bail!("frame {frame} belongs to connection {own}: pass -c {own}, or no -c"),
        None => bail!("frame {frame} belongs to no connection: leave out -c"),
    }
}

/// Keeps the numbers of connections that the wanted frames may belong to.
struct Numbers {
    wanted: BTreeSet<u64>,
    found: Vec<ConnectionNumbers>,
    connections: usize,
}

impl Sink for Numbers {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.connections += 1;
        let (first, last) = connection.frames;
        if self.wanted.range(first..=last.max(first)).next().is_some() {
            self.found.push(ConnectionNumbers::new(index, connection));
        }
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    files: &'a [String],
    packets: &'a [PacketBytes],
}
