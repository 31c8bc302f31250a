//! The queue from the bridge to the recorder: pages, filled by one thread and written to files by
//! another.
//!
//! The bridge must never wait for a disk. So it fills pages of fixed size and passes them on when
//! they are full, or 50 times a second; there is a fixed number of them, and while all are with the
//! recorder, frames are left out of the captures, and counted. A packet costs a copy of its bytes;
//! locks, allocations and wake-ups come per page, if at all. Super-packets are copied as they are,
//! and cut and summed by the recorder.

#[cfg(test)]
mod tests;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{self, Duration};

use tcplab_path::Verdict;
use tcplab_recording::{Captured, RecordingError, RecordingWriter};
use tcplab_units::{Endpoint, Instant};
use tcplab_wire::offload::{GsoType, Layout, VnetHeader, complete_checksum};

use crate::sampler::Looked;
use crate::trimmed::Trimmed;

/// The bytes of packets that fit on a page.
const PAGE_BYTES: usize = 512 << 10;
/// The events that fit on a page.
const PAGE_EVENTS: usize = 2048;
/// The number of pages: half a second of 1 Gbit/s.
const PAGES: usize = 128;
/// Pages reserved for verdicts: a frame without a verdict holds up those behind it.
const RESERVED: usize = 16;
/// How often the recorder checks for samples when no page comes.
const PATIENCE: Duration = Duration::from_millis(50);

/// What was written is flushed after this long, so that a running trial can be watched by its
/// files. People see as immediate what follows within a tenth of a second (Miller 1968, "Response
/// time in man-computer conversational transactions"): half of it is left to who reads.
const FLUSH: Duration = Duration::from_millis(50);

/// The nice value of the recorder (setpriority(2)) beside programs of others: a tenth of their
/// share where a processor is contested.
pub(crate) const BEHIND_PROGRAMS: i32 = 10;
/// The same beside endpoints of a trial, which have nice -20: a thirtieth of their share, and three
/// times that of who watches. Where it is not allowed, [`BEHIND_PROGRAMS`].
pub(crate) const BEHIND_ENDPOINTS: i32 = -5;

/// A stretch of pages, empty or written.
#[derive(Debug)]
struct Page {
    events: Vec<Event>,
    bytes: Vec<u8>,
}

/// An event; `bytes` is a range of the same page.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// The endpoint sent this; super-packets count as many ids as they have segments.
    Left { endpoint: Endpoint, at: Instant, id: u64, header: VnetHeader, bytes: (usize, usize) },
    /// The endpoint sent a packet of which only the first bytes are here.
    LeftCut { endpoint: Endpoint, at: Instant, id: u64, len: usize, bytes: (usize, usize) },
    /// The endpoint received this packet.
    Entered { endpoint: Endpoint, at: Instant, len: usize, bytes: (usize, usize) },
    /// The verdict on a packet; when it arrived, if unchanged.
    Decided { verdict: Verdict, arrived: Option<Instant> },
    /// The endpoint sent or received this, on a path that gives no verdicts.
    Seen {
        endpoint: Endpoint,
        at: Instant,
        is_sent: bool,
        header: VnetHeader,
        bytes: (usize, usize),
    },
    /// The endpoint sent or received a packet of which only the first bytes are here.
    SeenCut { endpoint: Endpoint, at: Instant, is_sent: bool, len: usize, bytes: (usize, usize) },
    /// Packets before this one are no longer on the path.
    Gone { before: u64 },
}

/// The sending end, for the thread that moves packets. It never blocks.
pub(crate) struct RecorderQueue {
    page: Option<Page>,
    full: SyncSender<Page>,
    empty: Receiver<Page>,
    /// Empty pages at hand.
    spare: Vec<Page>,
    /// Pages that may still be made.
    to_make: usize,
    snaplen: usize,
    /// Frames that found no room, at each endpoint.
    frames_lost: [u64; 2],
    verdicts_lost: u64,
    /// Verdicts were lost, and frames may wait for them.
    must_tell: bool,
}

/// The receiving end, for the thread that writes the recording.
pub(crate) struct Recorder {
    full: Receiver<Page>,
    empty: Sender<Page>,
    snaplen: usize,
    /// Scratch: a packet.
    packet: Vec<u8>,
    /// Of a recording of which only the latest part is kept.
    trimmed: Option<Trimmed>,
}

/// Both ends of a queue; captures keep the first `snaplen` bytes of each packet.
pub(crate) fn recorder_queue(snaplen: Option<u32>) -> (RecorderQueue, Recorder) {
    let (full_sender, full) = mpsc::sync_channel(PAGES);
    let (empty_sender, empty) = mpsc::channel();
    let snaplen = snaplen.map_or(usize::MAX, |len| len as usize);
    let queue = RecorderQueue {
        page: None,
        full: full_sender,
        empty,
        spare: Vec::new(),
        to_make: PAGES,
        snaplen,
        frames_lost: [0; 2],
        verdicts_lost: 0,
        must_tell: false,
    };
    (queue, Recorder { full, empty: empty_sender, snaplen, packet: Vec::new(), trimmed: None })
}

impl RecorderQueue {
    /// The endpoint sent `packet`, whose segments have the numbers from `id` on.
    pub(crate) fn left(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        id: u64,
        header: VnetHeader,
        packet: &[u8],
        layout: Option<&Layout>,
    ) {
        if packet.len() <= self.snaplen {
            if let Some(page) = self.room(1, packet.len(), RESERVED) {
                let bytes = page.put(packet);
                page.events.push(Event::Left { endpoint, at, id, header, bytes });
            } else {
                let segments = layout.map_or(1, Layout::segments);
                self.frames_lost[endpoint as usize] += segments as u64;
            }
            return;
        }
        let snaplen = self.snaplen;
        for index in 0..layout.map_or(1, Layout::segments) {
            let Some(page) = self.room(1, snaplen, RESERVED) else {
                self.frames_lost[endpoint as usize] += 1;
                continue;
            };
            let from = page.bytes.len();
            let len = if let Some(layout) = layout {
                layout.write_segment(packet, index, snaplen, &mut page.bytes);
                layout.size(index)
            } else {
                page.bytes.extend_from_slice(&packet[..snaplen]);
                packet.len()
            };
            let bytes = (from, page.bytes.len());
            let id = id + index as u64;
            page.events.push(Event::LeftCut { endpoint, at, id, len, bytes });
        }
    }

    /// The endpoint received this packet, which the path made or may have changed.
    pub(crate) fn entered(&mut self, endpoint: Endpoint, at: Instant, packet: &[u8]) {
        let kept = &packet[..packet.len().min(self.snaplen)];
        match self.room(1, kept.len(), RESERVED) {
            Some(page) => {
                let bytes = page.put(kept);
                page.events.push(Event::Entered { endpoint, at, len: packet.len(), bytes });
            }
            None => self.frames_lost[endpoint as usize] += 1,
        }
    }

    /// An endpoint sent or received a packet or super-packet; the path gives no verdicts.
    pub(crate) fn seen(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        is_sent: bool,
        header: VnetHeader,
        packet: &[u8],
    ) {
        match self.room(1, packet.len(), 1) {
            Some(page) => {
                let bytes = page.put(packet);
                page.events.push(Event::Seen { endpoint, at, is_sent, header, bytes });
            }
            None => self.frames_lost[endpoint as usize] += 1,
        }
    }

    /// Like [`seen`](Self::seen), for a packet of `len` bytes of which only the first are here.
    pub(crate) fn seen_cut(
        &mut self,
        endpoint: Endpoint,
        at: Instant,
        is_sent: bool,
        packet: &[u8],
        len: usize,
    ) {
        let packet = &packet[..packet.len().min(self.snaplen)];
        match self.room(1, packet.len(), 1) {
            Some(page) => {
                let bytes = page.put(packet);
                page.events.push(Event::SeenCut { endpoint, at, is_sent, len, bytes });
            }
            None => self.frames_lost[endpoint as usize] += 1,
        }
    }

    /// Whether there is room for a packet of this many bytes.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        self.room(1, bytes, 1).is_some()
    }

    /// The verdict on a packet; when it arrived, if unchanged.
    pub(crate) fn verdict(&mut self, verdict: &Verdict, arrived: Option<Instant>) {
        if let Some(page) = self.room(1, 0, 0) {
            page.events.push(Event::Decided { verdict: *verdict, arrived });
            return;
        }
        self.verdicts_lost += 1;
        self.must_tell = true;
        if arrived.is_some() {
            self.frames_lost[receiver(verdict) as usize] += 1;
        }
    }

    /// Passes on a page that is not full, to be called regularly. `oldest` finds the lowest id of
    /// the packets that are still on the path.
    pub(crate) fn pass_on(&mut self, oldest: impl FnOnce() -> u64) {
        if self.must_tell
            && let Some(page) = self.room(1, 0, 0)
        {
            page.events.push(Event::Gone { before: oldest() });
            self.must_tell = false;
        }
        if let Some(page) = self.page.take_if(|page| !page.events.is_empty()) {
            // The recorder has ended only if it failed; its error then ends the trial.
            let _ = self.full.try_send(page);
        }
    }

    /// Frames that found no room, at client and server.
    pub(crate) fn frames_lost(&self) -> [u64; 2] {
        self.frames_lost
    }

    /// Verdicts that found no room.
    pub(crate) fn verdicts_lost(&self) -> u64 {
        self.verdicts_lost
    }

    /// A page with this much room; none if only `spare` pages are left.
    fn room(&mut self, events: usize, bytes: usize, spare: usize) -> Option<&mut Page> {
        if self.page.as_ref().is_some_and(|page| !page.has_room(events, bytes))
            && let Some(page) = self.page.take()
        {
            let _ = self.full.try_send(page);
        }
        if self.spare.len() + self.to_make < spare.max(1) {
            self.spare.extend(self.empty.try_iter());
            if self.spare.len() + self.to_make < spare {
                return None;
            }
        }
        if self.page.is_none() {
            self.page = self.spare.pop();
            if self.page.is_none() && self.to_make > 0 {
                self.to_make -= 1;
                self.page = Some(Page::new());
            }
        }
        self.page.as_mut()
    }
}

/// The endpoint that a packet was for.
fn receiver(verdict: &Verdict) -> Endpoint {
    verdict.direction.receiver()
}

impl Page {
    fn new() -> Page {
        Page { events: Vec::with_capacity(PAGE_EVENTS), bytes: Vec::with_capacity(PAGE_BYTES) }
    }

    fn has_room(&self, events: usize, bytes: usize) -> bool {
        self.events.len() + events <= PAGE_EVENTS && self.bytes.len() + bytes <= PAGE_BYTES
    }

    fn put(&mut self, bytes: &[u8]) -> (usize, usize) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        (from, self.bytes.len())
    }
}

impl Recorder {
    /// Gives the disk back what is not kept of these files, as they grow.
    pub(crate) fn trim(&mut self, files: Trimmed) {
        self.trimmed = Some(files);
    }

    /// Writes what it receives until the senders of records and of samples are dropped.
    pub(crate) fn write_down(
        mut self,
        mut writer: RecordingWriter,
        samples: &Receiver<Looked>,
        nice: i32,
    ) -> Result<RecordingWriter, RecordingError> {
        // Moving frames comes first: what this thread has no time for is left out and counted.
        if rustix::process::setpriority_process(None, nice).is_err() {
            let _ = rustix::process::setpriority_process(None, BEHIND_PROGRAMS);
        }
        // Since when something has not been flushed.
        let mut unflushed: Option<time::Instant> = None;
        loop {
            let patience =
                unflushed.map_or(PATIENCE, |since| FLUSH.saturating_sub(since.elapsed()));
            match self.full.recv_timeout(patience) {
                Ok(mut page) => {
                    for event in &page.events {
                        self.write_event(&mut writer, event, &page.bytes)?;
                    }
                    unflushed.get_or_insert_with(time::Instant::now);
                    page.events.clear();
                    page.bytes.clear();
                    // The bridge may have ended.
                    let _ = self.empty.send(page);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            for looked in samples.try_iter() {
                put_sample(&mut writer, &looked)?;
                unflushed.get_or_insert_with(time::Instant::now);
            }
            if unflushed.is_some_and(|since| since.elapsed() >= FLUSH) {
                writer.flush()?;
                self.trimmed.iter_mut().for_each(Trimmed::trim);
                unflushed = None;
            }
        }
        for looked in samples {
            put_sample(&mut writer, &looked)?;
        }
        Ok(writer)
    }

    fn write_event(
        &mut self,
        writer: &mut RecordingWriter,
        event: &Event,
        page: &[u8],
    ) -> Result<(), RecordingError> {
        let captured = |(from, to): (usize, usize), len: usize| Captured {
            bytes: &page[from..to],
            original_len: len as u32,
        };
        match *event {
            Event::Left { endpoint, at, id, header, bytes: (from, to) } => {
                self.write_cut(header, &page[from..to], |index, packet| {
                    writer.left(endpoint, at, id + index, packet)
                })
            }
            Event::Seen { endpoint, at, is_sent, header, bytes: (from, to) } => {
                self.write_cut(header, &page[from..to], |_, packet| {
                    writer.seen(endpoint, at, is_sent, packet)
                })
            }
            Event::SeenCut { endpoint, at, is_sent, len, bytes } => {
                writer.seen(endpoint, at, is_sent, captured(bytes, len))
            }
            Event::LeftCut { endpoint, at, id, len, bytes } => {
                writer.left(endpoint, at, id, captured(bytes, len))
            }
            Event::Entered { endpoint, at, len, bytes } => {
                writer.entered(endpoint, at, captured(bytes, len))
            }
            Event::Decided { verdict, arrived } => {
                if let Some(at) = arrived {
                    writer.arrived(receiver(&verdict), at, verdict.id)?;
                }
                writer.verdict(&verdict)
            }
            Event::Gone { before } => writer.gone(before),
        }
    }

    /// Writes the segments of a super-packet as on a wire; `put` is called with the index of each.
    fn write_cut(
        &mut self,
        header: VnetHeader,
        packet: &[u8],
        mut put: impl FnMut(u64, Captured<'_>) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        let mut write = |index, scratch: &[u8], len: usize| {
            let bytes = &scratch[..len.min(self.snaplen)];
            put(index, Captured { bytes, original_len: len as u32 })
        };
        let scratch = &mut self.packet;
        let is_super = header.gso_type != GsoType::None;
        let gso_size = if is_super { header.gso_size } else { 0 };
        if (is_super || header.needs_checksum)
            && let Ok(layout) = Layout::of(packet, gso_size)
        {
            for index in 0..layout.segments() {
                scratch.clear();
                layout.write_segment(packet, index, usize::MAX, scratch);
                write(index as u64, scratch, layout.size(index))?;
            }
            return Ok(());
        }
        scratch.clear();
        scratch.extend_from_slice(packet);
        if header.needs_checksum {
            // The checksum field would lie outside the packet: it stays as it is.
            let _ = complete_checksum(scratch, header.csum_start, header.csum_offset);
        }
        write(0, scratch, packet.len())
    }
}

fn put_sample(writer: &mut RecordingWriter, (flow, sample): &Looked) -> Result<(), RecordingError> {
    match flow {
        None => writer.sampled(sample),
        Some(flow) => writer.sampled_of(flow, sample),
    }
}
