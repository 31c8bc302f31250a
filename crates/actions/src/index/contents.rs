//! What an index contains, in order:
//!
//! - a magic number with the version of this format, and the key of what was indexed;
//! - the frames of connections, as the analyser tells them: each with the distance from the last
//!   frame and its position, and with the connection, as far as they differ; between them, which
//!   connections reuse the ends of others, and which cannot be found by their frames;
//! - what concerns the whole capture;
//! - a hash of all this.

use std::io::{Read, Write};

use tcplab_trace::{KnownConnection, Note, OtherPackets, Trace};

use super::bytes::{ByteReader, ByteWriter};

/// "tcplab", "index", the version of the format.
const MAGIC: &[u8; 16] = b"tcplab\x89index\r\n\x01\0";
/// The length of a key, bytes.
pub(super) const KEY: usize = 32;
/// The largest index, bytes. A frame takes one to six, so it is for 20 to 130 million frames.
pub(super) const LARGEST: u64 = 128 << 20;
/// The longest list of frames that is collected: 16 bytes each, beside some 200 for each packet of
/// a connection that is shown. Of a longer connection the whole capture is read.
const MOST_FRAMES: usize = 1 << 20;
/// The most changes of whether duplicates are usual.
pub(super) const MOST_CHANGES: usize = 1 << 12;
/// The most notes, and kinds of other packets.
const MOST_NOTES: u64 = 1 << 12;
/// The most bytes of all texts.
const MOST_TEXT: usize = 1 << 20;

/// Entries that are no frame of a connection, where a distance from the last frame would be zero.
const END: u64 = 0;
const REUSES: u64 = 1;
const LEFT_OUT: u64 = 2;
/// The lowest bits of a frame's first number: whether the connection is that of the last frame, and
/// which of the recent distances between positions comes again, if any.
const SAME: u64 = 1;
const FRESH: u64 = 3;
const BITS: u32 = 3;

/// The latest frame, against which the next is written.
#[derive(Debug, Default)]
struct Latest {
    frame: u64,
    position: u64,
    connection: u64,
    /// Recent distances between positions, the latest first: lengths of records repeat.
    distances: [u64; FRESH as usize],
}

impl Latest {
    /// A distance is the latest now.
    #[inline]
    fn move_up(&mut self, place: usize, distance: u64) {
        let place = place.min(self.distances.len() - 1);
        self.distances.copy_within(0..place, 1);
        self.distances[0] = distance;
    }
}

/// Writes what is in an index.
#[derive(Debug)]
pub(super) struct ContentsWriter<W> {
    bytes: ByteWriter<W>,
    latest: Latest,
}

impl<W: Write> ContentsWriter<W> {
    pub(super) fn new(out: W, key: &[u8; KEY]) -> ContentsWriter<W> {
        let mut bytes = ByteWriter::new(out);
        bytes.bytes(MAGIC);
        bytes.bytes(key);
        ContentsWriter { bytes, latest: Latest::default() }
    }

    /// Adds a frame, later than the last. None if the index becomes too large, or cannot be
    /// written.
    pub(super) fn frame(&mut self, frame: u64, position: u64, connection: u64) -> Option<()> {
        let latest = &mut self.latest;
        let further = frame.checked_sub(latest.frame).filter(|it| *it > 0)?;
        let distance = position.checked_sub(latest.position)?;
        let place = latest.distances.iter().position(|recent| *recent == distance);
        let place = place.unwrap_or(FRESH as usize);
        let same = connection == latest.connection;
        self.bytes.number(further << BITS | (place as u64) << 1 | if same { SAME } else { 0 });
        if !same {
            self.bytes.number(zigzag(connection.wrapping_sub(latest.connection) as i64));
        }
        if place as u64 == FRESH {
            self.bytes.number(distance);
        }
        latest.move_up(place, distance);
        (latest.frame, latest.position, latest.connection) = (frame, position, connection);
        self.pass_on()
    }

    pub(super) fn reuses(&mut self, connection: u64, earlier: u64) -> Option<()> {
        self.bytes.numbers(&[REUSES, connection, earlier]);
        self.pass_on()
    }

    pub(super) fn left_out(&mut self, connection: u64) -> Option<()> {
        self.bytes.numbers(&[LEFT_OUT, connection]);
        self.pass_on()
    }

    /// Writes what concerns all; the rest of the file is complete then.
    pub(super) fn end(mut self, trace: &Trace, copies_usual: &[(u64, bool)]) -> Option<W> {
        let Trace { epoch_nanos, packets, others, notes, .. } = trace;
        let bytes = &mut self.bytes;
        bytes.numbers(&[END, *epoch_nanos, *packets]);
        bytes.numbers(&[others.len(), notes.len(), copies_usual.len()].map(|len| len as u64));
        for other in others {
            bytes.number(other.packets);
            bytes.text(&other.protocol);
        }
        for note in notes {
            // Frames count from 1.
            bytes.number(note.frame.unwrap_or(0));
            bytes.text(&note.text);
        }
        for (frame, usual) in copies_usual {
            bytes.numbers(&[*frame, u64::from(*usual)]);
        }
        let texts = others.iter().map(|it| &it.protocol).chain(notes.iter().map(|it| &it.text));
        let fits = others.len().max(notes.len()) as u64 <= MOST_NOTES
            && texts.map(String::len).sum::<usize>() <= MOST_TEXT
            && bytes.len() < LARGEST;
        if fits { self.bytes.end().ok() } else { None }
    }

    fn pass_on(&mut self) -> Option<()> {
        self.bytes.pass_on().ok().filter(|()| self.bytes.len() < LARGEST)
    }
}

/// What an index says of a connection.
#[derive(Debug, PartialEq)]
pub enum Lookup {
    /// All that is needed to analyse it.
    Known(Known),
    /// It is not in the index, or cannot be found by its frames: all must be read.
    Unknown,
    /// There is no index that can be used.
    NoIndex,
}

/// One connection by an index.
#[derive(Debug, PartialEq)]
pub struct Known {
    /// The trace of the capture, without connections.
    pub(super) trace: Trace,
    pub(super) connection: KnownConnection,
}

/// One connection, from an index of so many bytes with this key. None if the index is anything
/// else, or damaged.
pub(super) fn find(
    (source, len): (impl Read, u64),
    key: &[u8; KEY],
    connection: usize,
) -> Option<Lookup> {
    let mut bytes = ByteReader::new(source, len).filter(|_| len <= LARGEST)?;
    if bytes.bytes(MAGIC.len())? != MAGIC || bytes.bytes(KEY)? != key {
        return None;
    }
    let wanted = connection as u64;
    let mut known = KnownConnection {
        index: connection,
        reuses: None,
        epoch_nanos: 0,
        frames: Vec::new(),
        copies_usual: Vec::new(),
    };
    let (mut latest, mut left_out) = (Latest::default(), false);
    loop {
        match bytes.number()? {
            END => break,
            REUSES => {
                let (later, earlier) = (bytes.number()?, bytes.number()?);
                if later == wanted {
                    known.reuses = Some(usize::try_from(earlier).ok()?);
                }
            }
            LEFT_OUT => left_out |= bytes.number()? == wanted,
            first => {
                next_frame(&mut bytes, first, &mut latest)?;
                if latest.connection == wanted && !left_out {
                    left_out = known.frames.len() == MOST_FRAMES;
                    known.frames.push((latest.frame, latest.position));
                }
            }
        }
    }
    let trace = whole(&mut bytes, &mut known)?;
    if !bytes.ends() || latest.frame > trace.packets {
        return None;
    }
    let is_known = !left_out && !known.frames.is_empty();
    Some(if is_known { Lookup::Known(Known { trace, connection: known }) } else { Lookup::Unknown })
}

#[inline]
fn next_frame(bytes: &mut ByteReader<impl Read>, first: u64, latest: &mut Latest) -> Option<()> {
    let (further, place) = (first >> BITS, (first >> 1 & FRESH) as usize);
    if further == 0 {
        return None;
    }
    if first & SAME == 0 {
        let by = unzigzag(bytes.number()?);
        latest.connection = latest.connection.wrapping_add_signed(by);
    }
    let distance = match latest.distances.get(place) {
        Some(recent) => *recent,
        None => bytes.number()?,
    };
    latest.move_up(place, distance);
    latest.frame = latest.frame.checked_add(further)?;
    latest.position = latest.position.checked_add(distance)?;
    Some(())
}

fn whole(bytes: &mut ByteReader<impl Read>, known: &mut KnownConnection) -> Option<Trace> {
    let mut counts = [0; 5];
    for count in &mut counts {
        *count = bytes.number()?;
    }
    let [epoch_nanos, packets, others, notes, changes] = counts;
    if others.max(notes) > MOST_NOTES || changes > MOST_CHANGES as u64 {
        return None;
    }
    let mut room = MOST_TEXT;
    let mut text = |bytes: &mut ByteReader<_>| {
        let text = bytes.text(room)?;
        room -= text.len();
        Some(text)
    };
    let mut other = |_| {
        let packets = bytes.number()?;
        Some(OtherPackets { packets, protocol: text(bytes)? })
    };
    let others = (0..others).map(&mut other).collect::<Option<Vec<_>>>()?;
    let mut note = |_| {
        let frame = Some(bytes.number()?).filter(|frame| *frame > 0);
        Some(Note { frame, text: text(bytes)? })
    };
    let notes = (0..notes).map(&mut note).collect::<Option<Vec<_>>>()?;
    for _ in 0..changes {
        known.copies_usual.push((bytes.number()?, bytes.number()? > 0));
    }
    known.epoch_nanos = epoch_nanos;
    Some(Trace { epoch_nanos, packets, others, connections: Vec::new(), notes })
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}
fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads untrusted bytes as an index, whatever they are the index of: for fuzzing.
pub fn check_index(bytes: &[u8]) {
    let key = bytes.get(MAGIC.len()..).and_then(|rest| rest.first_chunk());
    for connection in 0..3 {
        let source = (bytes, bytes.len() as u64);
        if let Some(Lookup::Known(known)) = find(source, key.unwrap_or(&[0; KEY]), connection) {
            let Known { trace, connection } = known;
            assert!(!connection.frames.is_empty() && connection.frames.is_sorted());
            assert!(connection.frames.len() <= bytes.len() && trace.notes.len() <= bytes.len());
        }
    }
}
