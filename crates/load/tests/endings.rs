//! How a server ends its connections, and how that counts.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::time::Duration;

use rustix::net::{SendFlags, send};
use tcplab_load::{Config, Length, Outcome, Protocol, Target, run};

/// Answers one request on each connection, with the end of it in the same segment.
fn server(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), Vec::new());
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                request.push(byte[0]);
            }
            // What would wait for more is sent by the end (`MSG_MORE`, send(2)).
            let _ = send(&stream, answer.as_bytes(), SendFlags::MORE | SendFlags::NOSIGNAL);
        }
    });
    address
}

/// Answers, and ends the connection when the next request is there.
fn late_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), [0; 1024]);
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            let _ = stream.read(&mut request);
        }
    });
    address
}

fn load(address: SocketAddr) -> Outcome {
    let protocol = Protocol::Http { host: "h".into(), path: "/".into() };
    let config = Config {
        connections: 1,
        length: Length::Count(20),
        timeout: Duration::from_secs(60),
        ..Config::new(Target { address, protocol })
    };
    run(&config, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn end_that_comes_with_an_answer_is_seen() {
    let none: BTreeMap<String, u64> = BTreeMap::new();
    let early: BTreeMap<String, u64> = [("closed early".to_owned(), 20)].into();
    for (answer, good, errors) in [
        // The end of the connection is that of the answer.
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", 20, &none),
        ("HTTP/1.0 200 OK\r\n\r\nhello", 20, &none),
        // It is whole without it, and the connection cannot be used again.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 20, &none),
        ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", 0, &early),
        ("HTTP/1.1 200 OK\r\nConte", 0, &early),
    ] {
        let outcome = load(server(answer));
        assert_eq!((outcome.requests, &outcome.errors), (good, errors), "{answer:?}");
    }
}

#[test]
fn request_that_meets_the_end_of_a_connection_is_repeated_on_another() {
    let outcome = load(late_server());
    assert_eq!((outcome.requests, outcome.failed()), (20, 0), "{:?}", outcome.errors);
    assert_eq!(outcome.connections, 20);
}
