//! All socket options, as fresh sockets of this machine have them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use tcplab_workload::{Access, Kind, Level, OptionInfo, is_of_the_machine, table};

use super::{read, symbol};
use crate::{sys, sysctl};

/// An option and its state on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionState {
    /// What it is.
    pub info: &'static OptionInfo,
    /// As a fresh TCP socket has it.
    pub tcp: Reading,
    /// As a fresh UDP socket has it; none of TCP's own.
    pub udp: Option<Reading>,
    /// The settings behind it, as they are in the namespace of the caller.
    pub sysctls: Vec<Setting>,
}

/// A setting behind an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Such as `net.core.rmem_max`.
    pub name: &'static str,
    /// Its value; none where it cannot be read.
    pub value: Option<String>,
    /// Whether it is the limit; otherwise the default comes from it.
    pub is_limit: bool,
    /// Whether all network namespaces share it.
    pub of_the_machine: bool,
}

/// What reading an option gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Its value, written out.
    Value(String),
    /// A structure of this many bytes.
    Structure(usize),
    /// It can only be set.
    SetOnly,
    /// This kernel does not have it, or not for such a socket (ENOPROTOOPT).
    Absent,
    /// It cannot be read on a fresh socket: the name of the error.
    Unreadable(String),
}

/// Looks at every option of the table on fresh sockets, which send nothing.
///
/// # Errors
/// When no socket can be opened.
pub fn survey() -> io::Result<Vec<OptionState>> {
    let tcp = open(AddressFamily::INET, SocketType::STREAM)?;
    let udp = open(AddressFamily::INET, SocketType::DGRAM)?;
    // A kernel without IPv6 has none of its options.
    let over_ipv6 =
        [SocketType::STREAM, SocketType::DGRAM].map(|kind| open(AddressFamily::INET6, kind).ok());
    let look = |info: &'static OptionInfo| {
        let [tcp, udp] = match info.level {
            Level::Ipv6 => [over_ipv6[0].as_ref(), over_ipv6[1].as_ref()],
            Level::Socket | Level::Ip => [Some(&tcp), Some(&udp)],
            Level::Tcp | Level::Listen => [Some(&tcp), None],
        };
        let is_tcps = matches!(info.level, Level::Tcp | Level::Listen);
        OptionState {
            info,
            tcp: reading(tcp, info),
            udp: (!is_tcps).then(|| reading(udp, info)),
            sysctls: settings(info),
        }
    };
    Ok(table::options().map(look).collect())
}

fn open(family: AddressFamily, kind: SocketType) -> io::Result<OwnedFd> {
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC, None)?)
}

fn reading(socket: Option<&OwnedFd>, info: &OptionInfo) -> Reading {
    let Some(socket) = socket else { return Reading::Absent };
    if info.access == Access::Write || info.level == Level::Listen {
        return Reading::SetOnly;
    }
    let reading = if matches!(info.kind, Kind::Structure(_)) {
        // The kernel wants to be asked for these with exactly as much room.
        let room = if info.kind == Kind::Structure("__u64") { 8 } else { 512 };
        let mut bytes = vec![0; room];
        sys::option_bytes(socket.as_fd(), info.level.number(), info.number, &mut bytes)
            .map(Reading::Structure)
    } else {
        read(socket.as_fd(), info).map(|value| Reading::Value(value.to_string()))
    };
    reading.unwrap_or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOPROTOOPT) => Reading::Absent,
        _ => Reading::Unreadable(symbol(&error).into()),
    })
}

fn settings(info: &OptionInfo) -> Vec<Setting> {
    let default = info.default_from.map(|(name, _)| (name, false));
    let limit = info.limited_by.map(|name| (name, true));
    default
        .into_iter()
        .chain(limit)
        .map(|(name, is_limit)| Setting {
            name,
            value: sysctl::value(name),
            is_limit,
            of_the_machine: is_of_the_machine(name),
        })
        .collect()
}
