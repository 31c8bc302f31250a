//! One connection: two directions and how it was opened.

use std::net::SocketAddr;

use tcplab_units::{Bytes, Instant};

use crate::flow::{FlowState, Heard};
use crate::observe::Event;
use crate::packet::Packet;
use crate::{Connection, Episode, Flow, Handshake, Segment, SynOptions, Tap};

/// How much longer one half of the handshake must take than the other to tell where the tap stood.
const NEARER: u64 = 4;

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
    last_syn: Option<Instant>,
    last_syn_ack: Option<Instant>,
    /// When the client acknowledged the server's SYN.
    opened: Option<Instant>,
    forward: FlowState,
    reverse: FlowState,
}

/// What a packet said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// It travelled from client to server: its data belong to the forward direction, its
    /// acknowledgement and the episodes it closed to the reverse one.
    pub(crate) forward: bool,
    pub(crate) segment: Option<Segment>,
    pub(crate) heard: Heard,
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
        let (own, other) = if forward {
            (&mut self.forward, &mut self.reverse)
        } else {
            (&mut self.reverse, &mut self.forward)
        };
        match own.sent(packet) {
            Ok(segment) => {
                let mut heard = other.answered(packet, window);
                let tap = self.tap(!forward);
                heard.episodes = visible(heard.episodes, tap);
                Said { forward, segment, heard, out_of_place: false }
            }
            Err(_) => Said { forward, out_of_place: true, ..Said::default() },
        }
    }

    /// What the observers of one direction found since the last time.
    pub(crate) fn found(&mut self, forward: bool) -> &mut Vec<Event> {
        let flow = if forward { &mut self.forward } else { &mut self.reverse };
        &mut flow.observers.events
    }

    /// The connection without its packets, and the episodes that were still open, forward and
    /// reverse. What the observers found last is left with them.
    pub(crate) fn finish(&mut self) -> (Connection, Vec<Episode>, Vec<Episode>) {
        let (forward, reverse) = (self.tap(true), self.tap(false));
        let flow = |state: &mut FlowState, tap| {
            let mut flow = Flow { tap, totals: state.totals, ..Flow::default() };
            state.observers.finish(&mut flow);
            flow
        };
        let connection = Connection {
            first: self.first,
            last: self.last,
            frames: self.frames,
            packets: self.packets,
            handshake: self.handshake.clone(),
            forward: flow(&mut self.forward, forward),
            reverse: flow(&mut self.reverse, reverse),
            ..Connection::between(self.client, self.server)
        };
        let open = |state: &FlowState, tap| visible(state.finish(), tap);
        (connection, open(&self.forward, forward), open(&self.reverse, reverse))
    }

    /// Where the tap stood, seen from the sender of one direction. The half of the handshake that
    /// crosses the network takes longer than the one that is answered on the spot.
    fn tap(&self, forward: bool) -> Tap {
        let halves = (self.last_syn, self.last_syn_ack, self.opened);
        let at_client = match halves {
            (Some(syn), Some(syn_ack), Some(opened)) => {
                let (beyond, before) = (syn_ack.since(syn), opened.since(syn_ack));
                if beyond > before * NEARER {
                    Some(true)
                } else if before > beyond * NEARER {
                    Some(false)
                } else {
                    None
                }
            }
            _ => None,
        };
        let handshake = match at_client {
            Some(at_client) if at_client == forward => Tap::Sender,
            Some(_) => Tap::Receiver,
            None => Tap::Unknown,
        };
        let flow = if forward { &self.forward } else { &self.reverse };
        flow.tap(handshake)
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
        } else if forward && packet.ack.is_some() && self.last_syn_ack.is_some() {
            let first = self.opened.is_none();
            let opened = *self.opened.get_or_insert(packet.at);
            self.handshake.round_trip = self.last_syn.map(|syn| opened.since(syn));
            // With data the application may have taken its time.
            if first
                && packet.is_bare()
                && let (Some(syn), Some(syn_ack)) = (self.last_syn, self.last_syn_ack)
            {
                self.forward.observers.opened(opened.since(syn_ack));
                self.reverse.observers.opened(syn_ack.since(syn));
            }
        }
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
