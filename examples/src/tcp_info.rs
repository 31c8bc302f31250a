//! Options of TCP for which std has no call: `TCP_INFO`, `TCP_DEFER_ACCEPT`.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// What Linux tells about a connection; a part of its `struct tcp_info`.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// The name of the state, as in RFC 9293.
    pub state: &'static str,
    /// Segments without an ACK; of a listening socket the connections in its accept queue.
    pub unacked: u32,
    /// Segments that SACK reports; of a listening socket the limit of its accept queue.
    pub sacked: u32,
    /// Segments that were repeated so far, its SYN included.
    pub total_retrans: u32,
}

/// By the kernel's numbers (include/net/tcp_states.h).
const STATES: [&str; 12] = [
    "?",
    "ESTABLISHED",
    "SYN-SENT",
    "SYN-RECEIVED",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "CLOSED",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
];

/// What Linux tells about a TCP socket now.
///
/// # Errors
/// When it is not a TCP socket.
pub fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let fd = socket.as_fd().as_raw_fd();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    #[expect(unsafe_code, reason = "no library here has this option")]
    // SAFETY: zeros are a valid `tcp_info`; the kernel writes at most `len` bytes. An older kernel
    // fills in less.
    let (result, info) = unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let room = (&raw mut info).cast();
        (libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, room, &raw mut len), info)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(TcpInfo {
        state: STATES.get(usize::from(info.tcpi_state)).unwrap_or(&STATES[0]),
        unacked: info.tcpi_unacked,
        sacked: info.tcpi_sacked,
        total_retrans: info.tcpi_total_retrans,
    })
}

/// For how many seconds a listening socket ignores a client's last ACK when it carries no data; 0:
/// not at all.
///
/// # Errors
/// When it is not a TCP socket.
pub fn defer_accept(listener: &impl AsFd, seconds: i32) -> io::Result<()> {
    let fd = listener.as_fd().as_raw_fd();
    let len = size_of::<i32>() as libc::socklen_t;
    let value = (&raw const seconds).cast();
    #[expect(unsafe_code, reason = "no library here has this option")]
    // SAFETY: the kernel reads four bytes, which are there.
    let result =
        unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, value, len) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
