//! One direction of a connection at both captures.

use std::collections::{BTreeSet, VecDeque};

use tcplab_units::{Bytes, Instant, Offset};
use tcplab_wire::{SeqNumber, SeqUnwrapper};

use super::changes::ChangeCounts;
use super::copies::Copies;
use super::delays::RawDelays;
use super::order::Order;
use super::piece::{Key, WireSegment};
use super::{Crossing, Loss, Retransmission, WINDOW};
use crate::Range;
use crate::ranges::Ranges;

/// The most packets of a direction that wait for their match; then the oldest are settled.
const MOST: usize = 1 << 17;
/// How long an arrival waits for its departure, nanoseconds: how far apart the captures are read.
const PATIENCE: i64 = 5_000_000_000;
/// The position of the first captured packet, so that earlier data have positions too.
const BASE: i64 = 1 << 33;
/// The most equal packets compared.
const ALIKE: usize = 1 << 10;
/// The most reordered frames named.
const NAMED: usize = 10;

/// What a capture covers, nanoseconds of the shared time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CaptureTime {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// The captures on the sender's side and on the receiver's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CaptureTimes {
    pub(crate) sender: CaptureTime,
    pub(crate) receiver: CaptureTime,
    /// Both captures ended.
    pub(crate) over: bool,
}

#[derive(Debug)]
struct Departure {
    piece: WireSegment,
    range: Range,
    arrived: bool,
}

#[derive(Debug)]
struct Arrival {
    piece: WireSegment,
    /// Number and time of its departure.
    departure: Option<(u64, i64)>,
}

/// Packets of one direction, from one capture point to the other.
#[derive(Debug, Default)]
pub(crate) struct DirectionJoiner {
    departures: VecDeque<Departure>,
    /// The number of the first of them.
    first_departure: u64,
    /// Those of them that have not arrived.
    departed: BTreeSet<(Key, u64)>,
    /// Those that have.
    crossed: BTreeSet<(Key, u64)>,
    arrivals: VecDeque<Arrival>,
    first_arrival: u64,
    /// Arrivals whose departure is not known.
    waiting: BTreeSet<(Key, u64)>,
    /// Pairs with equal IP identifications, and with different ones.
    ids: [u64; 2],
    numbers: Option<SeqUnwrapper>,
    /// Captured at the receiver; acknowledged by it but not captured there.
    seen: Ranges,
    missed: Ranges,
    /// Sent, and arrived, by settled departures.
    sent: Ranges,
    delivered: Ranges,
    order: Order,
    raw: RawDelays,
    changes: ChangeCounts,
    /// At the sender's capture, at the receiver's.
    copies: [Copies; 2],
    /// The frame of the latest loss.
    lost_frame: Option<u64>,
    /// The latest departure known to have arrived.
    latest_match: Option<u64>,
    found: Crossing,
}

impl DirectionJoiner {
    fn range(&mut self, piece: &WireSegment) -> Range {
        let start = SeqNumber::new(piece.key.seq);
        let numbers = self.numbers.get_or_insert(SeqUnwrapper::new(start));
        let place = (BASE + numbers.advance(start)).max(0) as u64;
        let len = u64::from(piece.key.len) + u64::from(piece.syn) + u64::from(piece.fin);
        let start = Offset::new(place);
        Range { start, end: start + Bytes::new(if piece.rst { 0 } else { len }) }
    }

    /// Whether the capture on the receiver's side, or the other one, holds this segment again, of
    /// a packet that it holds more than once.
    pub(crate) fn is_copy(&mut self, piece: &WireSegment, arrives: bool) -> bool {
        self.copies[usize::from(arrives)].has(piece)
    }

    /// A segment passes the capture point on the sender's side.
    pub(crate) fn depart(&mut self, piece: WireSegment) {
        let number = self.first_departure + self.departures.len() as u64;
        let range = self.range(&piece);
        let arrival = self.choose_arrival(&piece);
        if let Some(arrival) = arrival {
            self.waiting.remove(&(piece.key, arrival));
            let place = (arrival - self.first_arrival) as usize;
            self.compare_ids(self.arrivals[place].piece.id, piece.id);
            self.changes.compare(&piece, &self.arrivals[place].piece);
            self.arrivals[place].departure = Some((number, piece.at));
            self.latest_match = self.latest_match.max(Some(number));
        }
        let known = if arrival.is_some() { &mut self.crossed } else { &mut self.departed };
        known.insert((piece.key, number));
        self.departures.push_back(Departure { piece, range, arrived: arrival.is_some() });
    }

    /// A segment passes the capture point on the receiver's side.
    pub(crate) fn arrive(&mut self, piece: WireSegment) {
        let range = self.range(&piece);
        if self.seen.is_empty() {
            self.seen.insert(Range { start: Offset::ZERO, end: range.start });
        }
        self.seen.insert(range);
        let number = self.first_arrival + self.arrivals.len() as u64;
        let mut departure = None;
        if let Some(chosen) = self.choose_departure(&piece) {
            let place = (chosen - self.first_departure) as usize;
            self.compare_ids(self.departures[place].piece.id, piece.id);
            self.changes.compare(&self.departures[place].piece, &piece);
            self.departures[place].arrived = true;
            self.departed.remove(&(piece.key, chosen));
            self.crossed.insert((piece.key, chosen));
            departure = Some((chosen, self.departures[place].piece.at));
            self.latest_match = self.latest_match.max(Some(chosen));
        } else {
            self.waiting.insert((piece.key, number));
        }
        self.arrivals.push_back(Arrival { piece, departure });
    }

    /// A segment with a wrong checksum passes there: the receiver drops it, so it was lost.
    pub(crate) fn arrive_damaged(&mut self) {
        self.found.damaged += 1;
    }

    /// The receiver's ACK at its capture point: everything before `ack`, and `sacked`.
    pub(crate) fn acknowledged(&mut self, ack: u32, sacked: impl Iterator<Item = (u32, u32)>) {
        let Some(numbers) = self.numbers else { return };
        let place = |number: u32| {
            Offset::new((BASE + numbers.position(SeqNumber::new(number))).max(0) as u64)
        };
        let ack = place(ack);
        if self.seen.is_empty() {
            self.seen.insert(Range { start: Offset::ZERO, end: ack });
            return;
        }
        let blocks = sacked.map(|(left, right)| Range { start: place(left), end: place(right) });
        let all = std::iter::once(Range { start: Offset::ZERO, end: ack }).chain(blocks);
        for range in all {
            if !self.seen.covers(range) {
                for part in self.seen.missing(range) {
                    self.missed.insert(part);
                }
                self.seen.insert(range);
            }
        }
    }

    /// IP identifications are the same at both captures, so they distinguish transmissions.
    fn ids_count(&self) -> bool {
        self.ids[0] > 4 * self.ids[1]
    }

    fn compare_ids(&mut self, one: Option<u16>, other: Option<u16>) {
        if let (Some(one), Some(other)) = (one, other) {
            self.ids[usize::from(one != other)] += 1;
        }
    }

    fn fits(&self, one: &WireSegment, other: &WireSegment) -> bool {
        match (one.id, other.id) {
            (Some(one), Some(other)) => one == other || !self.ids_count(),
            _ => true,
        }
    }

    /// The departure of an arriving segment.
    fn choose_departure(&self, piece: &WireSegment) -> Option<u64> {
        let at = |number: u64| &self.departures[(number - self.first_departure) as usize].piece;
        self.choose(piece, &self.departed, at)
    }

    /// The arrival of a departing segment, if it was captured first.
    fn choose_arrival(&self, piece: &WireSegment) -> Option<u64> {
        let at = |number: u64| &self.arrivals[(number - self.first_arrival) as usize].piece;
        self.choose(piece, &self.waiting, at)
    }

    /// The oldest equal segment; first one with the same headers, then with the same
    /// identification.
    fn choose<'a>(
        &self,
        piece: &WireSegment,
        open: &BTreeSet<(Key, u64)>,
        at: impl Fn(u64) -> &'a WireSegment,
    ) -> Option<u64> {
        let fitting = alike(open, piece.key).filter(|&number| self.fits(at(number), piece));
        fitting.min_by_key(|&number| {
            let other = at(number);
            (other.headers.differ(&piece.headers).contains(&true), other.id != piece.id)
        })
    }

    /// Decides on everything that nothing can change any more.
    pub(crate) fn settle(&mut self, captures: &CaptureTimes) {
        while let Some(first) = self.arrivals.front() {
            let due = captures.over
                || self.arrivals.len() > MOST
                || captures.sender.last - first.piece.at > PATIENCE;
            if first.departure.is_none() && !due {
                break;
            }
            let arrival = self.arrivals.pop_front().expect("there is a first one");
            self.settle_arrival(&arrival, captures);
            self.first_arrival += 1;
        }
        let window = WINDOW.as_nanos() as i64;
        while let Some(first) = self.departures.front() {
            let due = captures.over
                || self.departures.len() > MOST
                || captures.receiver.last - first.piece.at > window;
            if !due {
                break;
            }
            let departure = self.departures.pop_front().expect("there is a first one");
            let known = if departure.arrived { &mut self.crossed } else { &mut self.departed };
            known.remove(&(departure.piece.key, self.first_departure));
            self.settle_departure(&departure, captures);
            self.first_departure += 1;
        }
    }

    fn settle_arrival(&mut self, arrival: &Arrival, captures: &CaptureTimes) {
        let Arrival { piece, departure } = arrival;
        if let Some((number, departed)) = *departure {
            self.found.arrived += 1;
            self.raw.add(piece.at, piece.at - departed);
            if let Some(extent) = self.order.arrived(number) {
                self.found.reordered += 1;
                self.found.out_of_order_max = self.found.out_of_order_max.max(extent);
                if self.found.reordered_frames.len() < NAMED {
                    self.found.reordered_frames.push(piece.frame);
                }
            }
            return;
        }
        self.waiting.remove(&(piece.key, self.first_arrival));
        let is_copy = alike(&self.crossed, piece.key).any(|number| {
            let departure = &self.departures[(number - self.first_departure) as usize];
            self.fits(&departure.piece, piece)
        });
        let (least, most) = self.raw.range.unwrap_or_default();
        if is_copy {
            self.found.duplicated += 1;
        } else if (self.found.arrived > 0 || piece.at - most >= captures.sender.first)
            && piece.at - least <= captures.sender.last
        {
            self.found.not_captured_at_sender += 1;
        } else {
            self.found.not_judged += 1;
        }
    }

    fn settle_departure(&mut self, departure: &Departure, captures: &CaptureTimes) {
        let Departure { piece, range, arrived } = departure;
        self.found.sent += 1;
        self.found.sent_data += u64::from(piece.key.len > 0);
        let (least, most) = self.raw.range.unwrap_or_default();
        // Earlier and later arrivals show that the other capture was running.
        let began = self.found.arrived > 0 && self.raw.start().is_some_and(|at| at <= piece.at)
            || piece.at + least >= captures.receiver.first;
        let went_on = self.latest_match > Some(self.first_departure)
            || piece.at + most <= captures.receiver.last;
        let missed = !range.is_empty() && self.missed.covers(*range);
        if *arrived {
        } else if missed {
            self.found.not_captured_at_receiver += 1;
        } else if began && went_on {
            self.lose(piece);
        } else {
            self.found.not_judged += 1;
        }
        if !range.is_empty() && !piece.syn {
            self.settle_repeat(piece, *range);
            if *arrived || missed {
                self.delivered.insert(*range);
            }
            self.sent.insert(*range);
        }
    }

    fn lose(&mut self, piece: &WireSegment) {
        let found = &mut self.found;
        let rest_of = self.lost_frame.replace(piece.frame);
        if piece.is_one && rest_of == Some(piece.frame) {
            // Later packets were smaller, but this one was lost as it was sent.
            (found.sent, found.sent_data) = (found.sent - 1, found.sent_data - 1);
            found.lost_bytes += piece.key.payload();
            if let Some(loss) = found.losses.last_mut().filter(|loss| loss.frame == piece.frame) {
                loss.payload += piece.key.payload();
            }
            return;
        }
        found.lost += 1;
        found.lost_data += u64::from(piece.key.len > 0);
        found.lost_bytes += piece.key.payload();
        if found.losses.len() < Crossing::LISTED {
            found.losses.push(Loss {
                at: Instant::from_nanos(piece.at.max(0) as u64),
                frame: piece.frame,
                sequence: piece.key.seq,
                payload: piece.key.payload(),
                takes_room: !piece.syn && !piece.rst && (piece.key.len > 0 || piece.fin),
                acknowledges: piece.ack,
            });
        }
    }

    fn settle_repeat(&mut self, piece: &WireSegment, range: Range) {
        if !self.sent.meets(range) {
            return;
        }
        let needed = !self.delivered.covers(range);
        self.found.retransmissions += 1;
        self.found.spurious += u64::from(!needed);
        let retransmitted = &mut self.found.retransmission_list;
        if let Some(last) = retransmitted.last_mut().filter(|last| last.frame == piece.frame) {
            // Another piece of the same large packet.
            last.needed |= needed;
        } else if retransmitted.len() < Crossing::LISTED {
            retransmitted.push(Retransmission { frame: piece.frame, needed });
        }
    }

    /// Whether a set of ranges was full.
    pub(crate) fn gave_up(&self) -> bool {
        [&self.seen, &self.missed, &self.sent, &self.delivered].iter().any(|set| set.gave_up)
    }

    /// The results, with uncorrected delays.
    pub(crate) fn into_found(self) -> (Crossing, RawDelays) {
        (Crossing { changes: self.changes.into_list(), ..self.found }, self.raw)
    }
}

/// The numbers of those that are like this one, the first first.
fn alike(known: &BTreeSet<(Key, u64)>, key: Key) -> impl Iterator<Item = u64> {
    known.range((key, 0)..=(key, u64::MAX)).take(ALIKE).map(|&(_, number)| number)
}
