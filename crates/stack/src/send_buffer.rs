//! What the application gave and the peer has not acknowledged.

use std::collections::VecDeque;

use tcplab_units::Bytes;

use crate::buffer_pool::Buffers;
use crate::segment::{Data, Offered};
use crate::sender::NextChunk;
use crate::{BufferPool, Config, truesize};

/// The bytes of a stream from the first unacknowledged one on, in the blocks in which the
/// application gave them. Segments share these blocks.
///
/// Positions are those of the connection: the first byte of data is at 1.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    /// Each block and the position of its first byte.
    blocks: VecDeque<(u64, Data)>,
    /// Where `segment` found its last block: the next one is near.
    cursor: usize,
    /// The first position kept.
    start: u64,
    /// The position behind the last byte.
    end: u64,
    /// What Linux would keep as one buffer (`skb`).
    chunks: VecDeque<Chunk>,
    /// Where the chunk lies that was sent last: the next one asked for is near.
    chunk_cursor: usize,
    /// Room, in what `charged` counts.
    capacity: u64,
    charges_memory: bool,
    /// What each chunk is charged besides its data; 0 where memory is not.
    overhead: u64,
    /// The most segments kept; each chunk counts as many as it is full segments, rounded up.
    most_segments: Option<u32>,
    segments: u32,
    /// The buffers of the machine's pool that they take, where it has one.
    buffers: Option<Buffers>,
    /// How many chunks are sealed.
    sealed: u32,
    /// Whether the last write found no room: what `sk_stream_wait_memory` sleeps for.
    full: bool,
    /// Whether it was the pool that had none.
    is_starved: bool,
}

/// How a call writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// The position up to which data was handed down: nothing is appended to a chunk of which some
    /// was.
    pub(crate) sent: u64,
    /// A full segment, bytes.
    pub(crate) mss: u32,
    /// How large a chunk becomes (`size_goal`), a multiple of that.
    pub(crate) goal: u32,
    /// More is to come at once.
    pub(crate) more: bool,
    /// The call has written before.
    pub(crate) goes_on: bool,
}

/// Bytes that are sent and freed together, as a write or several of them left them.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: u64,
    end: u64,
    /// Segments it was counted as.
    segments: u32,
    /// Whether the last segment of it carries PSH.
    push: bool,
    /// Whether nothing is appended, and nothing sent in one segment with what follows.
    sealed: bool,
}

impl SendBuffer {
    pub(crate) fn new(config: &Config) -> SendBuffer {
        let charges_memory = config.sending.charges_memory;
        SendBuffer {
            start: 1,
            end: 1,
            capacity: config.sending.buffer[0].as_u64(),
            charges_memory,
            overhead: if charges_memory { truesize::of_sent(&config.sending) } else { 0 },
            most_segments: config.sending.segments,
            ..SendBuffer::default()
        }
    }

    /// Its segments take buffers of this pool.
    pub(crate) fn draw_from(&mut self, pool: &BufferPool) {
        self.buffers = Some(pool.buffers());
        self.settle();
    }

    /// The pool learns how many segments there are.
    fn settle(&mut self) {
        if let Some(buffers) = &mut self.buffers {
            buffers.set(self.segments);
        }
    }

    /// The position behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes kept, sent or not.
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// What counts against the room: memory as Linux charges it, or bytes.
    pub(crate) fn charged(&self) -> u64 {
        self.len() + self.overhead * self.chunks.len() as u64
    }

    pub(crate) fn capacity(&self) -> Bytes {
        Bytes::new(self.capacity)
    }

    pub(crate) fn set_capacity(&mut self, capacity: Bytes) {
        self.capacity = capacity.as_u64();
    }

    /// Whether a write would now find so much room that it is worth waking the application:
    /// a third of the buffer (`sk_stream_is_writeable`), one segment where segments are counted.
    pub(crate) fn is_writable(&self) -> bool {
        let room = self.capacity.saturating_sub(self.charged());
        let enough = if self.charges_memory { self.charged() / 2 } else { 1 };
        room >= enough.max(1) && self.free_segments() > 0
    }

    /// Whether the last write found no room for all it had.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// A write found no room for all it had.
    pub(crate) fn set_full(&mut self) {
        self.full = true;
        self.note_starved();
        self.push();
    }

    /// Looks whether it is the pool that has no room.
    pub(crate) fn note_starved(&mut self) {
        self.is_starved = self.is_pool_empty() && self.own_free_segments() > 0;
    }

    /// Whether the last write waits for a buffer of the pool.
    pub(crate) fn awaits_pool(&self) -> bool {
        self.full && self.is_starved
    }

    /// Whether there is none in the pool.
    pub(crate) fn is_pool_empty(&self) -> bool {
        self.buffers.as_ref().is_some_and(|buffers| buffers.free() == 0)
    }

    /// There is room again, and the application learns it.
    pub(crate) fn clear_full(&mut self) {
        self.full = false;
    }

    /// Takes as much of what is `offered`, from `from` on, as one chunk has room for, and says how
    /// much that is. Unless more is to come, PSH goes with the last byte (RFC 9293 section
    /// 3.9.1.2).
    pub(crate) fn append(&mut self, offered: Offered<'_>, from: u32, how: Manner) -> u32 {
        let Manner { sent, more, goes_on, .. } = how;
        let (mss, goal) = (how.mss.max(1), how.goal.max(how.mss).max(1));
        let (before, left) = (self.end, offered.len() - from);
        let accepted = match self.extend_tail(left, sent, mss, goal) {
            0 => self.open_chunk(left, mss, goal),
            accepted => accepted,
        };
        self.full = false;
        if accepted > 0 {
            let taken = offered.take(from..from + accepted);
            let joined = self.blocks.back_mut().is_some_and(|(_, last)| last.join(&taken));
            if !joined {
                self.blocks.push_back((before, taken));
            }
        }
        if let Some(tail) = self.chunks.back_mut() {
            // What another write adds may still leave in the same segment: PSH goes with its end.
            tail.push &= goes_on || accepted == 0;
            let last = accepted == left && !more;
            tail.push |= accepted > 0 && last;
        }
        self.settle();
        accepted
    }

    /// Where the last chunk begins.
    pub(crate) fn tail_start(&self) -> Option<u64> {
        self.chunks.back().map(|tail| tail.start)
    }

    /// Whether the last chunk takes more.
    pub(crate) fn has_open_chunk(&self, sent: u64, goal: u32) -> bool {
        self.chunks.back().is_some_and(|tail| {
            let filled = tail.end - tail.start;
            !tail.sealed && tail.start >= sent && filled < u64::from(goal)
        })
    }

    /// Adds to the last chunk what it still takes, at most `most` bytes.
    fn extend_tail(&mut self, most: u32, sent: u64, mss: u32, goal: u32) -> u32 {
        let (free, room_for_segments) = (self.free_bytes(), self.free_segments());
        let Some(tail) = self.chunks.back_mut() else { return 0 };
        let filled = tail.end - tail.start;
        if tail.sealed || tail.start < sent || filled >= u64::from(goal) {
            return 0;
        }
        let within = goal - filled as u32;
        let in_segments = (u64::from(tail.segments) + u64::from(room_for_segments))
            .saturating_mul(u64::from(mss))
            .saturating_sub(filled);
        let taken = u64::from(most.min(within)).min(free).min(in_segments) as u32;
        if taken > 0 {
            tail.end += u64::from(taken);
            let segments = (tail.end - tail.start).div_ceil(u64::from(mss)) as u32;
            self.segments = self.segments + segments - tail.segments;
            tail.segments = segments;
            self.end += u64::from(taken);
        }
        taken
    }

    fn open_chunk(&mut self, most: u32, mss: u32, goal: u32) -> u32 {
        // Linux asks for room before it opens a buffer, and fills it whatever its size
        // (`sk_stream_memory_free` in `tcp_sendmsg_locked`).
        let free = if !self.charges_memory {
            self.free_bytes()
        } else if self.charged() < self.capacity {
            u64::MAX
        } else {
            0
        };
        let in_segments = u64::from(self.free_segments()) * u64::from(mss);
        let taken = u64::from(most.min(goal)).min(free).min(in_segments) as u32;
        if taken > 0 {
            let segments = taken.div_ceil(mss);
            self.segments += segments;
            let (start, end) = (self.end, self.end + u64::from(taken));
            self.chunks.push_back(Chunk { start, end, segments, push: false, sealed: false });
            self.end = end;
        }
        taken
    }

    fn free_bytes(&self) -> u64 {
        // A chunk that is open takes what it was opened for.
        if self.charges_memory { u64::MAX } else { self.capacity.saturating_sub(self.len()) }
    }

    fn free_segments(&self) -> u32 {
        let of_pool = self.buffers.as_ref().map_or(u32::MAX, Buffers::free);
        self.own_free_segments().min(of_pool)
    }

    fn own_free_segments(&self) -> u32 {
        self.most_segments.map_or(u32::MAX, |most| most.saturating_sub(self.segments))
    }

    /// Data was handed down from `start` up to `end`. A chunk that began before takes all of it
    /// (`tcp_grow_skb`); one that reaches beyond is two from now on (`tso_fragment`).
    pub(crate) fn mark_sent(&mut self, start: u64, end: u64, mss: u32) {
        if self.charges_memory {
            self.grow(start, end, mss);
        }
        let first = self.chunk_of(end.saturating_sub(1));
        let Some(chunk) = self.chunks.get(first).copied() else { return };
        self.chunk_cursor = first;
        if chunk.start < end && end < chunk.end {
            let rest = Chunk { start: end, ..chunk };
            self.chunks[first] = Chunk { end, push: false, sealed: false, ..chunk };
            self.chunks.insert(first + 1, rest);
            self.count(first, mss);
            self.count(first + 1, mss);
            self.segments -= chunk.segments;
            // Both parts take a buffer, though the socket or the pool has no more.
            self.settle();
        }
    }

    /// The chunk with the byte at `start` takes all up to `end` (`tcp_grow_skb`).
    pub(crate) fn grow(&mut self, start: u64, end: u64, mss: u32) {
        let first = self.chunk_of(start);
        while let Some([chunk, next]) = self.pair(first)
            && chunk.end < end
        {
            self.move_to_front(first, end.min(next.end), mss);
        }
    }

    /// A chunk and the next one.
    fn pair(&self, first: usize) -> Option<[Chunk; 2]> {
        Some([*self.chunks.get(first)?, *self.chunks.get(first + 1)?])
    }

    /// The bytes up to `end` of the chunk behind `first` go over to that.
    fn move_to_front(&mut self, first: usize, end: u64, mss: u32) {
        let Some([chunk, next]) = self.pair(first) else { return };
        self.segments -= chunk.segments + next.segments;
        self.chunks[first].end = end;
        if end == next.end {
            self.chunks[first].push |= next.push;
            self.chunks[first].sealed = next.sealed;
            self.chunks.remove(first + 1);
        } else {
            self.chunks[first + 1].start = end;
            self.count(first + 1, mss);
        }
        self.count(first, mss);
        self.settle();
    }

    /// Counts the segments of a chunk, which were not counted.
    fn count(&mut self, index: usize, mss: u32) {
        let chunk = &mut self.chunks[index];
        chunk.segments = (chunk.end - chunk.start).div_ceil(u64::from(mss.max(1))) as u32;
        self.segments += chunk.segments;
    }

    /// Lets go of everything below `position`.
    pub(crate) fn release(&mut self, position: u64) {
        let position = position.clamp(self.start, self.end);
        self.start = position;
        while let Some((start, data)) = self.blocks.front()
            && start + u64::from(data.len()) <= position
        {
            self.blocks.pop_front();
            self.cursor = self.cursor.saturating_sub(1);
        }
        while let Some(chunk) = self.chunks.front()
            && chunk.end <= position
        {
            self.segments -= chunk.segments;
            self.sealed -= u32::from(chunk.sealed);
            self.chunks.pop_front();
            self.chunk_cursor = self.chunk_cursor.saturating_sub(1);
        }
        self.settle();
    }

    /// Lets go of everything.
    pub(crate) fn clear(&mut self) {
        self.release(self.end);
    }

    /// The `len` bytes from `start` on, in the blocks in which they lie; of a single segment, which
    /// has `mss` at most, in one.
    ///
    /// # Panics
    /// When they are not all there.
    pub(crate) fn burst(&mut self, start: u64, len: u32, mss: u32) -> (Data, Vec<Data>) {
        let mut rest = Vec::new();
        if len == 0 {
            return (Data::default(), rest);
        }
        let end = start + u64::from(len);
        assert!(
            self.start <= start && end <= self.end,
            "{start}..{end} of {}..{}",
            self.start,
            self.end
        );
        self.cursor = self.block_of(start);
        let first = self.part_of_block(start, end);
        let mut position = start + u64::from(first.len());
        while position < end {
            self.cursor += 1;
            let part = self.part_of_block(position, end);
            position += u64::from(part.len());
            rest.push(part);
        }
        if rest.is_empty() || len > mss {
            return (first, rest);
        }
        let mut bytes = Vec::with_capacity(len as usize);
        for part in std::iter::once(&first).chain(&rest) {
            bytes.extend_from_slice(part.as_slice());
        }
        (Data::copy_of(&bytes), Vec::new())
    }

    /// What the block at the cursor has of `start..end`, from `start` on.
    fn part_of_block(&self, start: u64, end: u64) -> Data {
        let (block_start, data) = &self.blocks[self.cursor];
        let from = (start - block_start) as u32;
        data.part(from..data.len().min((end - block_start) as u32))
    }

    /// Index of the block that holds `position`: seldom far from the last one asked for.
    fn block_of(&self, position: u64) -> usize {
        let holds = |index: usize| {
            self.blocks.get(index).is_some_and(|(start, data)| {
                (*start..start + u64::from(data.len())).contains(&position)
            })
        };
        if holds(self.cursor) {
            self.cursor
        } else if holds(self.cursor + 1) {
            self.cursor + 1
        } else {
            self.blocks.partition_point(|(start, _)| *start <= position) - 1
        }
    }

    /// Whether a segment that ends at `end` carries PSH: a write ended there.
    pub(crate) fn is_pushed_at(&self, end: u64) -> bool {
        let chunk = self.chunks.get(self.chunk_of(end.saturating_sub(1)));
        chunk.is_some_and(|chunk| chunk.end == end && chunk.push)
    }

    /// Index of the chunk that holds `position`, or else of the first behind it: seldom far from
    /// the one sent last.
    fn chunk_of(&self, position: u64) -> usize {
        if position >= self.end {
            return self.chunks.len();
        }
        let holds = |index: usize| {
            let chunk = self.chunks.get(index);
            chunk.is_some_and(|chunk| (chunk.start..chunk.end).contains(&position))
        };
        let near = [self.chunk_cursor, self.chunk_cursor + 1];
        near.into_iter()
            .find(|index| holds(*index))
            .unwrap_or_else(|| self.chunks.partition_point(|chunk| chunk.end <= position))
    }

    /// Ends the record (MSG_EOR): later data is neither appended to it nor sent in its segments.
    pub(crate) fn seal(&mut self) {
        if let Some(tail) = self.chunks.back_mut().filter(|tail| !tail.sealed) {
            tail.sealed = true;
            self.sealed += 1;
        }
    }

    /// Whether anything is sealed.
    pub(crate) fn has_seals(&self) -> bool {
        self.sealed > 0
    }

    /// The buffer that leaves next when all before `position` was sent. Where memory is not charged
    /// there are none, but records end (MSG_EOR).
    pub(crate) fn next_chunk(&self, position: u64) -> Option<NextChunk> {
        if !self.charges_memory && self.sealed == 0 {
            return None;
        }
        let first = self.chunk_of(position);
        if !self.charges_memory {
            let end = self.chunks.range(first..).find(|chunk| chunk.sealed)?.end;
            return Some(NextChunk { end, most: end });
        }
        let chunk = self.chunks.get(first)?;
        let next = self.chunks.get(first + 1).filter(|_| !chunk.sealed);
        Some(NextChunk { end: chunk.end, most: next.unwrap_or(chunk).end })
    }

    /// From now on PSH goes with the last byte, whatever was announced to follow it.
    pub(crate) fn push(&mut self) {
        if let Some(tail) = self.chunks.back_mut() {
            tail.push = true;
        }
    }
}

#[cfg(test)]
mod tests;
