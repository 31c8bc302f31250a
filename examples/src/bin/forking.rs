//! Example 6: a process for each connection.
//!
//! It teaches: the classic concurrent server, `accept` then `fork`; that both processes then hold
//! both sockets, and each must let go of the one that it does not use, or the connection never
//! ends; that children that have ended must be waited for, or they stay as zombies.
//!
//! `forking [ADDRESS:PORT]`: any web browser, or example 8, is a client.
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]
#![expect(clippy::print_stderr, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::TcpListener;

use rustix::process::{WaitOptions, wait};
use tcplab_examples::{address, fork, serve_page};

fn main() -> io::Result<()> {
    let address = address(0);
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (stream, from) = listener.accept()?;
        // Those that have ended since the last time; the rest is looked for after the next client.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        match fork() {
            Ok(None) => {
                drop(listener);
                let served = serve_page(&stream);
                if let Err(error) = &served {
                    eprintln!("{from}: {error}");
                }
                drop(stream);
                std::process::exit(served.is_err().into());
            }
            // `stream` is dropped here: only the child's is left.
            Ok(Some(_)) => {}
            // Too many at once: this one is turned away, the next may be served.
            Err(error) => eprintln!("{from} turned away: {error}"),
        }
    }
}
