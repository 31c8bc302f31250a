//! How large the packets are that Linux hands to the network card to be cut.

use tcplab_units::Span;

/// They take 2¹⁰ µs at the pacing rate (`tcp_tso_autosize`), which is 1.2 windows per RTT, two in
/// slow start (`tcp_update_pacing_rate`), until the next check. Nanoseconds times rate.
const TIME: u64 = 1_228_800;
const TIME_GROWING: u64 = 4_096_000;
/// On short paths they are longer by this, halved per 2⁹ µs of the least RTT (`tcp_tso_rtt_log`).
const NEAR: u64 = 65_536;
/// They never hold less, in segments (`tcp_min_tso_segs`).
pub(crate) const LEAST_CHUNK: u64 = 2;

/// Their bytes, by the congestion window in bytes and the smoothed and the least RTT.
pub(crate) fn autosize(window: u64, by_leaps: bool, smoothed: Span, least: Span) -> u64 {
    let time = if by_leaps { TIME_GROWING } else { TIME };
    let paced = window.saturating_mul(time).checked_div(smoothed.as_nanos());
    let halvings = (least.as_micros() >> 9).try_into().unwrap_or(u32::MAX);
    let near = NEAR.checked_shr(halvings).unwrap_or(0);
    paced.unwrap_or(0).saturating_add(near)
}
