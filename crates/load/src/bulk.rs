//! One way, as fast as it goes: what a connection carries.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::error::{LoadError, system};
use crate::outcome::seconds;
use crate::run::check_descriptors;

/// Bytes that are written at once, the same by all connections. What a write leaves behind its last
/// full segment waits for an acknowledgement (Nagle's algorithm): with pieces of 128 KiB, as iperf3
/// writes, half as many bytes pass a loopback.
const WRITTEN: usize = 1 << 20;
/// Bytes that are read at once, as iperf3 does.
const READ: usize = 128 << 10;
/// How often it is looked whether time is over, while nothing moves.
const LOOK: Duration = Duration::from_millis(100);
/// How long a server may take to read the rest.
const LONGEST_END: Duration = Duration::from_secs(30);

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
    /// The send buffer that is asked for; the kernel's own tuning where none is given.
    pub send_buffer: Option<usize>,
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
}

/// Sends or receives until its time is over. `observe` gets time and bytes so far, and can stop it.
///
/// # Errors
/// When more connections are asked for than may be open, the server cannot be reached or breaks
/// the connection, or is none for this: it answers an upload, or has nothing to download.
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
        .map(|_| TcpStream::connect_timeout(&address, Duration::from_secs(5)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| LoadError::Unreachable { address, source })?;
    for stream in config.send_buffer.and(Some(&streams)).into_iter().flatten() {
        let size = config.send_buffer.unwrap_or_default();
        let set = sockopt::set_socket_send_buffer_size(stream, size);
        set.map_err(system("set SO_SNDBUF"))?;
    }
    let begin = Instant::now();
    let end = begin + config.time;
    let (stop, moved) = (AtomicBool::new(false), AtomicU64::new(0));
    let piece = vec![0x55; WRITTEN];
    let is_over = || stop.load(Ordering::Relaxed) || Instant::now() >= end;
    let each = std::thread::scope(|scope| {
        let (mut threads, mut refusal) = (Vec::new(), None);
        for (nth, stream) in streams.into_iter().enumerate() {
            let (is_over, moved, piece) = (&is_over, &moved, &piece);
            let watch = move |stream: &TcpStream| watch(nth, stream.as_fd());
            let carry = move || {
                let ended = match config.direction {
                    Direction::Upload => {
                        upload(stream, piece, is_over, (moved, LONGEST_END), watch)
                    }
                    Direction::Download => download(stream, is_over, moved).map(Ended::Whole),
                };
                let bytes = match ended.map_err(system("carry data"))? {
                    Ended::Whole(bytes) => bytes,
                    Ended::Answered => return Err(LoadError::NoDiscard { address }),
                    Ended::Open => return Err(LoadError::NeverCloses { address }),
                };
                let used = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime));
                Ok((bytes, begin.elapsed(), used.unwrap_or_default()))
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
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            if observe(begin.elapsed(), moved.load(Ordering::Relaxed)).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            let left = end.saturating_duration_since(Instant::now());
            std::thread::sleep(left.clamp(Duration::from_millis(2), LOOK));
        }
        let ended = threads.into_iter().map(|thread| thread.join().expect("it does not die"));
        let ended = ended.collect::<Result<Vec<_>, LoadError>>();
        refusal.map_or(ended, Err)
    })?;
    let elapsed = each.iter().map(|it| it.1).max().unwrap_or_default();
    let bytes = each.iter().map(|it| it.0).sum();
    if config.direction == Direction::Download && bytes == 0 && !stop.load(Ordering::Relaxed) {
        return Err(LoadError::NoChargen { address });
    }
    Ok(BulkOutcome {
        direction: config.direction,
        elapsed,
        bytes,
        bits_per_second: bytes as f64 * 8.0 / elapsed.as_secs_f64().max(1e-9),
        each: each.iter().map(|it| it.0).collect(),
        processor: each.iter().map(|it| it.2).sum(),
    })
}

/// How a transfer ended.
enum Ended {
    /// All of so many bytes arrived.
    Whole(u64),
    /// The server of an upload sent something.
    Answered,
    /// It did not close its end in time.
    Open,
}

/// Writes until time is over, then waits so long until the server has read all of it.
fn upload(
    mut stream: TcpStream,
    piece: &[u8],
    is_over: &impl Fn() -> bool,
    (moved, longest): (&AtomicU64, Duration),
    watch: impl Fn(&TcpStream),
) -> std::io::Result<Ended> {
    stream.set_write_timeout(Some(LOOK))?;
    let (mut bytes, mut looked) = (0, Instant::now());
    while !is_over() {
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
            Err(error) => return Err(error),
        }
    }
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(longest))?;
    let mut rest = [0; 4096];
    loop {
        match stream.read(&mut rest) {
            Ok(0) => {
                watch(&stream);
                return Ok(Ended::Whole(bytes));
            }
            Ok(_) => return Ok(Ended::Answered),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // What `SO_RCVTIMEO` says; a connection that timed out is `TimedOut`.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Ended::Open),
            Err(error) => return Err(error),
        }
    }
}

/// Reads until time is over.
fn download(
    mut stream: TcpStream,
    is_over: &impl Fn() -> bool,
    moved: &AtomicU64,
) -> std::io::Result<u64> {
    stream.set_read_timeout(Some(LOOK))?;
    let mut piece = vec![0; READ];
    let mut bytes = 0;
    while !is_over() {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                bytes += count as u64;
                moved.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(error) if is_passing(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// Whether the error is temporary: a timeout or an interrupted call.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that accepts and never closes is no error of the system.
    #[test]
    fn upload_to_a_server_that_never_closes_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_held, _) = listener.accept().unwrap();
        let moved = AtomicU64::new(0);
        let ended = upload(stream, b"abc", &|| true, (&moved, LOOK), |_| ()).unwrap();
        assert!(matches!(ended, Ended::Open));
    }
}
