//! What the application does with its end: writing and reading.

use tcplab_units::{Bytes, Instant};

use super::{Connection, ReadError, WriteError};
use crate::Data;
use crate::segment::Offered;
use crate::send_buffer::Manner;
use crate::state::State;
use crate::truesize::{BUFFER, SHARED_INFO};

/// The largest burst that Linux builds is below 64 KiB by its headers
/// (`sk_gso_max_size` less `MAX_TCP_HEADER` and one).
const BURST_HEADERS: u32 = 321;

/// The least initial window (`TCP_INIT_CWND`): what a send buffer is made for at least.
const LEAST_WINDOW: u32 = 10;

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent, as flags of a call are")]
pub struct Send {
    /// MSG_MORE: more follows at once.
    pub more: bool,
    /// MSG_OOB: the last byte is urgent.
    pub urgent: bool,
    /// MSG_EOR: nothing that is written later leaves in the same segment.
    pub ends_record: bool,
    /// It goes on with a write that found no room for all it had, as a call does that blocks.
    pub goes_on: bool,
}

impl Connection {
    /// Gives bytes to be sent, copied once; how many there was room for.
    ///
    /// # Errors
    /// When there was room for none, or there is no connection to write to.
    pub fn write(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, WriteError> {
        let accepted = self.take(now, Offered::Copied(bytes), Send::default());
        accepted.map(|count| count as usize)
    }

    /// The same for the rest of a call that blocked.
    ///
    /// # Errors
    /// When there was room for none, or there is no connection to write to.
    pub fn go_on_writing(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, WriteError> {
        let how = Send { goes_on: true, ..Send::default() };
        self.take(now, Offered::Copied(bytes), how).map(|count| count as usize)
    }

    /// Gives bytes to be sent, shared with the caller; how many there was room for.
    ///
    /// # Errors
    /// When there was room for none, or there is no connection to write to.
    pub fn send(&mut self, now: Instant, data: &Data, how: Send) -> Result<u32, WriteError> {
        self.take(now, Offered::Shared(data), how)
    }

    /// Takes what there is room for, chunk by chunk (`tcp_sendmsg_locked`).
    fn take(&mut self, now: Instant, offered: Offered<'_>, how: Send) -> Result<u32, WriteError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        if self.writer.closed_half || self.writer.orphaned || !self.state.may_write() {
            return Err(WriteError::Closed);
        }
        let len = offered.len();
        if len == 0 {
            return Ok(0);
        }
        if self.state.is_synchronized() && !how.goes_on {
            self.make_room_for_options(now);
            self.sender.handle_write(&self.stream());
        }
        let mss = self.segment_now();
        let goal = if how.urgent { mss } else { self.chunk_goal() };
        let more = how.more && !how.urgent;
        let mut accepted = 0;
        while accepted < len {
            // Too much that is unsent forbids another chunk, not to fill one.
            if !self.has_few_unsent() && !self.buffer.has_open_chunk(self.sent(), goal) {
                break;
            }
            let goes_on = how.goes_on || accepted > 0;
            let manner = Manner { sent: self.sent(), mss, goal, more, goes_on };
            let taken = self.buffer.append(offered, accepted, manner);
            if taken == 0 {
                break;
            }
            accepted += taken;
            if accepted < len {
                self.push_full_chunk(now);
            }
        }
        if !more || self.is_push_forced() {
            self.writer.pushed_to = self.buffer.end();
        }
        if accepted < len {
            self.buffer.set_full();
        } else if how.ends_record {
            self.buffer.seal();
        }
        if accepted == 0 {
            return Err(WriteError::WouldBlock);
        }
        self.writer.more_follows = more && accepted == len;
        if how.urgent && accepted == len {
            self.writer.urgent_end = self.buffer.end();
        }
        Ok(accepted)
    }

    /// A chunk is full and another will follow: if much was not pushed, all leaves that can; else
    /// the chunk does, if it is the first (`forced_push` and `tcp_push_one` in
    /// `tcp_sendmsg_locked`).
    fn push_full_chunk(&mut self, now: Instant) {
        if self.is_push_forced() {
            self.writer.pushed_to = self.buffer.end();
            self.buffer.push();
            while self.push_one(now, false) {}
        } else if self.buffer.tail_start() == Some(self.sent()) {
            self.push_one(now, true);
        }
    }

    fn is_push_forced(&self) -> bool {
        self.buffer.end() > self.writer.pushed_to + self.counters.largest_window / 2
    }

    /// TCP_NOTSENT_LOWAT.
    fn has_few_unsent(&self) -> bool {
        let unsent = self.buffer.end().saturating_sub(self.sent());
        self.options.unsent_low.is_none_or(|low| unsent < low.as_u64())
    }

    /// Data bytes of a full segment that would leave now (`tcp_current_mss`).
    fn segment_now(&self) -> u32 {
        if self.state.is_synchronized() { self.sender.mss() } else { self.terms.sending_mss }
    }

    /// How large a chunk of the send buffer becomes (`tcp_xmit_size_goal`,
    /// `tcp_bound_to_half_wnd`): whole segments.
    fn chunk_goal(&self) -> u32 {
        let mss = self.segment_now().max(1);
        let burst = self.config.sending.burst.saturating_sub(BURST_HEADERS);
        let window = self.counters.largest_window;
        let half = if window > 536 { window / 2 } else { window };
        let most = if half > 0 { u64::from(burst).min(half) as u32 } else { burst };
        (most - most % mss).max(mss)
    }

    /// Whether a write would be worth while (`EPOLLOUT`): there is room for a third of the buffer.
    pub fn is_writable(&self) -> bool {
        match self.state {
            State::SynSent | State::SynReceived => false,
            _ if self.writer.closed_half || !self.state.may_write() => true,
            _ => self.buffer.is_writable() && self.has_few_unsent(),
        }
    }

    /// Whether an application that found no room still waits: it is called when there is much room
    /// (`sk_stream_wait_memory`, `sk_stream_write_space`).
    pub fn awaits_space(&self) -> bool {
        let relieved = self.awaits_buffers() && !self.buffer.is_pool_empty();
        self.buffer.is_full() && self.state.may_write() && !self.writer.closed_half && !relieved
    }

    /// Whether it waits for a buffer of the machine's pool: when one is free, the
    /// application is to be called.
    pub fn awaits_buffers(&self) -> bool {
        self.buffer.awaits_pool() && self.state.may_write() && !self.writer.closed_half
    }

    /// Takes bytes in order; how many. 0: the peer has closed (or `into` is empty).
    ///
    /// # Errors
    /// When there is nothing to read.
    pub fn read(&mut self, now: Instant, into: &mut [u8]) -> Result<usize, ReadError> {
        let most = into.len();
        let mut end = 0;
        self.receive(now, most, |data| {
            let start = end;
            end += data.len() as usize;
            into[start..end].copy_from_slice(data.as_slice());
        })
    }

    /// The same without copying: `give` gets the next bytes in order, at most `most`, in the pieces
    /// in which they came. Gives how many they are.
    ///
    /// # Errors
    /// When there is nothing to read.
    pub fn receive(
        &mut self,
        now: Instant,
        most: usize,
        mut give: impl FnMut(Data),
    ) -> Result<usize, ReadError> {
        let mut count = 0;
        while count < most {
            if count > 0 && self.receiver.is_at_mark() {
                break;
            }
            let left = u32::try_from(most - count).unwrap_or(u32::MAX);
            let Some(data) = self.receiver.take(now, left, self.options.urgent_inline) else {
                break;
            };
            count += data.len() as usize;
            give(data);
        }
        self.finish_reading(now, count as u64, most == 0)?;
        Ok(count)
    }

    fn finish_reading(&mut self, now: Instant, count: u64, nothing: bool) -> Result<(), ReadError> {
        if count > 0 {
            self.after_read(now, count);
            return Ok(());
        }
        if nothing || self.receiver.is_finished() {
            return Ok(());
        }
        match (self.error, self.state) {
            (Some(error), _) => Err(error.into()),
            (None, State::Closed) => Err(ReadError::NotConnected),
            (None, _) => Err(ReadError::WouldBlock),
        }
    }

    /// The application has read `count` bytes: a window may open, an acknowledgement be due.
    pub(super) fn after_read(&mut self, now: Instant, count: u64) {
        if let Some(cause) = self.receiver.after_read(count)
            && self.state.is_synchronized()
            && self.state != State::TimeWait
        {
            self.send_ack(now, cause);
        }
    }

    /// The urgent byte, out of band (MSG_OOB).
    ///
    /// # Errors
    /// When there is none, it has not arrived, or it is read in line.
    pub fn read_urgent(&mut self) -> Result<u8, ReadError> {
        if self.options.urgent_inline || !self.receiver.urgent.is_unread() {
            return Err(ReadError::NoUrgent);
        }
        self.receiver.urgent.take().ok_or(ReadError::WouldBlock)
    }

    /// Whether the urgent byte has arrived and waits to be read out of band (`POLLPRI`).
    pub fn has_urgent(&self) -> bool {
        self.receiver.urgent.is_ready()
    }

    /// Whether the next byte to be read is the urgent one (`sockatmark`).
    pub fn is_at_mark(&self) -> bool {
        self.receiver.is_at_mark()
    }

    /// Bytes that have arrived in order, read or not.
    pub fn received(&self) -> Bytes {
        Bytes::new(self.counters.bytes_received)
    }

    /// Bytes that wait to be read (SIOCINQ).
    pub fn unread(&self) -> Bytes {
        Bytes::new(self.receiver.unread())
    }

    /// Bytes written and not acknowledged (SIOCOUTQ).
    pub fn unacknowledged(&self) -> Bytes {
        Bytes::new(self.buffer.len())
    }

    /// Whether reading would give anything: bytes, the end of the stream, or an error (`EPOLLIN`).
    pub fn is_readable(&self) -> bool {
        self.has_enough_to_read()
            || self.receiver.is_finished()
            || self.error.is_some()
            || self.state == State::Closed
    }

    /// As much as SO_RCVLOWAT asks for, or as there will be, for the window is closed
    /// (`tcp_epollin_ready`).
    fn has_enough_to_read(&self) -> bool {
        let unread = self.receiver.unread();
        unread > 0
            && (unread >= self.receive_low().as_u64()
                || self.receiver.window_left() <= u64::from(self.receiver.window.peer_mss))
    }

    /// The send buffer grows with the congestion window (`tcp_sndbuf_expand`).
    pub(super) fn expand_send_buffer(&mut self) {
        let [first, most] = self.config.sending.buffer;
        if self.options.send_buffer.is_some() || first == most {
            return;
        }
        let window = self.sender.window();
        let mss = u64::from(self.terms.peer_mss.max(self.terms.sending_mss));
        let room = u64::from(self.config.sending.header_room) + SHARED_INFO;
        let segment = (mss + room).next_power_of_two() + BUFFER;
        let reordering = self.sender.reordering() + 1;
        let segments = u64::from(window.cwnd.max(LEAST_WINDOW).max(reordering));
        let wanted = segments * segment * u64::from(self.writer.windows_of_buffer);
        if self.buffer.capacity().as_u64() < wanted {
            self.buffer.set_capacity(Bytes::new(wanted.min(most.as_u64())));
        }
    }
}
