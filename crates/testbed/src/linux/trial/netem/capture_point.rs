//! What passes a device, both ways, as the kernel hands it on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use tcplab_wire::offload::VnetHeader;

use crate::device::{LARGEST, interface_index};
use crate::{TrialError, sys};

/// Every EtherType (`ETH_P_ALL`): the only way to see what goes out, too.
const EVERY_TYPE: u16 = 3;
const ETHERNET: usize = 14;
/// EtherType of IPv4, where an Ethernet header has it.
const IPV4: [u8; 2] = [0x08, 0x00];

/// A packet socket beside a device.
pub(super) struct CapturePoint {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// A packet that passed.
pub(super) struct Passed<'a> {
    pub(super) is_sent: bool,
    /// In nanoseconds since the Unix epoch, if the kernel noted it.
    pub(super) at_nanos: Option<u64>,
    pub(super) header: VnetHeader,
    /// From its IP header on.
    pub(super) packet: &'a [u8],
}

impl CapturePoint {
    /// Beside the device `name` of the calling thread's namespace.
    pub(super) fn open(name: &str) -> Result<CapturePoint, TrialError> {
        let failed = || TrialError::setup("open a packet socket beside an endpoint");
        let index = interface_index(name)?;
        let socket = sys::packet_socket(index, EVERY_TYPE).map_err(failed())?;
        sys::note_times(socket.as_fd()).map_err(failed())?;
        Ok(CapturePoint { socket, buffer: vec![0; LARGEST + ETHERNET] })
    }

    /// The next IPv4 packet that passed; none when nothing waits.
    pub(super) fn receive(&mut self) -> io::Result<Option<Passed<'_>>> {
        loop {
            let mut header = [0; VnetHeader::LEN];
            let socket = self.socket.as_fd();
            let Some(seen) = sys::receive_frame(socket, &mut header, &mut self.buffer)? else {
                return Ok(None);
            };
            let frame = seen.len.saturating_sub(VnetHeader::LEN).min(self.buffer.len());
            if frame < ETHERNET || self.buffer[ETHERNET - 2..ETHERNET] != IPV4 {
                continue;
            }
            let mut header = VnetHeader::from_bytes(header);
            header.csum_start = header.csum_start.saturating_sub(ETHERNET as u16);
            return Ok(Some(Passed {
                is_sent: seen.is_sent,
                at_nanos: seen.at_nanos,
                header,
                packet: &self.buffer[ETHERNET..frame],
            }));
        }
    }

    /// Packets that found no room in the socket.
    pub(super) fn unread(&self) -> u64 {
        sys::packet_drops(self.socket.as_fd()).unwrap_or_default()
    }
}

impl AsFd for CapturePoint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
