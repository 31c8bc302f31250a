//! A list that grows at its end, of which the latest items are kept.

use std::collections::VecDeque;

/// Its latest items.
#[derive(Debug)]
pub(crate) struct Latest<T> {
    items: VecDeque<T>,
    /// Items before these.
    gone: usize,
}

impl<T> Default for Latest<T> {
    fn default() -> Latest<T> {
        Latest { items: VecDeque::new(), gone: 0 }
    }
}

impl<T> Latest<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.items.push_back(item);
    }
    /// Forgets the first one; whether there was one.
    pub(crate) fn forget_first(&mut self) -> bool {
        let is_gone = self.items.pop_front().is_some();
        self.gone += usize::from(is_gone);
        is_gone
    }
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    pub(crate) fn first(&self) -> Option<&T> {
        self.items.front()
    }
    pub(crate) fn last(&self) -> Option<&T> {
        self.items.back()
    }
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.items.back_mut()
    }
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.items.iter()
    }
    /// How many come before the first one for which this is false.
    pub(crate) fn before(&self, is_before: impl FnMut(&T) -> bool) -> usize {
        self.items.partition_point(is_before)
    }
    /// Those from this place on.
    pub(crate) fn after(&self, place: usize) -> impl Iterator<Item = &T> {
        self.items.range(place.min(self.items.len())..)
    }
    /// What follows the first `told` of all that there ever were, as far as it is kept.
    pub(crate) fn since(&self, told: usize) -> impl Iterator<Item = &T> {
        self.after(told.saturating_sub(self.gone))
    }
    /// How many there ever were.
    pub(crate) fn count(&self) -> usize {
        self.gone + self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_not_told() {
        let mut latest = Latest::default();
        (0..10).for_each(|item| latest.push(item));
        (0..4).for_each(|_| assert!(latest.forget_first()));
        let since = |told| latest.since(told).copied().collect::<Vec<i32>>();
        assert_eq!((since(0), since(7), since(10)), ((4..10).collect(), vec![7, 8, 9], vec![]));
        assert_eq!((latest.len(), latest.count(), latest.first()), (6, 10, Some(&4)));
    }
}
