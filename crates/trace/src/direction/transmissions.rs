//! The log of transmissions of one direction that are still relevant, in order of sending.

use std::collections::{BTreeSet, VecDeque};

use tcplab_units::{Instant, Offset};
use tcplab_wire::TcpFlags;

use crate::bounds::{REPETITIONS, TRANSMISSIONS};
use crate::fold::folded;
use crate::packet::Packet;
use crate::{Range, Timer};

/// One packet with data, SYN or FIN, as the sender sent it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a packet")]
pub(crate) struct Transmission {
    pub(crate) range: Range,
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) payload: u64,
    /// Carries a SYN: its loss belongs to the handshake.
    pub(crate) syn: bool,
    pub(crate) repeat: bool,
    /// With PSH: the end of a write, as a rule (RFC 9293 section 3.9.1).
    pub(crate) pushed: bool,
    /// The timer that sent it, if any.
    pub(crate) timer: Option<Timer>,
    /// Value of its timestamp option (RFC 7323 section 3).
    pub(crate) clock: Option<u32>,
    pub(crate) arrival: Arrival,
    /// A D-SACK reported it as spurious.
    pub(crate) spurious: bool,
}
folded! {
    Transmission {
        range, at, frame, payload, syn, repeat, pushed, timer, clock, arrival, spurious
    }
}

impl Transmission {
    pub(crate) fn new(range: Range, at: Instant, frame: u64, payload: u64) -> Transmission {
        Transmission {
            range,
            at,
            frame,
            payload,
            syn: false,
            repeat: false,
            pushed: false,
            timer: None,
            clock: None,
            arrival: Arrival::Unknown,
            spurious: false,
        }
    }

    #[inline]
    pub(crate) fn of(packet: &Packet, range: Range, payload: u64) -> Transmission {
        let clock = packet.timestamps.map(|(value, _)| value);
        let plain = Transmission::new(range, packet.at, packet.frame, payload);
        let pushed = packet.flags.contains(TcpFlags::PSH);
        Transmission { syn: packet.syn(), pushed, clock, ..plain }
    }
}

/// The arrival of one transmission, by the acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Nothing yet.
    Unknown,
    /// It reached the receiver.
    Arrived,
    /// Something sent later arrived while this had not: on a path that keeps the order, lost.
    Overtaken,
    /// Its range was received, by another transmission of the same range.
    Superseded,
    /// Its range was received before this one can have got there.
    Surplus,
}
folded! { enum Arrival { Unknown, Arrived, Overtaken, Superseded, Surplus } }

/// Segments of a transfer that sends much again are at least so large, bytes.
const SMALLEST: usize = 32;

/// The transmissions still of interest; each has a running number, its order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    first: u64,
    entries: VecDeque<Transmission>,
    /// Transmissions that begin at or above the highest byte before them: in order of both time
    /// and place. Kept only where there are others; else all are.
    in_order: VecDeque<(Offset, u64)>,
    /// Where the latest of these ends.
    in_order_end: Offset,
    /// All others: retransmissions, and what fills gaps at a receiver's capture point.
    others: BTreeSet<(Offset, u64)>,
    /// Length of the longest of `others`.
    longest: u64,
    /// None of `others` reaches beyond this.
    others_end: Offset,
    /// Some were forgotten that nothing was known of yet.
    pub(crate) gave_up: bool,
}
folded! { Log { first, entries, in_order, in_order_end, others, longest, others_end, gave_up } }

impl Log {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The order of the first transmission still held.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
    /// Whether no other transmission held here overlaps this one.
    pub(crate) fn is_alone(&self, order: u64) -> bool {
        let Some(transmission) = self.get(order) else { return false };
        !transmission.repeat
            && (self.is_above_others(transmission.range)
                || self.those_in(transmission.range).take(2).count() == 1)
    }
    /// Whether `range` lies above everything that was sent out of order.
    #[inline]
    fn is_above_others(&self, range: Range) -> bool {
        self.others.is_empty() || range.start >= self.others_end
    }
    /// The transmission that overlaps `range`, if it is easy to see that there is one and no other.
    #[inline]
    pub(crate) fn only_one_in(&self, range: Range) -> Option<u64> {
        if !self.is_above_others(range) {
            return None;
        }
        let order = self.orders_before(range.end).next()?;
        let last = self.get(order)?.range;
        (last.start <= range.start && last.overlaps(range)).then_some(order)
    }
    /// Whether anything held here was not sent for the first time and in order.
    pub(crate) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }
    /// The order that the next transmission will get.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Transmission)> {
        self.entries.iter().enumerate().map(|(i, t)| (self.first + i as u64, t))
    }
    /// Those from one order on.
    pub(crate) fn iter_from(
        &self,
        order: u64,
    ) -> impl DoubleEndedIterator<Item = (u64, &Transmission)> {
        let from = self.index_of(order);
        let order = self.first + from as u64;
        self.entries.range(from..).enumerate().map(move |(i, t)| (order + i as u64, t))
    }
    /// Those before one order.
    pub(crate) fn iter_before(
        &self,
        order: u64,
    ) -> impl DoubleEndedIterator<Item = (u64, &Transmission)> {
        let before = self.entries.range(..self.index_of(order));
        before.enumerate().map(|(i, t)| (self.first + i as u64, t))
    }
    /// Where the first lies that was not sent before this.
    fn index_of(&self, order: u64) -> usize {
        let index = usize::try_from(order.saturating_sub(self.first)).unwrap_or(usize::MAX);
        index.min(self.entries.len())
    }
    pub(crate) fn get(&self, order: u64) -> Option<&Transmission> {
        self.entries.get(usize::try_from(order.checked_sub(self.first)?).ok()?)
    }
    pub(crate) fn get_mut(&mut self, order: u64) -> Option<&mut Transmission> {
        self.entries.get_mut(usize::try_from(order.checked_sub(self.first)?).ok()?)
    }
    /// Whether nothing held here was sent twice or out of order.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.others.is_empty()
    }
    /// In a plain log, the index in [`Log::entries_mut`] of the first that ends after `offset`.
    #[inline]
    pub(crate) fn first_ending_behind(&self, offset: Offset) -> usize {
        match self.entries.front() {
            Some(first) if first.range.end <= offset => {
                self.entries.partition_point(|t| t.range.end <= offset)
            }
            _ => 0,
        }
    }
    /// In a plain log, takes out the transmissions that end at `offset` or before, calling `each`.
    #[inline]
    pub(crate) fn pop_before(&mut self, offset: Offset, mut each: impl FnMut(u64, &Transmission)) {
        while let Some(first) = self.entries.front().filter(|first| first.range.end <= offset) {
            each(self.first, first);
            self.entries.pop_front();
            self.first += 1;
        }
    }
    /// The transmissions, [`Log::first`] first.
    #[inline]
    pub(crate) fn entries_mut(&mut self) -> &mut VecDeque<Transmission> {
        &mut self.entries
    }
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= TRANSMISSIONS.most()
    }
    #[inline(always)]
    pub(crate) fn push(&mut self, transmission: Transmission) {
        if self.is_full() {
            self.give_up_first();
        }
        let range = transmission.range;
        let plain = self.is_plain();
        let none_before = if plain { self.entries.is_empty() } else { self.in_order.is_empty() };
        let follows = self.in_order_end <= range.start || none_before;
        if follows && !transmission.repeat {
            self.in_order_end = range.end;
            if !plain {
                self.in_order.push_back((range.start, self.next()));
            }
        } else {
            self.enter_among_others(range);
        }
        self.entries.push_back(transmission);
    }
    #[cold]
    fn give_up_first(&mut self) {
        self.forget_before(self.first + 1);
        self.gave_up = true;
    }
    /// The next transmission is not in order.
    #[cold]
    fn enter_among_others(&mut self, range: Range) {
        if self.is_plain() {
            let orders = self.first..;
            self.in_order.clear();
            self.in_order.extend(self.entries.iter().map(|t| t.range.start).zip(orders));
        }
        self.longest = self.longest.max(range.len());
        self.others_end = self.others_end.max(range.end);
        self.others.insert((range.start, self.next()));
    }
    /// The orders of those in order that begin before `offset`, the latest first.
    #[inline]
    fn orders_before(&self, offset: Offset) -> impl Iterator<Item = u64> {
        let plain = self.is_plain();
        let behind = if plain {
            self.entries.partition_point(|t| t.range.start < offset)
        } else {
            self.in_order.partition_point(|&(start, _)| start < offset)
        };
        let order = move |index: usize| {
            if plain { self.first + index as u64 } else { self.in_order[index].1 }
        };
        (0..behind).rev().map(order)
    }
    /// The orders of the transmissions that overlap `range`, earliest first: all but those of a
    /// place that was retransmitted more often than [`REPETITIONS`] allows.
    pub(crate) fn overlapping(&self, range: Range) -> Vec<u64> {
        let mut orders: Vec<u64> = self.those_in(range).collect();
        if self.others.is_empty() {
            orders.reverse();
        } else {
            orders.sort_unstable();
        }
        orders
    }
    pub(crate) fn latest(&self, range: Range) -> Option<u64> {
        self.those_in(range).max()
    }
    pub(crate) fn earliest(&self, range: Range) -> Option<u64> {
        self.those_in(range).min()
    }
    /// Those of [`Log::overlapping`] in any order; the latest first without retransmissions.
    fn those_in(&self, range: Range) -> impl Iterator<Item = u64> {
        let meets = move |order: &u64| self.get(*order).is_some_and(|t| t.range.overlaps(range));
        let in_order = self.orders_before(range.end);
        let lowest = Offset::new(range.start.as_u64().saturating_sub(self.longest));
        // A place is met by what begins there or before; and there are as many places as bytes.
        let most = REPETITIONS.most() + range.len() as usize / SMALLEST;
        let others = self.others.range((lowest, 0)..(range.end.max(lowest), 0)).rev().take(most);
        in_order.take_while(meets).chain(others.map(|&(_, order)| order).filter(meets))
    }
    /// Forgets the transmissions at the front that end at `offset` or before.
    #[inline]
    pub(crate) fn forget_acknowledged(&mut self, offset: Offset) {
        let behind = self.entries.iter().take_while(|t| t.range.end <= offset).count();
        if self.is_plain() {
            self.entries.drain(..behind);
            self.first += behind as u64;
        } else {
            self.forget_before(self.first + behind as u64);
        }
    }
    pub(crate) fn forget_before(&mut self, order: u64) {
        while self.first < order {
            let Some(gone) = self.entries.pop_front() else { break };
            if self.is_plain() {
                // It stands nowhere else.
            } else if self.in_order.front().is_some_and(|&(_, o)| o == self.first) {
                self.in_order.pop_front();
            } else {
                self.others.remove(&(gone.range.start, self.first));
            }
            self.first += 1;
        }
        if self.others.is_empty() {
            self.in_order.clear();
            self.longest = 0;
            self.others_end = Offset::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_unanswered_packets_dropped() {
        let mut log = Log::default();
        for order in 0..TRANSMISSIONS.most() as u64 + 1_000 {
            let place = |n: u64| Offset::new(n * 100);
            // Every third is sent twice.
            let repeat = order % 3 == 2;
            let start = order - u64::from(repeat);
            let range = Range { start: place(start), end: place(start + 1) };
            log.push(Transmission {
                repeat,
                ..Transmission::new(range, Instant::ZERO, order, 100)
            });
        }
        assert_eq!((log.first(), log.next()), (1_000, TRANSMISSIONS.most() as u64 + 1_000));
        assert_eq!(log.in_order.len() + log.others.len(), TRANSMISSIONS.most());
        let low = Range { start: Offset::ZERO, end: Offset::new(100_000) };
        assert!(log.overlapping(low).is_empty());
    }
}
