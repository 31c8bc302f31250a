//! The path manager of Multipath TCP, by generic netlink
//! (Documentation/netlink/specs/mptcp_pm.yaml).

use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};
use tcplab_units::Endpoint;

use crate::TrialError;

/// What is wrong with a kernel that has no Multipath TCP.
pub const NO_MPTCP: &str = "its kernel has no Multipath TCP, or it is off (net.mptcp.enabled)";

/// Whether this machine's kernel has Multipath TCP: in a new namespace it is then on.
pub fn has_mptcp() -> bool {
    Path::new("/proc/sys/net/mptcp/enabled").exists()
}

/// The subflows that a connection may have beside its first.
const MORE_SUBFLOWS: u32 = 1;

/// `NLM_F_REQUEST`, and `NLM_F_ACK` (include/uapi/linux/netlink.h).
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// `NLMSG_ERROR`.
const ERROR: u16 = 2;
/// `NLA_F_NESTED`.
const NESTED: u16 = 1 << 15;
/// Bytes of `struct nlmsghdr`, and of `struct genlmsghdr` behind it.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;

/// `GENL_ID_CTRL`, and what it is asked (include/uapi/linux/genetlink.h).
const CONTROLLER: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// include/uapi/linux/mptcp_pm.h.
const FAMILY: &[u8] = b"mptcp_pm\0";
const VERSION: u8 = 1;
const MPTCP_PM_CMD_ADD_ADDR: u8 = 1;
const MPTCP_PM_CMD_SET_LIMITS: u8 = 5;
const MPTCP_PM_ATTR_ADDR: u16 = 1;
const MPTCP_PM_ATTR_RCV_ADD_ADDRS: u16 = 2;
const MPTCP_PM_ATTR_SUBFLOWS: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FAMILY: u16 = 1;
const MPTCP_PM_ADDR_ATTR_ADDR4: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FLAGS: u16 = 6;
/// `MPTCP_PM_ADDR_FLAG_SUBFLOW` (include/uapi/linux/mptcp.h).
const FLAG_SUBFLOW: u32 = 1 << 1;
const AF_INET: u16 = 2;

/// Lets connections of the calling thread's namespace have a second subflow, which the client opens
/// from this address.
pub(crate) fn use_second_address(end: Endpoint, address: Ipv4Addr) -> Result<(), TrialError> {
    let failed = TrialError::setup("set the path manager of Multipath TCP");
    set(end, address).map_err(failed)
}

fn set(end: Endpoint, address: Ipv4Addr) -> io::Result<()> {
    let mut manager = PathManager::open()?;
    manager.ask(MPTCP_PM_CMD_SET_LIMITS, &limits())?;
    if end == Endpoint::Client {
        manager.ask(MPTCP_PM_CMD_ADD_ADDR, &endpoint(address))?;
    }
    Ok(())
}

/// The attributes of the limits.
fn limits() -> Vec<u8> {
    let mut attributes = Vec::new();
    put(&mut attributes, MPTCP_PM_ATTR_RCV_ADD_ADDRS, &0u32.to_ne_bytes());
    put(&mut attributes, MPTCP_PM_ATTR_SUBFLOWS, &MORE_SUBFLOWS.to_ne_bytes());
    attributes
}

/// The attributes of an address from which a subflow is opened.
fn endpoint(address: Ipv4Addr) -> Vec<u8> {
    let mut inner = Vec::new();
    put(&mut inner, MPTCP_PM_ADDR_ATTR_FAMILY, &AF_INET.to_ne_bytes());
    put(&mut inner, MPTCP_PM_ADDR_ATTR_ADDR4, &address.octets());
    put(&mut inner, MPTCP_PM_ADDR_ATTR_FLAGS, &FLAG_SUBFLOW.to_ne_bytes());
    let mut attributes = Vec::new();
    put(&mut attributes, MPTCP_PM_ATTR_ADDR | NESTED, &inner);
    attributes
}

/// The path manager of the network namespace of the thread that opened it.
struct PathManager {
    socket: Socket,
    /// The number that the kernel gave the family.
    family: u16,
}

impl PathManager {
    fn open() -> io::Result<PathManager> {
        let mut socket = Socket::new(NETLINK_GENERIC)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let mut name = Vec::new();
        put(&mut name, CTRL_ATTR_FAMILY_NAME, FAMILY);
        let question = message(CONTROLLER, REQUEST, CTRL_CMD_GETFAMILY, &name);
        let answer = exchange(&socket, &question)?;
        let attributes = answer.get(HEADER + GENERIC_HEADER..).unwrap_or_default();
        let family = find(attributes, CTRL_ATTR_FAMILY_ID)
            .and_then(|value| Some(u16::from_ne_bytes(value.try_into().ok()?)))
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(PathManager { socket, family })
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&mut self, command: u8, attributes: &[u8]) -> io::Result<()> {
        let request = message(self.family, REQUEST | ACKNOWLEDGE, command, attributes);
        exchange(&self.socket, &request).map(drop)
    }
}

/// A request to a family.
fn message(family: u16, flags: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    let len = (HEADER + GENERIC_HEADER + attributes.len()) as u32;
    let mut bytes = len.to_ne_bytes().to_vec();
    bytes.extend(family.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Sequence number and port.
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([command, VERSION, 0, 0]);
    bytes.extend(attributes);
    bytes
}

/// Sends a request and waits for its answer, which may be an acknowledgement.
fn exchange(socket: &Socket, request: &[u8]) -> io::Result<Vec<u8>> {
    socket.send(request, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let kind = answer.get(4..6).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    let code = answer.get(HEADER..).and_then(|bytes| bytes.first_chunk::<4>());
    match (kind, code.map(|code| i32::from_ne_bytes(*code))) {
        (Some(ERROR), Some(0)) => Ok(answer),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        (Some(_), _) => Ok(answer),
        (None, _) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Adds an attribute: its length, its kind, its value, and bytes up to the next four.
fn put(attributes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    attributes.extend((4 + value.len() as u16).to_ne_bytes());
    attributes.extend(kind.to_ne_bytes());
    attributes.extend(value);
    attributes.resize(attributes.len().next_multiple_of(4), 0);
}

/// The value of the first attribute of this kind.
fn find(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let [a, b, c, d] = *attributes.first_chunk::<4>()?;
        let len = usize::from(u16::from_ne_bytes([a, b]));
        let value = attributes.get(4..len)?;
        if u16::from_ne_bytes([c, d]) == kind {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_these_bytes() {
        let request = message(30, REQUEST | ACKNOWLEDGE, MPTCP_PM_CMD_SET_LIMITS, &limits());
        #[rustfmt::skip]
        let expected = [
            36, 0, 0, 0, 30, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0,
            5, 1, 0, 0,
            8, 0, 2, 0, 0, 0, 0, 0,
            8, 0, 3, 0, 1, 0, 0, 0,
        ];
        assert_eq!(request, expected);
        #[rustfmt::skip]
        let expected = [
            28, 0, 1, 0x80,
            6, 0, 1, 0, 2, 0, 0, 0,
            8, 0, 3, 0, 10, 98, 1, 1,
            8, 0, 6, 0, 2, 0, 0, 0,
        ];
        assert_eq!(endpoint(Ipv4Addr::new(10, 98, 1, 1)), expected);
    }

    #[test]
    fn attributes_are_found_behind_others() {
        let mut attributes = Vec::new();
        put(&mut attributes, CTRL_ATTR_FAMILY_NAME, FAMILY);
        put(&mut attributes, CTRL_ATTR_FAMILY_ID, &30u16.to_ne_bytes());
        assert_eq!(find(&attributes, CTRL_ATTR_FAMILY_ID), Some(&[30, 0][..]));
        assert_eq!(find(&attributes, 7), None);
        assert_eq!(find(&[9, 0, 1], 1), None);
    }
}
