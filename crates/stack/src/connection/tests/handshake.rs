use tcplab_units::{Bytes, Endpoint, Span};

use super::pair::{Fate, Pair};
use super::peer::Bench;
use super::*;
use crate::SocketOption;

#[test]
fn handshake_negotiates_common_options() {
    let mut pair = Pair::alike(&Config::default(), Span::from_millis(5)).connect();
    pair.run_for(Span::from_millis(20));
    insta::assert_snapshot!(pair.log, @r"
       0.000 > S 0:0(0) win 64240 <mss 1460,sackOK,TS 2000 ecr 0,wscale 10>  Handshake
       5.000 < S. 0:0(0) ack 1 win 65160 <mss 1460,sackOK,TS 501005 ecr 2000,wscale 10>  Handshake
      10.000 > . 1:1(0) ack 1 win 63 <TS 2010 ecr 501005>  Ack
    ");
    let info = pair.client.info(pair.now);
    assert!(info.timestamps && info.sack && info.window_scaling && !info.ecn);
    assert_eq!((info.snd_mss, info.advmss, info.rcv_mss), (1448, 1448, 536));
    assert_eq!((info.snd_wscale, info.rcv_wscale), (10, 10));
    assert_eq!(info.rtt, Span::from_millis(10));
    let now = pair.now;
    assert_eq!(pair.server().info(now).rtt, Span::from_millis(10));
}

#[test]
fn handshake_option_not_offered_is_not_used() {
    let mut config = Config::default();
    config.handshake.timestamps = false;
    config.handshake.sack = false;
    config.handshake.window_scale = None;
    for (client, server) in [(&config, &Config::default()), (&Config::default(), &config)] {
        let mut pair = Pair::new(client, server, Span::from_millis(5)).connect();
        for end in [Endpoint::Client, Endpoint::Server] {
            let info = pair.end(end).info(Instant::ZERO + Span::from_secs(2));
            assert!(!info.timestamps && !info.sack && !info.window_scaling);
            assert_eq!((info.snd_mss, info.snd_wscale, info.rcv_wscale), (1460, 0, 0));
        }
    }
}

/// RFC 3168 section 6.1.1: ECN is requested, granted, and not requested by a retransmitted SYN.
#[test]
fn handshake_ecn_is_negotiated() {
    use crate::config::Ecn::{Asked, Granted, Off};
    for (client, server, first_lost, agreed) in [
        (Asked, Granted, false, true),
        (Asked, Asked, false, true),
        (Asked, Off, false, false),
        (Granted, Granted, false, false),
        (Asked, Granted, true, false),
    ] {
        let with = |ecn| changed(|config| config.handshake.ecn = ecn);
        let mut pair = Pair::new(&with(client), &with(server), Span::from_millis(5))
            .with_fate(move |_, n, _| if first_lost && n == 0 { Fate::Lost } else { Fate::Arrives })
            .connect();
        let now = pair.now;
        assert_eq!(pair.client.info(now).ecn, agreed, "{client:?} {server:?}");
        assert_eq!(pair.server().info(now).ecn, agreed, "{client:?} {server:?}");
    }
}

/// A mark is echoed until the sender says that it slowed down.
#[test]
fn ecn_mark_is_echoed_until_cwr() {
    let config = changed(|config| config.handshake.ecn = crate::config::Ecn::Asked);
    let mut pair = Pair::alike(&config, Span::from_millis(5))
        .with_fate(|from, _, segment| {
            // The sixth segment of data.
            let number = segment.header.seq.distance_from(SeqNumber::new(1_001));
            let sixth = from == Endpoint::Client && !segment.is_empty() && number == 5 * 1448;
            if sixth { Fate::Marked } else { Fate::Arrives }
        })
        .connect();
    pair.transfer(Endpoint::Client, &vec![1; 60_000], Span::from_secs(5));
    let lines = |arrow: &str, flag: char| {
        pair.log
            .lines()
            .filter(|line| line.contains(&format!(" {arrow} ")) && !line.contains(" S"))
            .filter(|line| line.split_whitespace().nth(2).is_some_and(|f| f.contains(flag)))
            .count()
    };
    assert_eq!(lines(">", 'W'), 1, "{}", pair.log);
    assert!(lines("<", 'E') >= 5, "{}", pair.log);
    assert!(pair.client.info(pair.now).delivered_ce > 0);
    let last = pair.log.lines().rfind(|line| line.contains(" < ")).unwrap();
    assert!(!last.contains('E'), "{last}");
}

/// `tcp_syn_linear_timeouts` = 4, `tcp_syn_retries` = 6: at 1, 2, 3, 4 s, then doubling, and given
/// up 131 s after the first; each timer up to a grain of the wheel late.
#[test]
fn syn_without_answer_is_retransmitted() {
    let mut bench = Bench::connecting(&Config::default());
    let start = bench.now;
    let mut times = vec![];
    while let Some(at) = bench.connection.poll_at() {
        bench.now = at;
        bench.connection.handle_timeout(at);
        times.push(at.since(start).as_millis_f64().round() as u64);
        bench.poll();
    }
    assert_eq!(bench.sent.len(), 11);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));
    let nominal = [1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131];
    for (time, nominal) in times.iter().zip(nominal) {
        let late = time - nominal * 1000;
        assert!(late < nominal * 1000 / 8, "{time} ms for {nominal} s");
    }
    assert_eq!(times.len(), nominal.len());
}

/// `tcp_synack_retries` = 5: at 1, 3, 7, 15, 31 s, given up at 63 s.
#[test]
fn syn_ack_without_answer_is_retransmitted() {
    let mut bench = Bench::answering(&Config::default());
    bench.wait(62_000);
    assert_eq!(bench.causes.len(), 6);
    assert_eq!(bench.connection.state(), State::SynReceived);
    bench.wait(12_000);
    assert_eq!(bench.connection.state(), State::Closed);
    assert_eq!(bench.connection.error(), None);
}

/// RFC 9293 figure 8.
#[test]
fn open_by_both_at_once_establishes() {
    let config = Config::default();
    let now = Instant::ZERO + Span::from_secs(1);
    let config = Arc::new(config);
    let mut ends = [1_000, 9_000].map(|n| Connection::connect(now, &config, opening(n)));
    for round in 0..4 {
        let sent = ends.each_mut().map(|end| {
            std::iter::from_fn(|| end.poll_transmit(now)).map(|t| t.segment).collect::<Vec<_>>()
        });
        for (to, segments) in [(1, &sent[0]), (0, &sent[1])] {
            for segment in segments {
                ends[to].handle_segment(now, segment);
            }
        }
        let expected = if round == 0 { State::SynReceived } else { State::Established };
        assert_eq!(ends.each_ref().map(Connection::state), [expected; 2], "round {round}");
    }
    ends[0].write(now, b"hello").unwrap();
    let data = ends[0].poll_transmit(now).unwrap();
    ends[1].handle_segment(now, &data.segment);
    let mut block = [0; 10];
    assert_eq!(ends[1].read(now, &mut block), Ok(5));
}

/// A spurious retransmission of the SYN gives an RTT by its timestamp, and costs no window.
#[test]
fn syn_ack_after_timeout_shows_spurious_retransmission() {
    for (timestamps, cwnd) in [(true, 10), (false, 1)] {
        let config = changed(|config| config.handshake.timestamps = timestamps);
        let mut pair = Pair::alike(&config, Span::from_millis(1_300)).connect();
        let info = pair.client.info(pair.now);
        assert_eq!(info.retransmits, 0);
        assert_eq!(info.snd_cwnd, cwnd, "timestamps {timestamps}: {}", pair.log);
        pair.run_for(Span::from_millis(10));
    }
}

#[test]
fn connect_refused_returns_error() {
    let mut bench = Bench::connecting(&Config::default());
    // Not an answer to this SYN.
    bench.hear("R.", 0, 7, 0);
    assert_eq!(bench.connection.state(), State::SynSent);
    bench.hear("R.", 0, 1, 0);
    assert_eq!(bench.connection.error(), Some(ConnectionError::Refused));
    assert_eq!(bench.connection.write(bench.now, b"x"), Err(ConnectionError::Refused.into()));
}

#[test]
fn syn_retransmitted_triggers_limited_syn_acks() {
    let mut bench = Bench::answering(&Config::default());
    bench.forget();
    for _ in 0..3 {
        bench.wait(200);
        bench.hear("S", 0, 0, 0);
    }
    // 500 ms between answers.
    assert_eq!(bench.numbers(), ["S. 0:0(0) ack 1"]);
}

/// SO_RCVBUF before the handshake: the window and its scale follow (`tcp_select_initial_window`):
/// 4096 is doubled, half of 8192 is window, and the scale is for what that is at most.
#[test]
fn syn_with_small_receive_buffer_has_small_window() {
    let config = Arc::new(Config::default());
    for (asked, window, scale) in [(1_024, 1_152, 0), (4_096, 2_920, 0), (65_536, 64_240, 1)] {
        let mut options = SocketOptions::of(&config);
        options.set(SocketOption::ReceiveBuffer(Bytes::new(asked)));
        let mut connection =
            Connection::connect_with(Instant::ZERO, &config, &options, opening(1), None);
        let syn = connection.poll_transmit(Instant::ZERO).unwrap().segment.header;
        assert_eq!((syn.window, syn.window_scale), (window, Some(scale)), "{asked} B");
    }
}
