//! Which connection a packet belongs to.
//!
//! Packets come in bursts of few connections, so a small cache of the pairs of ends seen last
//! answers nearly always; a tree answers for the rest. A capture made to collide in the cache
//! costs the tree's logarithm, and no more.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use tcplab_wire::SeqNumber;

use crate::connection::ConnectionState;
use crate::packet::Packet;

/// Places in the cache, a power of two.
const CACHED: usize = 1 << 12;

/// The two ends of a connection, whichever of them sends; the lower one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends {
    ports: (u16, u16),
    v6: bool,
    addresses: [u64; 4],
}

impl Ends {
    /// The ends of a packet from `src` to `dst`.
    #[inline]
    pub(crate) fn of(src: SocketAddr, dst: SocketAddr) -> Ends {
        let (v6, src_bits, dst_bits) = match (src.ip(), dst.ip()) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                (false, [0, u64::from(src.to_bits())], [0, u64::from(dst.to_bits())])
            }
            (src, dst) => (true, halves(src), halves(dst)),
        };
        let (from, to) = ((src_bits, src.port()), (dst_bits, dst.port()));
        let (low, high) = if from <= to { (from, to) } else { (to, from) };
        let addresses = [low.0[0], low.0[1], high.0[0], high.0[1]];
        Ends { ports: (low.1, high.1), v6, addresses }
    }

    /// Where it is cached: multiplied and folded, as wyhash does.
    #[inline]
    fn place(&self) -> usize {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        let [a, b, c, d] = self.addresses;
        let ports = u64::from(self.ports.0) << 16 | u64::from(self.ports.1);
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            (product >> 64) as u64 ^ product as u64
        };
        let addresses = fold(b ^ ODD[0], d.rotate_left(32) ^ ODD[1]) ^ fold(a ^ ODD[1], c ^ ODD[0]);
        fold(addresses ^ ports, ODD[0]) as usize % CACHED
    }
}

fn halves(address: IpAddr) -> [u64; 2] {
    let bits = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    [(bits >> 64) as u64, bits as u64]
}

/// The latest connection between two ends.
#[derive(Debug)]
pub(crate) struct Entry {
    ends: Ends,
    /// Its place in the order of first packets.
    pub(crate) index: usize,
    /// The initial numbers of client and server, when it is over: what a late packet is known by.
    pub(crate) initial: [Option<SeqNumber>; 2],
    /// None when it is over and was handed over.
    pub(crate) state: Option<Box<ConnectionState>>,
    /// The one before it and its place, while the latest is but a SYN that nobody has answered: it
    /// may be an old one, or be answered by a challenge (RFC 5961 section 4).
    pub(crate) aside: Option<(usize, Box<ConnectionState>)>,
}

impl Entry {
    /// Nothing is known of it yet.
    pub(crate) fn new(ends: Ends, index: usize, state: ConnectionState) -> Entry {
        Entry { ends, index, initial: [None; 2], state: Some(Box::new(state)), aside: None }
    }
}

impl Entry {
    /// The one that the packet is for, with its place; none if that was handed over.
    #[inline]
    pub(crate) fn owner(&mut self, packet: &Packet) -> Option<(usize, &mut ConnectionState)> {
        let latest = self.state.as_deref_mut();
        if let Some((index, aside)) = &mut self.aside
            && latest.as_ref().is_some_and(|latest| latest.disowns(packet))
            && aside.fits(packet)
        {
            return Some((*index, aside));
        }
        latest.map(|latest| (self.index, latest))
    }

    /// The one aside, if the latest was answered: its packets can come no more.
    pub(crate) fn outlived(&mut self) -> Option<(usize, Box<ConnectionState>)> {
        let answered = self.state.as_ref().is_none_or(|latest| !latest.is_asking());
        self.aside.take_if(|_| answered)
    }
}

/// The latest connection between any two ends.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    tree: BTreeMap<Ends, usize>,
    /// Places in `entries`.
    cache: Vec<usize>,
}

impl Default for Table {
    fn default() -> Table {
        Table { entries: Vec::new(), tree: BTreeMap::new(), cache: vec![usize::MAX; CACHED] }
    }
}

impl Table {
    /// Where the connection between `ends` is kept, if there was one.
    #[inline]
    pub(crate) fn find(&mut self, ends: &Ends) -> Option<usize> {
        let cached = &mut self.cache[ends.place()];
        if self.entries.get(*cached).is_some_and(|entry| entry.ends == *ends) {
            return Some(*cached);
        }
        let at = *self.tree.get(ends)?;
        *cached = at;
        Some(at)
    }

    /// Adds the first connection between two ends; where it is kept.
    pub(crate) fn add(&mut self, entry: Entry) -> usize {
        let at = self.entries.len();
        self.cache[entry.ends.place()] = at;
        self.tree.insert(entry.ends, at);
        self.entries.push(entry);
        at
    }

    /// The connection kept at a place that [`Table::find`] or [`Table::add`] told.
    #[inline]
    pub(crate) fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }

    /// Those that are not over, in the order of their first packets.
    pub(crate) fn into_live(self) -> Vec<(usize, Box<ConnectionState>)> {
        let live = self.entries.into_iter().flat_map(|entry| {
            entry.aside.into_iter().chain(entry.state.map(|state| (entry.index, state)))
        });
        let mut live: Vec<_> = live.collect();
        live.sort_by_key(|&(index, _)| index);
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_one_and_families_are_not() {
        let ends = |src: &str, dst: &str| Ends::of(src.parse().unwrap(), dst.parse().unwrap());
        let one = ends("10.0.0.1:5000", "10.0.0.2:80");
        assert_eq!(one, ends("10.0.0.2:80", "10.0.0.1:5000"));
        assert_ne!(one, ends("10.0.0.2:5000", "10.0.0.1:80"));
        assert_ne!(one, ends("[::ffff:10.0.0.1]:5000", "[::ffff:10.0.0.2]:80"));
        assert_eq!(
            ends("[2001:db8::1]:1", "[2001:db8::2]:1"),
            ends("[2001:db8::2]:1", "[2001:db8::1]:1")
        );
        assert_ne!(
            ends("[2001:db8::1]:1", "[2001:db8::2]:1"),
            ends("[2001:db9::1]:1", "[2001:db8::2]:1")
        );
    }
}
