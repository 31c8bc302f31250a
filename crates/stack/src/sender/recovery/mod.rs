//! What a sender remembers of loss recovery, and the ways in which stacks find losses.

mod duplicates;
mod evidence;
mod loss_probe;
mod method;
mod rack;
mod reduction;
mod reordering;
mod sack;

pub(super) use self::evidence::{Evidence, LossRecovery, News};
pub(super) use self::loss_probe::LossProbe;
pub(super) use self::method::Method;
pub(super) use self::reduction::Reduction;
pub(super) use self::reordering::Reordering;
use crate::config;

/// Loss recovery.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) method: Method,
    /// The highest position sent when recovery began (`high_seq`).
    pub(super) high: u64,
    /// Duplicate ACKs in a row.
    pub(super) duplicates: u32,
    /// Whether the peer discarded SACKed data in this recovery (RFC 2018 section 8).
    pub(super) reneged: bool,
    /// Whether a timeout may prove spurious (F-RTO).
    pub(super) frto: bool,
    /// D-SACKs received.
    pub(super) dsacks: u64,
    pub(super) reduction: Reduction,
    pub(super) reordering: Reordering,
    pub(super) loss_probe: LossProbe,
}

impl Recovery {
    pub(super) fn new(config: &config::Recovery) -> Recovery {
        Recovery {
            method: Method::new(config, false),
            high: 1,
            duplicates: 0,
            reneged: false,
            frto: false,
            dsacks: 0,
            reduction: Reduction::default(),
            reordering: Reordering::new(config),
            loss_probe: LossProbe::default(),
        }
    }
}
