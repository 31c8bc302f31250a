//! Socket options, set before the connection is opened.

use tcplab_units::{Bytes, Rate, Span};

use super::peer::Bench;
use super::*;
use crate::Data;
use crate::SocketOption;
use crate::connection::Send;

fn with(options: &[SocketOption]) -> Config {
    Config { socket: options.to_vec(), ..Config::default() }
}

fn secs(n: u64) -> Span {
    Span::from_secs(n)
}

/// `secs_to_retrans`, `retrans_to_secs`: sums of 1, 2, 4… s, each timeout 120 s at most.
#[test]
fn defer_accept_is_stored_in_timeouts() {
    for (asked, count, read) in
        [(0, 0, 0), (1, 1, 1), (2, 2, 3), (5, 3, 7), (7, 3, 7), (8, 4, 15), (128, 8, 247)]
    {
        let options = SocketOptions::of(&with(&[SocketOption::DeferAccept(secs(asked))]));
        assert_eq!((options.defer_accept, options.defer_accept_span()), (count, secs(read)));
    }
}

/// `tcp_check_req`, `syn_ack_recalc`: an ACK without data is not heard until the time is over;
/// then a SYN-ACK asks for it once more.
#[test]
fn defer_accept_waits_for_data() {
    let config = with(&[SocketOption::DeferAccept(secs(5))]);
    let mut bench = Bench::answering(&config);
    assert_eq!(bench.numbers(), ["S. 0:0(0) ack 1"]);
    bench.wait(10);
    bench.hear(".", 1, 1, 0);
    assert_eq!(bench.connection.state(), State::SynReceived);
    // 1 s and 3 s go by, the third timeout is the last.
    bench.wait(6_800);
    assert!(bench.sent.is_empty(), "{:?}", bench.sent);
    bench.wait(500);
    assert_eq!(bench.numbers(), ["S. 0:0(0) ack 1"]);
    assert_eq!(bench.connection.state(), State::SynReceived);
    bench.hear(".", 1, 1, 0);
    assert_eq!(bench.connection.state(), State::Established);

    let mut bench = Bench::answering(&config);
    bench.hear(".", 1, 1, 0);
    bench.hear("P.", 1, 1, 100);
    assert_eq!(bench.connection.state(), State::Established);
    assert_eq!(bench.connection.unread().as_u64(), 100);
}

/// If nothing is acknowledged, SYN-ACKs are retransmitted as usual; TCP_SYNCNT of the listening
/// socket says how often (`reqsk_timer_handler`).
#[test]
fn syn_retries_option_limits_syn_ack_retransmissions() {
    for (options, expected) in [
        (&[][..], 6),
        (&[SocketOption::DeferAccept(secs(5))], 6),
        (&[SocketOption::SynRetries(2)], 3),
    ] {
        let mut bench = Bench::answering(&with(options));
        bench.wait(200_000);
        assert_eq!(bench.sent.len(), expected, "{options:?}");
        assert_eq!(bench.connection.state(), State::Closed);
    }
}

/// `tcp_rcv_synsent_state_process`: with TCP_DEFER_ACCEPT a client leaves the third segment of the
/// handshake to its first data, for 200 ms.
#[test]
fn defer_accept_of_client_delays_ack() {
    let mut bench = Bench::connecting(&with(&[SocketOption::DeferAccept(secs(1))]));
    bench.forget();
    bench.hear_syn_ack();
    assert!(bench.sent.is_empty());
    bench.connection.write(bench.now, b"hello").unwrap();
    bench.poll();
    assert_eq!(bench.numbers(), ["P. 1:6(5) ack 1"]);

    let mut bench = Bench::connecting(&with(&[SocketOption::DeferAccept(secs(1))]));
    bench.forget();
    bench.hear_syn_ack();
    bench.wait(190);
    assert!(bench.sent.is_empty());
    bench.wait(30);
    assert_eq!(bench.numbers(), [". 1:1(0) ack 1"]);
}

/// TCP_WINDOW_CLAMP before the handshake: whole segments of it are offered, and the scale is for
/// what may be offered at most (`tcp_select_initial_window`); 1152 is the least.
#[test]
fn window_clamp_before_handshake_shows_in_syn() {
    for (clamp, window, scale) in
        [(100, 1_152, 0), (10_000, 8_760, 0), (65_536, 64_240, 1), (1_000_000, 64_240, 4)]
    {
        let clamp = SocketOption::WindowClamp(Bytes::new(clamp));
        let config = Arc::new(with(&[clamp]));
        let mut connection = Connection::connect(Instant::ZERO, &config, opening(1));
        let syn = connection.poll_transmit(Instant::ZERO).unwrap().segment.header;
        assert_eq!((syn.window, syn.window_scale), (window, Some(scale)), "{clamp:?}");
    }
}

/// `tcp_set_window_clamp` on a connection: less is offered as soon as the window may shrink, 0 and
/// what is too small count as 1152.
#[test]
fn window_clamp_later_lowers_window_at_once() {
    let mut bench = Bench::established(&Config::default());
    let before = bench.connection.info(bench.now).rcv_ssthresh;
    assert!(before > 60_000);
    bench.connection.set_option(bench.now, SocketOption::WindowClamp(Bytes::new(5_000)));
    assert_eq!(bench.connection.info(bench.now).rcv_ssthresh, 5_000);
    bench.connection.set_option(bench.now, SocketOption::WindowClamp(Bytes::new(1)));
    assert_eq!(bench.connection.info(bench.now).rcv_ssthresh, 1_152);
    bench.connection.set_option(bench.now, SocketOption::WindowClamp(Bytes::new(9_000)));
    assert_eq!(bench.connection.info(bench.now).rcv_ssthresh, 9_000);
}

/// SO_MAX_PACING_RATE: 1 Mbit/s is 125 bytes in a millisecond. The first ten segments are free
/// (`tcp_update_skb_after_send`); bursts of two segments of 1460 bytes then leave every 23.36 ms,
/// counted from when they leave.
#[test]
fn max_pacing_rate_limits_rate() {
    let rate = Rate::from_bits_per_second(1_000_000);
    let mut bench = Bench::established(&with(&[SocketOption::MostPace(Some(rate))]));
    let data = Data::copy_of(&vec![0; 60_000]);
    bench.connection.send(bench.now, &data, Send::default()).unwrap();
    bench.poll();
    assert_eq!(bench.forget().len(), 10);
    assert_eq!(bench.connection.info(bench.now).pacing_rate, Some(rate));
    // The window grows to twenty segments at once.
    bench.hear(".", 1, 14_601, 0);
    let begun = bench.now;
    let mut left = vec![];
    for _ in 0..120 {
        left.extend(bench.forget().iter().map(|_| bench.now.since(begun).as_micros()));
        bench.wait(1);
    }
    // 120 ms hold 15000 bytes: ten segments, and the burst that began it.
    assert!((10..=12).contains(&left.len()), "{left:?}");
    let gaps: Vec<u64> = left.windows(2).map(|w| w[1] - w[0]).filter(|gap| *gap > 0).collect();
    assert!(gaps.iter().all(|gap| (22_000..=25_000).contains(gap)), "{gaps:?}");
}

/// SO_RCVLOWAT: `poll` reports data when there is as much, or no more will come for the window is
/// closed (`tcp_epollin_ready`); never more than half the buffer (`tcp_set_rcvlowat`).
#[test]
fn receive_low_water_mark_delays_readiness() {
    let mut bench = Bench::established(&with(&[SocketOption::ReceiveLow(Bytes::new(300))]));
    bench.hear("P.", 1, 1, 299);
    assert!(!bench.connection.is_readable());
    bench.hear("P.", 300, 1, 1);
    assert!(bench.connection.is_readable());
    // The end of the stream is always readable.
    let mut bench = Bench::established(&with(&[SocketOption::ReceiveLow(Bytes::new(300))]));
    bench.hear("P.", 1, 1, 10);
    assert!(!bench.connection.is_readable());
    bench.hear("F.", 11, 1, 0);
    assert!(bench.connection.is_readable());

    let options = [
        SocketOption::ReceiveBuffer(Bytes::new(4_096)),
        SocketOption::ReceiveLow(Bytes::new(1 << 20)),
    ];
    let bench = Bench::established(&with(&options));
    assert_eq!(bench.connection.receive_low().as_u64(), 4_096);
    // A buffer without SO_SNDBUF or SO_RCVBUF grows.
    let bench = Bench::established(&with(&options[1..]));
    assert_eq!(bench.connection.receive_low().as_u64(), 1 << 20);
    assert!(bench.connection.receive_buffer().as_u64() >= 1 << 21);
}

/// SO_RCVLOWAT: while the application waits for more, reading makes no room, so a second full
/// segment is acknowledged at once, though the window would be lower (`__tcp_ack_snd_check`).
#[test]
fn receive_low_water_mark_hurries_acknowledgements() {
    for (low, at_once) in [(1, false), (2_920, false), (2_921, true)] {
        let mut bench = Bench::established(&with(&[
            SocketOption::ReceiveBuffer(Bytes::new(4_096)),
            SocketOption::ReceiveLow(Bytes::new(low)),
        ]));
        bench.connection.set_option(bench.now, SocketOption::QuickAck(false));
        bench.hear(".", 1, 1, 1_460);
        assert_eq!(bench.numbers(), [""; 0]);
        bench.hear(".", 1_461, 1, 1_460);
        assert_eq!(bench.numbers(), vec![". 1:1(0) ack 2921"; usize::from(at_once)], "{low}");
    }
}

/// SO_KEEPALIVE alone: the first probe after two hours (tcp(7)), the last of nine after 75 s each.
#[test]
fn keep_alive_by_default_starts_after_two_hours() {
    let mut bench = Bench::established(&with(&[SocketOption::KeepAlive(true)]));
    bench.wait(7_199_000);
    assert!(bench.sent.is_empty());
    // So far ahead, the wheel's timers are up to 131 s late (`LVL_GRAN` for 250 Hz).
    bench.wait(135_000);
    assert_eq!(bench.numbers(), [". 0:0(0) ack 1"]);
    bench.wait(9 * 77_100);
    assert_eq!(bench.causes.iter().filter(|cause| **cause == SendCause::KeepAlive).count(), 8);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));
}

/// TCP_NOTSENT_LOWAT: a writer is held back by what was not sent, whatever room there is.
#[test]
fn notsent_low_water_mark_limits_unsent_bytes() {
    let low = SocketOption::UnsentLow(Bytes::new(3_000));
    let mut bench = Bench::established(&with(&[low]));
    let taken = bench.connection.write(bench.now, &vec![0; 100_000]).unwrap();
    bench.poll();
    // Ten segments leave, and a chunk is begun as long as fewer than 3000 bytes wait.
    let unsent = bench.connection.info(bench.now).notsent_bytes.as_u64();
    assert!(unsent < 3_000 + 65_536 && taken < 100_000, "{taken} {unsent}");
    assert!(!bench.connection.is_writable() || unsent < 3_000);
}
