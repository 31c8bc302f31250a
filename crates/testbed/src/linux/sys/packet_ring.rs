//! A ring of memory that the kernel writes packets into as they pass (packet(7), PACKET_RX_RING).
#![expect(unsafe_code, reason = "system calls, and memory shared with the kernel")]

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::SocketType;

use super::{bind_packet_socket, packet_drops, set_option, unbound_packet_socket};

/// All of it. Of packets cut to 128 B it holds 262,144.
const RING: usize = 64 << 20;
/// The kernel allots it in pieces of at least this.
const BLOCK: usize = 64 << 10;
/// The bytes before a packet in its slot: the header (`TPACKET2_HDRLEN`, aligned) and room for
/// that of the link (net/packet/af_packet.c, `tpacket_rcv`).
const BEFORE: usize = 80;

/// A packet socket with truncated packets in shared memory: it costs sender and receiver one short
/// copy per packet, and no wake-up.
pub(crate) struct PacketRing {
    socket: OwnedFd,
    memory: NonNull<u8>,
    slot: usize,
    slots: usize,
    next: usize,
    dropped: u64,
}

/// A packet that passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ringed<'a> {
    /// Whether it was on its way out.
    pub(crate) is_sent: bool,
    /// In nanoseconds since the Unix epoch.
    pub(crate) at_nanos: u64,
    /// Whether the kernel has left its checksum to a network card.
    pub(crate) is_unsummed: bool,
    /// How long it was, from its IP header on.
    pub(crate) len: usize,
    /// As much of that as there is room for.
    pub(crate) bytes: &'a [u8],
}

impl PacketRing {
    /// Beside an interface of the calling thread's namespace, for packets of one EtherType, of
    /// which at least the first `keep` bytes are wanted.
    pub(crate) fn open(interface: u32, ether_type: u16, keep: usize) -> io::Result<PacketRing> {
        let socket = unbound_packet_socket(SocketType::RAW)?;
        let fd = socket.as_fd();
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set_option(fd, libc::SOL_PACKET, libc::PACKET_VERSION, version)?;
        let slot = (BEFORE + keep).next_power_of_two();
        let block = BLOCK.max(slot);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (RING / block) as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: (RING / slot) as u32,
        };
        set_option(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, request)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of the ring's whole length, at a place that the kernel chooses.
        let memory = unsafe {
            libc::mmap(ptr::null_mut(), RING, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        let memory = match NonNull::new(memory.cast::<u8>()) {
            Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => memory,
            _ => return Err(io::Error::last_os_error()),
        };
        let slots = RING / slot;
        let ring = PacketRing { socket, memory, slot, slots, next: 0, dropped: 0 };
        bind_packet_socket(ring.socket.as_fd(), interface, ether_type)?;
        Ok(ring)
    }

    /// Shows `look` the next packet, and then leaves its place to the kernel again; false when none
    /// waits.
    pub(crate) fn take(&mut self, look: impl FnOnce(Ringed<'_>)) -> bool {
        // SAFETY: the slot lies within the mapping, which lives as long as `self`.
        let slot = unsafe { self.memory.as_ptr().add(self.next * self.slot) };
        let at_status = offset_of!(libc::tpacket2_hdr, tp_status);
        // SAFETY: slots are aligned to their size, a power of two; a word that the kernel also
        // writes is only touched atomically.
        let status = unsafe { AtomicU32::from_ptr(slot.add(at_status).cast()) };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: as the status says, the slot is ours until it is given back below: the kernel has
        // written the header and, behind it, the address (`TPACKET2_HDRLEN`).
        let (header, address) = unsafe {
            let behind = size_of::<libc::tpacket2_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT);
            let address = slot.add(behind).cast::<libc::sockaddr_ll>().read_unaligned();
            (slot.cast::<libc::tpacket2_hdr>().read_unaligned(), address)
        };
        let link = usize::from(header.tp_net - header.tp_mac);
        let (len, here) = (header.tp_len as usize, header.tp_snaplen as usize);
        let (from, count) = (usize::from(header.tp_net), here.saturating_sub(link));
        let count = count.min(self.slot.saturating_sub(from));
        // SAFETY: these bytes lie within the slot, which is ours.
        let bytes = unsafe { slice::from_raw_parts(slot.add(from), count) };
        look(Ringed {
            is_sent: address.sll_pkttype == libc::PACKET_OUTGOING,
            at_nanos: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            is_unsummed: flags & libc::TP_STATUS_CSUMNOTREADY != 0,
            len: len.saturating_sub(link),
            bytes,
        });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
        true
    }

    /// Packets that found no room, from the beginning.
    pub(crate) fn dropped(&mut self) -> u64 {
        self.dropped += packet_drops(self.socket.as_fd()).unwrap_or_default();
        self.dropped
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: mapped when the ring was opened, and no longer in use.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), RING) };
    }
}
