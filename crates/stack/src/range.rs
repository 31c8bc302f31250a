//! What settings a stack can have, where their types allow more.

use tcplab_units::Bytes;

use crate::Config;

/// The largest buffer or window: Linux keeps their sizes as an `int` (`sysctl_tcp_rmem`).
pub(crate) const MOST_MEMORY: Bytes = Bytes::new(i32::MAX as u64);
/// A whole, in 256ths.
const WHOLE: u32 = 256;

impl Config {
    /// Whether all settings are in their ranges.
    ///
    /// # Errors
    /// Which one is not, in words.
    pub fn check(&self) -> Result<(), String> {
        let (sending, receiving) = (&self.sending, &self.receiving);
        let asked = [sending.most_asked, receiving.most_asked];
        let sizes = sending.buffer.into_iter().chain(receiving.buffer).chain(asked);
        if sizes.chain(receiving.most_window).any(|size| size > MOST_MEMORY) {
            return Err(format!("buffers and windows have at most {} B", MOST_MEMORY.as_u64()));
        }
        if !(1..=WHOLE).contains(&receiving.window_share) {
            return Err(format!("`window_share` is from 1 to {WHOLE}"));
        }
        Ok(())
    }
}
