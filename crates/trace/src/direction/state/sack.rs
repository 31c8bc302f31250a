//! SACK blocks as ranges of the stream.

use tcplab_units::Offset;
use tcplab_wire::{SackBlock, SackBlocks, SeqUnwrapper};

use crate::Range;

pub(super) const NOTHING: Range = Range { start: Offset::ZERO, end: Offset::ZERO };

/// SACK blocks, written to `room`, and the D-SACK block. It is the first, below the cumulative
/// acknowledgement or inside the second (RFC 2883 section 4).
#[inline]
pub(super) fn blocks<'r>(
    sack: &[SackBlock],
    positions: &SeqUnwrapper,
    ack: Offset,
    room: &'r mut [Range; SackBlocks::MOST],
) -> (&'r [Range], Option<Range>) {
    if sack.is_empty() {
        return (&[], None);
    }
    for (range, block) in room.iter_mut().zip(sack) {
        *range = Range {
            start: offset(positions.position(block.left)),
            end: offset(positions.position(block.right)),
        };
    }
    let again = match &room[..sack.len()] {
        [first, ..] if first.start < ack => true,
        [first, second, ..] => second.start <= first.start && first.end <= second.end,
        _ => false,
    };
    let dsack = again.then_some(room[0]).filter(|range| !range.is_empty());
    let mut count = 0;
    for index in usize::from(again)..sack.len() {
        if !room[index].is_empty() {
            room[count] = room[index];
            count += 1;
        }
    }
    (&room[..count], dsack)
}

/// The offset of a position; what lies before the first captured byte counts as the start.
pub(super) fn offset(position: i64) -> Offset {
    Offset::new(position.max(0) as u64)
}
