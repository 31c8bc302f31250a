//! An experiment: a bind that fails because of TIME-WAIT, and SO_REUSEADDR.
//!
//! It teaches: who closes first waits, a minute on Linux, for what may still be on its way; that a
//! server which closed first cannot bind its port meanwhile; that SO_REUSEADDR allows it; and that
//! on Linux the old socket must have had it, too: set it always, not when `bind` has failed.
//!
//! `TcpListener::bind` sets it always; without it, a socket takes the calls themselves.
//!
//! `time_wait`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

fn main() -> io::Result<()> {
    for before in [false, true] {
        for after in [false, true] {
            let result = listener_at(past_server(before)?, after);
            let [before, after] = [before, after].map(|set| if set { "with" } else { "without" });
            let result = result.map_or_else(|error| error.to_string(), |_| "bound".to_owned());
            println!("server {before} SO_REUSEADDR, successor {after}: {result}");
        }
    }
    Ok(())
}

/// A listening socket at a port of 127.0.0.1.
fn listener_at(port: u16, reuse: bool) -> io::Result<TcpListener> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseaddr(&socket, reuse)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listen(&socket, 1)?;
    Ok(socket.into())
}

/// A server serves one client, closes first, and ends. The port that it had.
fn past_server(reuse: bool) -> io::Result<u16> {
    let listener = listener_at(0, reuse)?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    client.set_read_timeout(Some(Duration::from_secs(10)))?;
    // FIN: from now on this end waits.
    drop(listener.accept()?);
    client.read_to_end(&mut Vec::new())?;
    // The other FIN, when `client` is dropped: this end waits no more, the server's is in
    // TIME-WAIT.
    Ok(listener.local_addr()?.port())
}
