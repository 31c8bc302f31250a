//! The sequence of states of one endpoint, in time order.

use tcplab_units::{Endpoint, Instant};
use tcplab_wire::TcpFlags;

use crate::fold::folded;
use crate::packet::Packet;
use crate::{StateStep, StepCause, TcpState};

/// When a packet passed the capture point, and which.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketTime {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    flags: TcpFlags,
    /// Sent by the client.
    forward: bool,
}
folded! { PacketTime { at, frame, flags, forward } }

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

/// At most seven states from SYN-SENT to CLOSED: no heap needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    states: [TcpState; Walk::LONGEST],
    /// The packet that led to each state, with a time not before the previous state's.
    causes: [PacketTime; Walk::LONGEST],
    count: u8,
}
folded! { Walk { states, causes, count } }

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
    pub(crate) fn was(&self, state: TcpState) -> bool {
        self.states().contains(&state)
    }

    /// Enters a state because of that packet.
    pub(crate) fn enter(&mut self, state: TcpState, cause: PacketTime) {
        let place = usize::from(self.count);
        if place == Walk::LONGEST {
            return;
        }
        self.states[place] = state;
        self.causes[place] = cause;
        self.count += 1;
    }
    /// Whether a packet with these flags led to the latest state.
    pub(crate) fn is_due_to(&self, flags: TcpFlags) -> bool {
        let last = usize::from(self.count).checked_sub(1);
        last.is_some_and(|last| self.causes[last].flags.contains(flags))
    }
    /// Undoes the latest state.
    pub(crate) fn retract(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
    /// Undoes all states that the latest packet led to.
    pub(crate) fn retract_packet(&mut self) {
        let Some(last) = usize::from(self.count).checked_sub(1) else { return };
        let frame = self.causes[last].frame;
        let before = self.causes[..last].iter().rposition(|cause| cause.frame != frame);
        self.count = before.map_or(0, |before| before as u8 + 1);
    }
    /// The latest state was entered later; an RST's stays.
    pub(crate) fn restamp(&mut self, moment: PacketTime) {
        if let Some(last) = usize::from(self.count).checked_sub(1)
            && !self.is_due_to(TcpFlags::RST)
        {
            self.causes[last] = moment;
        }
    }
    /// Closes it by RST, if it had begun.
    pub(crate) fn close(&mut self, moment: PacketTime) {
        if self.state().is_some() && !self.is_closed() {
            self.enter(TcpState::Closed, moment);
        }
    }
    /// An RST came: a listener's connection that is not open yet leaves the listener behind (RFC
    /// 9293 section 3.10.7.4).
    pub(crate) fn is_reset(&mut self, moment: PacketTime) {
        if self.states() == [TcpState::SynReceived] {
            self.enter(TcpState::Listen, moment);
        } else {
            self.close(moment);
        }
    }
    /// Undoes the close by RST.
    pub(crate) fn reopen(&mut self) {
        if self.is_closed() {
            self.retract();
        }
    }
    fn is_closed(&self) -> bool {
        matches!(self.state(), Some(TcpState::Closed | TcpState::Listen))
    }

    fn states(&self) -> &[TcpState] {
        &self.states[..usize::from(self.count)]
    }
}
