//! Servers that read, that do not, and that end early.

use std::net::TcpListener;
use std::thread;

use super::*;

fn config(address: SocketAddr, direction: Direction) -> BulkConfig {
    BulkConfig {
        address,
        direction,
        connections: 1,
        time: Duration::from_secs(20),
        window: None,
        congestion: None,
        // As where the kernel does not say.
        acknowledged: |_| None,
    }
}

/// Uploads nothing, to a server that never closes.
fn upload_nothing(acknowledged: Acknowledged, is_stopped: bool, longest: Duration) -> Ended {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stream = TcpStream::connect(address).unwrap();
    let (_held, _) = listener.accept().unwrap();
    let config = BulkConfig { acknowledged, ..config(address, Direction::Upload) };
    let carrier = Carrier::new(&config, stream);
    let stop = AtomicBool::new(is_stopped);
    // As if written before.
    carrier.add(1_000);
    upload(&carrier, b"abc", &Until { end: Instant::now(), stop: &stop }, longest, |_| ()).unwrap()
}

/// A server that accepts and never closes is no error of the system.
#[test]
fn upload_to_a_server_that_never_closes_ends() {
    for (is_stopped, longest, cause) in
        [(false, LOOK, EarlyCause::Unclosed), (true, LONGEST_END, EarlyCause::Unread)]
    {
        let ended = upload_nothing(|_| Some(0), is_stopped, longest);
        assert_eq!((ended.bytes, ended.cause), (0, Some(cause)));
    }
}

/// It takes twelve times as long as it may be silent.
#[test]
fn upload_that_drains_slowly_is_waited_for() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let slow: Acknowledged = |_| Some(ASKED.fetch_add(1, Ordering::Relaxed).min(12) * 10);
    let (began, silent) = (Instant::now(), Duration::from_millis(20));
    let ended = upload_nothing(slow, false, silent);
    assert_eq!((ended.bytes, ended.cause), (120, Some(EarlyCause::Unclosed)));
    let (took, all) = (ended.at.duration_since(began), began.elapsed());
    // The silence at the end is no time of the transfer.
    assert!(took >= 11 * silent && all >= took + silent, "{took:?} of {all:?}");
}

/// What is written waits in the buffer of this host at first.
#[test]
fn progress_of_an_upload_is_what_was_acknowledged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        // It ends its direction before it has read all.
        stream.shutdown(Shutdown::Write).unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let mut seen = Vec::new();
    let time = Duration::from_millis(50);
    let config =
        BulkConfig { time, acknowledged: |_| Some(100), ..config(address, Direction::Upload) };
    let outcome = bulk(&config, &mut |_, bytes| {
        seen.push(bytes);
        ControlFlow::Continue(())
    });
    let outcome = outcome.unwrap();
    assert!(server.join().unwrap() > 100, "much was written");
    assert!(seen.iter().all(|bytes| *bytes == 100), "{seen:?}");
    let [early] = &outcome.early[..] else { panic!("{outcome:?}") };
    assert_eq!((early.bytes, early.cause, outcome.bytes), (100, EarlyCause::Closed, 100));
}

#[test]
fn upload_that_nobody_takes_has_a_remedy() {
    let config = config("192.0.2.1:9".parse().unwrap(), Direction::Upload);
    let early = |cause| EarlyEnd { connection: 1, bytes: 0, after: Duration::ZERO, cause };
    let carried = |cause| Carried {
        bytes: 0,
        after: Duration::ZERO,
        processor: Duration::ZERO,
        early: Some(early(cause)),
    };
    let unclosed = || carried(EarlyCause::Unclosed);
    let refused = outcome(&config, vec![unclosed(), unclosed()], false).unwrap_err();
    assert!(refused.remedy().unwrap().contains("--service discard"), "{refused}");
    let mixed = outcome(&config, vec![unclosed(), carried(EarlyCause::Broken)], false).unwrap();
    assert_eq!(mixed.early.len(), 2);
}

#[test]
fn server_that_ends_early_is_told_with_what_it_carried() {
    for is_reset in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(&[7; 10_000]).unwrap();
            if is_reset {
                // What is not read at the end makes a reset (RFC 9293, section 3.6.1).
                let mut request = [0; 1];
                stream.read_exact(&mut request).unwrap();
            }
        });
        let direction = if is_reset { Direction::Upload } else { Direction::Download };
        let ended = bulk(&config(address, direction), &mut |_, _| ControlFlow::Continue(()));
        server.join().unwrap();
        let outcome = ended.unwrap();
        let [early] = &outcome.early[..] else { panic!("{outcome:?}") };
        assert_eq!((early.bytes, outcome.each[0]), (outcome.bytes, outcome.bytes));
        if is_reset {
            assert!(outcome.bytes > 0 && early.cause == EarlyCause::Broken, "{outcome:?}");
        } else {
            assert_eq!((outcome.bytes, early.cause), (10_000, EarlyCause::Closed));
            let said = early.to_string();
            assert!(said.starts_with("connection 1 ended early, after 10"), "{said}");
            assert!(said.ends_with(": the server closed it"), "{said}");
        }
    }
}

#[test]
fn connections_that_were_reset_at_once_leave_the_others() {
    for resets in [1, 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let reset = |stream: TcpStream| {
                sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            };
            (0..resets).for_each(|_| reset(listener.accept().unwrap().0));
            if resets < 2 {
                listener.accept().unwrap().0.write_all(&[7; 10_000]).unwrap();
            }
        });
        let config = BulkConfig { connections: 2, ..config(address, Direction::Download) };
        let ended = bulk(&config, &mut |_, _| ControlFlow::Continue(()));
        server.join().unwrap();
        match ended {
            Ok(outcome) => {
                let early: Vec<_> = outcome.early.iter().map(|it| it.cause).collect();
                assert_eq!(outcome.each, [0, 10_000]);
                assert_eq!(early, [EarlyCause::Broken, EarlyCause::Closed]);
            }
            Err(error) => {
                assert!(resets == 2 && matches!(error, LoadError::Broken { .. }), "{error}");
                assert!(error.remedy().unwrap().contains("--service chargen"));
            }
        }
    }
}

#[test]
fn window_bounds_what_is_in_flight() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let window = Some(Window { size: 12_488, segment: 1_448 });
    let config = BulkConfig {
        window,
        congestion: Some("reno".into()),
        ..config(listener.local_addr().unwrap(), Direction::Upload)
    };
    let mut stream = connect(&config).unwrap();
    assert!(sockopt::socket_send_buffer_size(&stream).unwrap() <= 4 * 12_488);
    assert_eq!(sockopt::tcp_congestion(&stream).unwrap(), "reno");
    // Data moves, and nothing blocks before its time.
    stream.write_all(&[0; 100]).unwrap();
    let none = BulkConfig { congestion: Some("none such".into()), ..config };
    let error = connect(&none).unwrap_err();
    assert!(matches!(error, LoadError::Congestion { .. }), "{error:?}");
    assert!(error.remedy().unwrap().contains("reno"), "{:?}", error.remedy());
}
