//! Error numbers by the names of `errno.h`.

use std::borrow::Cow;
use std::io;

use rustix::io::Errno;

pub(crate) fn of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The name of an error in `errno.h`, of those that system calls on a socket return.
pub(crate) fn name(errno: Errno) -> Cow<'static, str> {
    const NAMES: &[(Errno, &str)] = &[
        (Errno::ACCESS, "EACCES"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::BADF, "EBADF"),
        (Errno::CONNABORTED, "ECONNABORTED"),
        (Errno::CONNREFUSED, "ECONNREFUSED"),
        (Errno::CONNRESET, "ECONNRESET"),
        (Errno::DOM, "EDOM"),
        (Errno::HOSTUNREACH, "EHOSTUNREACH"),
        (Errno::INPROGRESS, "EINPROGRESS"),
        (Errno::INVAL, "EINVAL"),
        (Errno::ISCONN, "EISCONN"),
        (Errno::NETUNREACH, "ENETUNREACH"),
        (Errno::NOBUFS, "ENOBUFS"),
        (Errno::NODATA, "ENODATA"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NOENT, "ENOENT"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::NOPROTOOPT, "ENOPROTOOPT"),
        (Errno::NOTCONN, "ENOTCONN"),
        (Errno::OPNOTSUPP, "EOPNOTSUPP"),
        (Errno::PERM, "EPERM"),
        (Errno::PIPE, "EPIPE"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
    ];
    let known = NAMES.iter().find(|(known, _)| *known == errno);
    known.map_or_else(
        || format!("errno {}", errno.raw_os_error()).into(),
        |(_, name)| (*name).into(),
    )
}
