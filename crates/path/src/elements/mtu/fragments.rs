//! Cutting an IPv4 packet into fragments, as routers do.

use tcplab_wire::checksum;

/// Whether the option is copied into every fragment (RFC 791 section 3.1: the first bit).
const COPIED: u8 = 0x80;
/// Options that are one byte long: the end of the list, and no operation.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;

const MORE: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;

/// Cuts `packet`, which is longer than `mtu`, into fragments of at most `mtu` bytes each (RFC 791
/// section 3.2). A fragment can be cut again.
///
/// The header must be valid, as [`header_len`](tcplab_wire::IpPacket::header_len) checks it, and
/// `mtu` at least 68, for a header of 60 bytes and 8 of data.
pub(super) fn cut(packet: &[u8], header_len: usize, mtu: usize) -> Vec<Vec<u8>> {
    let (header, data) = packet.split_at(header_len);
    let field = u16::from_be_bytes([header[6], header[7]]);
    let (flags, first) = (field & !OFFSET, field & OFFSET);
    let mut header = header.to_vec();
    let mut fragments = Vec::new();
    let mut done = 0;
    while done < data.len() {
        let left = data.len() - done;
        let room = mtu - header.len();
        // Offsets count eights, so all but the last piece are made of these.
        let (len, more) = if left <= room { (left, 0) } else { (room / 8 * 8, MORE) };
        let mut fragment = Vec::with_capacity(header.len() + len);
        fragment.extend_from_slice(&header);
        fragment.extend_from_slice(&data[done..done + len]);
        // What was in the middle of a packet before still has more behind its last piece. Only in a
        // packet that claims to be longer than any can be is the offset too large for its field.
        let field = flags | more | ((first + (done / 8) as u16) & OFFSET);
        complete(&mut fragment, header.len(), field);
        fragments.push(fragment);
        if done == 0 {
            header = later_header(&header);
        }
        done += len;
    }
    fragments
}

/// Where the data of a fragment begin in those of the whole packet, in bytes.
pub(super) fn offset(fragment: &[u8]) -> u16 {
    (u16::from_be_bytes([fragment[6], fragment[7]]) & OFFSET) * 8
}

/// The header of all fragments but the first: with those options only that are copied.
fn later_header(header: &[u8]) -> Vec<u8> {
    let mut later = header[..20].to_vec();
    let mut options = &header[20..];
    while let Some((&kind, rest)) = options.split_first() {
        let len = match kind {
            END => break,
            NO_OPERATION => 1,
            // One that is shorter than its own kind and length, or longer than the header, ends
            // what can be read.
            _ => match rest.first() {
                Some(&len) if len >= 2 && usize::from(len) <= options.len() => usize::from(len),
                _ => break,
            },
        };
        if kind & COPIED != 0 {
            later.extend_from_slice(&options[..len]);
        }
        options = &options[len..];
    }
    later.resize(later.len().next_multiple_of(4), END);
    later[0] = 0x40 | (later.len() / 4) as u8;
    later
}

/// Writes length, flags and offset, and checksum.
fn complete(fragment: &mut [u8], header_len: usize, flags_and_offset: u16) {
    let len = fragment.len() as u16;
    fragment[2..4].copy_from_slice(&len.to_be_bytes());
    fragment[6..8].copy_from_slice(&flags_and_offset.to_be_bytes());
    fragment[10..12].fill(0);
    let sum = checksum::internet(&fragment[..header_len]);
    fragment[10..12].copy_from_slice(&sum.to_be_bytes());
}
