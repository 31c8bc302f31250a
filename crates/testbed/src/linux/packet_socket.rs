//! A packet socket that takes all frames of an interface.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::SocketType;

use crate::sys::{
    bind_packet_socket, check, interface_request, note_times, report_tags, set_option,
    set_receive_buffer, unbound_packet_socket,
};

/// EtherType of everything.
const ALL: u16 = libc::ETH_P_ALL as u16;
/// A burst must not be lost here, nor what a network card has not sent yet.
const BUFFER: libc::c_int = 16 << 20;

/// Opens it: non-blocking, with `virtio_net_hdr`, for incoming packets only, whatever their
/// destination. The interface is promiscuous while the socket is open.
pub(crate) fn open(interface: u32) -> io::Result<OwnedFd> {
    let socket = unbound_packet_socket(SocketType::RAW)?;
    let fd = socket.as_fd();
    set_option(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    report_tags(fd)?;
    set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
    bind_to_all_of(fd, interface)?;
    Ok(socket)
}

/// Opens one that only listens: non-blocking, frames as they are, both ways, with their times.
pub(crate) fn listen(interface: u32) -> io::Result<OwnedFd> {
    let socket = unbound_packet_socket(SocketType::RAW)?;
    note_times(socket.as_fd())?;
    report_tags(socket.as_fd())?;
    bind_to_all_of(socket.as_fd(), interface)?;
    Ok(socket)
}

/// Opens one that listens to all interfaces of the network namespace, without link headers.
pub(crate) fn listen_to_all() -> io::Result<OwnedFd> {
    /// What packet(7) takes for every interface.
    const EVERY: u32 = 0;
    let socket = unbound_packet_socket(SocketType::DGRAM)?;
    note_times(socket.as_fd())?;
    report_tags(socket.as_fd())?;
    make_room(socket.as_fd())?;
    bind_packet_socket(socket.as_fd(), EVERY, ALL)?;
    Ok(socket)
}

fn make_room(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_receive_buffer(socket, BUFFER)?;
    set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, BUFFER)
        .or_else(|_| set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, BUFFER))
}

/// Binds it to an interface, promiscuously.
fn bind_to_all_of(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    make_room(socket)?;
    bind_packet_socket(socket, interface, ALL)?;
    // SAFETY: an all-zero packet_mreq is a valid one.
    let mut all: libc::packet_mreq = unsafe { zeroed() };
    all.mr_ifindex = interface.cast_signed();
    all.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, all)
}

/// Whether the interface of that name has an IPv4 address (netdevice(7), SIOCGIFADDR).
pub(crate) fn has_address(name: &str) -> bool {
    let Ok(socket) = std::net::UdpSocket::bind("0.0.0.0:0") else { return false };
    let mut request = interface_request(name);
    // SAFETY: SIOCGIFADDR reads and writes the ifreq given, which outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFADDR as _, &raw mut request) })
        .is_ok()
}
