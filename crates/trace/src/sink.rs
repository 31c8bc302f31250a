//! Receivers of the analyser's results, and combinations of them.

use tcplab_units::Instant;

use crate::{Ack, Connection, Episode, FlowId, LimitPeriod, Segment, Spurious, Stall};

/// Takes what the analyser finds out, as soon as it is certain.
///
/// Segments and acknowledgements come in the order of the capture, the episodes of a direction
/// in the order of their time; all before the connection itself, whose flows are empty but for
/// their sums. Connections come as they end.
///
/// A sink that [wants packets](Sink::wants_packets) receives each, and of a connection also of
/// what comes when it is over, as long as not more than 65,536 others are over since. For one that
/// does not, a connection ends a second after both ends closed it or one reset it. What comes
/// [later](Sink::late) is only counted.
///
/// Of connections that are open, so many are followed at a time
/// ([`with_max_open_connections`](crate::Analyzer::with_max_open_connections)). When another
/// begins, one that has been quiet for a while ends as if the capture did. Should it go on, that is
/// another connection, and a remark says so.
pub trait Sink {
    /// Before all else, if there is any frame: the trace's zero, nanoseconds after the Unix epoch.
    fn begins(&mut self, _epoch_nanos: u64) {}
    /// Whether it uses anything at all; if not, nothing is copied for it.
    fn listens(&self) -> bool {
        true
    }
    /// Whether it uses [`Sink::segment`] and [`Sink::ack`].
    fn wants_packets(&self) -> bool {
        true
    }
    /// A packet with data, SYN or FIN.
    fn segment(&mut self, _flow: FlowId, _segment: Segment) {}
    /// The acknowledgement in a packet, for the direction whose data it acknowledges.
    fn ack(&mut self, _flow: FlowId, _ack: Ack) {}
    /// A recovery episode that is over, or that the capture's end cut off.
    fn episode(&mut self, _flow: FlowId, _episode: Episode) {}
    /// A time in which the direction stood still, when it is over.
    fn stall(&mut self, _flow: FlowId, _stall: Stall) {}
    /// What bounded the direction's rate for a while; the periods of a direction come in order.
    fn limit(&mut self, _flow: FlowId, _period: LimitPeriod) {}
    /// A retransmission that came before, in this frame, turns out to have been spurious.
    fn spurious(&mut self, _flow: FlowId, _frame: u64, _why: Spurious) {}
    /// A connection, when all its packets are read.
    fn connection(&mut self, index: usize, connection: Connection);
    /// A packet of a connection that was handed over before: a FIN retransmitted, an answer to it.
    fn late(&mut self, _index: usize, _at: Instant, _frame: u64) {}
}

/// Passes everything to two sinks, in this order. Packets go only to one that wants them.
#[derive(Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Both<A, B> {
    /// Calls those that `wants` names, without copying what only one receives.
    fn tell<T: Clone>(
        &mut self,
        wants: [bool; 2],
        told: T,
        first: impl FnOnce(&mut A, T),
        second: impl FnOnce(&mut B, T),
    ) {
        match wants {
            [true, true] => {
                first(&mut self.0, told.clone());
                second(&mut self.1, told);
            }
            [true, false] => first(&mut self.0, told),
            [false, true] => second(&mut self.1, told),
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
        self.tell(self.wanting(), segment, |a, s| a.segment(flow, s), |b, s| b.segment(flow, s));
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.tell(self.wanting(), ack, |a, it| a.ack(flow, it), |b, it| b.ack(flow, it));
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.tell(
            self.listening(),
            episode,
            |a, it| a.episode(flow, it),
            |b, it| b.episode(flow, it),
        );
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.0.stall(flow, stall);
        self.1.stall(flow, stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.tell(self.listening(), period, |a, it| a.limit(flow, it), |b, it| b.limit(flow, it));
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.0.spurious(flow, frame, why);
        self.1.spurious(flow, frame, why);
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        self.tell(
            self.listening(),
            connection,
            |a, it| a.connection(index, it),
            |b, it| {
                b.connection(index, it);
            },
        );
    }
    fn late(&mut self, index: usize, at: Instant, frame: u64) {
        self.0.late(index, at, frame);
        self.1.late(index, at, frame);
    }
}

/// None has no use for anything.
impl<S: Sink> Sink for Option<S> {
    fn begins(&mut self, epoch_nanos: u64) {
        if let Some(sink) = self {
            sink.begins(epoch_nanos);
        }
    }
    fn listens(&self) -> bool {
        self.as_ref().is_some_and(Sink::listens)
    }
    fn wants_packets(&self) -> bool {
        self.as_ref().is_some_and(Sink::wants_packets)
    }
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(sink) = self {
            sink.segment(flow, segment);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if let Some(sink) = self {
            sink.ack(flow, ack);
        }
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        if let Some(sink) = self {
            sink.episode(flow, episode);
        }
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        if let Some(sink) = self {
            sink.stall(flow, stall);
        }
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        if let Some(sink) = self {
            sink.limit(flow, period);
        }
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        if let Some(sink) = self {
            sink.spurious(flow, frame, why);
        }
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        if let Some(sink) = self {
            sink.connection(index, connection);
        }
    }
    fn late(&mut self, index: usize, at: Instant, frame: u64) {
        if let Some(sink) = self {
            sink.late(index, at, frame);
        }
    }
}

/// Tells a sink what is about one connection, or everything if none is named.
#[derive(Debug)]
pub struct Only<S> {
    connection: Option<usize>,
    sink: S,
}

impl<S> Only<S> {
    /// Tells `sink` what is about the connection of that place, counted from 0.
    pub fn new(connection: Option<usize>, sink: S) -> Only<S> {
        Only { connection, sink }
    }
    /// The inner sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    fn of(&mut self, connection: usize) -> Option<&mut S> {
        self.connection.is_none_or(|only| only == connection).then_some(&mut self.sink)
    }
}

impl<S: Sink> Sink for Only<S> {
    fn begins(&mut self, epoch_nanos: u64) {
        self.sink.begins(epoch_nanos);
    }
    fn listens(&self) -> bool {
        self.sink.listens()
    }
    fn wants_packets(&self) -> bool {
        self.sink.wants_packets()
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
    fn connection(&mut self, index: usize, connection: Connection) {
        if let Some(sink) = self.of(index) {
            sink.connection(index, connection);
        }
    }
    fn late(&mut self, index: usize, at: Instant, frame: u64) {
        if let Some(sink) = self.of(index) {
            sink.late(index, at, frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_wire::LinkType;

    use super::*;
    use crate::tests::drill::drill;
    use crate::{Analyzer, Frame};

    /// Notes what it is told.
    #[derive(Debug)]
    struct Diary {
        wants_packets: bool,
        told: Vec<(&'static str, u64)>,
    }

    fn diary(wants_packets: bool) -> Diary {
        Diary { wants_packets, told: Vec::new() }
    }

    impl Sink for Diary {
        fn begins(&mut self, epoch_nanos: u64) {
            self.told.push(("begins", epoch_nanos));
        }
        fn wants_packets(&self) -> bool {
            self.wants_packets
        }
        fn segment(&mut self, flow: FlowId, _: Segment) {
            self.told.push(("segment", flow.connection as u64));
        }
        fn ack(&mut self, flow: FlowId, _: Ack) {
            self.told.push(("ack", flow.connection as u64));
        }
        fn episode(&mut self, flow: FlowId, _: Episode) {
            self.told.push(("episode", flow.connection as u64));
        }
        fn stall(&mut self, flow: FlowId, _: Stall) {
            self.told.push(("stall", flow.connection as u64));
        }
        fn limit(&mut self, flow: FlowId, _: LimitPeriod) {
            self.told.push(("limit", flow.connection as u64));
        }
        fn spurious(&mut self, flow: FlowId, _: u64, _: Spurious) {
            self.told.push(("needless", flow.connection as u64));
        }
        fn connection(&mut self, index: usize, _: Connection) {
            self.told.push(("connection", index as u64));
        }
        fn late(&mut self, index: usize, _: Instant, _: u64) {
            self.told.push(("late", index as u64));
        }
    }

    /// Two connections alike but for the client's port, side by side, each with a loss that a
    /// timer repairs.
    fn analyzed<S: Sink>(sink: S) -> S {
        let packets = drill(
            "0.000 > S
             0.010 < S
             0.011 > ack 1
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
            analyzer.packet(&Frame {
                time_ns: packet.time_ns,
                link: LinkType::RawIp,
                captured: &bytes,
                original_len: bytes.len() as u32,
                comment: None,
            });
        }
        analyzer.finish_into().1
    }

    #[test]
    fn both_sinks_receive_what_each_alone_receives() {
        let alone = analyzed(diary(true));
        assert_eq!(alone.told[0].0, "begins");
        let kinds = |diary: &Diary, kind: &str| diary.told.iter().filter(|t| t.0 == kind).count();
        assert_eq!((kinds(&alone, "connection"), kinds(&alone, "segment")), (2, 8));
        let Both(left, Both(none, right)) =
            analyzed(Both(diary(true), Both(None::<Diary>, diary(true))));
        assert_eq!((&left.told, &right.told), (&alone.told, &alone.told));
        assert!(none.is_none());
    }

    #[test]
    fn sink_without_packets_gets_none() {
        let Both(without, with) = analyzed(Both(diary(false), diary(true)));
        let of_packets = |told: &&(&str, u64)| ["segment", "ack"].contains(&told.0);
        assert_eq!(without.told.iter().filter(of_packets).count(), 0);
        let rest: Vec<_> = with.told.iter().filter(|told| !of_packets(told)).collect();
        assert_eq!(without.told.iter().collect::<Vec<_>>(), rest);
        assert!(!Both(diary(false), None::<Diary>).wants_packets());
        assert!(Both(diary(false), None::<Diary>).listens());
        assert!(!Both(None::<Diary>, Only::new(None, None::<Diary>)).listens());
    }

    #[test]
    fn only_sink_gets_one_connection() {
        let all = analyzed(diary(true));
        let one = analyzed(Only::new(Some(1), diary(true))).into_inner();
        let of_one = |told: &&(&str, u64)| told.0 == "begins" || told.1 == 1;
        let expected: Vec<_> = all.told.iter().filter(of_one).copied().collect();
        assert_eq!(one.told, expected);
        assert_eq!(analyzed(Only::new(None, diary(true))).into_inner().told, all.told);
    }
}
