//! The states that one end walks through, in the order of time.

use tcplab_units::{Endpoint, Instant};
use tcplab_wire::TcpFlags;

use crate::packet::Packet;
use crate::{StateStep, StepCause, TcpState};

/// When a packet passed the capture point, and which it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketTime {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    flags: TcpFlags,
    /// The client sent it.
    forward: bool,
}

impl PacketTime {
    pub(crate) fn of(packet: &Packet, forward: bool) -> PacketTime {
        PacketTime { at: packet.at, frame: packet.frame, flags: packet.flags, forward }
    }

    fn later(self, other: PacketTime) -> PacketTime {
        if (other.at, other.frame) > (self.at, self.frame) { other } else { self }
    }

    fn cause(self) -> StepCause {
        let PacketTime { at, frame, flags, forward } = self;
        StepCause {
            at,
            frame,
            flags,
            by: if forward { Endpoint::Client } else { Endpoint::Server },
        }
    }
}

/// From SYN-SENT to CLOSED, the longest walk is seven steps: no heap is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    states: [TcpState; Walk::LONGEST],
    /// The packet that brought it into each. One may have passed before what brought it into the
    /// state before; then it was in both from one moment on.
    causes: [PacketTime; Walk::LONGEST],
    count: u8,
}

impl Default for Walk {
    fn default() -> Walk {
        let (states, causes) = ([TcpState::Closed; Walk::LONGEST], Default::default());
        Walk { states, causes, count: 0 }
    }
}

impl Walk {
    /// SYN-SENT, SYN-RECEIVED, ESTABLISHED, FIN-WAIT-1, CLOSING or FIN-WAIT-2, TIME-WAIT, CLOSED.
    const LONGEST: usize = 7;

    pub(crate) fn steps(&self) -> Vec<StateStep> {
        let step = |entered: &mut PacketTime, (&state, cause): (&TcpState, &PacketTime)| {
            *entered = entered.later(*cause);
            let PacketTime { at, frame, .. } = *entered;
            Some(StateStep { state, at, frame, cause: cause.cause() })
        };
        self.states().iter().zip(&self.causes).scan(self.causes[0], step).collect()
    }
    pub(crate) fn state(&self) -> Option<TcpState> {
        self.states().last().copied()
    }
    /// Whether it has ever been in `state`.
    pub(crate) fn was(&self, state: TcpState) -> bool {
        self.states().contains(&state)
    }

    /// Enters a state, brought there by the packet of that moment.
    pub(crate) fn enter(&mut self, state: TcpState, cause: PacketTime) {
        let place = usize::from(self.count);
        if place == Walk::LONGEST {
            return;
        }
        self.states[place] = state;
        self.causes[place] = cause;
        self.count += 1;
    }
    /// Whether a packet with these flags brought it into the latest state.
    pub(crate) fn is_due_to(&self, flags: TcpFlags) -> bool {
        let last = usize::from(self.count).checked_sub(1);
        last.is_some_and(|last| self.causes[last].flags.contains(flags))
    }
    /// The latest state was not entered after all.
    pub(crate) fn retract(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
    /// The latest state was entered only now; but what an RST ended stays so.
    pub(crate) fn restamp(&mut self, moment: PacketTime) {
        if let Some(last) = usize::from(self.count).checked_sub(1)
            && !self.is_due_to(TcpFlags::RST)
        {
            self.causes[last] = moment;
        }
    }
    /// An RST ended it, if it had begun.
    pub(crate) fn close(&mut self, moment: PacketTime) {
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

    fn states(&self) -> &[TcpState] {
        &self.states[..usize::from(self.count)]
    }
}
