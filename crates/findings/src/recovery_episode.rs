//! # Recovery episode
//!
//! **What it says.** Segments were lost: how the sender detected the loss and recovered.
//!
//! **Why it matters.** During recovery the receiver's application gets nothing and the sender
//! slows down; a timeout makes recovery much longer.
//!
//! **Evidence.** The first lost segment, the evidence of loss, the ACK that covers all losses.
//!
//! **False positives.** At the receiver no episode is visible, and none is stated. If the ACK with
//! a D-SACK was lost, a segment that arrived may count as lost. The episode of a PMTU black hole is
//! another rule's (`path-mtu`).
//!
//! **Reference.** W. Wang et al., "Experimental Analysis of TCP Behaviors against Bursty Packet
//! Losses Caused by Transmission Interruption", section III; RFC 6675; RFC 8985.

use tcplab_trace::{Connection, Evidence};

use crate::path_mtu::BlackHole;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, Test, story};

/// The rule.
pub const RULE: Rule =
    Rule { name: "recovery-episode", needs_packets: true, test: Test::Any(in_connection) };

fn in_connection(connection: &Connection) -> Vec<Finding> {
    let mut findings = Vec::new();
    for direction in Direction::both(connection) {
        let hole = BlackHole::of(&direction);
        let is_of_hole = |(first, last): (u64, u64)| {
            let frames = hole.as_ref().map(|hole| &hole.frames);
            frames.is_some_and(|frames| frames.iter().all(|at| (first..=last).contains(at)))
        };
        let episodes = direction.flow.episodes.iter();
        for episode in episodes.filter(|episode| !is_of_hole(episode.frames)) {
            let evidence = match episode.evidence {
                Evidence::Sack { frame }
                | Evidence::DuplicateAcks { frame }
                | Evidence::PacketTooBig { frame }
                | Evidence::Timeout { frame }
                | Evidence::Probe { frame } => frame,
            };
            let frames = [episode.frames.0, evidence, episode.frames.1];
            let cost =
                Cost { time: episode.duration(connection.last), bytes: episode.retransmitted };
            let shown = Shown::in_frames(frames, episode.first_lost_sent);
            let found = shown.proves(RULE.name, Severity::Harm, cost);
            findings.push(found.stating(story(episode, direction.flow)));
        }
    }
    findings
}
