//! For tests: counters, runs, queue and list agree with the records.

use super::Scoreboard;
use super::record::{LISTED, LOST, PASSED, RETRANSMITTED, SACKED};

impl Scoreboard {
    /// Counters, runs, queue and list against the records one by one.
    pub(crate) fn audit(&self, is_sack: bool) {
        let count = |mark: u8| self.records.iter().filter(|r| r.marks & mark != 0).count() as u32;
        if is_sack {
            assert_eq!(self.sacked_out, count(SACKED));
        } else {
            assert_eq!(count(SACKED), 0);
        }
        assert_eq!(self.lost_out, count(LOST));
        assert_eq!(self.retrans_out, count(RETRANSMITTED));
        assert!(self.records.iter().all(|r| r.marks & (SACKED | LOST) != SACKED | LOST));
        let sacked = self.records.iter().filter(|r| r.is_sacked());
        assert_eq!(self.runs.bytes(), sacked.map(|r| r.end() - r.start).sum::<u64>());
        let ends = self.records.iter().zip(self.records.iter().skip(1));
        assert!(ends.into_iter().all(|(one, next)| one.end() == next.start));
        let order = self.order();
        assert_eq!(order.len() as u32, count(LISTED));
        assert!(order.windows(2).all(|w| self.get(w[0]).order <= self.get(w[1]).order));
        for (index, record) in self.records.iter().enumerate() {
            let number = self.first + index as u64;
            assert_eq!(self.number_at(record.start), Some(number));
            let wanted = record.is_to_retransmit();
            assert!(!wanted || self.to_retransmit.contains(&record.start), "{record:?}");
            let is_passed = record.marks & PASSED != 0;
            assert!(is_passed || !record.is_sacked(), "{record:?}");
            assert_eq!(record.marks & LISTED != 0, !wanted && !is_passed, "{record:?}");
        }
    }

    /// All numbers in the order of sending.
    fn order(&self) -> Vec<u64> {
        let mut order = Vec::new();
        let mut at = self.oldest;
        while let Some(number) = at {
            order.push(number);
            at = self.sent_next(number);
        }
        order
    }
}
