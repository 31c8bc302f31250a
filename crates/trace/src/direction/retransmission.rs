//! What a packet is that lies below the highest byte seen: overtaken on its way, a copy, or sent
//! again.
//!
//! The sender's own marks come first ([`Identity`]): a packet that was sent before the one that
//! showed the hole it fills was overtaken; one sent after it repeats what was lost before the tap.
//! Where neither number nor clock tells, the place of the tap does: beside the sender nothing is
//! overtaken. Then the time: nobody sends again before an acknowledgement can have told of the
//! hole, that is, within a round trip.

use std::cmp::Ordering;

use tcplab_units::{Instant, Offset, Span};

use super::capture_point::Distances;
use super::gaps::Holes;
use super::scoreboard::Scoreboard;
use super::send_order::{Copier, Identity, Stamp};
use super::sender_model::{Judge, Repeated, Verdict};
use crate::packet::Packet;
use crate::{CapturePoint, Confidence, Proof, Range, SegmentKind, Sign, Spurious};

/// Taken for the round trip where none is known, as Wireshark does.
const SHORT: Span = Span::from_millis(3);
/// A keep-alive with a byte of data looks like that byte sent again; but no timer for keep-alives
/// is shorter (Linux: `TCP_KEEPIDLE`, `TCP_KEEPINTVL` in whole seconds).
const SHORTEST_KEEP_ALIVE: Span = Span::from_millis(900);
/// A copy that comes fewer packets late is known by its number.
const OVERTAKEN: i16 = 8;

/// What is around a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) distances: &'a Distances,
    pub(crate) forward: bool,
    /// The sender has seen data that no acknowledgement of its own, as far as they passed, took in.
    pub(crate) owes: bool,
}

impl Scene<'_> {
    /// From the tap to the sender, and back.
    pub(crate) fn to_sender(self) -> Option<Span> {
        self.distances.to_sender(self.forward)
    }
}

/// What was seen of one direction below its highest byte.
#[derive(Debug, Default)]
pub(crate) struct Below {
    pub(crate) identity: Identity,
    pub(crate) holes: Holes,
    pub(crate) counts: Counts,
    last: Option<(Range, Instant)>,
    /// Where a packet without data stood that came from above everything seen: what lies before it
    /// had been sent when it was (RFC 9293 section 3.3.1: SND.NXT).
    /// Also how many times it must have been sent, as far as numbers tell.
    announced: Option<(Offset, Stamp, u32)>,
    /// Packets lost before the tap whose data lay above all seen then, as far as the numbers tell.
    ghosts: u32,
}

/// How often what was seen.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    /// Packets that something sent later had overtaken.
    pub(crate) overtaken: u64,
    /// Retransmissions of what was lost before the tap.
    pub(crate) unseen: u64,
    /// Retransmissions of what had passed the tap and was not acknowledged.
    pub(crate) seen: u64,
}

/// How a packet is to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Seen for the first time.
    First,
    /// Repeats what passed.
    Repeat,
    /// Not sent by the sender, or of no interest to it.
    None,
}

/// A packet with its neighbourhood, to be judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) range: Range,
    pub(crate) scene: Scene<'a>,
    /// The receiver's window was closed.
    pub(crate) closed: bool,
}

impl Below {
    /// Judges a packet that takes room in the stream and starts below the highest byte seen.
    pub(crate) fn judge(
        &mut self,
        case: &Case<'_>,
        judge: &mut Judge,
        board: &Scoreboard,
    ) -> (Verdict, Entry) {
        let &Case { packet, range, scene, .. } = case;
        let round_trip = scene.distances.round_trip().or(board.min_round_trip);
        if let Some(copy) = self.identity.copy(packet, round_trip) {
            self.identity.copied();
            let kind = match copy.by {
                Copier::Network => SegmentKind::NetworkDuplicate,
                Copier::Capture => SegmentKind::CaptureDuplicate,
            };
            let proof = Proof {
                by: copy.sign,
                frame: Some(copy.of),
                waited: copy.after,
                ..Proof::default()
            };
            return (Verdict { kind, timer: None, proof }, Entry::None);
        }
        if let Some(probe) = self.probe_with_data(case, board) {
            return (probe, Entry::None);
        }
        if let Some(hole) = self.holes.met_by(range) {
            return self.fills(case, hole.shown_by, judge, board);
        }
        if let Some(after) = self.holes.late(range, packet.at)
            && self.was_written_late(packet, after, round_trip)
        {
            // The capture has it after its acknowledgement.
            let proof = Proof { by: Sign::Time, waited: after, nth: 1, ..Proof::default() };
            let verdict = Verdict { proof, ..Verdict::new_data() };
            return (verdict, Entry::None);
        }
        if self.identity.step(packet).is_some_and(|step| is_of_old(step, range, board)) {
            // A copy whose original is forgotten.
            self.identity.copied();
            let proof = Proof { by: Sign::IpId, ..Proof::default() };
            let kind = SegmentKind::NetworkDuplicate;
            return (Verdict { kind, timer: None, proof }, Entry::None);
        }
        self.counts.seen += u64::from(!board.covers(range));
        let verdict = Below::repeat(case, 0, judge, board);
        self.remember_absent(case, &verdict, board);
        (verdict, Entry::Repeat)
    }

    /// Whether a packet from above all that was seen repeats what was lost before it: packets of
    /// its sender are absent. With nothing to acknowledge they carried data; in front of a packet
    /// that goes on in order it can only have been the same data, for anything else would have left
    /// a hole. Where the path overtakes, nothing follows from what is absent.
    pub(crate) fn goes_on_again(
        &mut self,
        case: &Case<'_>,
        judge: &mut Judge,
        board: &Scoreboard,
    ) -> Option<Verdict> {
        let &Case { packet, range, scene, .. } = case;
        if let Some(again) = self.was_announced(case, judge, board) {
            return Some(again);
        }
        let absent = self.identity.absent(packet);
        if absent + self.ghosts == 0 || !self.absent_are_data(scene) {
            return None;
        }
        // Where the packets that are known to be lost from above end, new data begin.
        let gap = range.start.since(board.high).as_u64();
        let pieces = gap.div_ceil(range.len().max(1)) as u32;
        if self.ghosts > pieces {
            self.ghosts -= pieces + 1;
            self.counts.unseen += 1;
            return Some(Below::repeat(case, absent.max(1), judge, board));
        }
        self.ghosts = 0;
        // Nothing may be missing that the absent packets can have repeated.
        if absent == 0 || gap > 0 || board.una < board.high || !self.holes.is_empty() {
            return None;
        }
        self.counts.unseen += 1;
        // A single one that is absent is what this repeats: there was nothing above it.
        Some(Below::repeat_of(case, (absent, absent == 1), judge, board))
    }

    /// What is to be said of data that a packet before them showed to have been sent by then,
    /// if one
    /// did: sent again, or overtaken by a packet without data, which is nothing of note.
    fn was_announced(
        &mut self,
        case: &Case<'_>,
        judge: &mut Judge,
        board: &Scoreboard,
    ) -> Option<Verdict> {
        let (next, stamp, times) = self.announced?;
        if case.range.end >= next {
            self.announced = None;
        }
        if case.range.start >= next {
            return None;
        }
        let waited = case.packet.at.since(stamp.at);
        let later = if let Some((order, _)) = self.identity.order(case.packet, &stamp) {
            order == Ordering::Greater
        } else {
            let least = case.scene.distances.round_trip().or(board.min_round_trip);
            waited > least.map_or(SHORT, |whole| whole * 3 / 4)
        };
        if !later {
            return None;
        }
        self.counts.unseen += 1;
        Some(Below::repeat_of(case, (times, case.range.end >= next), judge, board))
    }

    /// A packet without data stood above everything seen.
    pub(crate) fn announce(&mut self, next: Offset, high: Offset, packet: &Packet) {
        // What is too short for two packets was sent as often as packets are absent.
        let single = next.since(high).as_u64() == 1;
        let times = if single { self.identity.absent(packet).max(1) } else { 1 };
        self.announced = Some((next, Stamp::of(packet), times));
    }

    /// What is absent before a retransmission lay above all that was seen, or repeated what is
    /// missing still below it.
    fn remember_absent(&mut self, case: &Case<'_>, verdict: &Verdict, board: &Scoreboard) {
        let &Case { packet, range, scene, .. } = case;
        let absent = self.identity.absent(packet);
        // Without SACK a sender repeats what has arrived as well: absent packets may be anything.
        let unknown = board.without_sack || !self.absent_are_data(scene);
        if absent == 0 || verdict.timer.is_some() || unknown {
            return;
        }
        let below = Range { start: Offset::ZERO, end: range.start };
        // All that is missing may have been sent again before, and lost again.
        let missing = self.holes.within(below).div_ceil(range.len().max(1)) as u32;
        self.ghosts = self.ghosts.saturating_add(absent.saturating_sub(missing));
    }

    fn absent_are_data(&self, scene: Scene<'_>) -> bool {
        let away = scene.distances.round_trip().is_some() && !self.is_beside_sender(scene);
        let data = !scene.owes || self.identity.is_seldom_bare();
        away && data && self.counts.overtaken == 0
    }

    /// A packet that the tap had a gap for.
    fn fills(
        &mut self,
        case: &Case<'_>,
        shown_by: Stamp,
        judge: &mut Judge,
        board: &Scoreboard,
    ) -> (Verdict, Entry) {
        let &Case { packet, scene, .. } = case;
        let waited = packet.at.since(shown_by.at);
        let beside = self.is_beside_sender(scene);
        let (order, sign) = match self.identity.order(packet, &shown_by) {
            Some(told) => told,
            None if beside => (Ordering::Greater, Sign::AtSender),
            None => {
                let least = scene.distances.round_trip().map_or(SHORT, |whole| whole * 3 / 4);
                (waited.cmp(&least), Sign::Time)
            }
        };
        if order == Ordering::Less {
            let proof =
                Proof { by: sign, frame: Some(shown_by.frame), waited, nth: 1, spurious: None };
            // Beside the sender nothing overtakes: the capture wrote it late.
            let kind = if beside { SegmentKind::New } else { SegmentKind::OutOfOrder };
            self.counts.overtaken += u64::from(!beside);
            return (Verdict { kind, timer: None, proof }, Entry::First);
        }
        self.counts.unseen += u64::from(!beside);
        if !judge.has_heard() {
            let kind = SegmentKind::OriginalNotCaptured;
            let proof =
                Proof { by: sign, frame: Some(shown_by.frame), waited, nth: 2, spurious: None };
            return (Verdict { kind, timer: None, proof }, Entry::First);
        }
        let verdict = Below::repeat(case, 1, judge, board);
        self.remember_absent(case, &verdict, board);
        (verdict, Entry::First)
    }

    fn repeat(case: &Case<'_>, unseen: u32, judge: &mut Judge, board: &Scoreboard) -> Verdict {
        Below::repeat_of(case, (unseen, false), judge, board)
    }

    fn repeat_of(
        case: &Case<'_>,
        (unseen, alone): (u32, bool),
        judge: &mut Judge,
        board: &Scoreboard,
    ) -> Verdict {
        let &Case { packet, range, scene, .. } = case;
        let first = Range { start: range.start, end: Offset::new(range.start.as_u64() + 1) };
        let seen = board.log.overlapping(first);
        let before = seen.last().and_then(|&order| Some(board.log.get(order)?.frame));
        let nth = (seen.len() as u32 + 1 + unseen).max(2);
        let beyond = scene.to_sender().unwrap_or_default();
        let again = Repeated {
            at: packet.at,
            frame: packet.frame,
            range,
            nth,
            before,
            unseen,
            alone,
            beyond,
        };
        let mut verdict = judge.repeat(&again, board);
        if unseen == 0 && board.covers(range) {
            verdict.proof.spurious = Some(Spurious::Acknowledged);
        }
        verdict
    }

    /// Linux probes without data ([`Below::probe_without_data`]); others send a byte: what the
    /// closed window leaves out, or the last one again.
    fn probe_with_data(&self, case: &Case<'_>, board: &Scoreboard) -> Option<Verdict> {
        let &Case { packet, range, closed, .. } = case;
        if packet.payload > 1 || packet.syn() || packet.fin() {
            return None;
        }
        if closed && range.start == board.una {
            return Some(probe(SegmentKind::WindowProbe, Sign::ZeroWindow));
        }
        let (last, at) = self.last?;
        let idle = packet.at.since(at) >= SHORTEST_KEEP_ALIVE;
        let below = range.end == board.una && board.una == board.high;
        (below && idle && last != range)
            .then(|| probe(SegmentKind::KeepAlive, Sign::BelowAcknowledged))
    }

    /// A byte sent for the first time, into a closed window.
    pub(crate) fn probe_beyond() -> Verdict {
        probe(SegmentKind::WindowProbe, Sign::ZeroWindow)
    }

    /// Whether data of this direction were seen.
    pub(crate) fn seen(&self) -> bool {
        self.last.is_some()
    }

    /// A packet without data whose number lies just below what was acknowledged, where an
    /// acknowledgement cannot stand (`tcp_xmit_probe_skb`).
    pub(crate) fn probe_without_data(
        &self,
        packet: &Packet,
        place: i64,
        closed: bool,
        board: &Scoreboard,
    ) -> Option<Verdict> {
        let just_below = packet.is_bare() && place + 1 == board.una.as_u64() as i64;
        if !just_below || self.identity.step(packet).is_some_and(|s| s < 0) {
            return None;
        }
        Some(if closed {
            probe(SegmentKind::WindowProbe, Sign::ZeroWindow)
        } else {
            probe(SegmentKind::KeepAlive, Sign::BelowAcknowledged)
        })
    }

    /// Takes in a packet of the direction, whatever it was judged to be.
    #[inline(always)]
    pub(crate) fn passed(&mut self, packet: &Packet, range: Option<Range>, kind: SegmentKind) {
        let follows = self.last.zip(range).is_none_or(|((last, _), now)| now.start == last.end);
        let in_order = follows && kind == SegmentKind::New;
        self.identity.passed(packet, range.is_some(), in_order);
        if let Some(range) = range {
            self.last = Some((range, packet.at));
        }
    }

    /// Whether a packet with data that goes on where the last one ended is just that: none is
    /// absent before it, and nothing was shown to lie above.
    #[inline]
    pub(crate) fn is_next(&self, packet: &Packet) -> bool {
        self.announced.is_none() && self.ghosts == 0 && !self.identity.skips(packet)
    }

    fn was_written_late(&self, packet: &Packet, after: Span, round_trip: Option<Span>) -> bool {
        match self.identity.step(packet) {
            Some(step) => step < 0 || after < SHORT,
            None => after < round_trip.map_or(SHORT, |least| least / 2),
        }
    }

    fn is_beside_sender(&self, scene: Scene<'_>) -> bool {
        let (tap, sure) = scene.distances.place(scene.forward);
        tap == CapturePoint::Sender && sure >= Confidence::Medium && self.counts.overtaken == 0
    }
}

/// Whether a packet that stands so many numbers back is as old as its place in the stream: what is
/// sent again is newer, even when it was overtaken.
fn is_of_old(step: i16, range: Range, board: &Scoreboard) -> bool {
    let since = board.high.since(range.start).as_u64() / range.len().max(1);
    step < -OVERTAKEN && u64::from(step.unsigned_abs()) * 2 >= since
}

fn probe(kind: SegmentKind, by: Sign) -> Verdict {
    Verdict { kind, timer: None, proof: Proof { by, nth: 1, ..Proof::default() } }
}
