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
    /// The first ends behind these whose value fits, in a fixed order; the first behind the last,
    /// and behind none. Asks about each value twice at most, apart from the order's beginning.
    pub(crate) fn behind(
        &mut self,
        ends: Option<Ends>,
        mut fits: impl FnMut(&mut T) -> bool,
    ) -> Option<Ends> {
        let (mut v4, mut v6) = (Some(Bound::Unbounded), Bound::Unbounded);
        if let Some(ends) = ends {
            v4 = ends.v4().map(Bound::Excluded);
            if v4.is_none() {
                v6 = Bound::Excluded(ends.v6());
            }
        }
        for _ in 0..3 {
            if let Some(key) = v4.and_then(|from| first(&mut self.v4, from, &mut fits)) {
                return Some(Ends::of_v4(key));
            }
            if let Some(key) = first(&mut self.v6, v6, &mut fits) {
                return Some(Ends::of_v6(key));
            }
            (v4, v6) = (Some(Bound::Unbounded), Bound::Unbounded);
        }
        None
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ends, &T)> {
        let v4 = self.v4.iter().map(|(&v4, value)| (Ends::of_v4(v4), value));
        v4.chain(self.v6.iter().map(|(&v6, value)| (Ends::of_v6(v6), value)))
    }
}

/// The first key of a value that fits.
fn first<K: Ord + Copy, T>(
    tree: &mut BTreeMap<K, T>,
    from: Bound<K>,
    fits: &mut impl FnMut(&mut T) -> bool,
) -> Option<K> {
    tree.range_mut((from, Bound::Unbounded)).find_map(|(&key, value)| fits(value).then_some(key))
}
