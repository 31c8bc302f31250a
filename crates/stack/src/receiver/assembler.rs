//! What arrived ahead of a gap.

use std::collections::VecDeque;
use std::ops::Range;

use super::queue::{Charge, Piece};
use crate::segment::Data;

/// The out-of-order queue: pieces in the order of their positions, none overlapping another.
///
/// What arrives usually belongs at one of the two ends, which costs nothing; in between it is
/// searched for by halving, and the nearer end makes room.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    pieces: VecDeque<Piece>,
    memory: u64,
    /// Where the peer's FIN stands, once it arrived out of order.
    fin: Option<u64>,
}

/// What [`Assembler::insert`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Inserted {
    /// Whether anything was new.
    pub(super) kept: bool,
    /// The first stretch that was there already, with those that follow it without a gap
    /// (`tcp_dsack_set`, `tcp_dsack_extend` in `tcp_data_queue_ofo`).
    pub(super) twice: Option<Range<u64>>,
}

impl Assembler {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.fin.is_none()
    }

    /// Pieces kept.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Memory that they take.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// The position behind the last byte kept.
    pub(super) fn end(&self) -> Option<u64> {
        self.pieces.back().map(Piece::end).max(self.fin.map(|fin| fin + 1))
    }

    /// The peer's FIN is at `position`; whether that was known.
    pub(super) fn note_fin(&mut self, position: u64) -> bool {
        let is_known = self.has_fin_at(position);
        self.fin.get_or_insert(position);
        is_known
    }

    /// Whether the peer's FIN, received early, is at `position`.
    pub(super) fn has_fin_at(&self, position: u64) -> bool {
        self.fin == Some(position)
    }

    /// Forgets a FIN that data in order has passed, and says where it was: a peer that sends both
    /// contradicts itself, and Linux drops the segment that had it (`tcp_ofo_queue`).
    pub(super) fn drop_fin_below(&mut self, position: u64) -> Option<u64> {
        self.fin.take_if(|fin| *fin < position)
    }

    /// Keeps what is new of `data`, all of which would be charged `charge`; each piece of it takes
    /// as much besides its own bytes.
    pub(super) fn insert(&mut self, start: u64, data: &Data, charge: Charge) -> Inserted {
        let overhead = charge.memory - u64::from(data.len());
        let end = start + u64::from(data.len());
        let mut inserted = Inserted::default();
        let mut at = match self.pieces.back() {
            Some(last) if start < last.end() => {
                self.pieces.partition_point(|piece| piece.end() <= start)
            }
            _ => self.pieces.len(),
        };
        let mut position = start;
        while position < end {
            let there = self.pieces.get(at).map(|piece| piece.start..piece.end());
            match there {
                Some(there) if there.start <= position => {
                    let known = position..there.end.min(end);
                    match &mut inserted.twice {
                        None => inserted.twice = Some(known.clone()),
                        Some(twice) if twice.end == known.start => twice.end = known.end,
                        Some(_) => {}
                    }
                    position = known.end;
                }
                there => {
                    let until = there.map_or(end, |there| there.start.min(end));
                    let part = (position - start) as u32..(until - start) as u32;
                    let memory = until - position + overhead;
                    let charge = Charge { memory, ..charge };
                    let mut piece = Piece { start: position, data: data.part(part), charge };
                    let before = at.checked_sub(1).filter(|_| position == start);
                    let before = before.and_then(|at| self.pieces.get_mut(at));
                    self.memory += piece.settle_behind(before);
                    self.pieces.insert(at, piece);
                    inserted.kept = true;
                    position = until;
                }
            }
            at += 1;
        }
        inserted
    }

    /// The next piece that begins at or below `next`; some of it may lie below.
    pub(super) fn pop_ready(&mut self, next: u64) -> Option<Piece> {
        if self.pieces.front()?.start > next {
            return None;
        }
        let piece = self.pieces.pop_front()?;
        self.memory -= piece.charge.memory;
        Some(piece)
    }

    /// Gives up the last block of memory (`tcp_prune_ofo_queue`), unless `start` lies behind its
    /// last piece; whether it did.
    pub(super) fn prune(&mut self, start: u64) -> bool {
        if self.pieces.back().is_none_or(|last| last.start < start) {
            return false;
        }
        if let Some(last) = self.pieces.pop_back() {
            self.memory -= last.charge.memory;
        }
        while self.pieces.back().is_some_and(|last| last.charge.memory == 0) {
            self.pieces.pop_back();
        }
        self.fin = None;
        true
    }

    /// Has `recharge` say anew what pieces side by side are charged (`tcp_collapse_ofo_queue`).
    pub(super) fn collapse(&mut self, mut recharge: impl FnMut(&mut [Piece])) {
        let pieces = self.pieces.make_contiguous();
        pieces.chunk_by_mut(|one, next| one.end() == next.start).for_each(&mut recharge);
        self.memory = pieces.iter().map(|piece| piece.charge.memory).sum();
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Assembler::default();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bytes(start: u64, len: u64) -> Data {
        Data::copy_of(&(start..start + len).map(|n| n as u8).collect::<Vec<_>>())
    }

    /// Only data is charged.
    fn plain(len: u64) -> Charge {
        Charge { memory: len, room: 0 }
    }

    #[test]
    fn assembler_duplicate_bytes_are_reported() {
        let mut assembler = Assembler::default();
        for (start, len, kept, twice) in [
            (100, 10, true, None),
            (120, 10, true, None),
            (100, 10, false, Some(100..110)),
            (102, 5, false, Some(102..107)),
            // Overlaps to the left, to the right, on both sides with a gap between.
            (95, 10, true, Some(100..105)),
            (125, 10, true, Some(125..130)),
            (105, 20, true, Some(105..110)),
            (90, 60, true, Some(95..135)),
        ] {
            let inserted = assembler.insert(start, &bytes(start, len), plain(len));
            assert_eq!(inserted, Inserted { kept, twice }, "{start}+{len}");
        }
        assert_eq!((assembler.memory(), assembler.end()), (60, Some(150)));
    }

    proptest! {
        /// Compared with a map of bytes: keeps the same bytes and gives each once, in order.
        #[test]
        fn assembler_any_order_keeps_each_byte_once(
            segments in prop::collection::vec((0u64..200, 1u64..40), 1..40),
        ) {
            let mut assembler = Assembler::default();
            let mut kept = BTreeSet::new();
            for (start, len) in segments {
                let inserted = assembler.insert(start, &bytes(start, len), plain(len));
                let new = (start..start + len).filter(|at| kept.insert(*at)).count();
                prop_assert_eq!(inserted.kept, new > 0);
                prop_assert_eq!(inserted.twice.is_some(), new < len as usize);
                prop_assert_eq!(assembler.memory(), kept.len() as u64);
            }
            let mut taken = vec![];
            while let Some(piece) = assembler.pop_ready(u64::MAX) {
                for (offset, byte) in piece.data.as_slice().iter().enumerate() {
                    let at = piece.start + offset as u64;
                    prop_assert_eq!(*byte, at as u8);
                    taken.push(at);
                }
            }
            prop_assert_eq!(taken, kept.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(assembler.memory(), 0);
        }
    }
}
