//! Hosts that vanish without a word.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

/// After this time without a word, the kernel asks whether the other host is still there
/// (tcp(7), TCP_KEEPIDLE).
const LONGEST_SILENCE: Duration = Duration::from_secs(60);

/// Lets reads of a connection fail when the other host has vanished: after a minute and as many
/// questions as the kernel asks (nine, 75 s apart by default).
///
/// # Errors
/// As setsockopt(2).
pub fn notice_vanished(stream: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, LONGEST_SILENCE)?;
    Ok(())
}
