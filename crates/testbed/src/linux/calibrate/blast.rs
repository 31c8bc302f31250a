//! The ceiling: what one TCP connection gets through a path that judges each segment and holds
//! none for long.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;
use tcplab_path::{Direction, LinkPlan, PathSpec, RateSpec};
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::Ceiling;
use super::rounds::CalibrationPath;
use super::site::Stream;
use crate::bridge::BridgeState;
use crate::{TrialError, Tuning, threads};

/// Faster than any machine moves frames: the bottleneck then only judges.
const UNLIMITED: Rate = Rate::from_bits_per_second(100_000_000_000);
/// Until the connection is under way.
const WARM_UP: Span = Span::from_millis(100);
/// What is counted.
const COUNTED: Span = Span::from_millis(300);
/// What its threads are, where one cannot be started.
const THREAD: &str = "a thread that sends as fast as it can";
/// If nothing comes of it.
const GIVE_UP: Span = Span::from_secs(5);

/// Finds it. The ends' streams are used up.
pub(super) fn ceiling(
    path_ends: &mut CalibrationPath,
    tuning: Tuning,
) -> Result<Ceiling, TrialError> {
    let path = PathSpec { rate: Some(RateSpec::Constant(UNLIMITED)), ..PathSpec::default() };
    let plans: [LinkPlan; 2] = [path.link(Direction::Forward)?, path.link(Direction::Reverse)?];
    let (mut bridge, _) = path_ends.bridge(&plans, 1, tuning)?;
    let counters = bridge.counters();
    let [client, server] = path_ends.sites();
    let (Stream::Connects(out, to), Stream::Accepts(listener)) =
        (&client.sockets.stream, &server.sockets.stream)
    else {
        unreachable!("the client connects and the server accepts")
    };
    let failed = || TrialError::setup("send as fast as this machine can");
    let out = out.try_clone().map_err(failed())?;
    let count = || {
        let way = counters.direction(Direction::Forward);
        (way.packets_out.value(), way.bytes_out.value())
    };
    let mut marks = Vec::new();
    let (ran, sent, read) = thread::scope(|scope| {
        let stop = out.as_fd().try_clone_to_owned();
        let sender = threads::start_in(scope, THREAD, move || {
            rustix::net::connect(&out, to)?;
            pour(out)
        })?;
        let receiver = threads::start_in(scope, THREAD, || {
            let (stream, _) = listener.accept()?;
            drain(stream)
        });
        let mut blast = |state: &BridgeState| {
            let (packets, bytes) = count();
            if marks.is_empty() && bytes > 0 && state.now.since(Instant::ZERO) >= WARM_UP {
                marks.push((state.now, packets, bytes));
            }
            let counted = marks.first().map(|(from, ..)| state.now.since(*from));
            if counted.is_some_and(|span| span >= COUNTED) {
                marks.push((state.now, packets, bytes));
            }
            marks.len() > 1 || state.now.since(Instant::ZERO) > GIVE_UP
        };
        let ran = if receiver.is_ok() { bridge.run(&mut blast) } else { Ok(()) };
        if let Ok(stop) = stop {
            let _ = rustix::net::shutdown(&stop, rustix::net::Shutdown::Both);
        }
        // This wakes an accept that no client reached, and ends the listener's side of a
        // connection.
        let _ = rustix::net::shutdown(listener.as_fd(), rustix::net::Shutdown::Both);
        Ok::<_, TrialError>((ran, sender.join(), receiver?.join()))
    })?;
    let ring_wait = bridge.finish().ring_wait;
    ran?;
    let ([(from, packets, bytes), (to, more_packets, more_bytes)], true, true) =
        (&marks[..], sent.is_ok(), read.is_ok())
    else {
        return Err(failed()(io::ErrorKind::TimedOut.into()));
    };
    let span = to.since(*from);
    let rate = Rate::of(Bytes::new(more_bytes - bytes), span);
    Ok(Ceiling {
        pps: ((more_packets - packets) as f64 / span.as_secs_f64()) as u64,
        rate: rate.unwrap_or(Rate::from_bits_per_second(0)),
        ring_wait,
    })
}

/// Writes until it is stopped.
fn pour(socket: OwnedFd) -> io::Result<()> {
    let mut stream = TcpStream::from(socket);
    let chunk = vec![0x5a; 256 << 10];
    while stream.write(&chunk).is_ok() {}
    let _ = stream.shutdown(Shutdown::Both);
    forget(&stream)
}

/// Reads until nothing comes any more.
fn drain(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut buffer = vec![0; 256 << 10];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
    forget(&stream)
}

/// Closing it leaves nothing that would be retransmitted in a later round.
fn forget(stream: &TcpStream) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(stream, Some(Duration::ZERO))?)
}
