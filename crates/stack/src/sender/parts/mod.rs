//! What a sender remembers, one topic a file. None of these knows the sender.

mod alarm;
mod congestion;
mod output;
mod pacing;
mod path_mtu;
mod peer;
mod rate;
mod undo;

pub(super) use alarm::{Alarm, Purpose};
pub(super) use congestion::Congestion;
pub(crate) use output::Counters;
pub(super) use output::{Output, Retransmit};
pub(super) use pacing::Pacing;
pub(super) use path_mtu::PathMtu;
pub(super) use peer::{Peer, WindowProbe};
pub(crate) use rate::DeliveryRate;
pub(super) use rate::{Delivered, Delivery, RateMeter};
pub(super) use undo::{BadRetransmit, Undo};
