//! Why a server cannot start or continue.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tcplab_units::{MORE_PROCESSES, ServerDesign};

use crate::config::Transport;

/// Why a server cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message names each field")]
pub enum ServeError {
    /// The kernel refuses the address.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, transport: Transport, source: io::Error },
    /// The content to serve over HTTP is not available.
    #[error("cannot serve {}: {source}", path.display())]
    Content { path: PathBuf, source: io::Error },
    /// The configuration is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// This machine refuses what the design needs.
    #[error("the design `{}` cannot run here: {source}", design.name())]
    Design { design: ServerDesign, source: io::Error },
    /// There are as many processes and threads as there may be, or no memory for another.
    #[error("cannot start {what}: {source}")]
    Process { what: &'static str, source: io::Error },
    /// A worker of an event loop ended by itself.
    #[error("a worker of the server failed: {source}")]
    Worker { source: io::Error },
    /// A system call failed that normally succeeds.
    #[error("cannot {what}: {source}")]
    System { what: &'static str, source: io::Error },
}

impl ServeError {
    /// What would help, where that is known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ServeError::Listen { address, transport, source } => match source.raw_os_error() {
                Some(libc::EADDRINUSE) => Some(format!(
                    "another program listens there (`ss {}` shows it); use a free port, or port 0 \
                     for any",
                    match transport {
                        Transport::Tcp => "-ltnp",
                        Transport::Udp => "-lunp",
                    }
                )),
                Some(libc::EACCES) => Some(format!(
                    "port {} is below net.ipv4.ip_unprivileged_port_start: use a higher port, or \
                     run with CAP_NET_BIND_SERVICE",
                    address.port()
                )),
                Some(libc::EADDRNOTAVAIL) => {
                    Some("use an address of this machine (`ip address` lists them)".into())
                }
                _ => None,
            },
            ServeError::Design { design: ServerDesign::IoUring, source } => match source
                .raw_os_error()
            {
                Some(libc::EPERM | libc::ENOSYS) => Some(
                    "io_uring is disabled here (sysctl kernel.io_uring_disabled, or a seccomp \
                     filter); use --design epoll"
                        .into(),
                ),
                Some(libc::EMFILE) => Some(MORE_DESCRIPTORS.into()),
                Some(libc::ENOMEM) => Some(
                    "raise the limit on locked memory (`ulimit -l`), or use fewer --workers".into(),
                ),
                _ => None,
            },
            ServeError::Process { .. } => Some(MORE_PROCESSES.into()),
            ServeError::Design { source, .. } | ServeError::System { source, .. }
                if source.raw_os_error() == Some(libc::EMFILE) =>
            {
                Some(MORE_DESCRIPTORS.into())
            }
            _ => None,
        }
    }
}

const MORE_DESCRIPTORS: &str =
    "raise the limit on descriptors (`ulimit -n`), or use fewer --workers";

/// Names the call that failed.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> ServeError {
    move |source| ServeError::System { what, source: source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_in_use_is_looked_for_by_its_transport() {
        for (transport, command) in [(Transport::Tcp, "`ss -ltnp`"), (Transport::Udp, "`ss -lunp`")]
        {
            let source = io::Error::from_raw_os_error(libc::EADDRINUSE);
            let address = ([127, 0, 0, 1], 53).into();
            let error = ServeError::Listen { address, transport, source };
            assert!(error.remedy().unwrap().contains(command), "{:?}", error.remedy());
        }
    }
}
