//! Sequence numbers of both directions.

use tcplab_wire::SeqUnwrapper;

/// Sequence numbers as 64-bit positions: 0 is the SYN.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The own.
    pub(crate) own: SeqUnwrapper,
    /// The peer's, once its SYN was seen.
    pub(crate) peer: Option<SeqUnwrapper>,
}
