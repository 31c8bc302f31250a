//! What the receiver is known to hold, and which transmissions of it must have arrived.
//!
//! Compares every ACK with the [`Log`] of transmissions. Of a range sent once, that transmission
//! arrived. Of a range sent several times, the capture decides:
//!
//! - The first acknowledgement of the range was caused by the latest transmission that can have
//!   caused it: one sent at least (almost) the smallest round trip before, and not later than the
//!   timestamp that the acknowledgement echoes. The earlier ones are *superseded*: lost, unless a
//!   D-SACK follows. Later ones are *surplus*: spurious, and their arrival is unknown.
//!   Where the earlier ones are known to be lost, a much shorter time is believed too.
//! - A D-SACK (RFC 2883) says that one more arrived: the latest that can have caused it; if that
//!   one is known to have arrived already, then also the earliest that is not known to be lost
//!   (the paper's Reno (4): the data arrived, its acknowledgement was lost, the timeout's
//!   retransmission arrived as well). Transmissions between, which it does not cover, were lost.
//! - A transmission is *out of order* when something sent later arrived while it had not. On a path
//!   that keeps the order it is lost; should its range be acknowledged without a retransmission, it
//!   was merely late.
//! - Without SACK, an acknowledgement that jumps over data sent only once, or sent again less than
//!   the smallest round trip before, was caused by what filled the gap at its left edge; the rest
//!   had arrived before, so that no later retransmission brought it. So it is where duplicate ACKs
//!   answered each segment, and this one answers more than fits one packet.
//!
//! What the capture cannot know: when the acknowledgement that carried a D-SACK was itself lost,
//! a superseded transmission counts as lost although it arrived. Without SACK there is no such
//! report at all, and a sender that goes back repeats what had arrived: where the time does not
//! decide, the superseded transmission counts as lost. And where one of two transmissions was lost,
//! the timing may name the wrong one; the number is right.

use tcplab_units::{Instant, Offset, Span};

use super::transmissions::{Arrival, Log, Transmission};
use crate::Range;
use crate::fast_path;
use crate::fold::folded;
use crate::observers::{AckEffect, Ages};
use crate::ranges::Ranges;

/// How much a round trip may vary for reasons that have nothing to do with the path.
const JITTER: Span = Span::from_millis(1);

/// How many transmissions back the search for reordered ones goes.
const SEARCHED: usize = 1 << 12;
/// So many ACKs of one number answer one segment each (RFC 5681 section 4.2).
const DUPLICATES: u8 = 3;
/// The most bytes that a network card or kernel joins to one packet: what fits IPv4.
const JOINED: u64 = 65_535;
/// The most transmissions that one D-SACK may report.
const TOLD_AGAIN: usize = 1 << 8;

/// One acknowledgement, in offsets.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedAck<'a> {
    pub(crate) at: Instant,
    pub(crate) ack: Offset,
    pub(crate) sack: &'a [Range],
    pub(crate) dsack: Option<Range>,
    pub(crate) echo: Option<u32>,
}

/// The state of one direction, from its acknowledgements.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// Everything before this is acknowledged.
    pub(crate) una: Offset,
    /// The end of the highest byte sent.
    pub(crate) high: Offset,
    /// Received above `una`.
    pub(crate) sacked: Ranges,
    pub(crate) log: Log,
    pub(crate) min_round_trip: Option<Span>,
    /// Transmissions before this order were looked at for being out of order.
    examined: u64,
    /// The latest transmission known to have arrived, in the order of sending.
    latest_arrived: Option<u64>,
    /// How old the latest acknowledged transmission was when it was acknowledged.
    latest_age: Span,
    /// The ends agreed on not using SACK.
    pub(crate) without_sack: bool,
    /// ACKs of the same number since it advanced, with data in flight.
    repeated: u8,
}
folded! {
    Scoreboard {
        una, high, sacked, log, min_round_trip, examined, latest_arrived, latest_age, without_sack,
        repeated
    }
}

impl Scoreboard {
    /// No state is stored for data before `offset`.
    pub(crate) fn start_at(&mut self, offset: Offset) {
        self.una = offset;
        self.high = offset;
    }
    /// Bytes sent and neither acknowledged nor SACKed.
    pub(crate) fn in_flight(&self) -> u64 {
        self.high.since(self.una).as_u64().saturating_sub(self.sacked.total())
    }
    /// Whether the receiver is known to have all of `range`.
    pub(crate) fn covers(&self, range: Range) -> bool {
        let above = Range { start: range.start.max(self.una), end: range.end };
        above.is_empty() || self.sacked.covers(above)
    }
    /// When the oldest unacknowledged byte was last sent.
    pub(crate) fn oldest_sent(&self) -> Option<Instant> {
        self.oldest().map(|sent| sent.at)
    }
    /// Whether the oldest unacknowledged byte was retransmitted.
    pub(crate) fn is_head_resent(&self) -> bool {
        self.oldest().is_some_and(|sent| sent.repeat)
    }
    /// The latest transmission of the oldest unacknowledged byte.
    pub(crate) fn oldest(&self) -> Option<&Transmission> {
        let oldest = Range { start: self.una, end: Offset::new(self.una.as_u64() + 1) };
        self.log.get(self.log.latest(oldest)?)
    }

    /// Until when RACK's reordering timer may send `range` again: `None` if nothing sent after it
    /// is known to have arrived. The timer waits for the youngest segment that was out of order to
    /// grow as old as the latest acknowledged one was, and a quarter of the smallest round trip
    /// (RFC 8985 section 6.2, step 5; `tcp_rack_mark_lost` in Linux).
    pub(crate) fn reordering_deadline(&self, range: Range) -> Option<Instant> {
        let latest = self.latest_arrived?;
        let last_sent = self.log.latest(range)?;
        if last_sent >= latest {
            return None;
        }
        let youngest = (self.log.first()..latest)
            .rev()
            .take(SEARCHED)
            .filter_map(|order| self.log.get(order))
            .find(|t| !self.covers(t.range))?;
        Some(youngest.at + self.latest_age + self.min_round_trip.unwrap_or_default() / 4)
    }

    pub(crate) fn sent(&mut self, mut transmission: Transmission) {
        if transmission.repeat && self.covers(transmission.range) {
            transmission.arrival = Arrival::Surplus;
        }
        self.high = self.high.max(transmission.range.end);
        self.log.push(transmission);
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &ReceivedAck<'_>) -> AckEffect {
        let is_again = ack.ack == self.una && self.una < self.high;
        self.repeated = self.repeated.saturating_add(u8::from(is_again));
        let plain = ack.sack.is_empty() && ack.dsack.is_none() && self.sacked.is_empty();
        if plain && self.log.is_plain() && fast_path::is_enabled() {
            self.on_ack_in_order(ack)
        } else {
            self.on_ack_slow(ack)
        }
    }

    /// [`Scoreboard::on_ack_slow`] for a cumulative ACK where nothing was sent twice or received
    /// out of order: all transmissions that it covers arrived.
    #[inline]
    fn on_ack_in_order(&mut self, ack: &ReceivedAck<'_>) -> AckEffect {
        let mut effect = AckEffect::default();
        if ack.ack <= self.una {
            return effect;
        }
        effect.advanced = true;
        self.repeated = 0;
        let (first, from) = (self.log.first(), self.log.first_ending_behind(self.una));
        self.una = ack.ack;
        self.high = self.high.max(self.una);
        let (mut latest, mut ages) = (None, None);
        for (index, sent) in self.log.entries_mut().iter_mut().enumerate().skip(from) {
            if sent.range.end > ack.ack {
                if sent.range.start < ack.ack {
                    ages = joined(ages, Some(Ages::of_one(ack.at.since(sent.at))));
                }
                break;
            }
            if sent.arrival != Arrival::Arrived {
                sent.arrival = Arrival::Arrived;
                ages = joined(ages, Some(Ages::of_one(ack.at.since(sent.at))));
                latest = Some((first + index as u64, sent.at));
            }
        }
        effect.round_trip = self.sample(latest, ack.at);
        effect.acked_ages = ages;
        effect
    }

    /// Whether nothing was received out of order and all that is held was sent once.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.sacked.is_empty() && self.log.is_plain()
    }

    /// What [`Scoreboard::on_ack_in_order`] does, and [`Scoreboard::forget_acknowledged`] behind
    /// it, where the cumulative acknowledgement moves to `ack`, which was sent.
    #[inline]
    pub(crate) fn arrived(&mut self, ack: Offset, at: Instant) -> AckEffect {
        let before = std::mem::replace(&mut self.una, ack);
        self.repeated = 0;
        let (mut latest, mut ages) = (None, None);
        self.log.pop_before(ack, |order, sent| {
            if sent.range.end > before && sent.arrival != Arrival::Arrived {
                ages = joined(ages, Some(Ages::of_one(at.since(sent.at))));
                latest = Some((order, sent.at));
            }
        });
        if let Some(next) = self.log.entries_mut().front()
            && next.range.start < ack
        {
            ages = joined(ages, Some(Ages::of_one(at.since(next.at))));
        }
        let round_trip = self.sample(latest, at);
        AckEffect { advanced: true, round_trip, acked_ages: ages, ..AckEffect::default() }
    }

    /// The RTT if the latest arrived transmission is the one of this order, sent at this time.
    #[inline]
    fn sample(&mut self, latest: Option<(u64, Instant)>, at: Instant) -> Option<Span> {
        let (order, sent) = latest?;
        let sample = at.since(sent);
        self.min_round_trip = Some(self.min_round_trip.map_or(sample, |min| min.min(sample)));
        self.examined = self.examined.max(order);
        self.latest_arrived = self.latest_arrived.max(Some(order));
        self.latest_age = sample;
        Some(sample)
    }

    fn on_ack_slow(&mut self, ack: &ReceivedAck<'_>) -> AckEffect {
        let mut effect = AckEffect::default();
        let left_edge = self.una;
        let cumulative = Range { start: self.una, end: ack.ack };
        let mut winners = Winners::default();
        if ack.ack > self.una {
            effect.advanced = true;
            let fresh = self.sacked.missing(cumulative);
            effect.echoed_age = self.echoed_age(left_edge, ack);
            self.una = ack.ack;
            self.high = self.high.max(self.una);
            self.sacked.remove_before(self.una);
            for piece in fresh {
                self.settle(piece, ack, left_edge, &mut winners);
            }
        }
        // Where what was retransmitted is taken in as well, the rest may have waited for it (Karn's
        // rule for the whole acknowledgement, as `tcp_clean_rtx_queue`); then only the timestamp
        // echo gives a sample.
        self.repeated = if effect.advanced { 0 } else { self.repeated };
        effect.round_trip = if winners.blurred { effect.echoed_age } else { winners.round_trip };
        effect.acked_ages = winners.sure_ages;
        if effect.advanced {
            effect.acked_ages = joined(effect.acked_ages, self.partly_acked_ages(ack));
        }
        for block in ack.sack {
            let mut block =
                Range { start: block.start.max(self.una), end: block.end.min(self.high) };
            while let Some(piece) = self.sacked.first_missing(block) {
                // Not to come back to it, even where the set forgets it at once for want of room.
                block.start = piece.end;
                effect.sacked = true;
                self.sacked.insert(piece);
                let mut by_sack = Winners::default();
                self.settle(piece, ack, Offset::ZERO, &mut by_sack);
                effect.earliest_sacked = earlier(effect.earliest_sacked, by_sack.earliest);
                winners.latest_sure = winners.latest_sure.max(by_sack.latest_sure);
                winners.latest = winners.latest.max(by_sack.latest);
                // Linux keeps the age of the last one it looks at: SACKed ones come first.
                winners.latest_age = winners.latest_age.or(by_sack.latest_age);
                effect.round_trip = effect.round_trip.or(by_sack.round_trip);
                effect.sacked_ages = joined(effect.sacked_ages, by_sack.sure_ages);
            }
        }
        if let Some(block) = ack.dsack {
            self.received_again(block, ack.at);
        }
        if let Some(sample) = effect.round_trip {
            self.min_round_trip = Some(self.min_round_trip.map_or(sample, |min| min.min(sample)));
        }
        self.mark_overtaken(winners.latest_sure);
        self.latest_arrived = self.latest_arrived.max(winners.latest);
        self.latest_age = winners.latest_age.unwrap_or(self.latest_age);
        effect
    }

    pub(crate) fn forget_before(&mut self, order: u64) {
        self.log.forget_before(order);
    }
    /// The order of the first transmission that the receiver is not known to have.
    pub(crate) fn first_open(&self) -> u64 {
        let open = self.log.iter().find(|(_, t)| !self.covers(t.range));
        open.map_or(self.log.next(), |(order, _)| order)
    }
    /// Forgets the transmissions at the front that are acknowledged.
    pub(crate) fn forget_acknowledged(&mut self) {
        self.log.forget_acknowledged(self.una);
    }

    /// Decides which transmissions brought `piece`, now received. `left_edge` is what the receiver
    /// expected next, where the echoed timestamp shows which transmission caused this
    /// acknowledgement.
    fn settle(
        &mut self,
        piece: Range,
        ack: &ReceivedAck<'_>,
        left_edge: Offset,
        winners: &mut Winners,
    ) {
        if fast_path::is_enabled()
            && let Some(order) = self.log.only_one_in(piece)
        {
            return self.settle_alone(order, ack, winners);
        }
        let mut rivals: Vec<(Preference, u64)> = Vec::new();
        let candidates = self.log.overlapping(piece);
        let filler =
            if self.without_sack { self.hole_filler(piece, &candidates, ack.at) } else { None };
        for order in candidates {
            let Some(transmission) = self.log.get(order) else { continue };
            let beyond = transmission.range.start > piece.start;
            if beyond && filler.is_some_and(|filler| order > filler) {
                // It cannot have got there before the one that filled the gap.
                rivals.push((Preference::TooLate(order), order));
                continue;
            }
            if transmission.arrival != Arrival::Arrived && self.covers(transmission.range) {
                let likelihood = self.likelihood(transmission, ack, left_edge);
                rivals.push((Preference::of(transmission, likelihood, order), order));
            }
        }
        rivals.sort_unstable();
        let mut unclaimed = Ranges::of(piece);
        for (preference, order) in rivals {
            let alone = self.log.is_alone(order);
            let Some(transmission) = self.log.get_mut(order) else { continue };
            if unclaimed.meets(transmission.range) {
                unclaimed.remove(transmission.range);
                transmission.arrival = Arrival::Arrived;
                let sample = ack.at.since(transmission.at);
                winners.add(order, sample, alone);
            } else if transmission.arrival == Arrival::Unknown {
                transmission.arrival = match preference {
                    Preference::TooLate(_) | Preference::Hasty(_) => Arrival::Surplus,
                    _ => Arrival::Superseded,
                };
            }
        }
    }

    /// How old the transmission of the byte at `left_edge` is whose timestamp the answer echoes: a
    /// segment that moves the left edge leaves its timestamp to be echoed (RFC 7323 section 4.3).
    fn echoed_age(&self, left_edge: Offset, ack: &ReceivedAck<'_>) -> Option<Span> {
        let echo = ack.echo.filter(|_| self.log.has_others())?;
        let byte = Range { start: left_edge, end: Offset::new(left_edge.as_u64() + 1) };
        let orders = self.log.overlapping(byte);
        let all = orders.iter().filter_map(|&order| self.log.get(order));
        let mut bore = all.filter(|sent| sent.clock == Some(echo));
        let (one, another) = (bore.next()?, bore.next());
        another.is_none().then(|| ack.at.since(one.at))
    }

    /// How old the transmission is that the acknowledgement takes in only the first part of: a
    /// large piece that the network card cut. Linux goes by its time too (`tcp_tso_acked`).
    fn partly_acked_ages(&self, ack: &ReceivedAck<'_>) -> Option<Ages> {
        let next = Range { start: ack.ack, end: Offset::new(ack.ack.as_u64() + 1) };
        let order = self.log.earliest(next)?;
        let sent = self.log.get(order).filter(|sent| sent.range.start < ack.ack)?;
        let age = ack.at.since(sent.at);
        self.log.is_alone(order).then_some(Ages { first: age, last: age })
    }

    /// [`Scoreboard::settle`] for a piece that only one transmission can have brought.
    fn settle_alone(&mut self, order: u64, ack: &ReceivedAck<'_>, winners: &mut Winners) {
        let Some(sent) = self.log.get(order) else { return };
        if sent.arrival == Arrival::Arrived || !self.covers(sent.range) {
            return;
        }
        let (sample, alone) = (ack.at.since(sent.at), self.log.is_alone(order));
        if let Some(sent) = self.log.get_mut(order) {
            sent.arrival = Arrival::Arrived;
        }
        winners.add(order, sample, alone);
    }

    /// The retransmission of the start of `piece` that filled the gap, if the end of `piece` had
    /// arrived before: it was sent once before that, or sent again too late for this answer; or the
    /// receiver answered each segment, and now more at once than a network card joins.
    fn hole_filler(&self, piece: Range, candidates: &[u64], at: Instant) -> Option<u64> {
        let sent = |order: u64| self.log.get(order);
        let in_time = |order: u64| sent(order).is_some_and(|sent| self.is_round_trip(sent, at));
        let is_joined = self.repeated < DUPLICATES || piece.len() <= JOINED;
        let is_held = |order: u64| !is_joined || !in_time(order);
        let holds_end = |order: &u64| sent(*order).is_some_and(|it| it.range.end >= piece.end);
        let holds_start =
            |order: &u64| sent(*order).is_some_and(|it| it.range.start <= piece.start);
        let mut latest = candidates.iter().rev().copied();
        let top = latest.find(holds_end)?;
        let mut starts = candidates.iter().rev().copied().filter(holds_start);
        if self.log.is_alone(top) {
            return starts.next().filter(|&first| first > top);
        }
        let first = candidates.iter().copied().find(holds_end)?;
        starts.find(|&it| in_time(it)).filter(|&filler| is_held(top) && first < filler)
    }

    /// Whether the answer may be the answer to this transmission.
    fn likelihood(
        &self,
        sent: &Transmission,
        ack: &ReceivedAck<'_>,
        left_edge: Offset,
    ) -> Likelihood {
        // RFC 7323 section 4.3: a segment at the left edge sets the echo, so it is not older.
        if let (Some(clock), Some(echo)) = (sent.clock, ack.echo)
            && sent.range.start <= left_edge
            && (echo.wrapping_sub(clock) as i32) < 0
        {
            return Likelihood::None;
        }
        let least = self.min_round_trip.unwrap_or_default() / 4;
        if self.was_on_the_way_long_enough(sent, ack.at) {
            Likelihood::Full
        } else if ack.at.since(sent.at) >= least {
            Likelihood::Small
        } else {
            Likelihood::None
        }
    }

    /// Whether a round trip fits between the transmission and `answered`. The next one may be
    /// smaller than the smallest seen: by an eighth, and by what clocks and schedulers add.
    fn was_on_the_way_long_enough(&self, sent: &Transmission, answered: Instant) -> bool {
        let least = self.min_round_trip.unwrap_or_default();
        answered.since(sent.at) >= least.saturating_sub((least / 8).max(JITTER))
    }

    /// Whether the smallest round trip fits between, but for what clocks and schedulers add.
    fn is_round_trip(&self, sent: &Transmission, answered: Instant) -> bool {
        answered.since(sent.at) + JITTER >= self.min_round_trip.unwrap_or_default()
    }

    /// A D-SACK: one more transmission of `block` arrived.
    fn received_again(&mut self, block: Range, at: Instant) {
        let mut unclaimed = Ranges::of(block);
        for order in self.log.overlapping(block).into_iter().rev().take(TOLD_AGAIN) {
            let Some(latest) = self.log.get(order) else { continue };
            let range = latest.range;
            // A retransmission whose beginning is not reported brought new data.
            let is_other = latest.repeat && block.start > range.start;
            let is_early = !self.was_on_the_way_long_enough(latest, at);
            if is_other || is_early || !unclaimed.meets(range) {
                continue;
            }
            unclaimed.remove(range);
            let (known, repeat, counted) =
                (latest.arrival == Arrival::Arrived, latest.repeat, latest.spurious);
            let twin = if known { self.unknown_twin(order, range, at) } else { None };
            if let Some(twin) = twin.and_then(|order| self.log.get_mut(order)) {
                twin.arrival = Arrival::Arrived;
                twin.spurious |= twin.repeat && counted;
            }
            if let Some(latest) = self.log.get_mut(order) {
                latest.arrival = Arrival::Arrived;
                latest.spurious |= repeat;
            }
            // Those sent before it would have been reported before it.
            for earlier in self.log.overlapping(range).into_iter().filter(|&o| o < order) {
                if let Some(earlier) = self.log.get_mut(earlier)
                    && matches!(earlier.arrival, Arrival::Surplus | Arrival::Unknown)
                {
                    earlier.arrival = Arrival::Superseded;
                }
            }
        }
    }

    /// Another transmission of `range` that may have arrived: the earliest not known to be lost.
    fn unknown_twin(&self, order: u64, range: Range, at: Instant) -> Option<u64> {
        let twins =
            self.log.overlapping(range).into_iter().filter_map(|o| Some((o, self.log.get(o)?)));
        twins
            .filter(|&(o, t)| {
                o != order
                    && t.arrival != Arrival::Arrived
                    && self.was_on_the_way_long_enough(t, at)
            })
            .min_by_key(|&(o, t)| (t.arrival == Arrival::Overtaken, o))
            .map(|(o, _)| o)
    }

    /// `latest` arrived: earlier transmissions that are still missing were lost.
    fn mark_overtaken(&mut self, latest: Option<u64>) {
        let Some(latest) = latest else { return };
        for order in self.examined.max(self.log.first())..latest {
            let Some(transmission) = self.log.get(order) else { continue };
            let range = transmission.range;
            if transmission.arrival == Arrival::Unknown
                && !self.covers(range)
                && let Some(transmission) = self.log.get_mut(order)
            {
                transmission.arrival = Arrival::Overtaken;
            }
        }
        self.examined = self.examined.max(latest);
    }
}

/// In which order transmissions of one range are thought to have brought it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Preference {
    /// The latest that can have; counted down.
    Possible(std::cmp::Reverse<u64>),
    /// The latest of those that came back sooner than any before.
    Hasty(std::cmp::Reverse<u64>),
    /// The latest of those that something later overtook.
    Overtaken(std::cmp::Reverse<u64>),
    /// The earliest of those that were sent too late.
    TooLate(u64),
}

impl Preference {
    fn of(transmission: &Transmission, likelihood: Likelihood, order: u64) -> Preference {
        let latest_first = std::cmp::Reverse(order);
        match likelihood {
            _ if transmission.arrival == Arrival::Overtaken => Preference::Overtaken(latest_first),
            Likelihood::Full => Preference::Possible(latest_first),
            Likelihood::Small => Preference::Hasty(latest_first),
            Likelihood::None => Preference::TooLate(order),
        }
    }
}

/// How well the time fits for a transmission to have caused an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likelihood {
    /// A round trip lies between.
    Full,
    /// A good part of one.
    Small,
    /// It cannot have.
    None,
}

/// The transmissions that an acknowledgement shows to have arrived.
#[derive(Debug, Default)]
struct Winners {
    earliest: Option<u64>,
    /// The latest of those whose range was sent only once.
    latest_sure: Option<u64>,
    round_trip: Option<Span>,
    /// Of those whose range was sent only once.
    sure_ages: Option<Ages>,
    latest: Option<u64>,
    latest_age: Option<Span>,
    /// One of them was sent several times.
    blurred: bool,
}

impl Winners {
    /// `alone`: its range was sent only once.
    fn add(&mut self, order: u64, age: Span, alone: bool) {
        self.earliest = earlier(self.earliest, Some(order));
        self.blurred |= !alone;
        if self.latest.is_none_or(|latest| latest < order) {
            self.latest = Some(order);
            self.latest_age = Some(age);
        }
        if alone {
            self.sure_ages = joined(self.sure_ages, Some(Ages { first: age, last: age }));
        }
        if alone && self.latest_sure.is_none_or(|latest| latest < order) {
            self.latest_sure = Some(order);
            self.round_trip = Some(age);
        }
    }
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn joined(a: Option<Ages>, b: Option<Ages>) -> Option<Ages> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.with(b)),
        (a, b) => a.or(b),
    }
}
