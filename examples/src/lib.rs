//! What several of the examples need and none is about.

mod alarm;
mod connection;
mod fork;
mod lookup;
mod tcp_info;

pub use alarm::alarm_each;
pub use connection::{CLIENTS, Connection};
pub use fork::fork;
pub use lookup::{host_name, service_port};
pub use tcp_info::{TcpInfo, defer_accept, tcp_info};

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The argument at a place, the program's name not counted.
///
/// # Errors
/// When there is none: `what` says what it should have been.
pub fn argument(place: usize, what: &str) -> io::Result<String> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, format!("say {what}"));
    std::env::args().nth(place + 1).ok_or_else(missing)
}

/// Where a server is to listen: the argument at a place, or a port of the kernel's choosing.
pub fn address(place: usize) -> String {
    let given = argument(place, "where").ok().filter(|given| !given.starts_with('-'));
    given.unwrap_or_else(|| "127.0.0.1:0".into())
}

/// Runs one half of an example: the server, at the address given or one that the kernel chooses, or
/// the client of the server named.
///
/// # Errors
/// The half's, or when an argument is missing.
pub fn client_or_server(
    client: impl FnOnce(&str) -> io::Result<()>,
    server: impl FnOnce(&str) -> io::Result<()>,
) -> io::Result<()> {
    match argument(0, "`server` or `client`")?.as_str() {
        "server" => server(&address(1)),
        _ => client(&argument(1, "the server's address and port")?),
    }
}

/// A datagram socket that has a server as its peer: from now on, only datagrams from there are
/// received. It is bound to an address of the server's family, the port is the kernel's choice.
///
/// # Errors
/// When the server has no address, or none that this host can send to.
pub fn datagrams_to(server: &str) -> io::Result<UdpSocket> {
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for address in server.to_socket_addrs()? {
        let own: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(own);
        match socket.and_then(|socket| socket.connect(address).map(|()| socket)) {
            Ok(socket) => return Ok(socket),
            Err(this) => error = this,
        }
    }
    Err(error)
}

/// What stands behind an option such as `--count`; none without it.
///
/// # Errors
/// When it is not what the option takes.
pub fn option<T: std::str::FromStr>(name: &str) -> io::Result<Option<T>> {
    let mut rest = std::env::args().skip_while(|argument| argument != name);
    if rest.next().is_none() {
        return Ok(None);
    }
    let value = rest.next().and_then(|value| value.parse().ok());
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, format!("{name} needs a value"));
    value.map(Some).ok_or_else(wrong)
}

/// The time now, as a clock on the wall of Greenwich would have it.
pub fn time_of_day() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    time_at(since.as_secs()) + &format!(".{:06}", since.subsec_micros())
}

/// Seconds since 1970 as a date and a time.
fn time_at(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02}", days + 1)
}

/// What the servers of examples 6, 7 and 9 serve: about 3 KB, as in the course's measurements.
const PAGE: [u8; 3_000] = [b'.'; 3_000];

/// Answers one request of HTTP/1.0, whatever it asks for, with a page.
///
/// # Errors
/// When the client sends no request within ten seconds, or goes away: its own affair, and no reason
/// for a server to end.
pub fn serve_page(stream: &TcpStream) -> io::Result<()> {
    // Who connects and says nothing must not keep a process or a thread for ever.
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    // Nor may one who never stops talking.
    let mut lines = BufReader::new(stream.take(8_192));
    loop {
        let mut line = String::new();
        // The header ends with an empty line.
        if lines.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", PAGE.len());
    // One write, one packet more or less: not a small one that waits for the next (Nagle).
    let mut answer = head.into_bytes();
    answer.extend_from_slice(&PAGE);
    (&*stream).write_all(&answer)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_are_right() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_709_164_800, "2024-02-29 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (4_102_444_800, "2100-01-01 00:00:00"),
        ] {
            assert_eq!(super::time_at(seconds), date);
        }
    }
}
