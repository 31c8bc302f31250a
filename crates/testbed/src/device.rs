//! Where frames leave and enter an endpoint: a TUN device, or a veth with a packet socket.
//!
//! Both hand over what the kernel's TCP sends in large pieces with unfinished checksums
//! (`virtio_net_hdr`); what comes out of here are IP packets of the link's size with right
//! checksums, as they would be on a wire.

use std::fs::OpenOptions;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use tcplab_wire::offload::{Cutter, VnetHeader};

use crate::TrialError;
use crate::netlink::{LinkSettings, Netlink};
use crate::sys;

/// How frames get out of an endpoint's namespace and into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// `/dev/net/tun`: the faster one.
    Tun,
    /// veth and `AF_PACKET`: where `/dev/net/tun` is not allowed.
    PacketSocket,
}

impl DeviceKind {
    /// The better one that this process may use.
    pub fn best() -> DeviceKind {
        match OpenOptions::new().read(true).write(true).open(TUN) {
            Ok(_) => DeviceKind::Tun,
            Err(_) => DeviceKind::PacketSocket,
        }
    }
}

const TUN: &str = "/dev/net/tun";
const NAME: &str = "tcplab0";
/// IP packets up to this size travel whole, as on Ethernet.
const MTU: u32 = 1500;
/// The kernel drops silently what the device's queue cannot take: it must never be the
/// bottleneck, the path's own queue is.
const QUEUE_LEN: u32 = 10_000;
/// The largest piece the kernel hands over.
const BUFFER: usize = 65_536 + ETHERNET;
const ETHERNET: usize = 14;
/// EtherType of IPv4.
const ETH_P_IP: u16 = 0x0800;

/// One end of the path.
pub(crate) struct Device {
    fd: OwnedFd,
    /// What stands before the IP packet in each frame sent; empty for TUN.
    ethernet: Vec<u8>,
    buffer: Vec<u8>,
    cutter: Cutter,
    /// Frames that the kernel had no room for.
    refused: u64,
}

impl Device {
    /// Makes the device in the calling thread's namespace, with `address` in a /24, and takes it
    /// and the loopback up. `bridge` is the namespace of the process that moves the frames.
    pub(crate) fn create(
        kind: DeviceKind,
        address: Ipv4Addr,
        bridge: BorrowedFd<'_>,
    ) -> Result<DeviceEnd, TrialError> {
        let mut netlink = Netlink::open().map_err(TrialError::setup("open a netlink socket"))?;
        let loopback = interface_index("lo")?;
        netlink
            .set_up(loopback, &LinkSettings::default())
            .map_err(TrialError::setup("take the loopback up"))?;
        let end = match kind {
            DeviceKind::Tun => DeviceEnd::Tun(open_tun()?),
            DeviceKind::PacketSocket => {
                let last = address.octets()[3];
                // Locally administered, one for each end.
                let mac = [2, 0, 0, 0, 0, last];
                let peer = format!("tcplab{last}");
                netlink
                    .add_veth(NAME, mac, &peer, bridge.as_raw_fd())
                    .map_err(TrialError::setup("make a veth pair"))?;
                DeviceEnd::Veth { peer, mac }
            }
        };
        let settings = LinkSettings {
            mtu: Some(MTU),
            queue_len: Some(QUEUE_LEN),
            no_arp: kind == DeviceKind::PacketSocket,
        };
        let index = interface_index(NAME)?;
        netlink.set_up(index, &settings).map_err(TrialError::setup(format!("take {NAME} up")))?;
        netlink
            .add_address(index, address, 24)
            .map_err(TrialError::setup(format!("give {NAME} the address {address}")))?;
        Ok(end)
    }

    /// Reads what the endpoint sent next, cut into packets as on the wire; `false` when nothing
    /// waits.
    pub(crate) fn receive(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut header = [0; VnetHeader::LEN];
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut self.buffer)];
        let length = match rustix::io::readv(&self.fd, &mut parts) {
            Ok(length) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        let link_header = self.ethernet.len();
        let Some(length) = length.checked_sub(VnetHeader::LEN + link_header) else {
            return Ok(true);
        };
        let mut header = VnetHeader::from_bytes(header);
        header.csum_start = header.csum_start.saturating_sub(link_header as u16);
        let packet = &mut self.buffer[link_header..][..length];
        self.cutter.resolve(header, packet, &mut each).map_err(io::Error::other)?;
        Ok(true)
    }

    /// Frames lost here, outside the path: that the kernel had no room for, and, since the last
    /// call, that nobody read in time from a packet socket. A TUN device does not tell its reader
    /// of those; the endpoint's own counters do.
    pub(crate) fn drops(&self) -> u64 {
        let is_tun = self.ethernet.is_empty();
        let unread =
            if is_tun { 0 } else { sys::packet_drops(self.fd.as_fd()).unwrap_or_default() };
        self.refused + unread
    }

    /// Hands one IP packet to the endpoint.
    pub(crate) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        // All zero: one packet, whose checksums the kernel is to verify.
        let header = [0; VnetHeader::LEN];
        let parts = [IoSlice::new(&header), IoSlice::new(&self.ethernet), IoSlice::new(packet)];
        match rustix::io::writev(&self.fd, &parts) {
            Ok(_) => Ok(()),
            // No room in the kernel: like a frame lost on the way in, it is counted, not retried.
            Err(Errno::AGAIN | Errno::NOBUFS) => {
                self.refused += 1;
                Ok(())
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A device as its endpoint's thread leaves it for the bridge's.
pub(crate) enum DeviceEnd {
    Tun(OwnedFd),
    Veth { peer: String, mac: [u8; 6] },
}

impl DeviceEnd {
    /// To be called in the bridge's namespace.
    pub(crate) fn open(self) -> Result<Device, TrialError> {
        let (buffer, cutter) = (vec![0; BUFFER], Cutter::new());
        match self {
            DeviceEnd::Tun(fd) => {
                Ok(Device { fd, ethernet: Vec::new(), buffer, cutter, refused: 0 })
            }
            DeviceEnd::Veth { peer, mac } => {
                let index = interface_index(&peer)?;
                let settings =
                    LinkSettings { mtu: Some(MTU), queue_len: Some(QUEUE_LEN), no_arp: true };
                Netlink::open()
                    .and_then(|mut netlink| netlink.set_up(index, &settings))
                    .map_err(TrialError::setup(format!("take {peer} up")))?;
                let mut ethernet = mac.to_vec();
                ethernet.extend([2, 0, 0, 0, 0, 0xff]);
                ethernet.extend(ETH_P_IP.to_be_bytes());
                let fd = sys::packet_socket(index, ETH_P_IP)
                    .map_err(TrialError::setup("open a packet socket"))?;
                Ok(Device { fd, ethernet, buffer, cutter, refused: 0 })
            }
        }
    }
}

fn open_tun() -> Result<OwnedFd, TrialError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(TUN)
        .map_err(TrialError::setup(format!("open {TUN}")))?;
    let fd = OwnedFd::from(file);
    sys::attach_tun(fd.as_fd(), NAME).map_err(TrialError::setup("make a TUN device"))?;
    rustix::io::ioctl_fionbio(&fd, true)
        .map_err(|errno| TrialError::setup(format!("set {TUN} non-blocking"))(errno.into()))?;
    Ok(fd)
}

fn interface_index(name: &str) -> Result<u32, TrialError> {
    sys::interface_index(name).map_err(TrialError::setup(format!("find the interface {name}")))
}
