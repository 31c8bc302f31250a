//! Example 3: a connection. What the client sends comes back.
//!
//! It teaches: `listen`, `accept`, `connect`; that a read gives what has arrived, not what was
//! written, so that both sides loop; that the end of the stream is a read of nothing; that a server
//! that serves one client after another lets the others wait, and one with a thread for each does
//! not; that a client closes its half to say that it is done, and reads on.
//!
//! `echo server [ADDRESS:PORT]`, `echo threads [ADDRESS:PORT]`, `echo client ADDRESS:PORT`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]
#![expect(clippy::print_stderr, reason = "a program at the terminal speaks by printing")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use tcplab_examples::{address, argument};

fn main() -> io::Result<()> {
    let role = argument(0, "`server`, `threads` or `client`")?;
    if role == "client" {
        return client(&argument(1, "the server's address and port")?);
    }
    let address = address(1);
    // std sets SO_REUSEADDR, so that a server can be started again while connections of its
    // predecessor are in TIME-WAIT.
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (stream, from) = listener.accept()?;
        let serve = move || {
            if let Err(error) = echo(&stream) {
                // A broken connection concerns only that client.
                eprintln!("{from}: {error}");
            }
        };
        if role == "threads" {
            thread::spawn(serve);
        } else {
            serve();
        }
    }
}

/// Sends back all that comes, until nothing comes any more.
fn echo(mut stream: &TcpStream) -> io::Result<()> {
    let mut room = [0; 4_096];
    loop {
        match stream.read(&mut room)? {
            0 => return Ok(()),
            // `write` may take less than it is given; `write_all` asks again.
            len => stream.write_all(&room[..len])?,
        }
    }
}

/// Sends what is on standard input, and prints the echo.
fn client(server: &str) -> io::Result<()> {
    let stream = TcpStream::connect(server)?;
    let mut back = stream.try_clone()?;
    // Reads while it writes: else both ends could wait for the other to read.
    let printer = thread::spawn(move || {
        let printed = io::copy(&mut back, &mut io::stdout());
        if printed.is_err() {
            // Or the other thread would write for ever, into a connection that nobody reads.
            back.shutdown(Shutdown::Both)?;
        }
        printed
    });
    io::copy(&mut io::stdin(), &mut &stream)?;
    stream.shutdown(Shutdown::Write)?;
    printer.join().expect("it does not panic")?;
    Ok(())
}
