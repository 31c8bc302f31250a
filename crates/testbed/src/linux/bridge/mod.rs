//! Moves frames between two devices through the path, in real time.
//!
//! Packets stay where they were read ([`store`]) while the path decides on them by number and size,
//! each segment of a super-packet by itself; only a path that reads packets is given their bytes.
//! What is due leaves as it came or merged again ([`outgoing`]). While it moves packets the bridge
//! allocates nothing and takes no lock.

mod counters;
mod health;
mod outgoing;
mod spin_budget;
mod steered;
mod store;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_path::{Departure, Direction, Fate, Link, LinkPlan, Packet, PathEvent, Verdict};
use tcplab_recording::{Lateness, MoverRecord, RingWait, WorldRecord};
use tcplab_units::{Bytes, Endpoint, Instant, Span};

pub(crate) use self::counters::Counters;
use self::health::Health;
use self::outgoing::{Held, Load, Outgoing};
use self::spin_budget::SpinBudget;
pub(crate) use self::steered::Steered;
use self::store::Store;
use crate::clock::Clock;
use crate::device::{Device, Received};
use crate::link_header::{LinkHeader, LinkHeaders};
use crate::recorder::RecorderQueue;
use crate::{TrialError, Tuning};

/// How often the bridge checks whether the trial is over while no packet is due.
const IDLE: Span = Span::from_millis(20);
/// How often it reads its own time, so that the kernel accounts it: see
/// [`run_by_deadlines`](crate::sys::run_by_deadlines).
const ACCOUNTED: Span = Span::from_micros(100);
/// Bytes read from one device before what is due is delivered and the other gets its turn: what
/// goes out at once is then still in the processor's cache.
const BATCH: usize = 64 << 10;
/// Packets of any size read from one device in one turn.
const MOST_READS: usize = 32;
/// The number of buffers stored for reuse; a longer queue frees its others.
const MOST_SPARE: usize = 4096;

/// Both directions of the path and the devices at its ends.
///
/// Must be made in the thread that will [run](Bridge::run) it.
pub(crate) struct Bridge {
    clock: Clock,
    tuning: Tuning,
    ends: [Device; 2],
    directions: [PathDirection; 2],
    store: Store,
    /// What is being handed to each endpoint.
    outgoing: [Outgoing; 2],
    /// Buffers for packets whose bytes the path wants.
    spare: Vec<Vec<u8>>,
    /// Where frames have headers of their own: those of packets whose bytes the path has.
    links: Option<LinkHeaders>,
    next_id: u64,
    queue: Option<RecorderQueue>,
    counters: Arc<Counters>,
    health: Health,
    budget: SpinBudget,
    /// Who changes the path meanwhile.
    steered: Option<Steered>,
}

/// One direction.
struct PathDirection {
    link: Link,
    /// Whether the link wants the bytes of packets.
    reads: bool,
    /// Whether the link can predict the verdict on a packet.
    is_gate: bool,
    /// Whether there is nothing on it: segments share the verdict of the first.
    is_bare: bool,
}

/// What [`Bridge::run`] shows to the closure that decides when the trial is over.
pub(crate) struct BridgeState {
    pub(crate) now: Instant,
    /// Packets on the path, both directions.
    pub(crate) on_path: usize,
}

/// How well the bridge kept time, and what was lost.
pub(crate) struct BridgeReport {
    tuning: Tuning,
    pub(crate) lateness: Lateness,
    pub(crate) ring_wait: RingWait,
    pub(crate) mover: MoverRecord,
    pub(crate) device_drops: u64,
    /// Frames that found no room on the queue, at client and server.
    pub(crate) frames_lost: [u64; 2],
    /// Verdicts that found no room.
    pub(crate) verdicts_lost: u64,
    /// How the path was changed meanwhile.
    pub(crate) path_events: Vec<PathEvent>,
}

impl BridgeReport {
    /// As part of the record of a trial; what the bridge does not know is left empty.
    pub(crate) fn world(&self) -> WorldRecord {
        WorldRecord {
            lead: self.tuning.lead,
            spin: self.tuning.spin,
            lateness: self.lateness,
            ring_wait: self.ring_wait,
            device_drops: self.device_drops,
            verdict_drops: self.verdicts_lost,
            mover: self.mover,
            ..WorldRecord::default()
        }
    }
}

impl Bridge {
    /// `ends` and `plans` start with the client's: what it sends goes through the first link. What
    /// happens is put on `queue`, if there is one.
    pub(crate) fn new(
        clock: Clock,
        ends: [Device; 2],
        plans: &[LinkPlan; 2],
        seed: u64,
        tuning: Tuning,
        queue: Option<RecorderQueue>,
    ) -> Bridge {
        let way = |direction: Direction| {
            let plan = &plans[direction as usize];
            let link = Link::new(plan, seed, direction);
            PathDirection {
                link,
                reads: plan.reads_packets(),
                is_gate: plan.is_gate(),
                is_bare: plan.elements.is_empty(),
            }
        };
        let outgoing = |incoming: Direction| {
            let is_instant = plans[incoming as usize].is_instant();
            Outgoing::new((is_instant || !tuning.coalesce.is_zero()).then_some(tuning.coalesce))
        };
        let is_interface = ends.iter().any(Device::is_interface);
        Bridge {
            clock,
            tuning,
            links: is_interface.then(LinkHeaders::new),
            ends,
            directions: Direction::BOTH.map(way),
            store: Store::new(),
            outgoing: [outgoing(Direction::Reverse), outgoing(Direction::Forward)],
            spare: Vec::new(),
            next_id: 1,
            queue,
            counters: Arc::default(),
            health: Health::new(clock),
            budget: SpinBudget::new(clock.now()),
            steered: None,
        }
    }

    /// The same bridge, of a path that changes meanwhile: its links may come to read packets.
    pub(crate) fn steered(mut self, steered: Steered, seed: u64) -> Bridge {
        for (direction, plan) in Direction::BOTH.into_iter().zip(steered.plans()) {
            let link = Link::changeable(plan, seed, direction);
            self.directions[direction as usize] =
                PathDirection { link, reads: true, is_gate: false, is_bare: false };
        }
        Bridge { steered: Some(steered), ..self }
    }

    /// Its counters, readable from any thread.
    pub(crate) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// Moves frames until `over`, asked every 20 ms, says so.
    pub(crate) fn run(
        &mut self,
        mut over: impl FnMut(&BridgeState) -> bool,
    ) -> Result<(), TrialError> {
        let mut looked = self.clock.now();
        let mut accounted = looked;
        let mut had_work = false;
        loop {
            let now = self.clock.now();
            self.health.turn(now, had_work);
            if now.since(accounted) >= ACCOUNTED {
                accounted = now;
                let _ = Clock::processor();
            }
            if now.since(looked) >= IDLE {
                looked = now;
                self.look_around();
                let on_path = self.directions.iter().map(|way| way.link.in_flight().count()).sum();
                if over(&BridgeState { now, on_path }) {
                    return Ok(());
                }
            }
            if let Some(steered) = &mut self.steered {
                steered.make(now, self.directions.each_mut().map(|way| &mut way.link));
            }
            let read = self.read()?;
            let delivered = self.deliver()?;
            had_work = read || delivered;
            if !had_work {
                self.wait()?;
            }
        }
    }

    /// Ends the trial: packets still on the path get that verdict.
    pub(crate) fn finish(self) -> BridgeReport {
        self.finish_with_devices().0
    }

    /// The same; a TUN device goes with the last who holds it.
    pub(crate) fn finish_with_devices(mut self) -> (BridgeReport, [Device; 2]) {
        let now = self.clock.now();
        for index in 0..2 {
            for Departure { verdict, packet } in self.directions[index].link.drain(now) {
                self.verdict(&verdict);
                self.take_back(packet);
            }
        }
        self.look_around();
        if let Some(queue) = &mut self.queue {
            queue.pass_on(|| self.next_id);
        }
        let report = BridgeReport {
            tuning: self.tuning,
            lateness: self.health.lateness(),
            ring_wait: self.health.ring_wait(),
            mover: self.health.mover(),
            device_drops: self.counters.device_drops.value(),
            frames_lost: self.queue.as_ref().map_or([0; 2], RecorderQueue::frames_lost),
            verdicts_lost: self.queue.as_ref().map_or(0, RecorderQueue::verdicts_lost),
            path_events: self.steered.map(Steered::applied).unwrap_or_default(),
        };
        (report, self.ends)
    }

    /// Reads what the endpoints have sent; whether there was any.
    fn read(&mut self) -> Result<bool, TrialError> {
        let mut any = false;
        for sender in Direction::BOTH {
            let mut bytes = 0;
            while bytes < BATCH {
                let at = self.clock.now();
                let device = &mut self.ends[sender as usize];
                let received = device
                    .receive(self.store.room())
                    .map_err(TrialError::setup("read from an endpoint's device"))?;
                let Some(received) = received else {
                    self.health.empty(sender as usize, at);
                    break;
                };
                any = true;
                bytes += received.len.max(BATCH / MOST_READS);
                self.health.read(sender as usize, at);
                self.take_in(sender, at, received)?;
            }
        }
        Ok(any)
    }

    /// Puts what was just read onto the path.
    fn take_in(
        &mut self,
        direction: Direction,
        at: Instant,
        received: Received,
    ) -> Result<(), TrialError> {
        let Bridge { directions, store, spare, links, next_id, queue, counters, .. } = self;
        let PathDirection { link, reads, is_gate, .. } = &mut directions[direction as usize];
        let Ok(layout) = store.layout_of(received) else {
            // Not a packet that tcplab asked for, such as a super-packet of datagrams.
            counters.device_drops.add(1);
            return Ok(());
        };
        let look = store.read(received, layout.as_ref());
        let (first, segments) = (*next_id, look.segments);
        *next_id += segments as u64;
        // Captures are of IP packets.
        if let Some(queue) = queue.as_mut().filter(|_| received.link.is_ip()) {
            let endpoint = Endpoint::BOTH[direction as usize];
            queue.left(endpoint, at, first, look.header, look.packet, look.layout);
        }
        counters.direction(direction).packets_in.add(segments as u64);
        counters.direction(direction).bytes_in.add(look.total_size() as u64);
        if let Some(links) = links {
            let ids = first..*next_id;
            ids.for_each(|id| links.keep(id, direction, received.link));
        }
        if *is_gate {
            let serial = store.keep(first, received, layout);
            return self.pass(direction, at, serial, first);
        }
        for segment in 0..segments {
            let id = first + segment as u64;
            let packet = if *reads {
                let mut bytes = spare.pop().unwrap_or_default();
                look.write_segment(segment, &mut bytes);
                Packet::new(id, bytes)
            } else {
                Packet::of_size(id, Bytes::from(look.size(segment)))
            };
            link.handle_packet(at, packet);
        }
        if !*reads {
            store.keep(first, received, layout);
        }
        Ok(())
    }

    /// Gets the verdict on each segment of a super-packet, and passes on what survives at once, in
    /// runs as long as possible.
    fn pass(
        &mut self,
        direction: Direction,
        at: Instant,
        serial: u64,
        id: u64,
    ) -> Result<(), TrialError> {
        let segments = self.store.look(serial).segments;
        if self.directions[direction as usize].is_bare {
            let size = Bytes::from(self.store.look(serial).size(0));
            let verdict = self.directions[direction as usize].link.judge(at, id, size);
            return self.pass_run(direction, serial, 0..=segments - 1, verdict);
        }
        let mut run: Option<(usize, Verdict)> = None;
        for segment in 0..segments {
            let size = Bytes::from(self.store.look(serial).size(segment));
            let link = &mut self.directions[direction as usize].link;
            let verdict = link.judge(at, id + segment as u64, size);
            if verdict.fate == Fate::Delivered {
                run.get_or_insert((segment, verdict));
                continue;
            }
            if let Some((from, verdict)) = run.take() {
                self.pass_run(direction, serial, from..=segment - 1, verdict)?;
            }
            self.verdict(&verdict);
            self.store.release(serial, 1);
        }
        match run {
            Some((from, verdict)) => self.pass_run(direction, serial, from..=segments - 1, verdict),
            None => Ok(()),
        }
    }

    fn pass_run(
        &mut self,
        direction: Direction,
        serial: u64,
        segments: RangeInclusive<usize>,
        verdict: Verdict,
    ) -> Result<(), TrialError> {
        let receiver = direction.opposite() as usize;
        self.hand_over(receiver)?;
        self.outgoing[receiver].push_run(&self.store, serial, segments, verdict);
        self.hand_over(receiver)
    }

    /// Hands over what is due; whether anything was.
    fn deliver(&mut self) -> Result<bool, TrialError> {
        let mut any = false;
        let due = self.clock.now() + self.tuning.lead;
        for index in 0..2 {
            while let Some(departure) = self.directions[index].link.poll(due) {
                any = true;
                self.depart(departure)?;
            }
        }
        for receiver in 0..2 {
            self.hand_over(receiver)?;
        }
        Ok(any)
    }

    /// A packet has left its link.
    fn depart(&mut self, departure: Departure) -> Result<(), TrialError> {
        let Departure { packet, verdict } = departure;
        let place = if packet.bytes.is_empty() { self.store.find(packet.id) } else { None };
        if verdict.fate != Fate::Delivered {
            self.verdict(&verdict);
            self.take_back(packet);
            return Ok(());
        }
        // By the verdict, not by the link: a link may answer a packet with one that goes back.
        let receiver = verdict.direction.opposite() as usize;
        let link = match (&self.links, place) {
            (None, _) => Some(LinkHeader::default()),
            (Some(_), Some(place)) => Some(self.store.look(place.serial).link),
            (Some(links), None) => links.find(&verdict),
        };
        let Some(link) = link else {
            self.counters.device_drops.add(1);
            self.verdict(&verdict);
            self.take_back(packet);
            return Ok(());
        };
        let load = place.map_or_else(|| Load::Owned(packet.bytes), Load::Stored);
        if !self.outgoing[receiver].takes(&self.store, &load, &link, verdict.left) {
            self.hand_over(receiver)?;
        }
        self.outgoing[receiver].push(&self.store, load, link, verdict);
        Ok(())
    }

    /// Hands an endpoint what waits for it.
    fn hand_over(&mut self, receiver: usize) -> Result<(), TrialError> {
        if self.outgoing[receiver].is_empty() {
            return Ok(());
        }
        let is_taken = self.outgoing[receiver]
            .hand_over(&self.store, &mut self.ends[receiver])
            .map_err(TrialError::setup("write to an endpoint's device"))?;
        let at = self.clock.now();
        let Bridge { outgoing, store, spare, queue, counters, health, tuning, .. } = self;
        let endpoint = Endpoint::BOTH[receiver];
        let is_captured = is_taken && outgoing[receiver].link().is_ip();
        for Held { verdict, load, segments } in outgoing[receiver].clear() {
            if is_taken {
                health.handed_over(verdict.left - tuning.lead, at, segments);
            } else {
                counters.device_drops.add(segments as u64);
            }
            let stored = match &load {
                Load::Stored(place) => Some((place.segment, store.look(place.serial))),
                Load::Owned(_) => None,
            };
            if queue.is_none()
                && let Some((first, look)) = &stored
            {
                // Nobody asks for each.
                let way = counters.direction(verdict.direction);
                way.packets_out.add(segments as u64);
                let sizes = (*first..first + segments).map(|segment| look.size(segment) as u64);
                way.bytes_out.add(sizes.sum());
                if let Load::Stored(place) = load {
                    store.release(place.serial, segments);
                }
                continue;
            }
            for more in 0..segments {
                let size = match &stored {
                    Some((first, look)) if more > 0 => Bytes::from(look.size(first + more)),
                    _ => verdict.size,
                };
                let verdict = Verdict { id: verdict.id + more as u64, size, ..verdict };
                count(counters, &verdict);
                if let Some(queue) = queue {
                    let is_unchanged = matches!(load, Load::Stored(_));
                    if let Load::Owned(bytes) = &load
                        && is_captured
                    {
                        queue.entered(endpoint, at, bytes);
                    }
                    queue.verdict(&verdict, (is_captured && is_unchanged).then_some(at));
                }
            }
            match load {
                Load::Stored(place) => store.release(place.serial, segments),
                Load::Owned(bytes) => put_by(spare, bytes),
            }
        }
        Ok(())
    }

    /// A packet left the path without reaching an endpoint.
    fn verdict(&mut self, verdict: &Verdict) {
        count(&self.counters, verdict);
        if let Some(queue) = &mut self.queue {
            queue.verdict(verdict, None);
        }
    }

    fn take_back(&mut self, packet: Packet) {
        if !packet.bytes.is_empty() {
            put_by(&mut self.spare, packet.bytes);
        } else if let Some(place) = self.store.find(packet.id) {
            self.store.release(place.serial, 1);
        }
    }

    /// Does what is not needed for each packet.
    fn look_around(&mut self) {
        self.health.look_at_clock();
        let unread: u64 = self.ends.iter_mut().map(Device::unread_drops).sum();
        self.counters.device_drops.add(unread);
        let Bridge { queue, directions, counters, next_id, .. } = self;
        if let Some(queue) = queue {
            queue.pass_on(|| {
                let on_path = directions.iter().flat_map(|way| way.link.in_flight());
                on_path.map(|packet| packet.id).min().unwrap_or(*next_id)
            });
            counters.capture_drops.set(queue.frames_lost().iter().sum());
            counters.verdict_drops.set(queue.verdicts_lost());
        }
    }

    /// Sleeps until a frame comes or one is soon due.
    fn wait(&mut self) -> Result<(), TrialError> {
        let now = self.clock.now();
        let due = self.directions.iter().filter_map(|way| way.link.poll_at()).min();
        let span = due.map_or(IDLE, |due| due.since(now + self.tuning.lead).min(IDLE));
        let may_stay_awake = self.budget.allows(now);
        let awake = if may_stay_awake && span < IDLE { self.tuning.spin } else { Span::ZERO };
        if span <= awake {
            return Ok(());
        }
        let span = span - awake;
        let timeout = Timespec { tv_sec: 0, tv_nsec: span.as_nanos().cast_signed() };
        let mut fds = [
            PollFd::from_borrowed_fd(self.ends[0].as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.ends[1].as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {
                let now = self.clock.now();
                self.health.slept(now);
                self.budget.slept(now);
                Ok(())
            }
            Err(errno) => Err(TrialError::setup("wait for frames")(errno.into())),
        }
    }
}

fn count(counters: &Counters, verdict: &Verdict) {
    let way = counters.direction(verdict.direction);
    let made = u64::from(verdict.is_made());
    match verdict.fate {
        Fate::Delivered => {
            way.packets_out.add(1);
            way.bytes_out.add(verdict.size.as_u64());
            way.made_out.add(made);
        }
        Fate::Dropped(cause) => {
            way.drop_for(cause);
            way.made_dropped.add(made);
        }
        Fate::StillOnLink | Fate::Absorbed => {}
    }
}

/// Keeps a buffer for reuse.
fn put_by(spare: &mut Vec<Vec<u8>>, mut bytes: Vec<u8>) {
    if spare.len() < MOST_SPARE {
        bytes.clear();
        spare.push(bytes);
    }
}
