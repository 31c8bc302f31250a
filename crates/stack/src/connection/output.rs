//! What leaves: control segments, data, acknowledgements.

use tcplab_units::Instant;
use tcplab_wire::{Ecn, SackBlocks, TcpFlags, TcpRepr};

use super::parts::Limit;
use super::{Connection, Transmit};
use crate::sender::{Stream, ToSend};
use crate::state::State;
use crate::{BufferPool, Segment, SendCause};

/// How far an urgent pointer reaches.
const POINTER: u64 = 0xffff;

/// Bytes of all options (`MAX_TCP_OPTION_SPACE`).
const OPTIONS: u32 = 40;

/// Bytes of a SACK option with its padding: of each block, and besides.
const BLOCK: u32 = 8;
const SACK: u32 = 4;

impl Connection {
    /// The next segment, or burst of segments, that leaves now; `None`: nothing before something
    /// happens, or [`Connection::poll_at`].
    ///
    /// The order is Linux's: what was decided while a segment was worked on, then data, which
    /// carries the acknowledgement with it, and only then the acknowledgement by itself. What has
    /// no data needs a buffer of its own: where the machine has none, it does not leave.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        loop {
            let transmit = self.next_transmit(now)?;
            let needs_buffer = |_: &&BufferPool| transmit.is_empty();
            if self.output.pool.as_ref().filter(needs_buffer).is_none_or(BufferPool::lets_out) {
                return Some(transmit);
            }
        }
    }

    fn next_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if let Some(transmit) = self.output.queue.pop_front() {
            return Some(transmit);
        }
        if self.state.is_sending() && !self.has_nothing_to_send() {
            self.make_room_for_options(now);
            let stream = self.stream();
            let sent = self.sent();
            let to_send = self.sender.next(now, &stream);
            self.grow_chunk(sent);
            if let Some(to_send) = to_send {
                let transmit = self.transmit(now, &to_send);
                self.check_space_after(now, sent);
                return Some(transmit);
            }
            if std::mem::take(&mut self.writer.space_made) {
                self.check_space(now);
            }
            self.note_limit(now);
        }
        if self.state.is_synchronized() && self.state != State::TimeWait {
            let srtt = self.sender.window().rtt.srtt;
            if let Some(cause) = self.receiver.check_acks(now, srtt, self.receive_low()) {
                self.send_ack(now, cause);
            }
        }
        self.output.queue.pop_front()
    }

    /// Whether all that was written is acknowledged, and this is noted everywhere: looking once
    /// more for data to send would change nothing.
    fn has_nothing_to_send(&self) -> bool {
        self.sender.una() == self.stream_end()
            && self.sender.is_at_rest()
            && !self.writer.space_made
            && self.counters.limits.is_idle()
    }

    /// Sends at most one burst of data, behind what waits to leave; whether it did. `is_urged`:
    /// even if more could leave together later.
    pub(super) fn push_one(&mut self, now: Instant, is_urged: bool) -> bool {
        if !self.state.is_sending() {
            return false;
        }
        self.make_room_for_options(now);
        let stream = Stream { is_urged, ..self.stream() };
        let sent = self.sent();
        let to_send = self.sender.next(now, &stream);
        self.grow_chunk(sent);
        let Some(to_send) = to_send else { return false };
        let transmit = self.transmit(now, &to_send);
        self.check_space_after(now, sent);
        self.output.queue.push_back(transmit);
        true
    }

    /// Full segments have as much less data as options take that go along now: SACK blocks while
    /// there is a gap (RFC 2018 section 4), and Accurate ECN's (`tcp_current_mss`).
    pub(super) fn make_room_for_options(&mut self, now: Instant) {
        let most = OPTIONS - self.terms.options_len();
        let taken = (self.option_of_marks(now) + self.option_of_blocks()).min(most);
        if taken != self.output.taken {
            self.output.taken = taken;
            self.sender.leave_room(taken);
        }
    }

    /// Bytes that SACK blocks take in what leaves now.
    fn option_of_blocks(&self) -> u32 {
        match self.receiver.count_blocks().min(self.blocks_that_fit()) {
            0 => 0,
            count => SACK + BLOCK * count as u32,
        }
    }

    /// The chunk at `sent` takes what the sender wants to leave together from the next one.
    fn grow_chunk(&mut self, sent: u64) {
        if let Some(end) = self.sender.take_grown() {
            self.buffer.grow(sent, end, self.terms.sending_mss);
        }
    }

    /// New data has left, if there is any behind `sent` (`tcp_event_new_data_sent`).
    fn check_space_after(&mut self, now: Instant, sent: u64) {
        if self.sent() > sent && self.buffer.is_full() {
            self.check_space(now);
        }
    }

    /// The position of what is sent next.
    pub(super) fn sent(&self) -> u64 {
        if self.state.is_synchronized() { self.sender.sent() } else { 1 }
    }

    /// The position of a segment without data: within the peer's window, except where FreeBSD's
    /// rules hold.
    pub(super) fn bare(&self) -> u64 {
        if self.state.is_synchronized() && self.config.freebsd.is_none() {
            self.sender.acceptable(1 << self.receiver.window.scale)
        } else {
            self.sent()
        }
    }

    /// Sends an ACK without data, now.
    pub(super) fn send_ack(&mut self, now: Instant, cause: SendCause) {
        if self.state == State::Closed {
            return;
        }
        let mut header = if self.repeats_fin(cause) {
            self.header(now, self.sent() - 1, TcpFlags::ACK | TcpFlags::FIN)
        } else {
            self.header(now, self.bare(), TcpFlags::ACK)
        };
        let with_dsack = self.receiver.has_twice();
        header.sack = self.sack_option(self.blocks_that_fit());
        self.tell_marks(now, &mut header, with_dsack);
        self.receiver.acks.sent();
        self.counters.segments_out += 1;
        let segment = Segment { ecn: self.codepoint(false), ..Segment::bare(header) };
        self.output.queue.push_back(Transmit::single(segment, cause));
    }

    /// A header as all segments of this state have it, without SACK.
    pub(super) fn header(&mut self, now: Instant, position: u64, flags: TcpFlags) -> TcpRepr {
        let mut flags = flags;
        if self.receiver.ecn.echo {
            flags |= TcpFlags::ECE;
        }
        TcpRepr {
            seq: self.numbers.own.sequence_number(position as i64),
            ack: self.peer_number(self.receiver.next()).unwrap_or_default(),
            flags,
            window: self.receiver.offer_window(),
            timestamps: self.terms.timestamps.then(|| self.timestamps.option(now)),
            layout: self.option_layout(),
            ..TcpRepr::default()
        }
    }

    pub(super) fn blocks_that_fit(&self) -> usize {
        SackBlocks::MOST - usize::from(self.terms.timestamps)
    }

    pub(super) fn sack_option(&mut self, most: usize) -> SackBlocks {
        match &self.numbers.peer {
            Some(numbers) => self.receiver.sack_option(numbers, most),
            None => SackBlocks::default(),
        }
    }

    /// A segment of data, a FIN, or a probe.
    fn transmit(&mut self, now: Instant, to_send: &ToSend) -> Transmit {
        let ToSend { start, len, fin, cause, ect, cwr } = *to_send;
        let (mss, full) = (self.sender.mss(), self.terms.sending_mss);
        let end = start + u64::from(len);
        let mut flags = TcpFlags::ACK;
        if len > 0 {
            self.buffer.mark_sent(start, end, full);
            // A burst of several segments is always pushed (`__tcp_transmit_skb`), and so is what
            // asks a window (`tcp_write_wakeup`).
            let pushed = len > mss || cause == SendCause::WindowProbe;
            if pushed || self.buffer.is_pushed_at(end) {
                flags |= TcpFlags::PSH;
            }
        }
        if fin {
            flags |= TcpFlags::FIN;
        }
        if cwr {
            flags |= TcpFlags::CWR;
        }
        let mut header = self.header(now, start, flags);
        self.mark_urgent(&mut header, start);
        let (data, rest) = self.buffer.burst(start, len, mss);
        // A segment from before the gap may have no room for all blocks; where there is none, the
        // acknowledgement with them still leaves by itself.
        let room = full.saturating_sub(len.min(mss) + SACK);
        let most = self.blocks_that_fit().min((room / BLOCK) as usize);
        let with_dsack = self.receiver.has_twice() && most > 0;
        header.sack = self.sack_option(most);
        self.tell_marks(now, &mut header, with_dsack);
        if most > 0 || self.receiver.count_blocks() == 0 {
            self.receiver.acks.sent();
        }
        if len > 0 {
            self.counters.last_sent = now;
            self.receiver.acks.data_sent(now);
        }
        let segment = Segment { ecn: self.codepoint(ect), data, ..Segment::bare(header) };
        let transmit = Transmit { segment, rest, cause, mss, is_accurate: self.accurate.is_on() };
        self.counters.segments_out += u64::from(transmit.segments());
        transmit
    }

    /// The codepoint of a packet: with Accurate ECN of every one, otherwise where `ect` says.
    pub(super) fn codepoint(&self, ect: bool) -> Ecn {
        match ect {
            _ if self.accurate.is_on() => self.accurate.codepoint(),
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        }
    }

    /// URG and its pointer, which points behind the urgent byte (RFC 6093 section 3), as long as
    /// that is not acknowledged (`tcp_urg_mode`).
    fn mark_urgent(&self, header: &mut TcpRepr, start: u64) {
        if self.writer.urgent_end > start && self.writer.urgent_end > self.sender.una() {
            let distance = (self.writer.urgent_end - start).min(POINTER);
            header.urgent_pointer = distance as u16;
            header.flags |= TcpFlags::URG;
        }
    }

    /// Nothing leaves now: why not (`tcp_chrono_set`, `tcp_cwnd_validate`).
    fn note_limit(&mut self, now: Instant) {
        let (una, sent) = (self.sender.una(), self.sender.sent());
        let end = self.stream_end();
        let window = self.sender.window();
        let limit = if una >= end {
            Limit::Idle
        } else if self.sender.fills_window() {
            Limit::Busy
        } else if sent < end
            && una + self.sender.peer_window() < end.min(sent + u64::from(window.mss))
        {
            Limit::PeerWindow
        } else if sent >= end && self.buffer.is_full() {
            Limit::SendBuffer
        } else {
            Limit::Busy
        };
        self.counters.limits.set(now, limit);
    }
}
