//! Why a server does not come up, or cannot go on.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tcplab_units::ServerDesign;

/// Why a server does not come up, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The kernel refuses the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// What is to be served over HTTP is not there.
    #[error("cannot serve {}: {source}", path.display())]
    Content {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The combination makes no sense.
    #[error("{0}")]
    Senseless(String),
    /// A design needs something that this machine refuses.
    #[error("the design `{}` cannot run here: {source}", design.name())]
    Design {
        /// Which one.
        design: ServerDesign,
        /// What was refused.
        source: io::Error,
    },
    /// A call failed that does not fail.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
}

impl ServeError {
    /// What would help, where that is known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ServeError::Listen { address, source } => match source.raw_os_error() {
                Some(libc::EADDRINUSE) => Some(
                    "another program listens there (`ss -ltnp` tells which); port 0 takes one \
                     that is free"
                        .into(),
                ),
                Some(libc::EACCES) => Some(format!(
                    "port {} is below net.ipv4.ip_unprivileged_port_start: take one above, or the \
                     capability CAP_NET_BIND_SERVICE",
                    address.port()
                )),
                Some(libc::EADDRNOTAVAIL) => {
                    Some("take an address of this machine (`ip address` lists them)".into())
                }
                _ => None,
            },
            ServeError::Design { design: ServerDesign::IoUring, source } => match source
                .raw_os_error()
            {
                Some(libc::EPERM | libc::ENOSYS) => Some(
                    "io_uring is switched off here (sysctl kernel.io_uring_disabled, or a filter \
                     on system calls); --design epoll does the same without it"
                        .into(),
                ),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Names the call that failed.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> ServeError {
    move |source| ServeError::System { what, source: source.into() }
}
