//! Sockets with the options that the scenario asks for.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use tcplab_units::Endpoint;
use tcplab_workload::{SocketOptions, SocketRole};

use crate::TrialError;
use crate::options::OptionSheet;

/// How many connections may wait to be accepted, unless the scenario says or more begin by
/// themselves.
pub(super) const BACKLOG: u32 = 16;

/// A socket, with its options.
pub(super) type OpenSocket = (OwnedFd, OptionSheet);

/// Opens an endpoint's socket and sets its options.
pub(super) fn open(
    asked: &SocketOptions,
    end: Endpoint,
    kind: SocketType,
) -> Result<OpenSocket, TrialError> {
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)
        .map_err(|e| TrialError::setup("open a socket")(e.into()))?;
    let role = match end {
        Endpoint::Client => SocketRole::Client,
        Endpoint::Server => SocketRole::Listener,
    };
    let options = OptionSheet::set(socket.as_fd(), asked, role)?;
    Ok((socket, options))
}

/// A call of an endpoint failed that must not.
pub(super) fn failed(end: Endpoint, call: &'static str, errno: Errno) -> TrialError {
    TrialError::Application { endpoint: end.name(), call, source: errno.into() }
}
