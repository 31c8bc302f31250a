//! The connections of a trial that have not begun.

use std::collections::VecDeque;

use tcplab_units::Instant;

use crate::host::Host;

/// Client and server of a connection, with when they begin; `None`: as soon as another is over.
pub(crate) type PlannedPair = (Option<Instant>, [Host; 2]);

/// Connections that have not begun.
pub(crate) struct Upcoming {
    /// Those with a time of their own, in the order of their times.
    pub(crate) timed: VecDeque<(Instant, [Host; 2])>,
    /// How many of these the trial waits for.
    pub(crate) awaited: usize,
    /// Those that begin in the place of one that is over.
    pub(crate) waiting: VecDeque<[Host; 2]>,
}

impl Upcoming {
    pub(crate) fn of(pairs: Vec<PlannedPair>) -> Upcoming {
        let (mut timed, mut waiting) = (VecDeque::new(), VecDeque::new());
        for (start, pair) in pairs {
            match start {
                Some(start) => timed.push_back((start, pair)),
                None => waiting.push_back(pair),
            }
        }
        let awaited = timed.iter().filter(|(_, [client, _])| !client.is_background).count();
        Upcoming { timed, awaited, waiting }
    }

    /// When the next of the timed ones begins.
    pub(crate) fn next_start(&self) -> Option<Instant> {
        self.timed.front().map(|(start, _)| *start)
    }

    /// The next of the timed ones, if its time has come.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<[Host; 2]> {
        if self.next_start()? > now {
            return None;
        }
        let (_, pair) = self.timed.pop_front()?;
        self.awaited -= usize::from(!pair[0].is_background);
        Some(pair)
    }
}
