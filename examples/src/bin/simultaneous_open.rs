//! An experiment: two ends that both connect, and neither listens (RFC 9293 section 3.5, figure 7).
//!
//! It teaches: that TCP knows no client and no server: SYNs that cross open one connection, by way
//! of SYN-RECEIVED at both ends, without `listen` and `accept`; that both ends must know the
//! other's port, so that both bind; that it takes a path with a delay: where a SYN arrives before
//! the other end has called `connect`, it is answered by a RST. Both begin at a full second of the
//! clock.
//!
//! Without arguments it connects a socket to its own name: it receives its own SYN. That may happen
//! to a client of a server on this host that does not run, if the kernel chooses that port for it.
//!
//! `TcpStream::connect` leaves no place for `bind`; here a socket takes the calls themselves.
//!
//! `simultaneous_open [OWN-ADDRESS:PORT PEER-ADDRESS:PORT]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};
use tcplab_examples::{argument, tcp_info};

fn main() -> io::Result<()> {
    if std::env::args().len() == 1 {
        let itself = bound("127.0.0.1:0".parse().map_err(io::Error::other)?)?;
        let name = itself.local_addr()?;
        connect_and_watch(&itself, name)?;
        return greet(itself);
    }
    let usage = "OWN-ADDRESS:PORT PEER-ADDRESS:PORT, such as 10.98.0.1:7001 10.98.0.2:7002";
    let [own, peer] = [argument(0, usage)?, argument(1, usage)?].map(|text| text.parse());
    let wrong = |error| io::Error::new(ErrorKind::InvalidInput, error);
    let (own, peer) = (own.map_err(wrong)?, peer.map_err(wrong)?);
    for _ in 0..10 {
        until_full_second();
        let stream = bound(own)?;
        match connect_and_watch(&stream, peer) {
            Ok(()) => return greet(stream),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                println!("refused: the SYN came before the other end had called connect");
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{peer}: no SYN crossed; is there a delay between the ends?")))
}

/// A socket at a port, as a server's, but one that will not listen.
fn bound(own: SocketAddr) -> io::Result<TcpStream> {
    let family = if own.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &own)?;
    Ok(socket.into())
}

/// Connects, and prints each state that it sees, with the milliseconds since the SYN.
fn connect_and_watch(stream: &TcpStream, peer: SocketAddr) -> io::Result<()> {
    // `connect` is not to wait: it sends the SYN, and returns.
    stream.set_nonblocking(true)?;
    let start = Instant::now();
    match connect(stream, &peer) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let mut state = "";
    while !["ESTABLISHED", "CLOSED"].contains(&state) {
        let seen = tcp_info(stream)?.state;
        if seen == state {
            thread::sleep(Duration::from_millis(1));
        } else {
            println!("{:4.0} ms: {seen}", start.elapsed().as_secs_f64() * 1e3);
        }
        state = seen;
    }
    stream.set_nonblocking(false)?;
    stream.take_error()?.map_or(Ok(()), Err)
}

/// Waits until the clock shows a full second: so two programs begin at the same time.
fn until_full_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    thread::sleep(Duration::from_millis(1_000 - u64::from(now.subsec_millis())));
}

/// What each end says to the other: its own name.
fn greet(mut stream: TcpStream) -> io::Result<()> {
    let own = stream.local_addr()?;
    stream.write_all(own.to_string().as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut heard = String::new();
    stream.read_to_string(&mut heard)?;
    println!("{own} hears: I am {heard}");
    Ok(())
}
