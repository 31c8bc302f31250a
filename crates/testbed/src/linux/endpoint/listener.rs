//! The sockets that the server listens on.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, SocketFlags};
use tcplab_scenario::PlannedConnection;
use tcplab_units::Endpoint;
use tcplab_workload::Absent;

use super::socket::{self, BACKLOG};
use super::wait::LOOK;
use crate::flows::Flows;
use crate::options::OptionSheet;
use crate::{TrialError, sys};

/// The socket that a flow's server listens on. The client's port distinguishes its connections;
/// of the threads that wait for one, a single one polls, and hands over what belongs to another.
pub(super) struct Listener {
    socket: OwnedFd,
    pub(super) options: OptionSheet,
    accepted: Mutex<Accepted>,
    changed: Condvar,
    /// The connections that have been neither accepted nor given up.
    awaited: AtomicUsize,
}

/// What was accepted and not fetched.
#[derive(Default)]
struct Accepted {
    /// By the client's port.
    sockets: BTreeMap<u16, OwnedFd>,
    /// Whether a thread polls.
    is_polled: bool,
}

impl Listener {
    /// Opens one for each flow, in the order of the flows, in the calling thread's namespace. That
    /// of an absent server is not bound.
    pub(super) fn open_all(
        flows: &Flows,
        address: Ipv4Addr,
        absent: Option<Absent>,
    ) -> Result<Vec<Listener>, TrialError> {
        let failed = |call| move |errno| socket::failed(Endpoint::Server, call, errno);
        let open = |(index, spec): (usize, &tcplab_scenario::EndpointSpec)| {
            let (socket, mut options) =
                socket::open_stream(&spec.socket, Endpoint::Server, flows.medium(index))?;
            if absent != Some(Absent::Closed) {
                if absent == Some(Absent::Silent) {
                    sys::swallow_everything(socket.as_fd())
                        .map_err(TrialError::setup("make the server deaf"))?;
                }
                // Each flow has a port of its own, even one of which no connection comes.
                let port = PlannedConnection::server_port(index);
                rustix::net::bind(&socket, &SocketAddrV4::new(address, port))
                    .map_err(failed("bind"))?;
                let is_timed = |it: &&PlannedConnection| it.flow == index && it.start.is_some();
                let own = flows.planned().iter().filter(is_timed).count();
                let enough = u32::try_from(own).unwrap_or(u32::MAX).max(BACKLOG);
                let backlog = spec.socket.backlog().unwrap_or(enough);
                rustix::net::listen(&socket, backlog.try_into().unwrap_or(i32::MAX))
                    .map_err(failed("listen"))?;
                options.connected(socket.as_fd())?;
            }
            let (accepted, changed) = (Mutex::default(), Condvar::new());
            let of_it = |it: &&PlannedConnection| it.flow == index;
            let awaited = AtomicUsize::new(flows.planned().iter().filter(of_it).count());
            Ok(Listener { socket, options, accepted, changed, awaited })
        };
        flows.specs(Endpoint::Server).enumerate().map(open).collect()
    }

    /// Accepts the connection of a client's port. None when `nobody_comes`, which is asked every
    /// 20 ms.
    pub(super) fn accept(
        &self,
        port: u16,
        nobody_comes: impl Fn() -> Result<bool, Errno>,
    ) -> Result<Option<OwnedFd>, Errno> {
        let mut accepted = self.accepted();
        loop {
            if let Some(socket) = accepted.sockets.remove(&port) {
                self.awaited.fetch_sub(1, Ordering::SeqCst);
                return Ok(Some(socket));
            }
            if accepted.is_polled {
                let waited = self.changed.wait_timeout(accepted, LOOK.to_std());
                accepted = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                accepted.is_polled = true;
                drop(accepted);
                let next = self.next();
                accepted = self.accepted();
                accepted.is_polled = false;
                self.changed.notify_all();
                accepted.sockets.extend(next?);
            }
            if !accepted.sockets.contains_key(&port) && nobody_comes()? {
                return Ok(None);
            }
        }
    }

    /// One of the servers has stopped waiting. Where no other waits, the socket no longer listens,
    /// as if it were closed: clients that come later are refused.
    pub(super) fn leave(&self) -> io::Result<()> {
        if self.awaited.fetch_sub(1, Ordering::SeqCst) == 1 {
            rustix::net::shutdown(&self.socket, Shutdown::Read)?;
        }
        Ok(())
    }

    /// The next connection, with its client's port; none if none came for 20 ms.
    fn next(&self) -> Result<Option<(u16, OwnedFd)>, Errno> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos().cast_signed() };
        let ready = match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Ok(None),
            Ok(_) => rustix::net::acceptfrom_with(&self.socket, SocketFlags::CLOEXEC),
            Err(errno) => Err(errno),
        };
        match ready {
            // It was reset before it was accepted, or a signal came.
            Err(Errno::CONNABORTED | Errno::INTR) => Ok(None),
            Err(errno) => Err(errno),
            Ok((socket, peer)) => {
                let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
                Ok(peer.map(|peer| (peer.port(), socket)))
            }
        }
    }

    fn accepted(&self) -> MutexGuard<'_, Accepted> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
