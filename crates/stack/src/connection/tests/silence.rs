//! Peers that say nothing.

use tcplab_units::Span;

use super::peer::Bench;
use super::*;
use crate::SocketOption;

fn keeping_alive(idle: u64, interval: u64, probes: u8) -> Bench {
    let mut config = Config::default();
    config.liveness.keep_alive = true;
    config.liveness.keep_idle = Span::from_secs(idle);
    config.liveness.keep_interval = Span::from_secs(interval);
    config.liveness.keep_probes = probes;
    Bench::established(&config)
}

/// tcp(7): after TCP_KEEPIDLE a probe, every TCP_KEEPINTVL another, and after TCP_KEEPCNT of them
/// a RST. Timers of 10 s are up to 1.3 % late.
#[test]
fn keep_alive_without_answer_gives_up() {
    let mut bench = keeping_alive(10, 2, 3);
    bench.wait(9_900);
    assert!(bench.sent.is_empty());
    bench.wait(400);
    assert_eq!(bench.numbers(), [". 0:0(0) ack 1"]);
    assert_eq!(bench.connection.info(bench.now).probes, 1);
    bench.wait(4_500);
    assert_eq!(bench.causes, [SendCause::KeepAlive; 2]);
    assert_eq!(bench.connection.error(), None);
    bench.forget();
    bench.wait(2_500);
    assert_eq!(bench.numbers(), ["R. 1:1(0) ack 1"]);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));
}

#[test]
fn keep_alive_answer_restarts_timer() {
    let mut bench = keeping_alive(10, 2, 3);
    for _ in 0..5 {
        bench.wait(10_300);
        assert_eq!(bench.numbers(), [". 0:0(0) ack 1"]);
        bench.hear(".", 1, 1, 0);
        bench.wait(100);
    }
    assert_eq!(bench.connection.info(bench.now).probes, 0);
}

/// Zero, as Linux's sysctls allow it: probes follow each other, and time goes on between them.
#[test]
fn keep_alive_of_no_time_is_not_due_for_ever() {
    let mut config = Config::default();
    config.host.tick = Span::ZERO;
    config.liveness.keep_alive = true;
    config.liveness.keep_idle = Span::ZERO;
    config.liveness.keep_interval = Span::ZERO;
    let mut bench = Bench::established(&config);
    bench.connection.write(bench.now, b"outstanding").unwrap();
    for _ in 0..20 {
        bench.connection.handle_timeout(bench.now);
        assert!(bench.connection.poll_at().is_none_or(|at| at > bench.now));
        bench.wait(1);
    }
}

/// Every probe is answered at once.
#[test]
fn keep_alive_probe_is_answered() {
    let mut bench = Bench::established(&Config::default());
    bench.hear(".", 0, 1, 0);
    assert_eq!(bench.numbers(), [". 1:1(0) ack 1"]);
}

/// TCP_USER_TIMEOUT in place of the count of probes, and of retransmissions.
#[test]
fn user_timeout_ends_keep_alive() {
    let mut bench = keeping_alive(10, 2, 100);
    let timeout = SocketOption::UserTimeout(Span::from_secs(15));
    bench.connection.set_option(bench.now, timeout);
    bench.wait(14_900);
    assert_eq!(bench.connection.error(), None);
    bench.wait(2_600);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));

    let mut bench = Bench::established(&Config::default());
    bench.connection.set_option(bench.now, timeout);
    bench.connection.write(bench.now, b"anybody?").unwrap();
    bench.poll();
    bench.wait(14_900);
    assert_eq!(bench.connection.error(), None);
    bench.wait(1_500);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));
}

/// `tcp_retries2` = 15: 924.6 s by the model with 200 ms, given up at the first timeout after.
#[test]
fn data_without_answer_times_out() {
    let mut bench = Bench::established(&Config::default());
    bench.connection.write(bench.now, b"anybody?").unwrap();
    bench.poll();
    bench.wait(924_000);
    assert_eq!(bench.connection.error(), None);
    bench.wait(130_000);
    assert_eq!(bench.connection.error(), Some(ConnectionError::TimedOut));
    assert_eq!(bench.connection.unacknowledged().as_u64(), 0);
}

/// A closed window is asked as long as the peer answers, and opens at last.
#[test]
fn zero_window_is_probed() {
    let mut bench = Bench::established(&Config::default());
    bench.hear_ack(1, 0, &[]);
    bench.connection.write(bench.now, &[1; 100]).unwrap();
    bench.poll();
    assert!(bench.sent.is_empty());
    for _ in 0..40 {
        bench.wait(125_000);
        assert!(!bench.sent.is_empty());
        assert!(bench.causes.iter().all(|cause| *cause == SendCause::WindowProbe));
        bench.forget();
        bench.hear_ack(1, 0, &[]);
    }
    bench.hear_ack(1, 1, &[]);
    assert_eq!(bench.numbers(), ["P. 1:101(100) ack 1"]);
}
