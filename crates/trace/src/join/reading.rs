//! Two captures into the joiner.

use std::collections::VecDeque;
use std::io::Read;

use tcplab_capture::{ReadError, Reader, Statistics, UnixTime};
use tcplab_units::Endpoint;
use tcplab_wire::LinkType;

use super::clock_steps::KnownClock;
use super::{Joined, Joiner, Survey};
use crate::Frame;
use crate::analyzer::CaptureClock;

/// Whose times the captures have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// Each host's own.
    Apart,
    /// Those of one clock, as where one process writes both.
    One,
}

/// Joins two captures, each of which is read twice: `open` begins from its start.
///
/// A capture that is cut off or damaged gives what can be read of it, and a note.
///
/// # Errors
/// Those of `open`.
pub fn join<R: Read, E>(
    mut open: impl FnMut(Endpoint) -> Result<Reader<R>, E>,
    clocks: Clocks,
) -> Result<Joined, E> {
    let mut survey = Survey::default();
    let mut again = Vec::new();
    for side in Endpoint::BOTH {
        let mut frames = Frames::new(open(side)?, KnownClock::default());
        let mut set_ahead = VecDeque::new();
        while let Some((frame, clock)) = frames.frame_and_clock() {
            let set = survey.frame_by(side, &frame, clock);
            set_ahead.extend(set.map(|by| (frames.number, by)));
            frames.advance();
        }
        again.push(KnownClock::new(set_ahead));
    }
    let rough = survey.finish();
    let mut joiner = Joiner::new(match clocks {
        Clocks::Apart => rough,
        Clocks::One => rough.by_one_clock(),
    });
    let mut captures = Vec::new();
    for (side, clock) in Endpoint::BOTH.into_iter().zip(again) {
        captures.push(Frames::new(open(side)?, clock));
    }
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
    for (side, frames) in Endpoint::BOTH.into_iter().zip(&captures) {
        joiner.clock_was_set(side, frames.clock.set);
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
    clock: KnownClock,
    /// Of the one ahead, from 1.
    number: u64,
    /// Its time as written, nanoseconds.
    written: u64,
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

impl Ahead {
    fn frame(self, bytes: &[u8]) -> Frame<'_> {
        let Ahead { time_ns, link, original_len } = self;
        Frame { time_ns, link, captured: bytes, original_len, comment: None }
    }
}

impl<R: Read> Frames<R> {
    fn new(reader: Reader<R>, clock: KnownClock) -> Frames<R> {
        let mut frames = Frames {
            reader,
            clock,
            number: 0,
            written: 0,
            links: Vec::new(),
            ahead: None,
            bytes: Vec::new(),
            damage: None,
        };
        frames.advance();
        frames
    }

    fn frame(&self) -> Option<Frame<'_>> {
        Some(self.ahead?.frame(&self.bytes))
    }

    /// And the clock by which its time was read.
    fn frame_and_clock(&mut self) -> Option<(Frame<'_>, &mut CaptureClock)> {
        Some((self.ahead?.frame(&self.bytes), self.clock.unexplained()))
    }

    fn advance(&mut self) {
        self.number += 1;
        let (original_len, interface) = match self.reader.next_record() {
            Ok(Some(record)) => {
                self.bytes.clear();
                self.bytes.extend_from_slice(record.captured);
                // A record without a time is taken to come at once after the one before it.
                self.written = record.time.map_or(self.written, UnixTime::as_nanos);
                (record.original_len, record.interface as usize)
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
        let time_ns = self.clock.read(self.number, self.written);
        self.ahead = Some(Ahead { time_ns, link, original_len });
    }

    fn dropped(&self) -> u64 {
        let counted = self.reader.statistics().iter().flatten();
        counted.map(Statistics::all_dropped).fold(0, u64::saturating_add)
    }
}
