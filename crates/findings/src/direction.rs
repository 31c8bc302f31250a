//! One direction of a connection: questions that many rules ask.

use std::net::IpAddr;

use tcplab_trace::{
    CapturePoint, Connection, Flow, Limit, Occurrences, StallCause, StallSum, SynOptions,
};
use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::finding::Shown;

/// A transfer with fewer data packets has no meaningful rate.
const LEAST_SEGMENTS: u64 = 20;
/// Nor has a shorter one: users do not notice a tenth of a second (J. Nielsen).
const LEAST_TIME: Span = Span::from_millis(100);

/// The data of one end and the ACKs for them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Direction<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) flow: &'a Flow,
    /// The data's sender: `client` or `server`.
    pub(crate) sender: &'static str,
    pub(crate) receiver: &'static str,
    pub(crate) receiver_address: IpAddr,
    /// What the sender of the data offered in its SYN.
    pub(crate) sender_offers: &'a SynOptions,
    pub(crate) receiver_offers: &'a SynOptions,
}

impl<'a> Direction<'a> {
    pub(crate) fn both(connection: &'a Connection) -> [Direction<'a>; 2] {
        let handshake = &connection.handshake;
        let forward = Direction {
            connection,
            flow: &connection.forward,
            sender: "client",
            receiver: "server",
            receiver_address: connection.server.ip(),
            sender_offers: &handshake.client,
            receiver_offers: &handshake.server,
        };
        let reverse = Direction {
            connection,
            flow: &connection.reverse,
            sender: "server",
            receiver: "client",
            receiver_address: connection.client.ip(),
            sender_offers: &handshake.server,
            receiver_offers: &handshake.client,
        };
        [forward, reverse]
    }

    /// Whether it is long and large enough to have a meaningful rate.
    pub(crate) fn is_transfer(&self) -> bool {
        self.wire_segments() >= LEAST_SEGMENTS && self.time() >= LEAST_TIME
    }

    /// Whether the capture makes copies: from one in four packets on, no network does so often. The
    /// analyser judges each as it comes and calls the first ones the network's.
    pub(crate) fn capture_makes_copies(&self) -> bool {
        let causes = &self.flow.causes;
        let copies = causes.capture_duplicates.count + causes.network_duplicates.count;
        let sent = self.wire_segments() + self.other_flow().totals.pure_acks;
        copies >= 3 && copies * 4 >= sent + copies
    }

    /// Segments on the wire, SYN and FIN included; with offloading more than packets.
    pub(crate) fn wire_segments(&self) -> u64 {
        self.flow.totals.wire_segments
    }

    /// The data of the other end.
    fn other_flow(&self) -> &'a Flow {
        let Connection { forward, reverse, .. } = self.connection;
        if std::ptr::eq(self.flow, forward) { reverse } else { forward }
    }

    /// [`Direction::wire_segments`], and its ACKs without data.
    pub(crate) fn all_segments(&self) -> u64 {
        let opposite = match self.sender {
            "client" => &self.connection.reverse,
            _ => &self.connection.forward,
        };
        self.wire_segments() + opposite.totals.pure_acks
    }

    /// The transfer's time, from the first data to the last acknowledgement.
    pub(crate) fn time(&self) -> Span {
        self.flow.transfer.time.max(self.flow.shares.total())
    }

    /// The path's RTT without queues ([`Connection::path_round_trip`]).
    pub(crate) fn round_trip(&self) -> Option<Span> {
        self.connection.path_round_trip(self.flow)
    }

    /// Whether the capture point is not the sender's.
    pub(crate) fn is_away(&self) -> bool {
        self.connection.is_away(self.flow)
    }

    /// Whether the capture began after the handshake, and no timestamps show how far its sender is:
    /// far from it, a sender that waits for ACKs looks like one without data.
    pub(crate) fn is_lost_in_midstream(&self) -> bool {
        self.connection.handshake.midstream && self.flow.capture_point == CapturePoint::Unknown
    }

    /// Whether its segments have timestamps.
    pub(crate) fn is_stamped(&self) -> bool {
        let clock = &self.flow.timestamp_faults.sender;
        let seen = clock.plain > 0 || !clock.reversed.is_empty();
        self.connection.handshake.agreed(|syn| syn.timestamps).unwrap_or(seen)
    }

    /// Where the RTT comes from, if not from the data, in brackets.
    pub(crate) fn round_trip_basis(&self) -> &'static str {
        let offers = &self.connection.handshake;
        let stamped = offers.client.timestamps && offers.server.timestamps;
        match (self.is_away(), stamped || !offers.client.seen) {
            (false, _) => "",
            (true, true) => " (by handshake and timestamps)",
            (true, false) => " (by the handshake)",
        }
    }

    /// The bandwidth-delay product at the path's measured rate.
    pub(crate) fn bandwidth_delay_product(&self) -> Option<Bytes> {
        Some(self.flow.transfer.capacity?.bytes_in(self.round_trip()?))
    }

    /// The rate of one window of this size per round trip.
    pub(crate) fn rate_of_window(&self, window: Bytes) -> Option<Rate> {
        Rate::of(window, self.round_trip()?)
    }

    /// The time under `limit`, if it is at least `percent` of all.
    pub(crate) fn limited(&self, limit: Limit, percent: u64) -> Option<Span> {
        let time = self.flow.shares.of(limit);
        is_share(time, self.flow.shares.total(), percent).then_some(time)
    }

    /// Evidence of `limit`: its longest period, if periods are stored.
    pub(crate) fn shown_under(&self, limit: Limit) -> Shown {
        let periods = self.flow.limits.iter().filter(|period| period.limit == limit);
        match periods.max_by_key(|period| period.until.since(period.from)) {
            Some(longest) => Shown::in_frames([longest.frames.0, longest.frames.1], longest.from),
            None => Shown::by_all(self.connection),
        }
    }

    pub(crate) fn stalls(&self, cause: StallCause) -> Option<&'a StallSum> {
        self.flow.stall_sums.iter().find(|sum| sum.cause == cause && sum.count > 0)
    }

    pub(crate) fn stalled(&self, cause: StallCause) -> Span {
        self.stalls(cause).map_or(Span::ZERO, |sum| sum.time)
    }

    /// Retransmissions that were not spurious: an estimate of the losses.
    pub(crate) fn lost(&self) -> u64 {
        let causes = &self.flow.causes;
        causes.retransmissions().saturating_sub(self.spurious())
    }

    /// The capture begins in a loss recovery: retransmissions tell of losses before it, so they are
    /// no rate of the segments captured.
    pub(crate) fn begins_in_recovery(&self) -> bool {
        !self.flow.causes.before_capture.is_empty()
    }

    /// Spurious retransmissions.
    pub(crate) fn spurious(&self) -> u64 {
        self.flow.causes.spurious.sent.count
    }

    /// Evidence: the first retransmissions.
    pub(crate) fn shown_by_retransmissions(&self) -> Shown {
        let causes = &self.flow.causes;
        let kinds = [
            &causes.by_duplicate_acks,
            &causes.by_sack,
            &causes.by_rack,
            &causes.by_icmp,
            &causes.tail_loss_probes,
            &causes.timeouts,
            &causes.after_timeout,
            &causes.control_repeated,
            &causes.retransmissions_unexplained,
        ];
        let mut frames: Vec<u64> =
            kinds.iter().flat_map(|kind| kind.frames.iter().copied()).collect();
        frames.sort_unstable();
        frames.truncate(Occurrences::NAMED);
        let first = kinds.iter().filter_map(|kind| kind.first).min();
        Shown::in_frames(frames, first.unwrap_or(Instant::ZERO))
    }

    /// Which end did not offer an option; none if both did or a SYN was not captured whole.
    pub(crate) fn refusal(&self, offered: fn(&SynOptions) -> bool) -> Option<String> {
        let (client, server) =
            (&self.connection.handshake.client, &self.connection.handshake.server);
        let is_known = |syn: &SynOptions| syn.known(offered(syn)).is_some();
        if !is_known(client) || !is_known(server) {
            return None;
        }
        let words = match (offered(client), offered(server)) {
            (true, true) => return None,
            (true, false) => "the server did not offer it",
            (false, true) => "the client did not offer it",
            (false, false) => "neither end offered it",
        };
        Some(words.to_owned())
    }
}

/// Whether `part` is at least `percent` of `whole`, and above zero.
pub(crate) fn is_share(part: Span, whole: Span, percent: u64) -> bool {
    let (part, whole) = (u128::from(part.as_nanos()), u128::from(whole.as_nanos()));
    part > 0 && part * 100 >= whole * u128::from(percent)
}
