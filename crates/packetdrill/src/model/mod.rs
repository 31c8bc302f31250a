//! tcplab's model as a [`Subject`].
//!
//! It gives [`Connection`]s what a kernel's socket layer has besides: descriptors, blocking calls,
//! readiness, errors reported once. A setting changed while a connection exists is refused, as it
//! would not reach it; Linux reads some of them each time.

mod calls;
mod epoll;
mod epoll_calls;
mod errors;
mod fast_open;
mod file_calls;
mod files;
mod flags;
mod freebsd;
mod freebsd_sysctl;
mod host;
mod icmp;
mod info;
mod options;
mod queue;
mod sending;
mod settings;
mod socket;
mod sysctl;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tcplab_stack::congestion::{self, Setup};
use tcplab_stack::{Config, Connection, FastClient, Opening, Segment, SendCause, State, reset_for};
use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use self::epoll::Epoll;
use self::fast_open::FastOpen;
use self::files::Files;
use self::host::{Host, INITIAL_SEQUENCE, addressed};
use self::queue::PacedQueue;
use self::socket::{Socket, Stage};
use self::waiting::Waiting;
use crate::packet::Packet;
use crate::subject::{IcmpMessage, LOCAL_PORT, Outcome, Refusal, Reply, Subject, SystemCall};

/// The first port that connects.
const FIRST_EPHEMERAL_PORT: u16 = 40_000;

/// What the model's clock shows when a script begins. packetdrill waits for the same place of a
/// tick, 250 µs behind its start, so that what takes a millisecond never takes two ticks.
const START: Span = Span::from_micros(100_000_250);

/// The number of the tick in which a script begins is a multiple of this: timers of up to two
/// minutes expire on multiples of 8, 64 or 512 ticks (Linux's timer wheel), so always alike.
pub const PHASE: u64 = 512;

/// A host whose TCP is the model.
pub struct Model {
    config: Config,
    host: Host,
    sockets: BTreeMap<i64, Socket>,
    epolls: BTreeMap<i64, Epoll>,
    /// Connections without any descriptor left.
    orphans: Vec<socket::Open>,
    next_fd: i64,
    next_port: u16,
    waiting: Option<Waiting>,
    out: VecDeque<Packet>,
    fast: FastOpen,
    /// Bursts are cut into segments before they leave (`ethtool -K` with gso or tso off).
    cuts: bool,
    files: Files,
    /// The device drops everything (a queue without room).
    drops: bool,
    /// `tc` has put it before the device.
    queue: Option<PacedQueue>,
}

impl Model {
    /// A host with these constants and rules.
    pub fn new(mut config: Config) -> Model {
        if let Some(ticks) = START.as_nanos().checked_div(config.host.tick.as_nanos()) {
            config.host.first_tick = ticks.next_multiple_of(PHASE) - ticks;
        }
        let host = match config.freebsd {
            Some(_) => Host::on_ethernet(),
            None => Host::default(),
        };
        Model {
            config,
            host,
            sockets: BTreeMap::new(),
            epolls: BTreeMap::new(),
            orphans: Vec::new(),
            next_fd: 100,
            next_port: FIRST_EPHEMERAL_PORT,
            waiting: None,
            out: VecDeque::new(),
            fast: FastOpen::default(),
            cuts: false,
            files: Files::default(),
            drops: false,
            queue: None,
        }
    }

    /// What a new connection is opened with; `congestion` is the name of its control, which is
    /// known to exist.
    fn opening(config: &Config, host: Host, congestion: &str) -> Opening {
        let setup = Setup::of(config, 0);
        let control = congestion::on(congestion, &setup)
            .or_else(|| congestion::on("reno", &setup))
            .expect("Reno is among the controls");
        Opening {
            initial_sequence: SeqNumber::new(INITIAL_SEQUENCE),
            timestamp_offset: 0,
            mtu: host.mtu(),
            ip_header: host.ip_header(),
            congestion: control,
        }
    }

    fn give_descriptor(&mut self, socket: Socket) -> i64 {
        let fd = self.take_number();
        self.sockets.insert(fd, socket);
        fd
    }

    /// The number of a new descriptor.
    fn take_number(&mut self) -> i64 {
        self.next_fd += 1;
        self.next_fd - 1
    }

    fn opens(&mut self) -> impl Iterator<Item = &mut socket::Open> {
        let held = self.sockets.values_mut().filter_map(|socket| match &mut socket.stage {
            Stage::Open(open) => Some(&mut **open),
            Stage::Fresh | Stage::Listening(_) => None,
        });
        held.chain(&mut self.orphans)
    }

    /// Hands over everything that is ready to leave.
    fn collect(&mut self, now: Instant) {
        let mut left = Vec::new();
        for socket in self.sockets.values_mut() {
            if let Stage::Listening(listener) = &mut socket.stage {
                while let Some((remote_port, transmit)) = listener.poll_transmit() {
                    left.push((now, 0, (LOCAL_PORT, remote_port), transmit));
                }
            }
        }
        for open in self.opens() {
            while let Some(transmit) = open.connection.poll_transmit(now) {
                open.note_sent(now, &transmit);
                let departure = open.departure.of(now, &open.connection, &transmit);
                left.push((departure, open.dscp, open.ports(), transmit));
            }
        }
        if self.drops {
            left.clear();
        }
        for (departure, dscp, (local_port, remote_port), transmit) in left {
            // No TUN device cuts what has Accurate ECN's counter (`NETIF_F_GSO_ACCECN`).
            let cuts = self.cuts || transmit.is_accurate;
            let cut = if cuts { transmit.cut().collect() } else { vec![transmit.whole()] };
            for segment in cut {
                let packet = addressed(&segment, transmit.cause, local_port, remote_port);
                let packet = Packet { dscp, ..packet };
                match &mut self.queue {
                    Some(queue) => queue.push(departure, packet),
                    None => self.out.push_back(packet),
                }
            }
        }
        while let Some(packet) = self.queue.as_mut().and_then(|queue| queue.pop(now)) {
            self.out.push_back(packet);
        }
        self.orphans.retain(|open| !open.connection.is_over());
        self.notice(now);
    }

    /// Reports what the stack did since the last time: completions to error queues, readiness to
    /// epoll.
    fn notice(&mut self, now: Instant) {
        let lessons: Vec<_> =
            self.opens().filter_map(|open| open.connection.take_fast_lesson()).collect();
        for lesson in lessons {
            match self.config.freebsd {
                Some(_) => self.fast.learn_of_freebsd(lesson),
                None => self.fast.learn(lesson),
            }
        }
        for (fd, socket) in &mut self.sockets {
            if let Stage::Open(open) = &mut socket.stage {
                open.complete(now);
            }
            if !self.epolls.is_empty() {
                let happened = socket.happened();
                self.epolls.values_mut().for_each(|epoll| epoll.wake(*fd, happened));
            }
        }
    }

    fn listens_on(&self, port: u16) -> bool {
        let listens = |socket: &Socket| matches!(socket.stage, Stage::Listening(_));
        port == LOCAL_PORT && self.sockets.values().any(listens)
    }

    fn deliver(&mut self, now: Instant, ports: (u16, u16), segment: &Segment) {
        let (local_port, remote_port) = ports;
        // Linux goes on in TIME-WAIT where nobody listens (`TCP_TW_SYN` in `tcp_v4_rcv`).
        let may_open = self.config.freebsd.is_some() || self.listens_on(local_port);
        let mut initial = None;
        let is_live = |open: &socket::Open| open.connection.state() != State::Closed;
        if let Some(open) = self.opens().find(|open| open.ports() == ports && is_live(open)) {
            if !may_open || !open.connection.gives_way(now, segment) {
                open.connection.handle_segment(now, segment);
                return;
            }
            initial = open.connection.give_way(now);
        }
        let (config, host) = (&self.config, self.host);
        let accepted = self.sockets.values().filter_map(|socket| match &socket.stage {
            Stage::Open(open) => Some(open.connection.is_opening_fast()),
            _ => None,
        });
        let accepted = accepted.filter(|opening| *opening).count();
        for socket in self.sockets.values_mut().filter(|_| local_port == LOCAL_PORT) {
            if let Stage::Listening(listener) = &mut socket.stage {
                let opening = || {
                    let usual = Model::opening(config, host, &socket.congestion);
                    let initial_sequence = initial.unwrap_or(usual.initial_sequence);
                    Opening { initial_sequence, ..usual }
                };
                let fast = listener.opening_fast() + accepted;
                let answer = self.fast.answer(&socket.fast, fast, segment);
                listener.handle_segment(now, &remote_port, segment, opening, answer);
                return;
            }
        }
        if let Some(reset) = reset_for(segment) {
            self.out.push_back(addressed(&reset, SendCause::ResetAnswer, local_port, remote_port));
        }
    }
}

impl Subject for Model {
    fn set(&mut self, _now: Instant, name: &str, value: &str) -> Result<(), Refusal> {
        if name == "host.tcp_metrics" {
            self.fast.flush();
            return Ok(());
        }
        let of_host = self.host.set(name, value);
        if let Some(Err(refusal)) = of_host {
            return Err(refusal);
        }
        if let Some(done) = self.fast.set(name, value) {
            return done.map_err(|()| Refusal("unknown value".into()));
        }
        if of_host.is_some() {
            return Ok(());
        }
        if let ("device.gso" | "device.tso", "on" | "off") = (name, value) {
            self.cuts = value == "off";
            return Ok(());
        }
        if let Some(path) = name.strip_prefix("file.") {
            let len = value.parse().map_err(|_| Refusal("unknown value".into()))?;
            self.files.put(path, len);
            return Ok(());
        }
        if let ("device.drops", "0" | "1") = (name, value) {
            self.drops = value == "1";
            let drops = self.drops;
            self.opens().for_each(|open| open.connection.set_device_full(drops));
            return Ok(());
        }
        if let ("device.qdisc", "fq" | "pfifo") = (name, value) {
            self.queue = (value == "fq").then(PacedQueue::default);
            return Ok(());
        }
        // Read each time, of those that are.
        if let ("net.ipv4.tcp_ecn_option", Ok(option)) = (name, value.parse()) {
            self.opens().for_each(|open| open.connection.set_ecn_option(option));
        }
        let mut changed = self.config.clone();
        if let Some(done) = freebsd_sysctl::set(&mut changed, name, value) {
            done?;
            // What nobody holds keeps its settings, which no script can notice.
            let live = |socket: &Socket| match &socket.stage {
                Stage::Open(open) => {
                    !matches!(open.connection.state(), State::Closed | State::TimeWait)
                }
                Stage::Fresh | Stage::Listening(_) => false,
            };
            let later = changed != self.config && !freebsd_sysctl::is_read_once(name);
            if later && self.sockets.values().any(live) {
                return Err(Refusal("a setting changed while a connection exists".into()));
            }
            self.config = changed;
            return Ok(());
        }
        sysctl::apply(&mut changed, name, value)?;
        if changed != self.config {
            if self.opens().next().is_some() && !sysctl::is_read_once(name) {
                return Err(Refusal("a setting changed while a connection exists".into()));
            }
            self.config = changed;
        }
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &SystemCall) -> Reply {
        let now = now + START;
        let reply = self.make_call(now, call);
        self.collect(now);
        reply
    }

    fn returned(&mut self, now: Instant) -> Option<Outcome> {
        let now = now + START;
        let waiting = self.waiting.take()?;
        let outcome = self.try_again(now, waiting);
        self.collect(now);
        outcome
    }

    fn receive(&mut self, now: Instant, packet: &Packet) -> Result<(), Refusal> {
        let is_freebsd = self.config.freebsd.is_some();
        if packet.is_signed(true) || packet.is_signed(false) && is_freebsd {
            return Err(Refusal("MD5 signatures".into()));
        }
        // Nobody has given a key, so Linux drops a segment that is signed (`tcp_inbound_hash`).
        if packet.is_signed(false) {
            return Ok(());
        }
        let segment = packet.to_segment();
        let now = now + START;
        self.deliver(now, (packet.local_port, packet.remote_port), &segment);
        self.collect(now);
        Ok(())
    }

    fn receive_icmp(&mut self, now: Instant, message: &IcmpMessage) -> Result<(), Refusal> {
        let now = now + START;
        self.hear_icmp(now, message)?;
        self.collect(now);
        Ok(())
    }

    fn count_in_state(&self, state: &str, held: bool) -> Result<usize, Refusal> {
        Model::count_in_state(self, state, held)
    }

    fn drop_in_state(&mut self, now: Instant, state: &str) -> Result<(), Refusal> {
        Model::drop_in_state(self, now + START, state)
    }

    fn transmit(&mut self, now: Instant) -> Option<Packet> {
        if self.out.is_empty() {
            self.collect(now + START);
        }
        self.out.pop_front()
    }

    fn wake_at(&self) -> Option<Instant> {
        let held = self.sockets.values().filter_map(|socket| match &socket.stage {
            Stage::Open(open) => open.connection.poll_at(),
            Stage::Listening(listener) => listener.poll_at(),
            Stage::Fresh => None,
        });
        let orphans = self.orphans.iter().filter_map(|open| open.connection.poll_at());
        let patience = self.waiting.as_ref().and_then(Waiting::deadline);
        let queued = self.queue.as_ref().and_then(PacedQueue::next_at);
        held.chain(orphans).chain(patience).chain(queued).min().map(|at| at - START)
    }

    fn wake(&mut self, now: Instant) {
        let now = now + START;
        for socket in self.sockets.values_mut() {
            if let Stage::Listening(listener) = &mut socket.stage {
                listener.handle_timeout(now);
            }
        }
        for open in self.opens() {
            open.connection.handle_timeout(now);
        }
        self.collect(now);
    }

    fn tcp_info(&mut self, now: Instant, fd: i64, field: &str) -> Option<i64> {
        match &self.sockets.get(&fd)?.stage {
            Stage::Open(open) if field == "SK_MEMINFO_RCVBUF" => {
                Some(open.connection.receive_buffer().as_u64() as i64)
            }
            Stage::Open(open) if field == "SK_MEMINFO_SNDBUF" => {
                Some(open.connection.send_buffer().as_u64() as i64)
            }
            Stage::Open(open) => info::field(&open.connection.info(now + START), field),
            Stage::Fresh if field == "tcpi_state" => Some(State::Closed.number().into()),
            Stage::Fresh | Stage::Listening(_) => None,
        }
    }
}

impl Model {
    /// Begins to connect, with Fast Open where `fast` says how.
    fn connect(&mut self, now: Instant, fd: i64, fast: Option<&FastClient>) -> Option<()> {
        let config = Arc::new(self.config.clone());
        let local_port = self.next_port;
        let socket = self.sockets.get_mut(&fd)?;
        let opening = Model::opening(&config, self.host, &socket.congestion);
        let options = socket.options(&config);
        let connection = Connection::connect_with(now, &config, &options, opening, fast);
        self.next_port = self.next_port.wrapping_add(1).max(FIRST_EPHEMERAL_PORT);
        socket.open(connection, local_port, crate::REMOTE_PORT);
        Some(())
    }
}
