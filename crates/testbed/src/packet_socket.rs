//! A packet socket that takes all frames of an interface.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use tcplab_wire::offload::VnetHeader;

use crate::sys::{
    bind_packet_socket, note_times, set_option, taken_off, tell_of_tags, unbound_cooked_socket,
    unbound_packet_socket,
};

/// EtherType of everything.
const ALL: u16 = libc::ETH_P_ALL as u16;
/// A burst must not be lost here, nor what a network card has not sent yet.
const BUFFER: libc::c_int = 16 << 20;

/// What came, beside the frame itself.
pub(crate) struct Frame {
    pub(crate) header: VnetHeader,
    /// Without a tag that was taken off.
    pub(crate) len: usize,
    /// Its outermost tag, where the kernel has taken that off.
    pub(crate) tag: Option<[u8; 4]>,
}

/// Opens it: non-blocking, with `virtio_net_hdr`, for what comes in from others only, whoever it is
/// for. The interface hears everything for as long as the socket is open.
pub(crate) fn open(interface: u32) -> io::Result<OwnedFd> {
    let socket = unbound_packet_socket()?;
    let fd = socket.as_fd();
    set_option(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    tell_of_tags(fd)?;
    set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
    bind_to_all_of(fd, interface)?;
    Ok(socket)
}

/// Opens one that only listens: non-blocking, frames as they are, both ways, with their times.
pub(crate) fn listen(interface: u32) -> io::Result<OwnedFd> {
    let socket = unbound_packet_socket()?;
    note_times(socket.as_fd())?;
    tell_of_tags(socket.as_fd())?;
    bind_to_all_of(socket.as_fd(), interface)?;
    Ok(socket)
}

/// Opens one that listens to all interfaces of the network namespace, without link headers.
pub(crate) fn listen_to_all() -> io::Result<OwnedFd> {
    /// What packet(7) takes for every interface.
    const EVERY: u32 = 0;
    let socket = unbound_cooked_socket()?;
    note_times(socket.as_fd())?;
    tell_of_tags(socket.as_fd())?;
    make_room(socket.as_fd())?;
    bind_packet_socket(socket.as_fd(), EVERY, ALL)?;
    Ok(socket)
}

fn make_room(socket: BorrowedFd<'_>) -> io::Result<()> {
    for (force, plain) in
        [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
    {
        set_option(socket, libc::SOL_SOCKET, force, BUFFER)
            .or_else(|_| set_option(socket, libc::SOL_SOCKET, plain, BUFFER))?;
    }
    Ok(())
}

/// From now on it takes the frames of an interface, whoever they are for.
fn bind_to_all_of(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    make_room(socket)?;
    bind_packet_socket(socket, interface, ALL)?;
    // SAFETY: an all-zero packet_mreq is a valid one.
    let mut all: libc::packet_mreq = unsafe { zeroed() };
    all.mr_ifindex = interface.cast_signed();
    all.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
    // SAFETY: the request outlives the call and its length is right.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const all).cast(),
            size_of::<libc::packet_mreq>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// The next frame, if one waits, from the start of `buffer` on.
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Frame> {
    let mut header = [0; VnetHeader::LEN];
    let mut parts = [
        libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: header.len() },
        libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() },
    ];
    // As u64, so that it is aligned as a control message must be.
    let mut control = [0_u64; 16];
    // SAFETY: an all-zero msghdr is a valid one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: all that the message points to outlives the call, with the lengths given.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has set the message up with whole control messages; what is read of one
    // has the type that its kind says.
    let tag = unsafe {
        let control = libc::CMSG_FIRSTHDR(&raw const message);
        let is_aux = !control.is_null()
            && (*control).cmsg_level == libc::SOL_PACKET
            && (*control).cmsg_type == libc::PACKET_AUXDATA;
        is_aux.then(|| libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>().read_unaligned())
    };
    let tag = tag.and_then(|aux| taken_off(&aux));
    let len = length.saturating_sub(VnetHeader::LEN);
    Ok(Frame { header: VnetHeader::from_bytes(header), len, tag })
}

/// Whether the interface of that name has an IPv4 address (netdevice(7), SIOCGIFADDR).
pub(crate) fn has_address(name: &str) -> bool {
    let Ok(socket) = std::net::UdpSocket::bind("0.0.0.0:0") else { return false };
    // SAFETY: an all-zero ifreq is a valid one.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = byte.cast_signed();
    }
    // SAFETY: SIOCGIFADDR reads and writes the ifreq given, which outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFADDR, &raw mut request) }).is_ok()
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
