//! An experiment: `close` against `shutdown`, across `fork`.
//!
//! It teaches: that a descriptor is a reference: after a fork two processes have the connection,
//! and `close` (here `drop`) ends it only when the last of them closes; that `shutdown` acts on the
//! connection itself, whoever has it; that it can end one direction, and the other goes on (half
//! close). `try_clone` is dup(2), a second reference just like a fork's.
//!
//! `shutdown`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, ErrorKind, PipeWriter, Read, Write, pipe};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::{WaitOptions, wait};
use tcplab_examples::fork;

const LONG: Duration = Duration::from_secs(10);

fn main() -> io::Result<()> {
    let (near, far) = connected()?;
    let held = holder()?;
    drop(near);
    print("close in one of two processes", &far, Duration::from_millis(100))?;
    drop(held);
    wait(WaitOptions::empty())?;
    print("the other process has ended", &far, LONG)?;

    let (mut near, mut far) = connected()?;
    let held = holder()?;
    near.shutdown(Shutdown::Write)?;
    print("shutdown in one of two processes", &far, LONG)?;
    near.set_read_timeout(Some(LONG))?;
    far.write_all(b"x")?;
    near.read_exact(&mut [0])?;
    println!("half closed: the other direction still carries data");
    drop(held);
    wait(WaitOptions::empty())?;
    Ok(())
}

/// Two ends of a connection on this host: near and far.
fn connected() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let far = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0, far))
}

/// A process that has both ends as well, and ends when the end of the pipe is dropped.
fn holder() -> io::Result<PipeWriter> {
    let (mut reader, writer) = pipe()?;
    if fork()?.is_none() {
        // A copy of the pipe's other end would keep this process waiting for itself.
        drop(writer);
        let ended = reader.read(&mut [0]);
        std::process::exit(i32::from(!matches!(ended, Ok(0))));
    }
    Ok(writer)
}

/// What the far end reads, within so long.
fn print(after: &str, mut far: &TcpStream, most: Duration) -> io::Result<()> {
    far.set_read_timeout(Some(most))?;
    let read = match far.read(&mut [0]) {
        Ok(_) => "the end of the stream",
        Err(error) if error.kind() == ErrorKind::WouldBlock => "nothing yet",
        Err(error) => return Err(error),
    };
    println!("{after}: the peer reads {read}");
    Ok(())
}
