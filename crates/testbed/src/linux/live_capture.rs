//! Live captures: the frames that pass an interface in both directions.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_wire::LinkType;

use crate::netlink::Netlink;
use crate::sys::ReceivedFrame;
use crate::{TrialError, packet_socket, sys};

/// A frame of the largest packet that Linux makes ("BIG TCP"), with room for its headers.
const LARGEST: usize = (512 << 10) + 256;
/// What can be put before a packet that came without its link header: that of
/// [`LinkType::LinuxSll2`] and a VLAN tag.
const HEADROOM: usize = COOKED + TAG;
const COOKED: usize = 20;
const TAG: usize = 4;
/// Behind these, both addresses, Ethernet has its tags.
const ADDRESSES: usize = 12;

/// A socket that captures what an interface sends and receives, and never sends itself.
#[derive(Debug)]
pub struct LiveCapture {
    socket: OwnedFd,
    buffer: Vec<u8>,
    link: LinkType,
    dropped: u64,
}

/// A frame that passed.
#[derive(Debug, Clone, Copy)]
pub struct CapturedFrame<'a> {
    /// When, nanoseconds since the Unix epoch, by the kernel.
    pub at_nanos: Option<u64>,
    /// Whether it went out.
    pub is_sent: bool,
    /// Its bytes, cut only if it is larger than any packet that Linux makes.
    pub captured: &'a [u8],
    /// How long it was, bytes.
    pub original_len: u32,
}

impl LiveCapture {
    /// What means all interfaces, as for tcpdump.
    pub const ANY: &str = "any";

    /// Captures at the interface `name` of this network namespace, in promiscuous mode as long as
    /// this lives; [`ANY`](Self::ANY) is all interfaces, without promiscuous mode.
    ///
    /// # Errors
    /// If there is no such interface, it is down, or this process may not listen.
    pub fn open(name: &str) -> Result<LiveCapture, TrialError> {
        let refused = |message: String, remedy: &str| TrialError::Reported {
            message,
            remedy: Some(remedy.to_owned()),
        };
        let denied = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => refused(
                format!("capturing on {name} needs the capability CAP_NET_RAW"),
                "sudo, or once as root: `setcap cap_net_raw+ep $(command -v tcplab)`",
            ),
            _ => TrialError::setup(format!("open a packet socket on {name}"))(error),
        };
        let heard = |socket, link| LiveCapture {
            socket,
            buffer: vec![0; HEADROOM + LARGEST],
            link,
            dropped: 0,
        };
        let Ok(index) = sys::interface_index(name) else {
            if name == LiveCapture::ANY {
                let socket = packet_socket::listen_to_all().map_err(denied)?;
                return Ok(heard(socket, LinkType::LinuxSll2));
            }
            return Err(refused(
                format!("there is no interface {name} in this network namespace"),
                "`ip link` lists those there are; `any` is all of them",
            ));
        };
        let interface = Netlink::open()
            .and_then(|mut netlink| netlink.interface(index))
            .map_err(TrialError::setup(format!("look at {name}")))?;
        if !interface.is_up {
            let remedy = format!("as root: `ip link set {name} up`");
            return Err(refused(format!("{name} is down"), &remedy));
        }
        let socket = packet_socket::listen(index).map_err(denied)?;
        let is_ethernet = interface.is_ethernet || interface.is_loopback;
        Ok(heard(socket, if is_ethernet { LinkType::Ethernet } else { LinkType::RawIp }))
    }

    /// What frames begin with.
    pub fn link(&self) -> LinkType {
        self.link
    }

    /// The next frame; none when none came for so long, or a signal did.
    ///
    /// # Errors
    /// If the interface can no longer be listened to.
    pub fn next(&mut self, patience: Duration) -> Result<Option<CapturedFrame<'_>>, TrialError> {
        let failed = || TrialError::setup("listen on");
        loop {
            let room = &mut self.buffer[HEADROOM..];
            let seen = sys::receive_frame(self.socket.as_fd(), &mut [], room);
            let Some(seen) = seen.map_err(failed())? else {
                let timeout = Timespec::try_from(patience).map_err(io::Error::other);
                let timeout = timeout.map_err(failed())?;
                let mut ready = [PollFd::new(&self.socket, PollFlags::IN)];
                match poll(&mut ready, Some(&timeout)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
                    Ok(_) if ready[0].revents().contains(PollFlags::ERR) => {
                        let error = rustix::net::sockopt::socket_error(&self.socket);
                        let error = error.map(|found| found.err().map_or_else(gone, Into::into));
                        return Err(failed()(error.unwrap_or_else(Into::into)));
                    }
                    Ok(_) => continue,
                    Err(errno) => return Err(failed()(errno.into())),
                }
            };
            // On the loopback every packet goes out and comes in; once is enough.
            if seen.is_sent && seen.from.sll_hatype == libc::ARPHRD_LOOPBACK {
                continue;
            }
            let start = match (self.link, seen.tag) {
                (LinkType::LinuxSll2, _) => put_before(&mut self.buffer, &seen),
                (LinkType::Ethernet, Some(tag)) => put_back(&mut self.buffer, tag),
                _ => HEADROOM,
            };
            let end = HEADROOM + seen.len.min(LARGEST);
            return Ok(Some(CapturedFrame {
                at_nanos: seen.at_nanos,
                is_sent: seen.is_sent,
                captured: &self.buffer[start..end],
                original_len: (end - start) as u32,
            }));
        }
    }

    /// How many packets were dropped for want of room so far.
    pub fn dropped(&mut self) -> u64 {
        self.dropped += sys::packet_drops(self.socket.as_fd()).unwrap_or_default();
        self.dropped
    }
}

/// Puts the tag that the kernel took off back into the frame behind the [`HEADROOM`]; where the
/// frame begins now.
fn put_back(buffer: &mut [u8], tag: [u8; TAG]) -> usize {
    let start = HEADROOM - TAG;
    buffer.copy_within(HEADROOM..HEADROOM + ADDRESSES, start);
    buffer[start + ADDRESSES..][..TAG].copy_from_slice(&tag);
    start
}

/// Puts a header of the form that captures of all interfaces have before the packet behind the
/// [`HEADROOM`]; where it begins. A tag stands where libpcap puts it: its kind for what the header
/// announces, the rest before the packet.
fn put_before(buffer: &mut [u8], seen: &ReceivedFrame) -> usize {
    let from = &seen.from;
    // It is in network byte order already.
    let mut protocol = from.sll_protocol.to_ne_bytes();
    let mut start = HEADROOM - COOKED;
    if let Some([a, b, c, d]) = seen.tag {
        let [e, f] = std::mem::replace(&mut protocol, [a, b]);
        buffer[HEADROOM - TAG..HEADROOM].copy_from_slice(&[c, d, e, f]);
        start -= TAG;
    }
    let header = &mut buffer[start..start + COOKED];
    header[..2].copy_from_slice(&protocol);
    header[2..4].fill(0);
    header[4..8].copy_from_slice(&from.sll_ifindex.to_be_bytes());
    header[8..10].copy_from_slice(&from.sll_hatype.to_be_bytes());
    header[10] = from.sll_pkttype;
    header[11] = from.sll_halen.min(8);
    header[12..].copy_from_slice(&from.sll_addr);
    start
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the interface went away")
}

#[cfg(test)]
mod tests {
    use tcplab_wire::FrameView;

    use super::*;

    /// An IPv4 packet with a TCP header and nothing else, as the socket would put it there.
    fn buffer(link_header: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x13, 0x88, 0, 80]);
        packet.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 1, 0, 0, 0, 0, 0]);
        [&[0xff; HEADROOM], link_header, &packet].concat()
    }

    fn ports(link: LinkType, frame: &[u8]) -> Option<(u16, u16)> {
        let tcp = FrameView::new(link, frame, frame.len() as u32).tcp()?;
        Some((tcp.src_port(), tcp.dst_port()))
    }

    #[test]
    fn removed_vlan_tag_is_restored() {
        let header = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0];
        let mut buffer = buffer(&header);
        let start = put_back(&mut buffer, [0x81, 0, 0, 42]);
        let frame = &buffer[start..];
        assert_eq!(frame[..18], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0, 42, 8, 0]);
        assert_eq!(ports(LinkType::Ethernet, frame), Some((5000, 80)));
    }

    #[test]
    fn packets_of_all_interfaces_are_read_with_and_without_a_tag() {
        let from = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: 0x0800_u16.to_be(),
            sll_ifindex: 3,
            sll_hatype: 1,
            sll_pkttype: libc::PACKET_OUTGOING,
            sll_halen: 6,
            sll_addr: [1, 2, 3, 4, 5, 6, 0, 0],
        };
        for (tag, protocol) in [(None, [8, 0]), (Some([0x88, 0xa8, 0, 7]), [0x88, 0xa8])] {
            let seen = ReceivedFrame { len: 40, is_sent: true, at_nanos: None, tag, from };
            let mut buffer = buffer(&[]);
            let start = put_before(&mut buffer, &seen);
            let frame = &buffer[start..];
            assert_eq!(frame[..2], protocol);
            assert_eq!(frame[2..20], [0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0]);
            assert_eq!(ports(LinkType::LinuxSll2, frame), Some((5000, 80)), "{tag:?}");
        }
    }
}
