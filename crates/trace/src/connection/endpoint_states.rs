//! The TCP states of both endpoints, and how the connection closed.
//!
//! The states are those of RFC 9293 section 3.3.2, figure 5: each packet counts when it passes this
//! capture point and, without contradiction by the receiver, arrived. CLOSED and LISTEN before an
//! endpoint's first packet are not visible.

use tcplab_units::{Endpoint, Offset, Span};
use tcplab_wire::{SeqNumber, TcpFlags};

use super::resets::{Outlived, Reset};
use super::silence::AtClose;
use super::state_walk::{PacketTime, Walk};
use super::unread::UnreadEstimate;
use crate::fold::folded;
use crate::packet::Packet;
use crate::{Close, CloseKind, ForgedReset, Refused, TcpState};

#[derive(Debug, Default)]
pub(crate) struct EndpointStates {
    client: EndpointState,
    server: EndpointState,
    first_fin: Option<FirstFin>,
    /// The second FIN was sent before the first arrived (simultaneous close).
    crossed: bool,
    reset: Option<Reset>,
    /// RSTs that did not end it.
    outlived: Outlived,
    /// The end that opened another connection of the same ports, and the frame of its SYN.
    reopened: Option<(Endpoint, u64)>,
    /// Packets after the close.
    after_close: u64,
    /// Only SYN, FIN and RST can change a state now.
    calm: bool,
}
folded! {
    EndpointStates {
        client, server, first_fin, crossed, reset, outlived, reopened, after_close, calm
    }
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct EndpointState {
    pub(crate) walk: Walk,
    /// Its SYN: the sequence number, and the number after SYN and data.
    pub(crate) syn: Option<(SeqNumber, SeqNumber)>,
    /// When its latest SYN passed.
    syn_at: PacketTime,
    syn_acked: bool,
    /// The sequence number after its FIN.
    fin: Option<SeqNumber>,
    fin_at: PacketTime,
    fin_acked: bool,
    /// It retransmitted what seemed acknowledged: that ACK was lost, and the next one counts.
    again: bool,
    /// The peer's FIN arrived before missing data; it counts once they arrive.
    fin_waits: bool,
    /// When it last received data or FIN.
    heard_at: PacketTime,
    /// The TTL of its first packet.
    ttl: Option<u8>,
    unread_estimate: UnreadEstimate,
}
folded! {
    EndpointState {
        walk, syn, syn_at, syn_acked, fin, fin_at, fin_acked, again, fin_waits, heard_at,
        ttl, unread_estimate
    }
}

#[derive(Debug, Clone, Copy)]
struct FirstFin {
    by: Endpoint,
    moment: PacketTime,
    idle: Option<Span>,
    /// The end of the other end's data that was acknowledged then.
    acked: Offset,
    /// The other end sent data before it knew of the FIN.
    met_data: bool,
}
folded! { FirstFin { by, moment, idle, acked, met_data } }

impl EndpointStates {
    /// `is_new`: its data or FIN are above all that its sender sent; `found`: by a FIN or RST.
    pub(super) fn follow(&mut self, packet: &Packet, forward: bool, is_new: bool, found: AtClose) {
        let side = if forward { &mut self.client } else { &mut self.server };
        if !packet.is_control() {
            side.unread_estimate.follow(packet);
            if self.calm {
                return;
            }
        }
        self.step(packet, forward, is_new, found);
    }

    /// Sets the window scales and MSS of both endpoints.
    pub(crate) fn set_scales(&mut self, client: (u8, Option<u16>), server: (u8, Option<u16>)) {
        self.client.unread_estimate.set_scale(client.0, client.1);
        self.server.unread_estimate.set_scale(server.0, server.1);
    }

    /// The client accepted the server's other SYN-ACK.
    pub(crate) fn server_syn_is(&mut self, isn: SeqNumber) {
        self.server.syn = Some((isn, isn.advanced_by(1)));
    }

    /// An end opened another connection of the same ports with this SYN.
    pub(crate) fn is_reopened(&mut self, by: Endpoint, syn: &Packet) {
        self.reopened = Some((by, syn.frame));
    }

    /// Whether both FINs are acknowledged, or an RST ended it.
    pub(crate) fn is_over(&self) -> bool {
        self.reset.is_some() || (self.client.fin_acked && self.server.fin_acked)
    }
    pub(crate) fn side(&self, client: bool) -> &EndpointState {
        if client { &self.client } else { &self.server }
    }
    /// The states of client and server, as far as they are known.
    pub(crate) fn states(&self) -> [Option<TcpState>; 2] {
        [self.client.state(), self.server.state()]
    }
    pub(crate) fn after_close(&self) -> u64 {
        self.after_close
    }
    /// An RST that its sender seems not to have sent.
    pub(crate) fn forged_reset(&self) -> Option<ForgedReset> {
        self.outlived.forged()
    }

    /// How it closed, if it did.
    pub(crate) fn close(&self) -> Option<Close> {
        let reset = self.reset.filter(|reset| !reset.late);
        let (by, moment) = match (self.first_fin, reset) {
            (Some(first), _) => (first.by, first.moment),
            (None, Some(reset)) => (reset.by, reset.moment),
            (None, None) => return None,
        };
        let both = self.client.fin.is_some() && self.server.fin.is_some();
        let kind = match (self.first_fin.is_some(), reset.is_some()) {
            (false, _) => CloseKind::Reset,
            (true, true) => CloseKind::ResetAfterFin,
            (true, false) if !both => CloseKind::HalfClosed,
            (true, false) if self.crossed => CloseKind::Simultaneous,
            (true, false) => CloseKind::Graceful,
        };
        Some(Close {
            kind,
            by,
            at: moment.at,
            frame: moment.frame,
            reset_by: reset.map(|reset| reset.by),
            reset_at: reset.map(|reset| reset.moment.at),
            reset_frame: reset.map(|reset| reset.moment.frame),
            unread: reset.and_then(|reset| reset.unread),
            reset_ttls: reset.and_then(|reset| reset.ttls),
            idle: self.first_fin.map_or(reset.and_then(|reset| reset.idle), |first| first.idle),
            refused: self.first_fin.zip(reset).and_then(|(fin, reset)| refused(fin, reset, both)),
            reopened: reset.and_then(|reset| reset.reopened),
        })
    }

    /// Whether only SYN, FIN and RST change a state (else [`EndpointStates::go_on`] suffices).
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }
    /// Follows a packet without SYN, FIN and RST while [calm](EndpointStates::is_calm).
    #[inline]
    pub(crate) fn go_on(&mut self, packet: &Packet, forward: bool) {
        let side = if forward { &mut self.client } else { &mut self.server };
        side.unread_estimate.follow(packet);
    }

    fn step(&mut self, packet: &Packet, forward: bool, is_new: bool, found: AtClose) {
        let moment = PacketTime::of(packet, forward);
        if self.is_over() {
            self.revive(packet, forward, is_new);
            self.after_close += u64::from(self.is_over());
        }
        if packet.rst() {
            self.reset(packet, forward, moment, found);
        } else {
            let (own, other) = if forward {
                (&mut self.client, &mut self.server)
            } else {
                (&mut self.server, &mut self.client)
            };
            let by = if forward { Endpoint::Client } else { Endpoint::Server };
            self.outlived.goes_on(by);
            if packet.fin() && !packet.syn() && own.fin.is_none() {
                self.crossed = other.fin.is_some() && !other.is_fin_reached(packet);
                let AtClose { idle, acked, crossed: met_data } = found;
                self.first_fin.get_or_insert(FirstFin { by, moment, idle, acked, met_data });
            }
            if let Some(first) = self.first_fin.as_mut().filter(|first| first.by != by) {
                first.met_data |= is_new && packet.payload > 0 && !other.is_fin_reached(packet);
            }
            own.ttl.get_or_insert(packet.ttl);
            own.sends(packet, other, moment);
            other.receives(packet, own, moment);
        }
        let settled = |side: &EndpointState, other: &EndpointState| {
            let in_place = match side.walk.state() {
                Some(TcpState::Established | TcpState::FinWait2) => true,
                Some(TcpState::CloseWait) => other.fin_acked,
                _ => false,
            };
            in_place && !side.again
        };
        let (client, server) = (&self.client, &self.server);
        let decided = !self.is_over() && !self.outlived.is_open();
        self.calm = decided && settled(client, server) && settled(server, client);
    }

    fn reset(&mut self, packet: &Packet, forward: bool, moment: PacketTime, found: AtClose) {
        let late = self.client.fin_acked && self.server.fin_acked;
        let (own, other) = if forward {
            (&mut self.client, &mut self.server)
        } else {
            (&mut self.server, &mut self.client)
        };
        // RFC 9293 section 3.10.7.3: in SYN-SENT an RST counts only if it acknowledges the SYN.
        let answers = packet.ack.is_some_and(|ack| other.is_syn_reached(ack));
        if other.walk.state() == Some(TcpState::SynSent) && !answers {
            return;
        }
        let by = if forward { Endpoint::Client } else { Endpoint::Server };
        if let Some(obeyed) = self.outlived.refusal(packet, by) {
            own.walk.close(obeyed.moment);
            other.walk.is_reset(moment);
            self.reset = Some(obeyed);
            return;
        }
        if own.had_closed(packet, other) {
            own.walk.retract_packet();
        }
        own.walk.close(moment);
        other.walk.is_reset(moment);
        let unread = own.unread_estimate.unread(packet);
        self.reset.get_or_insert(Reset {
            by,
            moment,
            seq: packet.seq,
            unread,
            ttls: own.ttl.map(|first| (packet.ttl, first)),
            idle: found.idle,
            acked: found.acked,
            reopened: self.reopened.filter(|(end, _)| *end == by).map(|(_, frame)| frame),
            late,
            followed: [None; 2],
            answered: false,
        });
    }

    /// An RST is ignored if its sender sends data beyond it (a forged or disobeyed RST), if what
    /// either end sent after it is acknowledged (RFC 5961 section 3.2: it was not at RCV.NXT), or
    /// if a refused SYN is retried with the same number (as Windows does).
    fn revive(&mut self, packet: &Packet, forward: bool, is_new: bool) {
        let Some(reset) = &mut self.reset else { return };
        let acked = |end| packet.ack.is_some_and(|ack| !SeqNumber::is_after(end, ack));
        let is_heard = !packet.rst() && reset.followed[usize::from(forward)].is_some_and(acked);
        if is_new && !packet.rst() && !packet.syn() {
            reset.followed[usize::from(!forward)].get_or_insert(packet.end());
        }
        let its_own = (reset.by == Endpoint::Client) == forward;
        reset.answered |= !its_own && !packet.rst();
        let reset = *reset;
        let goes_on = packet.payload > 0 && !packet.rst() && packet.end().is_after(reset.seq);
        let opened = self.client.walk.was(TcpState::Established);
        let own = self.side(forward).syn.map(|(isn, _)| isn);
        let tries_again =
            packet.syn() && !opened && (packet.ack.is_some() || own == Some(packet.seq));
        let went_on = (its_own && goes_on) || is_heard;
        if !reset.late && !self.outlived.is_obeyed() && (went_on || tries_again) {
            if went_on {
                self.outlived.add(&reset, packet, its_own);
            }
            self.reset = None;
            self.after_close = 0;
            self.client.walk.reopen();
            self.server.walk.reopen();
        }
    }
}

/// What an end refused after its FIN, if it acknowledged nothing more; `both` sent one.
fn refused(first: FirstFin, reset: Reset, both: bool) -> Option<Refused> {
    match first.by == reset.by && first.acked == reset.acked {
        _ if both => Some(Refused::Closing),
        true if first.met_data => Some(Refused::Unaware),
        true => Some(Refused::Aware),
        false => None,
    }
}

impl EndpointState {
    /// Whether `ack` acknowledges its SYN and at most the data sent with it.
    pub(crate) fn is_syn_reached(&self, ack: SeqNumber) -> bool {
        self.syn.is_some_and(|(isn, end)| ack.is_after(isn) && !ack.is_after(end))
    }
    /// Whether the peer's packet acknowledges its FIN.
    fn is_fin_reached(&self, packet: &Packet) -> bool {
        match (self.fin, packet.ack) {
            (Some(end), Some(ack)) => !end.is_after(ack),
            _ => false,
        }
    }
    fn state(&self) -> Option<TcpState> {
        self.walk.state()
    }

    /// Whether its RST shows that it was CLOSED when the peer's SYN-ACK or FIN arrived: it has no
    /// ACK, and nothing was sent since the SYN, or acknowledges that FIN (RFC 9293 section
    /// 3.10.7.1).
    fn had_closed(&self, rst: &Packet, peer: &EndpointState) -> bool {
        let answers = match self.state() {
            Some(TcpState::Established) => {
                self.walk.was(TcpState::SynSent)
                    && peer.state() == Some(TcpState::SynReceived)
                    && self.is_syn_reached(rst.seq)
            }
            Some(TcpState::TimeWait) => {
                self.walk.is_due_to(TcpFlags::FIN) && !peer.fin_acked && self.fin == Some(rst.seq)
            }
            _ => false,
        };
        answers && rst.ack.is_none()
    }

    /// Updates the state by a packet it sends.
    fn sends(&mut self, packet: &Packet, peer: &mut EndpointState, moment: PacketTime) {
        if packet.syn() {
            self.sends_syn(packet, peer, moment);
            return;
        }
        let ghost = self.state().is_none()
            && peer.state() == Some(TcpState::SynSent)
            && packet.payload == 0
            && !packet.fin();
        if ghost {
            // An ACK without its SYN, or a challenge ACK (RFC 9293 section 3.5.1).
            return;
        }
        let alone = peer.state().is_none();
        match self.state() {
            // The SYN-ACK was not captured but must have arrived.
            Some(TcpState::SynSent) if packet.ack.is_some() => {
                self.walk.enter(TcpState::Established, moment);
            }
            Some(TcpState::SynReceived) if alone => {
                self.walk.enter(TcpState::Established, moment);
            }
            None => self.walk.enter(TcpState::Established, moment),
            _ => {}
        }
        if peer.is_fin_reached(packet) && self.state() == Some(TcpState::Established) {
            self.walk.enter(TcpState::CloseWait, peer.fin_at);
        }
        self.tells_of_fin(packet, peer);
        if packet.fin() {
            self.sends_fin(packet, peer, moment);
        }
    }

    /// A FIN counts once the receiver acknowledges all data before it (RFC 9293 section 3.10.7.4).
    fn tells_of_fin(&mut self, packet: &Packet, peer: &EndpointState) {
        let by_fin = matches!(self.state(), Some(TcpState::CloseWait | TcpState::TimeWait))
            && self.walk.is_due_to(TcpFlags::FIN);
        if !by_fin || packet.ack.is_none() {
            return;
        }
        if !peer.is_fin_reached(packet) {
            self.fin_waits = true;
        } else if std::mem::take(&mut self.fin_waits) {
            self.walk.restamp(self.heard_at);
        }
    }

    fn sends_syn(&mut self, packet: &Packet, peer: &EndpointState, moment: PacketTime) {
        let behind = packet.seq.advanced_by(1 + packet.payload);
        let repeated = self.syn.is_some();
        self.syn = Some(self.syn.unwrap_or((packet.seq, behind)));
        self.syn_at = moment;
        match (self.state(), packet.ack) {
            (None, None) => {
                self.walk.enter(TcpState::SynSent, moment);
                // The peer's SYN is in flight: both endpoints receive one (RFC 9293 figure 7).
                if peer.syn.is_some() {
                    self.walk.enter(TcpState::SynReceived, peer.syn_at);
                }
            }
            // A server that answers with its own SYN has received the client's.
            (None, Some(_)) => {
                let brought = if peer.syn.is_some() { peer.syn_at } else { moment };
                self.walk.enter(TcpState::SynReceived, brought);
            }
            (Some(TcpState::SynSent), Some(_)) => {
                self.walk.enter(TcpState::SynReceived, moment);
            }
            // It answers the SYN that came alone, though an ACK had come before that.
            (Some(TcpState::Established), Some(_))
                if self.walk.is_due_to(TcpFlags::SYN) && !self.walk.is_due_to(TcpFlags::ACK) =>
            {
                self.walk.retract();
                self.walk.enter(TcpState::SynReceived, peer.syn_at);
            }
            (Some(TcpState::Established), Some(_)) if repeated => self.again = true,
            _ => {}
        }
    }

    fn sends_fin(&mut self, packet: &Packet, peer: &EndpointState, moment: PacketTime) {
        self.fin_at = moment;
        if self.fin.is_some() {
            let thought_acked = matches!(self.state(), Some(TcpState::FinWait2 | TcpState::Closed));
            self.again |= thought_acked;
            return;
        }
        self.fin = Some(packet.end());
        match self.state() {
            Some(TcpState::CloseWait) if peer.is_fin_reached(packet) => {
                self.walk.enter(TcpState::LastAck, moment);
            }
            // It sent its FIN before it received the peer's.
            Some(TcpState::CloseWait) => {
                self.walk.retract();
                self.walk.enter(TcpState::FinWait1, moment);
                self.walk.enter(TcpState::Closing, peer.fin_at);
            }
            Some(TcpState::Established | TcpState::SynReceived | TcpState::SynSent) => {
                self.walk.enter(TcpState::FinWait1, moment);
            }
            _ => {}
        }
    }

    /// Updates the state by a packet it receives.
    fn receives(&mut self, packet: &Packet, peer: &EndpointState, moment: PacketTime) {
        if self.state().is_none() {
            return;
        }
        if packet.payload > 0 || packet.fin() {
            self.heard_at = moment;
        }
        let acked = self.syn.is_some_and(|(isn, _)| packet.ack.is_some_and(|a| a.is_after(isn)));
        self.syn_acked |= acked;
        if packet.syn() && self.state() == Some(TcpState::SynSent) {
            // RFC 9293 section 3.10.7.3.
            let next = if self.syn_acked { TcpState::Established } else { TcpState::SynReceived };
            self.walk.enter(next, moment);
        } else if acked && self.state() == Some(TcpState::SynReceived) {
            self.walk.enter(TcpState::Established, moment);
        }
        if self.is_fin_reached(packet) {
            self.fin_acked = true;
            match self.state() {
                Some(TcpState::FinWait1) => self.walk.enter(TcpState::FinWait2, moment),
                Some(TcpState::Closing) => self.walk.enter(TcpState::TimeWait, moment),
                Some(TcpState::LastAck) => self.walk.enter(TcpState::Closed, moment),
                _ => {}
            }
        }
        if self.again && (self.fin.is_none() && acked || self.is_fin_reached(packet)) {
            self.again = false;
            self.walk.restamp(moment);
        }
        if packet.fin() && !packet.syn() && peer.fin == Some(packet.end()) {
            self.receives_fin(peer, moment);
        }
    }

    fn receives_fin(&mut self, peer: &EndpointState, moment: PacketTime) {
        match self.state() {
            Some(TcpState::Established | TcpState::SynReceived) => {
                self.walk.enter(TcpState::CloseWait, moment);
            }
            Some(TcpState::FinWait1) => self.walk.enter(TcpState::Closing, moment),
            Some(TcpState::FinWait2) => self.walk.enter(TcpState::TimeWait, moment),
            // A retransmitted FIN before any acknowledgement: the first was lost.
            Some(TcpState::CloseWait) if !peer.fin_acked => self.walk.restamp(moment),
            _ => {}
        }
    }
}
