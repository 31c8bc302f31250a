//! The latest connection between two endpoints: its state, or what is left of it.

use tcplab_wire::{ChecksumState, SeqNumber};

use super::state::ConnectionState;
use crate::fold::{Fold, Folder, Unfolder, folded};
use crate::packet::{Ends, Packet};

/// The most SYNs stored for a connection without state (Linux: `TCP_SYN_RETRIES` and the first).
const SYNS: usize = 7;

/// The latest connection between two endpoints.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) ends: Ends,
    /// Its number in the part of the analyser that has it.
    pub(crate) number: u32,
    /// None when it is finished, and while only SYNs were seen.
    pub(crate) state: Option<Box<ConnectionState>>,
    /// The summary without a state.
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
folded! {
    Entry {
        number, state, rest, aside
    } without ends: Ends::NONE, looked: 0, ticket: 0, counted: 0
}

/// A connection and its number.
pub(crate) type Placed = (u32, Box<ConnectionState>);

/// The summary of a connection without state.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "a vector itself would make all others larger")]
enum Rest {
    /// The initial sequence numbers of a finished one, to recognise late packets.
    Numbers([Option<SeqNumber>; 2]),
    /// Its SYNs; any other packet creates the state, which takes 30 times the memory.
    Syns(Box<Vec<Packet>>),
}

impl Fold for Rest {
    fn fold(&self, to: &mut Folder) {
        match self {
            Rest::Numbers(initial) => (false, *initial).fold(to),
            Rest::Syns(syns) => {
                true.fold(to);
                syns.fold(to);
            }
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> Rest {
        if bool::unfold(from) {
            Rest::Syns(Fold::unfold(from))
        } else {
            Rest::Numbers(Fold::unfold(from))
        }
    }
    fn heap(&self) -> usize {
        match self {
            Rest::Numbers(_) => 0,
            Rest::Syns(syns) => syns.heap(),
        }
    }
}

impl Entry {
    /// A connection starting with `packet`, and whether to wait for another packet.
    pub(crate) fn new(packet: &Packet, number: u32) -> (Entry, bool) {
        let asks = only_asks(packet);
        let (state, rest) = if asks {
            (None, Rest::Syns(Box::new(vec![*packet])))
        } else {
            (Some(Box::new(ConnectionState::new(packet))), Rest::Numbers([None; 2]))
        };
        let (ends, looked) = (packet.ends, packet.frame);
        (Entry { ends, number, state, rest, aside: None, looked, ticket: 0, counted: 0 }, asks)
    }
    /// A place in the table without a connection.
    pub(super) fn free() -> Entry {
        Entry {
            ends: Ends::NONE,
            number: 0,
            state: None,
            rest: Rest::Numbers([None; 2]),
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
        if let Rest::Syns(syns) = &mut entry.rest {
            syns.iter_mut().for_each(|syn| syn.ends = ends);
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
            (None, Rest::Syns(syns)) => syns.last().map_or(self.looked, |syn| syn.frame),
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
        self.state.is_some() || matches!(self.rest, Rest::Syns(_))
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
    /// Creates its state if only SYNs were stored.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if let Rest::Syns(syns) = &self.rest {
            self.state = Some(begun(syns));
            self.rest = Rest::Numbers([None; 2]);
        }
    }
    /// Stores a retransmitted SYN, which needs no analysis before another packet arrives.
    #[inline]
    pub(crate) fn puts_off(&mut self, packet: &Packet) -> bool {
        let Rest::Syns(syns) = &mut self.rest else { return false };
        let again = syns.len() < SYNS && only_asks(packet) && repeats(packet, syns);
        if again {
            syns.reserve_exact(1);
            syns.push(*packet);
        }
        again
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
        matches!(self.rest, Rest::Syns(_)) || self.state.as_ref().is_some_and(|it| !it.lingers)
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
    /// The connection that owns the packet, with its number; none if it was finished.
    #[inline]
    pub(crate) fn owner(&mut self, packet: &Packet) -> Option<(u32, &mut ConnectionState)> {
        let latest = self.state.as_deref_mut();
        if let Some((number, aside)) = self.aside.as_deref_mut()
            && latest.as_ref().is_some_and(|latest| latest.disowns(packet))
            && aside.fits(packet)
        {
            return Some((*number, aside));
        }
        latest.map(|latest| (self.number, latest))
    }

    /// The previous connection, once the latest was answered: it gets no more packets.
    #[inline]
    pub(crate) fn outlived(&mut self) -> Option<Placed> {
        self.aside.as_ref()?;
        let answered = self.state.as_ref().is_none_or(|latest| !latest.is_asking());
        self.aside.take_if(|_| answered).map(|aside| *aside)
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
    !is_damaged && syns.iter().all(|syn| same(syn) && goes_on(syn))
}

/// The state of a connection with only these SYNs.
#[inline(never)]
fn begun(syns: &[Packet]) -> Box<ConnectionState> {
    let mut state = Box::new(ConnectionState::new(&syns[0]));
    for syn in syns {
        let outcome = state.packet(syn);
        debug_assert!(
            outcome.is_ordinary() && !outcome.copy && !outcome.out_of_place && !outcome.gave_up
        );
    }
    debug_assert!(!state.is_over() && state.found(true).is_empty());
    state
}
