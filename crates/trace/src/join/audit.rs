//! Checks the analysis of one capture against two joined ones.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use tcplab_units::Endpoint;

use super::{Audit, Crossing, Joined, JoinedConnection};
use crate::{Connection, Episode, FlowId, Segment, Sink, Spurious};

/// The retransmissions and losses that the analysis of one capture claims.
#[derive(Debug, Default)]
pub struct Claims {
    open: BTreeMap<usize, [Claim; 2]>,
    done: BTreeMap<(SocketAddr, SocketAddr, u64), [Claim; 2]>,
}

#[derive(Debug, Default)]
struct Claim {
    /// Frames with whether they were spurious.
    retransmissions: BTreeMap<u64, bool>,
    lost: BTreeSet<u64>,
}

impl Claims {
    fn of(&mut self, flow: FlowId) -> &mut Claim {
        &mut self.open.entry(flow.connection).or_default()[usize::from(!flow.forward)]
    }
}

impl Sink for Claims {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        let syn = segment.range.start.as_u64() == 0;
        if segment.kind.is_retransmission() && !syn {
            let spurious = segment.proof.spurious.is_some();
            self.of(flow).retransmissions.insert(segment.frame, spurious);
        }
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        let frames = episode.lost.iter().map(|lost| lost.frame);
        self.of(flow).lost.extend(frames);
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, _why: Spurious) {
        if let Some(spurious) = self.of(flow).retransmissions.get_mut(&frame) {
            *spurious = true;
        }
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        if let Some(claims) = self.open.remove(&index) {
            let name = (connection.client, connection.server, connection.frames.0);
            self.done.insert(name, claims);
        }
    }
}

/// Compares the claims of the analyses of both captures (client's, server's), each about the data
/// sent beside it, with the joined captures. Frames beyond the listed ones do not count.
pub fn audit(joined: &Joined, claims: &[Claims; 2]) -> Audit {
    let mut audit = Audit::default();
    let nothing = Claim::default();
    for connection in &joined.connections {
        for forward in [true, false] {
            let crossing = if forward { &connection.forward } else { &connection.reverse };
            let side = sender_side(connection, forward);
            let first = connection.first_frames[side.index()];
            let name = first.map(|first| (connection.client, connection.server, first));
            let claimed = name.and_then(|name| claims[side.index()].done.get(&name));
            let claim = claimed.map_or(&nothing, |both| &both[usize::from(!forward)]);
            audit.retransmissions(crossing, claim);
            audit.losses(crossing, claim);
        }
    }
    audit
}

/// The capture point on the side of the end that sends.
fn sender_side(connection: &JoinedConnection, forward: bool) -> Endpoint {
    if forward { connection.client_at } else { connection.client_at.other() }
}

/// Frames up to this one are listed, of so many in all.
fn listed(count: u64, last: Option<u64>) -> u64 {
    if count > Crossing::LISTED as u64 { last.unwrap_or(0) } else { u64::MAX }
}

impl Audit {
    fn retransmissions(&mut self, crossing: &Crossing, claim: &Claim) {
        let last =
            listed(crossing.retransmissions, crossing.retransmission_list.last().map(|r| r.frame));
        let truth: BTreeMap<u64, bool> = crossing
            .retransmission_list
            .iter()
            .map(|repeat| (repeat.frame, repeat.needed))
            .collect();
        for (frame, needed) in &truth {
            match (claim.retransmissions.get(frame), needed) {
                (Some(false), true) => self.needed += 1,
                (Some(true), false) => self.spurious += 1,
                (Some(true), true) => self.falsely_spurious += 1,
                (Some(false), false) => self.spurious_unreported += 1,
                (None, _) => self.retransmissions_missed += 1,
            }
        }
        let invented =
            claim.retransmissions.keys().filter(|f| **f <= last && !truth.contains_key(f));
        self.retransmissions_false += invented.count() as u64;
    }

    fn losses(&mut self, crossing: &Crossing, claim: &Claim) {
        let last = listed(crossing.lost, crossing.losses.last().map(|loss| loss.frame));
        let in_sequence = crossing.losses.iter().filter(|loss| loss.takes_room);
        let truth: BTreeSet<u64> = in_sequence.map(|loss| loss.frame).collect();
        let found = truth.intersection(&claim.lost).count() as u64;
        self.losses_found += found;
        self.losses_missed += truth.len() as u64 - found;
        let invented = claim.lost.iter().filter(|f| **f <= last && !truth.contains(f));
        self.losses_false += invented.count() as u64;
    }
}
