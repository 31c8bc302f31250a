//! Findings about a connection, each with the packets that prove it.
//!
//! One rule per file. Its head says what the rule states, why that matters, the evidence, false
//! positives and the reference.
//!
//! Most rules read only the sums of a connection, so they work without stored packets; the others
//! say so ([`Rule::needs_packets`]).

use tcplab_trace::Connection;

pub mod application_limited;
pub mod capture_gaps;
pub mod captured_twice;
pub mod congestion_marks;
pub mod delay_spikes;
pub mod delayed_acks;
mod direction;
pub mod fast_open;
mod finding;
pub mod half_closed;
pub mod loss_rate;
pub mod lost_retransmissions;
pub mod nagle_delay;
pub mod network_duplicates;
pub mod no_sack;
pub mod no_timestamps;
pub mod not_opened;
pub mod path_full;
pub mod path_mtu;
pub mod recovery_episode;
pub mod reordering;
pub mod reset;
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
pub mod window_limited;
pub mod window_scaling;
pub mod window_shrunk;
mod words;
pub mod zero_window;

#[cfg(test)]
mod tests;

pub use finding::{Cost, Finding, Severity, worst_first};
pub use story::story;

/// A rule applied to every connection.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Whether it reads packets or recovery episodes: with sums alone it finds nothing.
    pub needs_packets: bool,
    /// Applies it.
    pub examine: fn(&Connection) -> Vec<Finding>,
}

impl Rule {
    const fn of_sums(name: &'static str, examine: fn(&Connection) -> Vec<Finding>) -> Rule {
        Rule { name, needs_packets: false, examine }
    }
    const fn of_packets(name: &'static str, examine: fn(&Connection) -> Vec<Finding>) -> Rule {
        Rule { name, needs_packets: true, examine }
    }
}

/// All rules: on the capture, the opening and closing, the limits, losses, the ends and the path.
pub const RULES: &[Rule] = &[
    Rule::of_sums(capture_gaps::NAME, capture_gaps::examine),
    Rule::of_sums(captured_twice::NAME, captured_twice::examine),
    Rule::of_sums(not_opened::NAME, not_opened::examine),
    Rule::of_sums(syn_retransmitted::NAME, syn_retransmitted::examine),
    Rule::of_sums(fast_open::NAME, fast_open::examine),
    Rule::of_sums(reset::NAME, reset::examine),
    Rule::of_sums(half_closed::NAME, half_closed::examine),
    Rule::of_sums(path_full::NAME, path_full::examine),
    Rule::of_sums(window_limited::NAME, window_limited::examine),
    Rule::of_sums(window_scaling::NAME, window_scaling::examine),
    Rule::of_sums(zero_window::NAME, zero_window::examine),
    Rule::of_sums(send_buffer::NAME, send_buffer::examine),
    Rule::of_sums(application_limited::NAME, application_limited::examine),
    Rule::of_sums(slow_answers::NAME, slow_answers::examine),
    Rule::of_sums(slow_start::NAME, slow_start::examine),
    Rule::of_sums(loss_rate::NAME, loss_rate::examine),
    Rule::of_packets(recovery_episode::NAME, recovery_episode::examine),
    Rule::of_sums(tail_loss::NAME, tail_loss::examine),
    Rule::of_sums(timeouts::NAME, timeouts::examine),
    Rule::of_sums(timeout_backoff::NAME, timeout_backoff::examine),
    Rule::of_sums(lost_retransmissions::NAME, lost_retransmissions::examine),
    Rule::of_sums(spurious_retransmissions::NAME, spurious_retransmissions::examine),
    Rule::of_sums(no_sack::NAME, no_sack::examine),
    Rule::of_sums(no_timestamps::NAME, no_timestamps::examine),
    Rule::of_sums(nagle_delay::NAME, nagle_delay::examine),
    Rule::of_sums(small_segments::NAME, small_segments::examine),
    Rule::of_sums(silly_window::NAME, silly_window::examine),
    Rule::of_sums(window_shrunk::NAME, window_shrunk::examine),
    Rule::of_sums(delayed_acks::NAME, delayed_acks::examine),
    Rule::of_sums(segment_size::NAME, segment_size::examine),
    Rule::of_sums(path_mtu::NAME, path_mtu::examine),
    Rule::of_sums(standing_queue::NAME, standing_queue::examine),
    Rule::of_sums(delay_spikes::NAME, delay_spikes::examine),
    Rule::of_sums(reordering::NAME, reordering::examine),
    Rule::of_sums(network_duplicates::NAME, network_duplicates::examine),
    Rule::of_sums(congestion_marks::NAME, congestion_marks::examine),
];

/// The findings of all rules, in order of time; [`worst_first`] sorts them by weight.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        RULES.iter().flat_map(|rule| (rule.examine)(connection)).collect();
    findings.sort_by_key(|finding| finding.at);
    findings
}
