//! What a capture shows of a whole connection: who is who, and the round trip of the path.

use tcplab_units::{Bytes, Span};

use super::{CapturePoint, Confidence, Connection, Flow, Limit, LimitShares, RoundTrips, Transfer};

/// How it is known which end is the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Roles {
    /// A SYN or SYN-ACK, or a first packet that decides it otherwise.
    #[default]
    BySyn,
    /// No SYN was captured: a guess from the port numbers.
    ByPorts,
    /// No SYN was captured and the ports tell nothing: the end that sent the first packet.
    ByFirstPacket,
}

impl Connection {
    /// The path's RTT without queues. Beside the sender of `flow` its data show it. Elsewhere they
    /// show only a part of it: there it is [`Connection::round_trip`], or the time of a window if
    /// that is shorter, since no more than one window passes per round trip. None if it is unknown.
    pub fn path_round_trip(&self, flow: &Flow) -> Option<Span> {
        let found = if self.is_away(flow) {
            self.round_trip.map(|span| span.min(time_of_a_window(flow)))
        } else {
            flow.round_trips.min.or(self.round_trip)
        };
        found.filter(|span| !span.is_zero())
    }

    /// Whether the answers to the data of `flow` took only a part of a round trip.
    pub fn is_away(&self, flow: &Flow) -> bool {
        matches!(flow.capture_point, CapturePoint::Middle | CapturePoint::Receiver)
    }
}

impl Connection {
    /// Leaves out the round trips of a connection whose packets all have the same time: none took
    /// no time.
    pub(crate) fn forget_times(&mut self) {
        self.round_trip = None;
        self.handshake.round_trip = None;
        self.forward.round_trips = RoundTrips::default();
        self.reverse.round_trips = RoundTrips::default();
    }

    /// A subflow of Multipath TCP: its scheduler may have sent elsewhere what was to send, and the
    /// receive window is that of all subflows (RFC 8684 sections 3.3.1 and 3.3.5).
    pub(crate) fn doubt_limits(&mut self) {
        for flow in [&mut self.forward, &mut self.reverse] {
            flow.shares.confidence = flow.shares.confidence.min(Confidence::Low);
        }
    }
}

impl Flow {
    /// Leaves out what needs the acknowledgements, of which none were captured.
    pub(crate) fn forget_answers(&mut self) {
        self.totals.max_in_flight = Bytes::ZERO;
        self.round_trips = RoundTrips::default();
        self.stall_sums.clear();
        self.shares = LimitShares::default();
        self.transfer = Transfer::default();
    }

    /// The name of what limited it. Without the window scale the receive window's size is unknown,
    /// so what looks like a full congestion window or send buffer may be a full receive window.
    pub fn limit_name(&self, limit: Limit) -> &'static str {
        match limit {
            Limit::Congestion | Limit::SendBuffer if !self.windows.scale_negotiated => "a window",
            _ => limit.name(),
        }
    }
}

/// The mean time to send the largest window.
fn time_of_a_window(flow: &Flow) -> Span {
    let windows = &flow.windows;
    let window = windows.max.filter(|_| windows.scale_known);
    let bits = window.zip(flow.transfer.goodput).map(|(window, rate)| {
        window.bits() * 1_000_000_000 / u128::from(rate.bits_per_second().max(1))
    });
    bits.and_then(|nanos| u64::try_from(nanos).ok()).map_or(Span::MAX, Span::from_nanos)
}
