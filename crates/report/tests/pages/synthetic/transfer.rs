//! A small bulk transfer in virtual time: a SACK sender, a bottleneck, interruptions. Good enough
//! to look like TCP in a graph; the real thing is measured, not modelled here.

use std::collections::{BTreeMap, BTreeSet};
use tcplab_recording::Sample;
use tcplab_trace::{Ack, CapturePoint, Flow, Range, Segment, SegmentKind, Timer};
use tcplab_units::{Bytes, Endpoint, Instant, Offset, Span};

pub(crate) const MSS: u64 = 1448;
const MS: u64 = 1_000_000;
const DELAY: u64 = 5 * MS;
/// 1,514 bytes at 5 Mbit/s.
const SERIALISATION: u64 = 2_422_400;

#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) bytes: u64,
    pub(crate) interruptions: Vec<u64>,
    pub(crate) lasting: u64,
    /// The largest advertised window.
    pub(crate) window: u64,
}

/// The captures at both ends.
#[derive(Debug, Default)]
pub(crate) struct Transfer {
    pub(crate) client: Flow,
    pub(crate) server: Flow,
    pub(crate) samples: Vec<Sample>,
}

enum Event {
    Data(u64),
    Acknowledgement(Ack),
    Timer(u64),
    Sample,
}

struct World {
    setup: Setup,
    count: u64,
    events: BTreeMap<(u64, u64), Event>,
    order: u64,
    seen: Transfer,
    link_free: u64,
    tap: u64,
    // Sender, in segments.
    next: u64,
    una: u64,
    cwnd: f64,
    ssthresh: f64,
    sacked: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    resent: BTreeSet<u64>,
    recovery: Option<u64>,
    after_timeout: bool,
    sent_at: BTreeMap<u64, u64>,
    srtt: u64,
    timer: u64,
    peer_window: u64,
    // Receiver.
    received: BTreeSet<u64>,
    expected: u64,
    unacknowledged: u32,
}

/// Runs the transfer to its end.
pub(crate) fn transfer(setup: Setup) -> Transfer {
    let count = setup.bytes.div_ceil(MSS);
    let mut world = World {
        setup,
        count,
        events: BTreeMap::new(),
        order: 0,
        seen: Transfer::default(),
        link_free: 0,
        tap: 20 * MS,
        next: 0,
        una: 0,
        cwnd: 10.0,
        ssthresh: 1e9,
        sacked: BTreeSet::new(),
        lost: BTreeSet::new(),
        resent: BTreeSet::new(),
        recovery: None,
        after_timeout: false,
        sent_at: BTreeMap::new(),
        srtt: 12 * MS,
        timer: 0,
        peer_window: 64_240,
        received: BTreeSet::new(),
        expected: 0,
        unacknowledged: 0,
    };
    world.schedule(20 * MS, Event::Sample);
    world.send(20 * MS);
    while let Some(((now, _), event)) = world.events.pop_first() {
        match event {
            Event::Data(segment) => world.arrive(now, segment),
            Event::Acknowledgement(ack) => world.acknowledged(now, ack),
            Event::Timer(number) if number == world.timer => world.time_out(now),
            Event::Timer(_) => {}
            Event::Sample => world.sample(now),
        }
        if world.una >= count || now > 300_000 * MS {
            break;
        }
    }
    let mut seen = world.seen;
    (seen.client.capture_point, seen.server.capture_point) =
        (CapturePoint::Sender, CapturePoint::Receiver);
    for flow in [&mut seen.client, &mut seen.server] {
        number(flow);
    }
    seen
}

impl World {
    fn schedule(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }

    fn interrupted(&self, at: u64) -> bool {
        self.setup.interruptions.iter().any(|s| (*s..s + self.setup.lasting).contains(&at))
    }

    fn pipe(&self) -> u64 {
        let waiting = self.lost.iter().filter(|s| !self.resent.contains(s)).count();
        (self.next - self.una).saturating_sub((self.sacked.len() + waiting) as u64)
    }

    fn send(&mut self, now: u64) {
        while (self.pipe() as f64) < self.cwnd {
            let waiting = self.lost.iter().find(|s| !self.resent.contains(s)).copied();
            let fits = (self.next - self.una + 1) * MSS <= self.peer_window;
            match waiting {
                Some(segment) => {
                    self.resent.insert(segment);
                    let kind = if self.after_timeout {
                        SegmentKind::AfterTimeoutRetransmission
                    } else {
                        SegmentKind::FastRetransmission
                    };
                    self.put(now, segment, kind);
                }
                None if self.next < self.count && fits => {
                    self.next += 1;
                    self.put(now, self.next - 1, SegmentKind::New);
                }
                None => break,
            }
        }
    }

    fn put(&mut self, now: u64, segment: u64, kind: SegmentKind) {
        self.tap = self.tap.max(now) + 12_000;
        let at = self.tap;
        // The interruption is behind the bottleneck, as behind the paper's access point.
        self.link_free = self.link_free.max(at) + SERIALISATION;
        let dropped = self.interrupted(self.link_free);
        self.sent_at.insert(segment, at);
        let in_flight = Bytes::new(self.pipe() * MSS);
        self.seen.client.segments.push(Segment {
            comment: None,
            dropped,
            in_flight,
            ..self.segment(at, segment, kind)
        });
        if !dropped {
            self.schedule(self.link_free + DELAY, Event::Data(segment));
        }
        self.arm(at);
    }

    fn segment(&self, at: u64, segment: u64, kind: SegmentKind) -> Segment {
        let start = 1 + segment * MSS;
        let end = (start + MSS).min(1 + self.setup.bytes);
        Segment {
            at: Instant::from_nanos(at),
            frame: 0,
            range: Range { start: Offset::new(start), end: Offset::new(end) },
            payload: Bytes::new(end - start),
            syn: false,
            fin: false,
            psh: end == 1 + self.setup.bytes,
            kind,
            timer: (kind == SegmentKind::TimeoutRetransmission).then_some(Timer::Retransmission),
            proof: tcplab_trace::Proof::default(),
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
        }
    }

    fn arm(&mut self, now: u64) {
        self.timer += 1;
        let number = self.timer;
        self.schedule(now + self.srtt + 200 * MS, Event::Timer(number));
    }

    fn time_out(&mut self, now: u64) {
        if self.una >= self.next {
            return;
        }
        self.ssthresh = (self.pipe() as f64 / 2.0).max(2.0);
        self.cwnd = 1.0;
        self.lost = (self.una..self.next).filter(|s| !self.sacked.contains(s)).collect();
        self.resent = BTreeSet::from([self.una]);
        self.recovery = Some(self.next);
        self.after_timeout = true;
        self.put(now, self.una, SegmentKind::TimeoutRetransmission);
    }

    fn arrive(&mut self, now: u64, segment: u64) {
        let highest = self.received.last().copied();
        let twice = segment < self.expected || self.received.contains(&segment);
        let kind = match highest {
            Some(highest) if segment < highest && !twice => SegmentKind::OriginalNotCaptured,
            _ if twice => SegmentKind::FastRetransmission,
            _ => SegmentKind::New,
        };
        let record = self.segment(now, segment, kind);
        let range = record.range;
        self.seen.server.segments.push(record);
        self.received.insert(segment);
        while self.received.contains(&self.expected) {
            self.expected += 1;
        }
        self.unacknowledged += 1;
        let in_order = self.expected > segment && highest.is_none_or(|h| h < segment);
        if in_order && self.unacknowledged < 2 && self.expected < self.count {
            return;
        }
        self.unacknowledged = 0;
        self.acknowledge(now, segment, twice.then_some(range));
    }

    fn acknowledge(&mut self, now: u64, segment: u64, dsack: Option<Range>) {
        let byte = |s: u64| Offset::new((1 + s * MSS).min(1 + self.setup.bytes));
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for s in self.received.range(self.expected..).copied() {
            match blocks.last_mut() {
                Some((_, end)) if *end == s => *end += 1,
                _ => blocks.push((s, s + 1)),
            }
        }
        blocks.sort_by_key(|(start, end)| (!(*start..*end).contains(&segment), *start));
        blocks.truncate(if dsack.is_some() { 2 } else { 3 });
        let grown = 64_240 + self.expected * MSS / 4;
        let dropped = self.interrupted(now);
        let ack = Ack {
            at: Instant::from_nanos(now),
            frame: 0,
            ack: byte(self.expected),
            window: Some(Bytes::new(grown.min(self.setup.window))),
            sack: blocks.iter().map(|(s, e)| Range { start: byte(*s), end: byte(*e) }).collect(),
            dsack,
            duplicate: !blocks.is_empty(),
            has_data: false,
            comment: None,
            dropped,
        };
        self.seen.server.acks.push(ack.clone());
        if !dropped {
            self.schedule(now + DELAY, Event::Acknowledgement(ack));
        }
    }

    fn acknowledged(&mut self, now: u64, mut ack: Ack) {
        ack.at = Instant::from_nanos(now);
        let index = |o: Offset| (o.as_u64() - 1).div_ceil(MSS);
        let una = index(ack.ack);
        let newly = una.saturating_sub(self.una);
        if newly > 0 {
            if let Some(sent) = self.sent_at.get(&(una - 1)).filter(|_| self.recovery.is_none()) {
                self.srtt = (7 * self.srtt + (now - sent)) / 8;
            }
            self.una = una;
            self.arm(now);
        }
        for block in &ack.sack {
            self.sacked.extend(index(block.start)..index(block.end));
        }
        self.sacked = self.sacked.split_off(&una);
        self.lost = self.lost.split_off(&una).difference(&self.sacked).copied().collect();
        if self.recovery.is_some_and(|point| una >= point) {
            self.recovery = None;
            self.after_timeout = false;
            self.lost.clear();
            self.resent.clear();
        }
        if let Some(highest) = self.sacked.last().copied() {
            if self.recovery.is_none() {
                self.recovery = Some(self.next);
                self.ssthresh = (self.cwnd / 2.0).max(2.0);
                self.cwnd = self.ssthresh;
                self.resent.clear();
            }
            let holes = (una..highest).filter(|s| !self.sacked.contains(s));
            self.lost.extend(holes);
        } else if self.cwnd < self.ssthresh {
            self.cwnd += newly as f64;
        } else {
            self.cwnd += newly as f64 / self.cwnd;
        }
        self.peer_window = ack.window.map_or(self.peer_window, Bytes::as_u64);
        self.seen.client.acks.push(ack);
        self.send(now);
    }

    fn sample(&mut self, now: u64) {
        let at = Instant::from_nanos(now);
        self.seen.samples.push(Sample {
            state: 1,
            cwnd_segments: self.cwnd as u64,
            ssthresh_segments: if self.ssthresh > 1e8 { 0x7fff_ffff } else { self.ssthresh as u64 },
            snd_mss_bytes: MSS,
            rtt_us: self.srtt / 1000,
            min_rtt_us: 12_400,
            rto_us: self.srtt / 1000 + 200_000,
            ..Sample::empty(at, Endpoint::Client)
        });
        self.schedule(now + 10 * MS, Event::Sample);
    }
}

/// Numbers frames in the order of time at one capture point.
fn number(flow: &mut Flow) {
    let (mut segments, mut acks) = (flow.segments.iter_mut(), flow.acks.iter_mut());
    let (mut segment, mut ack) = (segments.next(), acks.next());
    for frame in 4.. {
        match (&mut segment, &mut ack) {
            (Some(s), a) if a.as_ref().is_none_or(|a| s.at <= a.at) => {
                s.frame = frame;
                segment = segments.next();
            }
            (_, Some(a)) => {
                a.frame = frame;
                ack = acks.next();
            }
            (_, None) => break,
        }
    }
    flow.totals.unique =
        Bytes::new(flow.segments.iter().map(|s| s.range.end.as_u64()).max().unwrap_or(1) - 1);
    flow.totals.data_segments = flow.segments.len() as u64;
    let repeated = flow.segments.iter().filter(|s| s.kind != SegmentKind::New);
    flow.totals.retransmissions = repeated.clone().count() as u64;
    flow.totals.retransmitted = repeated.map(|s| s.payload).sum();
}

/// From the first segment to the last ACK.
pub(crate) fn duration(seen: &Transfer) -> Span {
    let start = seen.client.segments.first().map_or(Instant::ZERO, |s| s.at);
    seen.client.acks.last().map_or(Span::ZERO, |a| a.at.since(start))
}
