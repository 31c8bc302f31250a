//! Sees every IP packet that a device of this namespace hands to the kernel, damaged ones too, with
//! the time at which the kernel got it.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{size_of, zeroed};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

use crate::sys;

/// EtherType of IPv4.
const ETH_P_IP: u16 = 0x0800;
/// The bytes read of each packet.
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
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        // Of this protocol only: then packets that leave are not captured (packet(7)).
        let protocol = NonZeroU32::new(ETH_P_IP.to_be().into()).map(Protocol::from_raw);
        let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, protocol)?;
        sys::note_times(socket.as_fd())?;
        sys::set_receive_buffer(socket.as_fd(), 16 << 20)?;
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
            // SAFETY: the kernel filled in the control messages of these messages.
            let (stamp, _) = unsafe { sys::control_messages(&message.msg_hdr) };
            if let Some(stamp) = stamp {
                see(&ArrivedPacket { stamp, head: *head, len: message.msg_len as usize });
            }
        }
        Ok(count as usize)
    }
}
