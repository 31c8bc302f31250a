//! One connection: two directions and how it was opened.

use std::net::SocketAddr;

use tcplab_units::{Bytes, Instant};

use crate::below::Scene;
use crate::flow::{FlowState, Heard};
use crate::packet::Packet;
use crate::tap::Distances;
use crate::{Connection, Episode, Flow, Handshake, Segment, SynOptions, Tap};

/// The state of a connection while its packets come in.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    client: SocketAddr,
    server: SocketAddr,
    first: Instant,
    last: Instant,
    frames: (u64, u64),
    packets: u64,
    handshake: Handshake,
    pub(crate) last_syn: Option<Instant>,
    pub(crate) last_syn_ack: Option<Instant>,
    /// When the client acknowledged the server's SYN.
    pub(crate) opened: Option<Instant>,
    pub(crate) forward: FlowState,
    pub(crate) reverse: FlowState,
    pub(crate) distances: Distances,
}

/// What a packet said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// It travelled from client to server: its data belong to the forward direction, its
    /// acknowledgement and the episodes it closed to the reverse one.
    pub(crate) forward: bool,
    pub(crate) segment: Option<Segment>,
    pub(crate) heard: Heard,
    /// It was there before.
    pub(crate) copy: bool,
    /// Its sequence number cannot belong to the connection.
    pub(crate) out_of_place: bool,
}

impl ConnectionState {
    /// A connection of which `packet` is the first seen.
    pub(crate) fn new(packet: &Packet) -> ConnectionState {
        let from_server = packet.syn() && packet.ack.is_some();
        let (client, server) =
            if from_server { (packet.dst, packet.src) } else { (packet.src, packet.dst) };
        ConnectionState {
            client,
            server,
            first: packet.at,
            last: packet.at,
            frames: (packet.frame, packet.frame),
            packets: 0,
            handshake: Handshake::default(),
            last_syn: None,
            last_syn_ack: None,
            opened: None,
            forward: FlowState::default(),
            reverse: FlowState::default(),
            distances: Distances::default(),
        }
    }

    /// Whether the packet opens another connection between the same ends: a SYN with a number
    /// other than the one this connection began with.
    pub(crate) fn is_succeeded_by(&self, packet: &Packet) -> bool {
        let flow = if packet.src == self.client { &self.forward } else { &self.reverse };
        packet.syn()
            && packet.ack.is_none()
            && flow.initial().is_some_and(|initial| initial != packet.seq)
    }

    /// Takes in the next packet between the two ends.
    pub(crate) fn packet(&mut self, packet: &Packet) -> Said {
        self.last = self.last.max(packet.at);
        self.frames.1 = packet.frame;
        self.packets += 1;
        let forward = packet.src == self.client;
        self.follow_handshake(packet, forward);
        let window = self.window(packet, forward);
        self.distances.packet(packet, forward);
        let (own, other) = if forward {
            (&mut self.forward, &mut self.reverse)
        } else {
            (&mut self.reverse, &mut self.forward)
        };
        let owes = other.is_outstanding();
        let scene = Scene { distances: &self.distances, forward, owes };
        match own.sent(packet, scene) {
            Ok(passed) => {
                let mut heard = other.answered(packet, window, passed.copy);
                if !heard.episodes.is_empty() {
                    heard.episodes = visible(heard.episodes, self.tap(!forward).0);
                }
                let (segment, copy) = (passed.segment, passed.copy);
                Said { forward, segment, heard, copy, out_of_place: false }
            }
            Err(_) => Said { forward, out_of_place: true, ..Said::default() },
        }
    }

    /// The connection without its packets, and the episodes that were still open, forward and
    /// reverse.
    pub(crate) fn finish(self) -> (Connection, Vec<Episode>, Vec<Episode>) {
        let (forward, reverse) = (self.tap(true), self.tap(false));
        let flow = |state: &FlowState, (tap, tap_confidence)| {
            let mut flow = Flow { tap, tap_confidence, ..Flow::default() };
            state.finish_into(&mut flow);
            flow
        };
        let connection = Connection {
            first: self.first,
            last: self.last,
            frames: self.frames,
            packets: self.packets,
            handshake: self.handshake.clone(),
            forward: flow(&self.forward, forward),
            reverse: flow(&self.reverse, reverse),
            ..Connection::between(self.client, self.server)
        };
        let open = |state: &FlowState, (tap, _)| visible(state.finish(), tap);
        (connection, open(&self.forward, forward), open(&self.reverse, reverse))
    }

    fn follow_handshake(&mut self, packet: &Packet, forward: bool) {
        if packet.syn() {
            let options = SynOptions {
                seen: true,
                cut: packet.options_cut,
                mss: packet.mss,
                window_scale: packet.window_scale,
                sack_permitted: packet.sack_permitted,
                timestamps: packet.timestamps.is_some(),
                window: packet.window,
            };
            if forward {
                self.handshake.syn.get_or_insert(packet.at);
                self.last_syn = Some(packet.at);
                self.handshake.client = options;
            } else {
                self.handshake.syn_ack.get_or_insert(packet.at);
                self.last_syn_ack = Some(packet.at);
                self.handshake.server = options;
            }
            let (client, server) = (&self.handshake.client, &self.handshake.server);
            if client.seen && server.seen && !(client.sack_permitted && server.sack_permitted) {
                self.forward.refuse_sack();
                self.reverse.refuse_sack();
            }
            self.agree_on_segments();
        } else if forward && packet.ack.is_some() && self.last_syn_ack.is_some() {
            if self.opened.is_none()
                && let (Some(syn), Some(syn_ack)) = (self.last_syn, self.last_syn_ack)
            {
                self.distances.handshake(syn_ack.since(syn), packet.at.since(syn_ack));
            }
            let opened = *self.opened.get_or_insert(packet.at);
            self.handshake.round_trip = self.last_syn.map(|syn| opened.since(syn));
        }
    }

    /// How much data a full segment carries: the smaller of what both ends take, less the
    /// timestamps in each (RFC 6691 section 2).
    fn agree_on_segments(&mut self) {
        const TIMESTAMPS: u16 = 12;
        let (client, server) = (&self.handshake.client, &self.handshake.server);
        let (Some(one), Some(other)) = (client.mss, server.mss) else { return };
        let stamped = client.timestamps && server.timestamps;
        let full = one.min(other).saturating_sub(if stamped { TIMESTAMPS } else { 0 });
        self.forward.full_segment = full;
        self.reverse.full_segment = full;
    }

    /// The advertised window in bytes. It is scaled only if both ends offered to (RFC 7323 section
    /// 2.2), never on a SYN; what was not seen cannot be scaled.
    fn window(&self, packet: &Packet, forward: bool) -> Option<Bytes> {
        let (client, server) = (&self.handshake.client, &self.handshake.server);
        let (own, other) = if forward { (client, server) } else { (server, client) };
        let refused = |end: &SynOptions| end.seen && end.window_scale.is_none();
        let shift = if packet.syn() || refused(own) || refused(other) {
            0
        } else if own.seen && other.seen {
            own.window_scale?
        } else {
            return None;
        };
        Some(Bytes::new(u64::from(packet.window) << shift))
    }
}

/// At the receiver's tap the lost packets were never seen, so there is nothing to say of them.
fn visible(episodes: Vec<Episode>, tap: Tap) -> Vec<Episode> {
    if tap == Tap::Receiver { Vec::new() } else { episodes }
}
