//! The latest connection between two endpoints: its state, its packets, or what is left of it.

use tcplab_wire::{ChecksumState, SeqNumber};

use super::state::{ConnectionState, PacketOutcome, PlainOutcome};
use crate::bounds::packets_kept;
use crate::fold::{Fold, Folder, Unfolder};
use crate::packet::{Ends, Packet};

/// The most SYNs stored for a connection without state (Linux: `TCP_SYN_RETRIES` and the first).
const SYNS: usize = 7;

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
        let state = self.state.as_ref().filter(|_| matches!(self.rest, Rest::Numbers(_)));
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

    const NOTHING: Rest = Rest::Numbers([None; 2]);
}

impl Fold for Rest {
    fn fold(&self, to: &mut Folder) {
        match self {
            Rest::Numbers(initial) => (false, *initial).fold(to),
            Rest::Packets(packets) => {
                true.fold(to);
                packets.fold(to);
            }
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> Rest {
        if bool::unfold(from) {
            Rest::Packets(Fold::unfold(from))
        } else {
            Rest::Numbers(Fold::unfold(from))
        }
    }
    fn heap(&self) -> usize {
        match self {
            Rest::Numbers(_) => 0,
            Rest::Packets(packets) => packets.heap(),
        }
    }
}

impl Entry {
    /// A connection starting with `packet`, and whether to wait for another packet.
    pub(crate) fn new(packet: &Packet, number: u32) -> (Entry, bool) {
        let waits = has_no_results_alone(packet);
        let (state, packets) = if waits {
            (None, vec![*packet])
        } else {
            (Some(ConnectionState::beginning_with(packet)), Vec::new())
        };
        let rest = Rest::Packets(packets);
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
        if let Rest::Packets(packets) = &mut entry.rest {
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
        match (&self.state, &self.rest) {
            (Some(state), _) => state.last_frame(),
            (None, Rest::Packets(packets)) => packets.last().map_or(self.looked, |last| last.frame),
            (None, Rest::Numbers(_)) => self.looked,
        }
    }
    /// Whether the analyser waits for late packets of it at its place in the table.
    pub(super) fn lingers(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.lingers)
    }
    pub(super) fn has_aside(&self) -> bool {
        self.aside.is_some()
    }
    pub(super) fn is_unfinished(&self) -> bool {
        self.state.is_some() || matches!(self.rest, Rest::Packets(_))
    }
    /// The bytes that it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Entry>() + self.heap()
    }
    /// Its unfinished connections: the previous one and the latest.
    pub(crate) fn into_live(mut self) -> [Option<Placed>; 2] {
        self.begin();
        [self.aside.map(|aside| *aside), self.state.map(|state| (self.number, state))]
    }
    /// Makes its state from its packets if it has none.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if let (None, Rest::Packets(packets)) = (&self.state, &self.rest) {
            self.state = Some(replayed(packets));
        }
    }
    /// Stores a retransmitted SYN, which needs no analysis before another packet arrives.
    #[inline]
    pub(crate) fn puts_off(&mut self, packet: &Packet) -> bool {
        let (None, Rest::Packets(syns)) = (&self.state, &mut self.rest) else { return false };
        let again = syns.len() < SYNS && only_asks(packet) && repeats(packet, syns);
        if again {
            syns.reserve_exact(1);
            syns.push(*packet);
        }
        again
    }
    /// The next connection between these ends begins; returns the state of the one before.
    pub(crate) fn begin_again(
        &mut self,
        packet: &Packet,
        number: u32,
    ) -> Option<Box<ConnectionState>> {
        self.number = number;
        self.rest = Rest::Packets(Vec::new());
        self.state.replace(ConnectionState::beginning_with(packet))
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
        let not_begun = matches!(self.rest, Rest::Packets(_));
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
        let latest = self.state.as_deref_mut();
        if let Some((number, aside)) = self.aside.as_deref_mut()
            && latest.as_ref().is_some_and(|latest| latest.disowns(packet))
            && aside.fits(packet)
        {
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

/// Whether the first packet of a connection has no results, however it is analysed: no sink wants
/// it, and it ends nothing. Many have no other packet.
fn has_no_results_alone(first: &Packet) -> bool {
    !first.wanted && !first.rst()
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

/// The state of a connection with these packets, whose results were passed on.
#[inline(never)]
fn replayed(packets: &[Packet]) -> Box<ConnectionState> {
    let mut state = ConnectionState::beginning_with(&packets[0]);
    for packet in packets {
        if state.packet_in_passing(packet).is_some() {
            continue;
        }
        let outcome = state.packet(packet);
        debug_assert!(
            packet.frame > packets[0].frame || has_no_results(&mut state, &outcome) || packet.rst()
        );
    }
    for forward in [true, false] {
        state.found(forward).clear();
    }
    state
}

fn has_no_results(state: &mut ConnectionState, outcome: &PacketOutcome) -> bool {
    let ordinary = outcome.is_ordinary() && !outcome.out_of_place && !outcome.gave_up;
    ordinary && !state.is_over() && [true, false].iter().all(|&it| state.found(it).is_empty())
}
