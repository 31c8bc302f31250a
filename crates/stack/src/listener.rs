//! A listening socket: it answers SYNs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tcplab_units::Instant;
use tcplab_wire::{SeqNumber, TcpFlags};

use crate::config::Config;
use crate::connection::{Connection, ConnectionError, Opening, SocketOptions, Transmit};
use crate::fast_open::FastAnswer;
use crate::reset::reset_for;
use crate::state::State;
use crate::{Segment, SendCause, SocketOption};

/// A socket in LISTEN, with the connections not accepted yet. `Peer` is how the world distinguishes
/// senders.
///
/// It is driven as a [`Connection`] is: segments of peers that have no connection of their own go
/// to [`Listener::handle_segment`], then everything that [`Listener::poll_transmit`] gives is sent.
/// A connection that [`Listener::accept`] gave belongs to the world.
#[derive(Debug)]
pub struct Listener<Peer> {
    config: Arc<Config>,
    options: SocketOptions,
    backlog: usize,
    connections: BTreeMap<Peer, Connection>,
    /// Those whose handshake is over, in the order in which it was.
    ready: VecDeque<Peer>,
    outbox: VecDeque<(Peer, Transmit)>,
}

impl<Peer: Ord + Clone> Listener<Peer> {
    /// Listens. `backlog` connections may wait to be accepted, and one more, as in Linux; as many
    /// may be in their handshake.
    pub fn new(config: &Arc<Config>, backlog: u32) -> Listener<Peer> {
        Listener {
            options: SocketOptions::of(config),
            backlog: backlog as usize,
            connections: BTreeMap::new(),
            ready: VecDeque::new(),
            outbox: VecDeque::new(),
            config: Arc::clone(config),
        }
    }

    /// Sets an option that connections inherit.
    pub fn set_option(&mut self, option: SocketOption) {
        self.options.set(option);
    }

    /// The options that connections inherit.
    pub fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// A segment arrives from a peer that has no connection but perhaps one here. A SYN that opens
    /// a connection gets this `answer`, and `opening` is asked for. A connection that takes data
    /// with the SYN may be accepted at once.
    pub fn handle_segment(
        &mut self,
        now: Instant,
        peer: &Peer,
        segment: &Segment,
        opening: impl FnOnce() -> Opening,
        answer: FastAnswer,
    ) {
        let flags = segment.header.flags;
        let Some(connection) = self.connections.get_mut(peer) else {
            self.open(now, peer, segment, opening, answer);
            return;
        };
        let waits = connection.state() == State::SynReceived;
        // The last segment of a handshake is ignored while too many wait (`sk_acceptq_is_full` in
        // `tcp_v4_syn_recv_sock`): the SYN-ACK will be retransmitted.
        let ends = flags.without(TcpFlags::SYN | TcpFlags::RST) == flags;
        if waits && ends && self.ready.len() > self.backlog {
            return;
        }
        connection.handle_segment(now, segment);
        let over = matches!(connection.state(), State::SynReceived | State::Closed);
        if waits && !over {
            self.ready.push_back(peer.clone());
        }
        self.collect(now, peer);
    }

    fn open(
        &mut self,
        now: Instant,
        peer: &Peer,
        segment: &Segment,
        opening: impl FnOnce() -> Opening,
        answer: FastAnswer,
    ) {
        let flags = segment.header.flags;
        // FreeBSD's `tcp_input`: a SYN with ACK is ignored; `drop_synfin`.
        let drops = self.config.freebsd.as_ref().is_some_and(|rules| rules.drop_synfin);
        let ignores =
            self.config.freebsd.is_some() && flags.contains(TcpFlags::SYN | TcpFlags::ACK);
        if ignores || drops && flags.contains(TcpFlags::SYN | TcpFlags::FIN) {
            return;
        }
        // RFC 9293 section 3.10.7.2.
        if flags.contains(TcpFlags::ACK) {
            if let Some(reset) = reset_for(segment) {
                let reset = Transmit::single(reset, SendCause::ResetAnswer);
                self.outbox.push_back((peer.clone(), reset));
            }
            return;
        }
        let embryonic = self.connections.len() - self.ready.len();
        let full = self.ready.len() > self.backlog || embryonic > self.backlog;
        if !flags.contains(TcpFlags::SYN) || full {
            return;
        }
        let (config, options) = (&self.config, &self.options);
        let accepted = Connection::accept_with(now, config, options, opening(), segment, answer);
        if let Some(mut connection) = accepted {
            connection.set_accepted(false);
            if connection.is_opening_fast() {
                self.ready.push_back(peer.clone());
            }
            self.connections.insert(peer.clone(), connection);
            self.collect(now, peer);
        }
    }

    /// ICMP says that a segment to a peer did not arrive: [`Connection::handle_unreachable`]. A
    /// handshake is dropped if the error is a lasting one, `drops` (`tcp_req_err`).
    pub fn handle_unreachable(
        &mut self,
        now: Instant,
        peer: &Peer,
        sequence: SeqNumber,
        error: ConnectionError,
        drops: bool,
    ) {
        let Some(connection) = self.connections.get_mut(peer) else { return };
        if connection.state() != State::SynReceived || drops {
            connection.handle_unreachable(now, sequence, error);
            self.collect(now, peer);
        }
    }

    /// Takes what a connection has to send, and drops it if it is over.
    fn collect(&mut self, now: Instant, peer: &Peer) {
        let Some(connection) = self.connections.get_mut(peer) else { return };
        let transmits = std::iter::from_fn(|| connection.poll_transmit(now));
        self.outbox.extend(transmits.map(|transmit| (peer.clone(), transmit)));
        // One that was established is still accepted, if only to learn of its end.
        if connection.is_over() && !self.ready.contains(peer) {
            self.connections.remove(peer);
        }
    }

    /// The next segment to send, and its peer.
    pub fn poll_transmit(&mut self) -> Option<(Peer, Transmit)> {
        self.outbox.pop_front()
    }

    /// When to call [`Listener::handle_timeout`].
    pub fn poll_at(&self) -> Option<Instant> {
        self.connections.values().filter_map(Connection::poll_at).min()
    }

    /// A time that [`Listener::poll_at`] gave has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due: Vec<Peer> = self
            .connections
            .iter()
            .filter(|(_, connection)| connection.poll_at().is_some_and(|at| at <= now))
            .map(|(peer, _)| peer.clone())
            .collect();
        for peer in due {
            if let Some(connection) = self.connections.get_mut(&peer) {
                connection.handle_timeout(now);
            }
            self.collect(now, &peer);
        }
    }

    /// Whether [`Listener::accept`] would give a connection (`EPOLLIN`).
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// How many connections took data with the SYN, wait to be accepted, and are still in their
    /// handshake.
    pub fn opening_fast(&self) -> usize {
        self.connections.values().filter(|connection| connection.is_opening_fast()).count()
    }

    /// How many of the connections not accepted yet are in a state.
    pub fn count_in(&self, state: State) -> usize {
        self.connections.values().filter(|connection| connection.state() == state).count()
    }

    /// How many connections [`Listener::accept`] would give.
    pub fn waiting(&self) -> usize {
        self.ready.len()
    }

    /// The connection that has waited longest.
    pub fn accept(&mut self) -> Option<(Peer, Connection)> {
        let peer = self.ready.pop_front()?;
        let (peer, mut connection) = self.connections.remove_entry(&peer)?;
        connection.set_accepted(true);
        Some((peer, connection))
    }

    /// Stops listening: connections not yet accepted are reset (`inet_csk_listen_stop`); poll for
    /// their RSTs.
    pub fn close(&mut self, now: Instant) {
        for (peer, mut connection) in std::mem::take(&mut self.connections) {
            if connection.state().is_synchronized() {
                connection.abort(now);
                let transmits = std::iter::from_fn(|| connection.poll_transmit(now));
                self.outbox.extend(transmits.map(|transmit| (peer.clone(), transmit)));
            }
        }
        self.ready.clear();
    }
}

#[cfg(test)]
mod tests;
