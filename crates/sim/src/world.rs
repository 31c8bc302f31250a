//! Two hosts, the path between them, and what happens next.

use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_path::{Direction, Fate, LinkPlan};
use tcplab_recording::{Captured, Endpoint, RecordingError, RecordingWriter};
use tcplab_units::{Instant, Span};

use crate::host::Host;
use crate::lane::{Carried, Lane, Out};
use crate::packets::{self, Address};
use crate::queue::EventQueue;

/// The sources of events. Of those due together the first comes first: what arrives comes before
/// what a host does by itself.
const LINKS: [usize; 2] = [0, 1];
const HOSTS: [usize; 2] = [2, 3];
const SAMPLER: usize = 4;
const REST: usize = 5;
const SOURCES: usize = 6;

/// Once both applications are done, whatever may come of their connection, nothing must move for so
/// long: as long as a trial in the kernel's world lasts then.
const QUIET: Span = Span::from_millis(50);

/// Whether to stop is asked once in so many events.
const LOOK: u64 = 4096;

/// The world of one trial.
pub(crate) struct World {
    now: Instant,
    queue: EventQueue,
    /// Client and server.
    hosts: [Host; 2],
    /// Forward and reverse.
    lanes: [Lane; 2],
    /// The id of the next packet.
    next_id: u64,
    recorder: Option<Recorder>,
    /// Both applications are done, and nothing is on the links.
    rests: bool,
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

impl Recorder {
    pub(crate) fn new(writer: RecordingWriter, sampling: Span) -> Recorder {
        Recorder { writer, sampling, packet: Vec::new() }
    }
}

impl World {
    /// The world at its zero: nothing has happened yet.
    pub(crate) fn new(
        hosts: [Host; 2],
        plans: &[LinkPlan; 2],
        seed: u64,
        recorder: Option<Recorder>,
    ) -> World {
        let [client, server] = [&hosts[0], &hosts[1]].map(Host::address);
        let lane = |direction, plan, ends| Lane::new(plan, seed, direction, ends);
        World {
            now: Instant::ZERO,
            queue: EventQueue::new(SOURCES),
            lanes: [
                lane(Direction::Forward, &plans[0], [client, server]),
                lane(Direction::Reverse, &plans[1], [server, client]),
            ],
            hosts,
            next_id: 1,
            recorder,
            rests: false,
            events: 0,
        }
    }

    /// Lets things happen until the connection is over on both sides and nothing is on the links,
    /// `limit` has come, or `stop` is set.
    pub(crate) fn run(&mut self, limit: Instant, stop: &AtomicBool) -> Result<(), RecordingError> {
        for end in 0..2 {
            self.serve(end)?;
        }
        if let Some(recorder) = &self.recorder {
            self.queue.set(SAMPLER, Some(Instant::ZERO + recorder.sampling));
        }
        while let Some((at, source)) = self.queue.pop() {
            if at > limit {
                self.now = limit;
                break;
            }
            self.now = at;
            self.events += 1;
            if source == REST {
                break;
            } else if source == SAMPLER {
                self.sample()?;
            } else if LINKS.contains(&source) {
                self.deliver(source - LINKS[0])?;
            } else {
                let end = source - HOSTS[0];
                self.hosts[end].handle_timeout(self.now);
                self.serve(end)?;
            }
            if self.hosts.iter().all(Host::is_done) || self.hosts.iter().any(Host::has_failed) {
                let is_quiet = self.lanes.iter().all(Lane::is_empty);
                if is_quiet && self.hosts.iter().all(Host::is_over) {
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

    /// What is left of a connection when both applications are done may take for ever; a trial in
    /// which that can be waits until nothing moves.
    fn rest(&mut self, is_quiet: bool) {
        let rests = is_quiet && self.hosts.iter().all(Host::may_fail);
        if rests != self.rests {
            self.rests = rests;
            self.queue.set(REST, rests.then(|| self.now + QUIET));
        }
    }

    /// Ends it: what is on the links is judged. Gives the hosts back, when it ended, and the
    /// recording, not yet closed.
    pub(crate) fn end(
        mut self,
    ) -> Result<([Host; 2], Instant, Option<RecordingWriter>), RecordingError> {
        for lane in &mut self.lanes {
            for verdict in lane.drain(self.now) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.writer.judged(&verdict)?;
                }
            }
        }
        Ok((self.hosts, self.now, self.recorder.map(|recorder| recorder.writer)))
    }

    /// Packets that the endpoints sent so far.
    pub(crate) fn packets(&self) -> u64 {
        self.next_id - 1
    }

    /// What left a link reaches the other end, or does not.
    fn deliver(&mut self, lane: usize) -> Result<(), RecordingError> {
        let mut reached = [false; 2];
        while let Some(Out { verdict, what }) = self.lanes[lane].poll(self.now) {
            let end = match verdict.direction {
                Direction::Forward => 1,
                Direction::Reverse => 0,
            };
            let is_delivered = verdict.fate == Fate::Delivered;
            if let Some(Recorder { writer, .. }) = &mut self.recorder {
                let endpoint = Endpoint::BOTH[end];
                match &what {
                    Carried::Untouched(_) if is_delivered => {
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
            let segment = match what {
                Carried::Untouched(segment) => Some(segment),
                Carried::Bytes(bytes) => {
                    let [to, from] = [end, 1 - end].map(|end| self.hosts[end].address());
                    packets::segment(&bytes, from, to)
                }
            };
            if let Some(segment) = segment {
                self.hosts[end].handle_segment(self.now, &segment);
                reached[end] = true;
            }
        }
        self.queue.set(LINKS[lane], self.lanes[lane].poll_at());
        for (end, reached) in reached.into_iter().enumerate() {
            if reached {
                self.serve(end)?;
            }
        }
        Ok(())
    }

    /// A host's application goes on, and what its stack has to send goes onto the link.
    fn serve(&mut self, end: usize) -> Result<(), RecordingError> {
        let [client, server] = [&self.hosts[0], &self.hosts[1]].map(Host::address);
        let ends: [Address; 2] = if end == 0 { [client, server] } else { [server, client] };
        self.hosts[end].drive(self.now);
        loop {
            let mut sent = false;
            while let Some((segment, cause, ip_id)) = self.hosts[end].poll_transmit(self.now) {
                sent = true;
                let id = self.next_id;
                self.next_id += 1;
                if let Some(Recorder { writer, packet, .. }) = &mut self.recorder {
                    packet.clear();
                    packets::write(&segment, ends[0], ends[1], ip_id, packet);
                    let captured = whole(packet);
                    let because = cause.name();
                    writer.left_because(Endpoint::BOTH[end], self.now, id, captured, because)?;
                }
                self.lanes[end].send(self.now, id, segment, ip_id);
            }
            if sent {
                self.queue.set(LINKS[end], self.lanes[end].poll_at());
            }
            // Only when all has left that can is an application called that waits for room.
            if !self.hosts[end].drive(self.now) {
                break;
            }
        }
        self.queue.set(HOSTS[end], self.hosts[end].poll_at());
        Ok(())
    }

    /// Looks at both sockets, as `TCP_INFO` would.
    fn sample(&mut self) -> Result<(), RecordingError> {
        let Some(Recorder { writer, sampling, .. }) = &mut self.recorder else { return Ok(()) };
        for host in &self.hosts {
            if let Some(sample) = host.sample(self.now) {
                writer.sampled(&sample)?;
            }
        }
        self.queue.set(SAMPLER, Some(self.now + *sampling));
        Ok(())
    }
}

/// A packet of which all is kept.
fn whole(bytes: &[u8]) -> Captured<'_> {
    Captured { bytes, original_len: bytes.len() as u32 }
}
