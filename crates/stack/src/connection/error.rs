//! How connections end before their time, and what calls refuse to do.

/// Why a connection was lost (`so_error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ConnectionError {
    /// The peer answered the SYN with an RST: no listener.
    #[error("connection refused (ECONNREFUSED)")]
    Refused,
    /// The peer broke the connection off.
    #[error("connection reset by peer (ECONNRESET)")]
    Reset,
    /// The peer broke the connection off after it had closed its half.
    #[error("broken pipe (EPIPE)")]
    BrokenPipe,
    /// The peer did not answer for too long.
    #[error("connection timed out (ETIMEDOUT)")]
    TimedOut,
    /// The application broke the connection off.
    #[error("connection aborted (ECONNABORTED)")]
    Aborted,
    /// ICMP reported that segments do not reach the peer; holds the error's name in `errno.h`.
    #[error("unreachable ({0})")]
    Unreachable(&'static str),
}

impl ConnectionError {
    /// Its name in `errno.h`.
    pub fn errno(self) -> &'static str {
        match self {
            ConnectionError::Refused => "ECONNREFUSED",
            ConnectionError::Reset => "ECONNRESET",
            ConnectionError::BrokenPipe => "EPIPE",
            ConnectionError::TimedOut => "ETIMEDOUT",
            ConnectionError::Aborted => "ECONNABORTED",
            ConnectionError::Unreachable(name) => name,
        }
    }
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WriteError {
    /// Not now: the connection is being opened, or the send buffer is full (EAGAIN).
    #[error("no room to write to (EAGAIN)")]
    WouldBlock,
    /// The application has closed its half (EPIPE).
    #[error("written to after closing (EPIPE)")]
    Closed,
    /// The connection is no more.
    #[error(transparent)]
    Broken(#[from] ConnectionError),
}

/// Why nothing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ReadError {
    /// Not now: nothing arrived (EAGAIN).
    #[error("nothing to read (EAGAIN)")]
    WouldBlock,
    /// There is no urgent byte, or it is read in line (EINVAL).
    #[error("no urgent byte (EINVAL)")]
    NoUrgent,
    /// There is no connection (ENOTCONN).
    #[error("not connected (ENOTCONN)")]
    NotConnected,
    /// The connection is no more.
    #[error(transparent)]
    Broken(#[from] ConnectionError),
}
