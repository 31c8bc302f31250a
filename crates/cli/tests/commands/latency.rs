//! `tcplab latency` and the service that answers it, on one host.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tcplab_quantities::LATENCY_DOCUMENT;

use crate::home::Home;
use crate::schema::check;
use crate::servers::Server;

const SHORT: &str = "--interval 1ms --duration 300ms --quiet";

#[test]
fn every_probe_is_answered_on_one_host() {
    let home = Home::new();
    for more in ["", "--design thread-pool"] {
        let server = Server::start(&home, &format!("--service latency {more}")).unwrap();
        let address = server.address;
        let files = "--csv series.csv --svg figure.svg";
        let found = home.json(&format!("latency {address} {SHORT} {files} --json"));
        check(&LATENCY_DOCUMENT, &found, "latency");
        assert_eq!((&found["lost"], &found["lost_there"]), (&0.into(), &0.into()), "{found}");
        assert_eq!(found["sent"], found["answered"], "{found}");
        assert_eq!(found["clock"]["is_same"], true, "{found}");
        let series = found["series"].as_array().unwrap();
        let sent: u64 = series.iter().map(|point| point["sent"].as_u64().unwrap()).sum();
        assert_eq!(found["sent"], sent);
        assert_eq!(home.text("series.csv").lines().count(), series.len() + 1);
        assert!(home.text("figure.svg").contains("Latency, mean"));
        let tally = server.stop();
        // Two greetings at least: for the token, and for what has arrived.
        assert!(tally["requests"].as_u64() >= found["sent"].as_u64().map(|it| it + 2), "{tally}");
        assert_eq!(tally["received"], tally["sent"], "an answer is as long as the question");
    }
}

#[test]
fn load_meanwhile_divides_the_latencies() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let discard = Server::start(&home, "--service discard").unwrap();
    let load = format!("--upload {} -c 2 --clocks separate", discard.address);
    // What a load has carried is looked at ten times a second.
    let line = format!("latency {} --interval 1ms --duration 1s -q {load}", server.address);
    let found = home.json(&format!("{line} --json"));
    check(&LATENCY_DOCUMENT, &found, "latency under load");
    let names: Vec<&Value> =
        found["phases"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["idle", "under load"]);
    assert_eq!(found["clock"]["is_same"], false);
    let series = found["series"].as_array().unwrap();
    assert!(series.iter().any(|point| point["upload_bits_per_second"].is_number()), "{found}");
    let text = home.answer(&format!("{line} --json=again.json"));
    for part in ["under load\n", "increase under load", "upload: ", "half of the least RTT"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again: Value = serde_json::from_slice(&home.bytes("again.json")).unwrap();
    let bytes = |found: &Value| found["loads"][0]["bytes"].as_u64().unwrap();
    let received = discard.stop()["received"].as_u64().unwrap();
    assert!(bytes(&found) > 0 && received == bytes(&found) + bytes(&again), "{received}: {found}");
    home.refuses(&[(&line, "cannot connect to 127.0.0.1:")]);
}

#[test]
fn several_hosts_are_put_together() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    for name in ["here", "there"] {
        home.answer(&format!("latency {} {SHORT} --json={name}.json", server.address));
    }
    let text = home.answer("latency --together here.json there.json --svg both.svg --csv both.csv");
    assert!(text.contains("here\n") && text.contains("there\n"), "{text}");
    let figure = home.text("both.svg");
    assert!(figure.contains("here, max") && figure.contains("there, max"), "{figure}");
    let hosts = home.text("both.csv");
    assert!(hosts.contains("\nhere,") && hosts.contains("\nthere,"), "{hosts}");
}

/// Sends back whatever comes, as an echo server does, and answers of its own making.
#[test]
fn answers_that_are_none_do_not_count() {
    let home = Home::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let address = socket.local_addr().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = [0; 100];
            while !is_over.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                if buffer[..8] == *b"tcplabL0" && length == 64 {
                    // A welcome, and one of another session.
                    buffer[7] = b'1';
                    socket.send_to(&buffer[..length], from).unwrap();
                    buffer[8] ^= 1;
                }
                socket.send_to(&buffer[..length], from).unwrap();
                socket.send_to(b"short", from).unwrap();
            }
        });
        let line = format!("latency {address} {SHORT} --timeout 50ms --json");
        let ended = home.run(&line);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
        let found: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((&found["answered"], &found["clock"]), (&0.into(), &Value::Null), "{found}");
        assert_eq!(found["sent"], found["lost"], "{found}");
        assert!(found["ignored"].as_u64() > Some(0), "{found}");
        assert_eq!(found["lost_there"], Value::Null, "the server did not count: {found}");
    });
}

#[test]
fn mistakes_are_named() {
    let home = Home::with("a.json", "{}");
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.refuses(&[
        (&format!("latency {closed} -q"), "tcplab server --service latency"),
        ("latency 127.0.0.1", "cannot find 127.0.0.1"),
        ("latency 127.0.0.1:1 --interval 1us", "out of range"),
        ("latency 127.0.0.1:1 --svg /no/such/folder/x.svg", "/no/such/folder"),
        ("latency --together a.json", "is not a result of `tcplab latency"),
        ("latency --together b.json", "cannot read b.json"),
        ("server --service latency --design fork", "`iterative` or `thread-pool`"),
    ]);
}
