//! The latest connection between two endpoints: its state, its packets, or what is left of it.

use tcplab_units::Span;
use tcplab_wire::{ChecksumState, SeqNumber};

use super::outcome::{PacketOutcome, PlainOutcome};
use super::state::ConnectionState;
use crate::bounds::packets_kept;
use crate::direction::ClockStep;
use crate::fold::{Fold, Folder, Unfolder};
use crate::packet::{Ends, Packet};

/// The latest connection between two endpoints.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) ends: Ends,
    /// Its number in the part of the analyser that has it.
    pub(crate) number: u32,
    /// None when it is finished, and until it is made from its packets.
    pub(crate) state: Option<Box<ConnectionState>>,
    /// What is kept beside the state.
    rest: Rest,
    /// The previous connection and its number, while the latest is an unanswered SYN: it may be an
    /// old SYN, or cause a challenge ACK (RFC 5961 section 4).
    aside: Option<Box<Placed>>,
    /// Its last frame when eviction last looked.
    looked: u64,
    /// Of its places among those that wait to be folded, the one that counts.
    pub(super) ticket: u64,
    /// The bytes that were last counted for it.
    pub(super) counted: usize,
}

/// The packets of a connection suffice: a state is folded only where they were too many to keep.
impl Fold for Entry {
    fn fold(&self, to: &mut Folder) {
        let state = self.state.as_ref().filter(|_| self.rest.packets().is_none());
        self.number.fold(to);
        to.number(state.is_some().into());
        if let Some(state) = state {
            state.fold(to);
        }
        self.rest.fold(to);
        self.aside.fold(to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> Entry {
        let number = Fold::unfold(from);
        let (state, rest, aside) = Fold::unfold(from);
        Entry { number, state, rest, aside, ..Entry::free() }
    }
    fn heap(&self) -> usize {
        self.state.heap() + self.rest.heap() + self.aside.heap()
    }
}

/// A connection and its number.
pub(crate) type Placed = (u32, Box<ConnectionState>);

/// What is kept of a connection beside its state.
#[derive(Debug)]
enum Rest {
    /// The initial sequence numbers of a finished one, to recognise late packets.
    Numbers([Option<SeqNumber>; 2]),
    /// All its packets, while they are few. The state follows from them, and takes 20 times the
    /// memory: it is made when it is needed.
    Packets(Vec<Packet>),
    /// All its packets, none of which was analysed yet.
    PutOff(Vec<Packet>),
}

impl Rest {
    /// Keeps a packet that the state follows, or no packets if there are too many.
    #[inline]
    fn add(&mut self, packet: &Packet) {
        if let Rest::Packets(_) = self {
            self.add_to_packets(packet);
        }
    }
    #[inline(never)]
    fn add_to_packets(&mut self, packet: &Packet) {
        match self {
            Rest::Packets(packets) if packets.len() < packets_kept() => {
                packets.push(Packet { wanted: false, ..*packet });
            }
            _ => *self = Rest::NOTHING,
        }
    }

    fn packets(&self) -> Option<&Vec<Packet>> {
        match self {
            Rest::Numbers(_) => None,
            Rest::Packets(packets) | Rest::PutOff(packets) => Some(packets),
        }
    }

    const NOTHING: Rest = Rest::Numbers([None; 2]);
}

impl Fold for Rest {
    fn fold(&self, to: &mut Folder) {
        match self {
            Rest::Numbers(initial) => (0_u8, *initial).fold(to),
            Rest::Packets(packets) => {
                1_u8.fold(to);
                packets.fold(to);
            }
            Rest::PutOff(packets) => {
                2_u8.fold(to);
                packets.fold(to);
            }
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> Rest {
        match u8::unfold(from) {
            0 => Rest::Numbers(Fold::unfold(from)),
            1 => Rest::Packets(Fold::unfold(from)),
            _ => Rest::PutOff(Fold::unfold(from)),
        }
    }
    fn heap(&self) -> usize {
        self.packets().map_or(0, Fold::heap)
    }
}

impl Entry {
    /// A connection starting with `packet`, and whether to wait for another packet.
    pub(crate) fn new(packet: &Packet, number: u32) -> (Entry, bool) {
        let waits = has_no_results_alone(packet);
        let (state, rest) = if waits {
            (None, Rest::PutOff(vec![*packet]))
        } else {
            (Some(ConnectionState::beginning_with(packet)), Rest::Packets(Vec::new()))
        };
        let (ends, looked) = (packet.ends, packet.frame);
        (Entry { ends, number, state, rest, aside: None, looked, ticket: 0, counted: 0 }, waits)
    }
    /// A place in the table without a connection.
    pub(super) fn free() -> Entry {
        Entry {
            ends: Ends::NONE,
            number: 0,
            state: None,
            rest: Rest::NOTHING,
            aside: None,
            looked: 0,
            ticket: 0,
            counted: 0,
        }
    }
    /// The entry between these ends that was folded; `active`: it had packets since eviction last
    /// looked at it.
    pub(super) fn unfolded(ends: Ends, active: bool, folded: &[u8]) -> Entry {
        let mut entry = Entry::unfold(&mut Unfolder::new(folded));
        entry.ends = ends;
        if let Rest::Packets(packets) | Rest::PutOff(packets) = &mut entry.rest {
            for packet in packets {
                packet.ends = ends;
            }
        }
        entry.looked = if active { 0 } else { entry.last_frame() };
        entry
    }
    /// The number of an entry that was folded, which comes first.
    pub(super) fn number_of(folded: &[u8]) -> u32 {
        u32::unfold(&mut Unfolder::new(folded))
    }
    /// Whether it had packets since eviction last looked at it.
    pub(super) fn is_active(&self) -> bool {
        self.looked != self.last_frame()
    }
    /// Its last frame, as far as that is kept.
    pub(super) fn last_frame(&self) -> u64 {
        if let Some(state) = &self.state {
            return state.last_frame();
        }
        let last = self.rest.packets().and_then(|packets| packets.last());
        last.map_or(self.looked, |last| last.frame)
    }
    /// Whether the analyser waits for late packets of it at its place in the table.
    pub(super) fn lingers(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.lingers)
    }
    pub(super) fn has_aside(&self) -> bool {
        self.aside.is_some()
    }
    pub(super) fn is_unfinished(&self) -> bool {
        self.state.is_some() || self.rest.packets().is_some()
    }
    /// The bytes that it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Entry>() + self.heap()
    }
    /// Its unfinished connections: the previous one and the latest.
    pub(crate) fn into_live(mut self, tell: &mut Tell<'_>) -> [Option<Placed>; 2] {
        self.begin(tell);
        [self.aside.map(|aside| *aside), self.state.map(|state| (self.number, state))]
    }
    /// Makes its state from its packets if it has none; tells what was put off.
    #[inline]
    pub(crate) fn begin(&mut self, tell: &mut Tell<'_>) {
        if self.state.is_some() {
            return;
        }
        match std::mem::replace(&mut self.rest, Rest::NOTHING) {
            Rest::Packets(packets) => {
                self.state = Some(replayed(&packets, &mut |_, state, _| forget_events(state)));
                self.rest = Rest::Packets(packets);
            }
            Rest::PutOff(packets) => {
                let number = self.number;
                let tell = &mut |frame, state: &mut _, came_to| tell(number, frame, state, came_to);
                self.state = Some(replayed(&packets, tell));
                self.rest = Rest::Packets(packets);
            }
            numbers @ Rest::Numbers(_) => self.rest = numbers,
        }
    }
    /// Stores one of its first packets, which is analysed later.
    #[inline]
    pub(crate) fn puts_off(&mut self, packet: &Packet) -> bool {
        let (None, Rest::PutOff(packets)) = (&self.state, &mut self.rest) else { return false };
        let waits = packets.len() < packets_kept() && can_wait(packet, packets);
        if waits {
            packets.push(*packet);
        }
        waits
    }
    /// [`ConnectionState::clock_error`].
    pub(crate) fn clock_error(&self, packet: &Packet, step: ClockStep) -> Option<Span> {
        match &self.state {
            Some(state) => state.clock_error(packet, step),
            None => replayed(self.rest.packets()?, &mut |_, _, _| ()).clock_error(packet, step),
        }
    }
    /// The next connection between these ends begins; returns the state of the one before.
    pub(crate) fn begin_again(
        &mut self,
        packet: &Packet,
        number: u32,
    ) -> Option<Box<ConnectionState>> {
        self.number = number;
        let mut state = ConnectionState::beginning_with(packet);
        self.rest = match self.state.as_mut().filter(|earlier| !earlier.is_over()) {
            Some(earlier) => {
                earlier.is_reopened_by(packet);
                state.reuses_open = true;
                // Its packets alone do not make it.
                Rest::NOTHING
            }
            None => Rest::Packets(Vec::new()),
        };
        self.state.replace(state)
    }
    /// Its state changes otherwise than by a packet, or is kept in any case.
    pub(crate) fn keep_state_alone(&mut self) {
        self.rest = Rest::NOTHING;
    }
    /// Drops its state and stores the initial sequence numbers.
    pub(crate) fn over(&mut self, state: &ConnectionState) {
        self.rest = Rest::Numbers(state.initial());
    }
    /// Whether the packet's number differs from both initial ones of a finished connection.
    pub(crate) fn is_unknown(&self, packet: &Packet) -> bool {
        !matches!(&self.rest, Rest::Numbers(initial) if initial.contains(&Some(packet.seq)))
    }
    /// Replaces the previous connection; returns the one stored before.
    pub(crate) fn put_aside(&mut self, earlier: Option<Placed>) -> Option<Placed> {
        std::mem::replace(&mut self.aside, earlier.map(Box::new)).map(|before| *before)
    }
    pub(super) fn is_open(&self) -> bool {
        let not_begun = self.rest.packets().is_some();
        self.state.as_ref().map_or(not_begun, |state| !state.lingers)
    }
    /// Whether it had no packet since the last call.
    pub(super) fn is_quiet(&mut self) -> bool {
        let last = self.last_frame();
        std::mem::replace(&mut self.looked, last) == last
    }

    /// The connection, if no other can own a packet.
    #[inline]
    pub(crate) fn only(&mut self) -> Option<&mut ConnectionState> {
        if self.aside.is_some() { None } else { self.state.as_deref_mut() }
    }
    /// The connection, and what a packet on the fast path came to; none, and no effect, for others.
    #[inline(always)]
    pub(crate) fn packet_in_passing(
        &mut self,
        packet: &Packet,
    ) -> Option<(&mut ConnectionState, PlainOutcome)> {
        if self.aside.is_some() {
            return None;
        }
        let state = self.state.as_deref_mut()?;
        let outcome = state.packet_in_passing(packet)?;
        self.rest.add(packet);
        Some((state, outcome))
    }
    /// The connection that owns the packet and is to follow it, with its number; none if it was
    /// finished.
    #[inline]
    pub(crate) fn owner(&mut self, packet: &Packet) -> Option<(u32, &mut ConnectionState)> {
        let mut latest = self.state.as_deref_mut();
        if let Some((number, aside)) = self.aside.as_deref_mut()
            && let Some(latest) = latest.as_mut().filter(|latest| latest.disowns(packet))
            && aside.fits(packet)
        {
            latest.earlier_goes_on(packet, aside);
            return Some((*number, aside));
        }
        let latest = latest?;
        self.rest.add(packet);
        Some((self.number, latest))
    }

    /// The previous connection, once the latest was answered: it gets no more packets.
    #[inline]
    pub(crate) fn outlived(&mut self) -> Option<Placed> {
        self.aside.as_ref()?;
        let answered = self.state.as_ref().is_none_or(|latest| !latest.is_asking());
        self.aside.take_if(|_| answered).map(|aside| *aside)
    }
}

/// Is told what a packet came to that was put off: the connection's number, the packet's frame, and
/// the state that it led to.
pub(crate) type Tell<'a> = dyn FnMut(u32, u64, &mut ConnectionState, PacketOutcome) + 'a;

/// Whether the first packet of a connection has no results, however it is analysed: no sink wants
/// it, and it ends nothing. Many have no other packet.
fn has_no_results_alone(first: &Packet) -> bool {
    !first.wanted && !first.rst()
}

/// Whether a packet behind these first ones of a connection may be analysed later: no sink wants
/// it, it belongs to this connection, and does not end it.
fn can_wait(packet: &Packet, before: &[Packet]) -> bool {
    if packet.wanted || packet.rst() || packet.fin() || before[0].fin() {
        return false;
    }
    match packet.ack {
        _ if !packet.syn() => true,
        None => only_asks(packet) && repeats(packet, before),
        Some(ack) => {
            let asked = |syn: &Packet| {
                only_asks(syn) && syn.from_low != packet.from_low && syn.seq.advanced_by(1) == ack
            };
            packet.payload == 0 && before.iter().all(asked)
        }
    }
}

/// Whether the packet is a bare SYN that no sink wants.
fn only_asks(packet: &Packet) -> bool {
    let plain = packet.syn() && packet.ack.is_none() && !packet.fin() && !packet.rst();
    plain && packet.payload == 0 && !packet.wanted
}

/// Whether the packet retransmits the SYN and is no copy (equal timestamp and identification).
fn repeats(packet: &Packet, syns: &[Packet]) -> bool {
    let clock = |of: &Packet| of.timestamps.map(|(value, _)| value);
    let id = |of: &Packet| of.ip_id.unwrap_or(0);
    let goes_on = |syn: &Packet| {
        let differs = clock(syn) != clock(packet) || id(syn) != id(packet);
        differs && id(packet).wrapping_sub(id(syn)) as i16 >= 0
    };
    let same = |syn: &Packet| syn.from_low == packet.from_low && syn.seq == packet.seq;
    // Damaged, and not by offloading: the connection leaves it out with a note.
    let is_damaged = packet.checksum == ChecksumState::Wrong
        && syns.iter().any(|syn| syn.checksum == ChecksumState::Right);
    !is_damaged && syns.iter().all(|syn| only_asks(syn) && same(syn) && goes_on(syn))
}

/// The state of a connection with these packets; tells of each the frame, the state and what it
/// came to.
#[inline(never)]
fn replayed(
    packets: &[Packet],
    tell: &mut dyn FnMut(u64, &mut ConnectionState, PacketOutcome),
) -> Box<ConnectionState> {
    let mut state = ConnectionState::beginning_with(&packets[0]);
    for packet in packets {
        let outcome = match state.packet_in_passing(packet) {
            Some(passed) => PacketOutcome { forward: passed.forward, ..PacketOutcome::default() },
            None => state.packet(packet),
        };
        tell(packet.frame, &mut state, outcome);
    }
    state
}

fn forget_events(state: &mut ConnectionState) {
    for forward in [true, false] {
        state.found(forward).clear();
    }
}
