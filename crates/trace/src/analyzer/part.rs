//! A part of all connections: what one thread needs to analyse their packets.

use std::collections::VecDeque;

use tcplab_units::Span;

use super::ended_early::EndedEarly;
use super::found::Found;
use crate::FlowId;
use crate::bounds::{ENDS, OVER, PARTS, share};
use crate::connection::{
    ConnectionState, Entry, PacketOutcome, Placed, PlainOutcome, Refusal, Table, TooBig,
};
use crate::direction::ClockStep;
use crate::observers::Event;
use crate::packet::{Ends, Packet};

/// The most open connections tracked by default, less than a kilobyte each while they are idle.
pub(super) const OPEN: usize = 1 << 17;

/// How many parts there are, and what each may keep. It does not depend on threads, so neither does
/// what is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// A power of two.
    pub(super) parts: usize,
    open: usize,
    closed: usize,
    ends: usize,
    /// Whether it is told which connection owns each packet.
    owners: bool,
}

impl Shares {
    /// All parts together keep so many open connections, nearly. In one part, exactly.
    pub(super) fn new(most_open: usize, in_one: bool) -> Shares {
        let each = OPEN / PARTS.most().max(1);
        let parts = (most_open / each).clamp(1, PARTS.most().max(1));
        let parts = if in_one { 1 } else { parts.next_power_of_two() };
        let closed = OVER.most() / parts;
        let (open, ends) = (share(most_open, parts), ENDS.of_part(parts));
        Shares { parts, open, closed, ends, owners: false }
    }
    /// For one connection alone, which nothing ends before its last packet.
    pub(super) fn of_one() -> Shares {
        let most = usize::MAX;
        Shares { parts: 1, open: most, closed: most, ends: most, owners: false }
    }
    /// The same; whether owners of packets are told.
    pub(super) fn telling(self, owners: bool) -> Shares {
        Shares { owners, ..self }
    }

    /// The part with the connection between these ends.
    #[inline]
    pub(super) fn part_of(&self, ends: &Ends) -> usize {
        // The table takes the low bits.
        ends.hash() >> (usize::BITS - 8) & (self.parts - 1)
    }
}

/// A closed connection that is still tracked: packets come after FINs and RSTs.
#[derive(Debug)]
pub(super) struct Lingering {
    /// Its last known packet.
    frame: u64,
    /// Its place in the table.
    at: usize,
    /// The frame that it began with: by that it is known.
    first: u64,
}

/// The connections with one of the values that the hash of their ends can have.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) table: Table,
    shares: Shares,
    pub(super) lingering: VecDeque<Lingering>,
    /// The number of open connections.
    pub(super) open: usize,
    /// So many numbers of connections were given, and these are free again.
    given: u32,
    free: Vec<u32>,
    /// The most bytes for connections, if limited.
    pub(super) most_memory: Option<usize>,
    pub(super) early: EndedEarly,
}

impl Part {
    pub(super) fn new(shares: Shares) -> Part {
        Part {
            table: Table::default(),
            shares,
            lingering: VecDeque::new(),
            open: 0,
            given: 0,
            free: Vec::new(),
            most_memory: None,
            early: EndedEarly::default(),
        }
    }

    /// Analyses the next packet of this part.
    #[inline(always)]
    pub(super) fn packet(&mut self, packet: &Packet, out: &mut impl FnMut(Found)) {
        self.analyse(packet, out);
        if self.lingering.len() > self.shares.closed {
            self.close_lingering(self.shares.closed, out);
        }
        self.table.fold_idle(packet.frame);
        if let Some(most) = self.most_memory {
            self.bound_memory(most, packet.frame, out);
        }
    }

    /// Frames until this one were of no connection in this part.
    pub(super) fn pass_until(&mut self, frame: u64) {
        self.table.fold_idle(frame);
    }

    /// How wrong the capture clock is after a step before this packet, as its connection shows.
    #[cold]
    pub(super) fn clock_error(&mut self, packet: &Packet, step: ClockStep) -> Option<Span> {
        let at = self.table.find(&packet.ends)?;
        self.table.at(at).clock_error(packet, step)
    }

    /// Applies ICMP's report that a segment was too big for the path.
    pub(super) fn on_too_big(&mut self, report: &TooBig, out: &mut impl FnMut(Found)) {
        let Some(at) = self.table.find(&report.ends) else { return };
        let entry = self.table.at(at);
        entry.begin(&mut pass_on_to(out));
        let number = entry.number;
        let Some(state) = entry.only() else { return };
        state.on_too_big(report);
        entry.keep_state_alone();
        if self.shares.owners {
            out(Found::Owner(number));
        }
    }

    #[inline]
    fn analyse(&mut self, packet: &Packet, out: &mut impl FnMut(Found)) {
        let known = self.table.find(&packet.ends);
        if let Some(at) = known
            && packet.plain
        {
            let entry = self.table.at(at);
            let number = entry.number;
            if let Some((state, outcome)) = entry.packet_in_passing(packet) {
                if self.shares.owners {
                    out(Found::Owner(number));
                }
                pass_events_of(number, state, out);
                if packet.wanted {
                    pass_on_plain(number, outcome, out);
                }
                return;
            }
        }
        self.analyse_slow(known, packet, out);
    }

    /// [`Part::analyse`] for any packet; `known` is the place of its connection.
    #[inline(never)]
    fn analyse_slow(&mut self, known: Option<usize>, packet: &Packet, out: &mut impl FnMut(Found)) {
        let Some(at) = known.or_else(|| self.begin(packet, out)) else { return };
        let entry = self.table.at(at);
        if entry.puts_off(packet) {
            if self.shares.owners {
                out(Found::Owner(entry.number));
            }
            return;
        }
        entry.begin(&mut pass_on_to(out));
        if packet.syn() {
            self.start_successor(at, packet, out);
        }
        let entry = self.table.at(at);
        let latest = entry.number;
        let Some((number, state)) = entry.owner(packet) else {
            let text = "came after its connection, and then many others, had closed: counted in \
                        no connection";
            return out(Found::Remark(text, packet.frame));
        };
        if self.shares.owners {
            out(Found::Owner(number));
        }
        let outcome = state.packet(packet);
        pass_events_of(number, state, out);
        if state.is_over() && !state.lingers {
            state.lingers = true;
            // What is put aside does not count.
            self.open -= usize::from(number == latest);
            self.lingering.push_back(Lingering {
                frame: packet.frame,
                at,
                first: state.first_frame(),
            });
            if number == latest {
                entry.keep_state_alone();
            }
        }
        if let Some(outlived) = entry.outlived() {
            self.finish_with(outlived, out);
        }
        pass_on(number, packet.frame, outcome, out);
    }

    /// The first packet between two endpoints; returns the place of the connection to analyse.
    #[inline(never)]
    fn begin(&mut self, packet: &Packet, out: &mut impl FnMut(Found)) -> Option<usize> {
        if self.table.len() >= self.shares.ends {
            let text = "too many closed connections to remember: later packets of the oldest \
                        count as a new connection";
            self.make_room(false, None, (text, packet.frame), out);
        }
        let number = self.next_number();
        out(Found::Begun { number, reuses: None });
        let (entry, asks) = Entry::new(packet, number);
        let at = self.table.add(entry);
        if asks && self.shares.owners {
            out(Found::Owner(number));
        }
        self.opened(at, packet.frame, out);
        (!asks).then_some(at)
    }

    fn next_number(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.given += 1;
            self.given - 1
        })
    }

    /// A packet opened the connection at `at`: makes room if there are too many.
    fn opened(&mut self, at: usize, frame: u64, out: &mut impl FnMut(Found)) {
        self.open += 1;
        if self.open <= self.shares.open {
            return;
        }
        let text = "too many open connections to track: an idle one is dropped, and its later \
                    packets count as a new connection";
        self.make_room(true, Some(at), (text, frame), out);
    }

    /// Forgets an idle pair of ends, if there is one, and adds the note then.
    #[cold]
    fn make_room(
        &mut self,
        open: bool,
        busy: Option<usize>,
        (text, frame): (&'static str, u64),
        out: &mut impl FnMut(Found),
    ) {
        if let Some(forgotten) = self.table.forget(open, busy) {
            out(Found::Remark(text, frame));
            self.forget(open, forgotten, out);
        }
    }

    /// Hands over what is unfinished of a pair of ends.
    pub(super) fn forget(&mut self, open: bool, pair: Entry, out: &mut impl FnMut(Found)) {
        self.open -= usize::from(open);
        let latest = pair.number;
        let [aside, live] = pair.into_live(&mut pass_on_to(out));
        if let Some(aside) = aside {
            self.finish_with(aside, out);
        }
        if let Some((number, mut state)) = live {
            hand_over(number, &mut state, out);
        }
        self.free.push(latest);
    }

    /// If the packet opens another connection between the same endpoints, starts it at `at`. A
    /// closed predecessor is finished; an open one is kept until the new one is answered.
    #[inline(never)]
    fn start_successor(&mut self, at: usize, packet: &Packet, out: &mut impl FnMut(Found)) {
        let entry = self.table.at(at);
        let succeeded = match &entry.state {
            Some(state) => state.is_succeeded_by(packet),
            None => packet.ack.is_none() && entry.is_unknown(packet),
        };
        if !succeeded {
            return;
        }
        let number = self.next_number();
        let entry = self.table.at(at);
        let earlier = entry.number;
        out(Found::Begun { number, reuses: Some(earlier) });
        let reopened = entry.state.as_ref().is_none_or(|state| state.lingers);
        let replaced = entry.begin_again(packet, number).map(|state| (earlier, state));
        let is_finished = replaced.is_none();
        let (done, aside) = match replaced {
            Some(replaced) if !replaced.1.is_over() => {
                if self.shares.owners {
                    out(Found::PutAside(replaced.0));
                    out(Found::PutAside(number));
                }
                (None, Some(replaced))
            }
            done => (done, None),
        };
        let before = entry.put_aside(aside);
        for placed in [before, done].into_iter().flatten() {
            self.finish_with(placed, out);
        }
        if is_finished {
            self.free.push(earlier);
        }
        if reopened {
            self.opened(at, packet.frame, out);
        }
    }

    /// Hands over a connection that nothing will refer to.
    fn finish_with(&mut self, (number, mut state): Placed, out: &mut impl FnMut(Found)) {
        hand_over(number, &mut state, out);
        self.free.push(number);
    }

    /// Hands over the closed connections beyond so many, those without a packet for longest
    /// first.
    #[inline(never)]
    pub(super) fn close_lingering(&mut self, most: usize, out: &mut impl FnMut(Found)) {
        while self.lingering.len() > most
            && let Some(Lingering { frame, at, first }) = self.lingering.pop_front()
        {
            let entry = self.table.at(at);
            let Some(mut state) = entry.state.take_if(|state| state.first_frame() == first) else {
                continue;
            };
            if !state.is_over() {
                state.lingers = false;
                entry.state = Some(state);
                self.open += 1;
            } else if state.last_frame() != frame {
                self.lingering.push_back(Lingering { frame: state.last_frame(), at, first });
                entry.state = Some(state);
            } else {
                entry.over(&state);
                hand_over(entry.number, &mut state, out);
            }
        }
    }
}

/// Passes on what packets came to that were put off.
pub(super) fn pass_on_to(
    out: &mut impl FnMut(Found),
) -> impl FnMut(u32, u64, &mut ConnectionState, PacketOutcome) {
    |number, frame, state, outcome| {
        pass_events_of(number, state, out);
        pass_on(number, frame, outcome, out);
    }
}

/// Passes on what the packet of a connection in this frame came to.
fn pass_on(number: u32, frame: u64, outcome: PacketOutcome, out: &mut impl FnMut(Found)) {
    if let Some(refusal) = outcome.refused {
        let text = match refusal {
            Refusal::OutOfPlace => {
                "sequence number out of range: another connection, forged or damaged; counted but \
                 not analysed"
            }
            Refusal::Unstamped => {
                "data without the timestamps that both ends agreed on (RFC 7323 section 3.2): a \
                 probe's or forged; counted but not analysed"
            }
            Refusal::Damaged => {
                "wrong checksum in a SYN, FIN or RST, though earlier ones of its sender were \
                 right: damaged or forged; counted but not analysed"
            }
        };
        out(Found::Remark(text, frame));
    }
    if outcome.gave_up {
        let text = "too much unacknowledged data to track: the oldest is dropped";
        out(Found::Remark(text, frame));
    }
    if outcome.is_ordinary() {
        return;
    }
    let own = FlowId { connection: number as usize, forward: outcome.forward };
    let opposite = FlowId { forward: !outcome.forward, ..own };
    if let Some(segment) = outcome.segment {
        out(Found::Segment(own, segment));
    }
    if let Some(ack) = outcome.heard.ack {
        out(Found::Ack(opposite, ack));
    }
    if let Some(reset) = outcome.reset {
        out(Found::Reset(own, reset));
    }
    if let Some(packet) = outcome.unusual {
        out(Found::Unusual(own, packet));
    }
    if let Some(states) = outcome.states {
        out(Found::States(number, states));
    }
    for episode in outcome.heard.episodes {
        out(Found::Episode(opposite, Box::new(episode)));
    }
    for (frame, why) in outcome.heard.spurious {
        out(Found::Spurious(opposite, frame, why));
    }
}

/// [`pass_on`] for a packet on the fast path.
fn pass_on_plain(number: u32, outcome: PlainOutcome, out: &mut impl FnMut(Found)) {
    let own = FlowId { connection: number as usize, forward: outcome.forward };
    let opposite = FlowId { forward: !outcome.forward, ..own };
    if let Some(segment) = outcome.segment {
        out(Found::Segment(own, segment));
    }
    if let Some(ack) = outcome.ack {
        out(Found::Ack(opposite, ack));
    }
}

/// Passes on what is found at the end of a connection, and its sums.
pub(super) fn hand_over(number: u32, state: &mut ConnectionState, out: &mut impl FnMut(Found)) {
    let (connection, forward, reverse) = state.finish();
    for (episodes, forward) in [(forward, true), (reverse, false)] {
        let flow = FlowId { connection: number as usize, forward };
        for episode in episodes {
            out(Found::Episode(flow, Box::new(episode)));
        }
        pass_events(flow, state.found(forward), out);
    }
    out(Found::Connection(number, connection));
}

#[inline]
fn pass_events_of(number: u32, state: &mut ConnectionState, out: &mut impl FnMut(Found)) {
    for forward in [true, false] {
        let flow = FlowId { connection: number as usize, forward };
        pass_events(flow, state.found(forward), out);
    }
}

#[inline]
fn pass_events(flow: FlowId, events: &mut Vec<Event>, out: &mut impl FnMut(Found)) {
    if !events.is_empty() {
        drain_events(flow, events, out);
    }
}

#[inline(never)]
fn drain_events(flow: FlowId, events: &mut Vec<Event>, out: &mut impl FnMut(Found)) {
    for event in events.drain(..) {
        out(match event {
            Event::Stall(stall) => Found::Stall(flow, stall),
            Event::Limit(period) => Found::Limit(flow, period),
        });
    }
}
