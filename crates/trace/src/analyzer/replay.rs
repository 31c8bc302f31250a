//! One connection analysed alone, by the frames that an index names.

use std::fmt;
use std::io::{Read, Seek};

use tcplab_capture::{Interface, Reader, Record, UnixTime};
use tcplab_units::Instant;
use tcplab_wire::{FrameView, LinkType};

use super::part::Shares;
use super::parts::Parts;
use super::reading::{add_links, comment};
use super::{Analyzer, AnyAnalyzer, LATEST, is_damaged};
use crate::packet::Packet;
use crate::{Frame, Sink};

/// A connection of a capture and what is needed to find it again, as a
/// [`FrameLog`](super::FrameLog) was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownConnection {
    /// Its place in the order of first packets.
    pub index: usize,
    /// The earlier connection with the same ends.
    pub reuses: Option<usize>,
    /// The zero of time, nanoseconds after the Unix epoch.
    pub epoch_nanos: u64,
    /// Its frames in order: number, and where in the file each begins.
    pub frames: Vec<(u64, u64)>,
    /// From which frames on duplicates are usual, or no longer; at first they are not.
    pub copies_usual: Vec<(u64, bool)>,
}

/// What lies in the places of a [`KnownConnection`] is not one connection, or cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayError;

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the index does not fit the capture")
    }
}

impl std::error::Error for ReplayError {}

/// Analyses one connection alone: passes to `sink` what the analysis of the whole capture does.
/// Returns the places of capture that are known with the first record.
///
/// # Errors
/// If its frames cannot be read, or are not those of one connection; `sink` may have got something.
pub fn replay<R: Read + Seek, S: Sink>(
    reader: &mut Reader<R>,
    known: &KnownConnection,
    sink: S,
) -> Result<(S, Vec<Interface>), ReplayError> {
    let mut analyzer = Analyzer::with_sink(sink);
    let any: &mut AnyAnalyzer<'_> = &mut analyzer;
    any.begin_known(known);
    // What describes all records stands before the first.
    let begin = reader.position();
    let first = reader.next_record().ok().flatten().ok_or(ReplayError)?;
    let captured = first.captured.to_vec();
    let first = About::of(&first, any.output.wants_packets)?;
    let interfaces = reader.interfaces().to_vec();
    let mut links = Vec::new();
    add_links(&mut links, reader);
    any.tell_coarse(reader.time_unit());
    let mut copies = known.copies_usual.iter().peekable();
    for &(number, position) in &known.frames {
        while let Some((_, usual)) = copies.next_if(|(from, _)| *from <= number) {
            any.output.copies_usual = *usual;
        }
        if position == begin {
            any.known_frame(&first.frame(&captured, &links)?, number)?;
            continue;
        }
        reader.jump_to(position).map_err(|_| ReplayError)?;
        let record = reader.next_record().ok().flatten().ok_or(ReplayError)?;
        let about = About::of(&record, any.output.wants_packets)?;
        any.known_frame(&about.frame(record.captured, &links)?, number)?;
    }
    any.finish_known(known)?;
    Ok((analyzer.output.sink, interfaces))
}

/// What a record says beside its bytes.
struct About {
    time_ns: u64,
    interface: u32,
    original_len: u32,
    comment: Option<String>,
}

impl About {
    fn of(record: &Record<'_>, wants_comment: bool) -> Result<About, ReplayError> {
        let (interface, original_len) = (record.interface, record.original_len);
        let time_ns = record.time.map(UnixTime::as_nanos).ok_or(ReplayError)?;
        let comment = if wants_comment { comment(record) } else { None };
        Ok(About { time_ns, interface, original_len, comment })
    }

    fn frame<'a>(
        &'a self,
        captured: &'a [u8],
        links: &[LinkType],
    ) -> Result<Frame<'a>, ReplayError> {
        let &About { time_ns, interface, original_len, ref comment } = self;
        let link = *links.get(interface as usize).ok_or(ReplayError)?;
        Ok(Frame { time_ns, link, captured, original_len, comment: comment.as_deref() })
    }
}

impl AnyAnalyzer<'_> {
    fn begin_known(&mut self, known: &KnownConnection) {
        self.epoch_nanos = Some(known.epoch_nanos);
        self.output.sink.begins(known.epoch_nanos);
        self.output.begin_at(known.index, known.reuses);
        self.parts = Some(Parts::new(Shares::of_one(), 1, None));
    }

    /// Analyses a frame of the known connection, as [`frame`](Self::frame) did.
    fn known_frame(&mut self, frame: &Frame<'_>, number: u64) -> Result<(), ReplayError> {
        self.frames = number;
        let passed = frame.time_ns.saturating_sub(self.epoch_nanos.unwrap_or_default());
        let at = Instant::from_nanos(passed).min(LATEST);
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        if let Some(tcp) = view.tcp().filter(|_| !is_damaged(&view)) {
            let mut packet = Packet::read(&tcp, at, number, self.output.wants_packets);
            packet.copies_usual = self.output.copies_usual;
            packet.coarse = self.coarse;
            packet.radio_retry = frame.link.is_radio_retry(frame.captured);
            if let Some(parts) = &mut self.parts {
                parts.packet(&packet, frame.comment, &mut self.output);
            }
            return Ok(());
        }
        self.too_big(&view.ip().ok_or(ReplayError)?, at);
        Ok(())
    }
    /// Hands over the known connection, if it was one.
    fn finish_known(&mut self, known: &KnownConnection) -> Result<(), ReplayError> {
        if let Some(parts) = self.parts.take() {
            parts.finish(&mut self.output);
        }
        let is_one = self.output.connections() == known.index + 1;
        if is_one { Ok(()) } else { Err(ReplayError) }
    }
}
