//! Findings about a connection, each with the packets that prove it.
//!
//! One rule per file; its head gives statement, importance, evidence, false positives, reference.
//!
//! Most rules need no stored packets, only the sums ([`Rule::needs_packets`]).

use tcplab_trace::Connection;

pub mod accept_queue;
pub mod application_limited;
pub mod capture_gaps;
pub mod captured_twice;
pub mod chatty_application;
pub mod congestion_marks;
pub mod delay_spikes;
pub mod delayed_acks;
mod direction;
pub mod fast_open;
mod finding;
pub mod flight_limited;
pub mod forged_reset;
pub mod half_closed;
pub mod link_retries;
pub mod loss_rate;
pub mod lost_retransmissions;
pub mod midstream;
pub mod nagle_delay;
pub mod network_duplicates;
pub mod no_reaction;
pub mod no_sack;
pub mod no_timestamps;
pub mod not_opened;
pub mod one_direction;
pub mod path_full;
pub mod path_mtu;
pub mod peer_silent;
pub mod policer;
pub mod recovery_episode;
pub mod reordering;
pub mod reset;
mod rule;
pub mod sack_unsent;
pub mod segment_size;
pub mod send_buffer;
pub mod silly_window;
pub mod slow_answers;
pub mod slow_start;
pub mod small_segments;
pub mod spurious_retransmissions;
pub mod standing_queue;
mod story;
pub mod syn_retransmitted;
pub mod tail_loss;
pub mod timeout_backoff;
pub mod timeouts;
pub mod timestamps_misread;
pub mod timestamps_reversed;
pub mod window_limited;
pub mod window_scaling;
pub mod window_shrunk;
mod words;
pub mod zero_window;

#[cfg(test)]
mod tests;

use direction::{Direction, is_share};
use finding::Shown;
pub use finding::{Cost, Finding, Severity, worst_first};
pub use rule::Rule;
use rule::Test;
pub use story::story;

/// All rules: on the capture, the opening and closing, the limits, losses, the ends and the path.
pub const RULES: &[Rule] = &[
    capture_gaps::RULE,
    captured_twice::RULE,
    one_direction::RULE,
    midstream::RULE,
    not_opened::RULE,
    syn_retransmitted::RULE,
    accept_queue::RULE,
    fast_open::RULE,
    reset::RULE,
    forged_reset::RULE,
    half_closed::RULE,
    peer_silent::RULE,
    path_full::RULE,
    window_limited::RULE,
    window_scaling::RULE,
    zero_window::RULE,
    send_buffer::RULE,
    flight_limited::RULE,
    application_limited::RULE,
    slow_answers::RULE,
    chatty_application::RULE,
    slow_start::RULE,
    loss_rate::RULE,
    policer::RULE,
    recovery_episode::RULE,
    tail_loss::RULE,
    timeouts::RULE,
    no_reaction::RULE,
    timeout_backoff::RULE,
    lost_retransmissions::RULE,
    spurious_retransmissions::RULE,
    no_sack::RULE,
    sack_unsent::RULE,
    no_timestamps::RULE,
    timestamps_reversed::RULE,
    timestamps_misread::RULE,
    nagle_delay::RULE,
    small_segments::RULE,
    silly_window::RULE,
    window_shrunk::RULE,
    delayed_acks::RULE,
    segment_size::RULE,
    path_mtu::RULE,
    standing_queue::RULE,
    delay_spikes::RULE,
    reordering::RULE,
    network_duplicates::RULE,
    link_retries::RULE,
    congestion_marks::RULE,
];

/// The findings of all rules, in order of time; [`worst_first`] sorts them by weight.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    // The other rules need both directions.
    let of_one_end: &[Rule] = &[captured_twice::RULE, one_direction::RULE];
    let rules = if connection.one_way.is_some() { of_one_end } else { RULES };
    let mut findings: Vec<Finding> =
        rules.iter().flat_map(|rule| rule.examine(connection)).collect();
    peer_silent::leave_out_its_parts(&mut findings);
    accept_queue::leave_out_its_parts(connection, &mut findings);
    findings.sort_by_key(|finding| finding.at);
    findings
}
