//! The world of a trial: pairs of hosts, the path between them, and the loop over events.

use tcplab_path::{Direction, Fate, LinkPlan};
use tcplab_recording::{Captured, RecordingError, RecordingWriter};
use tcplab_stack::Segment;
use tcplab_units::{Endpoint, Instant, Span};

use crate::calls::Driven;
use crate::host::Host;
use crate::lane::{Carried, Lane, Out};
use crate::packets::{self, Address, whole};
use crate::queue::EventQueue;
use crate::reassembly::Reassembly;
use crate::upcoming::{PlannedPair, Upcoming};

/// The sources of events. Of those due together the timers of hosts come first, as on a kernel in
/// virtual time, then arrivals, then samples.
const LINKS: [usize; 2] = [0, 1];
/// Client and server of the first pair, then those of the next; behind them the sampler, the end of
/// a rest, and the connections that begin.
const HOSTS: usize = 2;

/// A trial whose applications are done, but not their connections, ends when nothing has moved for
/// so long, as in the kernel's world.
const QUIET: Span = Span::from_millis(50);

/// It is asked whether it is stopped once per this many events.
const LOOK: u64 = 1024;

/// Whether to end a trial early.
pub(crate) type IsStopped<'a> = &'a mut dyn FnMut() -> bool;

/// The world of one trial.
pub(crate) struct World {
    now: Instant,
    queue: EventQueue,
    /// Client and server of each connection that has begun and not been replaced.
    pairs: Vec<[Host; 2]>,
    /// The connections whose sockets are sampled, by the client's port; with the name of the flow,
    /// if it has a file of its own.
    sampled: Vec<(u16, Option<String>)>,
    upcoming: Upcoming,
    /// Connections that are over and were replaced.
    over: Vec<[Host; 2]>,
    /// Forward and reverse.
    lanes: [Lane; 2],
    /// At the client and at the server.
    reassembly: [Reassembly; 2],
    /// The id of the next packet.
    next_id: u64,
    recorder: Option<Recorder>,
    /// The applications are done, and nothing is on the links.
    rests: bool,
    /// Scratch: packets that reached an end.
    arrived: Vec<(usize, Carried)>,
    /// Scratch: hosts that a packet has reached.
    reached: Vec<usize>,
    /// Events so far.
    pub(crate) events: u64,
}

/// The recording being made.
pub(crate) struct Recorder {
    pub(crate) writer: RecordingWriter,
    /// The time between two samples, if they are not taken at each acknowledgement.
    pub(crate) sampling: Option<Span>,
    /// Scratch: a packet.
    packet: Vec<u8>,
}

/// What a world leaves: the connections that began, and those that waited for a place, in the order
/// of the plan; when it ended; the recording, not yet closed.
pub(crate) type Ended = (Vec<[Host; 2]>, Instant, Option<RecordingWriter>);

impl Recorder {
    pub(crate) fn new(writer: RecordingWriter, sampling: Option<Span>) -> Recorder {
        Recorder { writer, sampling, packet: Vec::new() }
    }
}

impl World {
    /// The world at its zero, where no connection has begun.
    pub(crate) fn new(
        pairs: Vec<PlannedPair>,
        sampled: Vec<(u16, Option<String>)>,
        plans: &[LinkPlan; 2],
        seed: u64,
        recorder: Option<Recorder>,
    ) -> World {
        World {
            now: Instant::ZERO,
            queue: EventQueue::new(HOSTS + 3),
            lanes: [
                Lane::new(&plans[0], seed, Direction::Forward),
                Lane::new(&plans[1], seed, Direction::Reverse),
            ],
            pairs: Vec::new(),
            sampled,
            upcoming: Upcoming::of(pairs),
            over: Vec::new(),
            reassembly: Default::default(),
            next_id: 1,
            recorder,
            rests: false,
            arrived: Vec::new(),
            reached: Vec::new(),
            events: 0,
        }
    }

    /// Runs until the trial is over, `limit` has come, or it `is_stopped`.
    pub(crate) fn run(
        &mut self,
        limit: Instant,
        is_stopped: IsStopped<'_>,
    ) -> Result<(), RecordingError> {
        self.queue.set(self.beginner(), self.upcoming.next_start());
        if let Some(recorder) = &self.recorder {
            let first = recorder.sampling.map(|sampling| Instant::ZERO + sampling);
            self.queue.set(self.sampler(), first);
        }
        while let Some((at, source)) = self.next_event() {
            if at > limit {
                self.now = limit;
                break;
            }
            self.now = at;
            self.events += 1;
            if source == self.rest_end() {
                break;
            } else if source == self.sampler() {
                self.sample()?;
            } else if source == self.beginner() {
                self.begin_due()?;
            } else if LINKS.contains(&source) {
                self.deliver(source - LINKS[0])?;
            } else {
                let index = source - HOSTS;
                let now = self.now;
                self.host(index).handle_timeout(now);
                self.serve(index, false)?;
            }
            self.replace()?;
            self.relieve()?;
            if self.is_over() {
                break;
            }
            if self.events.is_multiple_of(LOOK) && is_stopped() {
                break;
            }
        }
        Ok(())
    }

    /// The next event. Hosts whose timers expire on one tick come in the order of their
    /// connections, whatever place these took.
    fn next_event(&mut self) -> Option<(Instant, usize)> {
        let (sampler, pairs) = (self.sampler(), &self.pairs);
        self.queue.pop_by(|source| match source.checked_sub(HOSTS) {
            Some(index) if source < sampler => HOSTS + rank_of(pairs, index),
            _ => AFTER_HOSTS + source,
        })
    }

    /// Begins the connections whose time has come, in the place of others that are over, if any.
    fn begin_due(&mut self) -> Result<(), RecordingError> {
        while let Some(pair) = self.upcoming.pop_due(self.now) {
            let is_free = |pair: &[Host; 2]| pair.iter().all(Host::is_over);
            if let Some(place) = self.pairs.iter().position(is_free) {
                self.begin_in(place, pair)?;
            } else {
                self.queue.insert(self.sampler(), 2);
                self.pairs.push(pair);
                self.serve_pair(self.pairs.len() - 1)?;
            }
        }
        self.queue.set(self.beginner(), self.upcoming.next_start());
        Ok(())
    }

    /// Begins a connection in the place of one that is over.
    fn begin_in(&mut self, place: usize, pair: [Host; 2]) -> Result<(), RecordingError> {
        self.over.push(std::mem::replace(&mut self.pairs[place], pair));
        self.serve_pair(place)
    }

    fn serve_pair(&mut self, place: usize) -> Result<(), RecordingError> {
        self.serve(2 * place, false)?;
        self.serve(2 * place + 1, false)
    }

    /// Whether all connections that the trial waits for are over and, without background flows, the
    /// links are empty. After a failure the trial is over at once.
    fn is_over(&mut self) -> bool {
        let hosts = || self.pairs.iter().flatten();
        let awaited = || hosts().filter(|host| !host.is_background);
        let is_done = self.upcoming.awaited == 0 && awaited().all(Host::is_done);
        if !is_done && !hosts().any(Host::has_failed) {
            return false;
        }
        let goes_on = !self.upcoming.timed.is_empty()
            || hosts().any(|host| host.is_background && !host.is_over());
        let is_quiet = goes_on || self.lanes.iter().all(Lane::is_empty);
        if is_quiet && awaited().all(Host::is_over) {
            return true;
        }
        // The rest of a connection may never end.
        let rests = is_quiet && awaited().all(Host::may_fail);
        if rests != self.rests {
            self.rests = rests;
            self.queue.set(self.rest_end(), rests.then(|| self.now + QUIET));
        }
        false
    }

    /// The source of samples; the two below follow it.
    fn sampler(&self) -> usize {
        HOSTS + 2 * self.pairs.len()
    }

    /// The source of the end of a rest.
    fn rest_end(&self) -> usize {
        self.sampler() + 1
    }

    /// The source of connections that begin at their times.
    fn beginner(&self) -> usize {
        self.sampler() + 2
    }

    fn host(&mut self, index: usize) -> &mut Host {
        &mut self.pairs[index / 2][index % 2]
    }

    /// Where a connection is over, the next that waits begins.
    fn replace(&mut self) -> Result<(), RecordingError> {
        for place in 0..self.pairs.len() {
            while !self.upcoming.waiting.is_empty()
                && self.pairs[place].iter().all(|host| host.is_over() && !host.has_failed())
                && let Some(next) = self.upcoming.waiting.pop_front()
            {
                self.begin_in(place, next)?;
            }
        }
        Ok(())
    }

    /// Serves hosts that wait for a buffer of their machine, if one is free.
    fn relieve(&mut self) -> Result<(), RecordingError> {
        for index in 0..2 * self.pairs.len() {
            if self.host(index).is_relieved() {
                self.serve(index, false)?;
            }
        }
        Ok(())
    }

    /// Ends it: packets on the links get their verdicts.
    pub(crate) fn end(mut self) -> Result<Ended, RecordingError> {
        for lane in &mut self.lanes {
            for verdict in lane.drain(self.now) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.writer.verdict(&verdict)?;
                }
            }
        }
        self.over.append(&mut self.pairs);
        self.over.extend(self.upcoming.waiting);
        self.over.sort_by_key(|pair| pair[0].address.port);
        Ok((self.over, self.now, self.recorder.map(|recorder| recorder.writer)))
    }

    /// Packets that the endpoints sent so far.
    pub(crate) fn packets(&self) -> u64 {
        self.next_id - 1
    }

    /// Delivers the packets that left a link. The stack answers each, one after the other; the
    /// applications come after all of this instant.
    fn deliver(&mut self, lane: usize) -> Result<(), RecordingError> {
        let mut arrived = std::mem::take(&mut self.arrived);
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
                writer.verdict(&verdict)?;
            }
            if is_delivered {
                arrived.push((end, what));
            }
        }
        self.queue.set(LINKS[lane], self.lanes[lane].poll_at());
        let mut reached = std::mem::take(&mut self.reached);
        for (end, what) in arrived.drain(..) {
            let found = match what {
                Carried::Untouched(port, segment) => {
                    let found = self.pair_of(port).map(|pair| 2 * pair + end);
                    found.inspect(|index| self.hand_over(*index, &segment))
                }
                Carried::Bytes(bytes) => self.take_in(end, bytes),
            };
            if let Some(index) = found {
                self.transmit(index)?;
                if !reached.contains(&index) {
                    reached.push(index);
                }
            }
        }
        self.arrived = arrived;
        reached.sort_unstable_by_key(|index| rank_of(&self.pairs, *index));
        for index in reached.drain(..) {
            self.serve(index, true)?;
        }
        self.reached = reached;
        Ok(())
    }

    /// The connection of a client's port, if it is still there.
    fn pair_of(&self, port: u16) -> Option<usize> {
        self.pairs.iter().position(|pair| pair[0].address.port == port)
    }

    fn hand_over(&mut self, index: usize, segment: &Segment) {
        let now = self.now;
        self.host(index).handle_segment(now, segment);
    }

    /// Takes a packet or a fragment at one end; the host that it was for, if any.
    fn take_in(&mut self, end: usize, packet: Vec<u8>) -> Option<usize> {
        let packet = self.reassembly[end].add(self.now, packet)?;
        if let Some((index, segment)) = self.taker(end, &packet) {
            self.hand_over(index, &segment);
            return Some(index);
        }
        let to = self.pairs.first()?[end].address.ip;
        let error = packets::too_big(&packet, to)?;
        let is_it = |pair: &[Host; 2]| [end, 1 - end].map(|end| pair[end].address) == error.ends;
        let index = 2 * self.pairs.iter().position(is_it)? + end;
        let now = self.now;
        if let Some(path) = self.host(index).handle_too_big(now, &error) {
            let Upcoming { timed, waiting, .. } = &mut self.upcoming;
            let later = timed.iter_mut().map(|(_, pair)| pair).chain(waiting);
            self.pairs.iter_mut().chain(later).for_each(|pair| pair[end].learn(path));
        }
        Some(index)
    }

    /// The host at one end that takes a packet, and the segment in it.
    fn taker(&self, end: usize, packet: &[u8]) -> Option<(usize, Segment)> {
        self.pairs.iter().enumerate().find_map(|(at, pair)| {
            let [to, from] = [end, 1 - end].map(|end| pair[end].address);
            Some((2 * at + end, packets::segment(packet, from, to)?))
        })
    }

    /// Runs a host's application; what its stack sends goes onto the link. `has_sent`: the stack
    /// has sent all it could, and has more only if the application does something.
    fn serve(&mut self, index: usize, has_sent: bool) -> Result<(), RecordingError> {
        let now = self.now;
        let driven = self.host(index).drive(now);
        let mut goes_on = !has_sent || driven != Driven::Nothing;
        while goes_on {
            self.transmit(index)?;
            // An application that waits for room continues once all that can has left.
            goes_on = self.host(index).drive(now) == Driven::Returned;
        }
        let due = self.host(index).poll_at();
        self.queue.set(HOSTS + index, due);
        self.look(index)
    }

    /// What a host's stack sends goes onto the link.
    fn transmit(&mut self, index: usize) -> Result<(), RecordingError> {
        let end = index % 2;
        let pair = &mut self.pairs[index / 2];
        let [client, server] = [&pair[0], &pair[1]].map(|host| host.address);
        let ends: [Address; 2] = if end == 0 { [client, server] } else { [server, client] };
        let mut sent = false;
        while let Some((segment, cause, marking)) = pair[end].poll_transmit(self.now) {
            sent = true;
            let id = self.next_id;
            self.next_id += 1;
            if let Some(Recorder { writer, packet, .. }) = &mut self.recorder {
                let most = writer.snaplen();
                let original_len = packets::write_beginning(&segment, ends, marking, most, packet);
                let captured = Captured { bytes: packet, original_len };
                let because = cause.name();
                writer.left_because(Endpoint::BOTH[end], self.now, id, captured, because)?;
            }
            self.lanes[end].send(self.now, id, (client.port, segment), marking, ends);
        }
        if sent {
            self.queue.set(LINKS[end], self.lanes[end].poll_at());
        }
        Ok(())
    }

    /// Samples the sockets, as `TCP_INFO` would.
    fn sample(&mut self) -> Result<(), RecordingError> {
        let sampler = self.sampler();
        let Some(Recorder { writer, sampling, .. }) = &mut self.recorder else { return Ok(()) };
        for (port, flow) in &self.sampled {
            let is_it = |pair: &&[Host; 2]| pair[0].address.port == *port;
            let pair = self.over.iter().chain(&self.pairs).find(is_it);
            for host in pair.into_iter().flatten() {
                let Some(sample) = host.sample(self.now) else { continue };
                match flow {
                    None => writer.sampled(&sample)?,
                    Some(flow) => writer.sampled_of(flow, &sample)?,
                }
            }
        }
        self.queue.set(sampler, sampling.map(|sampling| self.now + sampling));
        Ok(())
    }

    /// Samples a host's socket, if its sender has changed and that is looked at.
    fn look(&mut self, index: usize) -> Result<(), RecordingError> {
        let Some(Recorder { writer, sampling: None, .. }) = &mut self.recorder else {
            return Ok(());
        };
        let pair = &mut self.pairs[index / 2];
        let port = pair[0].address.port;
        let Some((_, flow)) = self.sampled.iter().find(|(sampled, _)| *sampled == port) else {
            return Ok(());
        };
        match (pair[index % 2].changed_sample(self.now), flow) {
            (None, _) => Ok(()),
            (Some(sample), None) => writer.sampled(&sample),
            (Some(sample), Some(flow)) => writer.sampled_of(flow, &sample),
        }
    }
}

/// More than the rank of any host.
const AFTER_HOSTS: usize = HOSTS + 2 * (u16::MAX as usize + 1);

/// The rank of a host among those of an instant.
fn rank_of(pairs: &[[Host; 2]], index: usize) -> usize {
    2 * usize::from(pairs[index / 2][0].address.port) + index % 2
}
