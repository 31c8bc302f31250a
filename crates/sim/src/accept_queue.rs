//! The queues of a listening socket.

use std::cell::Cell;
use std::rc::Rc;

/// The connections of a listening socket that are in their handshake, or that nobody has accepted;
/// Linux's queues, for every model. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcceptQueue(Rc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// The backlog of listen(2); none: the queues are never full.
    backlog: Option<u32>,
    /// In their handshake, those in cookies apart.
    half_open: Cell<u32>,
    waiting: Cell<u32>,
    /// How many connections' programs are in `accept`: one is enough to empty the queue.
    accepting: Cell<u32>,
}

impl AcceptQueue {
    pub(crate) fn new(backlog: Option<u32>) -> AcceptQueue {
        AcceptQueue(Rc::new(Shared { backlog, ..Shared::default() }))
    }

    /// Whether it drops SYNs and the last segments of handshakes: more wait than the backlog
    /// (`sk_acceptq_is_full`).
    pub(crate) fn is_full(&self) -> bool {
        self.0.backlog.is_some_and(|backlog| self.0.waiting.get() > backlog)
    }

    /// A SYN is answered. Whether there is room to keep it: else it has to be kept in a SYN cookie
    /// (`inet_csk_reqsk_queue_is_full`, `tcp_syncookies = 1`).
    pub(crate) fn begin(&self) -> bool {
        let half_open = &self.0.half_open;
        let is_kept = self.0.backlog.is_none_or(|backlog| half_open.get() < backlog);
        half_open.set(half_open.get() + u32::from(is_kept));
        is_kept
    }

    /// A handshake is over: of one that [`AcceptQueue::begin`] kept or not, which `waits` now to
    /// be accepted or failed.
    pub(crate) fn end(&self, was_kept: bool, waits: bool) {
        self.0.half_open.set(self.0.half_open.get() - u32::from(was_kept));
        if waits && self.0.accepting.get() == 0 {
            self.0.waiting.set(self.0.waiting.get() + 1);
        }
    }

    /// A program has called `accept`, and `waits` in it or not; `is_accepting`: whether it did
    /// before.
    pub(crate) fn accept(&self, is_accepting: &mut bool, waits: bool) {
        self.0.waiting.set(0);
        let others = self.0.accepting.get() - u32::from(*is_accepting);
        self.0.accepting.set(others + u32::from(waits));
        *is_accepting = waits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handshake that ends at once.
    fn open(queue: &AcceptQueue) {
        let is_kept = queue.begin();
        queue.end(is_kept, true);
    }

    #[test]
    fn queue_is_full_with_one_more_than_backlog() {
        let queue = AcceptQueue::new(Some(1));
        let full = [0, 1, 2].map(|_| {
            open(&queue);
            queue.is_full()
        });
        assert_eq!(full, [false, true, true]);
        // Who waits in `accept` takes what is there and what will come.
        let mut is_accepting = false;
        queue.accept(&mut is_accepting, true);
        open(&queue);
        open(&queue);
        assert!(!queue.is_full() && is_accepting);
        queue.accept(&mut is_accepting, false);
        open(&queue);
        open(&queue);
        assert!(queue.is_full() && !is_accepting);
        let unlimited = AcceptQueue::default();
        (0..5_000).for_each(|_| open(&unlimited));
        assert!(!unlimited.is_full() && unlimited.begin());
    }

    #[test]
    fn as_many_handshakes_are_kept_as_backlog_says() {
        let queue = AcceptQueue::new(Some(2));
        assert_eq!([0, 1, 2].map(|_| queue.begin()), [true, true, false]);
        queue.end(false, true);
        assert!(!queue.begin());
        // One fails, the other is over.
        queue.end(true, false);
        queue.end(true, true);
        assert!(queue.begin() && !queue.is_full());
    }
}
