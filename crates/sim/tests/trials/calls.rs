//! What the calls of applications on models return, as Linux 6.12 has it of the same scenarios.

use tcplab_workload::CallRow;

use crate::trial;

const PATH: &str = "[path]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"200 packets\"\n";

/// The calls of client and server: what each returned, its bytes, and when, ms.
fn calls(rest: &str) -> [Vec<String>; 2] {
    let recording = trial(&format!("{PATH}{rest}"), 1);
    let app = recording.app().unwrap();
    let line = |it: &CallRow| {
        let (begun, ended) = (it.began.as_nanos() / 1_000_000, it.ended.as_nanos() / 1_000_000);
        format!("{} {} {} B, {begun} to {ended} ms", it.call, it.result, it.bytes.as_u64())
    };
    [&app.client, &app.server].map(|report| report.log.iter().map(line).collect())
}

fn has(calls: &[String], expected: &[&str]) {
    let found: Vec<&str> = calls
        .iter()
        .filter(|line| expected.iter().any(|it| it.split(' ').next() == line.split(' ').next()))
        .map(String::as_str)
        .collect();
    assert_eq!(found, expected);
}

/// `tcp_recvmsg_locked`: what was copied is returned when the time is over.
#[test]
fn read_below_rcvlowat_returns_what_it_has_when_time_is_over() {
    let [client, server] = calls(
        "[server.accepted]\nrcvlowat = \"5 kB\"\nrcvtimeo = \"1 s\"\n[workload]\n\
         client = [\"write 1 kB\", \"read to end\", \"close\"]\n\
         server = [\"read up to 100 kB\", \"read up to 100 kB\", \"close\"]\nmay_fail = true\n",
    );
    has(&server, &["read ok 1000 B, 15 to 1015 ms", "read EAGAIN 0 B, 1015 to 2015 ms"]);
    has(&client, &["read end 0 B, 10 to 2020 ms"]);
}

/// `sock_rcvlowat`: a read wants no more than it has room for; one that sleeps is woken by the
/// full mark (`tcp_data_ready`).
#[test]
fn short_read_takes_less_than_rcvlowat() {
    let [_, server] = calls(
        "[server.accepted]\nrcvlowat = \"5 kB\"\n[workload]\n\
         client = [\"write 3 kB\", \"sleep 1 s\", \"write 3 kB\", \"read to end\", \"close\"]\n\
         server = [\"read up to 1 kB\", \"read up to 1 kB\", \"read up to 1 kB\", \
         \"read up to 100 kB\", \"close\"]\n\
         may_fail = true\n[limits]\ntrial = \"3 s\"\n",
    );
    has(
        &server,
        &[
            "read ok 1000 B, 15 to 1016 ms",
            "read ok 1000 B, 1016 to 1016 ms",
            "read ok 1000 B, 1016 to 1016 ms",
            "read waiting 0 B, 1016 to 3000 ms",
        ],
    );
}

/// A read takes all that has arrived, whatever its size, and one window update follows.
#[test]
fn large_read_takes_all_segments_that_arrived() {
    for size in ["100 kB", "256 KiB"] {
        let [_, server] = calls(&format!(
            "[workload]\nclient = [\"write 20 kB\", \"sleep 1 s\", \"close\"]\n\
             server = [\"sleep 1 s\", \"read up to {size}\", \"read up to {size}\", \"close\"]\n",
        ));
        has(&server, &["read ok 20000 B, 1015 to 1015 ms", "read end 0 B, 1015 to 1015 ms"]);
    }
}

/// `inet_stream_connect`.
#[test]
fn sndtimeo_ends_connect() {
    let [client, _] = calls(
        "blackhole = \"0 s\"\n[client.socket]\nsndtimeo = \"2 s\"\n[workload]\n\
         client = [\"connect\", \"close\"]\nserver = [\"accept\", \"close\"]\nmay_fail = true\n",
    );
    assert_eq!(client, ["connect EINPROGRESS 0 B, 0 to 2000 ms", "close ok 0 B, 2000 to 2000 ms"]);
}

/// MSG_DONTWAIT: the call after one that found too little room finds none, 10 ms later.
#[test]
fn write_that_does_not_wait_returns_eagain() {
    let [client, _] = calls(
        "[client]\nsocket.sndbuf = \"8 KiB\"\n[workload]\n\
         client = [\"write 100 kB retry 10 ms\", \"close\"]\n\
         server = [\"read to end\", \"close\"]\nmay_fail = true\n",
    );
    has(
        &client,
        &[
            "write ok 46336 B, 10 to 10 ms",
            "write EAGAIN 0 B, 20 to 20 ms",
            "write ok 53664 B, 30 to 40 ms",
        ],
    );
}

/// `tcp_time_wait` closes the socket.
#[test]
fn shutdown_in_time_wait_is_enotconn() {
    let [client, _] = calls(
        "[workload]\nclient = [\"write 100 B\", \"shutdown write\", \"read to end\", \
         \"shutdown both\", \"close\"]\n\
         server = [\"read to end\", \"close\"]\nmay_fail = true\n",
    );
    has(&client, &["shutdown ok 0 B, 10 to 10 ms", "shutdown ENOTCONN 0 B, 20 to 20 ms"]);
}

/// `sk_acceptq_is_full`: with a backlog of 1 two connections wait; the others are established when
/// their data is retransmitted after the first `accept`.
#[test]
fn backlog_limits_connections_that_wait_to_be_accepted() {
    let [_, server] = calls(
        "[server]\nsocket.backlog = 1\n[workload]\nconnections = { total = 8, at_once = 8 }\n\
         client = [\"connect\", \"write 10 B\", \"read to end\", \"close\"]\n\
         server = [\"sleep 3 s\", \"accept\", \"read 10 B\", \"write 5 B\", \"close\"]\n",
    );
    let accepted = |when: &str| {
        server.iter().filter(|it| it.starts_with("accept ok") && it.contains(when)).count()
    };
    assert_eq!([accepted("3000 to 3000 ms"), accepted("3000 to 349")], [2, 6], "{server:#?}");
}

const DIALOGUE: &str = "[workload]\nclient = [\"write 1 B\", \"read 1 B\", \"close\"]\n\
                        server = [\"read 1 B\", \"write 1 B\", \"read to end\", \"close\"]\n\
                        may_fail = true\n";

/// RFC 9293 section 3.10.7.4: a RST in SYN-RECEIVED leads back to LISTEN.
#[test]
fn accept_waits_on_where_client_gives_up() {
    let [client, server] = calls(&format!(
        "[client.socket]\nsndtimeo = \"6 ms\"\n[limits]\ntrial = \"3 s\"\n{DIALOGUE}"
    ));
    assert_eq!(client[0], "connect EINPROGRESS 0 B, 0 to 6 ms");
    assert!(server.is_empty(), "{server:?}");
}

/// The server forgets a handshake when the retries of its SYN-ACK are used up, and answers the
/// client's next SYN with a new one.
#[test]
fn syn_after_last_retry_of_syn_ack_opens_connection() {
    let [client, server] = calls(&format!(
        "[path.reverse]\nblackhole = {{ from = \"0 s\", until = \"10 s\" }}\n\
         [server.socket]\nsyncnt = 1\n{DIALOGUE}"
    ));
    has(&client, &["connect ok 0 B, 0 to 11274 ms", "read ok 1 B, 11274 to 11284 ms"]);
    has(
        &server,
        &[
            "accept ok 0 B, 0 to 11279 ms",
            "read ok 1 B, 11279 to 11279 ms",
            "read end 0 B, 11279 to 11289 ms",
        ],
    );
}

/// Linux gives the program a connection that was reset before it was accepted.
#[test]
fn connection_that_was_reset_is_accepted() {
    let [_, server] = calls(
        "[client.socket]\nlinger = \"0 s\"\n[workload]\n\
         client = [\"connect\", \"close\"]\n\
         server = [\"sleep 1 s\", \"accept\", \"read 1 B\", \"close\"]\nmay_fail = true\n",
    );
    has(&server, &["accept ok 0 B, 1000 to 1000 ms", "read ECONNRESET 0 B, 1000 to 1000 ms"]);
}
