//! An experiment: writes and reads that move less than they were given.
//!
//! It teaches: that a write takes what the socket's buffer has room for, when it may not wait or a
//! signal ends its waiting; that the number it returns is not an error, and the next call says
//! EAGAIN or EINTR; that a read gives what has arrived, whatever the writes were. `write_all` and
//! `read_exact` loop; but after an error of `write_all` nobody knows how much it has written.
//!
//! `short_write`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use tcplab_examples::alarm_each;

const ASKED: usize = 10_000_000;
const BUFFER: usize = 65_536;

fn main() -> io::Result<()> {
    let (sender, receiver) = connected()?;
    sender.set_nonblocking(true)?;
    write_twice("does not wait", sender, receiver)?;

    let (sender, receiver) = connected()?;
    alarm_each(Duration::from_millis(50), false, None)?;
    write_twice("interrupted", sender, receiver)
}

/// Two ends of a connection on this host, whose buffers are small and stay so.
fn connected() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    // What `accept` gives inherits the listener's; before `connect`, or the window is larger.
    set_socket_recv_buffer_size(&listener, BUFFER)?;
    let sender = TcpStream::connect(listener.local_addr()?)?;
    set_socket_send_buffer_size(&sender, BUFFER)?;
    Ok((sender, listener.accept()?.0))
}

/// Writes twice, of which the second finds no room at all; closes, and reads all that was taken.
fn write_twice(how: &str, mut sender: TcpStream, mut receiver: TcpStream) -> io::Result<()> {
    let mut data = vec![0; ASKED];
    let mut taken = sender.write(&data)?;
    let amount = if taken < ASKED { "less" } else { "all" };
    println!("{how}: asked to write {ASKED} bytes, took {amount}");
    let error = loop {
        match sender.write(&data) {
            // Acknowledgements made room meanwhile.
            Ok(more) => taken += more,
            Err(error) => break error,
        }
    };
    println!("{how}: the next write: {error}");
    alarm_each(Duration::ZERO, false, None)?;
    // What was taken is sent nevertheless.
    drop(sender);
    let (mut all, mut reads) = (0, 0);
    loop {
        match receiver.read(&mut data) {
            Ok(0) => break,
            Ok(len) => (all, reads) = (all + len, reads + 1),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let arrived = if all == taken { "all that was taken" } else { "not all" };
    let number = if reads > 1 { "more reads than writes" } else { "one read" };
    println!("{how}: {arrived} arrived, in {number}");
    Ok(())
}
