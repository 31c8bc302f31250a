use std::collections::VecDeque;

use proptest::prelude::*;
use tcplab_units::{Bytes, Instant, Span};

use super::*;
use crate::{DatagramReport, WorkloadSpec};

fn spec(json: &str) -> Datagrams {
    let workload: WorkloadSpec =
        serde_json::from_str(&format!("{{\"datagrams\": {json}}}")).unwrap();
    workload.check().unwrap();
    workload.datagrams.unwrap()
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// What the path does with a datagram: when each of its copies arrives; none where it is lost.
type Way<'a> = &'a mut dyn FnMut(DatagramMark) -> Vec<Span>;

/// Both ends, and a path that obeys a script; until the client is done.
fn exchange(spec: &Datagrams, there: Way<'_>, back: Way<'_>) -> [AppReport; 2] {
    let [mut client, mut server] =
        Endpoint::BOTH.map(|side| DatagramApplication::new(side, spec, 7));
    let mut now = Instant::ZERO;
    // When, to the server or to the client, and what.
    let mut on_path: Vec<(Instant, bool, Vec<u8>)> = Vec::new();
    let mut inboxes: [VecDeque<Vec<u8>>; 2] = Default::default();
    for _ in 0..1_000_000 {
        on_path.sort_by_key(|(at, ..)| *at);
        while on_path.first().is_some_and(|(at, ..)| *at <= now) {
            let (_, to_server, datagram) = on_path.remove(0);
            inboxes[usize::from(to_server)].push_back(datagram);
        }
        while let DatagramWant::Receive(None) | DatagramWant::Send(_) = server.want(now) {
            if let DatagramWant::Send(datagram) = server.want(now) {
                let mark = DatagramMark::read(datagram).unwrap();
                let datagram = datagram.to_vec();
                on_path.extend(back(mark).iter().map(|it| (now + *it, false, datagram.clone())));
                server.sent(now);
            } else if let Some(datagram) = inboxes[1].pop_front() {
                server.received(&datagram, now);
            } else {
                break;
            }
        }
        let wake = match client.want(now) {
            DatagramWant::Connect | DatagramWant::Close => {
                client.did(now);
                continue;
            }
            DatagramWant::Send(datagram) => {
                let mark = DatagramMark::read(datagram).unwrap();
                let datagram = datagram.to_vec();
                on_path.extend(there(mark).iter().map(|it| (now + *it, true, datagram.clone())));
                client.sent(now);
                continue;
            }
            DatagramWant::Receive(until) => {
                if let Some(datagram) = inboxes[0].pop_front() {
                    client.received(&datagram, now);
                    continue;
                }
                let until = until.unwrap();
                if until <= now {
                    client.failed("EAGAIN", now);
                    continue;
                }
                until
            }
            DatagramWant::Sleep(until) => until,
            DatagramWant::Nothing => {
                server.stop();
                server.did(now);
                return [client.report(), server.report()];
            }
        };
        let arrival = on_path.iter().map(|(at, ..)| *at).min();
        now = arrival.map_or(wake, |at| at.min(wake));
    }
    panic!("the client does not end");
}

fn always(_: DatagramMark) -> Vec<Span> {
    vec![Span::from_millis(10)]
}

fn counts(report: &AppReport) -> &DatagramReport {
    report.datagrams.as_ref().unwrap()
}

#[test]
fn request_is_repeated_after_doubling_timeout() {
    let spec = spec(r#"{"count": 2, "timeout": "100 ms", "retries": 3, "every": "50 ms"}"#);
    let mut lost = |mark: DatagramMark| match (mark.request, mark.attempt) {
        (1, 1..=3) => vec![],
        _ => always(mark),
    };
    let [client, server] = exchange(&spec, &mut lost, &mut always);
    let requests = &counts(&client).requests;
    // RFC 8085 section 3.1.1: 100 ms, 200 ms, 400 ms.
    assert_eq!(requests[0].tries, [0, 100, 300, 700].map(ms));
    assert_eq!((requests[0].answered, requests[0].answer_to), (Some(ms(720)), Some(4)));
    // The second was due long ago.
    assert_eq!((requests[1].asked, requests[1].answered), (ms(720), Some(ms(740))));
    assert_eq!((counts(&client).resent(), counts(&client).unanswered()), (3, 0));
    assert_eq!((counts(&server).received, counts(&server).duplicates), (2, 0));
    let calls: Vec<(&str, &str, &str, &str)> =
        client.log.iter().map(|row| (&*row.call, &*row.asked, &*row.about, &*row.result)).collect();
    assert_eq!(
        calls[..4],
        [
            ("sendto", "64 B", "request 1, try 1", "ok"),
            ("recvfrom", "100 ms", "no answer to request 1, try 1", "EAGAIN"),
            ("sendto", "64 B", "request 1, try 2", "ok"),
            ("recvfrom", "200 ms", "no answer to request 1, try 2", "EAGAIN"),
        ]
    );
    assert_eq!(calls.last(), Some(&("close", "", "", "ok")));
}

#[test]
fn without_retry_what_is_lost_stays_lost() {
    let spec = spec(r#"{"count": 3, "timeout": "100 ms", "retries": 0}"#);
    let mut lost = |mark: DatagramMark| if mark.request == 2 { vec![] } else { always(mark) };
    let [client, _] = exchange(&spec, &mut always, &mut lost);
    let answered: Vec<bool> =
        counts(&client).requests.iter().map(|it| it.answered.is_some()).collect();
    assert_eq!(answered, [true, false, true]);
    assert_eq!(client.exchanges.len(), 3);
}

/// The answer to the first request comes when the second is waited for: it is not taken for that.
#[test]
fn late_answer_does_not_match_next_request() {
    let spec = spec(r#"{"count": 2, "timeout": "100 ms", "retries": 0}"#);
    let mut slow = |mark: DatagramMark| match mark.request {
        1 => vec![Span::from_millis(100)],
        _ => always(mark),
    };
    let [client, _] = exchange(&spec, &mut always, &mut slow);
    let [first, second] = &counts(&client).requests[..] else { panic!() };
    assert_eq!((first.answered, first.late), (None, 1));
    assert_eq!((second.answered, second.duplicates), (Some(ms(120)), 0));
}

/// A timeout below the round trip: the answer to the first try is good enough, and the second is
/// one too many.
#[test]
fn first_answer_to_any_try_counts() {
    let spec = spec(r#"{"count": 2, "timeout": "15 ms", "retries": 3}"#);
    let [client, server] = exchange(&spec, &mut always, &mut always);
    let [first, second] = &counts(&client).requests[..] else { panic!() };
    assert_eq!((first.tries.len(), first.answer_to, first.duplicates), (2, Some(1), 1));
    assert_eq!((second.tries.len(), second.answer_to), (2, Some(1)));
    assert_eq!(counts(&server).duplicates, 1, "the last came when the client had gone");
}

#[test]
fn forged_datagram_is_no_answer() {
    let spec = spec(r#"{"count": 1, "timeout": "100 ms", "response": "100 B"}"#);
    let mut client = DatagramApplication::new(Endpoint::Client, &spec, 1);
    assert!(matches!(client.want(ms(0)), DatagramWant::Send(datagram) if datagram.len() == 64));
    client.sent(ms(0));
    let right =
        super::contents::Contents::new(&spec, 1).answer(DatagramMark { request: 1, attempt: 1 });
    let mut damaged = right.clone();
    damaged[50] ^= 1;
    let cut = &right[..99];
    let mut of_no_try = right.clone();
    of_no_try[7] = 2;
    for (nth, datagram) in
        [&[][..], &[0; 7], &[0; 100], &damaged, cut, &of_no_try].iter().enumerate()
    {
        assert_eq!(client.want(ms(1)), DatagramWant::Receive(Some(ms(100))));
        client.received(datagram, ms(1));
        assert_eq!(counts(&client.report()).damaged, nth as u64 + 1);
    }
    client.want(ms(1));
    client.received(&right, ms(1));
    assert_eq!(client.want(ms(1)), DatagramWant::Close);
}

/// The next call, whichever it is, returns a pending error; one to `send` is about an earlier
/// datagram, so that it is called again.
#[test]
fn errors_end_a_request_but_not_the_program() {
    let spec = spec(r#"{"count": 2, "timeout": "100 ms", "connected": true}"#);
    let mut client = DatagramApplication::new(Endpoint::Client, &spec, 1);
    assert_eq!(client.want(ms(0)), DatagramWant::Connect);
    client.did(ms(0));
    client.want(ms(0));
    client.sent(ms(0));
    client.want(ms(0));
    client.failed("ECONNREFUSED", ms(20));
    assert!(matches!(client.want(ms(20)), DatagramWant::Send(_)));
    client.failed("ECONNREFUSED", ms(20));
    assert!(matches!(client.want(ms(20)), DatagramWant::Send(_)), "the second time it is sent");
    client.failed("ECONNREFUSED", ms(20));
    assert_eq!(client.want(ms(20)), DatagramWant::Close);
    let report = client.report();
    let requests = &counts(&report).requests;
    assert_eq!(requests[0].error.as_deref(), Some("ECONNREFUSED"));
    assert_eq!((requests[0].tries.len(), requests[1].tries.len()), (1, 0));
    let calls: Vec<&str> = report.log.iter().map(|row| &*row.call).collect();
    assert_eq!(calls, ["connect", "send", "recv", "send", "send"]);
}

#[test]
fn impossible_values_name_their_key() {
    for (json, key) in [
        (r#"{"count": 0}"#, "datagrams.count"),
        (r#"{"count": 10001}"#, "datagrams.count"),
        (r#"{"count": 1, "request": "7 B"}"#, "datagrams.request"),
        (r#"{"count": 1, "response": "1473 B"}"#, "datagrams.response"),
        (r#"{"count": 1, "timeout": "0 s"}"#, "datagrams.timeout"),
        (r#"{"count": 1, "retries": 11}"#, "datagrams.retries"),
        (r#"{"count": 1, "backoff": 0}"#, "datagrams.backoff"),
        (r#"{"count": 1, "every": "1 s", "think": "1 s"}"#, "datagrams.think"),
    ] {
        let text = format!("{{\"datagrams\": {json}}}");
        let workload: WorkloadSpec = serde_json::from_str(&text).unwrap();
        assert_eq!(workload.check().unwrap_err().key(), Some(key), "{json}");
    }
    let both = r#"{"datagrams": {"count": 1}, "connections": {"total": 2}}"#;
    let workload: WorkloadSpec = serde_json::from_str(both).unwrap();
    assert_eq!(workload.check().unwrap_err().key(), Some("connections"));
}

#[test]
fn longest_wait_does_not_overflow() {
    let spec = spec(r#"{"count": 1, "timeout": "1000000 s", "backoff": 10, "retries": 10}"#);
    assert_eq!(spec.wait(11), Span::from_nanos(u64::MAX));
    assert_eq!(spec.largest_packet(), Bytes::new(92));
}

/// What the path does with one datagram: lost, or each copy's time, milliseconds.
fn fates() -> impl Strategy<Value = Vec<Vec<u64>>> {
    proptest::collection::vec(proptest::collection::vec(1u64..300, 0..3), 1..40)
}

proptest! {
    /// Whatever the path does, an answer is counted once, and as what it is; the first to arrive in
    /// time is the answer; nothing is sent more often than is allowed.
    #[test]
    fn answers_are_matched_whatever_the_path_does(
        there in fates(),
        back in fates(),
        retries in 0u32..4,
        backoff in 1u32..3,
    ) {
        let json = format!(
            r#"{{"count": 12, "timeout": "100 ms", "retries": {retries}, "backoff": {backoff}}}"#
        );
        let spec = spec(&json);
        let mut sent = [0, 0];
        let mut given = [0, 0];
        let mut way = |end: usize, fates: &[Vec<u64>]| {
            let fate = &fates[sent[end] % fates.len()];
            sent[end] += 1;
            given[end] += fate.len() as u64;
            fate.iter().map(|millis| Span::from_millis(*millis)).collect::<Vec<_>>()
        };
        let way = std::cell::RefCell::new(&mut way);
        let [client, server] = exchange(
            &spec,
            &mut |_| (way.borrow_mut())(0, &there),
            &mut |_| (way.borrow_mut())(1, &back),
        );
        let [asked, answered] = [counts(&client), counts(&server)];
        prop_assert_eq!((asked.damaged, answered.damaged), (0, 0));
        prop_assert_eq!(asked.requests.len(), 12);
        let in_time = asked.requests.iter().filter(|it| it.answered.is_some()).count() as u64;
        prop_assert_eq!(asked.received, in_time + asked.late + asked.duplicates);
        prop_assert_eq!(answered.sent, answered.received);
        prop_assert!(answered.received <= given[0] && asked.received <= given[1]);
        let tries: usize = asked.requests.iter().map(|it| it.tries.len()).sum();
        prop_assert_eq!(asked.sent, tries as u64);
        for request in &asked.requests {
            prop_assert!((1..=retries as usize + 1).contains(&request.tries.len()));
            for (nth, pair) in request.tries.windows(2).enumerate() {
                prop_assert_eq!(pair[1].since(pair[0]), spec.wait(nth as u32 + 1));
            }
            if request.answered.is_none() {
                prop_assert_eq!(request.tries.len(), retries as usize + 1);
            }
        }
    }
}
