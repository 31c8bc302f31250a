//! What a segment takes of a receive buffer.

/// Structures of a packet in Linux (x86-64): `struct sk_buff`, and `struct skb_shared_info` behind
/// its bytes.
const PACKET: u64 = 256;
const SHARED_INFO: u64 = 320;
/// Bytes of a packet are aligned to cache lines (`SKB_DATA_ALIGN`).
const LINE: u64 = 64;
/// Small packets come from a cache of their own (`SKB_SMALL_HEAD_CACHE_SIZE`).
const SMALL: u64 = 640;

/// What a segment of `len` bytes is charged (`skb->truesize`), with so many bytes around its data;
/// where nothing is around it, data alone counts.
///
/// A packet from a TUN device lies in memory of its own (`tun_alloc_skb`, `__alloc_skb`), of which
/// the allocator has powers of two (`kmalloc_size_roundup`): all of it is charged. A full segment
/// of 1448 bytes takes 2048 and 256.
pub(super) fn of_segment(len: u32, around: u32) -> u64 {
    if around == 0 {
        return len.into();
    }
    let head = u64::from(len + around).next_multiple_of(LINE) + SHARED_INFO;
    PACKET + if head <= SMALL { SMALL } else { head.next_power_of_two() }
}

/// What the structures of a packet take that holds several segments together (`tcp_collapse`).
pub(super) fn of_structures(around: u32) -> u64 {
    if around == 0 { 0 } else { PACKET + SHARED_INFO }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, one byte, the last of each size, and full segments: the window that it offers
    /// of a buffer of 724,992 bytes, 453,120, is 160 of 256, as 1448 are of 2304.
    #[test]
    fn memory_comes_in_powers_of_two() {
        for (len, memory) in [(1, 896), (204, 896), (205, 1_280), (588, 1_280), (589, 2_304)] {
            assert_eq!(of_segment(len, 116), memory, "{len}");
        }
        assert_eq!(of_segment(1_448, 116), 2_304);
        assert_eq!(724_992 * ((1_448 << 8) / of_segment(1_448, 116)) / 256, 453_120);
        assert_eq!((of_segment(1_448, 0), of_structures(0)), (1_448, 0));
    }
}
