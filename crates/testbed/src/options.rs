//! Socket options: set as the scenario asks, read back as the kernel has them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::sockopt;
use tcplab_recording::OptionRecord;
use tcplab_workload::SocketOptions;

use crate::TrialError;
use crate::sys;

/// Sets what `options` asks for; to be called before connecting or listening, since window scale
/// and segment size are settled in the SYN.
pub(crate) fn apply(
    socket: BorrowedFd<'_>,
    options: &SocketOptions,
    endpoint: &'static str,
) -> Result<(), TrialError> {
    let refused = |option: &'static str, value: String| {
        move |reason: String| TrialError::SocketOption { endpoint, option, value, reason }
    };
    if let Some(name) = &options.congestion {
        sockopt::set_tcp_congestion(socket, name)
            .map_err(|errno| refused("congestion", name.clone())(congestion_refusal(errno)))?;
    }
    if let Some(size) = options.rcvbuf {
        sockopt::set_socket_recv_buffer_size(socket, size.as_u64() as usize)
            .map_err(|e| refused("rcvbuf", size.to_string())(text(e)))?;
    }
    if let Some(size) = options.sndbuf {
        sockopt::set_socket_send_buffer_size(socket, size.as_u64() as usize)
            .map_err(|e| refused("sndbuf", size.to_string())(text(e)))?;
    }
    if let Some(on) = options.nodelay {
        sockopt::set_tcp_nodelay(socket, on)
            .map_err(|e| refused("nodelay", on.to_string())(text(e)))?;
    }
    if let Some(size) = options.maxseg {
        sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, size.into())
            .map_err(|e| refused("maxseg", size.to_string())(e.to_string()))?;
    }
    Ok(())
}

/// The options as the kernel has them, beside what was asked for.
pub(crate) fn read_back(
    socket: BorrowedFd<'_>,
    asked: &SocketOptions,
) -> io::Result<Vec<OptionRecord>> {
    let record = |name: &str, requested: Option<String>, effective: String| OptionRecord {
        name: name.into(),
        requested,
        effective,
    };
    let maxseg = sys::option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG)?;
    Ok(vec![
        record("congestion", asked.congestion.clone(), sockopt::tcp_congestion(socket)?),
        record(
            "rcvbuf",
            asked.rcvbuf.map(|size| size.to_string()),
            format!("{} B", sockopt::socket_recv_buffer_size(socket)?),
        ),
        record(
            "sndbuf",
            asked.sndbuf.map(|size| size.to_string()),
            format!("{} B", sockopt::socket_send_buffer_size(socket)?),
        ),
        record(
            "nodelay",
            asked.nodelay.map(|on| on.to_string()),
            sockopt::tcp_nodelay(socket)?.to_string(),
        ),
        record("maxseg", asked.maxseg.map(|size| format!("{size} B")), format!("{maxseg} B")),
    ])
}

/// The congestion control that is really in force must be the one asked for.
pub(crate) fn verify_congestion(
    socket: impl AsFd,
    options: &SocketOptions,
    endpoint: &'static str,
) -> Result<(), TrialError> {
    let Some(asked) = &options.congestion else { return Ok(()) };
    let effective = sockopt::tcp_congestion(socket)
        .map_err(|e| TrialError::setup("read the congestion control back")(e.into()))?;
    if effective == *asked {
        return Ok(());
    }
    Err(TrialError::SocketOption {
        endpoint,
        option: "congestion",
        value: asked.clone(),
        reason: format!("the kernel has {effective} instead"),
    })
}

fn congestion_refusal(errno: rustix::io::Errno) -> String {
    if errno == rustix::io::Errno::NOENT {
        return "this kernel does not have it loaded".into();
    }
    text(errno)
}

fn text(errno: rustix::io::Errno) -> String {
    io::Error::from(errno).to_string()
}

/// Whether a socket of the calling thread's namespace may use this congestion control.
pub(crate) fn congestion_works(name: &str) -> bool {
    use rustix::net::{AddressFamily, SocketType, socket};
    socket(AddressFamily::INET, SocketType::STREAM, None)
        .and_then(|socket| sockopt::set_tcp_congestion(&socket, name))
        .is_ok()
}
