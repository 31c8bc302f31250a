//! Which connection a packet belongs to.
//!
//! Packets come in bursts of few connections, so a small cache of the pairs of ends seen last
//! answers nearly always; a tree answers for the rest. A capture made to collide in the cache
//! costs the tree's logarithm, and no more.
//!
//! Where room has to be made, a hand goes round as that of a clock does: whoever sent anything
//! since it passed last is left alone, the first who did not has to go. So a flood of single
//! packets makes room for itself, and costs no list that each packet would have to keep in order.

use std::collections::BTreeMap;

use tcplab_units::Instant;
use tcplab_wire::{IpPacket, QuotedSegment, SeqNumber, too_big};

use super::state::ConnectionState;
use crate::bounds::ENDS;
use crate::packet::{Ends, Packet};

/// Places in the cache, a power of two: several for each connection that sends within a second.
const CACHED: usize = 1 << 14;
/// Of a connection, no more than so many SYNs are kept as they are: as Linux sends them
/// (`TCP_SYN_RETRIES`, and the first).
const SYNS: usize = 7;

/// The latest connection between two ends.
#[derive(Debug)]
pub(crate) struct Entry {
    ends: Ends,
    /// Its place in the order of first packets.
    pub(crate) index: usize,
    /// None when it is over and was handed over, and while SYNs are all that was seen.
    pub(crate) state: Option<Box<ConnectionState>>,
    /// What is known without a state.
    rest: Rest,
    /// The one before it and its place, while the latest is but a SYN that nobody has answered: it
    /// may be an old one, or be answered by a challenge (RFC 5961 section 4).
    aside: Option<Box<Placed>>,
    /// Its latest frame when it was last looked at, to make room.
    looked: u64,
}

/// A connection and its place.
type Placed = (usize, Box<ConnectionState>);

/// What is known of a connection that has no state.
#[derive(Debug)]
#[expect(clippy::box_collection, reason = "a vector itself would make all others larger")]
enum Rest {
    /// The initial numbers of client and server, when it is over: what a late packet is known by.
    Numbers([Option<SeqNumber>; 2]),
    /// Its packets, all of them SYNs. Whatever else comes begins the state with them: in a flood of
    /// SYNs, all of which are kept for a while, a state for each would be 30 times as large.
    Syns(Box<Vec<Packet>>),
}

impl Entry {
    /// One of which `packet` is the first, and whether there is nothing to be found out by it
    /// before another comes.
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
    /// Begins its state, if nothing but SYNs had come.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if let Rest::Syns(syns) = &self.rest {
            self.state = Some(begun(syns));
            self.rest = Rest::Numbers([None; 2]);
        }
    }
    /// Whether the packet is put to the others, all of them SYNs: it can tell nothing that is not
    /// told as well once another comes.
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
    /// Its state is not needed any more: only the numbers are kept.
    pub(crate) fn over(&mut self, state: &ConnectionState) {
        self.rest = Rest::Numbers(state.initial());
    }
    /// Of one that has no state: whether the packet has another number than either end's first.
    pub(crate) fn is_unknown(&self, packet: &Packet) -> bool {
        !matches!(&self.rest, Rest::Numbers(initial) if initial.contains(&Some(packet.seq)))
    }
    /// Puts aside the one that was the latest; the one that had been put aside before.
    pub(crate) fn put_aside(&mut self, earlier: Option<Placed>) -> Option<Placed> {
        std::mem::replace(&mut self.aside, earlier.map(Box::new)).map(|before| *before)
    }
    /// One that is not over.
    fn is_open(&self) -> bool {
        matches!(self.rest, Rest::Syns(_)) || self.state.as_ref().is_some_and(|it| !it.lingers)
    }
    /// Whether nothing of it came since this was asked last.
    fn is_quiet(&mut self) -> bool {
        let last = match (&self.state, &self.rest) {
            (Some(state), _) => state.last_frame(),
            (None, Rest::Syns(syns)) => syns.last().map_or(self.looked, |syn| syn.frame),
            (None, Rest::Numbers(_)) => self.looked,
        };
        std::mem::replace(&mut self.looked, last) == last
    }

    /// The connection, if there is no other that a packet can be for.
    #[inline]
    pub(crate) fn only(&mut self) -> Option<&mut ConnectionState> {
        if self.aside.is_some() { None } else { self.state.as_deref_mut() }
    }
    /// The one that the packet is for, with its place; none if that was handed over.
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

    /// The one aside, if the latest was answered: its packets can come no more.
    #[inline]
    pub(crate) fn outlived(&mut self) -> Option<Placed> {
        self.aside.as_ref()?;
        let answered = self.state.as_ref().is_none_or(|latest| !latest.is_asking());
        self.aside.take_if(|_| answered).map(|aside| *aside)
    }
}

/// Whether the packet is a SYN and nothing else, and nobody wants to be told of it.
fn only_asks(packet: &Packet) -> bool {
    let plain = packet.syn() && packet.ack.is_none() && !packet.fin() && !packet.rst();
    plain && packet.payload == 0 && !packet.wanted
}

/// Whether the packet is a SYN retransmitted: by the same end with the same number, and no copy,
/// for that has the same timestamp and identification, or one that stands back.
fn repeats(packet: &Packet, syns: &[Packet]) -> bool {
    let clock = |of: &Packet| of.timestamps.map(|(value, _)| value);
    let id = |of: &Packet| of.ip_id.unwrap_or(0);
    let goes_on = |syn: &Packet| {
        let differs = clock(syn) != clock(packet) || id(syn) != id(packet);
        differs && id(packet).wrapping_sub(id(syn)) as i16 >= 0
    };
    let same = |syn: &Packet| syn.from_low == packet.from_low && syn.seq == packet.seq;
    syns.iter().all(|syn| same(syn) && goes_on(syn))
}

/// The state of a connection of which only these were seen.
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

/// Of connections that were forgotten: the one put aside, and the latest.
pub(crate) type Forgotten = [Option<Placed>; 2];

/// The latest connection between any two ends.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    tree: Tree,
    /// Places in `entries`, of whatever ends: those there tell whether it is theirs.
    cache: Vec<u32>,
    /// The place found last: packets come in trains.
    latest: usize,
    /// Those that nobody is kept at.
    free: Vec<usize>,
    /// Where the hand stands that looks for open connections, and that for others.
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
    /// Where the connection between `ends` is kept, if there was one.
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

    /// Adds the first connection between two ends; where it is kept.
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

    /// Whether one has to be forgotten before another is added.
    pub(crate) fn is_full(&self) -> bool {
        self.tree.len() >= ENDS.most()
    }
    /// Forgets two ends between which all was quiet for a while and, as `open` says, a connection
    /// is open, or none is: their connections that were not handed over yet. None if there are no
    /// such ends; `busy` is a place to be left alone.
    pub(crate) fn forget(&mut self, open: bool, busy: Option<usize>) -> Option<Forgotten> {
        let hand = &mut self.hands[usize::from(open)];
        // The second time round nobody can have sent anything since the first.
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

    /// The connection kept at a place that [`Table::find`] or [`Table::add`] told.
    #[inline]
    pub(crate) fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }

    /// What a packet that is no TCP tells of a segment that was too large for the path, if it is
    /// ICMP's word on that; with when it came, and its frame.
    pub(crate) fn told_too_big(&mut self, ip: &IpPacket<'_>, moment: (Instant, u64)) {
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
            state.told_too_big(from_low, moment, seq, mtu);
        }
    }

    /// Those that are not over, in the order of their first packets.
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

/// A connection that is not over.
#[expect(clippy::box_collection, reason = "a vector itself would make all others larger")]
enum Live {
    Begun(Box<ConnectionState>),
    AskedFor(Box<Vec<Packet>>),
}

/// The places of all ends. Those of IPv4 need a third of the room, and there may be a million.
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
