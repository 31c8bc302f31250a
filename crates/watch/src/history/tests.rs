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
