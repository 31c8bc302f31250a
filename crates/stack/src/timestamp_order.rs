//! The byte order of the timestamps option, and faults in it.

use schemars::JsonSchema;
use serde::Deserialize;

/// The byte order in which a stack writes and reads the timestamps option (RFC 7323 section 3.2).
/// Hosts are taken to be little-endian, as x86 and most ARM are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimestampOrder {
    /// Network byte order, as the RFC has it.
    #[default]
    Network,
    /// The peer's clock is read without conversion (Haiku before aaa7cebc24, `process_options`),
    /// and echoed so: the packets are right, but PAWS compares values whose bytes are reversed.
    ReadUnconverted,
    /// The own clock is written without conversion, and its echo read so: the peer's PAWS compares
    /// values whose bytes are reversed.
    SentUnconverted,
}

impl TimestampOrder {
    /// The peer's clock, as PAWS compares it.
    pub(crate) fn of_peer(self, value: u32) -> u32 {
        if self == TimestampOrder::ReadUnconverted { value.swap_bytes() } else { value }
    }

    /// The own clock as it stands in the packet, and an echo of it as the own clock.
    pub(crate) fn of_own(self, value: u32) -> u32 {
        if self == TimestampOrder::SentUnconverted { value.swap_bytes() } else { value }
    }
}
