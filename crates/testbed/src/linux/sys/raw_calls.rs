//! System calls by name, with the memory that they read and write.

use std::io;

use tcplab_recording::MessageBytes;

use crate::{CallArgument, CallMemory, CallResult, GuestCall};

/// The most arguments of a system call.
const ARGUMENTS: usize = 6;
/// The most memory of one call, bytes.
const MOST: usize = 128 << 20;

/// A system call whose memory is in place.
#[derive(Debug)]
pub(crate) struct RawCall {
    number: libc::c_long,
    arguments: [libc::c_long; ARGUMENTS],
    memory: Vec<Vec<u8>>,
    is_returned: Vec<bool>,
    keeps_memory: bool,
}

impl RawCall {
    /// Lays out the memory.
    ///
    /// # Errors
    /// When the call is none of those that scripts make, or names memory that it has not.
    pub(crate) fn new(call: &GuestCall) -> io::Result<RawCall> {
        let odd = || io::Error::from(io::ErrorKind::InvalidInput);
        let number = number_of(&call.name).ok_or_else(odd)?;
        let size: usize = call.memory.iter().map(CallMemory::size).sum();
        if size > MOST || call.arguments.len() > ARGUMENTS {
            return Err(odd());
        }
        let mut memory: Vec<Vec<u8>> = call.memory.iter().map(CallMemory::bytes).collect();
        let address = |region: &mut Vec<u8>| region.as_mut_ptr().expose_provenance();
        let addresses: Vec<usize> = memory.iter_mut().map(address).collect();
        for (region, described) in memory.iter_mut().zip(&call.memory) {
            for (at, target) in &described.pointers {
                let address = addresses.get(*target).ok_or_else(odd)?.to_ne_bytes();
                let place = region.get_mut(*at..).and_then(|rest| rest.get_mut(..address.len()));
                place.ok_or_else(odd)?.copy_from_slice(&address);
            }
        }
        let mut arguments = [0; ARGUMENTS];
        for (place, argument) in arguments.iter_mut().zip(&call.arguments) {
            *place = match argument {
                CallArgument::Number(number) => *number,
                CallArgument::Memory(region) => {
                    addresses.get(*region).ok_or_else(odd)?.cast_signed() as libc::c_long
                }
            };
        }
        let is_returned = call.memory.iter().map(|region| region.is_returned).collect();
        Ok(RawCall { number, arguments, memory, is_returned, keeps_memory: call.keeps_memory })
    }

    /// Makes the call, which may wait.
    pub(crate) fn make(mut self) -> CallResult {
        let [first, second, third, fourth, fifth, sixth] = self.arguments;
        // SAFETY: the addresses among the arguments, and in the memory that they name, are those
        // of `self.memory`, which outlives the call; so do the lengths, by the one who asks for the
        // call, or the kernel refuses what is not mapped. None of the calls changes the memory of
        // this process beyond that.
        let result =
            unsafe { libc::syscall(self.number, first, second, third, fourth, fifth, sixth) };
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        let result = if result < 0 { i64::from(-errno) } else { result };
        if self.keeps_memory {
            // The kernel sends from it until the peer has acknowledged the data.
            let kept = self.memory.clone();
            std::mem::forget(std::mem::replace(&mut self.memory, kept));
        }
        let regions = self.memory.into_iter().zip(self.is_returned);
        let memory = regions.filter(|(_, is_returned)| *is_returned);
        let memory = memory.map(|(region, _)| MessageBytes(region)).collect();
        CallResult { result, memory }
    }
}

impl CallMemory {
    fn size(&self) -> usize {
        self.head.0.len().saturating_add(self.zeros as usize)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.0.clone();
        bytes.resize(self.size(), 0);
        bytes
    }
}

/// The number of a call that scripts make.
fn number_of(name: &str) -> Option<libc::c_long> {
    Some(match name {
        "socket" => libc::SYS_socket,
        "bind" => libc::SYS_bind,
        "listen" => libc::SYS_listen,
        "accept" => libc::SYS_accept,
        "connect" => libc::SYS_connect,
        "read" => libc::SYS_read,
        "write" => libc::SYS_write,
        "writev" => libc::SYS_writev,
        "sendto" => libc::SYS_sendto,
        "sendmsg" => libc::SYS_sendmsg,
        "recvfrom" => libc::SYS_recvfrom,
        "recvmsg" => libc::SYS_recvmsg,
        "openat" => libc::SYS_openat,
        "sendfile" => libc::SYS_sendfile,
        "pipe2" => libc::SYS_pipe2,
        "splice" => libc::SYS_splice,
        "close" => libc::SYS_close,
        "shutdown" => libc::SYS_shutdown,
        "setsockopt" => libc::SYS_setsockopt,
        "getsockopt" => libc::SYS_getsockopt,
        "fcntl" => libc::SYS_fcntl,
        "ioctl" => libc::SYS_ioctl,
        "epoll_create1" => libc::SYS_epoll_create1,
        "epoll_ctl" => libc::SYS_epoll_ctl,
        "epoll_pwait" => libc::SYS_epoll_pwait,
        "ppoll" => libc::SYS_ppoll,
        _ => return None,
    })
}
