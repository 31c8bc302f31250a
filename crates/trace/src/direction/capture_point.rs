//! Locates the capture point between sender and receiver.
//!
//! The time from a packet towards an endpoint to its answer is the distance to that endpoint, both
//! ways. Two sources: the two halves of the handshake, and timestamps, which every packet echoes
//! (RFC 7323 section 3). The minimum counts, since an answer may wait for data or a delayed ACK.
//! This works without a handshake and with data in one direction.
//!
//! Where neither was captured, the least time from data to their ACK is no shorter than the
//! distance. An end that answers at once and is no router away is where the capture point is, if
//! the other end takes far longer behind routers: a receiver on the same network may only delay its
//! ACKs.
//!
//! Otherwise gaps decide: at the sender nothing is out of order or lost before the capture point.

use tcplab_units::{Instant, Span};

use super::sender_clock::OwnClock;
use crate::fold::folded;
use crate::packet::Packet;
use crate::{CapturePoint, Confidence};

/// By this factor one endpoint must be nearer to count as the capture point's.
const NEARER: u64 = 4;
/// By this factor it is certain.
const FAR_NEARER: u64 = 20;
/// Shorter times measure host load, not distance.
const MEASURABLE: Span = Span::from_micros(200);
/// Beside the sender its reaction takes less, unless there is a network between.
const SLOW_HOST: Span = Span::from_millis(1);
/// The most echoes timed per endpoint.
const ECHOES: u8 = 64;
/// The TTLs (hop limits) with which systems send. Each router takes one off.
const INITIAL_TTLS: [u8; 4] = [32, 64, 128, 255];

/// The distances of both endpoints from the capture point.
#[derive(Debug, Default)]
pub(crate) struct Distances {
    client: Distance,
    server: Distance,
    /// The timestamp clocks of client and server.
    clocks: [OwnClock; 2],
    /// The TTLs of the latest packets of client and server, where nothing else shows distances.
    ttls: [u8; 2],
}
folded! { Distances { client, server, clocks, ttls } }

/// The round trip to one endpoint.
#[derive(Debug, Default)]
struct Distance {
    least: Option<Span>,
    echoes: u8,
    /// The last timestamp sent there.
    clock: Option<u32>,
    /// The timestamp awaiting its echo, and when it first passed.
    awaited: Option<(u32, Instant)>,
}
folded! { Distance { least, echoes, clock, awaited } }

impl Distances {
    /// Uses the timestamps of a packet; returns whether its sender is nearer than known before.
    #[inline(always)]
    pub(crate) fn packet(&mut self, packet: &Packet, forward: bool) -> bool {
        let Some((value, echo)) = packet.timestamps else { return false };
        self.clocks[usize::from(!forward)].passed(value, packet.at);
        let (towards, from) = if forward {
            (&mut self.server, &mut self.client)
        } else {
            (&mut self.client, &mut self.server)
        };
        if towards.echoes < ECHOES {
            towards.sent(value, packet.at, packet.syn());
        }
        match from.awaited {
            Some((clock, since)) => from.echoed(clock, since, echo, packet.at),
            None => false,
        }
    }

    /// The timestamp clock of a direction's sender.
    pub(crate) fn clock(&self, forward: bool) -> &OwnClock {
        &self.clocks[usize::from(!forward)]
    }

    /// The halves of the handshake, where it is known which packet answers which.
    pub(crate) fn handshake(&mut self, to_server: Option<Span>, to_client: Option<Span>) {
        for (end, way) in [(&mut self.server, to_server), (&mut self.client, to_client)] {
            if let Some(way) = way {
                end.sample(way);
            }
        }
    }

    /// Without handshake and timestamps: the least times in which client and server acknowledged
    /// data so far. Returns whether they show an end nearer than known before.
    pub(crate) fn acknowledged(
        &mut self,
        packet: &Packet,
        forward: bool,
        [client, server]: [Option<Span>; 2],
    ) -> bool {
        self.ttls[usize::from(!forward)] = packet.ttl;
        let (Some(client), Some(server)) = (client, server) else { return false };
        let [near, far] = if client < server { self.ttls } else { [self.ttls[1], self.ttls[0]] };
        let is_beside = INITIAL_TTLS.contains(&near) && !INITIAL_TTLS.contains(&far);
        let (least, longest) = (client.min(server), client.max(server));
        let is_clear = least < MEASURABLE && longest > least * FAR_NEARER;
        is_beside && is_clear && (self.client.sample(client) | self.server.sample(server))
    }

    /// The round trip to the sender of a direction.
    pub(crate) fn to_sender(&self, forward: bool) -> Option<Span> {
        if forward { self.client.least } else { self.server.least }
    }

    /// Whether a sender that reacts after this time, as seen at the capture point, is away from it:
    /// what it sends was prompted by what passed a `reaction` before.
    pub(crate) fn is_away(&self, forward: bool, reaction: Span) -> bool {
        let beside = self.place(forward).0 == CapturePoint::Sender;
        reaction >= if beside { SLOW_HOST } else { MEASURABLE }
    }

    pub(crate) fn round_trip(&self) -> Option<Span> {
        Some(self.client.least? + self.server.least?)
    }

    /// The capture point relative to the sender of a direction, and the confidence.
    pub(crate) fn place(&self, forward: bool) -> (CapturePoint, Confidence) {
        let (Some(client), Some(server)) = (self.client.least, self.server.least) else {
            return (CapturePoint::Unknown, Confidence::None);
        };
        let (to_sender, to_receiver) = if forward { (client, server) } else { (server, client) };
        let (near, far) = (to_sender.min(to_receiver), to_sender.max(to_receiver));
        let here =
            if to_sender < to_receiver { CapturePoint::Sender } else { CapturePoint::Receiver };
        if far < MEASURABLE {
            return (CapturePoint::Unknown, Confidence::None);
        }
        if far > near * FAR_NEARER {
            (here, Confidence::High)
        } else if far > near * NEARER {
            (here, Confidence::Medium)
        } else {
            (
                CapturePoint::Middle,
                if far > near * 2 { Confidence::Low } else { Confidence::Medium },
            )
        }
    }
}

impl Distance {
    /// Only a value newer than the last, or the endpoint's first, cannot have been echoed before.
    fn sent(&mut self, value: u32, at: Instant, first: bool) {
        let is_newer = |last| (value.wrapping_sub(last) as i32) > 0;
        if self.awaited.is_none() && self.clock.map_or(first, is_newer) {
            self.awaited = Some((value, at));
        }
        self.clock = Some(value);
    }

    /// Returns whether it is nearer than known before.
    fn echoed(&mut self, clock: u32, since: Instant, echo: u32, at: Instant) -> bool {
        let newer = echo.wrapping_sub(clock) as i32;
        if newer < 0 {
            return false;
        }
        self.awaited = None;
        if newer > 0 || at <= since {
            return false;
        }
        self.echoes += 1;
        self.sample(at.since(since))
    }

    fn sample(&mut self, span: Span) -> bool {
        let is_nearer = self.least.is_none_or(|least| span < least);
        if is_nearer {
            self.least = Some(span);
        }
        is_nearer
    }
}
