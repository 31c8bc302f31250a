//! Fixed-point units of BBR.

/// Bandwidth is counted in segments a microsecond, in 2⁻²⁴ (`BW_SCALE`), below 2³² of them.
pub(super) const BW_SHIFT: u32 = 24;
pub(super) const BW_UNIT: u64 = 1 << BW_SHIFT;
/// Gains are counted in 256ths (`BBR_SCALE`).
pub(super) const SHIFT: u32 = 8;
pub(super) const UNIT: u64 = 1 << SHIFT;
/// BBR paces this many per cent below the bandwidth (`bbr_pacing_margin_percent`).
const MARGIN_PERCENT: u128 = 1;

/// Segments that come in `micros` µs at `bandwidth`; more than an hour counts as that.
pub(super) fn segments_in(bandwidth: u64, micros: u64) -> u64 {
    (bandwidth * micros.min(u32::MAX.into())) >> BW_SHIFT
}

/// `bbr_rate_bytes_per_sec`.
pub(super) fn bytes_per_second(bandwidth: u64, mss: u32, gain: u64) -> u64 {
    let scaled = (u128::from(bandwidth * u64::from(mss)) * u128::from(gain)) >> SHIFT;
    let rate = (scaled * 10_000 * (100 - MARGIN_PERCENT)) >> BW_SHIFT;
    u64::try_from(rate).unwrap_or(u64::MAX)
}
