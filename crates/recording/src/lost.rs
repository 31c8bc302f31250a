//! Packets that did not arrive.

use std::collections::BTreeMap;

use tcplab_path::{Direction, FIRST_MADE_ID, Verdict};

use crate::TruthRow;

/// A packet of an endpoint of which the path let no copy arrive whole and intact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPacket {
    /// Its frame in the capture of the endpoint that sent it, from 1; none if that lost it.
    pub frame: Option<u64>,
    /// Why: the verdict on it, on a copy or on a fragment of it.
    pub verdict: Verdict,
}

impl LostPacket {
    /// Whether the path dropped it. It damaged the others, so that their receiver dropped them.
    pub fn is_dropped(&self) -> bool {
        self.verdict.fate.cause().is_some()
    }
}

/// Finds the packets that were lost among the verdicts on all, in any order.
///
/// Rows on packets to which nothing happened but that they were delivered can be left out. It takes
/// memory for each packet that the path dropped, damaged, copied or cut.
#[derive(Debug)]
pub(crate) struct Losses {
    is_ipv6: bool,
    /// By the ids that the endpoints' packets have.
    packets: BTreeMap<(u64, Direction), Pieces>,
}

/// What became of a packet and of all that the path made of it.
#[derive(Debug, Default)]
struct Pieces {
    frame: Option<u64>,
    /// Whether a row with the packet's own id was seen. Of an answer of the path there is none: the
    /// packet itself went the other way. If that of a copied packet was left out, it arrived.
    has_own: bool,
    /// By where they begin in the packet.
    at: BTreeMap<u16, Piece>,
}

/// A fragment with all copies of it, or a whole packet with all of its own.
#[derive(Debug, Default)]
struct Piece {
    /// Whether one arrived intact, or was still on its way at the end.
    arrived: bool,
    /// The first of the others.
    lost: Option<Verdict>,
}

impl Losses {
    /// None yet; `is_ipv6` tells which headers the packets have.
    pub(crate) fn new(is_ipv6: bool) -> Losses {
        Losses { is_ipv6, packets: BTreeMap::new() }
    }

    pub(crate) fn see(&mut self, TruthRow { frame, verdict, .. }: &TruthRow) {
        let is_lost = verdict.fate.cause().is_some() || verdict.is_damaged(self.is_ipv6);
        let packet = verdict.origin.unwrap_or(verdict.id);
        let is_plain = !is_lost && verdict.origin.is_none() && verdict.fragment.is_none();
        // Cross traffic is nobody's.
        if is_plain || packet >= FIRST_MADE_ID {
            return;
        }
        let pieces = self.packets.entry((packet, verdict.direction)).or_default();
        pieces.has_own |= packet == verdict.id;
        pieces.frame = pieces.frame.or(*frame);
        let piece = pieces.at.entry(verdict.fragment.unwrap_or(0)).or_default();
        piece.arrived |= !is_lost;
        if is_lost {
            piece.lost.get_or_insert(*verdict);
        }
    }

    /// Those of which a part did not arrive in any copy, in the order of their ids.
    pub(crate) fn packets(self) -> Vec<LostPacket> {
        let lost = |pieces: Pieces| {
            let mut missing = pieces.at.into_values().filter(|piece| !piece.arrived);
            let verdict = missing.next().and_then(|piece| piece.lost)?;
            pieces.has_own.then_some(LostPacket { frame: pieces.frame, verdict })
        };
        self.packets.into_values().filter_map(lost).collect()
    }
}

#[cfg(test)]
mod tests {
    use tcplab_path::{Cause, Fate};
    use tcplab_units::{Bytes, Instant};

    use super::*;

    const LOSS: Fate = Fate::Dropped(Cause::Loss);

    /// The verdict on packet 5 or, with an origin, on what the path made of it.
    fn row(id: u64, fragment: Option<u16>, fate: Fate) -> TruthRow {
        let is_made = id >= FIRST_MADE_ID;
        let verdict = Verdict {
            id,
            direction: Direction::Forward,
            size: Bytes::new(1500),
            entered: Instant::ZERO,
            transmission: None,
            left: Instant::ZERO,
            fate,
            origin: is_made.then_some(5),
            marked: false,
            corrupted: None,
            fragment,
            second_path: false,
        };
        TruthRow { frame: (!is_made).then_some(9), because: None, verdict }
    }

    fn damaged(row: TruthRow, bit: u32) -> TruthRow {
        TruthRow { verdict: Verdict { corrupted: Some(bit), ..row.verdict }, ..row }
    }

    fn lost(rows: &[TruthRow], is_ipv6: bool) -> Vec<LostPacket> {
        let mut losses = Losses::new(is_ipv6);
        for row in rows {
            losses.see(row);
        }
        losses.packets()
    }

    #[test]
    fn packet_is_lost_if_no_copy_of_it_arrives_whole_and_intact() {
        let made = |nth: u64| FIRST_MADE_ID + 2 * nth;
        let whole = |id, fate| row(id, None, fate);
        let piece = |id, at, fate| row(id, Some(at), fate);
        let there = Fate::Delivered;
        for (what, rows, is_lost) in [
            ("delivered", vec![whole(5, there)], false),
            ("dropped", vec![whole(5, LOSS)], true),
            ("damaged", vec![damaged(whole(5, there), 200)], true),
            ("on its way", vec![whole(5, Fate::StillOnLink)], false),
            ("its copy dropped", vec![whole(5, there), whole(made(0), LOSS)], false),
            ("its copy dropped, its own row left out", vec![whole(made(0), LOSS)], false),
            ("its copy delivered", vec![whole(made(0), there), whole(5, LOSS)], false),
            ("its copy damaged", vec![damaged(whole(made(0), there), 9), whole(5, LOSS)], true),
            ("both dropped", vec![whole(made(0), LOSS), whole(5, LOSS)], true),
            ("whole", vec![piece(5, 0, there), piece(made(0), 976, there)], false),
            ("later fragment dropped", vec![piece(5, 0, there), piece(made(0), 976, LOSS)], true),
            ("first fragment dropped", vec![piece(5, 0, LOSS), piece(made(0), 976, there)], true),
            (
                "each fragment in one copy",
                vec![
                    piece(5, 0, LOSS),
                    piece(made(0), 976, there),
                    piece(made(1), 0, there),
                    piece(made(2), 976, LOSS),
                ],
                false,
            ),
            (
                "a fragment in no copy",
                vec![
                    piece(5, 0, there),
                    piece(made(0), 976, LOSS),
                    piece(made(1), 0, there),
                    piece(made(2), 976, LOSS),
                ],
                true,
            ),
        ] {
            let lost = lost(&rows, false);
            assert_eq!(lost.len(), usize::from(is_lost), "{what}: {lost:?}");
            assert!(lost.iter().all(|it| it.frame == Some(9)), "{what}: {lost:?}");
        }
    }

    #[test]
    fn cross_traffic_and_answers_of_the_path_are_not_lost() {
        let mut cross = row(FIRST_MADE_ID, None, LOSS);
        cross.verdict.origin = None;
        let mut answer = row(FIRST_MADE_ID, None, LOSS);
        answer.verdict.direction = Direction::Reverse;
        assert_eq!(lost(&[cross, answer, row(5, None, Fate::Delivered)], false), []);
    }

    #[test]
    fn damage_that_no_checksum_of_ipv6_covers_is_not_lost() {
        for (bit, [v4, v6]) in [(8, [true, false]), (60, [true, false]), (100, [true, true])] {
            let rows = [damaged(row(5, None, Fate::Delivered), bit)];
            assert_eq!([lost(&rows, false).len() == 1, lost(&rows, true).len() == 1], [v4, v6]);
        }
    }
}
