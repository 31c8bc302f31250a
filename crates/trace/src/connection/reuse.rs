//! Which packets between two endpoints belong to one connection.
//!
//! A connection is its endpoints and both initial sequence numbers. Old SYNs, challenge ACKs and
//! answers of a second server belong to none.

use tcplab_units::Span;

use super::state::ConnectionState;
use crate::TcpState;
use crate::packet::Packet;

/// 2 MSL (RFC 9293 section 3.4.2): the ISN of a closed connection is not reused before.
const QUIET: Span = Span::from_secs(240);

impl ConnectionState {
    /// Whether the packet opens another connection between the same endpoints.
    ///
    /// A SYN with another number does: after the close, or during the connection, since a restarted
    /// host has lost its state (RFC 9293 section 3.5.1). A SYN with the same number is the same SYN
    /// unless the connection was closed long ago. A SYN-ACK does if it acknowledges another SYN,
    /// and this connection is closed or began before the capture.
    pub(crate) fn is_succeeded_by(&self, packet: &Packet) -> bool {
        if !packet.syn() || packet.rst() || packet.fin() {
            return false;
        }
        let forward = self.is_forward(packet);
        let (own, other) =
            (self.endpoint_states().side(forward), self.endpoint_states().side(!forward));
        let (own_flow, over) = (self.flow(forward), self.is_over());
        let same = match own.syn {
            Some((isn, _)) => isn == packet.seq,
            None if own_flow.initial().is_none() => !over || packet.ack.is_some(),
            None => own_flow.initial() == Some(packet.seq),
        };
        if same {
            return over && packet.ack.is_none() && packet.at.since(self.last()) > QUIET;
        }
        let Some(ack) = packet.ack else {
            // An answer to a SYN, before an own SYN, does not show the own number.
            return over || own.syn.is_some() || other.syn.is_none();
        };
        match other.syn {
            Some(_) if other.is_syn_reached(ack) => false,
            Some(_) => over,
            None => true,
        }
    }

    /// Whether only the client's SYN was seen.
    pub(crate) fn is_asking(&self) -> bool {
        self.endpoint_states().side(true).walk.state() == Some(TcpState::SynSent)
    }

    /// Whether the packet cannot belong to this connection, of which only a SYN was seen. The
    /// previous connection is then asked whether it [`fits`](Self::fits).
    pub(crate) fn disowns(&self, packet: &Packet) -> bool {
        if !self.is_asking() || packet.syn() {
            return false;
        }
        let client = self.endpoint_states().side(true);
        if self.is_forward(packet) {
            let next = client.syn.map(|(_, end)| end);
            return next != Some(packet.seq);
        }
        !packet.ack.is_some_and(|ack| client.is_syn_reached(ack))
    }

    /// Whether the packet's number is near those of its sender in this open connection.
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        !self.is_over() && self.flow(self.is_forward(packet)).is_near(packet.seq)
    }

    /// Whether the packet belongs to no accepted SYN and must not be read as part of the stream.
    pub(super) fn is_stray(&mut self, packet: &Packet, forward: bool) -> bool {
        let (own, other) =
            (self.endpoint_states().side(forward), self.endpoint_states().side(!forward));
        let waits = other.walk.state() == Some(TcpState::SynSent);
        let answers = packet.ack.is_some_and(|ack| other.is_syn_reached(ack));
        if packet.syn() && own.syn.is_some_and(|(isn, _)| isn != packet.seq) {
            // Another server's answer, or the same one after a restart: the client chooses.
            if answers && !self.is_opened() {
                self.rival = Some(packet.seq);
            }
            return true;
        }
        // RFC 9293 section 3.10.7.3: a challenge ACK, or an old duplicate.
        waits && packet.ack.is_some() && packet.payload == 0 && !answers
    }
}
