use tcplab_units::{Endpoint, Span};

use super::pair::Pair;
use super::peer::Bench;
use super::*;
use crate::SocketOption;

const DELAY: Span = Span::from_millis(5);

fn established() -> Pair {
    let mut pair = Pair::alike(&Config::default(), DELAY).connect();
    pair.run_for(Span::from_millis(100));
    pair.log.clear();
    pair
}

#[test]
fn close_by_one_then_other_ends_connection() {
    let mut pair = established();
    let now = pair.now;
    pair.client.shutdown(now);
    assert_eq!(pair.client.write(now, b"x"), Err(WriteError::Closed));
    pair.run_for(Span::from_millis(100));
    assert_eq!((pair.client.state(), pair.server().state()), (State::FinWait2, State::CloseWait));
    // Half closed: the server still sends.
    let now = pair.now;
    pair.server().write(now, b"still here").unwrap();
    pair.run_for(Span::from_millis(100));
    let mut block = [0; 100];
    let now = pair.now;
    assert_eq!(pair.client.read(now, &mut block), Ok(10));
    assert_eq!(pair.client.read(now, &mut block), Err(ReadError::WouldBlock));
    pair.server().close(now);
    assert_eq!(pair.server().state(), State::LastAck);
    pair.run_for(Span::from_millis(100));
    assert_eq!((pair.client.state(), pair.server().state()), (State::TimeWait, State::Closed));
    let now = pair.now;
    assert_eq!(pair.client.read(now, &mut block), Ok(0));
    pair.run_for(Span::from_secs(66));
    assert!(pair.client.is_over());
    assert_eq!(pair.client.error(), None);
}

#[test]
fn close_by_both_at_once_ends_connection() {
    let mut pair = established();
    let now = pair.now;
    pair.client.close(now);
    pair.server().close(now);
    pair.flush();
    pair.run_for(Span::from_millis(6));
    assert_eq!((pair.client.state(), pair.server().state()), (State::Closing, State::Closing));
    pair.run_for(Span::from_millis(6));
    assert_eq!((pair.client.state(), pair.server().state()), (State::TimeWait, State::TimeWait));
}

/// The FIN is retransmitted until acknowledged, and the peer's is answered in TIME-WAIT.
#[test]
fn fin_lost_is_retransmitted() {
    let config = Config::default();
    let mut lost = 0;
    let mut pair = Pair::alike(&config, DELAY)
        .with_fate(move |_, _, segment| {
            let fin = segment.header.flags.contains(TcpFlags::FIN);
            lost += u32::from(fin);
            if fin && lost <= 3 { super::pair::Fate::Lost } else { super::pair::Fate::Arrives }
        })
        .connect();
    let now = pair.now;
    pair.client.close(now);
    pair.run_for(Span::from_secs(5));
    let now = pair.now;
    pair.server().close(now);
    pair.run_for(Span::from_secs(5));
    assert_eq!((pair.client.state(), pair.server().state()), (State::TimeWait, State::Closed));
}

/// RFC 2525 section 2.17: unread data is lost, and the peer gets a RST.
#[test]
fn close_with_unread_data_resets() {
    let mut pair = established();
    let now = pair.now;
    pair.server().write(now, b"never read").unwrap();
    pair.run_for(Span::from_millis(100));
    let now = pair.now;
    pair.client.close(now);
    assert_eq!(pair.client.state(), State::Closed);
    pair.run_for(Span::from_millis(100));
    assert_eq!(pair.server().error(), Some(ConnectionError::Reset));
    assert_eq!(pair.causes.last(), Some(&(Endpoint::Client, SendCause::Reset)));
}

/// SO_LINGER: 0 aborts and discards what was not sent; another time waits for it.
#[test]
fn close_with_zero_linger_resets() {
    for (linger, error) in
        [(Some(Span::ZERO), Some(ConnectionError::Reset)), (Some(Span::from_secs(5)), None)]
    {
        let mut pair = established();
        let now = pair.now;
        pair.client.set_option(now, SocketOption::Linger(linger));
        pair.client.write(now, b"unsent").unwrap();
        pair.client.close(now);
        assert_eq!(pair.client.has_unacknowledged(), error.is_none());
        pair.run_for(Span::from_millis(100));
        assert!(!pair.client.has_unacknowledged());
        assert_eq!(pair.server().error(), error);
        assert_eq!(pair.server().unread().as_u64(), if error.is_some() { 0 } else { 6 });
    }
}

/// Data for an application that is gone is answered with a RST (`TCPAbortOnData`).
#[test]
fn data_after_close_is_answered_with_reset() {
    let mut bench = Bench::established(&Config::default());
    bench.connection.close(bench.now);
    bench.poll();
    bench.hear(".", 1, 2, 0);
    assert_eq!(bench.connection.state(), State::FinWait2);
    bench.forget();
    bench.hear(".", 1, 2, 10);
    assert_eq!(bench.numbers(), ["R 2:2(0)"]);
    assert_eq!(bench.connection.state(), State::Closed);
}

/// FIN-WAIT-2 ends after `tcp_fin_timeout` once the application has closed the socket, and not
/// before.
#[test]
fn fin_wait_2_of_orphan_expires() {
    for (lets_go, state) in [(true, State::Closed), (false, State::FinWait2)] {
        let mut bench = Bench::established(&Config::default());
        bench.connection.shutdown(bench.now);
        bench.poll();
        bench.hear(".", 1, 2, 0);
        if lets_go {
            bench.connection.close(bench.now);
        }
        bench.wait(59_000);
        assert_eq!(bench.connection.state(), State::FinWait2);
        bench.wait(10_000);
        assert_eq!(bench.connection.state(), state);
    }
}

#[test]
fn abort_sends_reset() {
    let mut bench = Bench::established(&Config::default());
    bench.connection.abort(bench.now);
    bench.poll();
    assert_eq!(bench.numbers(), ["R. 1:1(0) ack 1"]);
    assert_eq!(bench.connection.error(), Some(ConnectionError::Aborted));
    assert_eq!(bench.connection.poll_at(), None);
}

#[test]
fn time_wait_restarts_with_retransmitted_fin() {
    let mut bench = Bench::established(&Config::default());
    bench.connection.shutdown(bench.now);
    bench.poll();
    bench.hear("F.", 1, 2, 0);
    assert_eq!(bench.connection.state(), State::TimeWait);
    bench.wait(30_000);
    bench.forget();
    bench.hear("F.", 1, 2, 0);
    assert_eq!(bench.numbers(), [". 2:2(0) ack 2"]);
    bench.wait(59_000);
    assert_eq!(bench.connection.state(), State::TimeWait);
    bench.wait(6_000);
    assert_eq!(bench.connection.state(), State::Closed);
}
