//! Where the capture point stood.
//!
//! What passes the capture point towards an end and is answered there comes back after the time
//! that the way between takes, twice. Two things show that time, for either end: the halves of the
//! handshake (SYN and SYN-ACK are answered on the spot), and timestamps, which every packet echoes
//! (RFC 7323 section 3): from the first packet that bears a new one to the first that echoes it.
//! The smallest of many counts, since an answer may wait for data or for a delayed acknowledgement.
//! This needs no handshake, and holds for data in one direction only.
//!
//! Where nothing of this was seen, gaps tell: beside the sender nothing is out of order and nothing
//! is lost before the capture point.

use tcplab_units::{Instant, Span};

use super::sender_clock::OwnClock;
use crate::packet::Packet;
use crate::{CapturePoint, Confidence};

/// How much longer the way to one end must be than that to the other for the capture point to stand
/// beside the nearer one.
const NEARER: u64 = 4;
/// And to leave no doubt.
const FAR_NEARER: u64 = 20;
/// Shorter times say how busy the hosts are, not how far.
const MEASURABLE: Span = Span::from_micros(200);
/// As many echoes are timed at each end.
const ECHOES: u8 = 64;

/// How far the two ends are from the capture point.
#[derive(Debug, Default)]
pub(crate) struct Distances {
    client: Distance,
    server: Distance,
    /// The clocks of client and server.
    clocks: [OwnClock; 2],
}

/// The way to one end and back.
#[derive(Debug, Default)]
struct Distance {
    least: Option<Span>,
    echoes: u8,
    /// The last timestamp that went there.
    clock: Option<u32>,
    /// A timestamp that is not echoed yet, and when it first passed.
    awaited: Option<(u32, Instant)>,
}

impl Distances {
    /// Takes in the timestamps of a packet.
    #[inline(always)]
    pub(crate) fn packet(&mut self, packet: &Packet, forward: bool) {
        let Some((value, echo)) = packet.timestamps else { return };
        self.clocks[usize::from(!forward)].passed(value, packet.at);
        let (towards, from) = if forward {
            (&mut self.server, &mut self.client)
        } else {
            (&mut self.client, &mut self.server)
        };
        if towards.echoes < ECHOES {
            towards.sent(value, packet.at, packet.syn());
        }
        if let Some((clock, since)) = from.awaited {
            from.echoed(clock, since, echo, packet.at);
        }
    }

    /// By how much the capture's clock was set ahead since the last packet of this sender, if its
    /// own clock shows that it was.
    pub(crate) fn clock_set_ahead(&self, packet: &Packet, forward: bool) -> Option<Span> {
        self.clocks[usize::from(!forward)].set_ahead(packet)
    }

    /// The handshake: from the SYN to the SYN-ACK, and on to the acknowledgement, where it is
    /// known what answers what.
    pub(crate) fn handshake(&mut self, to_server: Option<Span>, to_client: Option<Span>) {
        for (end, way) in [(&mut self.server, to_server), (&mut self.client, to_client)] {
            if let Some(way) = way {
                end.sample(way);
            }
        }
    }

    /// The way to the sender of a direction and back.
    pub(crate) fn to_sender(&self, forward: bool) -> Option<Span> {
        if forward { self.client.least } else { self.server.least }
    }

    /// The whole round trip.
    pub(crate) fn round_trip(&self) -> Option<Span> {
        Some(self.client.least? + self.server.least?)
    }

    /// Where the capture point stands, seen from the sender of a direction, and how sure that is.
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
    /// Nobody can have sent a value before that is newer than the last, or an end's first.
    fn sent(&mut self, value: u32, at: Instant, first: bool) {
        let is_newer = |last| (value.wrapping_sub(last) as i32) > 0;
        if self.awaited.is_none() && self.clock.map_or(first, is_newer) {
            self.awaited = Some((value, at));
        }
        self.clock = Some(value);
    }

    fn echoed(&mut self, clock: u32, since: Instant, echo: u32, at: Instant) {
        let newer = echo.wrapping_sub(clock) as i32;
        if newer < 0 {
            return;
        }
        self.awaited = None;
        if newer == 0 && at > since {
            self.echoes += 1;
            self.sample(at.since(since));
        }
    }

    fn sample(&mut self, span: Span) {
        self.least = Some(self.least.map_or(span, |least| least.min(span)));
    }
}
