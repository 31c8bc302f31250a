//! The state of one connection: two directions, the handshake and the close.

use std::mem::take;
use std::net::SocketAddr;

use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_wire::{ChecksumState, SeqNumber};

use super::endpoint_states::EndpointStates;
use super::handshake::{HandshakeTracker, SOONEST_TIMER};
use super::history::History;
use super::last_heard::LastHeard;
use super::multipath::MultipathEnds;
use super::one_way::OneWay;
use super::outcome::{PacketOutcome, PlainOutcome, Refusal};
use super::roles::guessed;
use super::shown::{outside, unusual, visible};
use super::silence::{AtClose, Silence};
use super::stamps::Stamps;
use super::too_big::TooBig;
use crate::direction::{ClockStep, Context, DirectionState, Distances};
use crate::fast_path;
use crate::fold::folded;
use crate::observers::Event;
use crate::packet::Packet;
use crate::{CapturePoint, Confidence, Connection, Episode, Flow, Life, Roles};

/// The state of a connection during the analysis.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub(crate) client: SocketAddr,
    server: SocketAddr,
    client_is_low: bool,
    roles: Roles,
    one_way: OneWay,
    /// Of client and server.
    last_heard: [LastHeard; 2],
    first: Instant,
    last: Instant,
    silence: Option<Silence>,
    frames: (u64, u64),
    packets: u64,
    opening: HandshakeTracker,
    /// The window scale of client and server, if known.
    shifts: [Option<u8>; 2],
    endpoint_states: EndpointStates,
    history: History,
    /// The sequence number of a second, different SYN-ACK.
    pub(crate) rival: Option<SeqNumber>,
    /// Valid checksums were seen from client and server: invalid ones are then no offloading.
    sound: [bool; 2],
    pub(crate) last_syn: Option<Instant>,
    pub(crate) last_syn_ack: Option<Instant>,
    /// Whether the SYN and the SYN-ACK were retransmitted.
    blurred: [bool; 2],
    /// When the client acknowledged the server's SYN.
    pub(crate) opened: Option<Instant>,
    pub(crate) forward: DirectionState,
    pub(crate) reverse: DirectionState,
    pub(crate) distances: Distances,
    /// An earlier connection of the same ports was open when it began.
    pub(crate) reuses_open: bool,
    /// The analyser tracks it as closed.
    pub(crate) lingers: bool,
    multipath: MultipathEnds,
    stamps: Stamps,
}
folded! {
    ConnectionState {
        client, server, client_is_low, roles, one_way, last_heard, first, last, silence, frames,
        packets, opening, shifts, endpoint_states, history, rival, sound, last_syn, last_syn_ack,
        blurred, opened, forward, reverse, distances, reuses_open, lingers, multipath, stamps
    }
}

/// Where a packet of the handshake belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    /// To an older connection of the same ports, from which the server answers
    /// ([`Handshake::old_answers`](crate::Handshake::old_answers)).
    Before,
    Elsewhere,
    /// To none: it was damaged or forged.
    Nowhere,
}

impl ConnectionState {
    /// A connection whose first packet is this, which it does not follow yet.
    pub(crate) fn beginning_with(packet: &Packet) -> Box<ConnectionState> {
        Box::new(ConnectionState::new(packet))
    }

    #[inline(never)]
    fn new(packet: &Packet) -> ConnectionState {
        let (from_client, roles) = match (packet.syn(), packet.ack) {
            (true, ack) => (ack.is_none(), Roles::BySyn),
            (false, _) => guessed(packet.src(), packet.dst()),
        };
        let from_server = !from_client;
        let (client, server) =
            if from_server { (packet.dst(), packet.src()) } else { (packet.src(), packet.dst()) };
        let mut history = History::default();
        if from_server {
            history.flipped();
        }
        ConnectionState {
            client,
            server,
            client_is_low: packet.from_low != from_server,
            roles,
            one_way: OneWay::default(),
            last_heard: <[LastHeard; 2]>::default(),
            first: packet.at,
            last: packet.at,
            silence: None,
            frames: (packet.frame, packet.frame),
            packets: 0,
            opening: HandshakeTracker::beginning_with(packet),
            shifts: [None; 2],
            endpoint_states: EndpointStates::default(),
            history,
            rival: None,
            sound: [false; 2],
            last_syn: None,
            last_syn_ack: None,
            blurred: [false; 2],
            opened: None,
            reuses_open: false,
            lingers: false,
            multipath: MultipathEnds::default(),
            stamps: Stamps::default(),
            forward: DirectionState::default(),
            reverse: DirectionState::default(),
            distances: Distances::default(),
        }
    }

    /// Whether both FINs are acknowledged, or an RST arrived ([`Life::after_close`]).
    pub(crate) fn is_over(&self) -> bool {
        self.endpoint_states.is_over()
    }
    pub(crate) fn is_opened(&self) -> bool {
        self.opened.is_some()
    }
    pub(crate) fn endpoint_states(&self) -> &EndpointStates {
        &self.endpoint_states
    }
    pub(crate) fn last(&self) -> Instant {
        self.last
    }
    pub(crate) fn first_frame(&self) -> u64 {
        self.frames.0
    }
    pub(crate) fn last_frame(&self) -> u64 {
        self.frames.1
    }
    /// The initial sequence numbers of client and server, if known.
    pub(crate) fn initial(&self) -> [Option<SeqNumber>; 2] {
        [self.forward.initial(), self.reverse.initial()]
    }
    pub(crate) fn flow(&self, forward: bool) -> &DirectionState {
        if forward { &self.forward } else { &self.reverse }
    }

    /// ICMP reported a segment as too big for the path.
    pub(crate) fn on_too_big(&mut self, report: &TooBig) {
        let TooBig { from_low, moment, ref quoted, mtu, .. } = *report;
        let is_forward = from_low == self.client_is_low;
        let flow = if is_forward { &mut self.forward } else { &mut self.reverse };
        flow.on_too_big(moment, quoted, mtu);
    }

    #[inline]
    pub(crate) fn is_forward(&self, packet: &Packet) -> bool {
        packet.from_low == self.client_is_low
    }

    /// How far the capture clock was set ahead before this packet, or how much time passed while
    /// it was set back: by the sender's timestamps, and by the least round trip.
    pub(crate) fn clock_error(&self, packet: &Packet, step: ClockStep) -> Option<Span> {
        let forward = self.is_forward(packet);
        let clock = self.distances.clock(forward);
        match step {
            ClockStep::Ahead => clock.set_ahead(packet),
            ClockStep::Back => clock.missed(packet).max(self.flow(!forward).missed(packet)),
        }
    }

    /// Fast path of [`ConnectionState::packet`]; none, and no effect, for others.
    #[inline(never)]
    pub(crate) fn packet_in_passing(&mut self, packet: &Packet) -> Option<PlainOutcome> {
        let calm = self.opening.is_over() && self.endpoint_states.is_calm();
        if !(packet.plain && calm && fast_path::is_enabled()) {
            return None;
        }
        let forward = self.is_forward(packet);
        if self.stamps.are_missing(packet, forward, self.opening.handshake()) {
            return None;
        }
        let window = self.window(packet, forward);
        let (own, other) = if forward {
            (&mut self.forward, &mut self.reverse)
        } else {
            (&mut self.reverse, &mut self.forward)
        };
        let ack = other.plain_ack(packet, window)?;
        if !own.goes_on(packet) {
            return None;
        }
        let silent = packet.at.since(self.last);
        if silent >= Silence::LEAST {
            self.silence = Silence::ended(silent, forward, own, other).or(self.silence);
        }
        self.last = self.last.max(packet.at);
        self.frames = (self.frames.0.min(packet.frame), self.frames.1.max(packet.frame));
        self.packets += 1;
        self.one_way.follow(packet, forward);
        self.last_heard[usize::from(!forward)].follow(packet, other.totals.retransmissions);
        self.last_heard[usize::from(forward)].is_asked(packet, own.is_idle());
        let is_nearer = self.distances.packet(packet, forward);
        own.observers.learn(&other.observers);
        let segment = own.go_on(packet);
        let ack = other.on_plain_ack(ack, packet, window);
        self.endpoint_states.go_on(packet, forward);
        self.history.follow(packet, forward, 0);
        self.locate_after(packet, forward, is_nearer);
        Some(PlainOutcome { forward, segment, ack })
    }

    pub(crate) fn packet(&mut self, packet: &Packet) -> PacketOutcome {
        let forward = self.is_forward(packet);
        let silent = packet.at.since(self.last);
        if silent >= Silence::LEAST {
            let ended = Silence::ended(silent, forward, self.flow(forward), self.flow(!forward));
            self.silence = ended.or(self.silence);
        }
        self.last = self.last.max(packet.at);
        self.frames = (self.frames.0.min(packet.frame), self.frames.1.max(packet.frame));
        self.packets += 1;
        self.one_way.follow(packet, forward);
        let retransmissions = self.flow(!forward).totals.retransmissions;
        self.last_heard[usize::from(!forward)].follow(packet, retransmissions);
        self.last_heard[usize::from(forward)].is_asked(packet, self.flow(forward).is_idle());
        if packet.is_control() || !self.opening.is_over() {
            let place = self.open(packet, forward);
            if place != Place::Here {
                let refused = match place {
                    Place::Here | Place::Before => None,
                    Place::Elsewhere => Some(Refusal::OutOfPlace),
                    Place::Nowhere => Some(Refusal::Damaged),
                };
                let unusual = outside(packet);
                return PacketOutcome { forward, unusual, refused, ..PacketOutcome::default() };
            }
        }
        if self.is_anothers(packet, forward) {
            return self.refuse(packet, forward, Refusal::Unstamped);
        }
        let window = self.window(packet, forward);
        let is_nearer = self.distances.packet(packet, forward);
        let (own, other) = if forward {
            (&mut self.forward, &mut self.reverse)
        } else {
            (&mut self.reverse, &mut self.forward)
        };
        let context = Context { distances: &self.distances, forward };
        own.observers.learn(&other.observers);
        if packet.rst() {
            own.observers.on_reset(packet.at);
            other.observers.on_reset(packet.at);
        }
        let high = own.high();
        let Ok(passed) = own.sent(packet, context) else {
            return self.refuse(packet, forward, Refusal::OutOfPlace);
        };
        let mut heard = other.answered(packet, window, &passed);
        let is_bare_reset = packet.wanted && packet.rst() && packet.ack.is_none();
        let reset = is_bare_reset.then(|| Box::new(own.bare_reset(packet)));
        let shown = (passed.segment.is_some(), heard.ack.is_some(), reset.is_some());
        let unusual = unusual(packet, own, shown);
        let before = packet.wanted.then(|| self.endpoint_states.states());
        let is_new = self.flow(forward).high() > high;
        let found = if packet.is_control() { self.at_close(forward) } else { AtClose::default() };
        self.endpoint_states.follow(packet, forward, is_new, found);
        let states = before.and_then(|before| {
            let now = self.endpoint_states.states();
            (now != before).then_some(now)
        });
        self.history.follow(packet, forward, heard.gaps);
        if !heard.episodes.is_empty() {
            heard.episodes = visible(heard.episodes, self.tap(!forward).0);
        }
        self.locate_after(packet, forward, is_nearer);
        let gave_up = take(&mut self.forward.gave_up) | take(&mut self.reverse.gave_up);
        let segment = passed.segment;
        let outcome = PacketOutcome { forward, segment, heard, ..PacketOutcome::default() };
        PacketOutcome { reset, unusual, states, gave_up, ..outcome }
    }

    /// A packet that is not analysed.
    #[cold]
    fn refuse(&mut self, packet: &Packet, forward: bool, refusal: Refusal) -> PacketOutcome {
        self.history.follow(packet, forward, 0);
        let (refused, unusual) = (Some(refusal), outside(packet));
        PacketOutcome { forward, unusual, refused, ..PacketOutcome::default() }
    }

    /// Whether another program sent the packet, by the timestamps that it lacks. Of others, what
    /// their options end is noted.
    fn is_anothers(&mut self, packet: &Packet, forward: bool) -> bool {
        let (own, other) =
            if forward { (&self.forward, &self.reverse) } else { (&self.reverse, &self.forward) };
        let is_anothers = self.stamps.refuse(packet, forward, self.opening.handshake(), own);
        if !is_anothers {
            self.stamps.hear(packet, forward, other);
            self.multipath.follow(packet, forward);
        }
        is_anothers
    }

    /// What a FIN or an RST finds that was taken in.
    fn at_close(&self, forward: bool) -> AtClose {
        let (own, other) = (self.flow(forward), self.flow(!forward));
        let acked = other.acked();
        let idle = self.silence.and_then(|silence| silence.before_close(forward, own, other));
        AtClose { idle, acked, crossed: other.high() > acked }
    }

    /// Another connection of the same ports begins with this SYN while this one is open.
    pub(crate) fn is_reopened_by(&mut self, syn: &Packet) {
        let by = if self.is_forward(syn) { Endpoint::Client } else { Endpoint::Server };
        self.endpoint_states.is_reopened(by, syn);
    }
    /// A packet is of the open connection that had the same ports before: an ACK of the server that
    /// says nothing new there answers the SYN.
    pub(crate) fn earlier_goes_on(&mut self, packet: &Packet, earlier: &ConnectionState) {
        let data = earlier.flow(!earlier.is_forward(packet));
        let is_answer = packet.is_bare() && !self.is_forward(packet);
        if is_answer && packet.ack.is_some_and(|ack| data.is_old_ack(ack)) {
            self.opening.old_answer(packet);
        }
    }

    /// The new events of one direction's observers.
    pub(crate) fn found(&mut self, forward: bool) -> &mut Vec<Event> {
        let one_way = self.one_way.end().is_some();
        let flow = if forward { &mut self.forward } else { &mut self.reverse };
        if one_way {
            flow.observers.events.clear();
        }
        &mut flow.observers.events
    }

    /// The connection without packets, and the open episodes, forward and reverse.
    pub(crate) fn finish(&mut self) -> (Box<Connection>, Vec<Episode>, Vec<Episode>) {
        let (forward, reverse) = (self.tap(true), self.tap(false));
        // Filled in place: the struct is large, and most connections are short.
        let mut connection = Box::new(Connection::between(self.client, self.server));
        connection.first = self.first;
        connection.last = self.last;
        connection.frames = self.frames;
        connection.packets = self.packets;
        connection.reuses_open = self.reuses_open;
        connection.handshake = self.opening.finish();
        connection.one_way = self.one_way.end();
        let has_syn = connection.handshake.client.seen || connection.handshake.server.seen;
        connection.roles = if has_syn { Roles::BySyn } else { self.roles };
        let least = [connection.handshake.round_trip, self.distances.round_trip()];
        connection.round_trip = least.into_iter().flatten().min();
        connection.life = self.life();
        let path_rtt = connection.handshake.round_trip.or(self.distances.round_trip());
        let fill = |state: &mut DirectionState, flow: &mut Flow, (tap, tap_confidence)| {
            (flow.capture_point, flow.capture_point_confidence) = (tap, tap_confidence);
            state.finish_into(flow, path_rtt);
        };
        fill(&mut self.forward, &mut connection.forward, forward);
        fill(&mut self.reverse, &mut connection.reverse, reverse);
        let [client, server] = &self.last_heard;
        connection.forward.unanswered = server.unanswered(self.forward.totals.retransmissions);
        connection.reverse.unanswered = client.unanswered(self.reverse.totals.retransmissions);
        if connection.one_way.is_some() {
            connection.forward.forget_answers();
            connection.reverse.forget_answers();
            return (connection, Vec::new(), Vec::new());
        }
        if connection.handshake.multipath {
            connection.doubt_limits();
        }
        if connection.first == connection.last {
            connection.forget_times();
        }
        let open = |state: &DirectionState, (tap, _)| visible(state.finish(), tap);
        (connection, open(&self.forward, forward), open(&self.reverse, reverse))
    }

    /// Handles packets of the handshake, and SYN, FIN, RST at any time.
    fn open(&mut self, packet: &Packet, forward: bool) -> Place {
        self.forward.is_unsettled();
        self.reverse.is_unsettled();
        let sound = &mut self.sound[usize::from(!forward)];
        *sound |= packet.checksum == ChecksumState::Right;
        if packet.checksum == ChecksumState::Wrong {
            self.history.corrupt(forward);
            if *sound {
                return Place::Nowhere;
            }
        }
        if self.is_stray(packet, forward) {
            self.history.follow(packet, forward, 0);
            if forward || packet.syn() || packet.rst() {
                return Place::Elsewhere;
            }
            self.opening.old_answer(packet);
            return Place::Before;
        }
        if forward
            && let Some(rival) = self.rival
            && !self.is_opened()
        {
            self.choose(rival, packet);
        }
        if packet.syn() && self.flow(forward).is_copy(packet, &self.distances) {
            // It was sent once: a copy tells nothing new, and not when it was sent.
            return Place::Here;
        }
        self.opening.follow(packet, forward);
        self.shifts = self.opening.scales().unzip().into();
        if packet.syn() {
            let latest = if forward { &mut self.last_syn } else { &mut self.last_syn_ack };
            // A retransmission, not a copy: unknown which one was answered (Karn's rule).
            let again = latest.is_some_and(|before| packet.at.since(before) > SOONEST_TIMER);
            self.blurred[usize::from(!forward)] |= again;
            *latest = Some(packet.at);
            if self.opening.is_without_sack() {
                self.forward.refuse_sack();
                self.reverse.refuse_sack();
            }
            self.agree_on_segments();
            let agreed = self.opening.ecn();
            self.forward.feedback.agree(agreed);
            self.reverse.feedback.agree(agreed);
        }
        let first = self.opened.is_none();
        self.opened = self.opening.handshake().opened;
        if first
            && let (Some(syn), Some(syn_ack), Some(opened)) =
                (self.last_syn, self.last_syn_ack, self.opened)
        {
            let [syn_again, syn_ack_again] = self.blurred;
            let to_server = (!syn_again && !syn_ack_again).then(|| syn_ack.since(syn));
            let is_third = packet.syn() || self.opening.is_third(packet);
            let to_client = (!syn_ack_again && is_third).then(|| opened.since(syn_ack));
            self.distances.handshake(to_server, to_client);
            // With data, the application may have delayed it.
            if packet.is_bare() {
                self.is_opened_after(true, opened.since(syn_ack));
            }
            self.is_opened_after(false, syn_ack.since(syn));
        }
        if let Some((client, server)) = self.opening.scales() {
            let handshake = self.opening.handshake();
            self.endpoint_states
                .set_scales((client, handshake.client.mss), (server, handshake.server.mss));
        }
        Place::Here
    }

    /// Without a handshake, timestamps show how far the sender of a packet is.
    #[cold]
    fn locate(&mut self, forward: bool) {
        let reaction = self.distances.to_sender(forward);
        if let Some(reaction) = reaction.filter(|_| self.opening.is_midstream()) {
            self.is_opened_after(forward, reaction);
        }
    }

    /// After a packet whose timestamps may show its sender nearer; without any, the times in which
    /// data are acknowledged may show both ends.
    #[inline]
    fn locate_after(&mut self, packet: &Packet, forward: bool, is_nearer: bool) {
        if is_nearer {
            self.locate(forward);
        }
        if packet.timestamps.is_some() || !self.opening.is_midstream() {
            return;
        }
        let ends = [self.reverse.least_round_trip(), self.forward.least_round_trip()];
        if self.distances.acknowledged(packet, forward, ends) {
            self.locate(true);
            self.locate(false);
        }
    }

    /// The sender of a direction reacts after this time.
    fn is_opened_after(&mut self, forward: bool, reaction: Span) {
        let is_away = self.distances.is_away(forward, reaction);
        let flow = if forward { &mut self.forward } else { &mut self.reverse };
        flow.opened(reaction, is_away);
    }

    /// Two different SYN-ACKs arrived: the client's answer selects one.
    fn choose(&mut self, rival: SeqNumber, packet: &Packet) {
        if packet.ack == Some(rival.advanced_by(1)) && !packet.rst() {
            self.endpoint_states.server_syn_is(rival);
            self.reverse.begin_again(rival);
            self.rival = None;
        }
    }

    /// Where the capture point stood, seen from the sender of one direction, and how sure that is.
    pub(crate) fn tap(&self, forward: bool) -> (CapturePoint, Confidence) {
        let flow = if forward { &self.forward } else { &self.reverse };
        let counts = flow.classifier.counts;
        let holes = counts.not_captured > 0 || counts.out_of_order > 0;
        let behind = counts.captured > 0;
        match self.distances.place(forward) {
            // At the sender neither is possible; but the distances may be wrong.
            (CapturePoint::Sender, _) if holes => (CapturePoint::Sender, Confidence::Low),
            (CapturePoint::Unknown, _) if holes && behind => {
                (CapturePoint::Middle, Confidence::Low)
            }
            (CapturePoint::Unknown, _) if holes => (CapturePoint::Receiver, Confidence::Low),
            (CapturePoint::Unknown, _) if behind => (CapturePoint::Sender, Confidence::Low),
            known => known,
        }
    }

    fn life(&self) -> Life {
        let any_data = self.forward.totals.data + self.reverse.totals.data > Bytes::ZERO;
        let steps = |client: bool| self.endpoint_states.side(client).walk.steps();
        Life {
            state: self.history.summary(any_data),
            history: self.history.written().to_owned(),
            close: self.endpoint_states.close(),
            client: steps(true),
            server: steps(false),
            after_close: self.endpoint_states.after_close(),
            forged_reset: self.endpoint_states.forged_reset(),
            fast_close: self.multipath.fast_close,
            address_removed: self.multipath.address_removed,
        }
    }

    /// The data of a full segment: the smaller MSS less timestamps (RFC 6691 section 2).
    fn agree_on_segments(&mut self) {
        const TIMESTAMPS: u16 = 12;
        let (client, server) = (&self.opening.handshake().client, &self.opening.handshake().server);
        let (Some(one), Some(other)) = (client.mss, server.mss) else { return };
        let stamped = client.timestamps && server.timestamps;
        let full = one.min(other).saturating_sub(if stamped { TIMESTAMPS } else { 0 });
        self.forward.full_segment = full;
        self.reverse.full_segment = full;
    }

    /// The advertised window, bytes; unscaled on a SYN (RFC 7323 section 2.2); none if unknown.
    #[inline]
    fn window(&self, packet: &Packet, forward: bool) -> Option<Bytes> {
        let shift = if packet.syn() { 0 } else { self.shifts[usize::from(!forward)]? };
        Some(Bytes::new(u64::from(packet.window) << shift))
    }
}
