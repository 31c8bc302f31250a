//! Which packets between two ends belong to one connection.
//!
//! A connection is known by its ends and by both initial sequence numbers. The same ends meet
//! again with other numbers; old SYNs, challenges and the answers of a second server come in
//! between and belong to nobody.

use tcplab_units::Span;

use super::state::ConnectionState;
use crate::TcpState;
use crate::packet::Packet;

/// Twice the maximum segment lifetime (RFC 9293 section 3.4.2): for so long the numbers of a closed
/// connection are not used again.
const QUIET: Span = Span::from_secs(240);

impl ConnectionState {
    /// Whether the packet opens another connection between the same ends.
    ///
    /// A SYN does whose number is not that of its sender's SYN (or, where that was not seen, does
    /// not stand before what its sender sent): after the close, or while the connection is open,
    /// since a host that restarted knows nothing of it (RFC 9293 section 3.5.1). A SYN with the
    /// same number is the same SYN, unless the connection has been over for long. A SYN-ACK does if
    /// it acknowledges another SYN than this connection's, and this one is over or began before the
    /// capture.
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
            // What an end sent in answer to a SYN, before its own, says nothing of its own number.
            return over || own.syn.is_some() || other.syn.is_none();
        };
        match other.syn {
            Some(_) if other.is_syn_reached(ack) => false,
            Some(_) => over,
            None => true,
        }
    }

    /// Whether nothing but the client's SYN was seen of it.
    pub(crate) fn is_asking(&self) -> bool {
        self.endpoint_states().side(true).walk.state() == Some(TcpState::SynSent)
    }

    /// Whether the packet cannot belong to this connection, of which nothing but a SYN was seen: it
    /// answers something else. The connection before it, if still open, is then asked whether it
    /// [`fits`](Self::fits).
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

    /// Whether the packet's number is near to what its sender sent in this connection, which is
    /// still open.
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        !self.is_over() && self.flow(self.is_forward(packet)).is_near(packet.seq)
    }

    /// Whether the packet bears the ends' addresses, but its numbers belong to no SYN that counts:
    /// it must not be read as part of the stream.
    pub(super) fn is_stray(&mut self, packet: &Packet, forward: bool) -> bool {
        let (own, other) =
            (self.endpoint_states().side(forward), self.endpoint_states().side(!forward));
        let waits = other.walk.state() == Some(TcpState::SynSent);
        let answers = packet.ack.is_some_and(|ack| other.is_syn_reached(ack));
        if packet.syn() && own.syn.is_some_and(|(isn, _)| isn != packet.seq) {
            // Another server's answer, or the same one's who forgot: the client will choose.
            if answers && !self.is_opened() {
                self.rival = Some(packet.seq);
            }
            return true;
        }
        // RFC 9293 section 3.10.7.3: what does not acknowledge the SYN is not accepted: a challenge
        // from a connection before, or an old duplicate.
        waits && packet.ack.is_some() && packet.payload == 0 && !answers
    }
}
