use std::collections::VecDeque;

use super::*;
use crate::report::RESULTS;
use crate::verify;

/// A connection without delay whose ends take at most `room` bytes that were not read; each call
/// takes a nanosecond.
struct World {
    now: Instant,
    ends: [Application; 2],
    /// What waits to be read by each end, and whether nothing more will come.
    waiting: [VecDeque<u8>; 2],
    ended: [bool; 2],
    room: usize,
    /// What the client did, in words.
    steps: Vec<String>,
}

fn spec(json: &str) -> WorkloadSpec {
    let spec: WorkloadSpec = serde_json::from_str(json).unwrap();
    spec.check().unwrap();
    spec
}

/// Runs both ends until they are done.
fn run(spec: &WorkloadSpec, room: usize) -> World {
    let ends = Endpoint::BOTH.map(|side| Application::new(side, spec, 7));
    let mut world = World {
        now: Instant::ZERO,
        ends,
        waiting: Default::default(),
        ended: [false; 2],
        room,
        steps: Vec::new(),
    };
    loop {
        let moved = [0, 1].map(|end| world.step(end));
        if moved == [false, false] {
            let wake = world.ends.each_mut().map(|end| match end.want(world.now) {
                Want::Sleep(until) => Some(until),
                _ => None,
            });
            match wake.into_iter().flatten().min() {
                Some(until) => world.now = until,
                None => return world,
            }
        }
    }
}

impl World {
    /// One call of one end; whether it returned.
    fn step(&mut self, end: usize) -> bool {
        let (own, other) = (end, 1 - end);
        let began = self.now;
        let done = self.now + Span::from_nanos(1);
        let mut word = String::new();
        let application = &mut self.ends[own];
        match application.want(began) {
            Want::Nothing | Want::Sleep(_) => return false,
            Want::Write { bytes, .. } => {
                let count = bytes.len().min(self.room - self.waiting[other].len());
                if count == 0 {
                    return false;
                }
                self.waiting[other].extend(&bytes[..count]);
                word = format!("write {count} of {}", bytes.len());
                application.wrote(count, done);
            }
            Want::Read(most) => {
                let count = most.min(self.waiting[own].len());
                let bytes: Vec<u8> = self.waiting[own].drain(..count).collect();
                if count > 0 {
                    word = format!("read {count}");
                    application.received(&bytes, done);
                } else if self.ended[own] {
                    word = "read end".into();
                    application.end_of_stream(done);
                } else {
                    return false;
                }
            }
            Want::ShutDown(_) | Want::Close => {
                self.ended[other] = true;
                application.did(done);
            }
            _ => application.did(done),
        }
        if own == 0 && !word.is_empty() {
            self.steps.push(word);
        }
        self.now = done;
        true
    }

    fn reports(&self) -> [AppReport; 2] {
        self.ends.each_ref().map(Application::report)
    }
}

fn log(report: &AppReport) -> Vec<String> {
    let row = |row: &crate::CallRow| {
        format!("{} {} × {} = {} {}", row.call, row.asked, row.count, row.result, row.bytes)
    };
    report.log.iter().map(row).collect()
}

#[test]
fn upload_makes_expected_calls() {
    let spec = spec(r#"{"upload": "10 B", "write_size": "4 B"}"#);
    let world = run(&spec, 3);
    let expected = [
        "write 3 of 4",
        "write 1 of 1",
        "write 3 of 4",
        "write 1 of 1",
        "write 2 of 2",
        "read end",
    ];
    assert_eq!(world.steps, expected);
    let [sent, received] = world.reports();
    assert_eq!(sent.digest, Digest::of_payload(7, 10));
    assert_eq!((&received.digest, received.bytes), (&sent.digest, sent.bytes));
    assert_eq!((sent.calls, sent.started), (5, Some(Instant::ZERO)));
    assert_eq!((sent.stray, sent.back.as_ref()), (Bytes::ZERO, None));
    let calls = [
        "connect  × 1 = ok 0 B",
        "write 4 B × 3 = ok 10 B",
        "shutdown SHUT_WR × 1 = ok 0 B",
        "read 262.144 kB × 1 = end 0 B",
        "close  × 1 = ok 0 B",
    ];
    assert_eq!(log(&sent), calls);
    assert_eq!(verify(&spec, 7, &sent, &received), Ok(()));
}

#[test]
fn stray_data_for_sender_is_counted() {
    let mut sender = Application::new(Endpoint::Client, &spec(r#"{"upload": "1 B"}"#), 7);
    while !matches!(sender.want(Instant::ZERO), Want::Read(_)) {
        match sender.want(Instant::ZERO) {
            Want::Write { .. } => sender.wrote(1, Instant::ZERO),
            _ => sender.did(Instant::ZERO),
        }
    }
    sender.received(b"what?", Instant::ZERO);
    let report = sender.report();
    assert_eq!((report.stray, report.bytes), (Bytes::new(5), Bytes::new(1)));
}

#[test]
fn corrupted_byte_is_found() {
    let spec = spec(r#"{"upload": "10 B"}"#);
    let [sent, mut received] = run(&spec, 100).reports();
    received.digest = Digest::of_payload(8, 10);
    let corrupted = crate::PayloadMismatch { sent: Bytes::new(10), received: Bytes::new(10) };
    assert_eq!(verify(&spec, 7, &sent, &received), Err(corrupted));
}

#[test]
fn prefix_is_enough_where_calls_may_fail() {
    let spec = spec(r#"{"upload": "10 B", "close": "at-once"}"#);
    let [sent, mut received] = run(&spec, 100).reports();
    (received.bytes, received.digest) = (Bytes::new(4), Digest::of_payload(7, 4));
    assert_eq!(verify(&spec, 7, &sent, &received), Ok(()));
    received.digest = Digest::of_payload(7, 5);
    assert!(verify(&spec, 7, &sent, &received).is_err());
}

#[test]
fn report_survives_serialisation() {
    let [report, _] = run(&spec(r#"{"upload": "10 B"}"#), 100).reports();
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<AppReport>(&json).unwrap(), report);
}

#[test]
fn requests_have_response_times() {
    let text = r#"{"requests": {"count": 3, "request": "10 B", "response": "20 B", "writes": 2,
                    "think": "1 s"}}"#;
    let spec = spec(text);
    let [client, server] = run(&spec, 100).reports();
    assert_eq!((server.role, server.bytes), (Role::Sender, Bytes::new(60)));
    assert_eq!(server.back.as_ref().map(|back| back.bytes), Some(Bytes::new(30)));
    assert_eq!(verify(&spec, 7, &client, &server), Ok(()));
    let times: Vec<u64> =
        client.exchanges.iter().map(|it| it.answered.unwrap().since(it.asked).as_nanos()).collect();
    // Two writes and a read of the client, a read or two and a write of the server.
    assert!(times.iter().all(|time| (5..=6).contains(time)), "{times:?}");
    let seconds: Vec<u64> =
        client.exchanges.iter().map(|it| it.asked.as_nanos() / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 2]);
}

#[test]
fn pipelined_requests_are_under_way_at_once() {
    let text = r#"{"requests": {"count": 5, "request": "1 B", "response": "1 B", "pipelined": 2}}"#;
    let spec = spec(text);
    let world = run(&spec, 100);
    let [client, server] = world.reports();
    assert_eq!(verify(&spec, 7, &client, &server), Ok(()));
    assert_eq!(world.steps[..2], ["write 1 of 1", "write 1 of 1"]);
    assert_eq!(client.exchanges.len(), 5);
    assert!(client.exchanges[1].asked < client.exchanges[0].answered.unwrap());
}

#[test]
fn every_short_form_finishes() {
    for text in [
        r#"{"download": "100 B", "write_size": "7 B", "read_size": "3 B", "think": "1 ms"}"#,
        r#"{"upload": "100 B", "pause": {"every": "30 B", "lasting": "2 s"}}"#,
        r#"{"upload": "100 B", "urgent_at": "50 B", "close": "at-once"}"#,
        r#"{"keystrokes": {"count": 10, "every": "200 ms"}}"#,
        r#"{"idle": {"lasting": "7200 s", "talk": "5 B"}}"#,
        r#"{"client": ["write 5 B", "cork on", "write 5 B more", "cork off", "read up to 3 B"],
            "server": [{"repeat": 2, "steps": ["read 5 B", "write 4 B in 1 B"]}]}"#,
    ] {
        let spec = spec(text);
        let mut world = run(&spec, 64);
        let [client, server] = world.reports();
        assert_eq!(verify(&spec, 7, &client, &server), Ok(()), "{text}");
        for end in &mut world.ends {
            assert_eq!(end.want(world.now), Want::Nothing, "{text}");
        }
        for row in client.log.iter().chain(&server.log) {
            assert!(crate::CALLS.contains(&&*row.call), "{row:?}");
            assert!(RESULTS.contains(&&*row.result), "{row:?}");
        }
    }
}

#[test]
fn slow_reader_pauses() {
    let spec = spec(r#"{"upload": "100 B", "pause": {"every": "30 B", "lasting": "2 s"}}"#);
    let world = run(&spec, 10);
    // After 30, 60 and 90 bytes.
    assert_eq!(world.now.as_nanos() / 1_000_000_000, 6);
    assert_eq!(world.reports()[1].bytes, Bytes::new(100));
}

/// An end driven call by call.
fn client(steps: &str) -> Application {
    Application::new(Endpoint::Client, &spec(&format!(r#"{{"client": {steps}}}"#)), 7)
}

#[test]
fn unwritten_bytes_lead_the_next_write() {
    let mut end = client(r#"["write 10 B", "write 10 B"]"#);
    let now = Instant::ZERO;
    assert_eq!(end.want(now), Want::Connect);
    end.did(now);
    let mut whole = [0; 20];
    Payload::new(7).fill(&mut whole);
    assert_eq!(
        end.want(now),
        Want::Write { bytes: &whole[..10], more: false, urgent: false, waits: true }
    );
    end.wrote(4, now);
    assert_eq!(end.call(), Some((now, 4)));
    end.failed("EAGAIN", now);
    assert_eq!(
        end.want(now),
        Want::Write { bytes: &whole[4..14], more: false, urgent: false, waits: true }
    );
    end.wrote(10, now);
    assert_eq!(end.report().bytes, Bytes::new(14));
    assert_eq!(end.report().digest, Digest::of_payload(7, 14));
}

#[test]
fn short_write_offers_the_rest_after_its_pause() {
    let mut end = client(r#"["write 10 B in 8 B retry 10 ms", "close"]"#);
    let at = |millis| Instant::ZERO + Span::from_millis(millis);
    end.want(at(0));
    end.did(at(0));
    let mut whole = [0; 10];
    Payload::new(7).fill(&mut whole);
    let offers = |bytes| Want::Write { bytes, more: false, urgent: false, waits: false };
    assert_eq!(end.want(at(0)), offers(&whole[..8]));
    // It takes five of them, then none, then the other three.
    end.wrote(5, at(0));
    end.returned(at(0));
    assert_eq!(end.want(at(0)), Want::Sleep(at(10)));
    assert_eq!(end.want(at(9)), Want::Sleep(at(10)));
    assert_eq!(end.want(at(10)), offers(&whole[5..8]));
    end.failed("EAGAIN", at(10));
    assert_eq!(end.want(at(10)), Want::Sleep(at(20)));
    assert_eq!(end.want(at(20)), offers(&whole[5..8]));
    end.wrote(3, at(20));
    // A call that took all is followed by the next at once.
    assert_eq!(end.want(at(20)), offers(&whole[8..]));
    end.wrote(2, at(20));
    assert_eq!(end.want(at(20)), Want::Close);
    let log = end.report().log;
    let writes: Vec<_> = log.iter().filter(|row| row.call == "write").collect();
    assert_eq!(writes.iter().map(|row| &*row.result).collect::<Vec<_>>(), ["ok", "EAGAIN", "ok"]);
    assert_eq!(end.report().digest, Digest::of_payload(7, 10));
}

#[test]
fn error_leaves_repetitions() {
    let mut end =
        client(r#"[{"repeat": 9, "steps": [{"repeat": 9, "steps": ["read 1 B"]}]}, "write 1 B"]"#);
    let now = Instant::ZERO;
    end.want(now);
    end.did(now);
    assert_eq!(end.want(now), Want::Read(1));
    end.failed("EAGAIN", now);
    assert_eq!(end.want(now), Want::Read(1));
    end.failed("ECONNRESET", now);
    assert!(matches!(end.want(now), Want::Write { .. }));
    end.failed("EPIPE", now);
    assert_eq!(end.want(now), Want::Close);
}

#[test]
fn pending_call_at_time_limit_is_logged() {
    let at = |millis| Instant::ZERO + Span::from_millis(millis);
    let mut reader = client(r#"["read 2 B", "write 1 B"]"#);
    reader.did(at(0));
    assert!(matches!(reader.want(at(1)), Want::Read(2)));
    reader.received(&[0], at(2));
    assert!(matches!(reader.want(at(3)), Want::Read(1)));
    reader.ran_out(at(9));
    assert_eq!(reader.want(at(9)), Want::Nothing);
    let last = reader.report().log.last().cloned().unwrap();
    assert_eq!((&*last.result, last.began, last.ended), (WAITING, at(3), at(9)));
    // An application that is done reports nothing more.
    let rows = reader.report().log.len();
    reader.ran_out(at(10));
    assert_eq!(reader.report().log.len(), rows);

    let mut sleeper = client(r#"["sleep 1 s", "write 1 B"]"#);
    sleeper.want(at(0));
    sleeper.did(at(0));
    sleeper.want(at(1));
    sleeper.ran_out(at(9));
    let last = sleeper.report().log.last().cloned().unwrap();
    assert_eq!((&*last.call, &*last.result, last.took), ("sleep", WAITING, Span::from_millis(8)));
}

#[test]
fn refused_connect_is_followed_by_close() {
    let mut end = client(r#"["sleep 1 s", "connect", "write 1 B", "close", "sleep 2 s"]"#);
    let second = |n: u64| Instant::from_nanos(n * 1_000_000_000);
    assert_eq!(end.want(second(0)), Want::Sleep(second(1)));
    assert_eq!(end.want(second(1)), Want::Connect);
    end.failed("ECONNREFUSED", second(3));
    assert_eq!(end.want(second(3)), Want::Close);
    end.did(second(3));
    assert_eq!(end.want(second(3)), Want::Sleep(second(5)));
    assert_eq!(end.want(second(5)), Want::Nothing);
    let report = end.report();
    assert_eq!(log(&report)[1], "connect  × 1 = ECONNREFUSED 0 B");
    assert_eq!(report.log[1].took, Span::from_secs(2));
}

#[test]
fn vanished_end_does_not_close() {
    let mut end = client(r#"["write 1 B", "vanish"]"#);
    let at = |n: u64| Instant::from_nanos(n * 1_000_000);
    end.want(at(0));
    end.did(at(0));
    end.want(at(0));
    end.wrote(1, at(0));
    assert_eq!(end.want(at(1)), Want::Vanish);
    assert_eq!(end.want(at(9)), Want::Vanish);
    end.ran_out(at(9));
    assert_eq!(end.want(at(9)), Want::Nothing);
    let last = end.report().log.last().cloned().unwrap();
    assert_eq!((&*last.call, &*last.result), ("vanish", WAITING));
    for (steps, is_program) in [
        (vec!["vanish"], true),
        (vec!["vanish", "sleep 1 s"], false),
        (vec!["close", "vanish"], false),
        (vec!["vanish", "vanish"], false),
    ] {
        let steps = steps.into_iter().map(|step| step.parse().unwrap()).collect();
        assert_eq!(crate::Program::new(Endpoint::Server, steps).is_ok(), is_program);
    }
}

#[test]
fn urgent_byte_may_be_read_out_of_band() {
    let text = r#"{"upload": "10 B", "urgent_at": "4 B"}"#;
    let spec = spec(text);
    let [mut client, mut server] = Endpoint::BOTH.map(|side| Application::new(side, &spec, 7));
    let now = Instant::ZERO;
    let mut whole = [0; 10];
    Payload::new(7).fill(&mut whole);
    for end in [&mut client, &mut server] {
        end.want(now);
        end.did(now);
    }
    for (size, is_urgent) in [(4, false), (1, true), (5, false)] {
        assert!(matches!(
            client.want(now),
            Want::Write { bytes, urgent, .. } if bytes.len() == size && urgent == is_urgent
        ));
        client.wrote(size, now);
    }
    assert_eq!(server.want(now), Want::Read(4));
    server.received(&whole[..4], now);
    assert_eq!(server.want(now), Want::AwaitUrgent);
    server.did(now);
    assert_eq!(server.want(now), Want::AtMark);
    server.marked(true, now);
    assert_eq!(server.want(now), Want::ReadUrgent);
    server.received_urgent(whole[4], now);
    server.want(now);
    server.received(&whole[5..], now);
    let (sent, received) = (client.report(), server.report());
    assert!(received.has_all_of(&sent));
    assert_eq!(verify(&spec, 7, &sent, &received), Ok(()));
    assert_eq!(log(&received)[3], "sockatmark  × 1 = at the mark 0 B");
}

#[test]
fn log_stays_bounded() {
    let steps = r#"[{"repeat": 5000, "steps": ["write 1 B", "read 1 B"]}]"#;
    let text = format!(
        r#"{{"client": {steps},
            "server": [{{"repeat": 5000, "steps": ["read 1 B", "write 1 B"]}}]}}"#
    );
    let [client, _] = run(&spec(&text), 100).reports();
    assert!(client.log.len() <= 4_096 + 2, "{}", client.log.len());
    assert_eq!(client.log.iter().map(|row| row.count).sum::<u64>(), 10_002);
    assert!(client.log.iter().any(|row| row.scattered));
}

#[test]
fn many_connections_share_one_report() {
    let one = r#"{"upload": "10 B", "write_size": "4 B"}"#;
    let many = r#"{"upload": "10 B", "write_size": "4 B", "connections": {"total": 3}}"#;
    let (one, many) = (spec(one), spec(many));
    let pairs: Vec<[AppReport; 2]> = (0..3).map(|_| run(&one, 100).reports()).collect();
    let of = |end: usize| AppReport::of_all(pairs.iter().map(|it| it[end].clone()).collect());
    let (client, mut server) = (of(0).unwrap(), of(1).unwrap());
    assert_eq!((client.bytes, server.calls), (Bytes::new(30), 9));
    assert_eq!(client.log.iter().filter(|row| row.call == "connect").count(), 3);
    assert_eq!(verify(&many, 7, &client, &server), Ok(()));
    server.digest = pairs[0][1].digest.clone();
    assert!(verify(&many, 7, &client, &server).is_err());
}

proptest::proptest! {
    #[test]
    fn everything_arrives_whatever_the_pieces(
        amount in 1u64..5_000, write_size in 1u64..900, read_size in 1u64..900, room in 1usize..700,
        is_upload: bool,
    ) {
        let key = if is_upload { "upload" } else { "download" };
        let text = format!(
            r#"{{"{key}": "{amount} B", "write_size": "{write_size} B",
                "read_size": "{read_size} B"}}"#
        );
        let spec = spec(&text);
        let [client, server] = run(&spec, room).reports();
        let receiver = if is_upload { &server } else { &client };
        proptest::prop_assert_eq!(receiver.bytes, Bytes::new(amount));
        proptest::prop_assert_eq!(&receiver.digest, &Digest::of_payload(7, amount));
        proptest::prop_assert_eq!(verify(&spec, 7, &client, &server), Ok(()));
    }
}

/// A stream is compared as it arrives and hashed at the end; where other bytes arrive, the report
/// has their hash.
#[test]
fn read_in_parts_is_one_call() {
    let spec: WorkloadSpec = serde_json::from_str(r#"{ "upload": "300 B" }"#).unwrap();
    let mut came = vec![0; 300];
    crate::Payload::new(7).fill(&mut came);
    let mut server = Application::new(Endpoint::Server, &spec, 7);
    let now = Instant::ZERO;
    assert!(matches!(server.want(now), Want::Accept));
    server.did(now);
    server.received_in_parts(came.chunks(100), now);
    let report = server.report();
    let reads: Vec<_> = report.log.iter().filter(|row| row.call == "read").collect();
    assert_eq!((report.calls, report.bytes.as_u64()), (1, 300));
    assert_eq!((reads.len(), reads[0].bytes.as_u64()), (1, 300));
}

#[test]
fn differing_stream_has_own_digest() {
    let spec: WorkloadSpec = serde_json::from_str(r#"{ "upload": "300 B" }"#).unwrap();
    let mut sent = vec![0; 300];
    crate::Payload::new(7).fill(&mut sent);
    for spoilt in [None, Some(0), Some(150), Some(299)] {
        let mut came = sent.clone();
        if let Some(at) = spoilt {
            came[at] ^= 0x80;
        }
        let mut server = Application::new(Endpoint::Server, &spec, 7);
        let now = Instant::ZERO;
        assert!(matches!(server.want(now), Want::Accept));
        server.did(now);
        for piece in came.chunks(100) {
            server.received(piece, now);
        }
        let mut hash = Digest::new();
        hash.update(&came);
        assert_eq!(server.report().digest, hash.hex(), "{spoilt:?}");
    }
}
