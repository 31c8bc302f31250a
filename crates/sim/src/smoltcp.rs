//! The model beside smoltcp, which knows nothing of it: over an impaired path, in virtual time, the
//! bytes of both arrive as they were, and both see the end.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::Arc;

use ::smoltcp::iface::{Config as InterfaceConfig, Interface, SocketHandle, SocketSet};
use ::smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use ::smoltcp::socket::tcp::{self, Socket, SocketBuffer};
use ::smoltcp::time::Instant as Time;
use ::smoltcp::wire::{HardwareAddress, IpCidr, Ipv4Address};
use proptest::prelude::*;
use tcplab_path::{Departure, Direction, Fate, Link, Packet};
use tcplab_scenario::{Profile, Scenario};
use tcplab_stack::{Connection, ConnectionError, Opening, State, congestion};
use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::SeqNumber;

use crate::packets::{self, Address};

/// The model's end, and smoltcp's.
const MODEL: Address = Address { ip: Ipv4Addr::new(10, 98, 0, 1), port: 32_768 };
const OTHER: Address = Address { ip: Ipv4Addr::new(10, 98, 0, 2), port: 5_001 };
const MTU: u16 = 1500;
/// Nothing takes longer, in virtual time.
const LIMIT: Span = Span::from_secs(3_600);
/// Nor does it need more steps.
const EVENTS: u32 = 200_000;

/// What is tried.
#[derive(Debug, Clone)]
struct Trial {
    seed: u64,
    /// Shares of packets, in tenths of a percent.
    loss: u64,
    duplicate: u64,
    reorder: u64,
    corrupt: u64,
    /// Which end sends the first SYN.
    model_opens: bool,
    /// Which closes first; the other has seen that when it closes. The model does not before
    /// smoltcp's data is acknowledged, and both at once is not tried: see [`Peer::is_stuck`].
    model_closes: bool,
    profile: &'static str,
    /// The model's first sequence number.
    initial: u32,
    /// Bytes that the model sends, and smoltcp.
    amounts: [usize; 2],
    /// The buffers of smoltcp's socket, receiving and sending, and the model's (0: its own).
    buffers: [usize; 2],
    own_buffers: [u64; 2],
}

/// Packets on their way into smoltcp and out of it.
#[derive(Default)]
struct Line {
    arrived: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);
struct Sends<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sends<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let written = write(&mut packet);
        self.0.push_back(packet);
        written
    }
}

impl Device for Line {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Sends<'a>;

    fn receive(&mut self, _: Time) -> Option<(Arrived, Sends<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Sends(&mut self.sent)))
    }

    fn transmit(&mut self, _: Time) -> Option<Sends<'_>> {
        Some(Sends(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU.into();
        capabilities
    }
}

/// smoltcp's end.
struct Peer {
    line: Line,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    application: Application,
}

/// Sends an amount of bytes, closes, and reads to the end.
struct Application {
    sends: Vec<u8>,
    written: usize,
    closes_first: bool,
    closed: bool,
    read: Vec<u8>,
    saw_end: bool,
}

impl Application {
    fn new(amount: usize, salt: u8, closes_first: bool) -> Application {
        let sends = (0..amount).map(|n| (n ^ n >> 8) as u8 ^ salt).collect();
        Application {
            sends,
            written: 0,
            closes_first,
            closed: false,
            read: Vec::new(),
            saw_end: false,
        }
    }

    /// Whether it closes now.
    fn closes(&self) -> bool {
        let is_written = self.written == self.sends.len();
        is_written && !self.closed && (self.closes_first || self.saw_end)
    }
}

fn time(now: Instant) -> Time {
    Time::from_micros((now.as_nanos() / 1_000) as i64)
}

impl Peer {
    fn new(trial: &Trial) -> Peer {
        let mut line = Line::default();
        let mut config = InterfaceConfig::new(HardwareAddress::Ip);
        config.random_seed = trial.seed;
        let mut interface = Interface::new(config, &mut line, Time::ZERO);
        let own = Ipv4Address::from_bits(OTHER.ip.to_bits());
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(own.into(), 24)).expect("there is room for one");
        });
        let [receive, send] = trial.buffers.map(|size| SocketBuffer::new(vec![0; size]));
        let mut socket = Socket::new(receive, send);
        let model = Ipv4Address::from_bits(MODEL.ip.to_bits());
        if trial.model_opens {
            socket.listen(OTHER.port).expect("a port");
        } else {
            let remote = (model, MODEL.port);
            socket.connect(interface.context(), remote, OTHER.port).expect("addresses");
        }
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        let application = Application::new(trial.amounts[1], 0x55, !trial.model_closes);
        Peer { line, interface, sockets, handle, application }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn drive(&mut self) {
        let Peer { sockets, handle, application, .. } = self;
        let socket: &mut Socket<'_> = sockets.get_mut(*handle);
        if socket.may_send() {
            let left = &application.sends[application.written..];
            application.written += socket.send_slice(left).expect("it may");
        }
        let mut block = [0; 4096];
        while socket.can_recv() {
            let count = socket.recv_slice(&mut block).expect("it can");
            application.read.extend_from_slice(&block[..count]);
        }
        application.saw_end |= matches!(
            socket.state(),
            tcp::State::CloseWait
                | tcp::State::Closing
                | tcp::State::LastAck
                | tcp::State::TimeWait
        );
        if socket.may_send() && application.closes() {
            socket.close();
            application.closed = true;
        }
    }

    /// Does all that can be done now.
    fn poll(&mut self, now: Instant) {
        self.interface.poll(time(now), &mut self.line, &mut self.sockets);
        self.drive();
        self.interface.poll(time(now), &mut self.line, &mut self.sockets);
    }

    fn poll_at(&mut self, now: Instant) -> Option<Instant> {
        let at = self.interface.poll_at(time(now), &self.sockets)?;
        let at = Instant::from_nanos(at.total_micros() as u64 * 1_000);
        // It asks to be polled at once for as long as something waits, though it has just been.
        Some(at.max(now + Span::from_millis(1)))
    }

    fn is_over(&mut self) -> bool {
        matches!(self.socket().state(), tcp::State::Closed | tcp::State::TimeWait)
    }

    /// Whether all it had to send was sent and acknowledged.
    fn is_drained(&self) -> bool {
        let Peer { sockets, handle, application, .. } = self;
        let socket: &Socket<'_> = sockets.get(*handle);
        application.written == application.sends.len() && socket.send_queue() == 0
    }

    /// Whether smoltcp waits for ever. Once it has seen a FIN, version 0.12 drops its timer at any
    /// acknowledgement (CLOSE-WAIT, CLOSING, LAST-ACK): what was lost after that never comes again.
    fn is_stuck(&mut self, now: Instant) -> bool {
        let waits = self.socket().state() == tcp::State::LastAck;
        waits && self.interface.poll_at(time(now), &self.sockets).is_none()
    }
}

/// Both ends and the path.
struct Pair {
    now: Instant,
    config: Arc<tcplab_stack::Config>,
    opening: Option<Opening>,
    model: Option<Connection>,
    application: Application,
    peer: Peer,
    links: [Link; 2],
    next_id: u64,
}

impl Pair {
    fn new(trial: &Trial) -> Pair {
        let mut config = Profile::named(trial.profile).expect("a profile").config;
        let [receive, send] = trial.own_buffers.map(Bytes::new);
        if receive > Bytes::ZERO {
            config.receiving.buffer = [receive; 2];
        }
        if send > Bytes::ZERO {
            config.sending.buffer = [send; 2];
        }
        let setup = congestion::Setup::of(&config, trial.seed);
        let congestion = congestion::on(&config.window.congestion, &setup).expect("it is known");
        let opening = Opening {
            initial_sequence: SeqNumber::new(trial.initial),
            timestamp_offset: trial.seed as u32,
            mtu: MTU,
            ip_header: 20,
            congestion,
        };
        let plans = path(trial);
        let directions = [Direction::Forward, Direction::Reverse];
        let links = [0, 1].map(|n| Link::new(&plans[n], trial.seed, directions[n]));
        Pair {
            now: Instant::ZERO,
            config: Arc::new(config),
            opening: Some(opening),
            model: None,
            application: Application::new(trial.amounts[0], 0xaa, trial.model_closes),
            peer: Peer::new(trial),
            links,
            next_id: 1,
        }
    }

    /// The model's application, and what the model sends.
    fn drive(&mut self) {
        let Pair { now, model: Some(model), application, peer, .. } = self else { return };
        let now = *now;
        if !matches!(model.state(), State::SynSent | State::SynReceived) {
            let left = &application.sends[application.written..];
            if let Ok(count) = model.write(now, left) {
                application.written += count;
            }
            let mut block = [0; 4096];
            while let Ok(count) = model.read(now, &mut block) {
                application.read.extend_from_slice(&block[..count]);
                if count == 0 {
                    application.saw_end = true;
                    break;
                }
            }
            if application.closes() && (application.saw_end || peer.is_drained()) {
                model.shutdown(now);
                application.closed = true;
            }
        }
        while let Some(transmit) = model.poll_transmit(now) {
            for segment in transmit.cut() {
                let mut bytes = Vec::new();
                let id = self.next_id as u16;
                let marking = packets::Marking { id, dont_fragment: true };
                packets::write(&segment, [MODEL, OTHER], marking, &mut bytes);
                self.links[0].handle_packet(now, Packet::new(self.next_id, bytes));
                self.next_id += 1;
            }
        }
    }

    fn deliver(&mut self, departure: Departure) {
        let Departure { packet, verdict } = departure;
        if verdict.fate != Fate::Delivered {
            return;
        }
        if verdict.direction == Direction::Forward {
            self.peer.line.arrived.push_back(packet.bytes);
            self.peer.poll(self.now);
            return;
        }
        let Some(segment) = packets::segment(&packet.bytes, OTHER, MODEL) else { return };
        if let Some(model) = &mut self.model {
            model.handle_segment(self.now, &segment);
        } else {
            let opening = self.opening.take().expect("used once");
            self.model = Connection::accept(self.now, &self.config, opening, &segment);
        }
        self.drive();
    }

    /// All that happens now.
    fn work(&mut self) {
        for link in 0..2 {
            while let Some(departure) = self.links[link].poll(self.now) {
                self.deliver(departure);
            }
        }
        if let Some(model) = &mut self.model {
            model.handle_timeout(self.now);
        }
        self.drive();
        self.peer.poll(self.now);
        while let Some(bytes) = self.peer.line.sent.pop_front() {
            self.links[1].handle_packet(self.now, Packet::new(self.next_id, bytes));
            self.next_id += 1;
        }
    }

    fn is_over(&mut self) -> bool {
        let is_over = |model: &Connection| model.is_over() || model.state() == State::TimeWait;
        self.model.as_ref().is_some_and(is_over) && self.peer.is_over()
    }

    fn run(&mut self, model_opens: bool) {
        if model_opens {
            let opening = self.opening.take().expect("not used");
            self.model = Some(Connection::connect(self.now, &self.config, opening));
        }
        let mut events = 0;
        while !self.is_over() && events < EVENTS {
            events += 1;
            self.work();
            let timers = [self.model.as_ref().and_then(Connection::poll_at)];
            let links = self.links.iter().map(Link::poll_at);
            let peer = self.peer.poll_at(self.now);
            let next = timers.into_iter().chain(links).chain([peer]).flatten().min();
            let Some(next) = next.filter(|next| next.since(Instant::ZERO) < LIMIT) else { return };
            self.now = self.now.max(next);
        }
    }

    fn describe(&mut self) -> String {
        let model = self.model.as_ref().map(|model| (model.state(), model.error()));
        let state = self.peer.socket().state();
        let read = [self.application.read.len(), self.peer.application.read.len()];
        format!("at {:?}: model {model:?}, smoltcp {state}, read {read:?}", self.now)
    }
}

fn path(trial: &Trial) -> [tcplab_path::LinkPlan; 2] {
    let mut text = String::from(
        "title = \"x\"\n[workload]\nupload = \"1 B\"\n\
         [path]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"40 packets\"\n",
    );
    for (name, tenths) in [
        ("loss", trial.loss),
        ("duplicate", trial.duplicate),
        ("reorder", trial.reorder),
        ("corrupt", trial.corrupt),
    ] {
        if tenths > 0 {
            let share = format!("\"{}.{} %\"", tenths / 10, tenths % 10);
            let key = if name == "reorder" { "reorder.probability" } else { name };
            writeln!(text, "{key} = {share}").expect("a string");
        }
    }
    if trial.reorder > 0 {
        text += "reorder.gap = 3\n";
    }
    let scenario = Scenario::parse(&text, "x").expect("it is well-formed");
    scenario.cases[0].links().expect("it can be built")
}

fn check(trial: &Trial) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(trial);
    pair.run(trial.model_opens);
    let end = pair.describe();
    let error = pair.model.as_ref().and_then(Connection::error);
    // Some stacks give up after five losses in a row, which chance does bring about; and one whose
    // last segment is lost for ten seconds meets a peer that has left TIME-WAIT.
    let gave_up = error == Some(ConnectionError::TimedOut);
    let came_late = error == Some(ConnectionError::Reset) && pair.peer.is_over();
    if (gave_up || came_late) && trial.loss + trial.corrupt > 0 {
        prop_assert!(pair.application.sends.starts_with(&pair.peer.application.read), "{}", end);
        prop_assert!(pair.peer.application.sends.starts_with(&pair.application.read), "{}", end);
        return Ok(());
    }
    let is_stuck = pair.peer.is_stuck(pair.now);
    prop_assert!(pair.is_over() || is_stuck, "{}", end);
    prop_assert_eq!(error, None, "{}", end);
    prop_assert!(pair.peer.application.read == pair.application.sends, "{}", end);
    prop_assert!(pair.application.read == pair.peer.application.sends, "{}", end);
    prop_assert!(pair.peer.application.saw_end, "{}", end);
    prop_assert!(pair.application.saw_end || is_stuck, "{}", end);
    Ok(())
}

const CLEAN: Trial = Trial {
    seed: 1,
    loss: 0,
    duplicate: 0,
    reorder: 0,
    corrupt: 0,
    model_opens: true,
    model_closes: true,
    profile: "linux-6.18",
    initial: 1_000,
    amounts: [300_000, 200_000],
    buffers: [65_535, 65_535],
    own_buffers: [0, 0],
};

#[test]
fn model_and_smoltcp_exchange_streams_from_either_side() {
    for (model_opens, model_closes) in [(true, true), (true, false), (false, true), (false, false)]
    {
        for profile in Profile::names() {
            check(&Trial { model_opens, model_closes, profile, ..CLEAN }).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Loss, copies, reordering and flipped bits in both directions, sizes and buffers of all
    /// kinds, numbers that wrap.
    #[test]
    fn streams_arrive_through_impairments(
        seed: u64,
        impairments in prop::array::uniform4(0u64..60),
        model_opens: bool,
        model_closes: bool,
        profile in prop::sample::select(Profile::names().collect::<Vec<_>>()),
        initial in prop_oneof![any::<u32>(), u32::MAX - 30_000..=u32::MAX],
        amounts in prop::array::uniform2(prop_oneof![Just(0usize), 1usize..60_000]),
        buffers in prop::array::uniform2(
            prop_oneof![1usize..200, 1_000usize..65_535, Just(100_000)],
        ),
        own_buffers in prop::array::uniform2(prop_oneof![Just(0u64), 4_608u64..40_000]),
    ) {
        let [loss, duplicate, reorder, corrupt] = impairments;
        // Windows of a few bytes need a packet for each.
        let most = if buffers.iter().any(|size| *size < 200) { 2_000 } else { usize::MAX };
        let amounts = amounts.map(|amount| amount.min(most));
        check(&Trial {
            seed, loss, duplicate, reorder, corrupt, model_opens, model_closes, profile, initial,
            amounts, buffers, own_buffers,
        })?;
    }
}
