//! Sees every IP packet that a device of this namespace hands to the kernel, damaged ones too, with
//! the time at which the kernel got it.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::sys;

/// EtherType of IPv4.
const ETH_P_IP: u16 = 0x0800;
/// So much of each packet is looked at.
const HEAD: usize = 64;
/// Packets in one call.
const BATCH: usize = 32;
/// Room for a control message with a `timespec`, aligned as the kernel wants it.
const CONTROL: usize = 8;

pub(super) struct CapturePoint {
    socket: OwnedFd,
}

/// A packet as it arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrivedPacket {
    /// When the kernel got it: nanoseconds since the Unix epoch.
    pub(super) stamp: u64,
    /// Its first bytes, from the IP header on.
    pub(super) head: [u8; HEAD],
    /// How many it has in all.
    pub(super) len: usize,
}

impl CapturePoint {
    /// In the calling thread's namespace.
    pub(super) fn open() -> io::Result<CapturePoint> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // Of this protocol only: then it captures no outgoing packets (packet(7)).
        let protocol = libc::c_int::from(ETH_P_IP.to_be());
        // SAFETY: no memory is passed.
        let raw = unsafe { libc::socket(libc::AF_PACKET, kind, protocol) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just opened and belongs to nobody else.
        let socket = unsafe { OwnedFd::from_raw_fd(raw) };
        sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        let deep = 16 << 20;
        sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, deep).or_else(
            |_| sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, deep),
        )?;
        Ok(CapturePoint { socket })
    }

    /// Packets that found no room since the last call.
    pub(super) fn overlooked(&self) -> u64 {
        sys::packet_drops(self.socket.as_fd()).unwrap_or_default()
    }

    /// Shows all that has arrived.
    pub(super) fn look(&self, mut see: impl FnMut(&ArrivedPacket)) -> io::Result<()> {
        while self.look_at_some(&mut see)? == BATCH {}
        Ok(())
    }

    fn look_at_some(&self, see: &mut impl FnMut(&ArrivedPacket)) -> io::Result<usize> {
        let mut heads = [[0_u8; HEAD]; BATCH];
        let mut controls = [[0_u64; CONTROL]; BATCH];
        let mut parts: [libc::iovec; BATCH] = std::array::from_fn(|index| libc::iovec {
            iov_base: heads[index].as_mut_ptr().cast(),
            iov_len: HEAD,
        });
        let mut messages: [libc::mmsghdr; BATCH] = std::array::from_fn(|index| {
            // SAFETY: an all-zero mmsghdr is a valid one.
            let mut message: libc::mmsghdr = unsafe { zeroed() };
            message.msg_hdr.msg_iov = &raw mut parts[index];
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = controls[index].as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = size_of::<[u64; CONTROL]>() as _;
            message
        });
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the messages and all they point to outlive the call, and there are that many.
        let count = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                BATCH as libc::c_uint,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            };
        }
        for (message, head) in messages.iter().zip(&heads).take(count as usize) {
            if let Some(stamp) = stamp(&message.msg_hdr) {
                see(&ArrivedPacket { stamp, head: *head, len: message.msg_len as usize });
            }
        }
        Ok(count as usize)
    }
}

/// The time in a message that the kernel has just filled in.
fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled in the control messages, and they still live.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if header.cmsg_level != libc::SOL_SOCKET || header.cmsg_type != libc::SCM_TIMESTAMPNS {
        return None;
    }
    // SAFETY: a control message of this type holds a timespec, maybe unaligned.
    let time = unsafe {
        libc::CMSG_DATA(std::ptr::from_ref(header)).cast::<libc::timespec>().read_unaligned()
    };
    Some(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}
