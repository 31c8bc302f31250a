//! A connection of the servers that wait for many at once.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// How many clients at once; who comes then waits until one has gone.
pub const CLIENTS: usize = 1_000;

/// What came from a client and has not gone back.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    room: [u8; 4_096],
    /// What lies between them waits in `room`.
    sent: usize,
    len: usize,
}

impl Connection {
    /// The next client; none if there is none, though the listener was said to be ready: it may
    /// have gone again.
    ///
    /// # Errors
    /// When nobody can be accepted any more, such as for lack of descriptors.
    pub fn next(listener: &TcpListener) -> io::Result<Option<Connection>> {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if is_nothing_yet(&error) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => return Ok(None),
            Err(error) => return Err(error),
        };
        // What `accept` gives does not inherit this on Linux.
        stream.set_nonblocking(true)?;
        Ok(Some(Connection { stream, room: [0; 4_096], sent: 0, len: 0 }))
    }

    /// Whether it waits until it can write. It does not read then: who does not read what comes
    /// back must not fill this server's memory, and is pushed back by TCP.
    pub fn wants_to_write(&self) -> bool {
        self.sent < self.len
    }

    /// Reads once and writes once, without waiting. False when the connection is over.
    pub fn carry(&mut self) -> bool {
        if !self.wants_to_write() {
            match self.stream.read(&mut self.room) {
                Ok(0) => return false,
                Ok(len) => (self.sent, self.len) = (0, len),
                Err(error) => return is_nothing_yet(&error),
            }
        }
        match self.stream.write(&self.room[self.sent..self.len]) {
            Ok(taken) => {
                self.sent += taken;
                true
            }
            Err(error) => is_nothing_yet(&error),
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Whether it is to be asked again later. An interrupted call is ready still.
fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
