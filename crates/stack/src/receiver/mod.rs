//! The receiving half of a connection: from segments to bytes in order, windows and
//! acknowledgements.
//!
//! It knows positions, not sequence numbers: the peer's SYN is 0, its first byte of data 1. What
//! segments say of the other direction is the sender's affair.

mod acks;
mod assembler;
mod ecn;
mod memory;
mod opening;
mod queue;
mod reading;
mod sack;
mod tuning;
mod urgent;
mod window;

#[cfg(test)]
mod tests;

use std::ops::Range;

use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::{Ecn, SackBlock, SackBlocks, SeqUnwrapper};

pub(crate) use acks::{AckPolicy, Circumstances};
use assembler::Assembler;
use ecn::EcnEcho;
use queue::{Charge, Piece, ReadQueue};
use sack::SackList;
use urgent::Urgent;
pub(crate) use window::ReceiveWindow;

use crate::BufferPool;
use crate::buffer_pool::Buffers;
use crate::config::{Config, ReceiveTuning, Receiving};
use crate::jiffies::Jiffies;
use crate::segment::Data;

/// Blocks that reach the sender even if some acknowledgements are lost
/// (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// A segment as far as the receiver is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arriving<'a> {
    /// Position of its first byte.
    pub(crate) start: u64,
    pub(crate) data: &'a Data,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    /// Whether no flag but ACK is set.
    pub(crate) plain: bool,
    /// Length of the TCP header.
    pub(crate) header: u32,
    /// Data bytes of each of the segments that were joined to this one.
    pub(crate) joined: Option<u32>,
    pub(crate) ecn: Ecn,
}

impl Arriving<'_> {
    fn end(&self) -> u64 {
        self.start + u64::from(self.data.len()) + u64::from(self.fin)
    }
}

/// What became of an arriving segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Arrival {
    /// Whether the peer's FIN is now in order, and was not before.
    pub(crate) closed: bool,
}

/// The receiving half of a connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Receiver {
    config: Receiving,
    /// Whether FreeBSD's rules hold.
    freebsd: bool,
    dsack: bool,
    /// Whether SACK was agreed upon.
    pub(crate) sack: bool,
    /// What is expected next (`rcv_nxt`).
    next: u64,
    queue: ReadQueue,
    assembler: Assembler,
    /// The buffers of the machine's pool that both take, where it has one.
    buffers: Option<Buffers>,
    blocks: SackList,
    pub(crate) window: ReceiveWindow,
    pub(crate) acks: AckPolicy,
    pub(crate) ecn: EcnEcho,
    pub(crate) urgent: Urgent,
    /// Whether the peer's FIN was received in order.
    finished: bool,
    /// There was no room for what the window had offered.
    no_memory: bool,
    /// Whether the application has the connection: before, the buffer does not grow for what
    /// arrives out of order.
    is_accepted: bool,
    /// Whether what was held back was acknowledged before the segment at hand.
    was_told: bool,
    /// Segments that arrived out of order (`rcv_ooopack`).
    pub(crate) out_of_order_segments: u32,
}

impl Receiver {
    pub(crate) fn new(config: &Config, jiffies: Jiffies) -> Receiver {
        Receiver {
            dsack: config.handshake.dsack,
            sack: false,
            next: 0,
            queue: ReadQueue::default(),
            assembler: Assembler::default(),
            buffers: None,
            blocks: SackList::default(),
            window: ReceiveWindow::new(config),
            acks: AckPolicy::new(config, jiffies),
            ecn: EcnEcho::default(),
            urgent: Urgent::default(),
            finished: false,
            no_memory: false,
            is_accepted: true,
            was_told: false,
            out_of_order_segments: 0,
            config: config.receiving.clone(),
            freebsd: config.freebsd.is_some(),
        }
    }

    /// What it keeps takes buffers of this pool.
    pub(crate) fn draw_from(&mut self, pool: &BufferPool) {
        self.buffers = Some(pool.buffers());
        self.settle();
    }

    /// The pool learns how many segments are kept.
    fn settle(&mut self) {
        if let Some(buffers) = &mut self.buffers {
            buffers.set((self.queue.pieces.len() + self.assembler.len()) as u32);
        }
    }

    /// The peer's SYN arrived.
    pub(crate) fn start(&mut self) {
        self.next = 1;
        self.queue.read = 1;
        self.window.begin_at(1);
    }

    /// The connection is established.
    pub(crate) fn establish(&mut self, now: Instant, asked_mss: u32, sending_mss: u32) {
        self.window.establish(now, asked_mss, sending_mss, self.queue.read);
        self.acks.begin(now);
    }

    /// Whether the application has the connection.
    pub(crate) fn is_accepted(&self) -> bool {
        self.is_accepted
    }

    /// The application has the connection now, or not yet.
    pub(crate) fn set_accepted(&mut self, is_accepted: bool) {
        self.is_accepted = is_accepted;
    }

    /// What is expected next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether the peer has closed, and everything before that arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// What is left of the window offered.
    pub(crate) fn window_left(&self) -> u64 {
        self.window.left(self.next)
    }

    /// How many blocks there are for a SACK option, D-SACK included.
    pub(crate) fn count_blocks(&self) -> usize {
        let twice = usize::from(self.blocks.twice().is_some());
        if self.sack { twice + self.blocks.blocks().len() } else { 0 }
    }

    /// Whether a D-SACK is to be sent.
    pub(crate) fn has_twice(&self) -> bool {
        self.sack && self.blocks.twice().is_some()
    }

    /// Whether the last D-SACK began at `start`.
    pub(crate) fn was_reported_twice(&self, start: u64) -> bool {
        self.blocks.last_twice() == Some(start)
    }

    /// The right-most position of all SACK blocks.
    pub(crate) fn highest_block(&self) -> Option<u64> {
        self.blocks.highest()
    }

    /// Bytes of the buffer that are free of unread data, as FreeBSD counts them (`sbspace`): what
    /// lies behind a gap is not in the buffer.
    pub(crate) fn room(&self) -> u64 {
        self.window.buffer.saturating_sub(self.unread())
    }

    /// Bytes of the buffer that are taken (`sk_rmem_alloc`).
    pub(crate) fn memory(&self) -> u64 {
        self.queue.memory + self.assembler.memory()
    }

    pub(crate) fn buffer(&self) -> Bytes {
        Bytes::new(self.window.buffer)
    }

    /// The application sets the buffer; it is tuned no more.
    pub(crate) fn set_buffer(&mut self, buffer: Bytes) {
        self.window.buffer = buffer.as_u64();
        self.window.locked = true;
    }

    /// A timestamp came back after `ago` (`tcp_rcv_rtt_measure_ts`).
    pub(crate) fn note_echo(&mut self, echo: u32, ago: Span, len: u32) {
        if len == 0 {
            self.window.tuning.note_echo(echo);
            return;
        }
        let full = len >= self.window.peer_mss;
        let idle = self.next == self.queue.read;
        self.window.tuning.measure_echo(self.config.tuning, echo, ago, full, idle);
    }

    /// Whether any of a segment may be used (`tcp_sequence`; RFC 9293 section 3.10.7.4, first).
    pub(crate) fn is_acceptable(&self, start: u64, end: u64, fin: bool) -> bool {
        let limit = if self.config.remembers_edge {
            self.window.edge.max(self.next)
        } else {
            self.next + self.window_left()
        };
        // Since 6.17 nothing is taken that reaches beyond the window, unless nothing is waiting; a
        // FIN may.
        let too_long = self.config.tuning >= ReceiveTuning::Linux618
            && end > limit + u64::from(fin)
            && !self.queue.pieces.is_empty();
        end >= self.window.updated_at && start <= limit && !too_long
    }

    /// Answers a segment that is not acceptable; D-SACK reports its duplicate data
    /// (`tcp_send_dupack`).
    pub(crate) fn answer_unacceptable(&mut self, start: u64, end: u64) {
        if start < end && start < self.next {
            self.acks.answer_unacceptable(self.window.offered, self.window.peer_mss);
            self.note_twice(start, end.min(self.next));
        }
    }

    /// The segment's urgent pointer, if it has one, and its data (`tcp_urg`).
    pub(crate) fn look_for_urgent(&mut self, start: u64, pointer: Option<u16>, data: &Data) {
        if let Some(pointer) = pointer {
            self.urgent.announce(start, pointer, self.queue.read, self.next);
        }
        self.urgent.look(start, data.as_slice());
    }

    /// Data or a FIN arrived (`tcp_data_queue`). `rto` is the sender's timeout.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Arriving<'_>, rto: Span) -> Arrival {
        let arrival = self.sort_in(now, segment, rto);
        self.settle();
        arrival
    }

    fn sort_in(&mut self, now: Instant, segment: &Arriving<'_>, rto: Span) -> Arrival {
        let (start, end) = (segment.start, segment.end());
        if start == end {
            return Arrival::default();
        }
        self.blocks.clear_twice();
        let left = self.window_left();
        if start > self.next {
            if start >= self.next + left {
                return self.refuse();
            }
            return self.keep_behind_gap(segment);
        }
        if start < self.next {
            if end <= self.next {
                self.note_twice(start, end);
                return self.refuse();
            }
            self.note_twice(start, self.next);
            if self.freebsd {
                // `tcp_do_segment`: what is a duplicate in part is acknowledged at once.
                self.acks.schedule_now();
            }
        }
        // A bare FIN takes no room.
        if left == 0 && !(segment.data.is_empty() && start == self.next) {
            return self.refuse();
        }
        self.keep_in_order(now, segment, rto)
    }

    /// Drops the segment and sends an ACK at once.
    fn refuse(&mut self) -> Arrival {
        self.acks.answer_duplicate(self.window.offered, self.window.peer_mss);
        Arrival::default()
    }

    fn note_twice(&mut self, start: u64, end: u64) {
        if self.dsack && self.sack {
            self.blocks.set_twice(start..end);
        }
    }

    /// What was received twice in one segment reaches as far, if it is adjacent.
    fn extend_twice(&mut self, twice: Range<u64>) {
        if self.dsack && self.sack && !twice.is_empty() {
            self.blocks.extend_twice(twice);
        }
    }

    fn keep_in_order(&mut self, now: Instant, segment: &Arriving<'_>, rto: Span) -> Arrival {
        let known = (self.next - segment.start) as u32;
        let len = segment.data.len();
        let charge = self.window.charge_of(len);
        if !self.make_room(segment.start) {
            self.no_memory = true;
            self.acks.schedule_now();
            if !self.queue.pieces.is_empty() && len > 0 {
                return Arrival::default();
            }
        }
        let taken = self.within_window(known, len);
        if taken > known {
            self.push_in_order(segment.data.part(known..taken), charge, known == 0);
        }
        if len > 0 {
            self.note_data(now, segment, charge.memory, rto);
        }
        let mut arrival = Arrival::default();
        if segment.fin && taken == len {
            arrival.closed = self.finish();
        }
        if !self.assembler.is_empty() {
            arrival.closed |= self.close_gap();
        }
        self.blocks.remove_below(self.next);
        if self.assembler.is_empty() {
            self.blocks.clear();
        }
        arrival
    }

    /// Up to which of its `len` bytes a segment is taken, the first `known` of which are here
    /// already: Linux takes what begins within the window, others cut it off there.
    fn within_window(&self, known: u32, len: u32) -> u32 {
        if self.config.tuning == ReceiveTuning::None {
            let left = self.window_left().min(u64::from(u32::MAX)) as u32;
            len.min(known.saturating_add(left))
        } else {
            len
        }
    }

    fn push_in_order(&mut self, data: Data, charge: Charge, is_whole: bool) {
        let piece = Piece { start: self.next, data, charge };
        self.next = piece.end();
        self.queue.push(piece, is_whole);
    }

    /// What `tcp_event_data_recv` learns from data in order.
    fn note_data(&mut self, now: Instant, segment: &Arriving<'_>, memory: u64, rto: Span) {
        let len = segment.data.len();
        let push = self.window.measure(segment);
        let window_end = self.next + self.window.offered;
        self.window.tuning.measure(now, self.next, window_end);
        let (offered, peer_mss) = (self.window.offered, self.window.peer_mss);
        self.acks.data_arrived(now, push, offered, peer_mss, rto);
        if self.ecn.see(segment.ecn) {
            self.acks.be_quick(2, offered, peer_mss);
        }
        if len >= 128 {
            self.grow(len, memory, self.memory());
        }
    }

    fn grow(&mut self, len: u32, memory: u64, taken: u64) {
        if self.window.grow(len, memory, taken) {
            self.acks.tell_growth();
        }
    }

    /// The peer's FIN is in order.
    fn finish(&mut self) -> bool {
        let news = !self.finished;
        if news {
            self.finished = true;
            self.next += 1;
            if self.freebsd {
                self.acks.schedule_now();
            } else {
                self.acks.schedule();
            }
            self.acks.enter_dialogue();
            // Nothing can follow; pending SACK blocks are dropped (`tcp_sack_reset`).
            self.assembler.clear();
            self.blocks.clear();
            self.blocks.clear_twice();
        }
        news
    }

    /// What lay behind the gap follows (`tcp_ofo_queue`); whether the FIN does.
    fn close_gap(&mut self) -> bool {
        let reached = self.next;
        while let Some(piece) = self.assembler.pop_ready(self.next) {
            self.extend_twice(piece.start..piece.end().min(reached));
            let known = (self.next - piece.start) as u32;
            if known < piece.data.len() {
                let data = piece.data.part(known..piece.data.len());
                self.push_in_order(data, piece.charge, known == 0);
            }
        }
        if let Some(fin) = self.assembler.drop_fin_below(self.next) {
            self.extend_twice(fin..(fin + 1).min(reached));
        }
        let closed = self.assembler.has_fin_at(self.next) && self.finish();
        if self.assembler.is_empty() {
            // RFC 5681 section 4.2: an ACK at once reports the filled gap.
            self.acks.schedule_now();
        }
        closed
    }

    /// `tcp_data_queue_ofo`.
    fn keep_behind_gap(&mut self, segment: &Arriving<'_>) -> Arrival {
        let (start, end, len) = (segment.start, segment.end(), segment.data.len());
        let (offered, peer_mss) = (self.window.offered, self.window.peer_mss);
        if self.ecn.see(segment.ecn) {
            self.acks.be_quick(2, offered, peer_mss);
        }
        if !self.make_room(start) || self.is_assembler_full() {
            return Arrival::default();
        }
        let push = self.window.measure(segment);
        self.acks.gap_arrived(push);
        self.out_of_order_segments += 1;
        let charge = self.window.charge_of(len);
        let taken = self.memory();
        let inserted = self.assembler.insert(start, segment.data, charge);
        self.extend_twice(inserted.twice.unwrap_or_default());
        if segment.fin && self.assembler.note_fin(end - 1) && !self.freebsd {
            self.extend_twice(end - 1..end);
        }
        if self.sack {
            // FreeBSD leaves the FIN out (`tcp_reass`).
            let end = if self.freebsd { start + u64::from(len) } else { end };
            if start < end {
                self.blocks.add(start..end);
            }
            // Without SACK the window must stay as it is, or acknowledgements would not be
            // duplicates.
            if inserted.kept {
                // Linux charges the segment after this (`tcp_data_queue_ofo`).
                self.grow(len, charge.memory, taken);
            }
        }
        if self.is_accepted {
            self.window.adjust_for_gap(self.ahead());
        }
        if std::mem::take(&mut self.was_told) {
            self.acks.unschedule();
        }
        Arrival::default()
    }

    /// A segment is about to be received. Whether an acknowledgement that was held back leaves
    /// before: blocks might be pushed out of the option (`tcp_sack_compress_send_ack`). The segment
    /// itself is not acknowledged then.
    pub(crate) fn must_tell_before(&mut self, segment: &Arriving<'_>) -> bool {
        let (start, end) = (segment.start, segment.end());
        let is_kept = start > self.next && start < self.next + self.window_left() && start < end;
        self.was_told = is_kept
            && self.sack
            && self.acks.has_compressed()
            && self.blocks.find(start..end) >= BLOCKS_EXPECTED;
        self.was_told
    }

    /// How far what arrived reaches beyond what is in order.
    fn ahead(&self) -> u64 {
        self.assembler.end().map_or(0, |end| end - self.next)
    }

    fn is_assembler_full(&self) -> bool {
        self.config.out_of_order.is_some_and(|most| self.assembler.len() >= most as usize)
            || self.free_segments() == Some(0)
    }

    /// Segments that still find room, where they are counted.
    fn free_segments(&self) -> Option<u32> {
        let taken = self.queue.pieces.len() + self.assembler.len();
        self.config.segments.map(|most| most.saturating_sub(taken as u32))
    }

    /// The window field of a segment that leaves now. It acknowledges everything received, so no
    /// delayed acknowledgement is due any more.
    pub(crate) fn offer_window(&mut self) -> u16 {
        if std::mem::take(&mut self.no_memory) {
            self.window.close(self.next);
            return 0;
        }
        let possible = self.possible_window();
        self.window.offer(possible, self.next)
    }

    /// The window that could be offered now; where room is scarce, acknowledgements are not quick.
    fn possible_window(&mut self) -> u64 {
        if self.freebsd {
            return self.window.possible_of_freebsd(self.room());
        }
        let (possible, scarce) = self.window.possible(self.memory(), self.free_segments());
        if scarce {
            self.acks.forget_quick();
        }
        possible
    }

    /// The SACK option of a segment that leaves now; `most` is how many blocks there is room for.
    pub(crate) fn sack_option(&mut self, numbers: &SeqUnwrapper, most: usize) -> SackBlocks {
        let mut option = SackBlocks::default();
        if !self.sack {
            return option;
        }
        let twice = self.blocks.twice();
        for (left, right) in twice.iter().chain(self.blocks.blocks()).take(most) {
            let number = |position: &u64| numbers.sequence_number(*position as i64);
            option.push(SackBlock { left: number(left), right: number(right) });
        }
        if twice.is_some() {
            self.blocks.clear_twice();
        }
        option
    }

    /// Whether an acknowledgement leaves now, and why; call when data had its chance to carry it.
    /// The application reads when there is `receive_low` to read.
    pub(crate) fn check_acks(
        &mut self,
        now: Instant,
        srtt: Option<Span>,
        receive_low: Bytes,
    ) -> Option<crate::SendCause> {
        if !self.acks.is_scheduled() {
            return None;
        }
        let seen = self.circumstances(srtt, receive_low);
        self.acks.check(now, &seen)
    }

    fn circumstances(&mut self, srtt: Option<Span>, receive_low: Bytes) -> Circumstances {
        let pending = self.next.saturating_sub(self.window.updated_at);
        let mut window_advances = self.next - self.queue.read < receive_low.as_u64();
        if !window_advances && pending > u64::from(self.window.peer_mss) {
            window_advances = self.possible_window() >= self.window.offered;
        }
        Circumstances {
            pending,
            peer_mss: self.window.peer_mss,
            window_advances,
            gap: !self.assembler.is_empty(),
            sack: self.sack,
            next: self.next,
            srtt,
            receiver_rtt: self.window.tuning.round_trip(),
        }
    }

    /// The acknowledgement of a SYN-ACK may wait for data.
    pub(crate) fn wait_for_data(&mut self, now: Instant) {
        self.acks.wait_for_data(now, self.window.offered, self.window.peer_mss);
    }
}
