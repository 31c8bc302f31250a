//! The structures of Linux on x86-64 as bytes: what `guests` run on.

use std::net::IpAddr;

use tcplab_recording::MessageBytes;
use tcplab_testbed::{CallArgument, CallMemory, GuestCall};

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// A call with numbers alone.
pub(crate) fn plain(name: &str, numbers: &[i64]) -> GuestCall {
    let arguments = numbers.iter().copied().map(CallArgument::Number).collect();
    GuestCall { name: name.into(), arguments, ..GuestCall::default() }
}

/// A region with these bytes.
pub(crate) fn bytes(head: Vec<u8>) -> CallMemory {
    CallMemory { head: MessageBytes(head), ..CallMemory::default() }
}

/// A region of zeros.
pub(crate) fn zeros(zeros: u32) -> CallMemory {
    CallMemory { zeros, ..CallMemory::default() }
}

/// A region whose bytes are wanted after the call.
pub(crate) fn returned(memory: CallMemory) -> CallMemory {
    CallMemory { is_returned: true, ..memory }
}

/// `struct sockaddr_in`, or `struct sockaddr_in6`, there with an IPv4 address as an IPv6 one that
/// is mapped.
pub(crate) fn socket_address(address: IpAddr, port: u16, is_v6: bool) -> Vec<u8> {
    let port = port.to_be_bytes();
    let octets = match address {
        IpAddr::V4(address) if !is_v6 => {
            let octets = address.octets();
            return [&AF_INET.to_ne_bytes()[..], &port, &octets, &[0; 8]].concat();
        }
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    // Flow information before the address, the scope behind it.
    [&AF_INET6.to_ne_bytes()[..], &port, &[0; 4], &octets, &[0; 4]].concat()
}

/// `struct sockaddr` of AF_UNSPEC.
pub(crate) fn no_address() -> Vec<u8> {
    vec![0; 16]
}

/// Reads a number of four bytes.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<i64> {
    let four = bytes.get(at..)?.first_chunk()?;
    Some(i32::from_ne_bytes(*four).into())
}

/// Reads a number of eight bytes.
pub(crate) fn long(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Makes the regions of an array of `struct iovec`: the array is the first of them, at `base` of
/// the call's memory.
pub(crate) fn vectors(parts: &[CallMemory], base: usize) -> Vec<CallMemory> {
    let mut array = Vec::new();
    let mut pointers = Vec::new();
    for (nth, part) in parts.iter().enumerate() {
        pointers.push((array.len(), base + 1 + nth));
        array.extend([0; 8]);
        array.extend((part.head.0.len() as u64 + u64::from(part.zeros)).to_ne_bytes());
    }
    let mut regions = vec![CallMemory { pointers, ..bytes(array) }];
    regions.extend_from_slice(parts);
    regions
}

/// `struct msghdr`, with the regions of its vectors and of `control`, all in one list.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) memory: Vec<CallMemory>,
}

impl Message {
    /// Bytes of `struct msghdr`.
    pub(crate) const LEN: usize = 56;
    /// Where its control messages' length stands in it, and its flags.
    pub(crate) const CONTROL_LEN: usize = 40;
    pub(crate) const FLAGS: usize = 48;

    /// The header is region 0; `address` and `control` may be empty.
    pub(crate) fn new(parts: &[CallMemory], address: Vec<u8>, control: CallMemory) -> Message {
        const NAME: usize = 0;
        const NAME_LEN: usize = 8;
        const VECTORS: usize = 16;
        const VECTOR_COUNT: usize = 24;
        const CONTROL: usize = 32;
        let mut header = vec![0; Message::LEN];
        let mut put = |at: usize, value: usize| {
            header[at..at + 8].copy_from_slice(&(value as u64).to_ne_bytes());
        };
        let mut pointers = vec![(VECTORS, 1)];
        put(VECTOR_COUNT, parts.len());
        let mut regions = vectors(parts, 1);
        if !address.is_empty() {
            put(NAME_LEN, address.len());
            pointers.push((NAME, 1 + regions.len()));
            regions.push(bytes(address));
        }
        let control_len = control.head.0.len() + control.zeros as usize;
        if control_len > 0 {
            put(Message::CONTROL_LEN, control_len);
            pointers.push((CONTROL, 1 + regions.len()));
            regions.push(control);
        }
        let mut memory = vec![returned(CallMemory { pointers, ..bytes(header) })];
        memory.extend(regions);
        Message { memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_addresses_byte_by_byte() {
        let v4 = "192.168.0.1".parse().unwrap();
        let port = 8080;
        let expected = [2, 0, 0x1f, 0x90, 192, 168, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(socket_address(v4, port, false), expected);
        let mapped = socket_address(v4, port, true);
        assert_eq!((mapped.len(), mapped[0]), (28, 10));
        assert_eq!(mapped[18..24], [0xff, 0xff, 192, 168, 0, 1]);
    }

    #[test]
    fn message_points_to_its_parts() {
        let parts = [zeros(10), zeros(0), zeros(7)];
        let Message { memory } = Message::new(&parts, vec![1; 16], zeros(64));
        // The header, the array of three, the three, the address, the control messages.
        assert_eq!(memory.len(), 7);
        assert_eq!(memory[0].pointers, [(16, 1), (0, 5), (32, 6)]);
        assert_eq!(memory[1].pointers, [(0, 2), (16, 3), (32, 4)]);
        assert_eq!(long(&memory[0].head.0, 24), Some(3));
        assert_eq!(long(&memory[0].head.0, 8), Some(16));
        assert_eq!(long(&memory[0].head.0, Message::CONTROL_LEN), Some(64));
        assert_eq!(long(&memory[1].head.0, 8), Some(10));
        let Message { memory } = Message::new(&[], Vec::new(), zeros(0));
        assert_eq!((memory.len(), memory[0].pointers.len()), (2, 1));
    }
}
