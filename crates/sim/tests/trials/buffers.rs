//! The buffers of a machine that all its connections share, and those that hang on to them.

use tcplab_recording::{PoolRecord, Recording};
use tcplab_workload::Outcome;

use crate::{Trial, trial};

/// A device with 30 buffers, of which each socket may have five each way, so that three clients
/// that hang have all of them. Somebody else asks at this time.
fn hanging(count: u32, comes: &str) -> Trial {
    let text = format!(
        r#"
[path]
rate  = "100 Mbit/s"
delay = "1 ms"
queue = "100 packets"
[server]
stack = "model:netburner"
model = {{ host = {{ pool = 30, processing = "100 µs" }} }}
[workload]
client   = ["connect", "write 100 B", "read to end"]
server   = ["read 100 B", "write 4 kB", "shutdown write", "read to end"]
may_fail = true
[flow.good]
start = "{comes}"
[flow.hanging]
background = true
count      = {count}
[flow.hanging.workload]
client = ["write 20 kB", "sleep 1 s", "vanish"]
server = ["read 100 B", "write 100 kB", "read to end"]
[sampling]
tcp_info = "1 s"
[limits]
trial = "20 min"
"#
    );
    trial(&text, 1)
}

fn pool(recording: &Recording) -> PoolRecord {
    recording.record().unwrap().server.pool.unwrap()
}

#[test]
fn hanging_clients_hold_buffers_until_their_connections_are_aborted() {
    for (count, comes, read, drops) in [
        (0, "2 s", 4_000, false),
        (2, "2 s", 4_000, false),
        (3, "2 s", 0, true),
        // The device gives them up: 12 retransmissions, the first after half a second, 64 s at
        // most.
        (3, "8 min", 4_000, true),
    ] {
        let recording = hanging(count, comes);
        let app = recording.app().unwrap();
        let what = format!("{count} hang, and another comes after {comes}");
        assert_eq!(app.client.bytes.as_u64(), read, "{what}");
        let PoolRecord { size, least_free, dropped, .. } = pool(&recording);
        assert_eq!((size, dropped > 0), (30, drops), "{what}: {least_free} free");
    }
}

#[test]
fn host_processes_segments_of_all_connections_in_turn() {
    let duration = |count: u32| {
        let text = format!(
            r#"
[path]
rate  = "100 Mbit/s"
delay = "1 ms"
queue = "100 packets"
[server]
model = {{ host = {{ processing = "1 ms" }} }}
[workload]
upload = "300 kB"
[flow.all]
count = {count}
"#
        );
        trial(&text, 1).record().unwrap().duration
    };
    // 206 segments of a millisecond each and more, and three times as many.
    let [one, three] = [1, 3].map(duration);
    assert!(one.as_millis_f64() > 206.0 && three.as_millis_f64() > 618.0, "{one}, {three}");
    assert!(three.as_millis_f64() < 3.0 * one.as_millis_f64() + 1.0, "{one}, {three}");
}

/// What an accepted socket was asked for is not what its listening socket has.
#[test]
fn options_of_accepted_socket_are_read_from_connection() {
    for (asked, key, set, outcome) in [
        ("accepted.rcvbuf = \"4096 B\"", "rcvbuf", "8192 B", Outcome::Doubled),
        ("accepted.sndbuf = \"20 kB\"", "sndbuf", "40000 B", Outcome::Doubled),
        ("accepted.maxseg = 500", "maxseg", "1448", Outcome::Ignored),
        ("socket.maxseg = 500", "maxseg", "488", Outcome::Inherited),
    ] {
        let recording = trial(
            &format!(
                "[path]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
                 [workload]\nupload = \"10 kB\"\n[server]\n{asked}\n"
            ),
            1,
        );
        let options = recording.record().unwrap().server.options;
        let option = options.iter().find(|option| option.name == key).unwrap();
        let has = (option.set.as_deref(), &*option.effective, option.outcome);
        assert_eq!(has, (Some(set), set, outcome), "{asked}");
    }
}
