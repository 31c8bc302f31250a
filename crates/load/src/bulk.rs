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
/// How long a server may take to read the rest, and how long when the user stops the transfer.
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
}

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
    /// Bytes until then; of an upload those that were written, which may not all have arrived.
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
}

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlyEnd { connection, bytes, after, cause } = self;
        let why = match cause {
            EarlyCause::Closed => "the server closed it",
            EarlyCause::Broken => "the server reset it, or the path broke",
            EarlyCause::Unread => "stopped before the server had read all",
        };
        let (bytes, after) = (rounded::bytes(Bytes::new(*bytes)), after.as_nanos() as u64);
        let after = rounded::span(Span::from_nanos(after));
        write!(f, "connection {connection} ended early, after {bytes} in {after}: {why}")
    }
}

/// Sends or receives until its time is over. `observe` gets time and bytes so far, and can stop it.
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
    let address = config.address;
    let streams = (0..config.connections.max(1))
        .map(|_| connect(config))
        .collect::<Result<Vec<_>, LoadError>>()?;
    let begin = Instant::now();
    let (stop, moved, ended) = (AtomicBool::new(false), AtomicU64::new(0), AtomicUsize::new(0));
    let until = Until { end: begin + config.time, stop: &stop };
    // Linux asks whether the send buffer has room before each buffer of its own, not for all that a
    // write fills it with, up to 64 KiB (tcp_sendmsg_locked, tcp_send_mss).
    let piece = vec![0x55; config.window.map_or(WRITTEN, |window| window.segment.max(1))];
    let each = thread::scope(|scope| {
        let (mut threads, mut refusal) = (Vec::new(), None);
        let caller = thread::current();
        for (nth, stream) in streams.into_iter().enumerate() {
            let (until, moved, piece, ended) = (&until, &moved, &piece, &ended);
            let caller = caller.clone();
            let watch = move |stream: &TcpStream| watch(nth, stream.as_fd());
            let carry = move || {
                let carried = match config.direction {
                    Direction::Upload => upload(stream, piece, until, (moved, LONGEST_END), watch),
                    Direction::Download => download(stream, until, moved),
                };
                let carried = carried.map_err(system("carry data"));
                let one = carried.and_then(|it| Carried::of(nth, it, address, begin.elapsed()));
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
            if observe(begin.elapsed(), moved.load(Ordering::Relaxed)).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            let left = until.end.saturating_duration_since(Instant::now());
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
    fn of(
        nth: usize,
        ended: Ended,
        address: SocketAddr,
        after: Duration,
    ) -> Result<Carried, LoadError> {
        let (bytes, cause) = ended.carried(address)?;
        let early = cause.map(|cause| EarlyEnd { connection: nth + 1, bytes, after, cause });
        let processor = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime));
        Ok(Carried { bytes, after, processor: processor.unwrap_or_default(), early })
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
        let mut causes = each.iter().map(|it| it.early.as_ref().map(|early| early.cause));
        if causes.all(|cause| cause == Some(EarlyCause::Broken)) {
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

/// How a transfer ended.
enum Ended {
    /// All of so many bytes arrived.
    Whole(u64),
    /// The connection ended before its time, with so many.
    Early(u64, EarlyCause),
    /// The server of an upload sent something.
    Answered,
    /// It did not close its end in time.
    Open,
}

impl Ended {
    /// The bytes, and why they were not all there would have been.
    fn carried(self, address: SocketAddr) -> Result<(u64, Option<EarlyCause>), LoadError> {
        match self {
            Ended::Whole(bytes) => Ok((bytes, None)),
            Ended::Early(bytes, cause) => Ok((bytes, Some(cause))),
            Ended::Answered => Err(LoadError::NoDiscard { address }),
            Ended::Open => Err(LoadError::NeverCloses { address }),
        }
    }
}

/// Writes until time is over, then waits so long until the server has read all of it.
fn upload(
    mut stream: TcpStream,
    piece: &[u8],
    until: &Until<'_>,
    (moved, longest): (&AtomicU64, Duration),
    watch: impl Fn(&TcpStream),
) -> std::io::Result<Ended> {
    stream.set_write_timeout(Some(LOOK))?;
    let (mut bytes, mut looked) = (0, Instant::now());
    while !until.is_over() {
        if looked.elapsed() >= LOOK {
            watch(&stream);
            looked = Instant::now();
        }
        match stream.write(piece) {
            Ok(count) => {
                bytes += count as u64;
                moved.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => return Ok(Ended::Early(bytes, EarlyCause::Broken)),
        }
    }
    if stream.shutdown(Shutdown::Write).is_err() {
        return Ok(Ended::Early(bytes, EarlyCause::Broken));
    }
    stream.set_read_timeout(Some(LOOK.min(longest)))?;
    let (mut rest, ended) = ([0; 4096], Instant::now());
    loop {
        match stream.read(&mut rest) {
            Ok(0) => {
                watch(&stream);
                return Ok(Ended::Whole(bytes));
            }
            Ok(_) => return Ok(Ended::Answered),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // What `SO_RCVTIMEO` says; a connection that timed out is `TimedOut`.
            Err(error) if error.kind() == ErrorKind::WouldBlock => match ended.elapsed() {
                waited if until.is_stopped() && waited >= LONGEST_STOP.min(longest) => {
                    return Ok(Ended::Early(bytes, EarlyCause::Unread));
                }
                waited if waited >= longest => return Ok(Ended::Open),
                _ => {}
            },
            Err(_) => return Ok(Ended::Early(bytes, EarlyCause::Broken)),
        }
    }
}

/// Reads until time is over.
fn download(mut stream: TcpStream, until: &Until<'_>, moved: &AtomicU64) -> std::io::Result<Ended> {
    stream.set_read_timeout(Some(LOOK))?;
    let mut piece = vec![0; READ];
    let mut bytes = 0;
    while !until.is_over() {
        match stream.read(&mut piece) {
            Ok(0) => return Ok(Ended::Early(bytes, EarlyCause::Closed)),
            Ok(count) => {
                bytes += count as u64;
                moved.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => return Ok(Ended::Early(bytes, EarlyCause::Broken)),
        }
    }
    Ok(Ended::Whole(bytes))
}

/// Whether the error is temporary: a timeout or an interrupted call.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that accepts and never closes is no error of the system.
    #[test]
    fn upload_to_a_server_that_never_closes_ends() {
        for (is_stopped, longest) in [(false, LOOK), (true, LONGEST_END)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (_held, _) = listener.accept().unwrap();
            let (moved, stop) = (AtomicU64::new(0), AtomicBool::new(is_stopped));
            let until = Until { end: Instant::now(), stop: &stop };
            let ended = upload(stream, b"abc", &until, (&moved, longest), |_| ()).unwrap();
            match ended {
                Ended::Early(0, EarlyCause::Unread) => assert!(is_stopped),
                Ended::Open => assert!(!is_stopped),
                _ => panic!("it read nothing"),
            }
        }
    }

    fn config(address: SocketAddr, direction: Direction) -> BulkConfig {
        let time = Duration::from_secs(20);
        BulkConfig { address, direction, connections: 1, time, window: None, congestion: None }
    }

    #[test]
    fn server_that_ends_early_is_told_with_what_it_carried() {
        for is_reset in [false, true] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = thread::spawn(move || {
                let mut stream = listener.accept().unwrap().0;
                stream.write_all(&[7; 10_000]).unwrap();
                if is_reset {
                    // What is not read at the end makes a reset (RFC 9293, section 3.6.1).
                    let mut request = [0; 1];
                    stream.read_exact(&mut request).unwrap();
                }
            });
            let direction = if is_reset { Direction::Upload } else { Direction::Download };
            let ended = bulk(&config(address, direction), &mut |_, _| ControlFlow::Continue(()));
            server.join().unwrap();
            let outcome = ended.unwrap();
            let [early] = &outcome.early[..] else { panic!("{outcome:?}") };
            assert_eq!((early.bytes, outcome.each[0]), (outcome.bytes, outcome.bytes));
            if is_reset {
                assert!(outcome.bytes > 0 && early.cause == EarlyCause::Broken, "{outcome:?}");
            } else {
                assert_eq!((outcome.bytes, early.cause), (10_000, EarlyCause::Closed));
                let said = early.to_string();
                assert!(said.starts_with("connection 1 ended early, after 10"), "{said}");
                assert!(said.ends_with(": the server closed it"), "{said}");
            }
        }
    }

    #[test]
    fn connections_that_were_reset_at_once_leave_the_others() {
        for resets in [1, 2] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = thread::spawn(move || {
                let reset = |stream: TcpStream| {
                    sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                };
                (0..resets).for_each(|_| reset(listener.accept().unwrap().0));
                if resets < 2 {
                    listener.accept().unwrap().0.write_all(&[7; 10_000]).unwrap();
                }
            });
            let config = BulkConfig { connections: 2, ..config(address, Direction::Download) };
            let ended = bulk(&config, &mut |_, _| ControlFlow::Continue(()));
            server.join().unwrap();
            match ended {
                Ok(outcome) => {
                    let early: Vec<_> = outcome.early.iter().map(|it| it.cause).collect();
                    assert_eq!(outcome.each, [0, 10_000]);
                    assert_eq!(early, [EarlyCause::Broken, EarlyCause::Closed]);
                }
                Err(error) => {
                    assert!(resets == 2 && matches!(error, LoadError::Broken { .. }), "{error}");
                    assert!(error.remedy().unwrap().contains("--service chargen"));
                }
            }
        }
    }

    #[test]
    fn window_bounds_what_is_in_flight() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let window = Some(Window { size: 12_488, segment: 1_448 });
        let config = BulkConfig {
            window,
            congestion: Some("reno".into()),
            ..config(listener.local_addr().unwrap(), Direction::Upload)
        };
        let mut stream = connect(&config).unwrap();
        assert!(sockopt::socket_send_buffer_size(&stream).unwrap() <= 4 * 12_488);
        assert_eq!(sockopt::tcp_congestion(&stream).unwrap(), "reno");
        // Data moves, and nothing blocks before its time.
        stream.write_all(&[0; 100]).unwrap();
        let none = BulkConfig { congestion: Some("none such".into()), ..config };
        let error = connect(&none).unwrap_err();
        assert!(matches!(error, LoadError::Congestion { .. }), "{error:?}");
        assert!(error.remedy().unwrap().contains("reno"), "{:?}", error.remedy());
    }
}
