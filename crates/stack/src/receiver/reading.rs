//! What the application takes from the receiving half.

use tcplab_units::Instant;

use super::Receiver;
use crate::SendCause;
use crate::segment::Data;

impl Receiver {
    /// Bytes in order that were not read, an urgent byte that is not in line included.
    pub(crate) fn unread(&self) -> u64 {
        self.queue.pieces.back().map_or(0, |last| last.end() - self.queue.read)
    }

    /// Whether the next byte to be read is the urgent one (`sockatmark`).
    pub(crate) fn is_at_mark(&self) -> bool {
        self.urgent.at() == Some(self.queue.read)
    }

    /// The next bytes in order, at most `most`, as they came: up to the end of a segment, or to
    /// the urgent mark, where reading stops once (RFC 6093 section 2, `tcp_recvmsg_locked`). An
    /// urgent byte that is not in line is passed over. The buffer follows.
    pub(crate) fn take(&mut self, now: Instant, most: u32, inline: bool) -> Option<Data> {
        if self.is_at_mark() && !inline && self.unread() > 0 {
            self.advance(1);
        }
        let front = self.queue.pieces.front()?;
        let from = (self.queue.read - front.start) as u32;
        let mut len = most.min(front.data.len() - from);
        if let Some(mark) = self.urgent.at()
            && let Some(before) = mark.checked_sub(self.queue.read)
            && before > 0
        {
            len = len.min(before.min(u64::from(u32::MAX)) as u32);
        }
        let data = front.data.part(from..from + len);
        self.advance(u64::from(len));
        self.adjust(now);
        Some(data)
    }

    /// The buffer follows what was taken: each segment by itself, so that of a round trip's what
    /// one call reads after the first segment belongs to the next (`tcp_rcv_space_adjust` in
    /// `tcp_recvmsg_locked`).
    fn adjust(&mut self, now: Instant) {
        let ahead = self.ahead();
        // The FIN's position is none of the application's bytes.
        let next = self.next - u64::from(self.finished);
        self.window.adjust(now, self.queue.read, next, ahead);
    }

    /// The application has read `count` bytes more.
    fn advance(&mut self, count: u64) {
        self.queue.read += count;
        self.urgent.read_to(self.queue.read);
        while let Some(front) = self.queue.pieces.front()
            && front.end() <= self.queue.read
        {
            self.queue.pop();
        }
        self.settle();
    }

    /// The application has read `count` bytes and reads no more now: a window that grew much is
    /// announced (`__tcp_cleanup_rbuf`).
    pub(crate) fn after_read(&mut self, count: u64) -> Option<SendCause> {
        let pending = self.next.saturating_sub(self.window.updated_at);
        let drained = self.memory() == 0;
        if self.acks.after_read(count, drained, pending, self.window.peer_mss) {
            return Some(SendCause::Ack);
        }
        (count > 0 && !self.finished && self.window_doubled()).then_some(SendCause::WindowUpdate)
    }

    /// Whether the window could be twice what the peer believes (RFC 9293 section 3.8.6.2.2: "a
    /// worthwhile amount").
    fn window_doubled(&mut self) -> bool {
        let now = self.window_left();
        if self.freebsd {
            let possible = self.possible_window();
            return self.window.is_worth_telling(possible, now);
        }
        if 2 * now > self.window.clamp {
            return false;
        }
        let possible = self.possible_window();
        possible > 0 && possible >= 2 * now
    }

    /// Nobody will read any more: unread and arriving data is discarded. Whether anything
    /// was unread.
    pub(crate) fn discard(&mut self) -> bool {
        let unread = self.unread() > 0;
        self.queue.pieces.clear();
        self.queue.memory = 0;
        self.queue.read = self.next - u64::from(self.finished);
        self.queue.discards = true;
        self.settle();
        unread
    }

    /// Nothing will arrive any more: what lies behind a gap is of no use.
    pub(crate) fn forget_gap(&mut self) {
        self.assembler.clear();
        self.settle();
    }
}
