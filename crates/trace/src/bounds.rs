//! Upper bounds on state: memory is bounded and time linear in packets, whatever the capture.
//!
//! Normal captures stay far below. Beyond a bound the oldest entry is dropped, and a note says so.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound(usize);

/// Transmissions of one direction: more than any window; reached only without ACKs.
pub(crate) const TRANSMISSIONS: Bound = Bound(1 << 16);
/// Acknowledgements of one direction during one recovery.
pub(crate) const MARKS: Bound = Bound(1 << 16);
/// Recovery episodes of one direction during one recovery.
pub(crate) const EPISODES: Bound = Bound(1 << 9);
/// Ranges in a set.
pub(crate) const RANGES: Bound = Bound(1 << 14);
/// Holes in one direction: more than a window has segments.
pub(crate) const GAPS: Bound = Bound(1 << 12);
/// Closed connections still tracked, about 10 kB each, in all parts.
pub(crate) const OVER: Bound = Bound(1 << 10);
/// Known pairs of endpoints in all parts, less than 200 bytes each. Beyond, a closed one is
/// forgotten; if it reappears, it counts as a new connection instead of a reuse.
pub(crate) const ENDS: Bound = Bound(1 << 20);
/// Joined connections, about 2 kB each.
pub(crate) const PAIRS: Bound = Bound(1 << 18);
/// Repetitions of the same place: Linux gives up after 15 (`tcp_retries2`).
pub(crate) const REPETITIONS: Bound = Bound(1 << 8);

/// Parts of all connections, by a hash of their ends. As many threads can share them.
pub(crate) const PARTS: Bound = Bound(1 << 5);

impl Bound {
    /// The number for one of so many parts of all connections, with room for chance.
    pub(crate) fn of_part(self, parts: usize) -> usize {
        share(self.most(), parts)
    }

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

/// One part's share of a number, with room for chance.
pub(crate) fn share(all: usize, parts: usize) -> usize {
    let each = all.div_ceil(parts);
    if parts == 1 { each } else { each + each / 8 }
}

/// A connection without a packet in at least as many frames is folded: until its next packet it
/// takes a twentieth of the memory, and what is in use stays in the processor's caches.
const IDLE_FRAMES: u64 = 1 << 9;

/// [`IDLE_FRAMES`], or none in tests that ask for it.
#[inline]
pub(crate) fn idle_frames() -> u64 {
    #[cfg(test)]
    return if ALWAYS_FOLDED.get() { 0 } else { IDLE_FRAMES };
    #[cfg(not(test))]
    IDLE_FRAMES
}

/// The most packets of a connection that are kept to make its state from them again: that takes
/// less time than folding and unfolding it, and less memory.
const PACKETS_KEPT: usize = 8;

/// [`PACKETS_KEPT`], or what tests ask for.
#[inline]
pub(crate) fn packets_kept() -> usize {
    #[cfg(test)]
    return KEPT.get();
    #[cfg(not(test))]
    PACKETS_KEPT
}

/// The results of `work` if connections are folded after each packet: while they have few packets,
/// these, and always their state.
#[cfg(test)]
pub(crate) fn always_folded<T>(mut work: impl FnMut() -> T) -> [T; 2] {
    ALWAYS_FOLDED.set(true);
    let results = [PACKETS_KEPT, 0].map(|kept| {
        KEPT.set(kept);
        work()
    });
    ALWAYS_FOLDED.set(false);
    KEPT.set(PACKETS_KEPT);
    results
}

#[cfg(test)]
thread_local! {
    static KEPT: std::cell::Cell<usize> = const { std::cell::Cell::new(PACKETS_KEPT) };
    static ALWAYS_FOLDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static NARROWED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// The result of `work` with all bounds halved `halvings` times.
#[cfg(test)]
pub(crate) fn narrowed<T>(halvings: u32, work: impl FnOnce() -> T) -> T {
    NARROWED.set(halvings);
    let result = work();
    NARROWED.set(0);
    result
}
