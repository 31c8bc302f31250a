//! A segment that belongs to the connection: its acknowledgement, its data, its FIN.

use std::borrow::Cow;

use tcplab_units::Instant;
use tcplab_wire::{SackBlocks, TcpFlags};

use super::Connection;
use crate::receiver::Arriving;
use crate::sender::{Ack, Block, NextChunk, Stream};
use crate::state::State;
use crate::{Data, Segment, SendCause};

impl Connection {
    /// What is to be sent, for the sender.
    pub(super) fn stream(&self) -> Stream {
        Stream {
            end: self.stream_end(),
            fin: self.writer.closed_half,
            corked: self.is_corked(),
            nodelay: self.options.no_delay,
            urgent: self.writer.urgent_end > self.sender.una(),
            orphaned: self.writer.orphaned,
            buffer_full: self.buffer.is_full(),
            chunk: self.next_chunk(),
            is_urged: false,
            has_boundaries: self.buffer.has_seals(),
            device_full: self.output.device_full,
        }
    }

    /// The position after the last byte written, or after the FIN.
    pub(super) fn stream_end(&self) -> u64 {
        self.buffer.end() + u64::from(self.writer.closed_half)
    }

    fn next_chunk(&self) -> Option<NextChunk> {
        let chunk = self.buffer.next_chunk(self.sender.sent())?;
        let most = if self.config.sending.grows_short { chunk.most } else { chunk.end };
        Some(NextChunk { most, ..chunk })
    }

    fn is_corked(&self) -> bool {
        let held = self.options.cork || self.writer.more_follows;
        held && self.sender.sent() >= self.writer.uncorked_to
    }

    /// RFC 9293 section 3.10.7.4 from the fifth on, `tcp_rcv_state_process` from step 5 on.
    pub(super) fn handle_synchronized(&mut self, now: Instant, segment: &Segment) {
        let header = &segment.header;
        if !header.flags.contains(TcpFlags::ACK) {
            return;
        }
        // A SYN that crossed the own one takes a position.
        let syn = i64::from(header.flags.contains(TcpFlags::SYN));
        let position = self.peer_position(header.seq) + syn;
        let start = position.max(0) as u64;
        self.count_marks(segment);
        if !self.handle_ack(now, segment, start) || self.state == State::Closed {
            return;
        }
        // Room is looked for with each ACK, even if it acknowledges nothing (`tcp_data_snd_check`).
        self.writer.space_made |= self.buffer.is_full();
        let (foreign, data) = self.own_part(segment, position);
        let fin = header.flags.contains(TcpFlags::FIN);
        let end = start + u64::from(data.len());
        if end > self.receiver.next() && self.has_no_reader() || self.passes_fin(segment, start) {
            self.send_reset_for(segment);
            self.fail(now, self.error_of_reset());
            return;
        }
        if self.receiver.is_finished() {
            // Behind the peer's FIN there is nothing.
            if start >= self.receiver.next() {
                return;
            }
        } else if header.flags.contains(TcpFlags::URG) || self.receiver.urgent.is_unread() {
            let pointer =
                header.urgent_pointer.saturating_sub(foreign.min(u32::from(u16::MAX)) as u16);
            let pointer = header.flags.contains(TcpFlags::URG).then_some(pointer);
            self.receiver.look_for_urgent(start, pointer, &data);
        }
        let before = self.receiver.next();
        if !data.is_empty() && end <= before {
            self.note_repeated(start);
        }
        let arriving = Arriving {
            start,
            data: &data,
            fin,
            push: header.flags.contains(TcpFlags::PSH),
            plain: header.flags == TcpFlags::ACK,
            header: header.header_len() as u32,
            joined: segment.joined,
            ecn: segment.ecn,
        };
        if self.receiver.must_tell_before(&arriving) {
            self.send_ack(now, SendCause::DuplicateAck);
        }
        let arrival = self.receiver.receive(now, &arriving, self.sender.rto());
        self.counters.bytes_received += self.receiver.next() - before;
        if arrival.closed {
            self.handle_fin(now);
        }
    }

    /// Whether nobody will read what arrives (RFC 9293 section 3.10.7.4 seventh, RFC 2525 section
    /// 2.17).
    fn has_no_reader(&self) -> bool {
        let has_ended = self.writer.reads_no_more && self.writer.closed_half;
        self.state.may_receive() && (self.writer.orphaned || has_ended)
    }

    /// Whether data begins before the peer's FIN and ends behind it, for which Linux resets the
    /// connection (`tcp_rcv_state_process`).
    fn passes_fin(&self, segment: &Segment, start: u64) -> bool {
        let next = self.receiver.next();
        let after_fin = matches!(self.state, State::CloseWait | State::Closing | State::LastAck);
        let passes = start < next && start + u64::from(segment.len()) > next;
        after_fin && passes && self.config.freebsd.is_none()
    }

    /// What of a segment's data is the peer's stream: not what lies before its SYN or behind its
    /// FIN. Says also how many bytes lie before.
    fn own_part<'a>(&self, segment: &'a Segment, position: i64) -> (u32, Cow<'a, Data>) {
        let len = i64::from(segment.len());
        let behind_fin = self.receiver.is_finished().then(|| self.receiver.next() as i64 - 1);
        let from = (-position).clamp(0, len);
        let to = behind_fin.map_or(len, |end| (end - position).clamp(from, len));
        let data = if (from, to) == (0, len) {
            Cow::Borrowed(&segment.data)
        } else {
            Cow::Owned(segment.data.part(from as u32..to as u32))
        };
        (from as u32, data)
    }

    /// The peer has closed (`tcp_fin`).
    pub(super) fn handle_fin(&mut self, now: Instant) {
        let state = self.state.after_fin();
        if matches!(self.state, State::FinWait1 | State::FinWait2) {
            self.send_ack(now, SendCause::Ack);
        }
        self.enter(now, state);
    }

    /// The acknowledgement; whether the rest of the segment is worked on (`tcp_ack`).
    fn handle_ack(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        let header = &segment.header;
        let position = self.numbers.own.position(header.ack);
        let una = self.sender.una();
        // RFC 5961 section 5.2: neither what was never sent nor what is too old.
        let oldest = una.saturating_sub(self.counters.largest_window.min(una - 1));
        let is_unsent = position > self.sender.sent() as i64;
        if is_unsent || position < oldest as i64 {
            // Once the connection closes, older kernels challenge, too (`tcp_rcv_state_process`).
            let challenges =
                self.config.handshake.challenges_unsent || self.state != State::Established;
            if !is_unsent || challenges {
                self.challenge(now);
            }
            return false;
        }
        if self.handshake.fast.pending {
            self.hear_third(segment);
        }
        self.finish_fast_handshake(now, header);
        // MSG_MORE holds back no longer than until the next acknowledgement.
        self.writer.more_follows = false;
        let position = position as u64;
        self.clear_soft_error(position, !segment.is_empty());
        let is_newer = self.note_timestamps(now, segment, start);
        let ended = std::mem::take(&mut self.handshake.ends_now);
        let told = self.told(header, is_newer).filter(|_| !ended);
        self.hear_cwr(segment);
        let (blocks, count) = self.sack_positions(&header.sack);
        let window = self.window_of(header);
        self.counters.largest_window = self.counters.largest_window.max(window);
        let flags = header.flags;
        let controls = TcpFlags::SYN | TcpFlags::FIN;
        let echo = header.timestamps.filter(|_| self.terms.timestamps);
        let ack = Ack {
            position,
            sequence: start,
            window,
            sack: &blocks[..count],
            echo: echo.and_then(|(_, echo)| self.timestamps.echoed(echo)),
            carries_data: !segment.is_empty() || flags.without(controls) != flags,
            ece: self.terms.ecn && flags.contains(TcpFlags::ECE),
            told,
        };
        let stream = self.stream();
        let delivered = self.sender.window().delivery.delivered;
        let outcome = self.sender.handle_ack(now, &ack, &stream);
        if ack.ece {
            self.counters.delivered_ce += self.sender.window().delivery.delivered - delivered;
        }
        self.counters.last_ack = now;
        self.timers.keep_alive.probes = 0;
        // What ends the handshake tells the receiver nothing, and neither does what comes once the
        // connection closes (`tcp_rcv_state_process`).
        if !ended
            && self.state == State::Established
            && let Some(echo) = ack.echo
            && let Some(ago) = self.timestamps.ago(now, echo)
        {
            self.receiver.note_echo(echo, ago, segment.len());
        }
        if outcome.acked > 0 {
            self.counters.bytes_acked += outcome.acked;
            self.numbers.own.advance(header.ack);
            self.release(now);
        }
        true
    }

    /// The peer reduced its window on an echoed mark (RFC 3168 section 6.1.3).
    fn hear_cwr(&mut self, segment: &Segment) {
        if segment.header.flags.contains(TcpFlags::CWR) {
            self.receiver.ecn.accept_cwr();
            if !segment.is_empty() {
                self.receiver.acks.schedule_now();
            }
        }
    }

    /// RFC 7323 section 4.3: the timestamp to be echoed is that of the segment that moves on what
    /// was acknowledged last (`tcp_replace_ts_recent`).
    /// Whether it is newer than before.
    fn note_timestamps(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        if let Some((value, _)) = segment.header.timestamps.filter(|_| self.terms.timestamps)
            && start <= self.receiver.window.updated_at
            && self.timestamps.advances(now, value)
        {
            let is_newer = self.timestamps.behind(value) < 0;
            self.timestamps.hear(now, value);
            return is_newer;
        }
        false
    }

    /// Blocks as positions of what this end sent.
    fn sack_positions(&self, sack: &SackBlocks) -> ([Block; SackBlocks::MOST], usize) {
        let mut blocks = [Block::default(); SackBlocks::MOST];
        let mut count = 0;
        if self.terms.sack {
            for block in sack {
                let left = self.numbers.own.position(block.left);
                let right = self.numbers.own.position(block.right);
                if let (Ok(start), Ok(end)) = (u64::try_from(left), u64::try_from(right)) {
                    blocks[count] = Block { start, end };
                    count += 1;
                }
            }
        }
        (blocks, count)
    }

    /// Something was acknowledged: the buffer releases it, and closing may be complete.
    fn release(&mut self, now: Instant) {
        let una = self.sender.una();
        self.buffer.release(una);
        if self.writer.closed_half && una == self.stream_end() {
            let state = self.state.after_all_acknowledged();
            self.enter(now, state);
        }
    }

    /// An ACK arrived and what could leave has left, or new data did: the buffer grows unless the
    /// congestion window is used up, and the application is called if it is worth its while
    /// (`tcp_check_space`, `tcp_new_space`).
    pub(super) fn check_space(&mut self, now: Instant) {
        if !self.sender.fills_window() {
            self.expand_send_buffer();
            self.sender.note_window(now);
        }
        if self.buffer.is_writable() {
            self.buffer.clear_full();
        } else {
            self.buffer.note_starved();
        }
    }
}
