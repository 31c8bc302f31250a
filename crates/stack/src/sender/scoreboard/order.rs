//! The order of sending, as a list through the ring.

use super::Scoreboard;
use super::record::{LINK, LISTED, NONE, PASSED};

impl Scoreboard {
    /// The record that was sent first, or longest ago, of those neither SACKed nor waiting to be
    /// retransmitted.
    pub(crate) fn oldest_sent(&self) -> Option<u64> {
        self.oldest
    }

    /// The one sent next after it.
    pub(crate) fn sent_next(&self, number: u64) -> Option<u64> {
        self.full(self.get(number).newer)
    }

    /// The record number of a link.
    pub(super) fn full(&self, link: u32) -> Option<u64> {
        (link != NONE).then(|| self.first + (u64::from(link).wrapping_sub(self.first) & LINK))
    }

    /// Appends to the order of sending.
    pub(super) fn list(&mut self, number: u64) {
        let newest = self.newest;
        let record = self.record(number);
        debug_assert!(record.marks & LISTED == 0);
        record.marks = record.marks & !PASSED | LISTED;
        record.older = newest.map_or(NONE, |last| (last & LINK) as u32);
        record.newer = NONE;
        match newest {
            Some(last) => self.record(last).newer = (number & LINK) as u32,
            None => self.oldest = Some(number),
        }
        self.newest = Some(number);
    }

    /// Rebuilds the send order after loss marks were removed, which is rare.
    pub(super) fn list_anew(&mut self) {
        (self.oldest, self.newest) = (None, None);
        let mut order = Vec::new();
        for (index, record) in self.records.iter_mut().enumerate() {
            record.marks &= !LISTED;
            if record.marks & PASSED == 0 && !record.is_to_retransmit() {
                order.push((record.order, self.first + index as u64));
            }
        }
        order.sort_unstable();
        for (_, number) in order {
            self.list(number);
        }
    }

    pub(super) fn unlist(&mut self, number: u64) {
        let record = self.record(number);
        if record.marks & LISTED == 0 {
            return;
        }
        record.marks &= !LISTED;
        let (older_link, newer_link) = (record.older, record.newer);
        let (older, newer) = (self.full(older_link), self.full(newer_link));
        match older {
            Some(older) => self.record(older).newer = newer_link,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.record(newer).older = older_link,
            None => self.newest = older,
        }
    }
}
