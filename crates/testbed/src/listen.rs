//! What passes an interface, both ways, taken and not touched: for live captures.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::netlink::Netlink;
use crate::{TrialError, interfaces, sys};

/// A frame of the largest packet that Linux makes ("BIG TCP"), with room for its headers.
const LARGEST: usize = (512 << 10) + 256;

/// A socket that hears what an interface sends and receives, and never sends itself.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    buffer: Vec<u8>,
    is_loopback: bool,
    is_ethernet: bool,
    dropped: u64,
}

/// A frame that passed.
#[derive(Debug, Clone, Copy)]
pub struct Overheard<'a> {
    /// When, nanoseconds since the Unix epoch, by the kernel.
    pub at_nanos: Option<u64>,
    /// Whether it went out.
    pub is_sent: bool,
    /// As much of it as there was room for: nearly always all.
    pub captured: &'a [u8],
    /// How long it was, bytes.
    pub original_len: u32,
}

impl Listener {
    /// Listens to the interface `name` of this network namespace. It hears everything, whoever it
    /// is for, as long as this lives.
    ///
    /// # Errors
    /// If there is no such interface, it is down, or this process may not listen.
    pub fn open(name: &str) -> Result<Listener, TrialError> {
        let refused = |message: String, remedy: &str| TrialError::Reported {
            message,
            remedy: Some(remedy.to_owned()),
        };
        let index = sys::interface_index(name).map_err(|_| {
            refused(
                format!("there is no interface {name} in this network namespace"),
                "`ip link` lists those there are",
            )
        })?;
        let interface = Netlink::open()
            .and_then(|mut netlink| netlink.interface(index))
            .map_err(TrialError::setup(format!("look at {name}")))?;
        if !interface.is_up {
            let remedy = format!("as root: `ip link set {name} up`");
            return Err(refused(format!("{name} is down"), &remedy));
        }
        let socket = interfaces::listen(index).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => refused(
                format!("capturing on {name} needs the capability CAP_NET_RAW"),
                "sudo, or once as root: `setcap cap_net_raw+ep $(command -v tcplab)`",
            ),
            _ => TrialError::setup(format!("open a packet socket on {name}"))(error),
        })?;
        Ok(Listener {
            socket,
            buffer: vec![0; LARGEST],
            is_loopback: interface.is_loopback,
            is_ethernet: interface.is_ethernet || interface.is_loopback,
            dropped: 0,
        })
    }

    /// Whether frames begin with an Ethernet header, else with that of IP.
    pub fn is_ethernet(&self) -> bool {
        self.is_ethernet
    }

    /// The next frame; none when none came for so long, or a signal did.
    ///
    /// # Errors
    /// If the interface can no longer be listened to.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Overheard<'_>>, TrialError> {
        let failed = || TrialError::setup("listen on");
        loop {
            let seen = sys::receive_seen(self.socket.as_fd(), &mut [], &mut self.buffer);
            let Some(seen) = seen.map_err(failed())? else {
                let timeout = Timespec::try_from(patience).map_err(io::Error::other);
                let timeout = timeout.map_err(failed())?;
                let mut ready = [PollFd::new(&self.socket, PollFlags::IN)];
                match poll(&mut ready, Some(&timeout)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
                    Ok(_) if ready[0].revents().contains(PollFlags::ERR) => {
                        let error = rustix::net::sockopt::socket_error(&self.socket);
                        let error = error.map(|found| found.err().map_or_else(gone, Into::into));
                        return Err(failed()(error.unwrap_or_else(Into::into)));
                    }
                    Ok(_) => continue,
                    Err(errno) => return Err(failed()(errno.into())),
                }
            };
            // On the loopback every packet goes out and comes in; once is enough.
            if self.is_loopback && seen.is_sent {
                continue;
            }
            return Ok(Some(Overheard {
                at_nanos: seen.at_nanos,
                is_sent: seen.is_sent,
                captured: &self.buffer[..seen.len.min(LARGEST)],
                original_len: seen.len as u32,
            }));
        }
    }

    /// How many packets passed and found no room here so far.
    pub fn dropped(&mut self) -> u64 {
        self.dropped += sys::packet_drops(self.socket.as_fd()).unwrap_or_default();
        self.dropped
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the interface went away")
}
