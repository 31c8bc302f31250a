//! Packets and messages in the memory that is shared with a guest.
//!
//! The layout is that of the kernel's driver (`tcplab.c` beside the patches of `kernels`):
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 4,095 | `struct um_timetravel_schedshm` of the kernel's `um_timetravel.h` |
//! | 4,096 to 4,351 | what the owner of the clock and the guest say of themselves there |
//! | 8,192 | the head of the rings |
//! | 12,288 | the ring of what the guest sends, then that of what it gets, [`RING_SIZE`] each |
//!
//! A record is a header of [`UNIT`] bytes and its content, padded to a multiple of that. A record
//! does not wrap: one of kind 0 in its place says that the ring continues at its beginning.

use std::io;

use tcplab_units::{Instant, Span};
use tcplab_wire::offload::VnetHeader;

use crate::memory::SharedMemory;

/// Where the head of the rings is.
const AREA: usize = 8192;
/// `AREA_MAGIC`: "TPLINK01".
const MAGIC: u64 = 0x3130_4b4e_494c_5054;
/// Where in the head these are.
const RESPONSE: usize = AREA + 8;
const SENT_HEAD: usize = AREA + 16;
const SENT_TAIL: usize = AREA + 24;
const ARRIVED_HEAD: usize = AREA + 32;
const ARRIVED_TAIL: usize = AREA + 40;
const DROPPED: usize = AREA + 48;
const FEATURES: usize = AREA + 56;
/// The guest may leave cutting large segments to the path.
const FEATURE_TSO: u64 = 1;

const SENT_RING: usize = AREA + 4096;
/// Bytes in each direction.
const RING_SIZE: usize = 4 << 20;
const ARRIVED_RING: usize = SENT_RING + RING_SIZE;
/// Records begin at multiples of this; it is the size of their header.
const UNIT: usize = 32;
/// The longest content of a record, in bytes.
const LONGEST: usize = 96 << 10;

/// Bytes of memory that all of it takes.
pub(crate) const SIZE: usize = ARRIVED_RING + RING_SIZE;

const SKIP: u16 = 0;
const PACKET: u16 = 1;
const MESSAGE: u16 = 2;
const STATE: u16 = 3;

/// The checksum of this packet need not be looked at.
const FLAG_CHECKED: u16 = 1;

/// What a guest has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// An IP packet or super-packet, with what was left undone on it.
    Packet(VnetHeader, Vec<u8>),
    /// A message of its first process.
    Message(Vec<u8>),
    /// The state of a socket that is watched: the watch, and a `struct tcp_info`.
    State(u64, Vec<u8>),
}

/// What a record that goes to a guest holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// A packet, and whether its checksum is known to be right.
    Packet(&'a [u8], bool),
    Message(&'a [u8]),
}

/// Makes the rings in memory that is all zero. An answer to what the guest sends comes `response`
/// later at the soonest.
pub(crate) fn lay_out(memory: &SharedMemory, cuts: bool, response: Span) {
    memory.write(RESPONSE, response.as_nanos());
    memory.write(FEATURES, if cuts { FEATURE_TSO } else { 0 });
    memory.write(AREA, MAGIC);
}

/// Takes the next record that the guest has sent, with when it did.
///
/// # Errors
/// What is wrong with the ring.
pub(crate) fn take(memory: &SharedMemory) -> Result<Option<(Instant, Record)>, String> {
    loop {
        let (head, tail) = (memory.read(SENT_HEAD), memory.read(SENT_TAIL));
        if head == tail {
            return Ok(None);
        }
        let at = (tail % RING_SIZE as u64) as usize;
        let there = head.wrapping_sub(tail);
        if there > RING_SIZE as u64 || !tail.is_multiple_of(UNIT as u64) {
            return Err(format!("a ring with {there} bytes in it at byte {at}"));
        }
        let mut header = [0; UNIT];
        memory.copy_out(SENT_RING + at, &mut header);
        let (time, length) = (number(&header), u32_at(&header, 8) as usize);
        let kind = u16::from_ne_bytes([header[12], header[13]]);
        let rest = RING_SIZE - at;
        if kind == SKIP {
            memory.write(SENT_TAIL, tail + rest as u64);
            continue;
        }
        let size = size_of(length);
        if length > LONGEST || size > rest || size as u64 > there {
            return Err(format!("a record of {length} bytes"));
        }
        let mut bytes = vec![0; length];
        memory.copy_out(SENT_RING + at + UNIT, &mut bytes);
        memory.write(SENT_TAIL, tail + size as u64);
        let record = match kind {
            PACKET => {
                let mut offload = [0; VnetHeader::LEN];
                offload.copy_from_slice(&header[16..16 + VnetHeader::LEN]);
                Record::Packet(VnetHeader::from_bytes(offload), bytes)
            }
            MESSAGE => Record::Message(bytes),
            STATE => match bytes.split_first_chunk() {
                Some((watch, info)) => Record::State(u64::from_ne_bytes(*watch), info.to_vec()),
                None => return Err(format!("a state of {length} bytes")),
            },
            kind => return Err(format!("a record of kind {kind}")),
        };
        return Ok(Some((Instant::from_nanos(time), record)));
    }
}

/// Puts a record into the ring, to arrive at `time`; whether there was room.
///
/// # Errors
/// When it is longer than any record.
pub(crate) fn put(memory: &SharedMemory, time: Instant, content: Content<'_>) -> io::Result<bool> {
    let (kind, flags, bytes) = match content {
        Content::Packet(bytes, checked) => (PACKET, if checked { FLAG_CHECKED } else { 0 }, bytes),
        Content::Message(bytes) => (MESSAGE, 0, bytes),
    };
    if bytes.len() > LONGEST {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (mut head, tail) = (memory.read(ARRIVED_HEAD), memory.read(ARRIVED_TAIL));
    let (size, at) = (size_of(bytes.len()), (head % RING_SIZE as u64) as usize);
    let rest = RING_SIZE - at;
    let skipped = if rest < size { rest } else { 0 };
    if head.wrapping_sub(tail) + (size + skipped) as u64 > RING_SIZE as u64 {
        return Ok(false);
    }
    if skipped > 0 {
        memory.copy_in(ARRIVED_RING + at, &[0; UNIT]);
        head += skipped as u64;
    }
    let at = ARRIVED_RING + (head % RING_SIZE as u64) as usize;
    let mut header = [0; UNIT];
    header[..8].copy_from_slice(&time.as_nanos().to_ne_bytes());
    header[8..12].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
    header[12..14].copy_from_slice(&kind.to_ne_bytes());
    header[14..16].copy_from_slice(&flags.to_ne_bytes());
    memory.copy_in(at, &header);
    memory.copy_in(at + UNIT, bytes);
    memory.write(ARRIVED_HEAD, head + size as u64);
    Ok(true)
}

/// Whether the guest has not taken all that it was handed.
pub(crate) fn holds_arrivals(memory: &SharedMemory) -> bool {
    memory.read(ARRIVED_HEAD) != memory.read(ARRIVED_TAIL)
}

/// Records that the guest had no room for.
pub(crate) fn dropped(memory: &SharedMemory) -> u64 {
    memory.read(DROPPED)
}

fn size_of(length: usize) -> usize {
    UNIT + length.next_multiple_of(UNIT)
}

fn number(header: &[u8; UNIT]) -> u64 {
    u64::from_ne_bytes(header[..8].try_into().expect("eight bytes"))
}

fn u32_at(header: &[u8; UNIT], at: usize) -> u32 {
    u32::from_ne_bytes(header[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests;
