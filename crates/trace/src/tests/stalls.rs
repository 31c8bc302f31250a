//! Each cause of a stall, and the same packets without it.

use super::drill::{analyze, connection, drill, flow};
use tcplab_units::Span;

use crate::{Flow, StallCause};

const OPENED: &str = "open 0.020
                      0.0202 < ack 1
                      0.021 > 1:5793
                      0.041 < acks 1449 5793 every 0.0002\n";

fn causes(text: &str) -> Vec<StallCause> {
    let flow = flow(&format!("{OPENED}{text}"));
    add_up(&flow);
    flow.stalls.iter().map(|stall| stall.cause).collect()
}

fn add_up(flow: &Flow) {
    let count: u64 = flow.stall_sums.iter().map(|sum| sum.count).sum();
    assert_eq!(count, flow.stalls.len() as u64);
    for sum in &flow.stall_sums {
        let of = || flow.stalls.iter().filter(|stall| stall.cause == sum.cause);
        assert_eq!(sum.time, of().map(|s| s.until.since(s.from)).sum());
        let longest = sum.longest.until.since(sum.longest.from);
        assert!(of().all(|s| s.until.since(s.from) <= longest));
    }
    for pair in flow.stalls.windows(2) {
        assert!(pair[0].until <= pair[1].from);
    }
}

#[test]
fn stall_causes() {
    use StallCause::*;
    for (name, text, expected) in [
        (
            "steady transfer",
            "0.060 > 5793:8689
             0.081 < ack 8689
             0.110 > 8689:11585
             0.131 < ack 11585",
            &[][..],
        ),
        ("packet delay", "0.060 > 5793:8689\n0.240 < ack 8689", &[PacketDelay]),
        ("delayed ACK of less than two segments", "0.060 > 5793:7241\n0.260 < ack 7241", &[]),
        ("as late as an ACK may be", "0.060 > 5793:7241\n0.585 < ack 7241", &[]),
        ("later than any delayed ACK", "0.060 > 5793:7241\n0.661 < ack 7241", &[PacketDelay]),
        ("ACK with the next request", "0.060 > 5793:7241\n2.060 < 1:101 acking 7241", &[NoRequest]),
        ("tail loss", TAIL_LOSS, &[TailLoss]),
        (
            "with more to send, the window was small",
            &format!("{TAIL_LOSS}\n0.3211 > 8689:13033\n0.342 < ack 13033")[..],
            &[SmallWindow],
        ),
        (
            // 23 × 128 bytes hold two segments.
            "small receive window",
            "0.060 > 5793:8689
             0.081 < ack 8689 win 23
             0.082 > 8689:11585
             0.103 < ack 8689 win 23
             0.320 > 8689:10137
             0.341 < ack 11585 win 23
             0.342 > 11585:14481
             0.363 < ack 14481",
            &[SmallReceiveWindow],
        ),
        (
            "ACK loss",
            "0.060 > 5793:14481
             0.300 > 5793:7241
             0.321 < ack 14481 dsack 5793-7241
             0.322 > 14481:15929
             0.343 < ack 15929",
            &[AckLoss],
        ),
        (
            // Soon, and yet the timestamp is the retransmission's.
            "the retransmission is echoed",
            "0.060 > 5793:8689 clock 60
             0.300 > 5793:7241 clock 300
             0.305 < ack 8689 clock 9 echo 300",
            &[TailLoss],
        ),
        (
            "the original is echoed",
            "0.060 > 5793:8689 clock 60
             0.300 > 5793:7241 clock 300
             0.305 < ack 8689 clock 9 echo 60",
            &[AckLoss],
        ),
        (
            "lost retransmission",
            "0.060 > 5793:8689
             0.081 < ack 7241
             0.300 > 7241:8689
             0.720 > 7241:8689
             0.741 < ack 8689",
            &[TailLoss, DoubleLoss],
        ),
        ("continuous loss", ALL_LOST, &[ContinuousLoss]),
        (
            "all but one segment lost",
            &ALL_LOST.replace("0.3421 > 10137:14481", "0.3421 > 10137:11585")[..],
            &[Timeout],
        ),
        (
            // The probe's arrival says that all had arrived: their ACKs are missing.
            "probe with new data, and only its ACK",
            "0.060 > 5793:14481\n0.110 > 14481:15929\n0.131 < ack 15929",
            &[AckLoss],
        ),
        (
            "the receiver's keep-alive says nothing of what is in flight",
            "0.060 > 5793:8689
             0.300 < ack 5793 at 0
             0.700 > 5793:7241
             0.721 < ack 7241
             0.7211 > 7241:10137
             0.742 < ack 10137",
            &[SmallWindow],
        ),
        (
            "probe without loss",
            "0.060 > 5793:14481\n0.110 > 14481:15929\n0.115 < ack 15929",
            &[PacketDelay],
        ),
        ("unfinished at the end", "0.060 > 5793:14481\n0.300 > 5793:7241", &[Timeout]),
    ] {
        assert_eq!(causes(text), expected, "{name}");
    }
}

/// What ends the wait reports no data: no packet was late.
#[test]
fn stall_no_delay_where_no_data_is_reported() {
    for (name, text) in [
        ("a FIN that acknowledges nothing", "0.060 > 5793:8689\n2.060 < 1:2 fin acking 5793"),
        ("a reset", "0.060 > 5793:8689\n2.060 < R 1 ack 8689"),
        ("a FIN in flight", "0.060 > 5793:5794 fin\n2.060 < ack 5794"),
    ] {
        assert_eq!(causes(text), [], "{name}");
    }
}

const TAIL_LOSS: &str = "0.060 > 5793:8689
    0.081 < ack 7241
    0.300 > 7241:8689
    0.321 < ack 8689";
const ALL_LOST: &str = "0.060 > 5793:14481
    0.300 > 5793:7241
    0.321 < ack 7241
    0.3211 > 7241:10137
    0.342 < ack 10137
    0.3421 > 10137:14481
    0.363 < ack 14481
    0.3631 > 14481:17377
    0.384 < ack 17377";

#[test]
fn stall_sender_slow() {
    let flow = flow(&format!(
        "{OPENED}
         0.500 > 5793:8689
         0.521 < ack 8689"
    ));
    let [stall] = flow.stalls[..] else { panic!("{:?}", flow.stalls) };
    assert_eq!(stall.cause, StallCause::SenderSlow);
    assert_eq!(stall.from.as_nanos(), 41_600_000);
    assert_eq!(stall.until.as_nanos(), 500_000_000);
    assert_eq!(stall.in_flight.as_u64(), 0);
}

/// A FIN without data that is lost is no delay.
#[test]
fn stall_of_a_lost_fin() {
    let text = format!("{OPENED}0.060 > 5793:5794 fin\n0.300 > 5793:5794 fin\n0.321 < ack 5794");
    let mut packets = drill(&text, 1_000);
    for packet in packets.iter_mut().filter(|packet| packet.bytes.len() == 41) {
        packet.bytes.truncate(40);
        packet.bytes[2..4].copy_from_slice(&40_u16.to_be_bytes());
    }
    let flow = &analyze(&packets).connections[0].forward;
    let causes: Vec<_> = flow.stalls.iter().map(|stall| stall.cause).collect();
    assert_eq!(causes, [StallCause::TailLoss], "{:?}", flow.segments.last());
}

/// Where no ACK without data was captured, one may have come in time.
#[test]
fn stall_no_delay_where_bare_acks_lack() {
    for (first, cause) in [("< 1:101 acking 5793", "no request"), ("< ack 5793", "packet delay")] {
        let text = format!(
            "0.100 > 1:5793\n0.120 {first}\n0.121 > 5793:11585\n20.0 < 101:201 acking 11585"
        );
        let flow = flow(&text);
        let causes: Vec<_> = flow.stalls.iter().map(|stall| stall.cause.name()).collect();
        assert_eq!(causes, [cause], "{first}");
    }
}

/// The server closes an idle connection: nothing was asked of it. With a request open it is slow.
#[test]
fn stall_none_before_idle_close() {
    let closed = |asked: &str| {
        let text = format!(
            "open 0.020
             0.0202 > 1:101
             0.040 < ack 101
             0.0401 < 1:2897
             0.060 > ack 2897
             {asked}
             5.060 < 2897:2898 fin
             5.080 > ack 2898"
        );
        connection(&text).reverse.stalls.iter().map(|s| s.cause).collect::<Vec<_>>()
    };
    assert_eq!(closed(""), []);
    assert_eq!(closed("0.070 > 101:201\n0.090 < ack 201"), [StallCause::SenderIdle]);
}

/// Beside the receiver: a keep-alive, empty or with an old byte, shows that nothing is outstanding.
#[test]
fn stall_before_a_keep_alive_is_the_senders() {
    let sent = |after: &str| {
        let mut text = "open 0.0001 0.0201\n0.030 > 1:2897\n0.0301 < ack 2897\n".to_owned();
        for at in ["5.1", "10.1", "15.1"] {
            text += &format!("{at} > {after}\n{at}001 < ack 2897\n");
        }
        flow(&text).stalls.iter().map(|stall| stall.cause).collect::<Vec<_>>()
    };
    for keep_alive in ["at 2896", "2896:2897"] {
        assert_eq!(sent(keep_alive), [StallCause::SenderSlow; 3], "{keep_alive}");
    }
    // New data may be those of a window of which nothing was captured.
    assert_eq!(sent("2897:4345")[0], StallCause::Undetermined);
}

/// The client asks twice; the server takes its time at first, the client after that.
#[test]
fn stall_sender_idle_and_no_request() {
    let connection = connection(
        "open 0.020
         0.0202 > 1:101
         0.040 < ack 101
         0.0401 < 1:2897
         0.060 > ack 2897
         0.500 > 101:201
         0.520 < ack 201
         0.900 < 2897:5793
         0.920 > ack 5793",
    );
    let of = |flow: &Flow| flow.stalls.iter().map(|s| s.cause).collect::<Vec<_>>();
    assert_eq!(of(&connection.reverse), [StallCause::NoRequest, StallCause::SenderIdle]);
    // These pauses, seen from the requester.
    assert_eq!(of(&connection.forward), [StallCause::SenderIdle, StallCause::NoRequest]);
}

/// Beside the client: 30 kB of a question take 24 ms on a link of 10 Mbit/s, and the ACK of their
/// end comes back 44 ms after all were sent. What the server does after that is its own.
#[test]
fn stall_of_an_answer_begins_when_the_question_had_arrived() {
    let answered = |after: &str| {
        let text = format!(
            "open 0.020
             0.021 > 1:14481
             0.041 < acks 1449 14481 every 0.0012
             0.053 < 1:1449 acking 14481
             0.054 > 14481:43441 acking 1449
             0.0752 < acks 15929 43441 every 0.0012
             {after}"
        );
        connection(&text).reverse.stalls.iter().map(|s| (s.cause, s.frames)).collect::<Vec<_>>()
    };
    assert_eq!(answered("0.0989 < 1449:2897 acking 43441"), []);
    let slow = answered("0.200 < 1449:2897 acking 43441");
    assert!(matches!(slow[..], [(StallCause::SenderIdle, (ack, _))] if ack > 50), "{slow:?}");
}

#[test]
fn stall_zero_window() {
    let probed = "0.060 > 5793:8689
                  0.081 < ack 8689 win 0
                  0.300 > 8689:8690
                  0.321 < ack 8689 win 0
                  0.900 < ack 8689 win 500
                  0.901 > 8689:10137
                  0.922 < ack 10137";
    let seen = causes(probed);
    assert!(seen.len() >= 2, "{seen:?}");
    assert!(seen.iter().all(|&cause| cause == StallCause::ZeroWindow), "{seen:?}");
    assert!(!causes(&probed.replace("win 0", "win 500")).contains(&StallCause::ZeroWindow));
}

/// A reader so slow that its window has room for less than a segment: the sender waits for more, or
/// for its override timer (RFC 9293 section 3.8.6.2.1) and fills the rest.
#[test]
fn stall_receive_window_below_a_segment() {
    use StallCause::*;
    let full = "0.060 > 5793:8689\n0.081 < ack 8689 win";
    // 8 × 128 bytes are less than a segment, and 12 × 128 more.
    for (name, text, expected) in [
        ("until it opens", format!("{full} 8\n1.2 < ack 8689 win 40"), &[ReceiveWindow][..]),
        ("fills the rest", format!("{full} 8\n4.8 > 8689:9713\n4.9 < ack 9713"), &[ReceiveWindow]),
        ("what would have fitted", format!("{full} 8\n4.8 > 8689:9689"), &[SenderSlow]),
        ("room for a segment", format!("{full} 12\n4.8 > 8689:10137"), &[SenderSlow]),
        ("opens less than a segment", format!("{full} 6\n1.2 < ack 8689 win 8"), &[]),
        ("with a request", format!("{full} 8\n1.2 < 1:101 acking 8689"), &[NoRequest]),
        (
            "nothing left to send",
            "0.060 > 5793:8000\n0.081 < ack 8000 win 8\n1.2 < ack 8000 win 40".to_owned(),
            &[],
        ),
    ] {
        assert_eq!(causes(&text), expected, "{name}");
    }
}

#[test]
fn stalls_none_in_handshake() {
    let flow = flow(
        "0.000 > S
         1.000 > S
         1.020 < S
         1.0201 > ack 1
         1.021 > 1:1449
         1.041 < ack 1449",
    );
    assert_eq!(flow.stalls, []);
}

/// The server thinks for three seconds before its first answer: beside either end, and after a
/// request of many segments.
#[test]
fn stall_before_first_answer() {
    for (name, opened, request) in [
        ("beside the client", "open 0.020", "0.030 > 1:301\n0.051 < ack 301"),
        ("beside the server", "open 0.0001 0.0201", "0.030 > 1:301\n0.0301 < ack 301"),
        ("the ACK comes with the answer", "open 0.020", "0.030 > 1:301"),
        (
            "an upload",
            "open 0.020",
            "0.010 < ack 1\n0.030 > 1:14481\n0.050 < acks 1449 14481 every 0.0001
             0.0511 > 14481:28961\n0.071 < acks 15929 28961 every 0.0001",
        ),
    ] {
        let end = if name == "an upload" { 28_961 } else { 301 };
        let text = format!("{opened}\n{request}\n3.071 < 1:1449 acking {end}\n3.0712 > ack 1449");
        let connection = connection(&text);
        let stalls = &connection.reverse.stalls;
        let causes: Vec<_> = stalls.iter().map(|stall| stall.cause).collect();
        assert_eq!(causes, [StallCause::SenderIdle], "{name}");
        let time = stalls[0].until.since(stalls[0].from).as_millis_f64();
        assert!((2_990.0..3_045.0).contains(&time), "{name}: {time} ms");
    }
}

/// A server that never answers is not slow to do so.
#[test]
fn stall_none_before_first_answer() {
    for text in [
        "open 0.020\n0.030 > 1:301\n0.051 < ack 301\n3.1 < 1:2 fin acking 301",
        "open 0.020\n0.030 > 1:301\n0.052 < 1:1449 acking 301\n0.053 > ack 1449",
    ] {
        assert_eq!(connection(text).reverse.stalls, [], "{text}");
    }
}

/// The server speaks first, three seconds after the handshake: beside either end.
#[test]
fn stall_before_greeting() {
    let greeted = |opened: &str, rest: &str| {
        let connection = connection(&format!("{opened}\n{rest}"));
        assert_eq!(connection.forward.stalls, [], "{opened}, {rest}");
        let stalls = &connection.reverse.stalls;
        let times: Vec<_> = stalls.iter().map(|it| (it.cause, it.until.since(it.from))).collect();
        (times, connection.reverse.marks.greeting)
    };
    for (opened, at) in [("open 0.020 0.0201", "3.0401"), ("open 0.0001 0.0201", "3.0202")] {
        let (stalls, greeting) = greeted(opened, &format!("{at} < 1:301\n3.1 > ack 301"));
        let took = Span::from_millis(3_000);
        assert_eq!(stalls, [(StallCause::SenderIdle, took)], "{opened}");
        assert_eq!(greeting, Some(took), "{opened}");
    }
    let (stalls, _) = greeted("open 0.020", "0.042 < 1:301\n0.043 > ack 301");
    assert_eq!(stalls, []);
    // The client speaks first, or both at once.
    let (stalls, greeting) = greeted("open 0.020", "0.05 > 1:301\n0.071 < 1:301 acking 301");
    assert_eq!((stalls, greeting), (vec![], None));
}

/// The client sends its request 1.3 s after the connection is there, as a browser may that opens
/// connections in advance: from its ACK on, beside either end, and also after a repeated SYN.
#[test]
fn stall_before_first_request() {
    let waited = |opened: &str, at: &str| {
        let flow = flow(&format!("{opened}\n{at} > 1:301"));
        assert_eq!(flow.marks.greeting, flow.stalls.first().map(|it| it.until.since(it.from)));
        flow.stalls.iter().map(|it| (it.cause, it.until.since(it.from))).collect::<Vec<_>>()
    };
    let took = [(StallCause::SenderIdle, Span::from_millis(1_300))];
    assert_eq!(waited("open 0.020 0.0201", "1.3201"), took);
    assert_eq!(waited("open 0.0001 0.0201", "1.3201"), took);
    assert_eq!(waited("0 > S\n0.3 > S\n0.32 < S\n0.3201 > ack 1", "1.6201"), took);
    // At once, or with the last ACK of a handshake on a long path.
    for (opened, at) in
        [("open 0.020", "0.03"), ("open 0.0001 0.0201", "0.0202"), ("0 > S\n0.0001 < S", "0.3001")]
    {
        assert_eq!(waited(opened, at), [], "{opened} {at}");
    }
    let greeted = connection("open 0.020\n1.0 < 1:301\n1.001 > 1:301 acking 301");
    assert_eq!((greeted.forward.stalls, greeted.forward.marks.greeting), (vec![], None));
}

/// Queries in turn whose answers bring the ACKs: what the server takes is found alike at either
/// end, without the path's part of it, and though it is less than that.
#[test]
fn stall_of_an_answer_that_brings_the_ack() {
    for (round_trip, thinking) in [(100, 35), (30, 35), (200, 100), (1, 12), (100, 8), (100, 20)] {
        for beside_server in [false, true] {
            let first = if beside_server { "0.0001 " } else { "" };
            let mut text = format!("open {first}0.{round_trip:03}\n");
            let (mut at, mut ends) = (1_000, [1, 1]);
            for _ in 0..5 {
                let seconds = |at: u64| at as f64 / 1e3;
                let [asked, answered] = ends.map(|end| end + 100);
                text += &format!("{} > {}:{asked} acking {}\n", seconds(at), ends[0], ends[1]);
                let there = if beside_server { thinking } else { thinking + round_trip };
                at += there;
                text += &format!("{} < {}:{answered} acking {asked}\n", seconds(at), ends[1]);
                at += if beside_server { round_trip } else { 0 } + 1;
                ends = [asked, answered];
            }
            let name = format!("{thinking} ms at {round_trip} ms, {beside_server}");
            let sums = connection(&text).reverse.stall_sums;
            let [sum] = sums[..] else {
                let least = if beside_server { 10 } else { 10.max(round_trip / 4) };
                assert!(thinking <= least && sums.is_empty(), "{name}: {sums:?}");
                continue;
            };
            assert_eq!((sum.cause, sum.count), (StallCause::SenderIdle, 5), "{name}");
            let off = sum.time.as_millis_f64() - 5.0 * thinking as f64;
            assert!(off.abs() < 1.0, "{name}: {} off by {off} ms", sum.time);
        }
    }
}
