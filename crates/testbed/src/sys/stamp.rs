//! When the kernel received a datagram.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

use super::{check, set_option};

/// Has the kernel stamp what the socket receives (socket(7), SO_TIMESTAMPNS).
pub(crate) fn stamp_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Receives a datagram; its length and when the kernel received it, in nanoseconds since the Unix
/// epoch, if it tells.
pub(crate) fn receive_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<u64>)> {
    let mut control = [0_u64; 16];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: an all-zero msghdr is a valid one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<[u64; 16]>() as _;
    // SAFETY: the message and all it points to outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    check(length as libc::c_int)?;
    // SAFETY: the kernel filled in the control messages of `message`, which still lives.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message).as_ref() };
    let stamp = header
        .filter(|header| {
            header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPNS
        })
        .map(|header| {
            // SAFETY: a control message of this type holds a timespec, maybe unaligned.
            let time = unsafe {
                libc::CMSG_DATA(std::ptr::from_ref(header))
                    .cast::<libc::timespec>()
                    .read_unaligned()
            };
            time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
        });
    Ok((length as usize, stamp))
}
