//! The memory of Linux's packets besides their data (6.12 to 7.2, x86-64), bytes.

use crate::config::Sending;

/// `struct skb_shared_info` with 17 fragments, behind the data.
pub(crate) const SHARED_INFO: u64 = 320;
/// `struct sk_buff`, apart from the data.
pub(crate) const BUFFER: u64 = 256;
/// What is kept free for headers of links when packets are merged (`NET_SKB_PAD`,
/// `GRO_MAX_HEAD_PAD`).
const HEADROOM: u64 = 64;

/// The least block with headers (`SKB_SMALL_HEAD_CACHE_SIZE`, for which the longest header of a
/// link counts): 576 of a kernel without wireless LANs and tunnels, as /proc/slabinfo says on 6.18;
/// 704 with them.
pub(crate) fn small_block(sending: &Sending) -> u64 {
    u64::from(sending.header_room) + HEADROOM + SHARED_INFO
}

/// What a full segment of `mss` bytes is reckoned to take (`SKB_TRUESIZE`).
pub(crate) fn of_segment(header_room: u32, mss: u32) -> u64 {
    u64::from(mss) + u64::from(header_room) + SHARED_INFO + BUFFER
}

/// What a buffer of data to send is charged besides its data.
pub(crate) fn of_sent(sending: &Sending) -> u64 {
    let block = if sending.small_blocks {
        small_block(sending)
    } else {
        (u64::from(sending.header_room) + SHARED_INFO).next_power_of_two()
    };
    block + BUFFER
}
