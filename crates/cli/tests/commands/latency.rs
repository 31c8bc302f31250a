//! `tcplab latency` and the service that answers it, on one host.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
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
        assert_eq!((&found["send_delay"]["count"], &found["unsent"]), (&found["sent"], &0.into()));
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
    let sent = |it: &Value| it["sent"].as_u64().unwrap();
    let phases = found["phases"].as_array().unwrap();
    assert_eq!(phases.iter().map(sent).sum::<u64>(), sent(&found), "{found}");
    assert_eq!(found["clock"]["is_same"], false);
    let series = found["series"].as_array().unwrap();
    assert!(series.iter().any(|point| point["upload_bits_per_second"].is_number()), "{found}");
    let text = home.answer(&format!("{line} --json=again.json"));
    for part in [
        "under load\n",
        " lost (0.00 %)\nunder load",
        "\nsend delay ",
        "increase under load",
        "upload: ",
        "half of the least RTT and 50 ppm of drift",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again: Value = serde_json::from_slice(&home.bytes("again.json")).unwrap();
    let bytes = |found: &Value| found["loads"][0]["bytes"].as_u64().unwrap();
    let received = discard.stop()["received"].as_u64().unwrap();
    assert!(bytes(&found) > 0 && received == bytes(&found) + bytes(&again), "{received}: {found}");
    home.refuses(&[(&line, "cannot connect to 127.0.0.1:")]);
}

#[test]
fn load_that_carries_nothing_is_no_load() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let discard = Server::start(&home, "--service discard").unwrap();
    let line = format!("latency {} --interval 1ms --duration 300ms -q", server.address);
    let ended = home.run(&format!("{line} --download {} --json=it.json", discard.address));
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let why = "the load failed: ";
    assert!(ended.stderr.contains(why) && ended.stderr.contains("chargen"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("load"), "{}", ended.stdout);
    let found: Value = serde_json::from_slice(&home.bytes("it.json")).unwrap();
    let [idle] = &found["phases"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&idle["name"], &idle["sent"]), (&"idle".into(), &found["sent"]), "{found}");
}

/// An echo server takes data, and then sends what a discard server would not.
#[test]
fn load_that_fails_after_it_carried_data_divides_the_latencies() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let echo = Server::start(&home, "--service echo").unwrap();
    let line = format!("latency {} --interval 1ms --duration 300ms -q", server.address);
    let ended = home.run(&format!("{line} --upload {} --json=it.json", echo.address));
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("the load failed: "), "{}", ended.stderr);
    let found: Value = serde_json::from_slice(&home.bytes("it.json")).unwrap();
    let [idle, loaded, ..] = &found["phases"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&idle["name"], &loaded["name"]), (&"idle".into(), &"under load".into()));
    assert_eq!(found["loads"], json!([]), "{found}");
}

#[test]
fn probes_after_an_early_end_of_the_load_are_not_under_load() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(&[7; 10_000]);
        }
    });
    let line = format!("latency {} --interval 1ms --duration 600ms -q", server.address);
    let found = home.json(&format!("{line} --download {address} --json"));
    check(&LATENCY_DOCUMENT, &found, "latency with a load that ends early");
    let sent = |name: &str| {
        let phases = found["phases"].as_array().unwrap();
        phases.iter().find(|it| it["name"] == name).map_or(0, |it| it["sent"].as_u64().unwrap())
    };
    assert!(sent("idle") > 50 && sent("after the load") > 50, "{found}");
    assert!(sent("under load") < 50, "it ends at once: {found}");
    assert!(found["warnings"][0].as_str().unwrap().contains("the server closed it"), "{found}");
    let carried = found["series"].as_array().unwrap().iter();
    let bits: f64 = carried.filter_map(|it| it["download_bits_per_second"].as_f64()).sum();
    assert!(bits > 0.0, "{found}");
}

/// A server that welcomes, and answers no probe.
#[test]
fn wait_for_the_last_answers_can_be_interrupted() {
    let home = Home::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 100];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if buffer[..8] == *b"tcplabL0" {
                buffer[7] = b'1';
                let _ = socket.send_to(&buffer[..length], from);
            }
        }
    });
    let line = format!("latency {address} --interval 20ms --duration 100ms --timeout 1h -q");
    let mut child = home.command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let child = child.as_mut().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("5 probes in 0.1 s (interrupted), 5 lost"), "{text}");
}

#[test]
fn load_that_would_not_run_is_refused() {
    let line = |rest: &str| format!("latency 127.0.0.1:9 --duration 2s {rest}");
    let no_time = "leaves no time for the load: use less than --duration (2 s)";
    let no_load = "is about a load: add --upload or --download";
    Home::new().refuses(&[
        (&line("--idle 5s --upload 127.0.0.1:9"), no_time),
        (&line("--idle 2s --download 127.0.0.1:9"), no_time),
        (&line("-c 3"), no_load),
        (&line("--idle 1s"), no_load),
        ("latency 127.0.0.1", "127.0.0.1 has no port: use HOST:PORT"),
    ]);
}

#[test]
fn several_hosts_are_put_together() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    for name in ["here", "there"] {
        home.answer(&format!("latency {} {SHORT} --json={name}.json", server.address));
    }
    // As if it had been made later.
    let mut later: Value = serde_json::from_str(&home.text("there.json")).unwrap();
    let began = later["began_unix_ns"].as_i64().unwrap();
    later["began_unix_ns"] = json!(began + 3_600_000_000_000);
    home.write("there.json", later.to_string());
    let ended = home.run("latency --together here.json there.json --svg both.svg --csv both.csv");
    let warning = "warning: here and there do not overlap in time";
    assert!(ended.code == Some(0) && ended.stderr.contains(warning), "{}", ended.stderr);
    let text = ended.stdout;
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

/// A third host, which waits for requests. Dropped before it was stopped, it is killed.
struct Third {
    child: Child,
    address: String,
}

impl Third {
    fn start(home: &Home, target: &str) -> Third {
        let mut command = home.command(&format!("latency {target} --on-request 127.0.0.1:0"));
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        let address = first.split_whitespace().nth(2).expect(&first).to_owned();
        assert!(first.contains(&format!("who measures to {target}")), "{first}");
        // It must not wait for who reads what it says.
        std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
        Third { child, address }
    }

    /// What it answers to these bytes.
    fn answer(&self, asked: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(asked).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        // Bytes that it did not read reset the connection.
        let _ = stream.read_to_string(&mut answer);
        answer
    }
}

impl Drop for Third {
    fn drop(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn third_host_measures_meanwhile() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let third = Third::start(&home, &server.address.to_string());
    let line = format!("latency {} {SHORT} --third {}", server.address, third.address);
    let files = "--json=with.json --csv both.csv --svg both.svg";
    let text = home.answer(&format!("{line} {files}"));
    let name = &third.address;
    assert!(text.contains("from the third host\n") && text.contains(name), "{text}");
    let found: Value = serde_json::from_slice(&home.bytes("with.json")).unwrap();
    check(&LATENCY_DOCUMENT, &found, "latency with a third host");
    let seen = &found["third"];
    assert_eq!(seen["host"], *name);
    assert_eq!(
        (&seen["result"]["schema"], &seen["result"]["lost"]),
        (&"tcplab.latency".into(), &0.into())
    );
    assert!(seen["result"]["sent"].as_u64() > Some(50), "{seen}");
    // Both began at about the same time, by the server's clock, and the figure has both.
    let began = |it: &Value| it["began_unix_ns"].as_i64().unwrap();
    assert!((began(&found) - began(&seen["result"])).abs() < 5_000_000_000, "{found}");
    let figure = home.text("both.svg");
    assert!(figure.contains(&format!("{name}, max")), "{figure}");
    assert!(home.text("both.csv").contains(&format!("\n{name},")));
    let again = home.answer("latency --together with.json");
    assert!(again.contains("with\n") && again.contains(&format!("with, {name}\n")), "{again}");
    // It measures again, and its load does not.
    home.answer(&line);
}

#[test]
fn third_host_answers_nothing_else() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let third = Third::start(&home, &server.address.to_string());
    let asked = |interval: u64, duration: u64| {
        let rest = "\"timeout_us\":10000";
        format!(
            "{{\"tcplab_latency\":1,\"interval_us\":{interval},\"duration_us\":{duration},{rest}}}\n"
        )
    };
    for (asked, why) in [
        ("GET / HTTP/1.1\r\n\r\n", "does not speak as"),
        ("", "the connection ended"),
        ("{}\n", "does not speak as"),
        (&"x".repeat(100_000), ""),
        (&asked(1, 1_000_000), "interval of 1"),
        (&asked(10_000, u64::MAX), "duration of"),
        (&asked(10_000, 200_000).replace('}', ",\"target\":\"192.0.2.1:7\"}"), "does not speak as"),
    ] {
        let answer = third.answer(asked.as_bytes());
        assert!(answer.contains(why), "{asked}: {answer}");
    }
    // One at a time: the first goes on until it ends its direction.
    let mut first = TcpStream::connect(&third.address).unwrap();
    first.write_all(asked(10_000, 3_600_000_000).as_bytes()).unwrap();
    let mut answers = BufReader::new(first.try_clone().unwrap()).lines();
    assert_eq!(answers.next().unwrap().unwrap(), "{\"event\":\"began\"}");
    assert!(third.answer(asked(10_000, 1_000_000).as_bytes()).contains("for another host"));
    first.shutdown(Shutdown::Write).unwrap();
    let finished: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
    assert_eq!(finished["result"]["was_stopped"], true, "{finished}");
}

#[test]
fn third_host_that_cannot_is_named() {
    let home = Home::new();
    let server = Server::start(&home, "--service latency").unwrap();
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let third = Third::start(&home, &closed.to_string());
    let line = |third: &str| format!("latency {} {SHORT} --third {third}", server.address);
    let nonsense = TcpListener::bind("127.0.0.1:0").unwrap();
    let strange = nonsense.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for answer in [b"HTTP/1.1 400 \x1b[31mBad\r\n".to_vec(), vec![b'x'; 17 << 20]] {
            let (mut stream, _) = nonsense.accept().unwrap();
            let _ = stream.write_all(&answer);
            let _ = stream.read(&mut [0; 500]);
        }
    });
    home.refuses(&[
        (&line(&third.address), "no answer to probes"),
        (&line("127.0.0.1:1"), "--on-request"),
        (&line("127.0.0.1"), "has no port: use HOST:PORT"),
        (&line(&strange), "does not speak as"),
        (&line(&strange), "longer than 16777216 bytes"),
        (&format!("{} --on-request 127.0.0.1:1", line("127.0.0.1:1")), "cannot be used with"),
        (&format!("latency {} --on-request nowhere", server.address), "cannot wait for requests"),
    ]);
}

#[test]
fn mistakes_are_named() {
    let home = Home::with("a.json", "{}");
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.refuses(&[
        (&format!("latency {closed} -q"), "tcplab server --service latency"),
        ("latency 127.0.0.1", "has no port: use HOST:PORT"),
        ("latency 127.0.0.1:1 --interval 1us", "out of range"),
        ("latency 127.0.0.1:1 --svg /no/such/folder/x.svg", "/no/such/folder"),
        ("latency --together a.json", "is not a result of `tcplab latency"),
        ("latency --together b.json", "cannot read b.json"),
        ("server --service latency --design fork", "`iterative` or `thread-pool`"),
    ]);
}
