//! Receivers of the analyser's results, and combinations of them.

use crate::{
    Ack, BareReset, Connection, Episode, FlowId, LimitPeriod, Segment, Spurious, Stall, TcpState,
    UnusualPacket,
};

/// Receives the analyser's results as soon as they are final.
///
/// Segments and ACKs come in capture order, the episodes of a direction in order of time; then the
/// connection with the sums of its flows. Connections come in the order in which they end. If no
/// packets are wanted, what the first few of a connection came to may be told later than what was
/// found of others meanwhile.
///
/// A connection ends when about 1,024 others were closed since its own close and its last packet
/// (32 of its part, one of 32 by a hash of the ends), or with the capture. Packets that come later
/// belong to none, and a note counts them. What is found does not depend on the sink: all see the
/// same.
///
/// The number of open connections is limited
/// ([`with_max_open_connections`](crate::Analyzer::with_max_open_connections)): a new one ends an
/// idle one. If that continues, it counts as another connection, and a note says so.
pub trait Sink {
    /// Called first, with the trace's zero in nanoseconds after the Unix epoch.
    fn begins(&mut self, _epoch_nanos: u64) {}
    /// Whether it uses anything at all; if not, nothing is copied for it.
    fn listens(&self) -> bool {
        true
    }
    /// Whether it uses [`Sink::segment`] and [`Sink::ack`]: always or never.
    fn wants_packets(&self) -> bool {
        true
    }
    /// A packet with data, SYN or FIN.
    fn segment(&mut self, _flow: FlowId, _segment: Segment) {}
    /// The acknowledgement in a packet, for the direction whose data it acknowledges.
    fn ack(&mut self, _flow: FlowId, _ack: Ack) {}
    /// A reset without an acknowledgement, for the direction that it was sent in.
    fn reset(&mut self, _flow: FlowId, _reset: BareReset) {}
    /// A packet that the others do not show as it was sent, in the direction that it was sent in.
    fn unusual(&mut self, _flow: FlowId, _packet: UnusualPacket) {}
    /// A recovery episode that ended, or that the capture truncated.
    fn episode(&mut self, _flow: FlowId, _episode: Episode) {}
    /// A stall that ended.
    fn stall(&mut self, _flow: FlowId, _stall: Stall) {}
    /// A period with one limit; the periods of a direction come in order.
    fn limit(&mut self, _flow: FlowId, _period: LimitPeriod) {}
    /// An earlier retransmission, in this frame, was spurious.
    fn spurious(&mut self, _flow: FlowId, _frame: u64, _why: Spurious) {}
    /// The latest packet changed the states of a connection's client and server, which are none
    /// where they are not known. Only if it uses [packets](Sink::wants_packets).
    fn states(&mut self, _connection: usize, _states: [Option<TcpState>; 2]) {}
    /// A connection that ended.
    fn connection(&mut self, index: usize, connection: &Connection);
}

/// Passes everything to two sinks, in this order. Packets go only to one that wants them.
#[derive(Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Both<A, B> {
    /// Passes `result` to the sinks that want it; clones only for both.
    fn pass<T: Clone>(
        &mut self,
        wants: [bool; 2],
        result: T,
        first: impl FnOnce(&mut A, T),
        second: impl FnOnce(&mut B, T),
    ) {
        match wants {
            [true, true] => {
                first(&mut self.0, result.clone());
                second(&mut self.1, result);
            }
            [true, false] => first(&mut self.0, result),
            [false, true] => second(&mut self.1, result),
            [false, false] => {}
        }
    }

    fn wanting(&self) -> [bool; 2] {
        [self.0.wants_packets(), self.1.wants_packets()]
    }
    fn listening(&self) -> [bool; 2] {
        [self.0.listens(), self.1.listens()]
    }
}

impl<A: Sink, B: Sink> Sink for Both<A, B> {
    fn begins(&mut self, epoch_nanos: u64) {
        self.0.begins(epoch_nanos);
        self.1.begins(epoch_nanos);
    }
    fn listens(&self) -> bool {
        self.listening().contains(&true)
    }
    fn wants_packets(&self) -> bool {
        self.wanting().contains(&true)
    }
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.pass(self.wanting(), segment, |a, s| a.segment(flow, s), |b, s| b.segment(flow, s));
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        self.pass(self.wanting(), packet, |a, it| a.unusual(flow, it), |b, it| b.unusual(flow, it));
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.pass(self.wanting(), ack, |a, it| a.ack(flow, it), |b, it| b.ack(flow, it));
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        self.pass(self.wanting(), reset, |a, it| a.reset(flow, it), |b, it| b.reset(flow, it));
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        let wants = self.listening();
        self.pass(wants, episode, |a, it| a.episode(flow, it), |b, it| b.episode(flow, it));
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.0.stall(flow, stall);
        self.1.stall(flow, stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.pass(self.listening(), period, |a, it| a.limit(flow, it), |b, it| b.limit(flow, it));
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.0.spurious(flow, frame, why);
        self.1.spurious(flow, frame, why);
    }
    fn states(&mut self, connection: usize, states: [Option<TcpState>; 2]) {
        self.pass(
            self.wanting(),
            states,
            |a, it| a.states(connection, it),
            |b, it| b.states(connection, it),
        );
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.0.connection(index, connection);
        self.1.connection(index, connection);
    }
}

/// Passes the results of one connection, or all, to a sink that may be absent.
#[derive(Debug)]
pub struct Only<S> {
    connection: Option<usize>,
    sink: Option<S>,
}

impl<S> Only<S> {
    /// `sink`, if present, receives the results of this connection (counted from 0), or all.
    pub fn new(connection: Option<usize>, sink: Option<S>) -> Only<S> {
        Only { connection, sink }
    }
    /// The inner sink, if present.
    pub fn inner(&self) -> Option<&S> {
        self.sink.as_ref()
    }
    /// The inner sink, if present.
    pub fn into_inner(self) -> Option<S> {
        self.sink
    }

    fn of(&mut self, connection: usize) -> Option<&mut S> {
        self.sink.as_mut().filter(|_| self.connection.is_none_or(|only| only == connection))
    }
}

impl<S: Sink> Sink for Only<S> {
    fn begins(&mut self, epoch_nanos: u64) {
        if let Some(sink) = &mut self.sink {
            sink.begins(epoch_nanos);
        }
    }
    fn listens(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::listens)
    }
    fn wants_packets(&self) -> bool {
        self.sink.as_ref().is_some_and(Sink::wants_packets)
    }
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(sink) = self.of(flow.connection) {
            sink.segment(flow, segment);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if let Some(sink) = self.of(flow.connection) {
            sink.ack(flow, ack);
        }
    }
    fn unusual(&mut self, flow: FlowId, packet: UnusualPacket) {
        if let Some(sink) = self.of(flow.connection) {
            sink.unusual(flow, packet);
        }
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        if let Some(sink) = self.of(flow.connection) {
            sink.reset(flow, reset);
        }
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        if let Some(sink) = self.of(flow.connection) {
            sink.episode(flow, episode);
        }
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        if let Some(sink) = self.of(flow.connection) {
            sink.stall(flow, stall);
        }
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        if let Some(sink) = self.of(flow.connection) {
            sink.limit(flow, period);
        }
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        if let Some(sink) = self.of(flow.connection) {
            sink.spurious(flow, frame, why);
        }
    }
    fn states(&mut self, connection: usize, states: [Option<TcpState>; 2]) {
        if let Some(sink) = self.of(connection) {
            sink.states(connection, states);
        }
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        if let Some(sink) = self.of(index) {
            sink.connection(index, connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_wire::LinkType;

    use super::*;
    use crate::tests::drill::drill;
    use crate::{Analyzer, Frame};

    /// Records the kind and the connection of each result.
    #[derive(Debug)]
    struct Recorder {
        wants_packets: bool,
        results: Vec<(&'static str, u64)>,
    }

    fn recorder(wants_packets: bool) -> Recorder {
        Recorder { wants_packets, results: Vec::new() }
    }

    impl Recorder {
        fn add(&mut self, kind: &'static str, connection: usize) {
            self.results.push((kind, connection as u64));
        }
    }

    impl Sink for Recorder {
        fn begins(&mut self, epoch_nanos: u64) {
            self.results.push(("begins", epoch_nanos));
        }
        fn wants_packets(&self) -> bool {
            self.wants_packets
        }
        fn segment(&mut self, flow: FlowId, _: Segment) {
            self.add("segment", flow.connection);
        }
        fn ack(&mut self, flow: FlowId, _: Ack) {
            self.add("ack", flow.connection);
        }
        fn episode(&mut self, flow: FlowId, _: Episode) {
            self.add("episode", flow.connection);
        }
        fn stall(&mut self, flow: FlowId, _: Stall) {
            self.add("stall", flow.connection);
        }
        fn limit(&mut self, flow: FlowId, _: LimitPeriod) {
            self.add("limit", flow.connection);
        }
        fn spurious(&mut self, flow: FlowId, _: u64, _: Spurious) {
            self.add("spurious", flow.connection);
        }
        fn connection(&mut self, index: usize, _: &Connection) {
            self.add("connection", index);
        }
    }

    /// Two equal connections from different ports, each with a loss that a timer recovers.
    fn analyzed<S: Sink>(sink: S) -> S {
        let packets = drill(
            "open 0.010 0.011
             0.020 > 1:1449
             0.320 > 1:1449
             0.330 < ack 1449",
            1_000,
        );
        // Behind a header of IPv4 without options: the ports, the sender's first.
        let [source, target] = [20..22, 22..24];
        let client = packets[0].bytes[source.clone()].to_vec();
        let mut analyzer = Analyzer::with_sink(sink);
        for (packet, change) in packets.iter().flat_map(|packet| [(packet, 0), (packet, 1)]) {
            let mut bytes = packet.bytes.clone();
            let place = if bytes[source.clone()] == client { &source } else { &target };
            bytes[place.end - 1] ^= change;
            analyzer.packet(&Frame::whole(packet.time_ns, LinkType::RawIp, &bytes));
        }
        analyzer.finish_into().1
    }

    #[test]
    fn paired_sinks_each_receive_everything() {
        let alone = analyzed(recorder(true)).results;
        assert_eq!(alone[0].0, "begins");
        let count = |kind: &str| alone.iter().filter(|result| result.0 == kind).count();
        assert_eq!((count("connection"), count("segment")), (2, 8));
        let Both(left, Both(none, right)) =
            analyzed(Both(recorder(true), Both(absent(), recorder(true))));
        assert_eq!((&left.results, &right.results), (&alone, &alone));
        assert!(none.inner().is_none());
    }

    fn absent() -> Only<Recorder> {
        Only::new(None, None)
    }

    #[test]
    fn sink_without_packets_gets_none() {
        let Both(without, with) = analyzed(Both(recorder(false), recorder(true)));
        let of_packets = |result: &&(&str, u64)| ["segment", "ack"].contains(&result.0);
        assert_eq!(without.results.iter().filter(of_packets).count(), 0);
        let rest: Vec<_> = with.results.iter().filter(|result| !of_packets(result)).collect();
        assert_eq!(without.results.iter().collect::<Vec<_>>(), rest);
        assert!(!Both(recorder(false), absent()).wants_packets());
        assert!(Both(recorder(false), absent()).listens());
        assert!(!Both(absent(), Only::new(None, Some(absent()))).listens());
    }

    #[test]
    fn single_connection_sink_gets_one_connection() {
        let of = |connection| {
            let only = analyzed(Only::new(connection, Some(recorder(true))));
            only.into_inner().unwrap().results
        };
        let all = analyzed(recorder(true)).results;
        let of_one = |result: &&(&str, u64)| result.0 == "begins" || result.1 == 1;
        let expected: Vec<_> = all.iter().filter(of_one).copied().collect();
        assert_eq!(of(Some(1)), expected);
        assert_eq!(of(None), all);
    }
}
