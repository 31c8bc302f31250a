//! One thread of a load: an event loop over its share of the connections.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{ClockId, clock_gettime};

use crate::config::{Config, Length, Pace, Renewal};
use crate::connection::{Connection, Event, Question};
use crate::error::Fault;
use crate::latency::LatencyGauge;
use crate::schedule::Schedule;
use crate::times::Times;

/// Events taken at once.
const EVENTS: usize = 256;
/// Received at once.
const BUFFER: usize = 64 << 10;
/// The most connections to a server on this host from one of its addresses: fewer than Linux's
/// 28,232 ephemeral ports (`ip_local_port_range`), some of which are in use.
const FROM_ONE_ADDRESS: usize = 20_000;
/// What says that a server sends no more.
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);
/// How often exchanges are looked at for those that take too long.
const SWEEP: Duration = Duration::from_millis(20);
/// How long after the end an answer may go on that has begun: it might have none.
const GRACE: Duration = Duration::from_secs(1);
/// The rest after an error in a closed loop, so that a refusing server is not flooded.
const REST: Duration = Duration::from_millis(10);

/// What all threads share.
pub(crate) struct Load<'a> {
    pub(crate) config: &'a Config,
    pub(crate) question: &'a Question,
    /// When it begins, when counting begins, and when it ends, unless a number of requests decides.
    pub(crate) begin: Instant,
    pub(crate) counted_from: Instant,
    pub(crate) end: Option<Instant>,
    /// Requests that may still be begun, where their number is what counts.
    pub(crate) tickets: AtomicU64,
    pub(crate) stop: AtomicBool,
    pub(crate) gauges: Gauges,
}

/// The counters that a running test shows.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) requests: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) connected: AtomicU64,
    pub(crate) waiting: AtomicU64,
    pub(crate) latency: LatencyGauge,
}

/// The counts of a thread.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) connect: Times,
    pub(crate) latency: Times,
    pub(crate) response: Times,
    pub(crate) late: Times,
    /// Good answers.
    pub(crate) requests: u64,
    /// Answers that the end cut off.
    pub(crate) unfinished: u64,
    pub(crate) bytes: u64,
    pub(crate) connections: u64,
    pub(crate) unsent: u64,
    pub(crate) errors: BTreeMap<Fault, u64>,
    /// When the last exchange was over.
    pub(crate) last: Option<Instant>,
    pub(crate) processor: Duration,
}

impl Counted {
    pub(crate) fn add(&mut self, other: &Counted) {
        self.connect.add(&other.connect);
        self.latency.add(&other.latency);
        self.response.add(&other.response);
        self.late.add(&other.late);
        self.requests += other.requests;
        self.unfinished += other.unfinished;
        self.bytes += other.bytes;
        self.connections += other.connections;
        self.unsent += other.unsent;
        for (fault, count) in &other.errors {
            *self.errors.entry(*fault).or_default() += count;
        }
        self.last = self.last.max(other.last);
        self.processor += other.processor;
    }
}

pub(crate) struct Worker<'a> {
    load: &'a Load<'a>,
    epoll: OwnedFd,
    /// The number of its first connection, among those of all threads.
    first: usize,
    connections: Vec<Connection>,
    /// Of these, so many have been opened, or were to be.
    opened: usize,
    schedule: Option<Schedule>,
    ledger: Ledger<'a>,
    is_over: bool,
    swept: Instant,
    buffer: Vec<u8>,
}

/// The events so far, and the connections ready for use.
struct Ledger<'a> {
    load: &'a Load<'a>,
    counted: Counted,
    /// Connections without an exchange, which take turns.
    free: VecDeque<usize>,
    /// Connections that rest after an error, and until when.
    resting: Vec<(Instant, usize)>,
    /// Connections with an exchange.
    busy: usize,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        load: &'a Load<'a>,
        connections: Range<usize>,
        thread: usize,
        threads: usize,
    ) -> rustix::io::Result<Worker<'a>> {
        let schedule = match load.config.pace {
            Pace::Closed => None,
            Pace::Open { per_second } => {
                Some(Schedule::new(load.begin, per_second, thread, threads))
            }
        };
        // In a closed loop all are used at once.
        let opens_all = schedule.is_some() && load.config.renewal == Renewal::Keep;
        Ok(Worker {
            load,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            first: connections.start,
            connections: connections.clone().map(|_| Connection::default()).collect(),
            opened: if opens_all { 0 } else { connections.len() },
            schedule,
            ledger: Ledger {
                load,
                counted: Counted::default(),
                free: (0..connections.len()).collect(),
                resting: Vec::new(),
                busy: 0,
            },
            is_over: false,
            swept: load.begin,
            buffer: vec![0; BUFFER],
        })
    }

    pub(crate) fn work(mut self) -> Counted {
        let mut events =
            [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
        loop {
            let now = Instant::now();
            self.sweep(now);
            self.begin_what_is_due(now);
            self.open_ahead();
            if self.is_over && self.ledger.busy == 0 {
                break;
            }
            let count = self.wait(&mut events);
            for event in &events[..count] {
                let index = event.data.u64() as usize;
                let flags = event.flags;
                // The latency includes the events handled before it in this round.
                self.go_on(index, Instant::now(), flags.intersects(ENDED));
            }
        }
        if let (Some(schedule), Some(end)) = (&self.schedule, self.load.end) {
            // A stopped test counts no unsent requests.
            let is_stopped = self.load.stop.load(Ordering::Relaxed);
            self.ledger.counted.unsent = if is_stopped { 0 } else { schedule.left(end) };
        }
        if let Ok(used) = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)) {
            self.ledger.counted.processor = used;
        }
        self.ledger.counted
    }

    /// The number of sockets that are ready; none when something else is due.
    ///
    /// An answer that comes at once is not slept for: to be woken costs the server more than the
    /// answer does, and the wait until then would be counted as the server's.
    fn wait(&self, events: &mut [epoll::Event; EVENTS]) -> usize {
        let began = Instant::now();
        let timeout = self.timeout(began);
        let most =
            if self.ledger.busy > 0 { timeout.min(self.load.config.awake) } else { Duration::ZERO };
        // A signal, or no memory for a moment: ready sockets are reported the next time.
        let mut ready = |timeout: Duration| {
            let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
            epoll::wait(&self.epoll, &mut events[..], Some(&timeout)).unwrap_or(0)
        };
        while began.elapsed() < most {
            let count = ready(Duration::ZERO);
            if count > 0 {
                return count;
            }
            // The server may need this processor.
            rustix::thread::sched_yield();
        }
        ready(timeout.saturating_sub(began.elapsed()))
    }

    /// How long there is nothing to do but to wait for the sockets.
    fn timeout(&self, now: Instant) -> Duration {
        if self.opened < self.connections.len() && !self.is_over {
            return Duration::ZERO;
        }
        let mut timeout = SWEEP;
        let can_begin = !self.is_over && !self.ledger.free.is_empty();
        if let Some(schedule) = self.schedule.as_ref().filter(|_| can_begin) {
            timeout = timeout.min(schedule.due().saturating_duration_since(now));
        }
        let rested = self.ledger.resting.first().map(|rest| rest.0.saturating_duration_since(now));
        rested.map_or(timeout, |rested| timeout.min(rested))
    }

    /// Begins all exchanges that can be begun now.
    fn begin_what_is_due(&mut self, now: Instant) {
        while let Some(&(until, index)) = self.ledger.resting.first()
            && until <= now
        {
            self.ledger.resting.remove(0);
            self.ledger.free.push_back(index);
        }
        while let Some(index) = self.ledger.free.front().copied() {
            if self.is_over {
                return;
            }
            // Each takes time, which is not the next one's, and in which that may become due.
            let now = Instant::now();
            let since = match &self.schedule {
                Some(schedule) if schedule.due() > now => return,
                Some(schedule) => schedule.due(),
                None => now,
            };
            if !self.may_begin(since) {
                self.is_over = true;
                return;
            }
            self.ledger.free.pop_front();
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
                if since >= self.load.counted_from {
                    // It could not be sent before a connection was free.
                    let could = self.connections[index].freed.map_or(since, |it| it.max(since));
                    self.ledger.counted.late.record(now.saturating_duration_since(could));
                }
            }
            self.begin(index, since, now);
        }
    }

    /// Opens the next of the connections that are to be open though nothing has been due on them:
    /// what is due meanwhile waits for this one alone.
    fn open_ahead(&mut self) {
        let index = self.opened;
        if self.is_over || index == self.connections.len() {
            return;
        }
        self.opened += 1;
        if !self.connections[index].has_socket() {
            self.open(index, Instant::now());
        }
    }

    /// Whether another request, counted from `since`, is wanted.
    fn may_begin(&self, since: Instant) -> bool {
        if self.load.stop.load(Ordering::Relaxed) || self.load.end.is_some_and(|end| since >= end) {
            return false;
        }
        if matches!(self.load.config.length, Length::Count(_)) && since >= self.load.counted_from {
            let take = |left: u64| left.checked_sub(1);
            let tickets = &self.load.tickets;
            return tickets.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        }
        true
    }

    fn begin(&mut self, index: usize, since: Instant, now: Instant) {
        self.ledger.began();
        let question = self.load.question;
        let connection = &mut self.connections[index];
        if !connection.begin(question, since, now) {
            return self.open(index, now);
        }
        let was_connected = connection.is_connected();
        if was_connected {
            self.ledger.note_used(connection, Some(since));
        }
        match connection.send(question) {
            Err(fault) if connection.retry(question, fault) => {
                self.ledger.note_connected(was_connected, false);
                self.open(index, now);
            }
            Err(fault) => self.give_up(index, fault, now),
            Ok(()) => {}
        }
    }

    /// Makes a connection, for an exchange or ahead of it.
    fn open(&mut self, index: usize, now: Instant) {
        let address = self.load.question.address;
        let source = source_of(address.ip(), self.first + index);
        let opened = self.connections[index].open(address, source, now).and_then(|socket| {
            // Reported once for each change, so nothing has to be switched on and off.
            let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            let data = EventData::new_u64(index as u64);
            epoll::add(&self.epoll, socket.as_fd(), data, flags).map_err(Fault::of)
        });
        if let Err(fault) = opened {
            self.give_up(index, fault, now);
        }
    }

    fn go_on(&mut self, index: usize, now: Instant, is_ended: bool) {
        let (connection, ledger) = (&mut self.connections[index], &mut self.ledger);
        let (was_connected, since) = (connection.is_connected(), connection.busy_since());
        let (mut answered, mut is_new) = (None, false);
        let times = (now, self.load.end.map(|end| end + GRACE), is_ended);
        let mut report = |event, at| {
            if matches!(event, Event::Over { .. }) {
                answered = Some(at);
            }
            is_new |= matches!(event, Event::Connected { .. });
            ledger.note(index, event, at);
        };
        let (question, buffer) = (self.load.question, &mut self.buffer);
        let needs_another = connection.go_on(question, times, buffer, &mut report);
        if is_new {
            ledger.note_used(connection, since);
        }
        if answered.is_some() {
            connection.freed = answered;
            if self.load.config.renewal == Renewal::EachRequest {
                connection.close();
            }
        }
        ledger.note_connected(was_connected, connection.is_connected());
        if needs_another {
            self.open(index, now);
        }
    }

    /// The exchange has failed, and the connection with it.
    fn give_up(&mut self, index: usize, fault: Fault, now: Instant) {
        let (connection, ledger) = (&mut self.connections[index], &mut self.ledger);
        ledger.note_connected(connection.is_connected(), false);
        connection.give_up(fault, now, &mut |event, at| ledger.note(index, event, at));
        connection.freed = Some(now);
    }

    /// Gives up what takes too long, and notices that it is to stop.
    fn sweep(&mut self, now: Instant) {
        if now.duration_since(self.swept) < SWEEP {
            return;
        }
        self.swept = now;
        let is_stopped = self.load.stop.load(Ordering::Relaxed);
        if is_stopped || self.load.end.is_some_and(|end| now >= end) {
            self.is_over = true;
        }
        let is_past = self.load.end.is_some_and(|end| now >= end + GRACE);
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            let is_cut_off = is_past && connection.is_receiving();
            if connection.is_overdue(now) {
                self.give_up(index, Fault::Timeout, now);
            } else if connection.busy_since().is_some() && (is_stopped || is_cut_off) {
                // What the end cuts off is no failure.
                self.ledger.counted.unfinished += u64::from(!is_stopped);
                self.ledger.note_connected(connection.is_connected(), false);
                connection.give_up(Fault::Timeout, now, &mut |_, _| ());
                self.ledger.ended();
                self.ledger.free.push_back(index);
            }
        }
    }
}

/// The address that connection `number` connects from; none: the system's choice. An address has
/// as many connections to a server as there are ephemeral ports. All of 127.0.0.0/8 are this host.
fn source_of(server: IpAddr, number: usize) -> Option<IpAddr> {
    let next = u32::try_from(number / FROM_ONE_ADDRESS).ok().filter(|&next| next > 0)?;
    let IpAddr::V4(server) = server else { return None };
    let source = Ipv4Addr::LOCALHOST.to_bits().checked_add(next)?;
    server.is_loopback().then(|| Ipv4Addr::from_bits(source).into())
}

impl Ledger<'_> {
    /// An exchange has begun.
    fn began(&mut self) {
        self.busy += 1;
        self.load.gauges.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// An exchange is over.
    fn ended(&mut self) {
        self.busy -= 1;
        self.load.gauges.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    fn note(&mut self, index: usize, event: Event, now: Instant) {
        match event {
            Event::Connected { began } => {
                if began >= self.load.counted_from {
                    self.counted.connect.record(now.duration_since(began));
                }
            }
            Event::Received { bytes, since } => {
                self.load.gauges.bytes.fetch_add(bytes, Ordering::Relaxed);
                if since.is_some_and(|since| self.is_counted(since, now)) {
                    self.counted.bytes += bytes;
                }
            }
            Event::Over { since, first_byte, result } => {
                self.ended();
                self.count(since, first_byte, result, now);
                if result.is_err() && self.load.config.pace == Pace::Closed {
                    self.resting.push((now + REST, index));
                } else {
                    self.free.push_back(index);
                }
            }
        }
    }

    /// Whether what comes now counts, for an exchange that counts from `since`. In a time all that
    /// comes counts, so that what was under way at its beginning makes up for what is at its end.
    fn is_counted(&self, since: Instant, now: Instant) -> bool {
        let from = self.load.counted_from;
        self.load.end.map_or(since >= from, |end| (from..end).contains(&now))
    }

    /// A connection that stands is used for an exchange; one of the warm-up counts once it is used
    /// after it.
    fn note_used(&mut self, connection: &mut Connection, since: Option<Instant>) {
        if since >= Some(self.load.counted_from) && connection.count() {
            self.counted.connections += 1;
        }
    }

    fn note_connected(&self, was: bool, is: bool) {
        let connected = &self.load.gauges.connected;
        match (was, is) {
            (false, true) => _ = connected.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = connected.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
    }

    fn count(
        &mut self,
        since: Instant,
        first_byte: Option<Instant>,
        result: Result<(), Fault>,
        now: Instant,
    ) {
        let gauges = &self.load.gauges;
        let gauge = if result.is_ok() { &gauges.requests } else { &gauges.errors };
        gauge.fetch_add(1, Ordering::Relaxed);
        let is_of_test = since >= self.load.counted_from;
        if is_of_test {
            self.counted.last = Some(now);
        }
        match result {
            Ok(()) => {
                self.counted.requests += u64::from(self.is_counted(since, now));
                // However late it came: a time without the slowest answers would look too good.
                if !is_of_test {
                    return;
                }
                let latency = first_byte.unwrap_or(now).saturating_duration_since(since);
                self.counted.latency.record(latency);
                gauges.latency.record(latency);
                self.counted.response.record(now.saturating_duration_since(since));
            }
            // One of the end may come after it.
            Err(fault) if is_of_test || self.is_counted(since, now) => {
                *self.counted.errors.entry(fault).or_default() += 1;
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::reference::Standard;
    use crate::reply::Kind;
    use crate::target::{Protocol, Target};

    use super::*;

    #[test]
    fn what_comes_between_warm_up_and_end_counts() {
        let address = ([127, 0, 0, 1], 9).into();
        let config = Config::new(Target { address, protocol: Protocol::Echo { size: 1 } });
        let (bytes, kind) = (vec![0], Kind::Exactly(1));
        let (standard, timeout) = (Standard::None, config.timeout);
        let question = Question { address, bytes, kind, standard, timeout };
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let load = Load {
            config: &config,
            question: &question,
            begin,
            counted_from: at(100),
            end: Some(at(200)),
            tickets: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            gauges: Gauges::default(),
        };
        let (counted, free, resting) = (Counted::default(), VecDeque::new(), Vec::new());
        let mut ledger = Ledger { load: &load, counted, free, resting, busy: 0 };
        (0..5).for_each(|_| ledger.began());
        let mut connection = Connection::default();
        // Begun, answered: before the warm-up's end, across it, after it, after the end of all.
        for (since, now) in
            [(50, 60), (90, 110), (110, 120), (150, 250)].map(|(a, b)| (at(a), at(b)))
        {
            ledger.note_used(&mut connection, Some(since));
            ledger.note(0, Event::Received { bytes: 7, since: Some(since) }, now);
            ledger.note(0, Event::Over { since, first_byte: Some(now), result: Ok(()) }, now);
        }
        // What a server sends unasked.
        ledger.note(0, Event::Received { bytes: 7, since: None }, at(130));
        let Counted { bytes, requests, connections, latency, .. } = ledger.counted;
        assert_eq!((bytes, requests, connections), (14, 2, 1));
        assert_eq!(latency.summary().count, 2, "of those begun after the warm-up");
        assert_eq!(load.gauges.bytes.load(Ordering::Relaxed), 35, "all are shown");
        assert_eq!(load.gauges.waiting.load(Ordering::Relaxed), 1, "it has no answer");
    }

    #[test]
    fn many_connections_to_this_host_come_from_several_addresses() {
        let from = |server: &str, number| {
            source_of(server.parse().unwrap(), number).map(|source| source.to_string())
        };
        assert_eq!(from("127.0.0.1", 19_999), None);
        assert_eq!(from("127.0.0.1", 20_000).as_deref(), Some("127.0.0.2"));
        assert_eq!(from("127.0.0.1", 49_999).as_deref(), Some("127.0.0.3"));
        assert_eq!((from("192.0.2.1", 49_999), from("::1", 49_999)), (None, None));
    }
}
