//! An experiment: what a datagram socket receives, and how much of it.
//!
//! It teaches: that `connect` gives a datagram socket one peer, and it receives from that one only;
//! that a read takes one datagram, and what it has no room for is lost: the next read gives the
//! next datagram.
//!
//! `datagrams`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::UdpSocket;

const LARGE: usize = 600;
const ROOM: usize = 100;

fn main() -> io::Result<()> {
    let [socket, peer, stranger] = [bound()?, bound()?, bound()?];
    // On this host a datagram has arrived when `send_to` returns: nothing waits.
    socket.set_nonblocking(true)?;
    let own = socket.local_addr()?;
    stranger.send_to(b"the stranger's", own)?;
    receive(&socket, "not connected");
    socket.connect(peer.local_addr()?)?;
    stranger.send_to(b"the stranger's", own)?;
    receive(&socket, "connected to the peer, the stranger sends");
    peer.send_to(b"the peer's", own)?;
    receive(&socket, "connected to the peer, the peer sends");
    peer.send_to(&[0; LARGE], own)?;
    peer.send_to(b"the next", own)?;
    receive(&socket, "of 600 bytes, with room for 100");
    receive(&socket, "then");
    Ok(())
}

/// A socket at a port of its own on this host.
fn bound() -> io::Result<UdpSocket> {
    UdpSocket::bind("127.0.0.1:0")
}

fn receive(socket: &UdpSocket, when: &str) {
    let mut room = [0; ROOM];
    match socket.recv(&mut room) {
        Err(error) => println!("{when}: {error}"),
        Ok(ROOM) => println!("{when}: {ROOM} bytes"),
        Ok(got) => println!("{when}: {}", String::from_utf8_lossy(&room[..got])),
    }
}
