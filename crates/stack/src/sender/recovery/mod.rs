//! What a sender remembers of loss recovery, and the ways in which stacks find losses.

mod duplicates;
mod evidence;
mod rack;
mod reordering;
mod sack;

use self::duplicates::{NewReno, Reno, TimerOnly};
pub(super) use self::evidence::{Evidence, LossRecovery, News};
use self::rack::Rack;
pub(super) use self::reordering::Reordering;
use self::sack::Sack;
use crate::config::{self, Detection};

/// Loss recovery.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) method: Box<dyn LossRecovery>,
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
            method: method(config, false),
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

/// The method that `config` asks for; without SACK, SACK and RACK fall back to NewReno.
pub(super) fn method(config: &config::Recovery, sack: bool) -> Box<dyn LossRecovery> {
    match config.detection {
        Detection::TimerOnly => Box::new(TimerOnly),
        Detection::Reno => Box::new(Reno),
        Detection::Sack if sack => {
            Box::new(Sack { duplicates: config.counts_duplicates.then_some(config.dupthresh) })
        }
        Detection::Rack if sack => Box::new(Rack::default()),
        _ => Box::new(NewReno),
    }
}

/// Segments counted since a window reduction began.
#[derive(Debug, Default)]
pub(super) struct Reduction {
    /// Delivered (`prr_delivered`).
    pub(super) delivered: u32,
    /// Sent (`prr_out`).
    pub(super) sent: u32,
    /// What xnu allows beyond what was sent: one, and one more for each duplicate ACK.
    pub(super) earned: u32,
}

/// The tail loss probe outstanding (RFC 8985 section 7).
#[derive(Debug, Default)]
pub(super) struct LossProbe {
    /// Where new data began when it was sent (`tlp_high_seq`); `None`: no probe.
    pub(super) high: Option<u64>,
    /// Whether it retransmitted a segment.
    pub(super) retransmits: bool,
}
