//! An experiment: what `listen(fd, backlog)` limits.
//!
//! It teaches: that the kernel makes the handshake, not `accept`; that a connection then waits in
//! the accept queue, which takes backlog + 1 of them (net.core.somaxconn limits backlog); that
//! Linux drops the SYN of the next client, which repeats it after 1 s and later, until there is
//! room. If the queue fills while a handshake is under way, Linux drops the last ACK: the client
//! believes that it is connected. With net.ipv4.tcp_abort_on_overflow it is reset when it sends.
//!
//! `TcpListener::bind` listens, with a backlog of 128; here a socket takes the calls themselves.
//!
//! `listen_queue [--backlog N]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::fs::read_to_string;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, listen, socket_with};
use tcplab_examples::{defer_accept, option, tcp_info};

fn main() -> io::Result<()> {
    let backlog = option("--backlog")?.unwrap_or(1);
    if !(1..=100).contains(&backlog) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "--backlog needs a number from 1 to 100",
        ));
    }
    // As root: sysctl -w net.ipv4.tcp_abort_on_overflow=1
    for name in ["net.core.somaxconn", "net.ipv4.tcp_abort_on_overflow"] {
        let value = read_to_string(format!("/proc/sys/{}", name.replace('.', "/")))?;
        println!("{name} = {}", value.trim());
    }
    syn_dropped(backlog)?;
    ack_dropped(backlog)
}

/// Clients connect one after the other, until one of them does not get in.
fn syn_dropped(backlog: u32) -> io::Result<()> {
    let listener = listening(backlog)?;
    let mut clients = Vec::new();
    println!("a SYN finds the queue full:");
    let client = loop {
        let client = Client::of(&listener, clients.len() as u32 + 1)?;
        if client.follow("SYN-SENT", 1, &listener)? != "ESTABLISHED" {
            break client;
        }
        clients.push(client);
    };
    let _served = listener.accept()?;
    print("the server accepts one", &listener)?;
    client.follow("SYN-SENT", u32::MAX, &listener)?;
    Ok(())
}

/// Client 1 begins, the others fill the queue, and only then its last ACK counts. On a path with a
/// delay that takes no option: the queue fills during a round trip.
fn ack_dropped(backlog: u32) -> io::Result<()> {
    let listener = listening(backlog)?;
    println!("a last ACK finds the queue full:");
    // As long as this is set, the kernel ignores an ACK without data.
    defer_accept(&listener, 30)?;
    let mut first = Client::of(&listener, 1)?;
    first.follow("SYN-SENT", u32::MAX, &listener)?;
    defer_accept(&listener, 0)?;
    let mut clients = Vec::new();
    while !is_full(&listener)? {
        let client = Client::of(&listener, clients.len() as u32 + 2)?;
        client.follow("SYN-SENT", u32::MAX, &listener)?;
        clients.push(client);
    }
    first.start = Instant::now();
    first.stream.write_all(b"x")?;
    println!("client 1 sends a byte");
    if first.follow("ESTABLISHED", 1, &listener)? == "ESTABLISHED" {
        let before = clients.iter().map(|_| listener.accept());
        let _served = before.collect::<io::Result<Vec<_>>>()?;
        listener.accept()?.0.read_exact(&mut [0])?;
        print("the server accepts all, and reads the byte", &listener)?;
    } else if let Err(error) = first.stream.read(&mut [0]) {
        println!("client 1 reads: {error}");
    }
    Ok(())
}

fn listening(backlog: u32) -> io::Result<TcpListener> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&socket, backlog as i32)?;
    Ok(socket.into())
}

/// Prints the queue, too: for a listening socket these two fields of TCP_INFO are about that.
fn print(what: &str, listener: &TcpListener) -> io::Result<()> {
    let queue = tcp_info(listener)?;
    println!("{what}; accept queue {}, limit {}", queue.unacked, queue.sacked);
    Ok(())
}

/// Whether the kernel drops the next one.
fn is_full(listener: &TcpListener) -> io::Result<bool> {
    let queue = tcp_info(listener)?;
    Ok(queue.unacked > queue.sacked)
}

struct Client {
    number: u32,
    stream: TcpStream,
    start: Instant,
}

impl Client {
    /// A client whose `connect` does not wait: it sends a SYN and returns.
    fn of(listener: &TcpListener, number: u32) -> io::Result<Client> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        let start = Instant::now();
        match connect(&socket, &listener.local_addr()?) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Client { number, stream: socket.into(), start })
    }

    /// Prints what became of it, when it is in another state or has repeated so much.
    fn follow(
        &self,
        state: &str,
        repeats: u32,
        listener: &TcpListener,
    ) -> io::Result<&'static str> {
        let info = loop {
            thread::sleep(Duration::from_millis(10));
            let info = tcp_info(&self.stream)?;
            if info.state != state || info.total_retrans >= repeats {
                break info;
            }
        };
        let (number, time) = (self.number, self.start.elapsed().as_secs_f64());
        let (state, repeats) = (info.state, info.total_retrans);
        print(&format!("client {number}: {state} after {time:.1} s, repeats {repeats}"), listener)?;
        Ok(state)
    }
}
