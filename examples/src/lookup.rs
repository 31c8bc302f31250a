//! Names of addresses and of services, for which std has no call: it only asks the other way.

use std::ffi::{CStr, CString};
use std::net::SocketAddr;

use rustix::net::addr::SocketAddrArg;

/// What the resolver calls an address (getnameinfo(3), the course's gethostbyaddr); none if it has
/// no name.
pub fn host_name(address: SocketAddr) -> Option<String> {
    // As long as a name can be, NI_MAXHOST.
    let mut room = [0_u8; 1025];
    #[expect(unsafe_code, reason = "neither std nor rustix wraps getnameinfo")]
    // SAFETY: the address is valid during the call, and the room is as long as it is said to be.
    let error = unsafe {
        address.with_sockaddr(|pointer, length| {
            libc::getnameinfo(
                pointer.cast(),
                length,
                room.as_mut_ptr().cast(),
                room.len() as libc::socklen_t,
                std::ptr::null_mut(),
                0,
                libc::NI_NAMEREQD,
            )
        })
    };
    let name = CStr::from_bytes_until_nul(&room).ok()?;
    (error == 0).then(|| name.to_string_lossy().into_owned())
}

/// The port of a service over TCP (getservbyname(3)); none if /etc/services does not have it.
pub fn service_port(name: &str) -> Option<u16> {
    let name = CString::new(name).ok()?;
    #[expect(unsafe_code, reason = "neither std nor rustix wraps getservbyname")]
    // SAFETY: both texts end with a NUL. What is returned is read before any other call could
    // change it, as the examples that call this have one thread.
    let port = unsafe {
        libc::getservbyname(name.as_ptr(), c"tcp".as_ptr()).as_ref().map(|entry| entry.s_port)
    };
    // An int, and yet in network byte order.
    port.map(|port| u16::from_be(port as u16))
}
