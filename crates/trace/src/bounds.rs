//! How much is kept at most, so that memory is bounded and time grows with the packets alone,
//! whatever a capture holds.
//!
//! Hardly any honest capture comes near. Where a bound is met all the same, the oldest is given up,
//! and the trace says so.

/// At most so many of something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound(usize);

/// Transmissions of one direction: more than any window holds. There are more only where nothing is
/// acknowledged, as in a capture of one direction.
pub(crate) const TRANSMISSIONS: Bound = Bound(1 << 16);
/// Acknowledgements of one direction in one time of trouble.
pub(crate) const MARKS: Bound = Bound(1 << 16);
/// Recovery episodes of one direction in one time of trouble.
pub(crate) const EPISODES: Bound = Bound(1 << 9);
/// Ranges in a set of places that neither overlap nor touch.
pub(crate) const RANGES: Bound = Bound(1 << 14);
/// Holes in one direction: more than a window has segments.
pub(crate) const GAPS: Bound = Bound(1 << 12);
/// Connections that are over and followed all the same, for a sink that wants packets.
pub(crate) const OVER: Bound = Bound(1 << 16);
/// Pairs of ends that are known at a time, with less than 200 bytes each: then one is forgotten
/// whose connection is over. Should it meet again, that is another connection, and no reuse.
pub(crate) const ENDS: Bound = Bound(1 << 20);
/// Connections that are joined, with about 2 kB each: the first.
pub(crate) const PAIRS: Bound = Bound(1 << 18);
/// Repetitions of the same place: Linux gives up after 15 (`tcp_retries2`).
pub(crate) const REPETITIONS: Bound = Bound(1 << 8);

impl Bound {
    /// The number, less in tests that [ask for it](narrowed).
    #[cfg(not(test))]
    #[inline]
    pub(crate) const fn most(self) -> usize {
        self.0
    }
    #[cfg(test)]
    pub(crate) fn most(self) -> usize {
        self.0 >> NARROWED.get()
    }
}

#[cfg(test)]
thread_local! {
    static NARROWED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// What `work` gives when all bounds are halved so many times.
#[cfg(test)]
pub(crate) fn narrowed<T>(halvings: u32, work: impl FnOnce() -> T) -> T {
    NARROWED.set(halvings);
    let result = work();
    NARROWED.set(0);
    result
}
