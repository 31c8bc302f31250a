//! Latency to a host that answers probes over UDP, each way by itself, idle and while data is
//! carried over TCP.

mod beside;
mod clock;
mod event;
mod live;
mod points;
mod prober;
mod record;
mod timetable;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use tcplab_units::{Durations, PROBE_BYTES, Probe, host_mark};

use beside::{Loads, Shared, Watched};
pub use clock::{Clock, Sample};
pub use event::{ProbeEvent, Way};
pub use live::LiveLatency;
pub use points::SeriesPoint;
use prober::Prober;
pub use record::Phase;
use record::Record;
use timetable::Timetable;

use crate::bulk::{BulkConfig, BulkOutcome};
use crate::error::{LoadError, system};
use crate::outcome::seconds;
use crate::run::{LONGEST_CONNECT, reach};

/// How often a server is asked until it answers, and how long.
const ASK_AGAIN: Duration = Duration::from_millis(200);
const ASK_LONGEST: Duration = Duration::from_secs(5);
/// How long a host may refuse, as its server may be about to start.
const REFUSED_LONGEST: Duration = Duration::from_secs(1);
/// The longest wait before progress is reported.
const LOOK: Duration = Duration::from_millis(100);
/// Silence after which the server may be another: it is asked for a token.
const SILENCE: Duration = Duration::from_secs(2);

/// The configuration of a measurement.
#[derive(Debug, Clone)]
pub struct LatencyConfig {
    /// A server of the service `latency`.
    pub address: SocketAddr,
    /// Between two probes.
    pub interval: Duration,
    /// How long probes are sent.
    pub time: Duration,
    /// When a probe without an answer counts as lost.
    pub timeout: Duration,
    /// Whether both hosts have one clock; found out where it is not said.
    pub same_clock: Option<bool>,
    /// What is carried meanwhile.
    pub beside: Option<Beside>,
}

/// Data that is carried while probes are sent.
#[derive(Debug, Clone)]
pub struct Beside {
    /// When it begins.
    pub after: Duration,
    /// Each by its own threads.
    pub loads: Vec<BulkConfig>,
}

/// How far a measurement is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyProgress {
    /// Since the beginning.
    pub elapsed: Duration,
    /// Probes sent.
    pub sent: u64,
    /// Of these, lost.
    pub lost: u64,
    /// Of the lost, on their way to the server; none if that is not known.
    pub lost_there: Option<u64>,
    /// Of the lost, those of which the way is not known (yet).
    pub lost_unknown: u64,
    /// RTTs so far.
    pub rtt: Durations,
    /// Whether data is carried.
    pub is_loaded: bool,
    /// Whether both hosts have one clock.
    pub is_same_clock: bool,
    /// For how long nothing has come from the server.
    pub silence: Duration,
    /// What was learnt since the last progress.
    pub events: Vec<ProbeEvent>,
}

/// What a measurement came to.
#[derive(Debug, Clone, Serialize)]
pub struct LatencyOutcome {
    /// The server.
    pub address: SocketAddr,
    /// When it began by the client's clock, nanoseconds since the Unix epoch.
    pub began_unix_ns: i64,
    /// How long probes were sent.
    #[serde(serialize_with = "seconds", rename = "elapsed_seconds")]
    pub elapsed: Duration,
    /// Between two probes.
    #[serde(serialize_with = "seconds", rename = "interval_seconds")]
    pub interval: Duration,
    /// Probes sent.
    pub sent: u64,
    /// Probes that were due and never sent, as this host slept.
    pub unsent: u64,
    /// How late probes left: no part of the latencies, which count from when they left.
    pub send_delay: Durations,
    /// Probes answered in time.
    pub answered: u64,
    /// Probes without an answer in time.
    pub lost: u64,
    /// Of these, lost on their way to the server; none if the server did not count.
    pub lost_there: Option<u64>,
    /// Of these, whose answers were lost or late.
    pub lost_back: Option<u64>,
    /// Of these, those of which the way is not known: the server did not count, or said nothing
    /// any more.
    pub lost_unknown: u64,
    /// Answers after the timeout.
    pub late: u64,
    /// Answers that came after one to a later probe.
    pub reordered: u64,
    /// Answers that came more than once, for whatever way.
    pub duplicates: u64,
    /// Probes that arrived at the server more than once.
    pub duplicates_there: Option<u64>,
    /// Datagrams that are no answers to these probes.
    pub ignored: u64,
    /// The server's clock; none if nothing was answered.
    pub clock: Option<Clock>,
    /// Samples that the quantiles of each way are taken from.
    pub samples_of_each_way: u64,
    /// Latencies, idle and under load.
    pub phases: Vec<Phase>,
    /// What was carried meanwhile.
    pub loads: Vec<BulkOutcome>,
    /// Over time.
    pub series: Vec<SeriesPoint>,
    /// Whether it was interrupted.
    pub was_stopped: bool,
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
}

/// Sends probes until time is over. `observe` gets the progress several times a second, and can
/// stop it.
///
/// # Errors
/// When no server answers probes, none takes the data beside, or the system refuses a thread.
pub fn latency(
    config: &LatencyConfig,
    observe: &mut dyn FnMut(&LatencyProgress) -> ControlFlow<()>,
) -> Result<LatencyOutcome, LoadError> {
    for load in config.beside.iter().flat_map(|beside| &beside.loads) {
        reach(load.address, LONGEST_CONNECT)?;
    }
    let socket = open(config.address).map_err(system("open a UDP socket"))?;
    let session = random().map_err(system("read /dev/urandom"))?;
    let (token, host) = greet(&socket, config.address, session, observe)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let is_same = config.same_clock.unwrap_or(host != 0 && host == host_mark(&boot, session));
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let began = Instant::now();
    let began_unix_ns = i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX);
    let record = Record::new(config.interval);
    let loads = || config.beside.iter().flat_map(|beside| &beside.loads);
    let mut session = Session {
        config,
        socket,
        began,
        heard: Duration::ZERO,
        is_same_clock: is_same,
        watched: Watched::new(loads().map(|load| load.direction)),
        prober: Prober::new((session, token), config.timeout, began_unix_ns, record),
        timetable: Timetable::new(config.interval, config.time),
    };
    let shared = Shared::new(loads().count());
    let ended = std::thread::scope(|scope| session.run(scope, &shared, observe));
    let Ended { elapsed, was_stopped, loads } = ended?;
    let (loads, failed) = carried(loads);
    let Session { mut prober, watched, timetable, .. } = session;
    if !watched.has_carried() {
        prober.record.forget_load();
    }
    let clock = if is_same { Some(Clock::same()) } else { prober.record.clock() };
    let clock = clock.filter(|_| prober.counts.answered > 0);
    let counts = prober.counts;
    let arrived = counts.arrived();
    let ways = prober.lost_ways();
    Ok(LatencyOutcome {
        address: config.address,
        began_unix_ns,
        elapsed,
        interval: config.interval,
        sent: prober.sent(),
        unsent: timetable.unsent(),
        send_delay: timetable.late(),
        answered: counts.answered,
        lost: counts.lost,
        lost_there: ways.map(|it| it.there),
        lost_back: ways.map(|it| it.back),
        lost_unknown: ways.map_or(counts.lost, |it| it.unknown),
        late: counts.late,
        reordered: counts.reordered,
        duplicates: counts.duplicates,
        duplicates_there: arrived.map(|(_, duplicates)| duplicates),
        ignored: counts.ignored,
        clock,
        samples_of_each_way: prober.record.samples(),
        phases: clock.map_or_else(Vec::new, |clock| prober.record.phases(&clock)),
        loads,
        series: prober.record.points().series(&clock.unwrap_or(Clock::same()), i64::MAX),
        was_stopped,
        warnings: [failed, timetable.warnings(), clock_warnings(&prober.record, clock.as_ref())]
            .concat(),
    })
}

/// What the loads came to, and what is wrong with them.
fn carried(loads: Vec<Result<BulkOutcome, LoadError>>) -> (Vec<BulkOutcome>, Vec<String>) {
    let (loads, failed): (Vec<_>, Vec<_>) = loads.into_iter().partition(Result::is_ok);
    let loads: Vec<BulkOutcome> = loads.into_iter().flatten().collect();
    let failed = failed.into_iter().filter_map(Result::err).map(|error| without_load(&error));
    let early = loads.iter().flat_map(|load| &load.early).map(|early| format!("the load: {early}"));
    let said = failed.chain(early).collect();
    (loads, said)
}

/// Why a load failed, and what would help.
fn without_load(error: &LoadError) -> String {
    let remedy = error.remedy().map(|remedy| format!("; try: {remedy}")).unwrap_or_default();
    format!("the load failed: {error}{remedy}")
}

fn clock_warnings(record: &Record, clock: Option<&Clock>) -> Vec<String> {
    // Threads read the clocks of one host some microseconds apart.
    let negative = clock.filter(|clock| record.points().least_way(clock) < -20_000);
    let said = negative.map(|clock| {
        let why = match clock.drift_ppb {
            Some(_) => "or the hosts' clocks drift unsteadily",
            None => "or the hosts' clocks drift, which the time was too short to measure",
        };
        format!("a clock was set meanwhile, {why}: latency each way is wrong, the RTT is right")
    });
    said.into_iter().collect()
}

fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let local: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(local)?;
    // The kernel then drops what comes from elsewhere.
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Asks for a token: gives it and the mark of the server's host.
fn greet(
    socket: &UdpSocket,
    address: SocketAddr,
    session: u64,
    observe: &mut dyn FnMut(&LatencyProgress) -> ControlFlow<()>,
) -> Result<(u64, u64), LoadError> {
    let began = Instant::now();
    let mut buffer = [0; PROBE_BYTES + 1];
    let mut longest = ASK_LONGEST;
    while began.elapsed() < longest {
        // A refusal comes back as an error of a later call.
        let _ = socket.send(&Probe::Hello { session }.bytes());
        let until = Instant::now() + ASK_AGAIN;
        while Instant::now() < until {
            await_datagram(socket, until.saturating_duration_since(Instant::now()));
            let length = match socket.recv(&mut buffer) {
                Ok(length) => length,
                Err(error) => {
                    if error.kind() == ErrorKind::ConnectionRefused {
                        longest = REFUSED_LONGEST;
                    }
                    continue;
                }
            };
            if let Some(Probe::Welcome { session: same, token, host, .. }) =
                Probe::read(&buffer[..length])
                && same == session
            {
                return Ok((token, host));
            }
        }
        if observe(&LatencyProgress::default()).is_break() {
            break;
        }
    }
    Err(LoadError::Silent { address })
}

/// Waits for a datagram, at most so long.
fn await_datagram(socket: &UdpSocket, longest: Duration) {
    let timeout = Timespec {
        tv_sec: longest.as_secs().min(3_600).cast_signed(),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // A signal ends the wait early, which does no harm.
    let _ = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout));
}

struct Session<'a> {
    config: &'a LatencyConfig,
    socket: UdpSocket,
    began: Instant,
    /// When something was received.
    heard: Duration,
    is_same_clock: bool,
    watched: Watched,
    prober: Prober,
    timetable: Timetable,
}

/// How a measurement ended.
struct Ended {
    /// How long probes were sent.
    elapsed: Duration,
    was_stopped: bool,
    loads: Vec<Result<BulkOutcome, LoadError>>,
}

impl Session<'_> {
    fn run<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        shared: &'scope Shared,
        observe: &mut dyn FnMut(&LatencyProgress) -> ControlFlow<()>,
    ) -> Result<Ended, LoadError> {
        let mut loads = None;
        let probed = self.probe(shared, observe, &mut |session| {
            if let Some(beside) = &session.config.beside
                && loads.is_none()
                && session.began.elapsed() >= beside.after
            {
                loads = Some(shared.start(scope, session.began, &beside.loads));
            }
        });
        let (elapsed, mut was_stopped) = probed;
        // Loads end by their own time, and their servers read the rest.
        shared.stop.store(was_stopped, Ordering::Relaxed);
        was_stopped = self.wait_for_rest(shared, (elapsed, was_stopped), observe);
        shared.stop.store(was_stopped, Ordering::Relaxed);
        let loads: Loads<'_> = loads.transpose()?.unwrap_or_default();
        while !loads.iter().all(ScopedJoinHandle::is_finished) {
            self.look_at_loads(shared, true);
            if observe(&self.progress(elapsed)).is_break() {
                was_stopped = true;
                shared.stop.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(LOOK / 10);
        }
        self.look_at_loads(shared, true);
        let loads = loads.into_iter().map(|it| it.join().expect("it does not die"));
        Ok(Ended { elapsed, was_stopped, loads: loads.collect() })
    }

    /// Sends probes until time is over: for how long, and whether it was stopped.
    fn probe(
        &mut self,
        shared: &Shared,
        observe: &mut dyn FnMut(&LatencyProgress) -> ControlFlow<()>,
        begin_load: &mut dyn FnMut(&Session<'_>),
    ) -> (Duration, bool) {
        let time = self.config.time;
        let (mut shown, mut asked) = (Duration::ZERO, Duration::ZERO);
        loop {
            begin_load(self);
            let now = self.began.elapsed();
            let due = self.timetable.due();
            if due.is_some_and(|due| now >= due) {
                let sent = self.began.elapsed();
                self.timetable.leave(sent);
                let probe = self.prober.probe(sent);
                // What cannot be sent is lost.
                let _ = self.socket.send(&probe);
            } else if now >= time {
                self.look_at_loads(shared, false);
                return (now, false);
            }
            if now > self.heard.max(asked) + SILENCE {
                asked = now;
                let _ = self.socket.send(&self.prober.hello());
            }
            self.receive(shared);
            self.prober.expire(self.began.elapsed());
            let now = self.began.elapsed();
            if now >= shown + LOOK {
                shown = now;
                self.look_at_loads(shared, false);
                if observe(&self.progress(now)).is_break() {
                    return (now, true);
                }
            }
            let next = self.timetable.due().unwrap_or(time).min(shown + LOOK);
            await_datagram(&self.socket, next.saturating_sub(now));
        }
    }

    /// Takes what the loads have carried since the last look.
    fn look_at_loads(&mut self, shared: &Shared, only_more: bool) {
        let phases = self.watched.phases(shared);
        for event in phases.into_iter().chain(self.watched.carried(shared, only_more)) {
            self.prober.learn(event);
        }
    }

    /// Takes what has arrived; says whether there was a welcome.
    fn receive(&mut self, shared: &Shared) -> bool {
        // First whether there is load, which decides what answers count as.
        for event in self.watched.phases(shared) {
            self.prober.learn(event);
        }
        let mut is_welcome = false;
        let mut buffer = [0; PROBE_BYTES + 1];
        loop {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    let now = self.began.elapsed();
                    self.heard = now;
                    is_welcome |= self.prober.receive(&buffer[..length], now);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Nothing more; or an ICMP error for an earlier probe, which is lost then.
                Err(_) => return is_welcome,
            }
        }
    }

    /// Waits for the last answers, and finds out what has arrived. After a stop it waits no longer
    /// than answers take; says whether there was one.
    fn wait_for_rest(
        &mut self,
        shared: &Shared,
        (elapsed, mut was_stopped): (Duration, bool),
        observe: &mut dyn FnMut(&LatencyProgress) -> ControlFlow<()>,
    ) -> bool {
        let (begin, mut shown) = (self.began.elapsed(), Duration::ZERO);
        while !self.prober.is_done() {
            let longest = if was_stopped { self.longest_stop() } else { self.config.timeout };
            let now = self.began.elapsed();
            if now >= begin + longest {
                break;
            }
            if now >= shown + LOOK {
                shown = now;
                was_stopped |= observe(&self.progress(elapsed)).is_break();
            }
            await_datagram(&self.socket, LOOK.min((begin + longest).saturating_sub(now)));
            self.receive(shared);
            self.prober.expire(self.began.elapsed());
        }
        self.prober.expire(Duration::MAX);
        if self.hear_last(shared) {
            self.prober.explain_last();
        }
        was_stopped
    }

    /// How long answers may still come after a stop: some times as long as the slowest took.
    fn longest_stop(&self) -> Duration {
        let slowest = Duration::from_nanos(self.prober.record.rtts().max);
        (3 * slowest).max(LOOK).min(self.config.timeout)
    }

    /// Asks the server what has arrived; says whether it answered.
    fn hear_last(&mut self, shared: &Shared) -> bool {
        for _ in 0..5 {
            let _ = self.socket.send(&self.prober.hello());
            let until = Instant::now() + ASK_AGAIN;
            while Instant::now() < until {
                await_datagram(&self.socket, until.saturating_duration_since(Instant::now()));
                if self.receive(shared) {
                    return true;
                }
            }
        }
        false
    }

    fn progress(&mut self, elapsed: Duration) -> LatencyProgress {
        let (lost, ways) = (self.prober.counts.lost, self.prober.lost_ways());
        LatencyProgress {
            elapsed,
            sent: self.prober.sent(),
            lost,
            lost_there: ways.map(|it| it.there),
            lost_unknown: ways.map_or(lost, |it| it.unknown),
            rtt: self.prober.record.rtts(),
            is_loaded: self.watched.is_loaded(),
            is_same_clock: self.is_same_clock,
            silence: elapsed.saturating_sub(self.heard),
            events: std::mem::take(&mut self.prober.events),
        }
    }
}
