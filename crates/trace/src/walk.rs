//! The states that one end walks through, in the order of time.

use tcplab_units::Instant;

use crate::packet::Packet;
use crate::{StateStep, TcpState};

/// When a packet passed the tap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
}

impl Moment {
    pub(crate) fn of(packet: &Packet) -> Moment {
        Moment { at: packet.at, frame: packet.frame }
    }
}

/// From SYN-SENT to CLOSED, the longest walk is seven steps: no heap is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    states: [TcpState; Walk::LONGEST],
    /// When each was entered.
    moments: [Moment; Walk::LONGEST],
    count: u8,
}

impl Default for Walk {
    fn default() -> Walk {
        let (states, moments) = ([TcpState::Closed; Walk::LONGEST], Default::default());
        Walk { states, moments, count: 0 }
    }
}

impl Walk {
    /// SYN-SENT, SYN-RECEIVED, ESTABLISHED, FIN-WAIT-1, CLOSING or FIN-WAIT-2, TIME-WAIT, CLOSED.
    const LONGEST: usize = 7;

    pub(crate) fn steps(&self) -> Vec<StateStep> {
        let step = |(&state, &Moment { at, frame })| StateStep { state, at, frame };
        self.states().iter().zip(&self.moments).map(step).collect()
    }
    pub(crate) fn state(&self) -> Option<TcpState> {
        self.states().last().copied()
    }
    /// Whether it has ever been in `state`.
    pub(crate) fn was(&self, state: TcpState) -> bool {
        self.states().contains(&state)
    }

    /// Enters a state; what brought it there may have passed before what brought it to the
    /// previous one, and then both moments are one.
    pub(crate) fn enter(&mut self, state: TcpState, moment: Moment) {
        let place = usize::from(self.count);
        if place == Walk::LONGEST {
            return;
        }
        let moment = self.not_before(place, moment);
        self.states[place] = state;
        self.moments[place] = moment;
        self.count += 1;
    }
    /// The latest state was not entered after all.
    pub(crate) fn retract(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
    /// The latest state was entered only now.
    pub(crate) fn restamp(&mut self, moment: Moment) {
        if let Some(last) = usize::from(self.count).checked_sub(1) {
            self.moments[last] = self.not_before(last, moment);
        }
    }
    /// An RST ended it, if it had begun.
    pub(crate) fn close(&mut self, moment: Moment) {
        if self.state().is_some_and(|state| state != TcpState::Closed) {
            self.enter(TcpState::Closed, moment);
        }
    }
    /// The RST did not end it.
    pub(crate) fn reopen(&mut self) {
        if self.state() == Some(TcpState::Closed) {
            self.retract();
        }
    }

    fn not_before(&self, place: usize, moment: Moment) -> Moment {
        match place.checked_sub(1) {
            Some(before) => moment.max(self.moments[before]),
            None => moment,
        }
    }

    fn states(&self) -> &[TcpState] {
        &self.states[..usize::from(self.count)]
    }
}
