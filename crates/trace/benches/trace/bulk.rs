//! One long transfer, at the sender's tap: a window that grows and halves, a queue that overflows,
//! random losses, interruptions; SACK, fast retransmissions, timeouts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use tcplab_units::Rng;
use tcplab_wire::TcpFlags;

use crate::frames::{Ends, MSS, Sent, Tap};

const MS: u64 = 1_000_000;
/// One way, without queueing.
const DELAY: u64 = 10 * MS;
/// A segment's time at the bottleneck of 240 Mbit/s.
const SERVICE: u64 = 50_467;
/// Segments that fit into its queue.
const QUEUE: u64 = 300;
/// One in this many ACKs is lost at random.
const ACK_LOSS: u64 = 2_000;

/// How bad the path is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weather {
    /// One in this many segments is lost at random.
    loss: u64,
    /// The interval between outages of the path, in nanoseconds.
    interrupted: (u64, u64),
    /// Segments by which the window grows in each round trip, until the queue overflows.
    growth: u64,
}

impl Weather {
    /// About one segment in five hundred is retransmitted.
    pub(crate) const FAIR: Weather =
        Weather { loss: 10_000, interrupted: (30_000 * MS, 60 * MS), growth: 2 };
    /// About one in fifty.
    pub(crate) const FOUL: Weather =
        Weather { loss: 2_000, interrupted: (6_000 * MS, 120 * MS), growth: 8 };
}

const TIMEOUT: u64 = 240 * MS;
/// Acknowledged after this at the latest.
const DELAYED: u64 = 40 * MS;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A segment reaches the receiver, with the sender's clock.
    Arrives(u64, u32),
    /// What the receiver says reaches the sender: next expected, echo, blocks.
    Answered(u64, u32, [(u64, u64); 3]),
    /// The retransmission timer, and the delayed acknowledgement's, may be due.
    Timeout,
    Delayed(u64),
}

struct Transfer {
    tap: Tap,
    rng: Rng,
    weather: Weather,
    ends: Ends,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    now: u64,
    total: u64,
    // The sender; numbers count segments.
    una: u64,
    next: u64,
    /// Of each segment from `una` on, whether it is SACKed.
    outstanding: VecDeque<bool>,
    resend: VecDeque<u64>,
    in_flight: u64,
    /// In thousandths of a segment.
    window: u64,
    threshold: u64,
    recover: u64,
    examined: u64,
    deadline: u64,
    ids: [u16; 2],
    // The path.
    free_at: u64,
    // The receiver.
    expected: u64,
    islands: Vec<(u64, u64)>,
    unanswered: u64,
    echo: u32,
}

/// Writes a transfer of `segments` full segments; the number of packets.
pub(crate) fn write(
    path: &Path,
    segments: u64,
    snap_len: u32,
    weather: Weather,
) -> io::Result<u64> {
    let ends = Ends {
        client: (Ipv4Addr::new(10, 1, 0, 1), 40_000),
        server: (Ipv4Addr::new(10, 2, 0, 1), 5_001),
    };
    let mut transfer = Transfer {
        tap: Tap::create(path, snap_len)?,
        rng: Rng::new(7, "bulk"),
        weather,
        ends,
        events: BinaryHeap::new(),
        scheduled: 0,
        now: 2 * DELAY,
        total: segments,
        una: 0,
        next: 0,
        outstanding: VecDeque::new(),
        resend: VecDeque::new(),
        in_flight: 0,
        window: 10_000,
        threshold: u64::MAX,
        recover: 0,
        examined: 0,
        deadline: u64::MAX,
        ids: [1, 1],
        free_at: 0,
        expected: 0,
        islands: Vec::new(),
        unanswered: 0,
        echo: 1,
    };
    transfer.run()?;
    let packets = transfer.tap.packets;
    transfer.tap.finish()?;
    Ok(packets)
}

impl Transfer {
    fn run(&mut self) -> io::Result<()> {
        let syn = |from_client| Sent { seq: 0, flags: TcpFlags::SYN, ..Sent::bare(from_client) };
        self.see(0, &syn(true))?;
        let syn_ack = Sent { flags: TcpFlags::SYN | TcpFlags::ACK, ..syn(false) };
        self.see(2 * DELAY, &syn_ack)?;
        self.see(2 * DELAY + 1_000, &Sent::bare(true))?;
        self.send()?;
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now = at;
            match event {
                Event::Arrives(segment, clock) => self.arrives(segment, clock),
                Event::Answered(ack, echo, sack) => self.answered(ack, echo, sack)?,
                Event::Timeout if at >= self.deadline => self.timeout()?,
                Event::Timeout => self.schedule(self.deadline, Event::Timeout),
                Event::Delayed(expected) if expected == self.expected && self.unanswered > 0 => {
                    self.acknowledge(0);
                }
                Event::Delayed(_) => {}
            }
            if self.una == self.total {
                break;
            }
        }
        let end = 1 + self.total * u64::from(MSS);
        let fin = TcpFlags::FIN | TcpFlags::ACK;
        self.see(self.now + 1_000, &Sent { seq: end, flags: fin, ..Sent::bare(true) })?;
        let answer = Sent { ack: end + 1, flags: fin, ..Sent::bare(false) };
        self.see(self.now + 2 * DELAY, &answer)?;
        let last = Sent { seq: end + 1, ack: 2, ..Sent::bare(true) };
        self.see(self.now + 2 * DELAY + 1_000, &last)
    }

    fn see(&mut self, at: u64, sent: &Sent) -> io::Result<()> {
        let id = &mut self.ids[usize::from(!sent.from_client)];
        *id = id.wrapping_add(1);
        self.tap.see(at, sent, &self.ends, [1_000, 2_000], *id)
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    fn clock(&self) -> u32 {
        (self.now / MS) as u32 + 1
    }

    /// As much as the window allows: what was lost first, then new segments.
    fn send(&mut self) -> io::Result<()> {
        let mut spent = 0;
        while self.in_flight < self.window / 1_000 {
            let segment = match self.resend.pop_front() {
                Some(segment) if segment < self.una => continue,
                Some(segment) => segment,
                None if self.next < self.total => {
                    self.outstanding.push_back(false);
                    self.next += 1;
                    self.next - 1
                }
                None => break,
            };
            self.in_flight += 1;
            // The host's own link: 10 Gbit/s.
            spent += 1_211;
            let sent = Sent {
                seq: 1 + segment * u64::from(MSS),
                payload: MSS,
                clock: self.clock(),
                ..Sent::bare(true)
            };
            self.see(self.now + spent.min(self.gap()), &sent)?;
            self.carry(segment);
        }
        if self.deadline == u64::MAX {
            self.deadline = self.now + TIMEOUT;
            self.schedule(self.deadline, Event::Timeout);
        }
        Ok(())
    }

    /// How long nothing else happens, so that what is written stays in order of time.
    fn gap(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| at.saturating_sub(self.now))
    }

    /// Through the bottleneck, or not.
    fn carry(&mut self, segment: u64) {
        let waiting = self.free_at.saturating_sub(self.now) / SERVICE;
        let (every, lasting) = self.weather.interrupted;
        let interrupted = self.now > every && self.now % every < lasting;
        if waiting >= QUEUE || interrupted || self.rng.below(self.weather.loss) == 0 {
            return;
        }
        self.free_at = self.free_at.max(self.now) + SERVICE;
        let clock = self.clock();
        self.schedule(self.free_at + DELAY, Event::Arrives(segment, clock));
    }

    fn arrives(&mut self, segment: u64, clock: u32) {
        if segment < self.expected {
            return self.acknowledge(0);
        }
        if segment > self.expected {
            let at = self.islands.partition_point(|&(start, _)| start <= segment);
            let joined = at.checked_sub(1).filter(|&before| self.islands[before].1 >= segment);
            let index = joined.unwrap_or_else(|| {
                self.islands.insert(at, (segment, segment + 1));
                at
            });
            self.islands[index].1 = self.islands[index].1.max(segment + 1);
            if self.islands.get(index + 1).is_some_and(|next| next.0 <= self.islands[index].1) {
                self.islands[index].1 = self.islands.remove(index + 1).1;
            }
            return self.acknowledge(segment);
        }
        self.expected += 1;
        self.echo = clock;
        let out_of_order = !self.islands.is_empty();
        if self.islands.first().is_some_and(|&(start, _)| start <= self.expected) {
            self.expected = self.islands.remove(0).1;
        }
        self.unanswered += 1;
        if out_of_order || self.unanswered >= 2 {
            self.acknowledge(0);
        } else {
            self.schedule(self.now + DELAYED, Event::Delayed(self.expected));
        }
    }

    /// `latest`: the segment whose block comes first (RFC 2018 section 4).
    fn acknowledge(&mut self, latest: u64) {
        self.unanswered = 0;
        let mut sack = [(0, 0); 3];
        let first = self.islands.iter().position(|&(start, end)| (start..end).contains(&latest));
        let others = (0..self.islands.len()).rev().filter(|&index| Some(index) != first);
        for (slot, index) in sack.iter_mut().zip(first.into_iter().chain(others)) {
            *slot = self.islands[index];
        }
        // Now and then, one is lost.
        if self.rng.below(ACK_LOSS) > 0 {
            self.schedule(self.now + DELAY, Event::Answered(self.expected, self.echo, sack));
        }
    }

    fn answered(&mut self, ack: u64, echo: u32, sack: [(u64, u64); 3]) -> io::Result<()> {
        let bytes = |segment: u64| 1 + segment * u64::from(MSS);
        let packet = Sent {
            ack: bytes(ack),
            clock: self.clock(),
            echo,
            sack: sack.map(|(l, r)| if l < r { (bytes(l), bytes(r)) } else { (0, 0) }),
            ..Sent::bare(false)
        };
        self.see(self.now, &packet)?;
        let advanced = ack.saturating_sub(self.una);
        for _ in 0..advanced {
            let Some(sacked) = self.outstanding.pop_front() else { break };
            self.in_flight = self.in_flight.saturating_sub(u64::from(!sacked));
        }
        self.una = self.una.max(ack);
        if advanced > 0 {
            self.deadline = self.now + TIMEOUT;
            self.grow(advanced);
        }
        self.note(&sack);
        self.find_losses(&sack);
        self.send()
    }

    fn grow(&mut self, advanced: u64) {
        if self.una < self.recover {
            return;
        }
        // Slow start, then a fixed number of segments per RTT.
        self.window += if self.window < self.threshold {
            advanced * 1_000
        } else {
            advanced * self.weather.growth * 1_000_000 / self.window
        };
    }

    /// A block grows at its right end: what is new in it lies there.
    fn note(&mut self, sack: &[(u64, u64); 3]) {
        for &(left, right) in sack {
            for segment in (left.max(self.una)..right.min(self.next)).rev() {
                let sacked = &mut self.outstanding[(segment - self.una) as usize];
                if std::mem::replace(sacked, true) {
                    break;
                }
                self.in_flight = self.in_flight.saturating_sub(1);
            }
        }
    }

    /// Three segments above arrived (RFC 6675 section 4).
    fn find_losses(&mut self, sack: &[(u64, u64); 3]) {
        let highest = sack.iter().map(|block| block.1).max().unwrap_or(0);
        for segment in self.examined.max(self.una)..highest.saturating_sub(3) {
            self.examined = segment + 1;
            if self.outstanding[(segment - self.una) as usize] {
                continue;
            }
            self.in_flight = self.in_flight.saturating_sub(1);
            self.resend.push_back(segment);
            if self.una >= self.recover {
                self.recover = self.next;
                self.window = (self.window * 7 / 10).max(2_000);
                self.threshold = self.window;
            }
        }
    }

    fn timeout(&mut self) -> io::Result<()> {
        self.threshold = (self.window / 2).max(2_000);
        self.window = 1_000;
        self.examined = self.next;
        self.in_flight = 0;
        let lost = self.outstanding.iter().zip(self.una..).filter(|(sacked, _)| !**sacked);
        self.resend = lost.map(|(_, segment)| segment).collect();
        self.deadline = self.now + 2 * TIMEOUT;
        self.schedule(self.deadline, Event::Timeout);
        self.recover = self.una;
        self.send()
    }
}
