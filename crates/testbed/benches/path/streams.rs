//! One TCP stream from the first room to the second.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType};
use tcplab_testbed::workbench::{ADDRESSES, Room};

const PORT: u16 = 5201;
/// As iperf3 does.
const BLOCK: usize = 128 << 10;

/// What was received between the first and the last read.
pub(crate) struct Flow {
    pub(crate) bytes: u64,
    pub(crate) lasted: Duration,
}

impl Flow {
    pub(crate) fn bits_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.lasted.as_secs_f64()
    }
}

/// A stream that flows until it is stopped.
pub(crate) struct Stream {
    stop: Arc<AtomicBool>,
    sender: Receiver<io::Result<()>>,
    receiver: Receiver<io::Result<Flow>>,
}

/// Of which kind.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) congestion: &'static str,
    /// Bytes per second; 0 for as fast as it goes.
    pub(crate) pacing: u64,
    /// What is received before this is not counted.
    pub(crate) warm_up: Duration,
}

impl Stream {
    pub(crate) fn start(rooms: &[Room; 2], kind: Kind) -> io::Result<Stream> {
        let listener = rooms[1].run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)))?;
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let receiver = rooms[1].start(move || receive(&listener, kind.warm_up));
        let sender = rooms[0].start(move || send(kind, &is_over));
        Ok(Stream { stop, sender, receiver })
    }

    pub(crate) fn end(self) -> io::Result<Flow> {
        self.stop.store(true, Ordering::Relaxed);
        let lost = || io::Error::other("a thread was lost");
        self.sender.recv().map_err(|_| lost())??;
        self.receiver.recv().map_err(|_| lost())?
    }
}

fn send(kind: Kind, is_over: &AtomicBool) -> io::Result<()> {
    let mut stream = connect(SocketAddrV4::new(ADDRESSES[1], PORT), kind)?;
    let block = vec![0x5a; BLOCK];
    // So that a slow path does not keep it in a write for long.
    stream.set_write_timeout(Some(Duration::from_millis(100)))?;
    while !is_over.load(Ordering::Relaxed) {
        match stream.write(&block) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    // What waits in its buffer is of no interest: an end by reset.
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
    Ok(())
}

/// A connection with the congestion control and pacing asked for.
pub(crate) fn connect(to: SocketAddrV4, kind: Kind) -> io::Result<TcpStream> {
    let socket: OwnedFd = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::net::sockopt::set_tcp_congestion(&socket, kind.congestion)?;
    if kind.pacing > 0 {
        tcplab_testbed::workbench::pace(&socket, kind.pacing)?;
    }
    rustix::net::connect(&socket, &to)?;
    Ok(TcpStream::from(socket))
}

pub(crate) fn receive(listener: &TcpListener, warm_up: Duration) -> io::Result<Flow> {
    let (mut stream, _) = listener.accept()?;
    let began = Instant::now();
    let mut buffer = vec![0; BLOCK];
    let mut first = None;
    let (mut bytes, mut last) = (0, began);
    loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read as u64,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error),
        };
        let now = Instant::now();
        match first {
            // From the end of one read to the end of another: only what came in between counts.
            None if now.duration_since(began) >= warm_up => first = Some(now),
            None => {}
            Some(_) => (bytes, last) = (bytes + read, now),
        }
    }
    let first = first.ok_or(io::Error::other("the stream ended before it was warm"))?;
    Ok(Flow { bytes, lasted: last.duration_since(first) })
}
