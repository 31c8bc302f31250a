//! One end of all TCP connections of a trial.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcplab_recording::{GuestOrder, GuestOutcome, GuestReport};
use tcplab_scenario::{Case, EndpointSpec};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::FrameView;
use tcplab_workload::{Application, Role};

use super::super::guest::FromGuest;
use super::slot::{Phase, Slot};
use crate::connections::{Connections, record};
use crate::error::SimError;
use crate::packets;
use crate::reassembly::Reassembly;

/// The hosts of one end, one for each planned connection; they share a machine.
#[derive(Debug)]
pub(super) struct HostSet {
    end: Endpoint,
    /// In the order of the plan, which is that of the client's ports.
    slots: Vec<Slot>,
    /// When the trial began; none: not yet.
    zero: Option<Instant>,
    /// Connections that begin at a time of their own, after the trial began, in order of it.
    timed: VecDeque<(Span, usize)>,
    /// Those that begin in the place of one that is over.
    waiting: VecDeque<usize>,
    /// When the timers of hosts are due.
    timers: BTreeSet<(Instant, usize)>,
    /// The connections whose sockets are sampled; with the name of the flow, if its samples have a
    /// file of their own.
    sampled: Vec<(usize, Option<String>)>,
    /// The time between two samples, if they are not taken at each acknowledgement, and when the
    /// next is due.
    sampling: Option<Span>,
    next_sample: Option<Instant>,
    reassembly: Reassembly,
    /// Hosts that a packet has reached and that were not served since.
    reached: BTreeSet<usize>,
    /// Hosts that were served and whose state was not looked at since.
    served: BTreeSet<usize>,
    /// Connections whose end was not reported.
    unfinished: usize,
    /// The first connection of the main flow, and how its end is set up.
    main: Option<(usize, EndpointSpec)>,
    /// When the trial's time is over.
    limit: Instant,
    has_run_out: bool,
    /// Whether it has reported that it is done.
    is_done: bool,
}

/// What a host set does of its own accord. Of what is due together the first comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Timer(usize),
    Sample,
    Start,
}

impl HostSet {
    pub(super) fn new(case: &Case, seed: u64, end: Endpoint) -> Result<HostSet, SimError> {
        let connections = Connections::of(case, seed);
        let hosts = connections.hosts(end, |end, planned| {
            Application::new(end, &planned.workload, planned.payload_seed).stopping(planned.stops)
        })?;
        let planned = connections.planned();
        let slots: Vec<Slot> = planned
            .iter()
            .zip(hosts)
            .map(|(planned, host)| Slot::new(host, planned, end))
            .collect();
        let (mut timed, mut waiting) = (VecDeque::new(), VecDeque::new());
        for (index, planned) in planned.iter().enumerate() {
            match planned.start {
                Some(start) => timed.push_back((start.since(Instant::ZERO), index)),
                None => waiting.push_back(index),
            }
        }
        let sampled = connections.sampled().into_iter();
        let sampled = sampled.filter_map(|(port, flow)| Some((find(&slots, port)?, flow)));
        Ok(HostSet {
            end,
            zero: None,
            timed,
            waiting,
            timers: BTreeSet::new(),
            sampled: sampled.collect(),
            sampling: case.sampling.interval(),
            next_sample: None,
            reassembly: Reassembly::default(),
            reached: BTreeSet::new(),
            served: BTreeSet::new(),
            unfinished: slots.len(),
            main: connections.main(end),
            limit: Instant::ZERO + case.limits.trial,
            has_run_out: false,
            is_done: false,
            slots,
        })
    }

    /// When it does something of its own accord.
    pub(super) fn poll_at(&self) -> Option<Instant> {
        self.due().map(|(at, _)| at)
    }

    /// What is due next; nothing after the trial's time.
    fn due(&self) -> Option<(Instant, Due)> {
        let zero = self.zero.filter(|_| !self.has_run_out)?;
        let timer = self.timers.first().map(|(at, index)| (*at, Due::Timer(*index)));
        let sample = self.next_sample.map(|at| (at, Due::Sample));
        let start = self.timed.front().map(|(after, _)| (zero + *after, Due::Start));
        let all = [timer, sample, start].into_iter().flatten();
        all.min().filter(|(at, _)| *at <= self.limit)
    }

    /// Whether a timer of a host is due at `now`.
    pub(super) fn has_timer_due(&self, now: Instant) -> bool {
        matches!(self.due(), Some((at, Due::Timer(_))) if at <= now)
    }

    /// Takes a packet or a fragment; the stack of the host that it is for answers each, the
    /// application is to be served after all of this instant.
    pub(super) fn take(
        &mut self,
        now: Instant,
        packet: Vec<u8>,
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) {
        if self.has_run_out {
            return;
        }
        let Some(packet) = self.reassembly.add(now, packet) else { return };
        if let Some(index) = self.hand_over(now, &packet) {
            // A client may be done with another connection before this end is.
            if self.end == Endpoint::Server {
                self.begin(now, index, sent);
            }
            let slot = &mut self.slots[index];
            if slot.phase != Phase::Planned {
                slot.transmit(now, sent);
            }
            self.reached.insert(index);
        }
    }

    /// Hands a packet to its host, if there is one that takes it.
    fn hand_over(&mut self, now: Instant, packet: &[u8]) -> Option<usize> {
        let Some(tcp) = FrameView::of_packet(packet).tcp() else {
            return self.learn(now, packet);
        };
        let port = match self.end {
            Endpoint::Client => tcp.dst_port(),
            Endpoint::Server => tcp.src_port(),
        };
        let index = find(&self.slots, port)?;
        let Slot { host, peer, .. } = &mut self.slots[index];
        let segment = packets::segment(packet, *peer, host.address)?;
        host.handle_segment(now, &segment);
        Some(index)
    }

    /// Takes an ICMP error: a segment of the host that is returned was too large.
    fn learn(&mut self, now: Instant, packet: &[u8]) -> Option<usize> {
        let error = packets::too_big(packet, self.slots.first()?.host.address.ip)?;
        let index = find(&self.slots, error.ends[self.end.index()].port)?;
        let Slot { host, peer, .. } = &mut self.slots[index];
        if error.ends != [host.address, *peer] {
            return None;
        }
        if let Some(path) = host.handle_too_big(now, &error) {
            self.slots.iter_mut().for_each(|slot| slot.host.learn(path));
        }
        Some(index)
    }

    /// Serves the hosts that packets have reached.
    pub(super) fn serve_reached(
        &mut self,
        now: Instant,
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) {
        while let Some(index) = self.reached.pop_first() {
            self.serve(now, index, sent);
        }
        self.look_around(now, sent);
    }

    /// Does what is due next, which is due at `now`.
    pub(super) fn go_on(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        match self.due() {
            Some((at, due)) if at <= now => match due {
                Due::Timer(index) => {
                    self.slots[index].host.handle_timeout(now);
                    self.serve(now, index, sent);
                }
                Due::Sample => self.sample(now, sent),
                Due::Start => {
                    let passed = self.zero.map(|zero| now.since(zero));
                    while self.timed.front().is_some_and(|(after, _)| Some(*after) <= passed)
                        && let Some((_, index)) = self.timed.pop_front()
                    {
                        self.begin(now, index, sent);
                    }
                }
            },
            _ => {}
        }
        self.look_around(now, sent);
    }

    /// Begins a connection, unless it has begun or nobody will connect.
    fn begin(
        &mut self,
        now: Instant,
        index: usize,
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) -> bool {
        let slot = &mut self.slots[index];
        let begins = slot.phase == Phase::Planned;
        if begins {
            slot.phase = Phase::Begun;
            self.serve(now, index, sent);
        }
        begins
    }

    /// Runs the application of a host, and sends what its stack has to send.
    fn serve(&mut self, now: Instant, index: usize, sent: &mut VecDeque<(Instant, FromGuest)>) {
        let slot = &mut self.slots[index];
        if slot.phase != Phase::Planned {
            slot.serve(now, sent);
        }
        let due = slot.host.poll_at();
        if due != slot.timer {
            if let Some(before) = slot.timer {
                self.timers.remove(&(before, index));
            }
            self.timers.extend(due.map(|at| (at, index)));
            slot.timer = due;
        }
        self.served.insert(index);
        self.look(now, index, sent);
    }

    /// Looks what has become of the hosts that were served, and serves those that wait for a buffer
    /// of their machine, if one is free.
    fn look_around(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        self.look_at_served(now, sent);
        // A machine that does not count its buffers has no pool.
        if self.slots.first().is_some_and(|it| it.host.machine.pool().is_some()) {
            for index in 0..self.slots.len() {
                if self.slots[index].host.is_relieved() {
                    self.serve(now, index, sent);
                }
            }
            self.look_at_served(now, sent);
        }
        if self.unfinished == 0 {
            self.done(now, sent);
        }
    }

    /// Reports what has become of the hosts that were served, and begins connections in places that
    /// are free.
    fn look_at_served(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        while let Some(index) = self.served.pop_first() {
            let slot = &mut self.slots[index];
            while let Some(report) = slot.report(index, self.end) {
                self.unfinished -= usize::from(matches!(report, GuestReport::Ended { .. }));
                sent.push_back((now, FromGuest::Report(report)));
            }
            if slot.yield_place() {
                while let Some(next) = self.waiting.pop_front() {
                    if self.begin(now, next, sent) {
                        break;
                    }
                }
            }
        }
    }

    /// Samples the sockets, as `TCP_INFO` would.
    fn sample(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        for (index, flow) in &self.sampled {
            if let Some(sample) = self.slots[*index].host.sample(now) {
                sent.push_back((now, FromGuest::Sample(flow.clone(), Box::new(sample))));
            }
        }
        self.next_sample = self.sampling.map(|sampling| now + sampling);
    }

    /// Samples a host's socket, if its sender has changed and that is looked at.
    fn look(&mut self, now: Instant, index: usize, sent: &mut VecDeque<(Instant, FromGuest)>) {
        if self.sampling.is_none()
            && let Some((_, flow)) = self.sampled.iter().find(|(sampled, _)| *sampled == index)
            && let Some(sample) = self.slots[index].host.changed_sample(now)
        {
            sent.push_back((now, FromGuest::Sample(flow.clone(), Box::new(sample))));
        }
    }

    /// Does what the world says.
    pub(super) fn obey(
        &mut self,
        now: Instant,
        order: &GuestOrder,
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) {
        match order {
            GuestOrder::Start => {
                self.zero = Some(now);
                self.next_sample = self.sampling.map(|sampling| now + sampling);
            }
            GuestOrder::Ended { nth, was_connected: false } => self.give_up(*nth),
            GuestOrder::Rest => (0..self.slots.len()).for_each(|index| self.give_up(index)),
            GuestOrder::RunOut => self.run_out(now.min(self.limit), sent),
            GuestOrder::Accepted(_) | GuestOrder::Listening | GuestOrder::Ended { .. } => {}
        }
    }

    /// No client will connect to a server's socket.
    fn give_up(&mut self, index: usize) {
        if self.end == Endpoint::Server
            && let Some(slot) = self.slots.get_mut(index)
        {
            slot.give_up();
            self.served.insert(index);
        }
    }

    /// The time is over: calls that wait and may fail return. It is done if all are that the trial
    /// waits for.
    fn run_out(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        self.has_run_out = true;
        let mut is_done = true;
        for slot in &mut self.slots {
            if slot.is_logged() {
                slot.host.run_out(now);
            }
            is_done &= slot.host.is_background || (slot.is_logged() && slot.host.is_done());
        }
        if is_done {
            return self.done(now, sent);
        }
        let awaited = self.slots.iter().filter(|slot| !slot.host.is_background);
        let reports = awaited.map(|slot| slot.host.application.report());
        let received = reports.filter(|report| report.role == Role::Receiver);
        let bytes = received.map(|report| report.bytes.as_u64()).sum();
        sent.push_back((now, FromGuest::Report(GuestReport::Received(bytes))));
    }

    /// Reports what it leaves, once.
    fn done(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        if std::mem::replace(&mut self.is_done, true) {
            return;
        }
        let logged = self.slots.iter().filter(|slot| slot.is_logged());
        let connections: BTreeMap<_, _> =
            logged.map(|slot| (slot.port, slot.host.application.report())).collect();
        let mut outcome = GuestOutcome { connections, ..GuestOutcome::default() };
        if let Some((index, spec)) = &self.main {
            let host = &self.slots[*index].host;
            outcome.report = host.application.report();
            outcome.record = record(spec, host, self.end);
        }
        sent.push_back((now, FromGuest::Report(GuestReport::Done(Box::new(outcome)))));
    }
}

/// The connection of a client's port.
fn find(slots: &[Slot], port: u16) -> Option<usize> {
    slots.binary_search_by_key(&port, |slot| slot.port).ok()
}
