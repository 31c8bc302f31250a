//! One direction of a connection: data one way, acknowledgements the other.

use tcplab_units::{Bytes, Offset};
use tcplab_wire::{SackBlock, SackBlocks, SeqNumber, SeqUnwrapper};

use crate::cause::Judge;
use crate::episodes::Mark;
use crate::log::{Arrival, Transmission};
use crate::observe::{Heard as Answered, Observers, Sent};
use crate::packet::Packet;
use crate::ranges::Ranges;
use crate::scoreboard::{Answer, Scoreboard, Told};
use crate::watch::Watch;
use crate::{Ack, Episode, Proof, Range, Segment, SegmentKind, Tap, Totals};

/// Numbers farther than this from what was seen cannot belong to the connection: windows are
/// below 2³⁰ (RFC 7323 section 2.3).
const FARTHEST: i64 = 1 << 30;

/// The state of one direction; what it finds out is handed over at once.
#[derive(Debug, Default)]
pub(crate) struct FlowState {
    positions: Option<SeqUnwrapper>,
    board: Scoreboard,
    judge: Judge,
    watch: Option<Watch>,
    /// Places above `una` that no packet at this tap covered, below the highest that one did.
    unseen: Ranges,
    /// Segments that were first seen when something higher had been seen before.
    holes_filled: u64,
    last_window: Option<u16>,
    window_edge: Option<Offset>,
    /// Behind its FIN.
    fin_end: Option<Offset>,
    reset: bool,
    pub(crate) observers: Observers,
    pub(crate) totals: Totals,
}

/// How a direction ended, if it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// Its sender sent FIN, which was acknowledged.
    pub(crate) closed: bool,
    /// Its sender sent RST.
    pub(crate) reset: bool,
}

/// What a packet's acknowledgement tells of the opposite direction.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) ack: Option<Box<Ack>>,
    pub(crate) episodes: Vec<Episode>,
}

impl FlowState {
    /// The initial sequence number, if a packet of this direction was seen.
    pub(crate) fn initial(&self) -> Option<SeqNumber> {
        self.positions.map(|p| p.initial())
    }
    /// Whether it is over.
    #[inline]
    pub(crate) fn ending(&self) -> Ending {
        let closed = self.fin_end.is_some_and(|end| self.board.una >= end);
        Ending { closed, reset: self.reset }
    }
    /// The handshake showed that SACK is not used.
    pub(crate) fn refuse_sack(&mut self) {
        self.judge.refuse_sack();
        self.board.without_sack = true;
    }

    /// Where the tap stood, `handshake` being what the handshake says of it.
    pub(crate) fn tap(&self, handshake: Tap) -> Tap {
        match handshake {
            Tap::Unknown if self.holes_filled > 0 => Tap::Receiver,
            known => known,
        }
    }

    /// A packet of this direction; `Err` if its number cannot belong to the connection. The
    /// segment, if it is one and [wanted](Packet::wanted).
    pub(crate) fn sent(&mut self, packet: &Packet) -> Result<Option<Box<Segment>>, OutOfPlace> {
        let start = self.place(packet)?;
        self.reset |= packet.rst();
        let len = packet.sequence_len();
        if len == 0 {
            return Ok(None);
        }
        let range = Range { start: offset(start), end: offset(start + len as i64) };
        if packet.fin() {
            self.fin_end = Some(range.end);
        }
        let payload = if packet.rst() { 0 } else { u64::from(packet.payload) };
        self.totals.data_segments += u64::from(payload > 0);
        self.totals.data += Bytes::new(payload);
        let high = self.board.high;
        let (kind, timer) = if range.is_empty() {
            // From before the capture began.
            (SegmentKind::FillsHole, None)
        } else {
            self.judge_and_log(packet, range, payload)
        };
        let in_flight = Bytes::new(self.board.in_flight());
        self.totals.max_in_flight = self.totals.max_in_flight.max(in_flight);
        let proof = Proof::default();
        self.observers.sent(&Sent {
            packet,
            range,
            payload,
            kind,
            timer,
            proof,
            high,
            una: self.board.una,
            in_flight: in_flight.as_u64(),
            window_edge: self.window_edge,
        });
        if !packet.wanted {
            return Ok(None);
        }
        Ok(Some(Box::new(Segment {
            at: packet.at,
            frame: packet.frame,
            range,
            payload: Bytes::new(payload),
            syn: packet.syn(),
            fin: packet.fin(),
            psh: packet.flags.contains(tcplab_wire::TcpFlags::PSH),
            kind,
            timer,
            proof,
            in_flight,
            comment: None,
        })))
    }

    /// The acknowledgement in a packet of the opposite direction.
    pub(crate) fn answered(&mut self, packet: &Packet, window: Option<Bytes>) -> Heard {
        let Some(number) = packet.ack else { return Heard::default() };
        // Without data seen before, everything acknowledged lies before the capture's start.
        let positions =
            *self.positions.get_or_insert_with(|| SeqUnwrapper::new(number.advanced_by(u32::MAX)));
        let ack = positions.position(number);
        if ack - self.board.high.as_u64() as i64 > FARTHEST {
            return Heard::default();
        }
        let ack = offset(ack);
        let mut room = [NOTHING; SackBlocks::MOST];
        let (sack, dsack) = blocks(packet.sack.as_slice(), &positions, ack, &mut room);
        let duplicate = self.is_duplicate(packet, ack, sack);
        let answer = Answer {
            at: packet.at,
            ack,
            sack,
            dsack,
            echo: packet.timestamps.map(|(_, echo)| echo),
        };
        let before = self.board.una;
        let told = self.board.answered(&answer);
        self.window_edge = window.map(|window| Offset::new(ack.as_u64() + window.as_u64()));
        self.observers.heard(&Answered {
            packet,
            ack,
            before,
            window,
            sack,
            dsack,
            told,
            duplicate,
            high: self.board.high,
            in_flight: self.board.in_flight(),
        });
        self.unseen.remove_before(self.board.una);
        self.judge.heard(packet.at, told, duplicate, &self.board);
        self.last_window = Some(packet.window);
        self.totals.pure_acks += u64::from(packet.is_bare());
        self.totals.duplicate_acks += u64::from(duplicate);
        self.totals.max_window = self.totals.max_window.max(window);
        let bare_duplicate = duplicate && sack.is_empty() && dsack.is_none();
        let mut heard = Heard::default();
        if self.watch.is_some() || bare_duplicate || !self.board.sacked.is_empty() {
            heard.episodes = self.keep_watch(packet, &told, bare_duplicate);
        } else {
            self.board.forget_acknowledged();
        }
        heard.ack = packet.wanted.then(|| {
            Box::new(Ack {
                at: packet.at,
                frame: packet.frame,
                ack,
                window,
                sack: sack.to_vec(),
                dsack,
                duplicate,
                has_data: packet.payload > 0 && !packet.rst(),
                comment: None,
            })
        });
        heard
    }

    /// The episodes that are left when no more packets come.
    pub(crate) fn finish(&self) -> Vec<Episode> {
        self.watch.as_ref().map(|watch| watch.finish(&self.board)).unwrap_or_default()
    }

    /// Where the packet stands. The first number seen is taken for the first byte of data.
    fn place(&mut self, packet: &Packet) -> Result<i64, OutOfPlace> {
        let Some(positions) = &mut self.positions else {
            let before = if packet.syn() { 0 } else { u32::MAX };
            let mut positions = SeqUnwrapper::new(packet.seq.advanced_by(before));
            let start = positions.advance(packet.seq);
            self.positions = Some(positions);
            self.board.start_at(offset(start));
            return Ok(start);
        };
        let start = positions.position(packet.seq);
        let (low, high) = (self.board.una.as_u64() as i64, self.board.high.as_u64() as i64);
        if start - high > FARTHEST || low - start > FARTHEST {
            return Err(OutOfPlace);
        }
        positions.advance(packet.seq);
        Ok(start)
    }

    fn judge_and_log(
        &mut self,
        packet: &Packet,
        range: Range,
        payload: u64,
    ) -> (SegmentKind, Option<crate::Timer>) {
        let high = self.board.high;
        let fills = range.start < high && self.unseen.meets(range);
        let fresh = range.start >= high;
        // The part below the highest byte seen, less what is seen only now.
        let seen_before = if fresh {
            0
        } else {
            let below = Range { start: range.start, end: range.end.min(high) };
            self.unseen.missing(below).iter().map(|r| r.len()).sum()
        };
        self.totals.unique += Bytes::new(payload.saturating_sub(seen_before));
        let (kind, timer) = if fresh {
            (SegmentKind::New, self.judge.fresh(packet.at, range, &self.board))
        } else if fills {
            self.holes_filled += 1;
            (SegmentKind::FillsHole, None)
        } else {
            self.totals.retransmissions += 1;
            self.totals.retransmitted += Bytes::new(payload);
            self.judge.repeat(packet.at, range, &self.board)
        };
        if fresh && high < range.start {
            self.unseen.insert(Range { start: high, end: range.start });
        }
        self.unseen.remove(range);
        let repeat = !fresh && !fills;
        if timer.is_some() || repeat {
            self.open_watch(packet);
        }
        self.board.sent(Transmission {
            range,
            at: packet.at,
            frame: packet.frame,
            payload,
            syn: packet.syn(),
            repeat,
            timer,
            clock: packet.timestamps.map(|(value, _)| value),
            arrival: Arrival::Unknown,
            needless: false,
        });
        if let Some(watch) = &mut self.watch
            && (timer.is_some() || repeat)
        {
            watch.repeated(packet.at, &self.board);
        }
        (kind, timer)
    }

    /// RFC 5681 section 2; with SACK, an acknowledgement that tells of something new is one even
    /// if its window differs (RFC 6675 section 2).
    fn is_duplicate(&self, packet: &Packet, ack: Offset, sack: &[Range]) -> bool {
        let outstanding = self.board.una < self.board.high;
        let same_window = self.last_window == Some(packet.window);
        let tells = sack.iter().any(|&block| !self.board.covers(block));
        outstanding && packet.is_bare() && ack == self.board.una && (same_window || tells)
    }

    fn mark(&self, packet: &Packet, told: &Told, bare_duplicate: bool) -> Mark {
        Mark {
            at: packet.at,
            frame: packet.frame,
            una: self.board.una,
            position: self.board.log.next(),
            sacked: told.earliest_sacked,
            bare_duplicate,
        }
    }

    fn open_watch(&mut self, packet: &Packet) {
        if self.watch.is_none() {
            let mark = self.mark(packet, &Told::default(), false);
            self.watch = Some(Watch::open(mark, &self.board));
        }
    }

    /// In times of trouble: the episodes that are over.
    #[inline(never)]
    fn keep_watch(&mut self, packet: &Packet, told: &Told, bare_duplicate: bool) -> Vec<Episode> {
        self.open_watch(packet);
        let mark = self.mark(packet, told, bare_duplicate);
        let Some(watch) = &mut self.watch else { return Vec::new() };
        if bare_duplicate {
            watch.suspect(&self.board);
        }
        let (episodes, calm) = watch.answered(mark, &mut self.board);
        if calm {
            self.watch = None;
            self.board.forget_acknowledged();
        }
        episodes
    }
}

/// A sequence number that cannot belong to the connection.
#[derive(Debug)]
pub(crate) struct OutOfPlace;

const NOTHING: Range = Range { start: Offset::ZERO, end: Offset::ZERO };

/// SACK blocks, written to `room`, and the D-SACK block. It is the first, below the cumulative
/// acknowledgement or inside the second (RFC 2883 section 4).
#[inline]
fn blocks<'r>(
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

/// What stands before the capture's first byte has no offset; it is taken for the start.
fn offset(position: i64) -> Offset {
    Offset::new(position.max(0) as u64)
}
