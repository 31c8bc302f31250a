//! One end of the path: a stack and the application on it.

use std::collections::VecDeque;
use std::sync::Arc;

use tcplab_recording::Sample;
use tcplab_stack::{
    Config, Connection, ConnectionError, Data, PathMtu, Segment, SendCause, SocketOption, State,
    Transmit, reset_for,
};
use tcplab_units::{Endpoint, Instant, Rate, Span};
use tcplab_wire::TcpFlags;
use tcplab_workload::{Absent, Application};

use crate::accept_queue::AcceptQueue;
use crate::call_state::CallState;
use crate::machine::{Admitted, Machine};
use crate::openings::Openings;
use crate::packets::{Address, Marking, TooBig};

/// How many zeros one write offers at most.
const ZEROS: usize = 64 << 10;

/// A host with one connection: the client's from the start, the server's when a SYN has come.
#[derive(Debug)]
pub(crate) struct Host {
    endpoint: Endpoint,
    pub(crate) address: Address,
    pub(crate) config: Arc<Config>,
    /// The machine, which it shares with the other connections of its end.
    pub(crate) machine: Machine,
    /// The queues of the server's listening socket, which the connections of its flow share.
    pub(crate) queue: AcceptQueue,
    /// Its handshake goes on, kept in the queue or in a cookie.
    half_open: Option<bool>,
    /// Whether it has disappeared, as if its machine had lost power: it neither receives nor
    /// sends any more.
    pub(crate) has_vanished: bool,
    /// How it is absent, if it is.
    pub(crate) absent: Option<Absent>,
    /// Whether the trial does not wait for its application.
    pub(crate) is_background: bool,
    /// The parameters of its connections.
    pub(crate) openings: Openings,
    pub(crate) connection: Option<Connection>,
    /// Options set on it as soon as it is accepted.
    pub(crate) accepted: Vec<SocketOption>,
    pub(crate) application: Application,
    /// Its payload, if that is zeros: nothing is copied then.
    pub(crate) zeros: Option<Data>,
    /// The state of its application's calls.
    pub(crate) calls: CallState,
    /// Segments of a super-segment that are not on the link yet.
    cut: VecDeque<(Box<Segment>, SendCause)>,
    /// Received segments that the machine has not processed yet, with when it will have.
    inbox: VecDeque<(Instant, Segment, Admitted)>,
    /// Whether routers may cut what it sends: the path was found to take less than its packets
    /// become.
    fragments: bool,
    /// IPv4's identification counts up (RFC 6864 lets it be anything here).
    ip_id: u16,
    /// How its socket stood when a change was asked for last.
    last_sample: Option<Box<Sample>>,
}

impl Host {
    pub(crate) fn new(
        endpoint: Endpoint,
        address: Address,
        config: Config,
        mut openings: Openings,
        application: Application,
    ) -> Host {
        Host {
            endpoint,
            address,
            machine: Machine::new(&config.host),
            queue: AcceptQueue::default(),
            half_open: None,
            config: Arc::new(config),
            has_vanished: false,
            absent: None,
            is_background: false,
            connection: None,
            accepted: Vec::new(),
            zeros: application.writes_zeros().then(|| Data::copy_of(&vec![0; ZEROS])),
            application,
            calls: CallState::default(),
            cut: VecDeque::new(),
            inbox: VecDeque::new(),
            fragments: false,
            ip_id: openings.random().next_u64() as u16,
            openings,
            last_sample: None,
        }
    }

    /// Why its connection failed, if it did.
    pub(crate) fn error(&self) -> Option<ConnectionError> {
        self.connection.as_ref()?.error()
    }

    /// Whether its application is done, and its connection needs the path no more.
    pub(crate) fn is_over(&self) -> bool {
        let is_over =
            |connection: &Connection| connection.is_over() || connection.state() == State::TimeWait;
        self.has_failed()
            || (self.is_done()
                && self.cut.is_empty()
                && self.inbox.is_empty()
                && self.connection.as_ref().is_none_or(is_over))
    }

    /// Whether its connection failed and its calls may not.
    pub(crate) fn has_failed(&self) -> bool {
        self.error().is_some() && !self.application.may_fail()
    }

    /// Whether calls of its application may fail.
    pub(crate) fn may_fail(&self) -> bool {
        self.application.may_fail()
    }

    /// The trial's time is over: a call that may fail returns that it still waited.
    pub(crate) fn run_out(&mut self, now: Instant) {
        if self.may_fail() && !self.is_done() {
            self.application.ran_out(now);
            self.calls.is_over = true;
        }
    }

    /// Whether its application is done, or waits for a client that never came.
    pub(crate) fn is_done(&self) -> bool {
        self.calls.is_over || self.is_unvisited()
    }

    fn is_unvisited(&self) -> bool {
        self.endpoint == Endpoint::Server && self.connection.is_none()
    }

    /// Whether its application waits for a buffer of the machine, and there is one.
    pub(crate) fn is_relieved(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::awaits_buffers)
            && self.machine.pool().is_some_and(|pool| pool.free() > 0)
    }

    /// Takes a segment: the stack gets it once the machine has processed it, if there is a buffer.
    pub(crate) fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if self.has_vanished {
            return;
        }
        let Some(admitted) = self.machine.admit() else { return };
        match self.machine.work(now) {
            None => {
                drop(admitted);
                self.take_in(now, segment);
            }
            Some(done) => self.inbox.push_back((done, segment.clone(), admitted)),
        }
    }

    fn take_in(&mut self, now: Instant, segment: &Segment) {
        if let Some(connection) = &mut self.connection {
            // A kernel has no socket for a connection that is over.
            if connection.is_over() && self.application.may_fail() {
                return self.refuse(segment);
            }
            let flags = segment.header.flags;
            let ends_handshake = flags.without(TcpFlags::SYN | TcpFlags::RST) == flags;
            // Its ACK or data come again (`tcp_v4_syn_recv_sock`).
            if self.half_open.is_some() && ends_handshake && self.queue.is_full() {
                return;
            }
            connection.handle_segment(now, segment);
            return self.look_at_handshake(now);
        }
        match self.absent {
            Some(Absent::Silent) => return,
            Some(Absent::Closed) => return self.refuse(segment),
            None => {}
        }
        // RFC 9293 section 3.10.7.2.
        if segment.header.flags.contains(TcpFlags::ACK) {
            return self.refuse(segment);
        }
        if self.endpoint == Endpoint::Server && !self.queue.is_full() {
            let is_kept = self.queue.begin();
            let mut config = Arc::clone(&self.config);
            if !is_kept {
                Arc::make_mut(&mut config).handshake.syn_cookies = true;
            }
            self.half_open = Some(is_kept);
            self.connection = Connection::accept(now, &config, self.openings.next(), segment);
            self.share_buffers();
            self.look_at_handshake(now);
        }
    }

    /// Notes when the handshake of a server is over. Where it failed the socket listens again (RFC
    /// 9293 section 3.10.7.4).
    fn look_at_handshake(&mut self, now: Instant) {
        let state = self.connection.as_ref().map_or(State::Closed, Connection::state);
        if state == State::SynReceived {
            return;
        }
        let Some(was_kept) = self.half_open.take() else { return };
        self.queue.end(was_kept, state != State::Closed);
        if state == State::Closed
            && let Some(mut failed) = self.connection.take()
        {
            while let Some(transmit) = failed.poll_transmit(now) {
                self.enqueue(&transmit);
            }
        }
    }

    fn enqueue(&mut self, transmit: &Transmit) {
        self.cut.extend(transmit.cut().map(|segment| (Box::new(segment), transmit.cause)));
    }

    /// A connection that has just been opened takes its buffers from the machine's.
    pub(crate) fn share_buffers(&mut self) {
        if let (Some(connection), Some(pool)) = (&mut self.connection, self.machine.pool()) {
            connection.draw_from(pool);
        }
    }

    fn refuse(&mut self, segment: &Segment) {
        if self.machine.pool().is_some_and(|pool| !pool.lets_out()) {
            return;
        }
        let reset = reset_for(segment).map(Box::new);
        self.cut.extend(reset.map(|reset| (reset, SendCause::ResetAnswer)));
    }

    /// Handles an ICMP error for a segment that was too large. Returns the path MTU that all
    /// connections of the machine share, if it has changed.
    pub(crate) fn handle_too_big(&mut self, now: Instant, error: &TooBig) -> Option<PathMtu> {
        self.connection.as_mut()?.handle_too_big(now, error.sequence, error.mtu)
    }

    /// Takes the path MTU that another connection of the machine found, unless this one is open.
    pub(crate) fn learn(&mut self, path: PathMtu) {
        if self.connection.is_none() && self.config.path_mtu.discovery {
            self.openings.learn(path);
            self.fragments |= path.fragments;
        }
    }

    pub(crate) fn poll_at(&self) -> Option<Instant> {
        if self.has_vanished {
            return None;
        }
        let worked_on = self.inbox.front().map(|(done, ..)| *done);
        let timers = self.connection.as_ref().and_then(Connection::poll_at);
        worked_on.into_iter().chain(timers).chain(self.calls.wake).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while self.inbox.front().is_some_and(|(done, ..)| *done <= now)
            && let Some((_, segment, admitted)) = self.inbox.pop_front()
        {
            drop(admitted);
            self.take_in(now, &segment);
        }
        if let Some(connection) = &mut self.connection
            && connection.poll_at().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
            self.look_at_handshake(now);
        }
    }

    /// The next segment to send, why it is sent, and its IP fields. It stays where it is in memory
    /// until it has arrived.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
    ) -> Option<(Box<Segment>, SendCause, Marking)> {
        if self.has_vanished {
            return None;
        }
        if self.cut.is_empty() {
            let transmit = self.connection.as_mut()?.poll_transmit(now)?;
            if transmit.segments() == 1 {
                let marking = self.next_marking(transmit.cause);
                return Some((Box::new(transmit.segment), transmit.cause, marking));
            }
            self.enqueue(&transmit);
        }
        let (segment, cause) = self.cut.pop_front()?;
        Some((segment, cause, self.next_marking(cause)))
    }

    /// The IP fields of the next packet. What a socket sends counts up, its own RST too
    /// (`tcp_send_active_reset`, `ip_select_ident_segs`). A RST that answers is not sent by that
    /// socket but by one without a peer (`tcp_v4_send_reset`, `ip_send_unicast_reply`), which must
    /// not be fragmented (`tcp_sk_init`): `ip_select_ident_segs` gives it 0.
    fn next_marking(&mut self, cause: SendCause) -> Marking {
        if cause == SendCause::ResetAnswer {
            return Marking { id: 0, dont_fragment: true };
        }
        self.ip_id = self.ip_id.wrapping_add(1);
        let dont_fragment = match &self.connection {
            Some(connection) => connection.dont_fragment(),
            None => self.config.path_mtu.discovery,
        };
        Marking { id: self.ip_id, dont_fragment: dont_fragment && !self.fragments }
    }

    /// How its socket stands, if anything about its sender has changed since this was asked last.
    pub(crate) fn changed_sample(&mut self, now: Instant) -> Option<Sample> {
        let sample = self.sample(now)?;
        let is_known = self.last_sample.as_ref().is_some_and(|last| sample.has_sender_of(last));
        self.last_sample = Some(Box::new(sample));
        (!is_known).then_some(sample)
    }

    /// How its socket stands.
    pub(crate) fn sample(&self, now: Instant) -> Option<Sample> {
        let info = self.connection.as_ref()?.info(now);
        let per_second = |rate: Rate| rate.bits_per_second() / 8;
        Some(Sample {
            state: info.state.number().into(),
            ca_state: info.ca_state as u64,
            backoff: info.backoff.into(),
            cwnd_segments: info.snd_cwnd.into(),
            ssthresh_segments: info.snd_ssthresh.into(),
            snd_mss_bytes: info.snd_mss.into(),
            rtt_us: info.rtt.as_micros(),
            rttvar_us: info.rttvar.as_micros(),
            min_rtt_us: info.min_rtt.map_or(u64::from(u32::MAX), Span::as_micros),
            rto_us: info.rto.as_micros(),
            unacked_segments: info.unacked.into(),
            sacked_segments: info.sacked.into(),
            lost_segments: info.lost.into(),
            retrans_segments: info.retrans.into(),
            total_retrans_segments: info.total_retrans,
            bytes_acked: info.bytes_acked.as_u64(),
            bytes_received: info.bytes_received.as_u64(),
            notsent_bytes: info.notsent_bytes.as_u64(),
            snd_wnd_bytes: info.snd_wnd,
            rcv_wnd_bytes: info.rcv_wnd,
            rcv_space_bytes: info.rcv_space,
            pacing_rate_bytes_per_second: info.pacing_rate.map_or(u64::MAX, per_second),
            delivery_rate_bytes_per_second: info.delivery_rate.map_or(0, per_second),
            busy_us: info.busy_time.as_micros(),
            rwnd_limited_us: info.rwnd_limited.as_micros(),
            sndbuf_limited_us: info.sndbuf_limited.as_micros(),
            dsack_dups: info.dsack_dups,
            reord_seen: info.reord_seen,
            ..Sample::empty(now, self.endpoint)
        })
    }
}
