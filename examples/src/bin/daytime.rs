//! Example 3, continued: daytime (RFC 867).
//!
//! It teaches: a protocol in which the server speaks first and closes, so that the end of the
//! stream is the end of the message; and who is left in TIME-WAIT by that: the server, which closed
//! first (`tcplab states --state time-wait` shows it).
//!
//! `daytime server [ADDRESS:PORT]`, `daytime client ADDRESS:PORT`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use tcplab_examples::{address, argument, time_of_day};

fn main() -> io::Result<()> {
    if argument(0, "`server` or `client`")? == "client" {
        let mut time = String::new();
        TcpStream::connect(argument(1, "the server's address and port")?)?
            // More than a date is not from a server of this kind.
            .take(512)
            .read_to_string(&mut time)?;
        println!("it is {}", time.trim_end());
        return Ok(());
    }
    let address = address(1);
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (mut stream, from) = listener.accept()?;
        println!("{from} asks");
        // If the client has gone, the next one has not.
        let _ = stream.write_all(format!("{}\r\n", time_of_day()).as_bytes());
    }
}
