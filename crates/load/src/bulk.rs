//! One way, as fast as it goes: what a connection carries.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use tcplab_units::{Bytes, Span, rounded};

use crate::error::{LoadError, system};
use crate::outcome::seconds;
use crate::run::{LONGEST_CONNECT, check_descriptors};

/// Bytes that are written at once, the same by all connections. What a write leaves behind its last
/// full segment waits for an acknowledgement (Nagle's algorithm): with pieces of 128 KiB, as iperf3
/// writes, half as many bytes pass a loopback.
const WRITTEN: usize = 1 << 20;
/// Bytes that are read at once, as iperf3 does.
const READ: usize = 128 << 10;
/// How often it is looked whether time is over, while nothing moves.
const LOOK: Duration = Duration::from_millis(100);
/// How long a server may acknowledge nothing more at the end and not close, and how long it may
/// take to read the rest when the user stops the transfer.
const LONGEST_END: Duration = Duration::from_secs(30);
const LONGEST_STOP: Duration = Duration::from_secs(1);

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To a server that throws it away, and ends when we do.
    Upload,
    /// From a server that sends without end.
    Download,
}

/// The configuration of a bulk transfer.
#[derive(Debug, Clone)]
pub struct BulkConfig {
    /// The server's address.
    pub address: SocketAddr,
    /// Which way.
    pub direction: Direction,
    /// Connections at once, a thread each; at least 1.
    pub connections: usize,
    /// How long data is written or read.
    pub time: Duration,
    /// What each connection may have in flight; as much as the kernel lets it where none is given.
    pub window: Option<Window>,
    /// The congestion control of this side; the system's own where none is named.
    pub congestion: Option<String>,
    /// What asks the kernel about an upload.
    pub acknowledged: Acknowledged,
}

/// Gives the bytes that the other host has acknowledged on a connection; none where the kernel does
/// not say: then what is written counts. Only a caller may ask the kernel (`TCP_INFO`), as this
/// crate has no `unsafe`.
pub type Acknowledged = fn(BorrowedFd<'_>) -> Option<u64>;

/// A bound on the data in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Bytes.
    pub size: usize,
    /// Bytes of a full segment.
    pub segment: usize,
}

/// Receives the socket of each connection from time to time, and once more when all has arrived.
pub type Watch<'w> = dyn Fn(usize, BorrowedFd<'_>) + Sync + 'w;

/// The result of a bulk test.
#[derive(Debug, Clone, Serialize)]
pub struct BulkOutcome {
    /// Which way.
    pub direction: Direction,
    /// Until the last byte had arrived: for an upload, until the server had read all and ended.
    #[serde(serialize_with = "seconds", rename = "elapsed_seconds")]
    pub elapsed: Duration,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Bits a second.
    pub bits_per_second: f64,
    /// Bytes of each connection.
    #[serde(rename = "bytes_of_each")]
    pub each: Vec<u64>,
    /// Processor time of this side.
    #[serde(serialize_with = "seconds", rename = "processor_seconds")]
    pub processor: Duration,
    /// Connections that ended before their time.
    pub early: Vec<EarlyEnd>,
}

/// A connection that ended before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EarlyEnd {
    /// Its number, from 1.
    pub connection: usize,
    /// Bytes until then; of an upload those that were acknowledged.
    pub bytes: u64,
    /// How long it was used.
    #[serde(serialize_with = "seconds", rename = "after_seconds")]
    pub after: Duration,
    /// How it ended.
    pub cause: EarlyCause,
}

/// How a connection ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EarlyCause {
    /// The server closed it.
    Closed,
    /// The server reset it, or it broke otherwise.
    Broken,
    /// It was stopped before the server had read all.
    Unread,
    /// The server acknowledged nothing more for 30 s, and did not close it.
    Unclosed,
}

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlyEnd { connection, bytes, after, cause } = self;
        let why = match cause {
            EarlyCause::Closed => "the server closed it",
            EarlyCause::Broken => "the server reset it, or the path broke",
            EarlyCause::Unread => "stopped before the server had read all",
            EarlyCause::Unclosed => {
                "the server acknowledged nothing more for 30 s, and did not close it"
            }
        };
        let (bytes, after) = (rounded::bytes(Bytes::new(*bytes)), after.as_nanos() as u64);
        let after = rounded::span(Span::from_nanos(after));
        write!(f, "connection {connection} ended early, after {bytes} in {after}: {why}")
    }
}

/// Sends or receives until its time is over. `observe` gets the time, and the bytes that have
/// arrived so far, and can stop it.
///
/// # Errors
/// When more connections are asked for than may be open, the congestion control is not to be had,
/// or the server cannot be reached or is none for this: it answers an upload, or has nothing to
/// download. A connection that breaks later is part of the outcome.
pub fn bulk(
    config: &BulkConfig,
    observe: &mut dyn FnMut(Duration, u64) -> ControlFlow<()>,
) -> Result<BulkOutcome, LoadError> {
    bulk_watched(config, observe, &|_, _| ())
}

/// The same, with a look at the sockets.
///
/// # Errors
/// As [`bulk`].
pub fn bulk_watched(
    config: &BulkConfig,
    observe: &mut dyn FnMut(Duration, u64) -> ControlFlow<()>,
    watch: &Watch<'_>,
) -> Result<BulkOutcome, LoadError> {
    check_descriptors(config.connections, 0)?;
    let carriers = (0..config.connections.max(1))
        .map(|_| Ok(Carrier::new(config, connect(config)?)))
        .collect::<Result<Vec<_>, LoadError>>()?;
    let begin = Instant::now();
    let (stop, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
    let until = Until { end: begin + config.time, stop: &stop };
    // Linux asks whether the send buffer has room before each buffer of its own, not for all that a
    // write fills it with, up to 64 KiB (tcp_sendmsg_locked, tcp_send_mss).
    let piece = vec![0x55; config.window.map_or(WRITTEN, |window| window.segment.max(1))];
    let each = thread::scope(|scope| {
        let (mut threads, mut refusal) = (Vec::new(), None);
        let caller = thread::current();
        for (nth, carrier) in carriers.iter().enumerate() {
            let (until, piece, ended) = (&until, &piece, &ended);
            let caller = caller.clone();
            let watch = move |stream: &TcpStream| watch(nth, stream.as_fd());
            let carry = move || {
                let carried = match config.direction {
                    Direction::Upload => upload(carrier, piece, until, LONGEST_END, watch),
                    Direction::Download => download(carrier, until),
                };
                let one = carried.map(|it| Carried::of(nth, &it, begin));
                ended.fetch_add(1, Ordering::Relaxed);
                caller.unpark();
                one
            };
            match Builder::new().spawn_scoped(scope, carry) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    refusal = Some(LoadError::Process { source });
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
        }
        let is_over = |threads: &[ScopedJoinHandle<'_, _>]| {
            ended.load(Ordering::Relaxed) == threads.len()
                || threads.iter().all(ScopedJoinHandle::is_finished)
        };
        while !is_over(&threads) {
            let arrived = carriers.iter().map(Carrier::arrived).sum();
            if observe(begin.elapsed(), arrived).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            // Each thread wakes this one when it ends.
            let left = until.end.saturating_duration_since(Instant::now());
            let left = if left.is_zero() { LOOK } else { left };
            thread::park_timeout(left.clamp(Duration::from_millis(2), LOOK));
        }
        let joined = threads.into_iter().map(|thread| thread.join().expect("it does not die"));
        let joined = joined.collect::<Result<Vec<_>, LoadError>>();
        refusal.map_or(joined, Err)
    })?;
    outcome(config, each, until.is_stopped())
}

/// What a connection came to.
struct Carried {
    bytes: u64,
    after: Duration,
    processor: Duration,
    early: Option<EarlyEnd>,
}

impl Carried {
    /// Of the calling thread.
    fn of(nth: usize, ended: &Ended, begin: Instant) -> Carried {
        let Ended { bytes, at, cause } = *ended;
        let after = at.saturating_duration_since(begin);
        let early = cause.map(|cause| EarlyEnd { connection: nth + 1, bytes, after, cause });
        let processor = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime));
        Carried { bytes, after, processor: processor.unwrap_or_default(), early }
    }
}

fn outcome(
    config: &BulkConfig,
    each: Vec<Carried>,
    was_stopped: bool,
) -> Result<BulkOutcome, LoadError> {
    let BulkConfig { address, direction, .. } = *config;
    let elapsed = each.iter().map(|it| it.after).max().unwrap_or_default();
    let bytes = each.iter().map(|it| it.bytes).sum();
    if bytes == 0 {
        let are_all = |cause: EarlyCause| {
            each.iter().all(|it| it.early.as_ref().is_some_and(|early| early.cause == cause))
        };
        if are_all(EarlyCause::Unclosed) {
            return Err(LoadError::TakesNothing { address });
        }
        if are_all(EarlyCause::Broken) {
            let service = match direction {
                Direction::Upload => "discard",
                Direction::Download => "chargen",
            };
            return Err(LoadError::Broken { address, service });
        }
        if direction == Direction::Download && !was_stopped {
            return Err(LoadError::NoChargen { address });
        }
    }
    Ok(BulkOutcome {
        direction,
        elapsed,
        bytes,
        bits_per_second: bytes as f64 * 8.0 / elapsed.as_secs_f64().max(1e-9),
        each: each.iter().map(|it| it.bytes).collect(),
        processor: each.iter().map(|it| it.processor).sum(),
        early: each.into_iter().filter_map(|it| it.early).collect(),
    })
}

/// Connects; what is set before holds for the handshake, too.
fn connect(config: &BulkConfig) -> Result<TcpStream, LoadError> {
    let address = config.address;
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
        .map_err(system("open a socket"))?;
    if let Some(name) = &config.congestion {
        sockopt::set_tcp_congestion(&socket, name)
            .map_err(|error| LoadError::Congestion { name: name.clone(), refused: error.into() })?;
    }
    if let Some(window) = config.window {
        let set = sockopt::set_socket_send_buffer_size(&socket, window.size);
        set.map_err(system("set SO_SNDBUF"))?;
    }
    let unreachable = |error: Errno| LoadError::Unreachable { address, source: error.into() };
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => {
            let timeout = Timespec { tv_sec: LONGEST_CONNECT.as_secs().cast_signed(), tv_nsec: 0 };
            let mut sockets = [PollFd::new(&socket, PollFlags::OUT)];
            match rustix::io::retry_on_intr(|| poll(&mut sockets, Some(&timeout))) {
                Ok(0) => return Err(unreachable(Errno::TIMEDOUT)),
                Ok(_) => sockopt::socket_error(&socket).and_then(|it| it).map_err(unreachable)?,
                Err(error) => return Err(unreachable(error)),
            }
        }
        Err(error) => return Err(unreachable(error)),
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false).map_err(system("set up a socket"))?;
    Ok(stream)
}

/// How long data is carried.
struct Until<'a> {
    end: Instant,
    stop: &'a AtomicBool,
}

impl Until<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.is_stopped() || Instant::now() >= self.end
    }
}

/// A connection, and what its thread has moved so far.
struct Carrier {
    stream: TcpStream,
    address: SocketAddr,
    /// What asks about an upload.
    acknowledged: Option<Acknowledged>,
    /// Bytes read or written.
    moved: AtomicU64,
    /// Whether all is written.
    is_written: AtomicBool,
}

impl Carrier {
    fn new(config: &BulkConfig, stream: TcpStream) -> Carrier {
        let is_upload = config.direction == Direction::Upload;
        Carrier {
            stream,
            address: config.address,
            acknowledged: is_upload.then_some(config.acknowledged),
            moved: AtomicU64::new(0),
            is_written: AtomicBool::new(false),
        }
    }

    fn add(&self, count: usize) {
        self.moved.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Bytes that have arrived: those that were read, or that the server's host has acknowledged.
    /// What is written waits in this host's buffer at first, on a slow path for many seconds.
    fn arrived(&self) -> u64 {
        let acknowledged = self.acknowledged.and_then(|ask| ask(self.stream.as_fd()));
        let is_written = self.is_written.load(Ordering::Acquire);
        let moved = self.moved.load(Ordering::Relaxed);
        match acknowledged {
            // The FIN is acknowledged, too.
            Some(bytes) if is_written => bytes.min(moved),
            Some(bytes) => bytes,
            None => moved,
        }
    }

    fn whole(&self) -> Ended {
        Ended { bytes: self.moved.load(Ordering::Relaxed), at: Instant::now(), cause: None }
    }

    fn early(&self, cause: EarlyCause) -> Ended {
        Ended { bytes: self.arrived(), at: Instant::now(), cause: Some(cause) }
    }
}

/// How a transfer ended.
struct Ended {
    /// Bytes that arrived, and when the last did.
    bytes: u64,
    at: Instant,
    /// Why they were not all there would have been.
    cause: Option<EarlyCause>,
}

/// Writes until time is over, then waits until the server has read all of it, or acknowledges
/// nothing more for so long.
fn upload(
    carrier: &Carrier,
    piece: &[u8],
    until: &Until<'_>,
    longest: Duration,
    watch: impl Fn(&TcpStream),
) -> Result<Ended, LoadError> {
    let mut stream = &carrier.stream;
    stream.set_write_timeout(Some(LOOK)).map_err(system("carry data"))?;
    let mut looked = Instant::now();
    while !until.is_over() {
        if looked.elapsed() >= LOOK {
            watch(stream);
            looked = Instant::now();
        }
        match stream.write(piece) {
            Ok(count) => carrier.add(count),
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => return Ok(carrier.early(EarlyCause::Broken)),
        }
    }
    carrier.is_written.store(true, Ordering::Release);
    if stream.shutdown(Shutdown::Write).is_err() {
        return Ok(carrier.early(EarlyCause::Broken));
    }
    stream.set_read_timeout(Some(LOOK.min(longest))).map_err(system("carry data"))?;
    let (mut rest, written_at) = ([0; 4096], Instant::now());
    let mut last = carrier.early(EarlyCause::Unclosed);
    loop {
        match stream.read(&mut rest) {
            Ok(0) => {
                watch(stream);
                let (whole, early) = (carrier.whole(), carrier.early(EarlyCause::Closed));
                return Ok(if early.bytes < whole.bytes { early } else { whole });
            }
            Ok(_) => return Err(LoadError::NoDiscard { address: carrier.address }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // What `SO_RCVTIMEO` says; a connection that timed out is `TimedOut`.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if until.is_stopped() && written_at.elapsed() >= LONGEST_STOP.min(longest) {
                    return Ok(carrier.early(EarlyCause::Unread));
                }
                let now = carrier.early(EarlyCause::Unclosed);
                if now.bytes > last.bytes {
                    last = now;
                } else if last.at.elapsed() >= longest {
                    return Ok(last);
                }
            }
            Err(_) => return Ok(carrier.early(EarlyCause::Broken)),
        }
    }
}

/// Reads until time is over.
fn download(carrier: &Carrier, until: &Until<'_>) -> Result<Ended, LoadError> {
    let mut stream = &carrier.stream;
    stream.set_read_timeout(Some(LOOK)).map_err(system("carry data"))?;
    let mut piece = vec![0; READ];
    while !until.is_over() {
        match stream.read(&mut piece) {
            Ok(0) => return Ok(carrier.early(EarlyCause::Closed)),
            Ok(count) => carrier.add(count),
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => return Ok(carrier.early(EarlyCause::Broken)),
        }
    }
    Ok(carrier.whole())
}

/// Whether the error is temporary: a timeout or an interrupted call.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
