//! What bounded a transfer: senders whose limit is known, because it was built so.

use std::collections::VecDeque;
use std::fmt::Write;

use proptest::prelude::*;
use tcplab_units::{Bytes, Instant, Span};

use super::drill::{MSS, analyze, connection, drill, feed, flow};
use crate::{Analyzer, CapturePoint, Confidence, Flow, Limit, LimitShares, Segment};

/// The handshake of a path with 20 ms there and back, seen beside the client.
const OPENED: &str = "open 0.020
                      0.0202 < ack 1";

/// A sender on a path without loss, limited by windows, buffer and the narrowest link.
struct Ideal {
    segments: u64,
    /// The congestion window, by how many segments were acknowledged.
    window: fn(u64) -> u64,
    /// Once this many segments are left in the buffer, it is filled up again.
    buffer: Option<(u64, u64)>,
    /// The advertised window, in units of 128 bytes.
    advertised: u64,
    /// How long a segment takes on the narrowest link, microseconds: 232 are 50 Mbit/s.
    spacing: u64,
    /// How long the sender's pacing timer makes a segment wait, microseconds.
    pacing: u64,
}

const IDEAL: Ideal = Ideal {
    segments: 2_000,
    window: |_| 10,
    buffer: None,
    advertised: 65_000,
    spacing: 232,
    pacing: 0,
};

impl Ideal {
    const ROUND_TRIP: u64 = 20_000;

    /// As a drill; the first data pass at 21 ms.
    fn text(&self) -> String {
        let mut text = format!("{OPENED}\n");
        let mut now = 21_000;
        let (mut sent, mut acked, mut written, mut link, mut gate) = (0, 0, 0, 0, 0);
        let mut acks: VecDeque<u64> = VecDeque::new();
        loop {
            match self.buffer {
                Some((low, high)) if written - acked <= low => written = acked + high,
                Some(_) => {}
                None => written = self.segments,
            }
            let room = self.advertised * 128 / MSS;
            let allowed = (self.window)(acked).min(room);
            while sent - acked < allowed && sent < written.min(self.segments) && gate <= now {
                let start = 1 + sent * MSS;
                writeln!(text, "{} > {start}:{}", seconds(now), start + MSS).unwrap();
                link = now.max(link) + self.spacing;
                acks.push_back(link + Ideal::ROUND_TRIP);
                // The first burst shows what the path carries.
                gate = if sent < 10 { now } else { now + self.pacing };
                sent += 1;
            }
            let wants = sent < self.segments && sent - acked < allowed && gate > now;
            match acks.front() {
                Some(&ack) if !wants || ack < gate => {
                    acks.pop_front();
                    acked += 1;
                    let number = 1 + acked * MSS;
                    writeln!(text, "{} < ack {number} win {}", seconds(ack), self.advertised)
                        .unwrap();
                    // The kernel's answer takes a few microseconds.
                    now = ack + 5;
                }
                _ if wants => now = gate,
                _ => return text,
            }
        }
    }

    fn shares(&self) -> LimitShares {
        let flow = flow(&self.text());
        holds_together(&flow);
        flow.shares
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The periods cover everything from the first data to the last acknowledgement, once.
fn holds_together(flow: &Flow) {
    let mut sum = LimitShares { confidence: flow.shares.confidence, ..LimitShares::default() };
    let mut acked = Bytes::ZERO;
    for pair in flow.limits.windows(2) {
        assert_eq!(pair[0].until, pair[1].from);
        assert_ne!(pair[0].limit, pair[1].limit);
    }
    for period in &flow.limits {
        assert_eq!(period.shares.total(), period.until.since(period.from));
        sum.add(&period.shares);
        acked += period.acked;
    }
    assert_eq!(sum, flow.shares);
    let (Some(first), Some(last)) = (flow.limits.first(), flow.limits.last()) else { return };
    // A copy that the network or the capture point made was not sent.
    let is_sent = |s: &&Segment| s.payload > Bytes::ZERO && !s.kind.is_copy();
    let data = || flow.segments.iter().filter(is_sent);
    assert_eq!(first.from, data().next().unwrap().at);
    let sent = data().map(|s| s.at).max().unwrap();
    assert!(last.until >= sent);
    assert_eq!(last.until, first.from + flow.transfer.time);
    assert_eq!(acked, flow.transfer.acked);
}

#[track_caller]
fn mostly(shares: &LimitShares, limit: Limit) {
    assert!(shares.share(limit) > 0.9, "{} is not most of {shares:?}", limit.name());
}

#[test]
fn limit_known_by_construction() {
    for (ideal, limit) in [
        // 10 segments in 20 ms are 5.8 Mbit/s of 50.
        (IDEAL, Limit::Congestion),
        // 114 × 128 bytes hold ten segments.
        (Ideal { window: |_| 40, advertised: 114, ..IDEAL }, Limit::ReceiveWindow),
        // A writer wakes when a third of the buffer is free (`sk_stream_write_space`).
        (Ideal { window: |_| 40, buffer: Some((8, 12)), ..IDEAL }, Limit::SendBuffer),
        // A standing queue: 20 ms at 50 Mbit/s hold 86 segments.
        (Ideal { window: |_| 150, segments: 8_000, ..IDEAL }, Limit::Path),
    ] {
        let shares = ideal.shares();
        mostly(&shares, limit);
        assert_eq!(shares.confidence, Confidence::High);
    }
}

/// The flow of `text` after the handshake.
fn after_handshake(text: &str) -> Flow {
    let flow = flow(&format!("{OPENED}\n{text}"));
    holds_together(&flow);
    flow
}

#[test]
fn limit_slow_start_then_path() {
    let flow = flow(&Ideal { window: |acked| (10 + acked).min(120), ..IDEAL }.text());
    holds_together(&flow);
    let limits: Vec<Limit> = flow.limits.iter().map(|period| period.limit).collect();
    assert_eq!(limits, [Limit::SlowStart, Limit::Path, Limit::Application]);
    // 10, 20, 40, 80 segments, and the round trip that no longer doubles.
    let until = flow.limits[0].until.as_secs_f64();
    assert!((0.08..0.15).contains(&until), "{until}");
}

#[test]
fn limit_path_pacing_not_application() {
    // 1.4 ms for a segment on the link and at the sender; every fourth one is answered twice.
    let paced = Ideal { window: |_| 40, spacing: 1_400, pacing: 1_400, segments: 600, ..IDEAL };
    let shares = paced.shares();
    assert!(shares.share(Limit::Path) > 0.8, "{shares:?}");
    assert!(shares.share(Limit::SendBuffer) < 0.05, "{shares:?}");
}

/// `count` writes of `size` bytes, one each `every` microseconds, acknowledged after 20.4 ms.
fn writes(count: u64, every: u64, size: u64) -> String {
    let mut text = String::new();
    for write in 0..count {
        let (at, start) = (100_000 + write * every, 1 + write * size);
        writeln!(text, "{} > {start}:{} psh", seconds(at), start + size).unwrap();
        writeln!(text, "{} < ack {}", seconds(at + 20_400), start + size).unwrap();
    }
    text
}

#[test]
fn limit_application() {
    let flow = after_handshake(&writes(40, 37_000, 3_000));
    mostly(&flow.shares, Limit::Application);
    // Between the acknowledgement and the next write nothing is in flight: 39 times 16.6 ms.
    assert_eq!(flow.shares.idle.as_micros(), 39 * 16_600);
}

/// Messages of `size` bytes, each sent when the answer to the last one came, `wait` microseconds
/// after it. Answers bear the ACK and take 20 to 45 ms: no window and no queue makes them wait.
fn messages(size: u64, wait: u64) -> LimitShares {
    let mut text = String::new();
    let mut at = 100_000;
    for message in 0..60_u64 {
        let start = 1 + message * size;
        writeln!(text, "{} > {start}:{} psh", seconds(at), start + size).unwrap();
        at += 20_000 + message * 7 % 25 * 1_000;
        writeln!(text, "{} < ack {}", seconds(at), start + size).unwrap();
        at += wait;
    }
    after_handshake(&text).shares
}

#[test]
fn limit_application_small_messages() {
    for (size, wait) in [(12, 30), (12, 5_000), (600, 30), (1_200, 30)] {
        mostly(&messages(size, wait), Limit::Application);
    }
}

/// Nagle's rule holds back the end of each message until what filled segments is acknowledged.
#[test]
fn limit_application_end_of_message_held_by_nagle() {
    for filled in [1, 2] {
        let mut text = String::new();
        let (mut at, mut start) = (100_000, 1);
        for _ in 0..40 {
            let rest = start + filled * MSS;
            writeln!(text, "{} > {start}:{rest}", seconds(at)).unwrap();
            writeln!(text, "{} < ack {rest}", seconds(at + 60_000)).unwrap();
            writeln!(text, "{} > {rest}:{} psh", seconds(at + 60_020), rest + 300).unwrap();
            (at, start) = (at + 80_100, rest + 300);
            writeln!(text, "{} < ack {start}", seconds(at - 50)).unwrap();
        }
        mostly(&after_handshake(&text).shares, Limit::Application);
    }
}

/// A window below a segment: each segment fills it, whether it bears PSH or not.
#[test]
fn limit_receive_window_below_a_segment() {
    let mut text = "0.090 < ack 1 win 8\n".to_owned();
    for write in 0..60 {
        let (at, start) = (100_000 + write * 20_020, 1 + write * 1_024);
        writeln!(text, "{} > {start}:{} psh", seconds(at), start + 1_024).unwrap();
        writeln!(text, "{} < ack {} win 8", seconds(at + 20_000), start + 1_024).unwrap();
    }
    mostly(&after_handshake(&text).shares, Limit::ReceiveWindow);
}

/// A slow host in slow start: each flight follows the last acknowledgement of the one before after
/// 0.12 ms, and an acknowledgement that came 0.28 ms before that let nothing go.
#[test]
fn limit_slow_start_of_slow_host_no_full_buffer() {
    let mut text = String::new();
    let (mut at, mut start) = (100_000, 1);
    for flight in [10, 20, 40, 80, 160] {
        let end = start + flight * MSS;
        writeln!(text, "{} > {start}:{end} every 0.00001", seconds(at)).unwrap();
        at += 20_000;
        writeln!(text, "{} < ack {}", seconds(at), start + 4 * MSS).unwrap();
        writeln!(text, "{} < ack {}", seconds(at + 280), end - 2 * MSS).unwrap();
        (at, start) = (at + 400, end);
    }
    let shares = after_handshake(&text).shares;
    assert_eq!(shares.of(Limit::SendBuffer), Span::ZERO);
    assert!(shares.share(Limit::SlowStart) > 0.5, "{shares:?}");
}

/// The client's first data bear the last ACK of the handshake: the server is as far away as its
/// SYN-ACK shows, and did not wait.
#[test]
fn limit_server_away_by_its_syn_ack() {
    let opened = "0 > S\n0.190 < S\n0.1902 > 1:101 psh\n";
    let answer = "0.3802 < 1:1449 psh acking 101\n0.3803 > ack 1449 at 101";
    let server = connection(&format!("{opened}{answer}")).reverse;
    assert_eq!(server.shares.confidence, Confidence::Low);
    assert!(server.stalls.is_empty(), "{:?}", server.stalls);
}

/// Two of them are in flight when the ACK of the first comes, at the moment of the next write.
#[test]
fn limit_application_below_initial_window() {
    mostly(&after_handshake(&writes(60, 10_200, 700)).shares, Limit::Application);
}

/// As many in flight as an initial window has: what it held back would fill segments.
#[test]
fn limit_application_messages_as_many_as_initial_window() {
    mostly(&after_handshake(&writes(200, 2_040, 1_000)).shares, Limit::Application);
}

#[test]
fn limit_application_small_writes_at_receiver() {
    let mut text = "open 0.0001 0.0401\n".to_owned();
    for write in 0..200_u64 {
        let (at, start) = (100_000 + write * 5_000, 1 + write * 700);
        writeln!(text, "{} > {start}:{} psh", seconds(at), start + 700).unwrap();
        writeln!(text, "{} < ack {}", seconds(at + 10), start + 700).unwrap();
    }
    let flow = flow(&text);
    mostly(&flow.shares, Limit::Application);
    assert_eq!(flow.transfer.capacity, None);
}

/// The congestion window falls to a half each 800 segments, on marks.
#[test]
fn limit_congestion_by_marks() {
    let ideal = Ideal { window: |acked| if acked / 400 % 2 == 0 { 40 } else { 20 }, ..IDEAL };
    let opened = "0 > S bits 011\n0.020 < S bits 001\n0.0201 > ack 1";
    let mut text = ideal.text().replace("open 0.020", opened);
    for fall in [400, 1_200] {
        let first = 1 + (fall + 40) * MSS;
        let line = format!("> {first}:{}", first + MSS);
        assert!(text.contains(&line));
        let (before, after) = text.split_once(&line).expect("it is sent");
        let marked = before.rfind('\n').map(|at| before.split_at(at + 1));
        let (before, at) = marked.expect("a line begins");
        text = format!("{before}{at}< ack {} ece\n{at}{line} cwr{after}", first - 40 * MSS);
    }
    let flow = flow(&text);
    holds_together(&flow);
    let shares = &flow.shares;
    assert!(shares.share(Limit::Congestion) > 0.8, "{shares:?}");
    assert!(shares.share(Limit::SendBuffer) < 0.05, "{shares:?}");
}

/// A capture beside the receiver, with timestamps: `count` segments pass at `at` microseconds each
/// and echo what was acknowledged `echoes` segments before. The receive window is never full.
fn beside_receiver(count: u64, echoes: u64, at: impl Fn(u64) -> u64) -> String {
    let clock = |segment: u64| at(segment) / 1_000;
    let mut text = String::new();
    for segment in 0..count {
        let (now, start) = (at(segment), 1 + segment * MSS);
        let echo = segment.checked_sub(echoes).map_or(1, clock);
        let stamps = format!("clock {} echo", clock(segment));
        writeln!(text, "{} > {start}:{} {stamps} {echo}", seconds(now), start + MSS).unwrap();
        let (ack, now) = (start + MSS, seconds(now + 10));
        writeln!(text, "{now} < ack {ack} win 1140 {stamps} {}", clock(segment)).unwrap();
    }
    text
}

/// Ten segments each 40 ms, as a small window lets pass; the capture begins after the handshake.
#[test]
fn limit_midstream_at_receiver_no_application() {
    let at = |segment: u64| 41_000 + segment / 10 * 40_500 + segment % 10 * 232;
    let connection = connection(&beside_receiver(500, 10, at));
    let flow = &connection.forward;
    holds_together(flow);
    assert_eq!(flow.capture_point, CapturePoint::Receiver);
    mostly(&flow.shares, Limit::Congestion);
    assert_eq!(flow.shares.confidence, Confidence::Low);
    // At first the distance is not known.
    assert!(flow.stalls.len() <= 1, "{:?}", flow.stalls);
}

/// A link of 1 Mbit/s, where segments pass each 12 ms and wait for 80 ms on a path of 40 ms.
#[test]
fn limit_path_slow_link_at_receiver() {
    let opened = "open 0.0001 0.0401\n".to_owned();
    let flow_of = |text: String| flow(&(opened.clone() + &text));
    let slow = flow_of(beside_receiver(300, 10, |segment| 100_000 + segment * 12_000));
    mostly(&slow.shares, Limit::Path);
    let rate = slow.transfer.capacity.unwrap().bits_per_second();
    assert!(rate.abs_diff(965_333) < 10_000, "{rate}");
    // An application writes so each 30 ms: its segments find no queue.
    let writes = flow_of(beside_receiver(300, 2, |segment| 100_000 + segment * 30_000));
    assert_eq!(writes.transfer.capacity, None);
}

/// A link of 100 Mbit/s in a building: 0.26 ms there and back, segments pass each 116 µs.
#[test]
fn limit_path_fast_short_link_at_receiver() {
    let opened = "open 0.00003 0.00029\n".to_owned();
    let text = opened + &beside_receiver(1_000, 30, |segment| 1_000 + segment * 116);
    let flow = flow(&text);
    holds_together(&flow);
    assert_eq!(flow.capture_point, CapturePoint::Receiver);
    mostly(&flow.shares, Limit::Path);
    assert_eq!(flow.shares.confidence, Confidence::Low);
}

/// A full link, captured with times in milliseconds: the format says so, or the times show it.
#[test]
fn limit_path_by_coarse_times() {
    let ideal = Ideal { window: |_| 150, spacing: 580, segments: 4_000, ..IDEAL };
    let mut packets = drill(&ideal.text(), 1_000);
    for packet in &mut packets {
        packet.time_ns -= packet.time_ns % 1_000_000;
    }
    let mut exact = Analyzer::new().with_exact_times();
    feed(&mut exact, &packets);
    assert_eq!(exact.finish().notes, []);
    for is_told in [true, false] {
        let mut analyzer = Analyzer::new();
        if is_told {
            analyzer.counts_time_in(1_000_000);
        }
        feed(&mut analyzer, &packets);
        let trace = analyzer.finish();
        let [note] = &trace.notes[..] else { panic!("{:?}", trace.notes) };
        assert!(note.text.contains("counts time in milliseconds"), "{note:?}");
        let flow = &trace.connections[0].forward;
        mostly(&flow.shares, Limit::Path);
        assert_eq!(flow.shares.confidence, Confidence::Low);
        let rate = flow.transfer.capacity.unwrap().bits_per_second();
        assert!(rate.abs_diff(19_972_000) < 1_000_000, "{rate}");
    }
}

/// Probes with a byte of new data (BSD, Windows) and empty ones (Linux), beside either end.
#[test]
fn limit_receive_window_while_zero() {
    let sent = "0.030 > 1:5793
         0.050 < ack 5793 win 0
         0.300 > 5793:5794
         0.320 < ack 5793 win 0
         0.900 < ack 5793 win 500
         0.9001 > 5793:11585
         0.9202 < ack 11585";
    let at_receiver = "open 0.0001 0.0201\n";
    for (name, flow) in [
        ("a byte", after_handshake(sent)),
        ("empty", after_handshake(&sent.replace("5793:5794", "at 5792"))),
        (
            "empty, receiver",
            flow(&(at_receiver.to_owned() + &sent.replace("5793:5794", "at 5792"))),
        ),
    ] {
        let longest = flow.limits.iter().max_by_key(|p| p.until.since(p.from)).unwrap();
        assert_eq!(longest.limit, Limit::ReceiveWindow, "{name}");
        let closed = flow.shares.of(Limit::ReceiveWindow).as_millis_f64();
        assert!(closed > 800.0, "{name} {:?}", flow.shares);
    }
}

#[test]
fn limit_application_after_window_update() {
    let flow = after_handshake(
        "0.030 > 1:5793
         0.050 < ack 5793 win 0
         0.100 < ack 5793 win 500
         0.9001 > 5793:11585
         0.9202 < ack 11585",
    );
    mostly(&flow.shares, Limit::Application);
}

/// A page is read until the client asks for the next one: at a window with little left, and with a
/// timer that follows the next packet. With all acknowledged nothing held the sender before.
#[test]
fn limit_application_once_all_is_acknowledged() {
    // 23 × 128 bytes: two segments, of which a large packet takes more than is left.
    let at_receiver = "open 0.0001 0.0401\n0.050 > 1:1449\n0.0501 < ack 1449 win 23
         0.0902 > 1449:2897\n0.0903 > 2897:4345\n0.0904 < ack 4345 win 500
         4.090 < 1:101 acking 4345\n4.1304 > 4345:5793 acking 101\n4.1305 < ack 5793 at 101";
    let before_timer = "open 0.020\n0.0202 < ack 1\n0.030 > 1:287 psh\n0.050 < ack 287
         4.000 < 1:101 acking 287\n4.0001 > ack 101 at 287\n4.300 > 1:287 acking 101";
    for (name, text, busy) in [("receiver", at_receiver, 130), ("timer", before_timer, 330)] {
        let flow = flow(text);
        holds_together(&flow);
        let others = flow.shares.total().saturating_sub(flow.shares.of(Limit::Application));
        assert!(others < Span::from_millis(busy), "{name}: {:?}", flow.shares);
        assert!(flow.shares.idle > Span::from_millis(3_800), "{name}: {:?}", flow.shares);
    }
}

#[test]
fn limit_timeout() {
    let flow = after_handshake(
        "0.030 > 1:14481
         0.050 < acks 1449 5793 every 0.0003
         0.260 > 13033:14481
         0.500 > 5793:7241
         0.520 < ack 14481",
    );
    assert!(flow.shares.share(Limit::Timeout) > 0.85, "{:?}", flow.shares);
    let timeout = flow.limits.iter().find(|period| period.limit == Limit::Timeout).unwrap();
    assert!(timeout.until == Instant::from_nanos(500_000_000), "{timeout:?}");
}

#[test]
fn limit_congestion_during_recovery() {
    let flow = after_handshake(
        "0.030 > 1:14481
         0.050 < ack 1449
         0.0501 < ack 1449 sack 2897-4345
         0.0502 < ack 1449 sack 2897-5793
         0.0503 < ack 1449 sack 2897-7241
         0.05031 > 1449:2897
         0.0509 < ack 1449 sack 2897-14481
         0.0703 < ack 14481
         0.07031 > 14481:20273
         0.0904 < ack 20273",
    );
    let span = flow.shares.of(Limit::Congestion).as_millis_f64();
    assert!((20.0..41.0).contains(&span), "{:?}", flow.shares);
    assert!(flow.shares.of(Limit::Timeout).is_zero());
}

/// Even pauses are idle, too: nothing is in flight.
#[test]
fn limit_idle_at_even_intervals() {
    let shares = after_handshake(&writes(20, 60_000, 1_000)).shares;
    mostly(&shares, Limit::Application);
    assert_eq!(shares.idle.as_micros(), 19 * 39_600);
}

/// Once all is repaired and acknowledged, recovery is over, though no later ACK says so.
#[test]
fn limit_application_after_recovery() {
    let flow = after_handshake(
        "0.030 > 1:14481
         0.050 < ack 1449
         0.0501 < ack 1449 sack 2897-4345
         0.0502 < ack 1449 sack 2897-5793
         0.0503 < ack 1449 sack 2897-7241
         0.05031 > 1449:2897
         0.0509 < ack 1449 sack 2897-14481
         0.0703 < ack 14481
         4.999999 < 1:100
         5.000 > 14481:14981
         5.020 < ack 14981",
    );
    mostly(&flow.shares, Limit::Application);
    let clocked = flow.shares.of(Limit::Congestion).as_millis_f64();
    assert!((15.0..41.0).contains(&clocked), "{:?}", flow.shares);
    assert_eq!(flow.shares.idle.as_micros(), 4_929_700);
}

#[test]
fn limit_receive_window_at_receiver() {
    // The same at the receiver: ACKs leave at once, the reaction arrives 20 ms later.
    let mut text = "open 0.0001 0.0201\n".to_owned();
    for round in 0..50_u64 {
        for segment in 0..10 {
            let at = 41_000 + round * 20_500 + segment * 232;
            let start = 1 + (round * 10 + segment) * MSS;
            writeln!(text, "{} > {start}:{}", seconds(at), start + MSS).unwrap();
            writeln!(text, "{} < ack {} win 114", seconds(at + 10), start + MSS).unwrap();
        }
    }
    let flow = flow(&text);
    holds_together(&flow);
    assert!(flow.shares.share(Limit::ReceiveWindow) > 0.85, "{:?}", flow.shares);
    assert_eq!(flow.shares.confidence, Confidence::Low);
}

#[test]
fn limits_none_without_data() {
    let connection = connection(&IDEAL.text());
    assert!(connection.reverse.limits.is_empty());
    assert_eq!(connection.reverse.shares, LimitShares::default());
    assert!(!connection.forward.limits.is_empty());
}

/// One packet: microseconds since the last, whether it is data, which segment, how many, window.
type Step = (u64, bool, u64, u64, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![0_u64..300, 0_u64..30_000, 0_u64..900_000];
    proptest::collection::vec((gap, any::<bool>(), 0_u64..30, 1_u64..12, 0_u64..400), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn limits_cover_time_exactly_once(steps in steps(), away in any::<bool>()) {
        let halves = if away { "0.0001 < S\n0.0201 > ack 1" } else { "0.020 < S\n0.0201 > ack 1" };
        let mut text = format!("0.000 > S\n{halves}\n");
        let (mut now, mut high, mut una) = (30_000, 0_u64, 0_u64);
        for (gap, data, back, count, window) in steps {
            now += gap;
            if data {
                let from = high.saturating_sub(back % 5 * u64::from(back > 20));
                high = high.max(from + count);
                let (start, end) = (1 + from * MSS, 1 + (from + count) * MSS);
                writeln!(text, "{} > {start}:{end}", seconds(now)).unwrap();
            } else {
                una = (una + back).min(high);
                writeln!(text, "{} < ack {} win {window}", seconds(now), 1 + una * MSS).unwrap();
            }
        }
        let trace = analyze(&drill(&text, 1_000));
        for connection in &trace.connections {
            holds_together(&connection.forward);
        }
    }

    #[test]
    fn limits_clock_jumps_no_panic(
        times in proptest::collection::vec(0_u64..1 << 60, 200), away in any::<bool>(),
    ) {
        let halves = if away { "0.0001 < S" } else { "0.020 < S" };
        let text = Ideal { segments: 90, ..IDEAL }.text().replace("0.020 < S", halves);
        let mut packets = drill(&text, 1_000);
        for (packet, time) in packets.iter_mut().zip(times).skip(usize::from(away) * 3) {
            packet.time_ns = time;
        }
        for connection in analyze(&packets).connections {
            let total = connection.forward.limits.iter().map(|p| p.shares.total()).sum();
            prop_assert_eq!(connection.forward.shares.total(), total);
        }
    }
}
