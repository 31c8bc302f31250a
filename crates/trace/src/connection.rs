//! One connection: two directions and how it was opened.

use std::net::SocketAddr;

use tcplab_units::{Bytes, Instant};
use tcplab_wire::{ChecksumState, SeqNumber};

use crate::flow::{FlowState, Heard};
use crate::handshake::Opening;
use crate::history::History;
use crate::life::Lives;
use crate::packet::Packet;
use crate::{Connection, Episode, Flow, Life, Segment, Tap};

/// The state of a connection while its packets come in.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub(crate) client: SocketAddr,
    server: SocketAddr,
    first: Instant,
    last: Instant,
    frames: (u64, u64),
    packets: u64,
    reuses: Option<usize>,
    opening: Opening,
    lives: Lives,
    history: History,
    /// The number of a SYN-ACK that is not the server's first.
    pub(crate) rival: Option<SeqNumber>,
    /// Right checksums were seen of the client, of the server: a wrong one is then no offloading.
    sound: [bool; 2],
    pub(crate) last_syn: Option<Instant>,
    pub(crate) last_syn_ack: Option<Instant>,
    /// When the client acknowledged the server's SYN.
    pub(crate) opened: Option<Instant>,
    pub(crate) forward: FlowState,
    pub(crate) reverse: FlowState,
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
        let mut history = History::default();
        if from_server {
            history.flipped();
        }
        ConnectionState {
            client,
            server,
            first: packet.at,
            last: packet.at,
            frames: (packet.frame, packet.frame),
            packets: 0,
            reuses: None,
            opening: Opening::beginning_with(packet),
            lives: Lives::default(),
            history,
            rival: None,
            sound: [false; 2],
            last_syn: None,
            last_syn_ack: None,
            opened: None,
            forward: FlowState::default(),
            reverse: FlowState::default(),
        }
    }

    /// The connection at this place was between the same addresses and ports.
    #[must_use]
    pub(crate) fn reusing(mut self, earlier: Option<usize>) -> ConnectionState {
        self.reuses = earlier;
        self
    }
    /// The place of the earlier connection between the same ends.
    pub(crate) fn reuses(&self) -> Option<usize> {
        self.reuses
    }
    /// Whether both FINs are acknowledged, or an RST ended it. What comes then is late, and told in
    /// [`Life::after_close`].
    pub(crate) fn is_over(&self) -> bool {
        self.lives.is_over()
    }
    pub(crate) fn is_opened(&self) -> bool {
        self.opened.is_some()
    }
    pub(crate) fn lives(&self) -> &Lives {
        &self.lives
    }
    pub(crate) fn last(&self) -> Instant {
        self.last
    }
    pub(crate) fn flow(&self, forward: bool) -> &FlowState {
        if forward { &self.forward } else { &self.reverse }
    }

    /// Takes in the next packet between the two ends.
    pub(crate) fn packet(&mut self, packet: &Packet) -> Said {
        self.last = self.last.max(packet.at);
        self.frames.1 = packet.frame;
        self.packets += 1;
        let forward = packet.src == self.client;
        if (packet.is_control() || !self.opening.is_settled()) && !self.open(packet, forward) {
            return Said { forward, out_of_place: true, ..Said::default() };
        }
        let window = self.window(packet, forward);
        let (own, other) = if forward {
            (&mut self.forward, &mut self.reverse)
        } else {
            (&mut self.reverse, &mut self.forward)
        };
        let Ok(segment) = own.sent(packet) else {
            self.history.follow(packet, forward, 0);
            return Said { forward, out_of_place: true, ..Said::default() };
        };
        let mut heard = other.answered(packet, window);
        self.lives.follow(packet, forward);
        self.history.follow(packet, forward, heard.gaps);
        let tap = self.tap(!forward);
        heard.episodes = visible(heard.episodes, tap);
        Said { forward, segment, heard, out_of_place: false }
    }

    /// The connection without its packets, and the episodes that were still open, forward and
    /// reverse.
    pub(crate) fn finish(self) -> (Connection, Vec<Episode>, Vec<Episode>) {
        let (forward, reverse) = (self.tap(true), self.tap(false));
        let flow = |state: &FlowState, tap| {
            let mut flow = Flow { tap, totals: state.totals, ..Flow::default() };
            state.observers.finish(&mut flow);
            flow
        };
        let connection = Connection {
            first: self.first,
            last: self.last,
            frames: self.frames,
            packets: self.packets,
            handshake: self.opening.finish(),
            life: self.life(),
            reuses: self.reuses,
            forward: flow(&self.forward, forward),
            reverse: flow(&self.reverse, reverse),
            ..Connection::between(self.client, self.server)
        };
        let open = |state: &FlowState, tap| visible(state.finish(), tap);
        (connection, open(&self.forward, forward), open(&self.reverse, reverse))
    }

    /// What matters of a packet before the handshake is settled, and of SYN, FIN and RST at any
    /// time; false if the packet is nobody's.
    fn open(&mut self, packet: &Packet, forward: bool) -> bool {
        let sound = &mut self.sound[usize::from(!forward)];
        *sound |= packet.checksum == ChecksumState::Right;
        if packet.checksum == ChecksumState::Wrong {
            self.history.corrupt(forward);
            if *sound {
                return false;
            }
        }
        if self.is_stray(packet, forward) {
            self.history.follow(packet, forward, 0);
            return false;
        }
        if forward
            && let Some(rival) = self.rival
            && !self.is_opened()
        {
            self.choose(rival, packet);
        }
        self.opening.follow(packet, forward);
        if packet.syn() {
            let latest = if forward { &mut self.last_syn } else { &mut self.last_syn_ack };
            *latest = Some(packet.at);
            if self.opening.is_without_sack() {
                self.forward.refuse_sack();
                self.reverse.refuse_sack();
            }
        }
        self.opened = self.opening.seen().opened;
        if let Some((client, server)) = self.opening.scales() {
            let seen = self.opening.seen();
            self.lives.told((client, seen.client.mss), (server, seen.server.mss));
        }
        true
    }

    /// Two SYN-ACKs with different numbers came: the client's answer tells which one it took.
    fn choose(&mut self, rival: SeqNumber, packet: &Packet) {
        if packet.ack == Some(rival.advanced_by(1)) && !packet.rst() {
            self.lives.server_syn_is(rival);
            self.reverse.begin_again(rival);
            self.rival = None;
        }
    }

    fn life(&self) -> Life {
        let any_data = self.forward.totals.data + self.reverse.totals.data > Bytes::ZERO;
        let steps = |client: bool| self.lives.side(client).walk.steps().to_vec();
        Life {
            state: self.history.summary(any_data),
            history: self.history.written().to_owned(),
            close: self.lives.close(),
            client: steps(true),
            server: steps(false),
            after_close: self.lives.after_close(),
        }
    }

    /// The advertised window in bytes. It is scaled only if both ends offered to (RFC 7323 section
    /// 2.2), never on a SYN; what was not seen cannot be scaled.
    fn window(&self, packet: &Packet, forward: bool) -> Option<Bytes> {
        let (client, server) = (&self.opening.seen().client, &self.opening.seen().server);
        let (own, other) = if forward { (client, server) } else { (server, client) };
        let shift = if packet.syn() || own.lacks_scale() || other.lacks_scale() {
            0
        } else if other.window_scale.is_some() {
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
