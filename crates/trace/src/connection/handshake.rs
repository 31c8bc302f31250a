//! Follows the handshake: the SYNs, their options, the outcome.

use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::{SeqNumber, TcpFlags};

use crate::fold::folded;
use crate::packet::{Packet, SOONEST};
use crate::{EcnAgreement, Handshake, HandshakeKind, SynOptions};

/// The soonest retransmission of a SYN (RFC 6298 section 2.1: one second; some stacks are faster).
pub(super) const SOONEST_TIMER: Span = Span::from_millis(100);

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct HandshakeTracker {
    handshake: Handshake,
    client: Offer,
    server: Offer,
    /// The server sent a SYN without ACK.
    server_syn: bool,
    /// It acknowledged the client's SYN in a separate segment.
    server_acked: bool,
    server_syn_ack: bool,
    client_syn_ack: bool,
    refused: bool,
    /// The capture begins later.
    midstream: bool,
    /// The server sent data though nothing of the client was captured.
    server_went_on: bool,
}
folded! {
    HandshakeTracker {
        handshake, client, server, server_syn, server_acked, server_syn_ack, client_syn_ack,
        refused, midstream, server_went_on
    }
}

#[derive(Debug, Default)]
struct Offer {
    /// AE, CWR and ECE of the latest; and of the latest that asks for ECN, or 0.
    ecn: u16,
    ecn_asked: u16,
    multipath: bool,
    /// Its initial sequence number.
    isn: SeqNumber,
    /// The latest transmissions, oldest first.
    sent: [Option<Sending>; 4],
    /// The latest of those with most options: a client that hears nothing may leave them out.
    fullest: SynOptions,
}
folded! { Offer { ecn, ecn_asked, multipath, isn, sent, fullest } }

/// One transmission of a SYN.
#[derive(Debug, Clone, Copy)]
struct Sending {
    at: Instant,
    /// Timestamp value and echo reply.
    clocks: Option<(u32, u32)>,
    asks_ecn: bool,
    /// It has data or the option of TCP Fast Open.
    is_fast: bool,
}
folded! { Sending { at, clocks, asks_ecn, is_fast } }

impl HandshakeTracker {
    /// The handshake of a connection that begins with this packet.
    pub(crate) fn beginning_with(packet: &Packet) -> HandshakeTracker {
        HandshakeTracker {
            midstream: !packet.syn() && !packet.rst(),
            ..HandshakeTracker::default()
        }
    }
    pub(crate) fn handshake(&self) -> &Handshake {
        &self.handshake
    }
    /// Whether the capture begins after the handshake, as far as seen.
    pub(crate) fn is_midstream(&self) -> bool {
        self.midstream && !self.handshake.client.seen && !self.handshake.server.seen
    }
    /// Whether the options of both endpoints are final.
    pub(crate) fn is_settled(&self) -> bool {
        self.midstream || self.handshake.opened.is_some()
    }
    /// Whether packets without SYN, FIN and RST tell nothing more of it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_settled() && !self.is_waiting()
    }
    /// Whether the server has not taken up what the client holds for open.
    fn is_waiting(&self) -> bool {
        !self.handshake.not_accepted.is_empty() && self.handshake.accepted.is_none()
    }
    /// Both window scales once both SYNs were seen; 0 without the option (RFC 7323 section 2.2).
    pub(crate) fn scales(&self) -> Option<(u8, u8)> {
        let (client, server) = (&self.handshake.client, &self.handshake.server);
        match (client.window_scale, server.window_scale) {
            (Some(client), Some(server)) => Some((client, server)),
            _ if client.lacks_scale() || server.lacks_scale() => Some((0, 0)),
            _ => None,
        }
    }
    /// Whether an endpoint is known not to support SACK.
    pub(crate) fn is_without_sack(&self) -> bool {
        let both_seen = self.handshake.client.seen && self.handshake.server.seen;
        both_seen && self.handshake.agreed(|syn| syn.sack_permitted) == Some(false)
    }

    pub(crate) fn follow(&mut self, packet: &Packet, forward: bool) {
        if packet.rst() {
            // RFC 9293 section 3.10.7.3: an RST that does not acknowledge the SYN does not count.
            let answer = packet.ack.is_some_and(|ack| ack.is_after(self.client.isn));
            let unanswered = !self.server_syn_ack && !self.server_syn;
            self.refused |= !forward && self.handshake.client.seen && unanswered && answer;
        } else if packet.syn() {
            self.syn(packet, forward);
        } else if forward {
            self.client_answers(packet);
        } else if self.is_waiting() {
            self.handshake.accepted = Some((packet.at, packet.frame));
        } else if !self.is_settled() {
            let acks_syn =
                packet.ack == Some(self.client.isn.advanced_by(1)) && self.handshake.client.seen;
            self.server_acked |= acks_syn && !self.server_syn && !self.server_syn_ack;
            self.server_went_on |= self.server_syn_ack && !self.handshake.client.seen;
        }
    }

    /// The final handshake.
    pub(crate) fn finish(&self) -> Handshake {
        let kind = self.kind();
        Handshake {
            kind,
            midstream: self.midstream && kind == HandshakeKind::Unseen,
            multipath: self.client.multipath && self.server.multipath,
            ecn: self.ecn(),
            ..self.handshake.clone()
        }
    }

    fn syn(&mut self, packet: &Packet, forward: bool) {
        let (offer, options, repeats) = if forward {
            (&mut self.client, &mut self.handshake.client, &mut self.handshake.client_repeats)
        } else {
            (&mut self.server, &mut self.handshake.server, &mut self.handshake.server_repeats)
        };
        let answer = packet.ack.is_some();
        // In a simultaneous open the SYN-ACK is the second step, not a retransmission.
        let second_step =
            answer && if forward { !self.client_syn_ack } else { !self.server_syn_ack };
        *repeats += u64::from(options.seen && !second_step);
        // Of a server whose SYN-ACK comes behind its acknowledgement nothing else is known.
        let comes_late = !forward && answer && !options.seen;
        if self.handshake.opened.is_none() || comes_late {
            let read = SynOptions::read(packet);
            offer.note(packet, &read);
            if !options.seen || !read.cut || options.cut {
                *options = read;
            }
            self.settle_on_answered();
        }
        match (forward, answer) {
            (true, false) => self.client_syn(packet),
            (true, true) => {
                self.client_syn_ack = true;
                self.handshake.opened.get_or_insert(packet.at);
            }
            (false, false) => self.server_syn = true,
            (false, true) => self.syn_ack(packet),
        }
    }

    /// A server takes up only what the SYN that it answers offers (RFC 7323 sections 2.2 and 3.2,
    /// RFC 2018 section 2). So a SYN without that is not the one answered.
    fn settle_on_answered(&mut self) {
        let (client, server) = (&mut self.handshake.client, &self.handshake.server);
        if client.seen && !client.covers(server) && self.client.fullest.covers(server) {
            *client = self.client.fullest.clone();
        }
    }

    fn client_syn(&mut self, packet: &Packet) {
        self.handshake.syn.get_or_insert(packet.at);
        let data = Bytes::new(u64::from(packet.payload));
        if packet.fast_open.is_some() || packet.payload > 0 {
            let asked = self.handshake.fast_open.get_or_insert_default();
            asked.cookie_sent |= packet.fast_open.is_some_and(|len| len > 0);
            asked.data = asked.data.max(data);
        }
    }

    fn syn_ack(&mut self, packet: &Packet) {
        let comes_late = !self.server_syn_ack;
        self.server_syn_ack = true;
        self.refused = false;
        self.handshake.syn_ack.get_or_insert(packet.at);
        if self.is_sent_after_answer(packet) && self.handshake.accepted.is_none() {
            self.handshake.not_accepted.add(packet.at, packet.frame);
        }
        if let Some(opened) = self.handshake.opened
            && comes_late
            && packet.at.since(opened) < SOONEST
        {
            // Captured behind its acknowledgement; which SYN it answers shows if there was one.
            self.handshake.round_trip =
                self.client.only().map(|syn| opened.max(packet.at).since(syn.at));
        }
        let answered = self.answered_syn();
        if let (Some(fast_open), Some(ack)) = (&mut self.handshake.fast_open, packet.ack) {
            fast_open.cookie_given |= packet.fast_open.is_some_and(|len| len > 0);
            fast_open.accepted |= ack.is_after(self.client.isn.advanced_by(1));
            let used = fast_open.cookie_given || fast_open.accepted;
            fast_open.given_up = !used && answered.is_some_and(|syn| !syn.is_fast);
        }
    }

    /// The SYN that the first SYN-ACK answers, by its timestamps; without them, the last before it.
    fn answered_syn(&self) -> Option<Sending> {
        let syn_ack = self.server.first()?;
        let echo = syn_ack.clocks.map(|(_, echo)| echo);
        self.client.echoed(echo).or(self.client.latest_until(syn_ack.at))
    }

    /// Whether the server sent this SYN-ACK when the client's ACK had come, or should have: away
    /// from it, the way there and back later.
    fn is_sent_after_answer(&self, packet: &Packet) -> bool {
        let Handshake { syn, syn_ack, opened, .. } = &self.handshake;
        let way = syn_ack.zip(*syn).map_or(Span::ZERO, |(syn_ack, syn)| syn_ack.since(syn));
        opened.is_some_and(|opened| packet.at.since(opened) > way.max(SOONEST_TIMER))
    }

    /// The server answered from another connection (RFC 9293 section 3.10.7.4, first step).
    pub(crate) fn old_answer(&mut self, packet: &Packet) {
        self.handshake.old_answers.add(packet.at, packet.frame);
    }

    fn client_answers(&mut self, packet: &Packet) {
        if packet.ack.is_none() || self.is_settled() {
            return;
        }
        self.handshake.opened = Some(packet.at);
        if self.server_syn_ack && self.is_third(packet) {
            self.handshake.round_trip = self.round_trip(packet);
        }
    }

    /// Whether the SYN-ACK may have prompted this packet of the client: it acknowledges that and no
    /// more, and nothing but data in the SYN came before it. Later ones show no round trip.
    pub(crate) fn is_third(&self, packet: &Packet) -> bool {
        let follows = packet.seq == self.client.isn.advanced_by(1);
        let fast = self.handshake.fast_open.is_some();
        let acknowledges = packet.ack == Some(self.server.isn.advanced_by(1));
        acknowledges && (follows || fast) && !packet.fin()
    }

    /// The RTT: the half answered by the SYN-ACK plus the half answered by this packet. Timestamps
    /// show which SYN was answered (RFC 7323 section 3.2); without them the last one counts. If the
    /// SYN-ACK echoes an earlier SYN, it may itself be a retransmission: then the RTT is unknown
    /// (Karn's rule).
    fn round_trip(&self, packet: &Packet) -> Option<Span> {
        let there = self.server.first()?;
        let syn = self.client.latest_until(there.at)?;
        if let (Some((_, echo)), Some((clock, _))) = (there.clocks, syn.clocks)
            && echo != clock
        {
            return None;
        }
        let echo = packet.echo();
        let syn_ack = self.server.echoed(echo).or(self.server.latest_until(packet.at))?;
        Some(there.at.since(syn.at) + packet.at.since(syn_ack.at))
    }

    fn kind(&self) -> HandshakeKind {
        if self.server_syn && self.handshake.client.seen {
            // A simultaneous open answers SYN with SYN-ACK (RFC 9293 figure 7), a split one not.
            let split = self.server_acked || (self.client_syn_ack && !self.server_syn_ack);
            return if split { HandshakeKind::Split } else { HandshakeKind::Simultaneous };
        }
        // A SYN captured after its successors still makes a handshake.
        let late_syn = self.midstream && (self.handshake.client.seen || self.handshake.server.seen);
        if self.handshake.opened.is_some() || late_syn {
            HandshakeKind::ThreeWay
        } else if self.server_syn_ack {
            if self.server_went_on { HandshakeKind::ThreeWay } else { HandshakeKind::HalfOpen }
        } else if self.refused {
            HandshakeKind::Refused
        } else if self.handshake.client.seen {
            HandshakeKind::Unanswered
        } else {
            HandshakeKind::Unseen
        }
    }

    /// AE, CWR and ECE of both SYNs (RFC 3168 section 6.1.1; RFC 9768 section 3.1.2, table 2).
    pub(crate) fn ecn(&self) -> EcnAgreement {
        if !self.handshake.client.seen {
            return EcnAgreement::Unknown;
        }
        match (self.client.ecn_asked, self.server.ecn) {
            (0, _) => EcnAgreement::NotAsked,
            _ if !self.server_syn_ack => EcnAgreement::Unknown,
            // 101 is reserved and counts as agreement (section 3.1.3).
            (ACCURATE, 0b010..=0b110) => EcnAgreement::Accurate,
            // RFC 3540 used AE for its nonce.
            (ACCURATE, 0b001) | (CLASSIC, 0b001 | 0b101) => EcnAgreement::Classic,
            _ if self.answered_syn().is_some_and(|syn| !syn.asks_ecn) => EcnAgreement::GivenUp,
            // No answer, or bits reflected by a host that does not know them.
            _ => EcnAgreement::Refused,
        }
    }
}

impl Offer {
    fn note(&mut self, packet: &Packet, options: &SynOptions) {
        if options.count() >= self.fullest.count() {
            self.fullest = options.clone();
        }
        self.ecn = ecn_bits(packet.flags);
        let asks_ecn = matches!(self.ecn, ACCURATE | CLASSIC);
        if asks_ecn {
            self.ecn_asked = self.ecn;
        }
        self.multipath |= packet.multipath.is_some();
        self.isn = packet.seq;
        let place = self.sent.iter().position(Option::is_none).unwrap_or_else(|| {
            // Keep the first: it is usually the one answered.
            self.sent[1..].rotate_left(1);
            self.sent.len() - 1
        });
        let (at, clocks) = (packet.at, packet.timestamps);
        let is_fast = packet.fast_open.is_some() || packet.payload > 0;
        self.sent[place] = Some(Sending { at, clocks, asks_ecn, is_fast });
    }
    fn first(&self) -> Option<Sending> {
        self.sent[0]
    }
    /// The one transmission, if there was no other.
    fn only(&self) -> Option<Sending> {
        self.sent[0].filter(|_| self.sent[1].is_none())
    }
    fn latest_until(&self, at: Instant) -> Option<Sending> {
        self.sent.iter().flatten().rfind(|sending| sending.at <= at).copied()
    }
    /// The latest one with this timestamp.
    fn echoed(&self, echo: Option<u32>) -> Option<Sending> {
        let with = |sending: &&Sending| sending.clocks.map(|(clock, _)| clock) == echo;
        echo.and_then(|_| self.sent.iter().flatten().rfind(with).copied())
    }
}

impl SynOptions {
    fn read(packet: &Packet) -> SynOptions {
        SynOptions {
            seen: true,
            cut: packet.options_cut,
            mss: packet.mss,
            window_scale: packet.window_scale,
            sack_permitted: packet.sack_permitted,
            timestamps: packet.timestamps.is_some(),
            window: packet.window,
        }
    }
    /// How many options that need the other end's consent it has.
    fn count(&self) -> u8 {
        u8::from(self.window_scale.is_some())
            + u8::from(self.sack_permitted)
            + u8::from(self.timestamps)
    }
    /// Whether it has each of them that the other one has.
    fn covers(&self, other: &SynOptions) -> bool {
        self.window_scale.is_some() >= other.window_scale.is_some()
            && self.sack_permitted >= other.sack_permitted
            && self.timestamps >= other.timestamps
    }
    /// Captured whole and without window scale.
    pub(crate) fn lacks_scale(&self) -> bool {
        self.seen && !self.cut && self.window_scale.is_none()
    }
}

/// What a SYN asks for.
const ACCURATE: u16 = 0b111;
const CLASSIC: u16 = 0b011;

/// AE, CWR and ECE as three bits.
fn ecn_bits(flags: TcpFlags) -> u16 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(TcpFlags::AE, 0b100) | bit(TcpFlags::CWR, 0b010) | bit(TcpFlags::ECE, 0b001)
}
