//! Which connection a packet belongs to.
//!
//! Packets come in bursts of few connections, so a small cache of the pairs of ends seen last
//! answers nearly always; a tree answers for the rest. A capture made to collide in the cache
//! costs the tree's logarithm, and no more.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

use tcplab_wire::SeqNumber;

use crate::connection::ConnectionState;

/// Places in the cache, a power of two.
const CACHED: usize = 1 << 12;

/// The two ends of a connection, whichever of them sends; the lower one first.
///
/// Address and port in one word each for IPv4; for IPv6 two words for each address, and one for the
/// ports with all bits of the family set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends([u64; 5]);

impl Ends {
    /// The ends of a packet from `src` to `dst`.
    #[inline]
    pub(crate) fn of(src: SocketAddr, dst: SocketAddr) -> Ends {
        if let (SocketAddr::V4(src), SocketAddr::V4(dst)) = (src, dst) {
            let word =
                |end: SocketAddrV4| u64::from(end.ip().to_bits()) << 16 | u64::from(end.port());
            let (src, dst) = (word(src), word(dst));
            return Ends([src.min(dst), src.max(dst), 0, 0, 0]);
        }
        let (low, high) = (src.min(dst), src.max(dst));
        let ([a, b], [c, d]) = (halves(low.ip()), halves(high.ip()));
        Ends([a, b, c, d, V6 | u64::from(low.port()) << 16 | u64::from(high.port())])
    }

    /// Where it is cached: multiplied and folded, as wyhash does.
    #[inline]
    fn place(&self) -> usize {
        const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            (product >> 64) as u64 ^ product as u64
        };
        let [a, b, c, d, e] = self.0;
        let rest = if e == 0 { 0 } else { fold(c ^ ODD[1], d ^ ODD[0]) ^ e };
        fold(fold(a ^ ODD[0], b.rotate_left(32) ^ ODD[1]) ^ rest, ODD[0]) as usize % CACHED
    }
}

const V6: u64 = 0xffff << 48;

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
}

impl Entry {
    /// Nothing is known of it yet.
    pub(crate) fn new(ends: Ends, index: usize, state: ConnectionState) -> Entry {
        Entry { ends, index, initial: [None; 2], state: Some(Box::new(state)) }
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
        let live = self.entries.into_iter().filter_map(|e| Some((e.index, e.state?)));
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
