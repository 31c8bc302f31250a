//! While a server pauses, an open loop sees many slow answers, a closed loop one.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::time::Duration;

use tcplab_load::{Config, Length, Outcome, Pace, Protocol, Renewal, Target, run};

const STILL: Duration = Duration::from_millis(400);
/// The request at which it pauses.
const WHICH: usize = 20;

/// Echoes single bytes on one connection after the other, and once pauses.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut byte, mut count) = (stream.unwrap(), [0], 0);
            while stream.read_exact(&mut byte).is_ok() {
                count += 1;
                if count == WHICH {
                    std::thread::sleep(STILL);
                }
                stream.write_all(&byte).unwrap();
            }
        }
    });
    address
}

fn load(pace: Pace) -> Outcome {
    let target = Target { address: server(), protocol: Protocol::Echo { size: 1 } };
    let config = Config { pace, connections: 1, length: Length::Count(200), ..Config::new(target) };
    run(&config, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn open_loop_measures_what_closed_loop_omits() {
    let closed = load(Pace::Closed);
    assert_eq!((closed.requests, closed.failed()), (200, 0));
    assert!(closed.response.max >= STILL.as_nanos() as u64);
    // One request of 200 was slow, so nine in ten were not.
    assert!(closed.response.p90 < STILL.as_nanos() as u64 / 2, "{:?}", closed.response);

    // Of 200 requests in a second, 80 are due in the pause; half of them wait half of it.
    let open = load(Pace::Open { per_second: 200.0 });
    assert_eq!((open.requests, open.failed()), (200, 0));
    assert!(open.response.p90 >= STILL.as_nanos() as u64 / 2, "{:?}", open.response);
    assert_eq!(open.unsent, 0);
}

/// Echoes single bytes on any number of connections.
fn wide_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut byte) = (stream.unwrap(), [0]);
            std::thread::spawn(move || {
                while stream.read_exact(&mut byte).is_ok() {
                    stream.write_all(&byte).unwrap();
                }
            });
        }
    });
    address
}

#[test]
fn open_loop_opens_all_connections_and_uses_them_in_turn() {
    let address = wide_server();
    let load = |pace, renewal, count| {
        let target = Target { address, protocol: Protocol::Echo { size: 1 } };
        let length = Length::Count(count);
        let config = Config { pace, renewal, connections: 6, length, ..Config::new(target) };
        let outcome = run(&config, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((outcome.requests, outcome.failed()), (count, 0));
        (outcome.connect.count, outcome.connections)
    };
    let rate = Pace::Open { per_second: 100.0 };
    // All are opened, however few are used; each is used before one is used again.
    assert_eq!(load(rate, Renewal::Keep, 3), (6, 3));
    assert_eq!(load(rate, Renewal::Keep, 12), (6, 6));
    assert_eq!(load(rate, Renewal::EachRequest, 3), (3, 3));
}
