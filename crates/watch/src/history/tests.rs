use tcplab_path::Transmission;
use tcplab_trace::{Proof, Range};

use super::*;

#[test]
fn socket_is_that_of_the_latest_connection_between_its_ends() {
    let mut history = History::default();
    let ends: [SocketAddr; 2] = ["10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap()];
    let ms = |at: u64| Instant::from_nanos(at * 1_000_000);
    for connection in 0..2 {
        let key = FlowKey { connection, forward: true, ends: Some(ends) };
        history.flow(key, ms(5)).unwrap().sent = 1_000;
    }
    let says = SenderSocket { cwnd: Bytes::new(14_480), ssthresh: None, srtt: None };
    let mut cursor = Cursor::default();
    assert!(history.since(&mut cursor).is_some());
    // Of another end, or nobody's.
    history.socket(Endpoint::Server, ends, says);
    history.socket(Endpoint::Client, [ends[1], ends[0]], says);
    assert_eq!(history.since(&mut cursor), None);
    history.socket(Endpoint::Client, ends, says);
    let told = history.since(&mut cursor).unwrap();
    let row = |flow: usize| told["flows"][flow]["intervals"][0].as_array().unwrap().clone();
    assert_eq!((row(0).len(), row(1).len()), (9, 12));
    assert_eq!(row(1)[9..], [json!(14_480), Value::Null, Value::Null]);
    // The same once more is nothing new; it holds until it says something else.
    history.socket(Endpoint::Client, ends, says);
    assert_eq!(history.since(&mut cursor), None);
    let key = FlowKey { connection: 1, forward: true, ends: Some(ends) };
    history.flow(key, ms(15)).unwrap().sent = 2_000;
    let told = history.since(&mut cursor).unwrap();
    assert_eq!(told["flows"][1]["intervals"][1][9], 14_480);
}

/// What the analyser says of an ACK of everything before `number`.
fn ack(number: u64, in_flight: u64) -> Ack {
    Ack {
        at: Instant::ZERO,
        frame: 1,
        flags: tcplab_wire::TcpFlags::NONE,
        ack: Offset::new(number),
        window: None,
        sack: Vec::new(),
        dsack: None,
        duplicate: false,
        copied: false,
        reset: false,
        zero: false,
        has_data: false,
        in_flight: Bytes::new(in_flight),
        comment: None,
        dropped: false,
    }
}

fn segment(range: [u64; 2], [syn, fin]: [bool; 2]) -> Segment {
    let [start, end] = range.map(Offset::new);
    Segment {
        at: Instant::ZERO,
        frame: 1,
        flags: tcplab_wire::TcpFlags::NONE,
        range: Range { start, end },
        payload: Bytes::new(range[1] - range[0] - u64::from(syn) - u64::from(fin)),
        syn,
        fin,
        psh: false,
        kind: SegmentKind::New,
        timer: None,
        proof: Proof::default(),
        in_flight: Bytes::ZERO,
        comment: None,
        dropped: false,
    }
}

/// A trial has more connections than are kept: each retransmits once, and rests from then on.
#[test]
fn retransmissions_are_those_of_all_connections() {
    let mut history = History::default();
    let again = Segment { kind: SegmentKind::FastRetransmission, ..segment([1, 2], [false; 2]) };
    for connection in 0..150 {
        let key = FlowKey { connection, forward: true, ends: None };
        let at = Instant::from_nanos(connection as u64 * 100_000_000);
        history.segment(key, &segment([1, 2], [false; 2]), at);
        history.segment(key, &again, at);
        assert_eq!(history.overview(10).retransmissions, connection as u64 + 1);
    }
    assert_eq!(history.flows.len(), FLOWS);
}

#[test]
fn syn_and_fin_are_no_bytes_of_the_stream() {
    let key = FlowKey { connection: 0, forward: true, ends: None };
    let ms = |at: u64| Instant::from_nanos(at * 1_000_000);
    // The ACK of the FIN is read before it, where captures are read side by side.
    for is_ack_first in [false, true] {
        let mut history = History::default();
        history.segment(key, &segment([0, 1], [true, false]), ms(5));
        history.ack(key, &ack(1, 0), ms(15), None);
        history.segment(key, &segment([1, 2], [false, false]), ms(25));
        if is_ack_first {
            history.ack(key, &ack(3, 0), ms(35), None);
        }
        history.segment(key, &segment([2, 3], [false, true]), ms(45));
        history.ack(key, &ack(3, 0), ms(55), None);
        let told = history.since(&mut Cursor::default()).unwrap();
        let rows = told["flows"][0]["intervals"].as_array().unwrap();
        let figures = |row: &Value| [1, 2].map(|at| row[at].as_u64().unwrap());
        assert_eq!([rows.first(), rows.last()].map(|it| figures(it.unwrap())), [[0, 0], [1, 1]]);
    }
}

#[test]
fn acknowledged_data_are_no_longer_in_flight() {
    let mut history = History::default();
    let key = FlowKey { connection: 0, forward: true, ends: None };
    let ms = |at: u64| Instant::from_nanos(at * 1_000_000);
    let sums = history.flow(key, ms(5)).unwrap();
    (sums.sent, sums.in_flight) = (14_480, 14_480);
    history.ack(key, &ack(2_897, 11_584), ms(45), None);
    // Two segments of the rest are SACKed.
    history.ack(key, &ack(2_897, 8_688), ms(55), None);
    history.ack(key, &ack(14_481, 0), ms(65), None);
    let told = history.since(&mut Cursor::default()).unwrap();
    let rows = told["flows"][0]["intervals"].as_array().unwrap();
    let in_flight = rows.iter().map(|row| row[4].as_u64().unwrap());
    assert_eq!(in_flight.collect::<Vec<_>>(), [14_480, 11_584, 8_688, 0]);
}

fn verdict(left: u64, transmission: Option<[u64; 3]>, fate: Fate) -> Verdict {
    let ms = |at: u64| Instant::from_nanos(at * 1_000_000);
    Verdict {
        id: left,
        direction: Direction::Forward,
        size: Bytes::new(1_500),
        entered: ms(transmission.map_or(left, |it| it[0])),
        transmission: transmission.map(|it| {
            let [queued, began, ended] = it.map(ms);
            Transmission { queued, began, ended }
        }),
        left: ms(left),
        fate,
        origin: None,
        marked: false,
        corrupted: None,
        fragment: None,
        second_path: false,
    }
}

#[test]
fn queue_that_empties_waits_no_longer() {
    let mut history = History::default();
    let mut told = |verdict| history.verdict(&verdict);
    // 20 ms behind the bottleneck, which takes 100 ms for each.
    told(verdict(120, Some([0, 0, 100]), Fate::Delivered));
    told(verdict(220, Some([5, 100, 200]), Fate::Delivered));
    let full = Cause::QueueFull { packets: 1, bytes: Bytes::new(1_500) };
    told(verdict(250, None, Fate::Dropped(full)));
    told(verdict(320, Some([10, 200, 300]), Fate::Delivered));
    // It came to an empty queue, as did what was lost.
    told(verdict(1_120, Some([1_000, 1_000, 1_100]), Fate::Delivered));
    told(verdict(2_000, None, Fate::Dropped(Cause::Loss)));
    let told = history.since(&mut Cursor::default()).unwrap();
    let rows = told["path"]["forward"].as_array().unwrap().iter();
    let rows: Vec<[u64; 2]> = rows.map(|row| [0, 1].map(|at| row[at].as_u64().unwrap())).collect();
    let ms = |at: u64| at * 1_000_000;
    let busy = [[12, 0], [22, ms(95)], [25, 0], [32, ms(190)]];
    assert_eq!(rows, [&busy[..], &[[33, 0], [112, 0], [113, 0], [200, 0]]].concat());
}

#[test]
fn time_goes_on_without_packets_where_the_clock_says_so() {
    let unix = |ms: u64| UnixTime::from_nanos(1_800_000_000_000_000_000 + ms * 1_000_000);
    let mut history = History::default();
    let mut cursor = Cursor::default();
    assert!(history.since(&mut cursor).is_some());
    // Without a packet its zero is not known.
    history.reach(unix(900));
    assert_eq!(history.since(&mut cursor), None);
    history.begun(unix(0));
    history.begun(unix(500));
    for (now, reached) in [(50, Some(0)), (1_000, Some(900)), (1_000, None), (1_100, Some(1_000))] {
        history.reach(unix(now));
        let told = history.since(&mut cursor).map(|told| told["reached_ns"].as_u64().unwrap());
        assert_eq!(told, reached.map(|ms: u64| ms * 1_000_000), "{now}");
    }
    (0..READERS).for_each(|_| history.ended());
    assert!(history.since(&mut cursor).is_some());
    history.reach(unix(5_000));
    assert_eq!(history.since(&mut cursor), None);
}
