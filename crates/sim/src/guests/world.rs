//! The loop over events: two guests, the path between them, and the recording.

use std::collections::VecDeque;

use tcplab_path::{Direction, Fate, Link, LinkPlan, Packet, Verdict};
use tcplab_recording::{GuestOrder, GuestReport};
use tcplab_units::{Endpoint, Instant, Rng, Span};

use super::awaited::{Awaited, QUIET};
use super::error::GuestTrialError;
use super::guest::{FromGuest, Guest};
use super::recorder::Recorder;
use crate::packets::SECOND_ADDRESSES;

/// How long after its time is over the applications of a trial have for what may fail.
const LAST_WORDS: Span = Span::from_secs(1);
/// It is asked whether it is stopped once per this many events.
const LOOK: u64 = 1024;
/// In the numbers of packets that links of the second path make themselves.
const MADE_ON_SECOND_PATH: u64 = 1 << 62;

/// One direction of a path.
struct Way {
    link: Link,
    /// Whether what arrives may differ from what was sent.
    changes: bool,
    /// How long a packet is on it at least.
    least_delay: Span,
    /// Whether something on it may answer the sender.
    answers: bool,
    /// What its last element takes at least.
    last_delay: Span,
    /// Packets at its end that the receiver has been told already.
    told: usize,
}

/// One end.
struct Side<G> {
    guest: G,
    /// What it has sent, at times that the world has not come to yet.
    sent: VecDeque<(Instant, FromGuest)>,
    /// What it will be told: packets may reach it before.
    orders: VecDeque<(Instant, GuestOrder)>,
}

/// The world of one trial, or of a program behind a path.
pub(super) struct GuestWorld<G, A> {
    now: Instant,
    /// What the ends are called.
    names: [&'static str; 2],
    /// Client and server.
    sides: [Side<G>; 2],
    /// Of each path: forward and reverse.
    paths: Vec<[Way; 2]>,
    awaited: A,
    recorder: Recorder,
    next_id: u64,
    /// When the trial's time was over; afterwards nothing is recorded.
    over: Option<Instant>,
    /// Once it is: until when its applications have time for what may fail.
    last_words: Option<Instant>,
    /// When the trial is over, or the server is told that it is alone, if nothing moves.
    rest: Option<Instant>,
    events: u64,
    /// Events at this instant.
    at_once: u64,
}

/// What the world does next. Of what is due together the first comes first: what a guest was told
/// ahead arrives before it leaves what it sent at once because of that, and all that it has sent is
/// on the path before an answer to a part of it arrives. An arrival is that of a direction and a
/// path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    ToldArrival(usize, usize),
    Order(usize),
    Departure(usize),
    Arrival(usize, usize),
    Turn(usize),
    Rest,
    Limit,
}

/// What a world leaves.
#[derive(Debug)]
pub(super) struct Left<A> {
    pub(super) awaited: A,
    /// When it ended.
    pub(super) at: Instant,
    pub(super) recorder: Recorder,
}

type Outcome<G> = Result<(), GuestTrialError<<G as Guest>::Error>>;

impl<G: Guest, A: Awaited> GuestWorld<G, A> {
    pub(super) fn new(
        guests: [G; 2],
        names: [&'static str; 2],
        plans: &[[LinkPlan; 2]],
        seed: u64,
        awaited: A,
        recorder: Recorder,
    ) -> GuestWorld<G, A> {
        let way = |nth: usize, plan: &LinkPlan, direction: Direction| {
            let seed = if nth == 0 { seed } else { seed_of_second_path(seed) };
            Way {
                link: Link::new(plan, seed, direction),
                changes: plan.reads_packets(),
                least_delay: plan.least_delay(),
                answers: plan.may_answer(),
                last_delay: plan.last_delay(),
                told: 0,
            }
        };
        GuestWorld {
            now: Instant::ZERO,
            names,
            sides: guests.map(|guest| Side {
                guest,
                sent: VecDeque::new(),
                orders: VecDeque::new(),
            }),
            paths: plans
                .iter()
                .enumerate()
                .map(|(nth, plans)| {
                    Direction::BOTH.map(|direction| way(nth, &plans[direction as usize], direction))
                })
                .collect(),
            awaited,
            recorder,
            next_id: 1,
            over: None,
            last_words: None,
            rest: None,
            events: 0,
            at_once: 0,
        }
    }

    /// Runs until all is over; false if it was stopped.
    pub(super) fn run(
        &mut self,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<bool, GuestTrialError<G::Error>> {
        for side in &mut self.sides {
            side.guest.handle_order(Instant::ZERO, &GuestOrder::Start);
        }
        while let Some((at, next)) = self.next() {
            self.at_once = if at > self.now { 0 } else { self.at_once + 1 };
            self.now = at;
            self.events += 1;
            match next {
                Next::Order(end) => self.hand_over_order(end),
                Next::ToldArrival(way, path) | Next::Arrival(way, path) => {
                    self.deliver(way, path)?;
                }
                Next::Departure(end) => self.depart(end)?,
                Next::Turn(end) => self.turn(end)?,
                Next::Rest if self.awaited.all_left() => return Ok(true),
                Next::Rest if self.awaited.only_background_goes_on() => self.run_out()?,
                Next::Rest => {
                    self.rest = None;
                    self.tell(Endpoint::Server, &GuestOrder::Rest);
                }
                Next::Limit if self.last_words.is_some() || !A::HAS_LAST_WORDS => return Ok(true),
                Next::Limit => self.run_out()?,
            }
            let all_said = self.last_words.is_some() && self.awaited.all_left();
            if all_said || self.awaited.is_over() {
                return Ok(true);
            }
            if self.at_once > A::MOST_AT_ONCE {
                return Err(GuestTrialError::Stands { at });
            }
            self.look_for_rest();
            if self.events.is_multiple_of(LOOK) && stop() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends it: packets on the path get their verdicts.
    pub(super) fn end(mut self) -> Result<Left<A>, GuestTrialError<G::Error>> {
        let at = self.over.unwrap_or(self.now);
        self.drain(at)?;
        Ok(Left { awaited: self.awaited, at, recorder: self.recorder })
    }

    fn next(&self) -> Option<(Instant, Next)> {
        let orders =
            (0..2).map(|end| (self.sides[end].orders.front().map(|(at, _)| *at), Next::Order(end)));
        let arrivals = self.paths.iter().enumerate().flat_map(|(path, ways)| {
            ways.iter().enumerate().map(move |(way, Way { link, told, .. })| {
                let is_told = *told > 0;
                let what =
                    if is_told { Next::ToldArrival(way, path) } else { Next::Arrival(way, path) };
                (link.next_departure(), what)
            })
        });
        let departures = (0..2)
            .map(|end| (self.sides[end].sent.front().map(|(at, _)| *at), Next::Departure(end)));
        let turns = (0..2).map(|end| (self.sides[end].guest.poll_at(), Next::Turn(end)));
        let limit = self.last_words.or(self.awaited.limit());
        let others = [(self.rest, Next::Rest), (limit, Next::Limit)];
        let all = orders.chain(arrivals).chain(departures).chain(turns).chain(others);
        all.filter_map(|(at, next)| Some((at?, next))).min()
    }

    /// A guest runs, until something that it cannot know yet may reach it.
    fn turn(&mut self, end: usize) -> Outcome<G> {
        let [told_until, until] = self.limits_of_turn(end);
        let endpoint = self.names[end];
        let Side { guest, sent, .. } = &mut self.sides[end];
        // What is sure to arrive meanwhile need not interrupt it.
        let mut ahead = Vec::new();
        for ways in &mut self.paths {
            let Way { link, changes, told, .. } = &mut ways[1 - end];
            let before = ahead.len();
            let settled = link.settled().skip(*told).take_while(|(at, _)| *at < told_until);
            ahead.extend(settled.map(|(at, packet)| (at, packet.bytes.clone(), !*changes)));
            *told += ahead.len() - before;
        }
        // What arrives at the same time keeps the order of the paths.
        ahead.sort_by_key(|(at, ..)| *at);
        for (at, packet, checked) in ahead {
            guest.handle_packet(at, packet, checked);
        }
        let failed = |source| GuestTrialError::Guest { endpoint, source };
        guest.run(self.now, until).map_err(failed)?;
        while let Some(next) = guest.poll_sent().map_err(failed)? {
            sent.push_back(next);
        }
        Ok(())
    }

    /// Until when the guest at an end may be told what arrives, and how far it may then run.
    ///
    /// On one path nothing overtakes what is sure to arrive. On two, an answer to what it sends now
    /// may, by the other.
    fn limits_of_turn(&self, end: usize) -> [Instant; 2] {
        let until = self.horizon(end);
        if self.paths.len() == 1 {
            return [until; 2];
        }
        let may_refuse = self.paths.iter().flatten().any(|way| way.answers);
        let both = self.least_delay(end) + self.least_delay(1 - end);
        let answered = self.now + if may_refuse { Span::ZERO } else { both };
        let untold = self.paths.iter().filter_map(|ways| {
            let Way { link, told, .. } = &ways[1 - end];
            link.settled().skip(*told).map(|(at, _)| at).find(|at| *at >= answered)
        });
        [until.min(answered), untold.min().map_or(until, |at| at.min(until))]
    }

    /// How far the guest at an end may run: nothing that it does not know arrives before.
    fn horizon(&self, end: usize) -> Instant {
        let other = &self.sides[1 - end];
        let least_back = self.least_delay(1 - end);
        // What is sure to arrive is told before.
        let arrivals = self.paths.iter().map(|ways| &ways[1 - end]);
        let arrivals = arrivals.filter_map(|it| Some(it.link.unsettled_at()? + it.last_delay));
        // What it sent itself may be answered, on any path.
        let departures = self.paths.iter().map(|ways| &ways[end]);
        let answered = departures.filter_map(|out| {
            let at = out.link.next_departure()?;
            Some(if out.answers { at } else { at + least_back })
        });
        let sent = other.sent.front().map(|(at, _)| *at);
        let told = |side: &Side<G>| side.orders.front().map(|(at, _)| *at);
        let others = Instant::earlier(sent, other.guest.poll_at());
        let others = Instant::earlier(others, told(other));
        // Of the other's link something may come back to it at once; so may a report to this end.
        let others = others.map(|at| at + least_back);
        let limit = self.awaited.limit().filter(|_| self.last_words.is_none());
        // Once nothing moves, a rest may come.
        let rest = self.rest.unwrap_or(self.now + QUIET);
        let clock = Instant::earlier(Some(rest), limit);
        [arrivals.min(), answered.min(), others, told(&self.sides[end]), clock]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(rest)
    }

    /// How long a packet of this direction is on any path at least.
    fn least_delay(&self, way: usize) -> Span {
        let all = self.paths.iter().map(|ways| ways[way].least_delay);
        all.min().unwrap_or(Span::ZERO)
    }

    /// Something that a guest has sent leaves it.
    fn depart(&mut self, end: usize) -> Outcome<G> {
        let Some((_, what)) = self.sides[end].sent.pop_front() else { return Ok(()) };
        match what {
            FromGuest::Packet(_) | FromGuest::Sample(..) if self.last_words.is_some() => {}
            FromGuest::Packet(packet) => {
                let id = self.next_id;
                self.next_id += 1;
                self.recorder.left(Endpoint::BOTH[end], self.now, id, &packet)?;
                let path = usize::from(self.paths.len() > 1 && takes_second_path(&packet));
                let link = &mut self.paths[path][end].link;
                link.handle_packet(self.now, Packet::new(id, packet));
            }
            FromGuest::Report(report) => self.heard(Endpoint::BOTH[end], report)?,
            FromGuest::Sample(flow, sample) => self.recorder.sampled(flow.as_deref(), &sample)?,
        }
        Ok(())
    }

    fn heard(&mut self, end: Endpoint, report: GuestReport) -> Outcome<G> {
        let relayed = match &report {
            GuestReport::Accepted(nth) => Some(GuestOrder::Accepted(*nth)),
            GuestReport::Listening => Some(GuestOrder::Listening),
            GuestReport::Ended { nth, was_connected } => {
                Some(GuestOrder::Ended { nth: *nth, was_connected: *was_connected })
            }
            _ => None,
        };
        if let Some(order) = relayed {
            self.tell(end.other(), &order);
        }
        match report {
            GuestReport::Failed { message, remedy } => {
                let endpoint = self.names[end.index()];
                Err(GuestTrialError::Failed { endpoint, message, remedy })
            }
            report => {
                self.awaited.heard(self.now, end, report);
                Ok(())
            }
        }
    }

    /// Tells an end something, as soon as it can hear it: it may have run until then already.
    fn tell(&mut self, end: Endpoint, order: &GuestOrder) {
        let delay = self.least_delay(1 - end.index());
        self.sides[end.index()].orders.push_back((self.now + delay, *order));
    }

    fn hand_over_order(&mut self, end: usize) {
        let Side { guest, orders, .. } = &mut self.sides[end];
        if let Some((at, order)) = orders.pop_front() {
            guest.handle_order(at, &order);
        }
    }

    /// Hands over what has come out of a link.
    fn deliver(&mut self, way: usize, path: usize) -> Outcome<G> {
        let Way { link, changes, told, .. } = &mut self.paths[path][way];
        while let Some(departure) = link.poll(self.now) {
            let verdict = on_path(path, departure.verdict);
            // A router's answer goes back to the sender.
            let end = 1 - verdict.direction.sender().index();
            if verdict.fate == Fate::Delivered {
                let endpoint = Endpoint::BOTH[end];
                let packet = &departure.packet.bytes;
                self.recorder.arrived(endpoint, self.now, verdict.id, packet, *changes)?;
                if end != way && *told > 0 {
                    *told -= 1;
                } else {
                    let guest = &mut self.sides[end].guest;
                    guest.handle_packet(self.now, departure.packet.bytes, !*changes);
                }
            }
            self.recorder.verdict(&verdict)?;
        }
        Ok(())
    }

    /// The time is over: calls that wait and may fail return, and packets on the path get their
    /// verdicts.
    fn run_out(&mut self) -> Outcome<G> {
        self.over = Some(self.now);
        self.rest = None;
        for end in Endpoint::BOTH {
            self.tell(end, &GuestOrder::RunOut);
        }
        let told = self.sides.iter().filter_map(|side| Some(side.orders.back()?.0));
        self.last_words = Some(told.fold(self.now, Instant::max) + LAST_WORDS);
        self.drain(self.now)
    }

    fn drain(&mut self, at: Instant) -> Outcome<G> {
        for (path, ways) in self.paths.iter_mut().enumerate() {
            for way in ways {
                for departure in way.link.drain(at) {
                    self.recorder.verdict(&on_path(path, departure.verdict))?;
                }
            }
        }
        Ok(())
    }

    /// Notes when the trial is over if nothing moves until then.
    fn look_for_rest(&mut self) {
        if self.last_words.is_some() {
            return;
        }
        let mut ways = self.paths.iter().flatten();
        let is_empty = ways.all(|way| way.link.in_flight().next().is_none());
        let farewell = self.awaited.farewell(is_empty);
        let alone = (is_empty && self.awaited.server_is_alone()).then_some(QUIET);
        self.rest = match farewell.or(alone) {
            None => None,
            Some(span) => self.rest.or(Some(self.now + span)),
        };
    }
}

/// The seed of the randomness on the second path: what happens there is independent of the first.
fn seed_of_second_path(seed: u64) -> u64 {
    Rng::new(seed, "second path").next_u64()
}

/// The verdict of a link of the path with this number. Links number what they make themselves
/// alike.
fn on_path(path: usize, verdict: Verdict) -> Verdict {
    if path == 0 {
        return verdict;
    }
    let id = if verdict.is_made() { verdict.id | MADE_ON_SECOND_PATH } else { verdict.id };
    Verdict { id, second_path: true, ..verdict }
}

/// Whether a packet has an address of the second path.
fn takes_second_path(packet: &[u8]) -> bool {
    let Some(header) = packet.first_chunk::<20>().filter(|header| header[0] >> 4 == 4) else {
        return false;
    };
    let address = |at: usize| -> [u8; 4] { header[at..at + 4].try_into().unwrap_or_default() };
    // RFC 791 section 3.1.
    [12, 16].into_iter().any(|at| SECOND_ADDRESSES.contains(&address(at).into()))
}
