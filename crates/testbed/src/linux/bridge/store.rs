//! Where packets stay while the path decides on them.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use tcplab_wire::offload::{GsoType, Layout, OffloadError, VnetHeader, complete_checksum};

use crate::device::{LARGEST, Received};
use crate::link_header::LinkHeader;

/// A chunk takes several of the largest reads, and is small enough to stay in a processor's cache.
const CHUNK: usize = 4 * LARGEST;

/// The packets read: super-packets stay whole, and the path gets only the size of each of their
/// segments.
///
/// Memory is taken in chunks, filled one after the other and used again when all that is in them
/// has gone; in the long run nothing is allocated.
pub(crate) struct Store {
    chunks: Vec<Chunk>,
    /// Chunks without anything in them, except the current one.
    free: Vec<usize>,
    current: usize,
    /// Where the current one is free from.
    filled: usize,
    /// In the order of their ids; some in the middle may have gone already.
    kept: VecDeque<StoredPacket>,
    /// The serial number of the first of these.
    first: u64,
}

struct Chunk {
    bytes: Box<[u8]>,
    /// How many of those kept lie in it.
    kept: u32,
}

/// A packet or super-packet in the store.
struct StoredPacket {
    /// That of its first segment; the others count on.
    id: u64,
    chunk: usize,
    at: usize,
    len: usize,
    link: LinkHeader,
    header: VnetHeader,
    /// None for what is no TCP segment.
    layout: Option<Layout>,
    segments: usize,
    /// Segments that are still needed.
    needed: usize,
}

/// A segment in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) serial: u64,
    pub(crate) segment: usize,
}

/// A borrowed packet in the store.
pub(crate) struct Look<'a> {
    pub(crate) link: LinkHeader,
    pub(crate) header: VnetHeader,
    pub(crate) packet: &'a [u8],
    pub(crate) layout: Option<&'a Layout>,
    pub(crate) segments: usize,
}

impl Look<'_> {
    /// Whether these are all its segments.
    pub(crate) fn is_whole(&self, segments: &RangeInclusive<usize>) -> bool {
        *segments.start() == 0 && segments.end() + 1 == self.segments
    }

    /// Appends a segment as it would be on a wire.
    pub(crate) fn write_segment(&self, segment: usize, into: &mut Vec<u8>) {
        let header = self.header;
        match self.layout {
            Some(layout) if header.gso_type != GsoType::None || header.needs_checksum => {
                layout.write_segment(self.packet, segment, usize::MAX, into);
            }
            _ => {
                into.extend_from_slice(self.packet);
                if header.needs_checksum {
                    // The checksum field would lie outside the packet: it stays as it is.
                    let _ = complete_checksum(into, header.csum_start, header.csum_offset);
                }
            }
        }
    }

    /// Length of all segments together in bytes of IP.
    pub(crate) fn total_size(&self) -> usize {
        let headers = self.layout.map_or(0, |layout| layout.header_len() * (self.segments - 1));
        self.packet.len() + headers
    }

    /// Length of a segment in bytes of IP.
    pub(crate) fn size(&self, segment: usize) -> usize {
        self.layout.map_or(self.packet.len(), |layout| layout.size(segment))
    }
}

impl Store {
    pub(crate) fn new() -> Store {
        Store {
            chunks: vec![Chunk::new()],
            free: Vec::new(),
            current: 0,
            filled: 0,
            kept: VecDeque::new(),
            first: 0,
        }
    }

    /// Room for one read.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.chunks[self.current].kept == 0 {
            self.filled = 0;
        } else if self.filled + LARGEST > CHUNK {
            self.current = self.free.pop().unwrap_or_else(|| {
                self.chunks.push(Chunk::new());
                self.chunks.len() - 1
            });
            self.filled = 0;
        }
        &mut self.chunks[self.current].bytes[self.filled..]
    }

    /// How what was just read into the room falls into segments.
    pub(crate) fn layout_of(&self, received: Received) -> Result<Option<Layout>, OffloadError> {
        let packet = self.packet(self.current, self.filled + received.at, received.len);
        let header = received.header;
        Ok(match header.gso_type {
            GsoType::TcpV4 | GsoType::TcpV6 => Some(Layout::of(packet, header.gso_size)?),
            // Whatever it is: one packet.
            GsoType::None => Layout::of(packet, 0).ok(),
            other => return Err(OffloadError::NotTcpOffload(other)),
        })
    }

    /// What was just read, with its layout.
    pub(crate) fn read<'a>(&'a self, received: Received, layout: Option<&'a Layout>) -> Look<'a> {
        let packet = self.packet(self.current, self.filled + received.at, received.len);
        let segments = layout.map_or(1, Layout::segments);
        Look { link: received.link, header: received.header, packet, layout, segments }
    }

    /// Keeps what was just read until all its segments are [released](Store::release); `id` is
    /// that of the first one.
    /// Gives its serial number.
    pub(crate) fn keep(&mut self, id: u64, received: Received, layout: Option<Layout>) -> u64 {
        let segments = layout.map_or(1, |layout| layout.segments());
        self.kept.push_back(StoredPacket {
            id,
            chunk: self.current,
            at: self.filled + received.at,
            len: received.len,
            link: received.link,
            header: received.header,
            layout,
            segments,
            needed: segments,
        });
        self.chunks[self.current].kept += 1;
        // The next one starts on a cache line of its own.
        self.filled = (self.filled + received.at + received.len).next_multiple_of(64).min(CHUNK);
        self.first + self.kept.len() as u64 - 1
    }

    /// Where the packet `id` is.
    pub(crate) fn find(&self, id: u64) -> Option<Place> {
        let after = match self.kept.front() {
            // Most often it is the oldest.
            Some(front) if id < front.id + front.segments as u64 => 1,
            _ => self.kept.partition_point(|kept| kept.id <= id),
        };
        let index = after.checked_sub(1)?;
        let segment = id.checked_sub(self.kept[index].id)? as usize;
        let is_in = segment < self.kept[index].segments;
        is_in.then_some(Place { serial: self.first + index as u64, segment })
    }

    pub(crate) fn look(&self, serial: u64) -> Look<'_> {
        let kept = &self.kept[(serial - self.first) as usize];
        let packet = self.packet(kept.chunk, kept.at, kept.len);
        let layout = kept.layout.as_ref();
        Look { link: kept.link, header: kept.header, packet, layout, segments: kept.segments }
    }

    fn packet(&self, chunk: usize, at: usize, len: usize) -> &[u8] {
        &self.chunks[chunk].bytes[at..at + len]
    }

    /// Releases segments that have left.
    pub(crate) fn release(&mut self, serial: u64, segments: usize) {
        let kept = &mut self.kept[(serial - self.first) as usize];
        kept.needed -= segments;
        if kept.needed > 0 {
            return;
        }
        let chunk = kept.chunk;
        self.chunks[chunk].kept -= 1;
        if self.chunks[chunk].kept == 0 && chunk != self.current {
            self.free.push(chunk);
        }
        while self.kept.front().is_some_and(|kept| kept.needed == 0) {
            self.kept.pop_front();
            self.first += 1;
        }
    }
}

impl Chunk {
    fn new() -> Chunk {
        Chunk { bytes: vec![0; CHUNK].into(), kept: 0 }
    }
}
