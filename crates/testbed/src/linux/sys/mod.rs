//! The system calls that rustix does not have. No other code is `unsafe`, except
//! `unshare` in the neighbouring room.
#![expect(unsafe_code, reason = "system calls")]

mod clock_page;
mod ethernet;
mod packet_ring;
mod raw_calls;
mod virtual_calls;

pub(crate) use clock_page::clock_page;
pub(crate) use ethernet::without_offloads;
pub(crate) use packet_ring::{PacketRing, Ringed};
pub(crate) use raw_calls::RawCall;
pub(crate) use virtual_calls::{Received, TimedRead, receive_on, watch_socket};

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

/// Makes the descriptor of `/dev/net/tun` a layer 3 device called `name`, with `virtio_net_hdr`
/// and TCP segmentation left to the reader.
pub(crate) fn attach_tun(tun: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    attach_tun_with(tun, name, libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6)
}

/// As [`attach_tun`], with other work left to the reader (`TUN_F_TSO4` …).
pub(crate) fn attach_tun_with(
    tun: BorrowedFd<'_>,
    name: &str,
    offloads: libc::c_uint,
) -> io::Result<()> {
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_flags =
        (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes the ifreq given, which outlives the call.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    check(unsafe {
        libc::ioctl(tun.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads))
    })?;
    Ok(())
}

/// What ioctl(2) asks about the interface `name` (netdevice(7)).
pub(crate) fn interface_request(name: &str) -> libc::ifreq {
    // SAFETY: an all-zero ifreq is a valid one.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    request
}

/// A packet socket on one interface for one EtherType, non-blocking, with `virtio_net_hdr`.
pub(crate) fn packet_socket(interface: u32, ether_type: u16) -> io::Result<OwnedFd> {
    let socket = unbound_packet_socket(SocketType::RAW)?;
    set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    // As deep as an unprivileged process may have it: a burst must not be lost here.
    let net_core_rmem_max = 4 << 20;
    set_receive_buffer(socket.as_fd(), net_core_rmem_max)?;
    bind_packet_socket(socket.as_fd(), interface, ether_type)?;
    Ok(socket)
}

/// A non-blocking packet socket that receives nothing before it is bound: `RAW` with link headers,
/// `DGRAM` without.
pub(crate) fn unbound_packet_socket(kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(AddressFamily::PACKET, kind, flags, None)?)
}

/// Sets the size of the receive buffer, beyond `net.core.rmem_max` where that is allowed.
pub(crate) fn set_receive_buffer(socket: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
        .or_else(|_| set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes))
}

/// From now on frames of one EtherType at one interface arrive.
pub(crate) fn bind_packet_socket(
    socket: BorrowedFd<'_>,
    interface: u32,
    ether_type: u16,
) -> io::Result<()> {
    // SAFETY: an all-zero sockaddr_ll is a valid one.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = ether_type.to_be();
    address.sll_ifindex = interface.cast_signed();
    // SAFETY: the address outlives the call and its length is right.
    check(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// What a packet socket saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceivedFrame {
    /// Bytes received.
    pub(crate) len: usize,
    /// Whether it went out.
    pub(crate) is_sent: bool,
    /// When, in nanoseconds since the Unix epoch, if the kernel noted it.
    pub(crate) at_nanos: Option<u64>,
    /// Its outermost VLAN tag, where the kernel removed it and was [asked](report_tags) to report
    /// it.
    pub(crate) tag: Option<[u8; 4]>,
    /// Where it came from, and what it is.
    pub(crate) from: libc::sockaddr_ll,
}

/// Has the kernel report VLAN tags that it took off (packet(7), `PACKET_AUXDATA`).
pub(crate) fn report_tags(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)
}

/// The tag that was taken off, as it stood in the frame.
pub(crate) fn taken_off(aux: &libc::tpacket_auxdata) -> Option<[u8; 4]> {
    if aux.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let is_told = aux.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let kind = if is_told { aux.tp_vlan_tpid } else { 0x8100 };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), aux.tp_vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}

/// Has the kernel note when each packet passed.
pub(crate) fn note_times(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Receives a frame with its `virtio_net_hdr`, in two parts; none when nothing waits.
pub(crate) fn receive_frame(
    socket: BorrowedFd<'_>,
    header: &mut [u8],
    frame: &mut [u8],
) -> io::Result<Option<ReceivedFrame>> {
    match receive(socket, [header, frame], libc::MSG_DONTWAIT) {
        Ok(received) => Ok(Some(received)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Receives a frame or datagram into the two parts, one after the other (recvmsg(2)).
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    parts: [&mut [u8]; 2],
    flags: libc::c_int,
) -> io::Result<ReceivedFrame> {
    let mut parts = parts
        .map(|bytes| libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() });
    // SAFETY: an all-zero sockaddr_ll is a valid one.
    let mut from: libc::sockaddr_ll = unsafe { zeroed() };
    // Aligned as a cmsghdr must be, with room for a timespec and a tpacket_auxdata.
    let mut control = [0_u64; 16];
    // SAFETY: an all-zero msghdr is a valid one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_name = (&raw mut from).cast();
    message.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: all that `message` points to outlives the call, and the lengths are right.
    let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let len = usize::try_from(len).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: `recvmsg` has filled in the control messages that `message` refers to.
    let (at_nanos, tag) = unsafe { control_messages(&message) };
    let is_sent = from.sll_pkttype == libc::PACKET_OUTGOING;
    Ok(ReceivedFrame { len, is_sent, at_nanos, tag, from })
}

/// The control messages of a frame: when it passed, and the VLAN tag that the kernel removed.
///
/// # Safety
///
/// `recvmsg` has filled in the control messages that `message` refers to.
pub(crate) unsafe fn control_messages(message: &libc::msghdr) -> (Option<u64>, Option<[u8; 4]>) {
    let (mut at_nanos, mut tag) = (None, None);
    // SAFETY: the caller promises whole control messages; what is read of one has the type that
    // its kind says, wherever it lies.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            match ((*control).cmsg_level, (*control).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = libc::CMSG_DATA(control).cast::<libc::timespec>().read_unaligned();
                    let seconds = time.tv_sec.cast_unsigned() * 1_000_000_000;
                    at_nanos = Some(seconds + time.tv_nsec.cast_unsigned()).filter(|it| *it > 0);
                }
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let aux =
                        libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>().read_unaligned();
                    tag = taken_off(&aux);
                }
                _ => {}
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    (at_nanos, tag)
}

/// Packets that a packet socket dropped since the last call: the second number of `tpacket_stats`.
pub(crate) fn packet_drops(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut statistics = [0; size_of::<libc::tpacket_stats>()];
    option_bytes(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut statistics)?;
    Ok(statistics.last_chunk().map_or(0, |drops| u32::from_ne_bytes(*drops).into()))
}

/// Puts the calling thread before all ordinary ones, if that is allowed (SCHED_FIFO, which needs
/// CAP_SYS_NICE). The thread must sleep often.
pub(crate) fn run_in_real_time() -> io::Result<()> {
    /// Above ordinary threads, below whatever an administrator made urgent.
    const PRIORITY: libc::c_int = 10;
    // SAFETY: an all-zero sched_param is a valid one.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = PRIORITY;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters outlive the call; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })?;
    Ok(())
}

/// Puts the calling thread before all others, in periods of 1 ms, if that is allowed and a whole
/// processor is left to give (sched(7), SCHED_DEADLINE, which needs CAP_SYS_NICE). The kernel gives
/// 95 % of all processors to such threads, of which the `fair_server` of each has 5 %: on two
/// processors there is one such thread, on one none. What others get of its processor is not one
/// piece of 50 ms a second, but pieces of at most a period. With less than the whole period as
/// `sched_runtime` the processor would be idle for the rest of each: up to 0.7 of 4 ms with 99 %.
///
/// The thread has to read its own time ([`Clock::processor`](crate::clock::Clock::processor)) often
/// in a period: only so the kernel accounts it (`task_sched_runtime` in kernel/sched/core.c). Else
/// it does so at the next tick, up to 10 ms later, finds more used than given, and lets the thread
/// wait for up to 3 ms beside a processor that is idle.
pub(crate) fn run_by_deadlines() -> io::Result<()> {
    const PERIOD_NANOS: u64 = 1_000_000;
    // SAFETY: an all-zero sched_attr is a valid one.
    let mut attributes: libc::sched_attr = unsafe { zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_policy = libc::SCHED_DEADLINE as u32;
    attributes.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    attributes.sched_runtime = PERIOD_NANOS;
    attributes.sched_deadline = PERIOD_NANOS;
    attributes.sched_period = PERIOD_NANOS;
    set_attributes(&attributes)
}

/// Sets how the calling thread is scheduled.
fn set_attributes(attributes: &libc::sched_attr) -> io::Result<()> {
    // SAFETY: the attributes outlive the call; 0 is the calling thread.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) };
    check(result as libc::c_int)?;
    Ok(())
}

/// Asks for time on the processor in short slices, and so sooner (sched_setattr(2) with
/// `sched_runtime`, Linux 6.12). Any process may.
pub(crate) fn run_in_short_slices() -> io::Result<()> {
    run_in_slices(0)
}

/// As [`run_in_short_slices`], and with the most of the processor that an ordinary thread gets, if
/// that is allowed (nice -20, which needs CAP_SYS_NICE); short slices alone if not.
pub(crate) fn run_before_others() -> io::Result<()> {
    run_in_slices(-20).or_else(|_| run_in_slices(0))
}

fn run_in_slices(nice: i32) -> io::Result<()> {
    /// The shortest slice that the kernel takes.
    const SLICE_NANOS: u64 = 100_000;
    // SAFETY: an all-zero sched_attr is a valid one: SCHED_OTHER.
    let mut attributes: libc::sched_attr = unsafe { zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_runtime = SLICE_NANOS;
    attributes.sched_nice = nice;
    set_attributes(&attributes)
}

/// The number of an interface of the calling thread's namespace.
pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
    let name = CString::new(name).map_err(io::Error::other)?;
    // SAFETY: the name is a C string that outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Sets a socket option to a number or a structure that the kernel only reads.
pub(crate) fn set_option<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = (&raw const value).cast();
    // SAFETY: the value outlives the call and its length is right.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value, length) })?;
    Ok(())
}

/// Sets a socket option to what `value` holds.
pub(crate) fn set_option_bytes(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    let (length, value) = (value.len() as libc::socklen_t, value.as_ptr().cast());
    // SAFETY: the value outlives the call and its length is right.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value, length) })?;
    Ok(())
}

/// Whether the next byte to be read is the urgent one (sockatmark(3)).
pub(crate) fn at_mark(socket: BorrowedFd<'_>) -> io::Result<bool> {
    /// `asm-generic/sockios.h`.
    const SIOCATMARK: libc::Ioctl = 0x8905;
    let mut is_at_mark: libc::c_int = 0;
    // SAFETY: the number outlives the call, which writes one.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCATMARK, &raw mut is_at_mark) })?;
    Ok(is_at_mark != 0)
}

/// Drops all input of a socket (SO_ATTACH_FILTER with a program that keeps nothing): a listening
/// one does not even refuse.
pub(crate) fn swallow_everything(socket: BorrowedFd<'_>) -> io::Result<()> {
    // BPF_RET | BPF_K with 0: keep no byte.
    let mut keep_nothing = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0 };
    let program = libc::sock_fprog { len: 1, filter: &raw mut keep_nothing };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, program)
}

/// Reads a socket option as the kernel writes it: at most `buffer.len()` bytes, and how many there
/// are.
pub(crate) fn option_bytes(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    let (socket, value) = (socket.as_raw_fd(), buffer.as_mut_ptr().cast());
    // SAFETY: the kernel writes at most `length` bytes into the buffer.
    check(unsafe { libc::getsockopt(socket, level, name, value, &raw mut length) })?;
    Ok(length as usize)
}

/// `TCP_INFO` as the kernel wrote it: at most `buffer.len()` bytes, and how many there are.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    option_bytes(socket, libc::IPPROTO_TCP, libc::TCP_INFO, buffer)
}

pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
