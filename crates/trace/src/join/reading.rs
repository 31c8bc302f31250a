//! Two captures into the joiner.

use std::io::Read;

use tcplab_capture::{ReadError, Reader, Statistics, UnixTime};
use tcplab_units::Endpoint;
use tcplab_wire::LinkType;

use super::{Joined, Joiner, Survey};
use crate::Frame;

/// Joins two captures, each of which is read twice: `open` begins from its start.
///
/// A capture that is cut off or damaged gives what can be read of it, and a note.
///
/// # Errors
/// Those of `open`.
pub fn join<R: Read, E>(
    mut open: impl FnMut(Endpoint) -> Result<Reader<R>, E>,
) -> Result<Joined, E> {
    let mut survey = Survey::default();
    for side in Endpoint::BOTH {
        let mut frames = Frames::new(open(side)?);
        while let Some(frame) = frames.frame() {
            survey.frame(side, &frame);
            frames.advance();
        }
    }
    let mut joiner = Joiner::new(survey.finish());
    let mut captures = [Frames::new(open(Endpoint::Client)?), Frames::new(open(Endpoint::Server)?)];
    loop {
        let times = Endpoint::BOTH.map(|side| {
            captures[side.index()].frame().map(|frame| joiner.shared(side, frame.time_ns))
        });
        let side = match times {
            [Some(client), Some(server)] if client <= server => Endpoint::Client,
            [Some(_), None] => Endpoint::Client,
            [_, Some(_)] => Endpoint::Server,
            [None, None] => break,
        };
        let frames = &mut captures[side.index()];
        if let Some(frame) = frames.frame() {
            joiner.frame(side, &frame);
        }
        frames.advance();
    }
    let mut joined = joiner.finish();
    for (frames, whose) in captures.iter().zip(["client", "server"]) {
        if let Some(damage) = &frames.damage {
            joined.notes.push(format!("the {whose}'s capture is {damage}"));
        }
        if frames.dropped() > 0 {
            let dropped = frames.dropped();
            joined.notes.push(format!(
                "the {whose}'s capture lacks {dropped} packets that were dropped at its interface: \
                 lost packets may be among them"
            ));
        }
    }
    Ok(joined)
}

/// A capture, one frame ahead.
struct Frames<R> {
    reader: Reader<R>,
    links: Vec<LinkType>,
    ahead: Option<Ahead>,
    bytes: Vec<u8>,
    damage: Option<ReadError>,
}

#[derive(Debug, Clone, Copy)]
struct Ahead {
    time_ns: u64,
    link: LinkType,
    original_len: u32,
}

impl<R: Read> Frames<R> {
    fn new(reader: Reader<R>) -> Frames<R> {
        let mut frames =
            Frames { reader, links: Vec::new(), ahead: None, bytes: Vec::new(), damage: None };
        frames.advance();
        frames
    }

    fn frame(&self) -> Option<Frame<'_>> {
        let Ahead { time_ns, link, original_len } = self.ahead?;
        Some(Frame { time_ns, link, captured: &self.bytes, original_len, comment: None })
    }

    fn advance(&mut self) {
        let last = self.ahead.map_or(0, |frame| frame.time_ns);
        let (time_ns, original_len, interface) = match self.reader.next_record() {
            Ok(Some(record)) => {
                self.bytes.clear();
                self.bytes.extend_from_slice(record.captured);
                // A record without a time is taken to come at once after the one before it.
                let time_ns = record.time.map_or(last, UnixTime::as_nanos);
                (time_ns, record.original_len, record.interface as usize)
            }
            Ok(None) => {
                self.ahead = None;
                return;
            }
            Err(error) => {
                self.damage = Some(error);
                self.ahead = None;
                return;
            }
        };
        if interface >= self.links.len() {
            let interfaces = self.reader.interfaces().iter();
            self.links = interfaces.map(|i| LinkType::from_number(i.link_type)).collect();
        }
        let link = self.links.get(interface).copied().unwrap_or(LinkType::Other(u16::MAX));
        self.ahead = Some(Ahead { time_ns, link, original_len });
    }

    fn dropped(&self) -> u64 {
        let counted = self.reader.statistics().iter().flatten();
        counted.map(Statistics::all_dropped).fold(0, u64::saturating_add)
    }
}
