//! Zeek's states and histories of the corpus, worked out from tshark's fields by Zeek's rules.

use tcplab_trace::{CloseKind, Connection, ConnectionState, HandshakeKind, analyze};

/// A capture and, of its control and data connections, history and frame of the first FIN or RST.
type Case = (&'static str, (&'static str, u64), (&'static str, u64));

const CASES: &[Case] = &[
    ("ackloss30.rcv", ("ShADadtfF", 16_585), ("ShADaTTfr", 15_803)),
    ("ackloss30.snd", ("ShADadtFf", 14_768), ("ShADaTTfr", 14_484)),
    ("app_limited.rcv", ("ShADadTfF", 2_559), ("ShADaTfrr", 2_544)),
    ("app_limited.snd", ("ShADadTFf", 2_558), ("ShADaTfrr", 2_545)),
    ("blackout.rcv", ("ShADadTfF", 24_100), ("ShADaTTfr", 23_323)),
    ("blackout.snd", ("ShADadTFf", 23_932), ("ShADaTTfr", 23_537)),
    ("clean_cubic_20ms.rcv", ("ShADadtTFf", 36_583), ("ShADar", 34_197)),
    ("clean_cubic_20ms.snd", ("ShADadTtFf", 36_583), ("ShADar", 35_382)),
    ("loss1_cubic.rcv", ("ShADadfF", 5_801), ("ShADaTTfr", 5_758)),
    ("loss1_cubic.snd", ("ShADadTFf", 5_834), ("ShADaTTfr", 5_807)),
    ("nosack_loss1.rcv", ("ShADadFf", 5_590), ("ShADaTTfr", 5_543)),
    ("nosack_loss1.snd", ("ShADadFf", 5_615), ("ShADaTTfr", 5_586)),
    ("nots_loss1.rcv", ("ShADadFf", 4_093), ("ShADaTTfrr", 4_046)),
    ("nots_loss1.snd", ("ShADadFf", 4_118), ("ShADaTTfrr", 4_089)),
    ("rwnd_limited.rcv", ("ShADadfF", 5_538), ("ShADaTfrr", 5_521)),
    ("rwnd_limited.snd", ("ShADadFf", 5_537), ("ShADaTfrr", 5_523)),
];

#[test]
fn lives_match_tshark() {
    for (name, control, data) in CASES {
        let trace = analyze(super::capture(name));
        let [first, second] = trace.connections.as_slice() else {
            panic!("{name}: {} connections", trace.connections.len());
        };
        assert_eq!(summary(first), (ConnectionState::Sf, control.0, control.1), "{name}: control");
        assert_eq!(summary(second), (ConnectionState::Rstr, data.0, data.1), "{name}: data");
        for connection in [first, second] {
            assert_eq!(connection.handshake.kind, HandshakeKind::ThreeWay, "{name}");
        }
        // The receiving program was stopped with data in flight: FIN, then an RST for each segment;
        // in one an RST at once, for 26,064 unread bytes, which only the RST acknowledges (tshark:
        // 31,362,270 is acknowledged after 31,336,206).
        let close = second.life.close.unwrap();
        let (kind, unread) = match *name {
            "clean_cubic_20ms.rcv" | "clean_cubic_20ms.snd" => (CloseKind::Reset, Some(26_064)),
            _ => (CloseKind::ResetAfterFin, None),
        };
        let found = close.unread.map(tcplab_units::Bytes::as_u64);
        assert_eq!((close.kind, found), (kind, unread), "{name}");
    }
}

fn summary(connection: &Connection) -> (ConnectionState, &str, u64) {
    let life = &connection.life;
    (life.state, &life.history, life.close.map_or(0, |close| close.frame))
}
