//! Sockets with the options that the scenario asks for.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, ipproto, socket_with};
use tcplab_units::Endpoint;
use tcplab_workload::{Medium, SocketOptions, SocketRole};

use crate::options::OptionSheet;
use crate::{TrialError, multipath};

/// How many connections may wait to be accepted, unless the scenario says or more begin by
/// themselves.
pub(super) const BACKLOG: u32 = 16;

/// A socket, with its options.
pub(super) type OpenSocket = (OwnedFd, OptionSheet);

/// Opens an endpoint's socket of a stream through `medium` and sets its options.
pub(super) fn open_stream(
    asked: &SocketOptions,
    end: Endpoint,
    medium: Medium,
) -> Result<OpenSocket, TrialError> {
    let protocol = (medium == Medium::Mptcp).then_some(ipproto::MPTCP);
    open(asked, end, SocketType::STREAM, protocol)
}

/// Opens an endpoint's socket of datagrams and sets its options.
pub(super) fn open_datagram(
    asked: &SocketOptions,
    end: Endpoint,
) -> Result<OpenSocket, TrialError> {
    open(asked, end, SocketType::DGRAM, None)
}

fn open(
    asked: &SocketOptions,
    end: Endpoint,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> Result<OpenSocket, TrialError> {
    let socket = socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, protocol);
    let socket = socket.map_err(|errno| match protocol {
        // Off, or not built in (net/mptcp/protocol.c).
        Some(_) if matches!(errno, Errno::PROTONOSUPPORT | Errno::NOPROTOOPT) => {
            TrialError::reported(multipath::NO_MPTCP, None)
        }
        _ => TrialError::setup("open a socket")(errno.into()),
    })?;
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
