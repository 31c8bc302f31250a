//! What network interfaces do beyond moving frames.
#![expect(unsafe_code, reason = "system calls")]

use std::io;
use std::os::fd::AsRawFd;

use rustix::net::{AddressFamily, SocketType};

use super::{check, interface_request};

/// Takes segmentation and receive offload of an interface of the calling thread's namespace off
/// (ethtool(8) `-K NAME tso off gso off gro off`).
pub(crate) fn without_offloads(name: &str) -> io::Result<()> {
    /// From linux/ethtool.h: ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO.
    const SETTERS: [u32; 3] = [0x1f, 0x24, 0x2c];
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    for command in SETTERS {
        // `struct ethtool_value`: the command, and 0 for "off".
        let mut value = [command, 0];
        let mut request = interface_request(name);
        request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        // SAFETY: SIOCETHTOOL reads and writes the ifreq and the value it points to, which both
        // outlive the call.
        check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    }
    Ok(())
}
