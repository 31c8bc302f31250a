//! Two hosts, the path between them, and what happens next.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_path::{Direction, Fate, LinkPlan};
use tcplab_recording::{Captured, RecordingError, RecordingWriter};
use tcplab_stack::Segment;
use tcplab_units::{Endpoint, Instant, Span};

use crate::host::Host;
use crate::lane::{Carried, Lane, Out};
use crate::packets::{self, Address};
use crate::queue::EventQueue;
use crate::reassembly::Reassembly;

/// The sources of events. Of those due together the first comes first: what arrives comes before
/// what a host does by itself, and that before anybody looks.
const LINKS: [usize; 2] = [0, 1];
/// Client and server of the first pair, then those of the next.
const HOSTS: usize = 2;

/// Once both applications are done, whatever may come of their connection, nothing must move for so
/// long: as long as a trial in the kernel's world lasts then.
const QUIET: Span = Span::from_millis(50);

/// Whether to stop is asked once in so many events.
const LOOK: u64 = 4096;

/// The world of one trial.
pub(crate) struct World {
    now: Instant,
    queue: EventQueue,
    /// Client and server of the connections there are at once.
    pairs: Vec<[Host; 2]>,
    /// Those that are looked at, by the client's port; of a flow that has samples of its own, its
    /// name.
    sampled: Vec<(u16, Option<String>)>,
    /// Those that come when others are over.
    more: VecDeque<[Host; 2]>,
    /// Those of several flows that are still to come, where there are flows.
    flows: Option<ToCome>,
    /// Those that are over, as they are told of.
    over: Vec<[Host; 2]>,
    /// Forward and reverse.
    lanes: [Lane; 2],
    /// At the client and at the server.
    reassembly: [Reassembly; 2],
    /// The id of the next packet.
    next_id: u64,
    recorder: Option<Recorder>,
    /// Both applications are done, and nothing is on the links.
    rests: bool,
    /// Hosts that something has reached, between two uses.
    reached: Vec<usize>,
    /// Events so far.
    pub(crate) events: u64,
}

/// Who writes down what happens.
pub(crate) struct Recorder {
    pub(crate) writer: RecordingWriter,
    /// The time between two looks at the sockets.
    pub(crate) sampling: Span,
    /// The bytes of the packet at hand.
    packet: Vec<u8>,
}

/// Pairs that come at their times.
struct ToCome {
    /// In the order of their times.
    pairs: VecDeque<(Instant, [Host; 2])>,
    /// Of these, those that are waited for.
    awaited: usize,
}

/// What a world leaves: all pairs, in the order in which they began; when it ended; the recording.
pub(crate) type Ended = (Vec<[Host; 2]>, Instant, Option<RecordingWriter>);

impl Recorder {
    pub(crate) fn new(writer: RecordingWriter, sampling: Span) -> Recorder {
        Recorder { writer, sampling, packet: Vec::new() }
    }
}

impl World {
    /// The world at its zero: nothing has happened yet.
    /// So many of the `pairs` are there `at_once`.
    pub(crate) fn new(
        pairs: Vec<[Host; 2]>,
        at_once: usize,
        plans: &[LinkPlan; 2],
        seed: u64,
        recorder: Option<Recorder>,
    ) -> World {
        let mut pairs = pairs;
        let more = pairs.split_off(at_once.min(pairs.len())).into();
        World {
            now: Instant::ZERO,
            queue: EventQueue::new(HOSTS + 2 * pairs.len() + 2),
            lanes: [
                Lane::new(&plans[0], seed, Direction::Forward),
                Lane::new(&plans[1], seed, Direction::Reverse),
            ],
            sampled: pairs
                .first()
                .map(|[client, _]| (client.address().port, None))
                .into_iter()
                .collect(),
            pairs,
            more,
            flows: None,
            over: Vec::new(),
            reassembly: Default::default(),
            next_id: 1,
            recorder,
            rests: false,
            reached: Vec::new(),
            events: 0,
        }
    }

    /// The world of several flows: pairs that come at their times, in order of these, and the
    /// ports of those that are looked at.
    pub(crate) fn of_flows(
        pairs: VecDeque<(Instant, [Host; 2])>,
        sampled: Vec<(u16, Option<String>)>,
        plans: &[LinkPlan; 2],
        seed: u64,
        recorder: Option<Recorder>,
    ) -> World {
        let awaited = pairs.iter().filter(|(_, [client, _])| !client.is_background()).count();
        let mut world = World::new(Vec::new(), 0, plans, seed, recorder);
        world.queue.insert(world.sampler() + 2, 1);
        world.queue.set(world.sampler() + 2, pairs.front().map(|(start, _)| *start));
        World { flows: Some(ToCome { pairs, awaited }), sampled, ..world }
    }

    /// Lets things happen until the connection is over on both sides and nothing is on the links,
    /// `limit` has come, or `stop` is set.
    pub(crate) fn run(&mut self, limit: Instant, stop: &AtomicBool) -> Result<(), RecordingError> {
        for index in 0..2 * self.pairs.len() {
            self.serve(index)?;
        }
        if let Some(recorder) = &self.recorder {
            self.queue.set(self.sampler(), Some(Instant::ZERO + recorder.sampling));
        }
        while let Some((at, source)) = self.queue.pop() {
            if at > limit {
                self.now = limit;
                break;
            }
            self.now = at;
            self.events += 1;
            if source == self.sampler() + 1 {
                break;
            } else if source == self.sampler() {
                self.sample()?;
            } else if source == self.sampler() + 2 {
                self.begin_flows()?;
            } else if LINKS.contains(&source) {
                self.deliver(source - LINKS[0])?;
            } else {
                let index = source - HOSTS;
                let now = self.now;
                self.host(index).handle_timeout(now);
                self.serve(index)?;
            }
            self.replace()?;
            self.relieve()?;
            let mut hosts = self.pairs.iter().flatten();
            if self.flows.is_some() {
                if self.are_flows_over() {
                    break;
                }
            } else if hosts.clone().all(Host::is_done) || hosts.any(Host::has_failed) {
                let is_quiet = self.lanes.iter().all(Lane::is_empty);
                if is_quiet && self.pairs.iter().flatten().all(Host::is_over) {
                    break;
                }
                self.rest(is_quiet);
            }
            if self.events.is_multiple_of(LOOK) && stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Those begin whose time has come, in the place of others that are over, if there are any.
    fn begin_flows(&mut self) -> Result<(), RecordingError> {
        while let Some(ToCome { pairs, awaited }) = &mut self.flows
            && pairs.front().is_some_and(|(start, _)| *start <= self.now)
            && let Some((_, pair)) = pairs.pop_front()
        {
            *awaited -= usize::from(!pair[0].is_background());
            let is_free = |pair: &[Host; 2]| pair.iter().all(Host::is_over);
            let at = if let Some(at) = self.pairs.iter().position(is_free) {
                self.over.push(std::mem::replace(&mut self.pairs[at], pair));
                at
            } else {
                self.queue.insert(self.sampler(), 2);
                self.pairs.push(pair);
                self.pairs.len() - 1
            };
            self.serve(2 * at)?;
            self.serve(2 * at + 1)?;
        }
        let next = self.flows.as_ref().and_then(|flows| flows.pairs.front());
        let next = next.map(|(start, _)| *start);
        self.queue.set(self.sampler() + 2, next);
        Ok(())
    }

    /// Whether nothing is waited for any more: all flows that are not in the background are over,
    /// and, where there is nothing in the background either, nothing is on the links.
    fn are_flows_over(&mut self) -> bool {
        let hosts = || self.pairs.iter().flatten();
        if hosts().any(Host::has_failed) {
            return true;
        }
        let Some(ToCome { pairs, awaited }) = &self.flows else { return false };
        let awaited_ones = || hosts().filter(|host| !host.is_background());
        if *awaited > 0 || !awaited_ones().all(Host::is_done) {
            return false;
        }
        if !awaited_ones().all(Host::is_over) {
            // What is left of a connection may take for ever.
            if awaited_ones().all(Host::may_fail) && !self.rests {
                self.rests = true;
                self.queue.set(self.sampler() + 1, Some(self.now + QUIET));
            }
            return false;
        }
        let goes_on = !pairs.is_empty() || !hosts().all(Host::is_over);
        goes_on || self.lanes.iter().all(Lane::is_empty)
    }

    /// Where the sampler stands among the sources; behind it, the end of a rest, and the beginning
    /// of flows.
    fn sampler(&self) -> usize {
        HOSTS + 2 * self.pairs.len()
    }

    fn host(&mut self, index: usize) -> &mut Host {
        &mut self.pairs[index / 2][index % 2]
    }

    /// Where a connection is over, the next begins.
    fn replace(&mut self) -> Result<(), RecordingError> {
        for at in 0..self.pairs.len() {
            while !self.more.is_empty()
                && self.pairs[at].iter().all(Host::is_over)
                && !self.pairs[at].iter().any(Host::has_failed)
                && let Some(next) = self.more.pop_front()
            {
                self.over.push(std::mem::replace(&mut self.pairs[at], next));
                self.serve(2 * at)?;
                self.serve(2 * at + 1)?;
            }
        }
        Ok(())
    }

    /// Whoever waits for a buffer of its machine goes on once there is one, whoever freed it.
    fn relieve(&mut self) -> Result<(), RecordingError> {
        for index in 0..2 * self.pairs.len() {
            if self.host(index).is_relieved() {
                self.serve(index)?;
            }
        }
        Ok(())
    }

    /// What is left of a connection when both applications are done may take for ever; a trial in
    /// which that can be waits until nothing moves.
    fn rest(&mut self, is_quiet: bool) {
        let rests = is_quiet && self.pairs.iter().flatten().all(Host::may_fail);
        if rests != self.rests {
            self.rests = rests;
            self.queue.set(self.sampler() + 1, rests.then(|| self.now + QUIET));
        }
    }

    /// Ends it: what is on the links is judged. Gives the pairs back, when it ended, and the
    /// recording, not yet closed.
    pub(crate) fn end(mut self) -> Result<Ended, RecordingError> {
        for lane in &mut self.lanes {
            for verdict in lane.drain(self.now) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.writer.judged(&verdict)?;
                }
            }
        }
        self.over.append(&mut self.pairs);
        self.over.extend(self.more);
        self.over.sort_by_key(|pair| pair[0].address().port);
        Ok((self.over, self.now, self.recorder.map(|recorder| recorder.writer)))
    }

    /// Packets that the endpoints sent so far.
    pub(crate) fn packets(&self) -> u64 {
        self.next_id - 1
    }

    /// What left a link reaches the other end, or does not.
    fn deliver(&mut self, lane: usize) -> Result<(), RecordingError> {
        let mut reached = std::mem::take(&mut self.reached);
        while let Some(Out { verdict, what }) = self.lanes[lane].poll(self.now) {
            let end = match verdict.direction {
                Direction::Forward => 1,
                Direction::Reverse => 0,
            };
            let is_delivered = verdict.fate == Fate::Delivered;
            if let Some(Recorder { writer, .. }) = &mut self.recorder {
                let endpoint = Endpoint::BOTH[end];
                match &what {
                    Carried::Untouched(..) if is_delivered => {
                        writer.arrived(endpoint, self.now, verdict.id)?;
                    }
                    Carried::Bytes(bytes) if is_delivered => {
                        writer.entered(endpoint, self.now, whole(bytes))?;
                    }
                    _ => {}
                }
                writer.judged(&verdict)?;
            }
            if !is_delivered {
                continue;
            }
            let found = match what {
                Carried::Untouched(port, segment) => {
                    let found = self.pair_of(port).map(|pair| 2 * pair + end);
                    found.inspect(|index| self.hand_over(*index, &segment))
                }
                Carried::Bytes(bytes) => self.take_in(end, bytes),
            };
            if let Some(index) = found.filter(|index| !reached.contains(index)) {
                reached.push(index);
            }
        }
        self.queue.set(LINKS[lane], self.lanes[lane].poll_at());
        reached.sort_unstable();
        for index in reached.drain(..) {
            self.serve(index)?;
        }
        self.reached = reached;
        Ok(())
    }

    /// The connection of a client's port, if it is still there.
    fn pair_of(&self, port: u16) -> Option<usize> {
        self.pairs.iter().position(|pair| pair[0].address().port == port)
    }

    fn hand_over(&mut self, index: usize, segment: &Segment) {
        let now = self.now;
        self.host(index).handle_segment(now, segment);
    }

    /// A packet, or a piece of one, reaches one end; the host that it was for, if it was for one.
    fn take_in(&mut self, end: usize, packet: Vec<u8>) -> Option<usize> {
        let packet = self.reassembly[end].add(self.now, packet)?;
        if let Some((index, segment)) = self.taker(end, &packet) {
            self.hand_over(index, &segment);
            return Some(index);
        }
        let to = self.pairs.first()?[end].address().ip;
        let told = packets::too_big(&packet, to)?;
        let is_it = |pair: &[Host; 2]| [end, 1 - end].map(|end| pair[end].address()) == told.ends;
        let index = 2 * self.pairs.iter().position(is_it)? + end;
        let now = self.now;
        if let Some(path) = self.host(index).handle_too_big(now, &told) {
            let later = self.flows.iter_mut().flat_map(|flows| &mut flows.pairs);
            let later = later.map(|(_, pair)| pair);
            let others = self.pairs.iter_mut().chain(&mut self.more).chain(later);
            others.for_each(|pair| pair[end].learn(path));
        }
        Some(index)
    }

    /// The host at one end that takes a packet, and the segment in it.
    fn taker(&self, end: usize, packet: &[u8]) -> Option<(usize, Segment)> {
        self.pairs.iter().enumerate().find_map(|(at, pair)| {
            let [to, from] = [end, 1 - end].map(|end| pair[end].address());
            Some((2 * at + end, packets::segment(packet, from, to)?))
        })
    }

    /// A host's application goes on, and what its stack has to send goes onto the link.
    fn serve(&mut self, index: usize) -> Result<(), RecordingError> {
        let end = index % 2;
        let pair = &mut self.pairs[index / 2];
        let [client, server] = [&pair[0], &pair[1]].map(Host::address);
        let ends: [Address; 2] = if end == 0 { [client, server] } else { [server, client] };
        let host = &mut pair[end];
        host.drive(self.now);
        loop {
            let mut sent = false;
            while let Some((segment, cause, marking)) = host.poll_transmit(self.now) {
                sent = true;
                let id = self.next_id;
                self.next_id += 1;
                if let Some(Recorder { writer, packet, .. }) = &mut self.recorder {
                    packets::write(&segment, ends, marking, packet);
                    let captured = whole(packet);
                    let because = cause.name();
                    writer.left_because(Endpoint::BOTH[end], self.now, id, captured, because)?;
                }
                self.lanes[end].send(self.now, id, (client.port, segment), marking, ends);
            }
            if sent {
                self.queue.set(LINKS[end], self.lanes[end].poll_at());
            }
            // Only when all has left that can is an application called that waits for room.
            if !host.drive(self.now) {
                break;
            }
        }
        self.queue.set(HOSTS + index, host.poll_at());
        Ok(())
    }

    /// Looks at both sockets, as `TCP_INFO` would.
    fn sample(&mut self) -> Result<(), RecordingError> {
        let sampler = self.sampler();
        let Some(Recorder { writer, sampling, .. }) = &mut self.recorder else { return Ok(()) };
        // Of many connections the first tells.
        for (port, flow) in &self.sampled {
            let is_it = |pair: &&[Host; 2]| pair[0].address().port == *port;
            let pair = self.over.iter().chain(&self.pairs).find(is_it);
            for host in pair.into_iter().flatten() {
                let Some(sample) = host.sample(self.now) else { continue };
                match flow {
                    None => writer.sampled(&sample)?,
                    Some(flow) => writer.sampled_of(flow, &sample)?,
                }
            }
        }
        self.queue.set(sampler, Some(self.now + *sampling));
        Ok(())
    }
}

/// A packet of which all is kept.
fn whole(bytes: &[u8]) -> Captured<'_> {
    Captured { bytes, original_len: bytes.len() as u32 }
}
