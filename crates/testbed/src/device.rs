//! Where frames leave and enter an endpoint: a TUN device, or a veth with a packet socket.
//!
//! Both hand over what the kernel's TCP sends in large pieces with unfinished checksums
//! (`virtio_net_hdr`), and take them so. These super-packets come out of here and go in as they
//! are; offsets in their headers count from the IP header, for either device.

use std::fs::OpenOptions;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use tcplab_wire::offload::VnetHeader;

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
/// The largest piece the kernel hands over, headers of all layers included.
pub(crate) const LARGEST: usize = 65_536 + 64;
/// Stretches of memory that one packet to be sent may lie in.
const MOST_PARTS: usize = 64;
/// The kernel notices a carrier within milliseconds, but no more than once a second where many
/// come and go (net/core/link_watch.c).
const CARRIER_PATIENCE: Duration = Duration::from_secs(10);
/// EtherType of IPv4.
const ETH_P_IP: u16 = 0x0800;

/// One end of the path.
pub(crate) struct Device {
    fd: OwnedFd,
    /// What stands before the IP packet in each frame sent; empty for TUN.
    ethernet: Vec<u8>,
}

/// A packet or super-packet that was read into a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    /// What the kernel left undone.
    pub(crate) header: VnetHeader,
    /// Where in the buffer its IP header begins.
    pub(crate) at: usize,
    /// Its length in bytes of IP.
    pub(crate) len: usize,
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

    /// The same device once more, for another bridge.
    pub(crate) fn duplicate(&self) -> io::Result<Device> {
        Ok(Device { fd: self.fd.try_clone()?, ethernet: self.ethernet.clone() })
    }

    /// Waits until what the endpoint sends gets to the bridge, which has opened its end or is about
    /// to. To be called in the endpoint's namespace.
    pub(crate) fn await_carrier(kind: DeviceKind) -> Result<(), TrialError> {
        match kind {
            // It has one from the start.
            DeviceKind::Tun => Ok(()),
            DeviceKind::PacketSocket => await_carrier(NAME),
        }
    }

    /// Reads what the endpoint sent next into `buffer`, which has room for the [`LARGEST`]; none
    /// when nothing waits.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let link_header = self.ethernet.len();
        loop {
            let mut header = [0; VnetHeader::LEN];
            let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
            let length = match rustix::io::readv(&self.fd, &mut parts) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            };
            // Less than a header would be: nothing.
            if let Some(len) = length.checked_sub(VnetHeader::LEN + link_header) {
                let mut header = VnetHeader::from_bytes(header);
                header.csum_start = header.csum_start.saturating_sub(link_header as u16);
                return Ok(Some(Received { header, at: link_header, len }));
            }
        }
    }

    /// Frames that nobody read in time from a packet socket, since the last call. A TUN device does
    /// not tell its reader of those; the endpoint's own counters do.
    pub(crate) fn unread_drops(&mut self) -> u64 {
        let is_tun = self.ethernet.is_empty();
        if is_tun { 0 } else { sys::packet_drops(self.fd.as_fd()).unwrap_or_default() }
    }

    /// Hands the endpoint one packet or super-packet, which lies in `parts` one after the other;
    /// false if its kernel had no room.
    ///
    /// # Panics
    /// If there are more than 62 parts.
    pub(crate) fn send(
        &mut self,
        mut header: VnetHeader,
        parts: &[IoSlice<'_>],
    ) -> io::Result<bool> {
        let link_header = self.ethernet.len() as u16;
        if header.needs_checksum {
            header.csum_start += link_header;
        }
        if header.hdr_len > 0 {
            header.hdr_len += link_header;
        }
        let header = header.to_bytes();
        let mut all = [IoSlice::new(&[]); MOST_PARTS];
        all[0] = IoSlice::new(&header);
        all[1] = IoSlice::new(&self.ethernet);
        all[2..2 + parts.len()].copy_from_slice(parts);
        match rustix::io::writev(&self.fd, &all[..2 + parts.len()]) {
            Ok(_) => Ok(true),
            // A TUN device refuses what is neither IPv4 nor IPv6, such as a packet in whose version
            // a bit was flipped: the kernel has had it, and thrown it away.
            Err(Errno::INVAL) if self.ethernet.is_empty() && parts_are_foreign(parts) => Ok(true),
            // Like a frame lost on the way in, it is counted, not retried.
            Err(Errno::AGAIN | Errno::NOBUFS) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Whether what lies in `parts` has no known version of IP.
fn parts_are_foreign(parts: &[IoSlice<'_>]) -> bool {
    let first = parts.iter().find_map(|part| part.first());
    first.is_none_or(|first| !matches!(first >> 4, 4 | 6))
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
        match self {
            DeviceEnd::Tun(fd) => Ok(Device { fd, ethernet: Vec::new() }),
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
                await_carrier(&peer)?;
                Ok(Device { fd, ethernet })
            }
        }
    }
}

/// Waits until the interface of the calling thread's namespace sends what it is given.
pub(crate) fn await_carrier(name: &str) -> Result<(), TrialError> {
    let failed = || TrialError::setup(format!("wait for the carrier of {name}"));
    let index = interface_index(name)?;
    let mut netlink = Netlink::open().map_err(failed())?;
    let started = std::time::Instant::now();
    while !netlink.is_operational(index).map_err(failed())? {
        if started.elapsed() > CARRIER_PATIENCE {
            return Err(failed()(io::ErrorKind::TimedOut.into()));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
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
