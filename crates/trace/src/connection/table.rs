//! The table of connections, by endpoints.
//!
//! Packets come in bursts: a small cache of recent endpoints nearly always hits, a tree answers the
//! rest, also when a crafted capture collides in the cache.
//!
//! Eviction works like the clock algorithm: a hand skips connections active since its last pass and
//! evicts the first idle one. A flood of single packets evicts itself, without an ordered list.

use std::collections::BTreeMap;

use tcplab_units::Instant;
use tcplab_wire::{ChecksumState, IpPacket, QuotedSegment, SeqNumber, too_big};

use super::state::ConnectionState;
use crate::bounds::ENDS;
use crate::packet::{Ends, Packet};

/// Cache entries, a power of two.
const CACHED: usize = 1 << 14;
/// The most SYNs stored for a connection without state (Linux: `TCP_SYN_RETRIES` and the first).
const SYNS: usize = 7;

/// The latest connection between two endpoints.
#[derive(Debug)]
pub(crate) struct Entry {
    ends: Ends,
    /// Its index, in order of first packets.
    pub(crate) index: usize,
    /// None when it is finished, and while only SYNs were seen.
    pub(crate) state: Option<Box<ConnectionState>>,
    /// The summary without a state.
    rest: Rest,
    /// The previous connection and its index, while the latest is an unanswered SYN: that may be an
    /// old SYN, or cause a challenge ACK (RFC 5961 section 4).
    aside: Option<Box<Placed>>,
    /// Its last frame when eviction last looked.
    looked: u64,
}

type Placed = (usize, Box<ConnectionState>);

/// The summary of a connection without state.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "a vector itself would make all others larger")]
enum Rest {
    /// The initial sequence numbers of a finished one, to recognise late packets.
    Numbers([Option<SeqNumber>; 2]),
    /// Its SYNs; any other packet creates the state, which takes 30 times the memory.
    Syns(Box<Vec<Packet>>),
}

impl Entry {
    /// A connection starting with `packet`, and whether to wait for another packet.
    pub(crate) fn new(packet: &Packet, index: usize) -> (Entry, bool) {
        let asks = only_asks(packet);
        let (state, rest) = if asks {
            (None, Rest::Syns(Box::new(vec![*packet])))
        } else {
            (Some(Box::new(ConnectionState::new(packet))), Rest::Numbers([None; 2]))
        };
        let (ends, looked) = (packet.ends, packet.frame);
        (Entry { ends, index, state, rest, aside: None, looked }, asks)
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
    fn is_open(&self) -> bool {
        matches!(self.rest, Rest::Syns(_)) || self.state.as_ref().is_some_and(|it| !it.lingers)
    }
    /// Whether it had no packet since the last call.
    fn is_quiet(&mut self) -> bool {
        let last = match (&self.state, &self.rest) {
            (Some(state), _) => state.last_frame(),
            (None, Rest::Syns(syns)) => syns.last().map_or(self.looked, |syn| syn.frame),
            (None, Rest::Numbers(_)) => self.looked,
        };
        std::mem::replace(&mut self.looked, last) == last
    }

    /// The connection, if no other can own a packet.
    #[inline]
    pub(crate) fn only(&mut self) -> Option<&mut ConnectionState> {
        if self.aside.is_some() { None } else { self.state.as_deref_mut() }
    }
    /// The connection that owns the packet, with its index; none if it was finished.
    #[inline]
    pub(crate) fn owner(&mut self, packet: &Packet) -> Option<(usize, &mut ConnectionState)> {
        let latest = self.state.as_deref_mut();
        if let Some((index, aside)) = self.aside.as_deref_mut()
            && latest.as_ref().is_some_and(|latest| latest.disowns(packet))
            && aside.fits(packet)
        {
            return Some((*index, aside));
        }
        latest.map(|latest| (self.index, latest))
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

/// An evicted pair: the previous connection and the latest.
pub(crate) type Forgotten = [Option<Placed>; 2];

/// All connections, by endpoints.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    tree: Tree,
    /// Indices into `entries` by hash; the entry decides whether it matches.
    cache: Vec<u32>,
    /// The last index found: packets come in trains.
    latest: usize,
    /// Free indices.
    free: Vec<usize>,
    /// The eviction hands: for closed connections and for open ones.
    hands: [usize; 2],
}

impl Default for Table {
    fn default() -> Table {
        Table {
            entries: Vec::new(),
            tree: Tree::default(),
            cache: vec![0; CACHED],
            latest: 0,
            free: Vec::new(),
            hands: [0; 2],
        }
    }
}

impl Table {
    /// The index of the connection between `ends`.
    #[inline]
    pub(crate) fn find(&mut self, ends: &Ends) -> Option<usize> {
        if self.entries.get(self.latest).is_some_and(|entry| entry.ends == *ends) {
            return Some(self.latest);
        }
        self.find_elsewhere(ends)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, ends: &Ends) -> Option<usize> {
        let cached = &mut self.cache[ends.hash() % CACHED];
        if self.entries.get(*cached as usize).is_none_or(|entry| entry.ends != *ends) {
            *cached = self.tree.find(ends)?;
        }
        self.latest = *cached as usize;
        Some(self.latest)
    }

    /// Adds the first connection between two endpoints; returns its index.
    pub(crate) fn add(&mut self, entry: Entry) -> usize {
        let at = self.free.pop().unwrap_or(self.entries.len());
        self.cache[entry.ends.hash() % CACHED] = at as u32;
        self.tree.insert(&entry.ends, at as u32);
        match self.entries.get_mut(at) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        at
    }

    /// Whether an eviction is needed before an addition.
    pub(crate) fn is_full(&self) -> bool {
        self.tree.len() >= ENDS.most()
    }
    /// Evicts an idle pair of endpoints with an open connection (`open`) or without one; returns
    /// its unfinished connections. None if there is no such pair; `busy` is never evicted.
    pub(crate) fn forget(&mut self, open: bool, busy: Option<usize>) -> Option<Forgotten> {
        let hand = &mut self.hands[usize::from(open)];
        // In the second round every entry is idle.
        for _ in 0..2 * self.entries.len() {
            let at = *hand % self.entries.len();
            *hand = at + 1;
            let entry = &mut self.entries[at];
            let fits = entry.ends != Ends::NONE && entry.is_open() == open && Some(at) != busy;
            if fits && entry.is_quiet() {
                self.tree.remove(&entry.ends);
                self.free.push(at);
                entry.ends = Ends::NONE;
                entry.begin();
                let latest = entry.state.take().map(|state| (entry.index, state));
                return Some([entry.put_aside(None), latest]);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }

    /// Applies ICMP's report that a segment was too big for the path.
    pub(crate) fn on_too_big(&mut self, ip: &IpPacket<'_>, moment: (Instant, u64)) {
        let Some((mtu, quoted)) = too_big(ip) else { return };
        let Some(QuotedSegment { src, dst, src_port, dst_port, seq }) = QuotedSegment::of(quoted)
        else {
            return;
        };
        let (ends, from_low) = Ends::between((src, src_port), (dst, dst_port));
        let Some(place) = self.find(&ends) else { return };
        let entry = self.at(place);
        entry.begin();
        if let Some(state) = entry.only() {
            state.on_too_big(from_low, moment, seq, mtu);
        }
    }

    /// The open connections in order of first packets.
    pub(crate) fn into_live(self) -> impl Iterator<Item = Placed> {
        let mut live = Vec::new();
        for Entry { index, state, rest, aside, .. } in self.entries {
            live.extend(aside.map(|aside| (aside.0, Live::Begun(aside.1))));
            live.extend(state.map(|state| (index, Live::Begun(state))));
            if let Rest::Syns(syns) = rest {
                live.push((index, Live::AskedFor(syns)));
            }
        }
        live.sort_by_key(|&(index, _)| index);
        live.into_iter().map(|(index, live)| match live {
            Live::Begun(state) => (index, state),
            Live::AskedFor(syns) => (index, begun(&syns)),
        })
    }
}

#[expect(clippy::box_collection, reason = "a vector itself would make all others larger")]
enum Live {
    Begun(Box<ConnectionState>),
    AskedFor(Box<Vec<Packet>>),
}

/// The indices of all endpoints. IPv4 needs a third of the memory of IPv6; there may be a million.
#[derive(Debug, Default)]
struct Tree {
    v4: BTreeMap<[u64; 2], u32>,
    v6: BTreeMap<Ends, u32>,
}

impl Tree {
    fn find(&self, ends: &Ends) -> Option<u32> {
        match ends.v4() {
            Some(v4) => self.v4.get(&v4).copied(),
            None => self.v6.get(ends).copied(),
        }
    }
    fn insert(&mut self, ends: &Ends, at: u32) {
        match ends.v4() {
            Some(v4) => self.v4.insert(v4, at),
            None => self.v6.insert(*ends, at),
        };
    }
    fn remove(&mut self, ends: &Ends) {
        match ends.v4() {
            Some(v4) => self.v4.remove(&v4),
            None => self.v6.remove(ends),
        };
    }
    fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }
}
