//! Which connection comes first, from packets.

#[path = "../../../../trace/src/tests/drill.rs"]
mod drill;

use std::path::Path;

use tcplab_trace::{Connection, Sink};
use tcplab_units::Span;

use super::{Row, Summary, SummaryTotals, is_cut, is_reset, lost_in};

/// The numbers of the connections in the order of the table.
fn order(connections: impl IntoIterator<Item = Connection>) -> Vec<usize> {
    let mut summary = Summary::new(usize::MAX, 0);
    for (index, connection) in connections.into_iter().enumerate() {
        summary.connection(index, &connection);
    }
    summary.by_loss().iter().map(|row| row.index).collect()
}

fn connection(text: &str) -> Connection {
    drill::connection(&format!("open 0.020\n{text}"))
}

/// 40 segments in three round trips, without loss.
fn good() -> Connection {
    connection(
        "0.030 > 1:14481
         0.050 < acks 1449 14481 every 0.0005
         0.0551 > 14481:57921 every 0.0002
         0.076 < acks 15929 57921 every 0.0005
         0.120 > 57921:57922 fin
         0.140 < ack 57922",
    )
}

#[test]
fn data_connection_of_iperf3_comes_before_its_control_connection() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    for name in [
        "ackloss30",
        "app_limited",
        "blackout",
        "clean_cubic_20ms",
        "loss1_cubic",
        "nosack_loss1",
        "nots_loss1",
        "rwnd_limited",
    ] {
        for end in ["snd", "rcv"] {
            let capture = corpus.join(format!("{name}.{end}.pcap.zst"));
            let trace = tcplab_trace::analyze(tcplab_capture::open(capture).unwrap());
            assert_eq!(trace.connections[0].server.port(), 5201, "{name}.{end}");
            assert!(trace.connections[0].forward.totals.unique.as_u64() < 600, "{name}.{end}");
            let lost: Vec<Span> = trace.connections.iter().map(Row::lost_by).collect();
            assert_eq!(order(trace.connections), [1, 0], "{name}.{end}: {lost:?}");
        }
    }
}

#[test]
fn stalled_small_transfer_comes_before_good_large_ones() {
    // Its 300 bytes are lost twice.
    let stalled = connection(
        "0.030 > 1:301
         0.260 > 1:301
         0.720 > 1:301
         0.740 < ack 301",
    );
    // An answer that the other end took long for is no stall.
    let slow_answer = connection("0.030 > 1:301\n1.900 < ack 301");
    let mut all: Vec<Connection> = (0..20).map(|_| good()).collect();
    all.insert(7, stalled);
    all.push(slow_answer);
    let order = order(all);
    assert_eq!(order[0], 7);
    assert_eq!(order[21], 21);
}

/// Of less data than has a rate, only what a timer repeated is lost time.
#[test]
fn few_bytes_lose_no_time_without_a_retransmission() {
    for (text, lost) in [
        ("0.030 > 1:301\n1.900 < ack 301", 0),
        ("0.030 > 1:301\n0.260 > 1:301\n0.280 < ack 301", 230),
    ] {
        let flow = drill::flow(&format!("open 0.020\n{text}"));
        assert_eq!(lost_in(&flow, None).as_millis_f64().round() as u64, lost, "{text}");
    }
}

#[test]
fn resets_that_cost_something_come_first() {
    let refused = drill::connection("0.000 > S\n0.020 < R 0 ack 1");
    // Ten segments are outstanding when the server resets.
    let cut = connection("0.030 > 1:28961\n0.050 < ack 14481\n0.060 < R 1");
    let done = connection("0.030 > 1:301\n0.050 < ack 301\n0.060 > R 301");
    let all = vec![good(), done, cut, refused];
    let lost: Vec<Span> = all.iter().map(Row::lost_by).collect();
    assert_eq!(lost[3], Span::from_millis(1_020));
    assert!(lost[2] >= Span::from_secs(1), "{lost:?}");
    assert!(lost[1].is_zero() && lost[0] < Span::from_millis(100), "{lost:?}");
    // The second in the order did not pass.
    let shown: Vec<Span> = all.iter().map(Row::lost_time).collect();
    assert_eq!(shown[3], Span::from_millis(20));
    assert!(shown[2] < Span::from_millis(100), "{shown:?}");
    assert_eq!(order(all), [3, 2, 0, 1]);
}

#[test]
fn reset_before_the_first_answer_is_acknowledged_comes_first() {
    // The client resets without an ACK for the answer, all of which is lost.
    let cut = "0.030 > 1:101\n0.050 < 1:501 acking 101\n0.051 > R 101 ack 1";
    let lost = Row::lost_by(&connection(cut));
    assert_eq!(lost, Span::from_secs(1));
    assert_eq!(order([good(), connection(cut)]), [1, 0]);
    // Of one direction alone nobody knows what arrived.
    let alone = drill::connection("0.030 > 1:101\n0.230 > 1:101\n0.240 > R 101");
    assert!(is_reset(&alone) && !is_cut(&alone));
}

/// `count` requests in turn, each answered after `wait` seconds.
fn answered_after(wait: f64, count: u32) -> Connection {
    let mut text = String::new();
    for turn in 0..count {
        let (at, from) = (0.030 + f64::from(turn) * (wait + 0.1), 1 + turn * 300);
        let to = from + 300;
        text += &format!(
            "{at:.4} > {from}:{to} acking {from}
             {:.4} < {from}:{to} acking {to}
             {:.4} > ack {to} at {to}
",
            at + wait + 0.020,
            at + wait + 0.0201
        );
    }
    connection(&text)
}

#[test]
fn slow_server_is_among_the_worst_though_no_time_is_lost() {
    let rules = |connection: &Connection| -> Vec<_> {
        tcplab_findings::examine(connection).iter().map(|finding| finding.rule).collect()
    };
    let (slow, slower) = (answered_after(1.0, 3), answered_after(2.0, 3));
    assert!(Row::lost_by(&slow).is_zero() && rules(&slow).contains(&"slow-answers"));
    let worst = |connections: &[&Connection], keep: usize| {
        let mut summary = Summary::new(usize::MAX, keep);
        for (index, connection) in connections.iter().enumerate() {
            summary.connection(index, connection);
        }
        summary.worst().iter().map(|(index, _)| *index).collect::<Vec<_>>()
    };
    let quick = &answered_after(0.001, 3);
    // Those that lost time come first, then the slower servers, then the others.
    let all = [quick, &slow, &good(), &slower];
    assert_eq!(worst(&all, 4), [2, 3, 1, 0]);
    assert_eq!(worst(&[quick], 4), [0]);
    // The slowest server is there although others lost time; a quick one is not.
    let lost = [&good(), &good(), &good(), &slow, quick, &slower];
    assert_eq!(worst(&lost, 3), [0, 1, 2, 5]);
    assert_eq!(worst(&[&good(), &good(), quick], 2), [0, 1]);
    assert_eq!(worst(&lost, 0), [0usize; 0]);
}

#[test]
fn resets_counted_other_than_in_the_handshake() {
    let open = "open 0.020";
    for (text, is_reset) in [
        ("0.000 > S\n0.020 < R 0 ack 1".to_owned(), false),
        (format!("{open}\n0.030 > 1:301\n0.050 < ack 301"), false),
        (format!("{open}\n0.030 > 1:301\n0.050 < ack 301\n0.060 > R 301"), true),
        // Older than the capture: Zeek's states know no reset of these.
        ("0.030 > 1:301\n0.040 < 1:301 acking 301\n0.060 > R 301 ack 1".to_owned(), true),
        ("0.030 > 1:301\n0.040 < 1:301 acking 301\n0.060 < R 1".to_owned(), true),
    ] {
        let connection = drill::connection(&text);
        let row = Row::new(0, &connection);
        assert_eq!(row.is_reset, is_reset, "{:?}", connection.life);
        assert_eq!(row.state_name() == "reset", is_reset);
        let mut totals = SummaryTotals::default();
        totals.add(&row);
        assert_eq!(totals.reset, usize::from(is_reset));
    }
}

/// An RST far below what its sender goes on to send, and what becomes of the connection then.
#[test]
fn reset_that_ends_nothing_is_none() {
    let reset =
        "0.030 < 1:2897\n0.031 > ack 2897\n0.040 < R 1\n0.050 < 2897:4345\n0.051 > ack 4345";
    for (text, state) in [
        ("", "open"),
        ("0.060 > 1:2 acking 4345 fin\n0.070 < ack 2 at 4345", "half closed"),
        (
            "0.060 > 1:2 acking 4345 fin\n0.070 < 4345:4346 acking 2 fin\n0.071 > ack 4346 at 2",
            "closed",
        ),
    ] {
        let row = Row::new(0, &drill::connection(&format!("open 0.020\n{reset}\n{text}")));
        assert_eq!((row.state_name(), row.is_reset), (state, false));
    }
}

#[test]
fn lost_syns_are_lost_time() {
    let late = drill::connection(
        "0.000 > S
         1.000 > S
         1.020 < S
         1.0201 > ack 1
         1.030 > 1:301
         1.050 < ack 301",
    );
    // Until the handshake was over, less a round trip.
    let lost = Row::lost_by(&late).as_millis_f64();
    assert!((999.0..1_001.0).contains(&lost), "{lost}");
    assert_eq!(order([good(), late]), [1, 0]);
}
