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
use tcplab_wire::offload::{GsoType, VnetHeader};

use crate::device_kind::{DeviceKind, TUN};
use crate::link_header::LinkHeader;
use crate::netlink::{LinkSettings, Netlink};
use crate::{TrialError, sys};

pub(crate) const NAME: &str = "tcplab0";
/// IP packets up to this size travel whole, as on Ethernet.
pub(crate) const MTU: u32 = 1500;
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

/// How a device is attached to the kernel of its endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Attachment {
    pub(crate) name: String,
    /// In a /24.
    pub(crate) address: Ipv4Addr,
    /// In bytes of IP.
    pub(crate) mtu: u32,
}

/// One end of the path.
pub(crate) struct Device {
    fd: OwnedFd,
    /// The header before the IP packet in each frame sent; empty for TUN, and where each frame has
    /// its own.
    ethernet: Vec<u8>,
    /// Whether it carries the frames of others, of which each has its own header.
    is_interface: bool,
    /// Frames of a kind that a packet socket cannot hand over.
    refused: u64,
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
    /// What stood before it, where that has to stay.
    pub(crate) link: LinkHeader,
}

impl Device {
    /// Makes the device in the calling thread's namespace, with `address` in a /24, and takes it
    /// and the loopback up. `bridge` is the namespace of the process that moves the frames.
    pub(crate) fn create(
        kind: DeviceKind,
        address: Ipv4Addr,
        bridge: BorrowedFd<'_>,
    ) -> Result<DeviceEnd, TrialError> {
        take_loopback_up()?;
        Device::create_as(kind, &Attachment { name: NAME.into(), address, mtu: MTU }, bridge)
    }

    /// Makes the device, and touches nothing else in the calling thread's namespace.
    pub(crate) fn create_as(
        kind: DeviceKind,
        attachment: &Attachment,
        bridge: BorrowedFd<'_>,
    ) -> Result<DeviceEnd, TrialError> {
        let Attachment { name, address, mtu } = attachment;
        let (address, mtu) = (*address, *mtu);
        let mut netlink = Netlink::open().map_err(TrialError::setup("open a netlink socket"))?;
        let end = match kind {
            DeviceKind::Tun => DeviceEnd::Tun(open_tun(name)?),
            DeviceKind::PacketSocket => {
                let last = address.octets()[3];
                // Locally administered, one for each end.
                let mac = [2, 0, 0, 0, 0, last];
                let peer = format!("tcplab{last}");
                netlink
                    .add_veth(name, mac, &peer, bridge.as_raw_fd())
                    .map_err(TrialError::setup("make a veth pair"))?;
                DeviceEnd::Veth { peer, mac, mtu }
            }
        };
        attach(attachment, kind == DeviceKind::PacketSocket)?;
        Ok(end)
    }

    /// The same device once more, for another bridge.
    pub(crate) fn duplicate(&self) -> io::Result<Device> {
        let (fd, ethernet) = (self.fd.try_clone()?, self.ethernet.clone());
        Ok(Device { fd, ethernet, is_interface: self.is_interface, refused: 0 })
    }

    /// Waits until what the endpoint sends gets to the bridge, which has opened its end or is about
    /// to. To be called in the endpoint's namespace.
    pub(crate) fn await_carrier(kind: DeviceKind) -> Result<(), TrialError> {
        Device::await_carrier_of(kind, NAME)
    }

    /// The same for a device with a name of its own.
    pub(crate) fn await_carrier_of(kind: DeviceKind, name: &str) -> Result<(), TrialError> {
        match kind {
            // It has one from the start.
            DeviceKind::Tun => Ok(()),
            DeviceKind::PacketSocket => await_carrier(name),
        }
    }

    /// An interface that exists, by a socket that takes all its frames.
    pub(crate) fn of_interface(fd: OwnedFd) -> Device {
        Device { fd, ethernet: Vec::new(), is_interface: true, refused: 0 }
    }

    /// Whether frames have headers that must stay.
    pub(crate) fn is_interface(&self) -> bool {
        self.is_interface
    }

    /// Reads what the endpoint sent next into `buffer`, which has room for the [`LARGEST`]; none
    /// when nothing waits.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        if self.is_interface {
            return self.receive_frame(buffer);
        }
        let link_header = self.ethernet.len();
        loop {
            let mut header = [0; VnetHeader::LEN];
            let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
            let length = match rustix::io::readv(&self.fd, &mut parts) {
                Ok(length) => length,
                // A device that was taken down says so once, and has nothing to read.
                Err(Errno::AGAIN | Errno::INTR | Errno::NETDOWN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            };
            // Less than a header would be: nothing.
            if let Some(len) = length.checked_sub(VnetHeader::LEN + link_header) {
                let header = VnetHeader::from_bytes(header).of_packet(link_header as u16);
                let link = LinkHeader::default();
                return Ok(Some(Received { header, at: link_header, len, link }));
            }
        }
    }

    fn receive_frame(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        loop {
            let mut header = [0; VnetHeader::LEN];
            let received = match sys::receive_frame(self.fd.as_fd(), &mut header, buffer) {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(None),
                // A super-packet for which `virtio_net_hdr` has no words.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                    self.refused += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let len = received.len.saturating_sub(VnetHeader::LEN).min(buffer.len());
            let frame = &buffer[..len];
            let Some((link, at)) = LinkHeader::of(frame, received.tag) else { continue };
            let header = VnetHeader::from_bytes(header);
            let header = header.of_packet(at as u16);
            let packet = &frame[at..];
            // Short frames are filled up, which is no part of the packet.
            let len = if link.is_ip() && header.gso_type == GsoType::None {
                ip_len(packet).min(packet.len())
            } else {
                packet.len()
            };
            return Ok(Some(Received { header, at, len, link }));
        }
    }

    /// Frames not read in time from a packet socket, since the last call. A TUN device does
    /// not count those; the endpoint's own counters do.
    pub(crate) fn unread_drops(&mut self) -> u64 {
        let is_tun = self.ethernet.is_empty() && !self.is_interface;
        let refused = std::mem::take(&mut self.refused);
        if is_tun { 0 } else { refused + sys::packet_drops(self.fd.as_fd()).unwrap_or_default() }
    }

    /// Hands the endpoint one packet or super-packet, which lies in `parts` one after the other;
    /// false if its kernel had no room. `link` goes before it where frames have their own headers.
    ///
    /// # Panics
    /// If there are more than 62 parts.
    pub(crate) fn send(
        &mut self,
        header: VnetHeader,
        link: &LinkHeader,
        parts: &[IoSlice<'_>],
    ) -> io::Result<bool> {
        let ethernet = if self.is_interface { link.as_bytes() } else { &self.ethernet };
        let header = header.of_frame(ethernet.len() as u16).to_bytes();
        let mut all = [IoSlice::new(&[]); MOST_PARTS];
        all[0] = IoSlice::new(&header);
        all[1] = IoSlice::new(ethernet);
        all[2..2 + parts.len()].copy_from_slice(parts);
        match rustix::io::writev(&self.fd, &all[..2 + parts.len()]) {
            Ok(_) => Ok(true),
            // Like a frame lost on the way in, it is counted, not retried: no room, a device that
            // was taken down (TUN says EIO), an interface that is gone, a packet larger than it
            // takes.
            Err(
                Errno::AGAIN
                | Errno::NOBUFS
                | Errno::NETDOWN
                | Errno::IO
                | Errno::NXIO
                | Errno::MSGSIZE,
            ) => Ok(false),
            // A bit error has made it no IP. An Ethernet device hands such a packet on to a kernel
            // that throws it away (`ip_rcv_core`); a TUN device, by which nothing else says what it
            // is, refuses it (`tun_get_user`), with the same outcome.
            Err(Errno::INVAL) if !is_ip(parts) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Takes a device that exists up, in the calling thread's namespace, with its address.
pub(crate) fn attach(attachment: &Attachment, no_arp: bool) -> Result<(), TrialError> {
    let Attachment { name, address, mtu } = attachment;
    let settings = LinkSettings {
        mtu: Some(*mtu),
        queue_len: Some(QUEUE_LEN),
        no_arp,
        ..LinkSettings::default()
    };
    let mut netlink = Netlink::open().map_err(TrialError::setup("open a netlink socket"))?;
    let index = interface_index(name)?;
    // On a machine's own network, too, nothing but what was asked for goes into the path.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    netlink.set_up(index, &settings).map_err(TrialError::setup(format!("take {name} up")))?;
    netlink
        .add_address(index, *address, 24)
        .map_err(TrialError::setup(format!("give {name} the address {address}")))
}

/// Gives a device that is up one address more, in a /24 of its own.
pub(crate) fn add_address(name: &str, address: Ipv4Addr) -> Result<(), TrialError> {
    let index = interface_index(name)?;
    Netlink::open()
        .and_then(|mut netlink| netlink.add_address(index, address, 24))
        .map_err(TrialError::setup(format!("give {name} the address {address}")))
}

/// Whether the version in the packet's first byte is one of IP.
fn is_ip(parts: &[IoSlice<'_>]) -> bool {
    let first = parts.iter().find_map(|part| part.first());
    first.is_some_and(|byte| matches!(byte >> 4, 4 | 6))
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A device as its endpoint's thread leaves it for the bridge's.
pub(crate) enum DeviceEnd {
    Tun(OwnedFd),
    Veth { peer: String, mac: [u8; 6], mtu: u32 },
}

impl DeviceEnd {
    /// To be called in the bridge's namespace.
    pub(crate) fn open(self) -> Result<Device, TrialError> {
        match self {
            DeviceEnd::Tun(fd) => {
                Ok(Device { fd, ethernet: Vec::new(), is_interface: false, refused: 0 })
            }
            DeviceEnd::Veth { peer, mac, mtu } => {
                let index = interface_index(&peer)?;
                let settings = LinkSettings {
                    mtu: Some(mtu),
                    queue_len: Some(QUEUE_LEN),
                    no_arp: true,
                    ..LinkSettings::default()
                };
                set_up(index, &settings, &format!("take {peer} up"))?;
                let mut ethernet = mac.to_vec();
                ethernet.extend([2, 0, 0, 0, 0, 0xff]);
                ethernet.extend(ETH_P_IP.to_be_bytes());
                let fd = sys::packet_socket(index, ETH_P_IP)
                    .map_err(TrialError::setup("open a packet socket"))?;
                await_carrier(&peer)?;
                Ok(Device { fd, ethernet, is_interface: false, refused: 0 })
            }
        }
    }

    /// To be called in a namespace whose kernel itself moves the frames: leaves the other end of
    /// the pair to it, and gives its name.
    ///
    /// # Panics
    /// If it is a TUN device: its other end is a descriptor.
    pub(crate) fn leave_to_kernel(self) -> Result<String, TrialError> {
        let DeviceEnd::Veth { peer, mac, mtu } = self else {
            panic!("only a veth has an end for the kernel");
        };
        // With the same hardware address at both ends and nobody asking for any, each end sends to
        // itself, as `arp_constructor` (net/ipv4/arp.c) has it, and that is the other.
        let settings = LinkSettings {
            mtu: Some(mtu),
            no_arp: true,
            mac: Some(mac),
            ..LinkSettings::default()
        };
        let index = interface_index(&peer)?;
        set_up(index, &settings, &format!("take {peer} up"))?;
        await_carrier(&peer)?;
        Ok(peer)
    }
}

/// Has the kernel send each segment by itself through the endpoint's device.
pub(crate) fn send_single_segments() -> Result<(), TrialError> {
    let index = interface_index(NAME)?;
    let settings = LinkSettings { segments: Some(1), no_arp: true, ..LinkSettings::default() };
    set_up(index, &settings, "have segments sent one by one")
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

/// How long an IP packet says that it is; as long as it can be if it does not.
fn ip_len(packet: &[u8]) -> usize {
    let number =
        |at: usize| packet.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
    let total_len = match packet.first().map(|byte| byte >> 4) {
        Some(4) => number(2).filter(|len| *len >= 20),
        // Zero: too long for the field (RFC 2675).
        Some(6) => number(4).filter(|len| *len > 0).map(|len| len + 40),
        _ => None,
    };
    total_len.unwrap_or(usize::MAX)
}

/// Takes the loopback of the calling thread's namespace up.
pub(crate) fn take_loopback_up() -> Result<(), TrialError> {
    let loopback = interface_index("lo")?;
    set_up(loopback, &LinkSettings::default(), "take the loopback up")
}

fn set_up(index: u32, settings: &LinkSettings, purpose: &str) -> Result<(), TrialError> {
    Netlink::open()
        .and_then(|mut netlink| netlink.set_up(index, settings))
        .map_err(TrialError::setup(purpose))
}

fn open_tun(name: &str) -> Result<OwnedFd, TrialError> {
    let file = OpenOptions::new().read(true).write(true).open(TUN).map_err(not_opened)?;
    let fd = OwnedFd::from(file);
    sys::attach_tun(fd.as_fd(), name).map_err(TrialError::setup("make a TUN device"))?;
    rustix::io::ioctl_fionbio(&fd, true)
        .map_err(|errno| TrialError::setup(format!("set {TUN} non-blocking"))(errno.into()))?;
    Ok(fd)
}

/// Why the kernel gives no TUN device, and what to do.
fn not_opened(error: io::Error) -> TrialError {
    let step = format!("open {TUN}");
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => TrialError::reported(
            format!("cannot {step}: {error}"),
            "leave out `--io tun`: packet sockets do it, too; or as root `chmod 666 /dev/net/tun` \
             (udev's default), `modprobe tun`",
        ),
        _ => TrialError::setup(step)(error),
    }
}

pub(crate) fn interface_index(name: &str) -> Result<u32, TrialError> {
    sys::interface_index(name).map_err(TrialError::setup(format!("find the interface {name}")))
}
