//! Values by the ends of connections.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::ends::Ends;

/// Values by ends. IPv4 needs a third of the memory of IPv6; there may be a million. A tree, since
/// a capture may be made so that hashes collide.
#[derive(Debug)]
pub(crate) struct Tree<T> {
    v4: BTreeMap<[u32; 3], T>,
    v6: BTreeMap<[u64; 5], T>,
}

impl<T> Default for Tree<T> {
    fn default() -> Tree<T> {
        Tree { v4: BTreeMap::new(), v6: BTreeMap::new() }
    }
}

impl<T> Tree<T> {
    pub(crate) fn find(&mut self, ends: &Ends) -> Option<&mut T> {
        match ends.v4() {
            Some(v4) => self.v4.get_mut(&v4),
            None => self.v6.get_mut(&ends.v6()),
        }
    }
    pub(crate) fn insert(&mut self, ends: &Ends, value: T) {
        match ends.v4() {
            Some(v4) => self.v4.insert(v4, value),
            None => self.v6.insert(ends.v6(), value),
        };
    }
    pub(crate) fn remove(&mut self, ends: &Ends) -> Option<T> {
        match ends.v4() {
            Some(v4) => self.v4.remove(&v4),
            None => self.v6.remove(&ends.v6()),
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }
    /// The ends behind these in a fixed order; the first behind the last, and behind none.
    pub(crate) fn behind(&self, ends: Option<Ends>) -> Option<Ends> {
        let from = |v6: Bound<[u64; 5]>| {
            self.v6.range((v6, Bound::Unbounded)).next().map(|(&v6, _)| Ends::of_v6(v6))
        };
        let from_v4 = |v4: Bound<[u32; 3]>| {
            let next = self.v4.range((v4, Bound::Unbounded)).next();
            next.map(|(&v4, _)| Ends::of_v4(v4)).or_else(|| from(Bound::Unbounded))
        };
        let behind = ends.and_then(|ends| match ends.v4() {
            Some(v4) => from_v4(Bound::Excluded(v4)),
            None => from(Bound::Excluded(ends.v6())),
        });
        behind.or_else(|| from_v4(Bound::Unbounded))
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ends, &T)> {
        let v4 = self.v4.iter().map(|(&v4, value)| (Ends::of_v4(v4), value));
        v4.chain(self.v6.iter().map(|(&v6, value)| (Ends::of_v6(v6), value)))
    }
}
