//! `tcplab server` and `tcplab load`: each design answers, survives misbehaving clients, and
//! answers all accepted connections when it stops.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::sockopt;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tcplab_quantities::{BULK_DOCUMENT, LOAD_DOCUMENT, SERVERS_LOAD_DOCUMENT};

use crate::home::{Ended, Home};
use crate::schema::check;

const DESIGNS: [&str; 7] =
    ["iterative", "fork", "prefork", "thread", "thread-pool", "epoll", "io-uring"];
const ALWAYS: [&str; 3] = ["--json", "--drain-timeout", "15 s"];
/// Longer than anything here takes; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(20);

/// A server that runs. Dropped before it was stopped, it is killed.
pub(crate) struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts one in a directory; none where this machine refuses io_uring.
    pub(crate) fn start(home: &Home, line: &str) -> Option<Server> {
        Server::run(home.command(&format!("server {line}")).args(ALWAYS), line)
    }

    /// The same with so few descriptors.
    fn start_with_descriptors(descriptors: u32, line: &str) -> Option<Server> {
        let program = env!("CARGO_BIN_EXE_tcplab");
        let script = format!("ulimit -n {descriptors}; exec '{program}' server {line} \"$@\"");
        Server::run(Command::new("sh").args(["-c", &script, "sh"]).args(ALWAYS), line)
    }

    #[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
    fn run(command: &mut Command, line: &str) -> Option<Server> {
        // A group of its own, as a shell makes one, so that a signal reaches all its processes.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        // It says that it listens once it can serve.
        let Ok(begun) = serde_json::from_str::<Value>(&first) else {
            let complaint = rest_of(&mut child.stderr.take().unwrap());
            child.wait().unwrap();
            let is_disabled = complaint.contains("io_uring is disabled here");
            assert!(line.contains("io-uring") && is_disabled, "{line}: {first}{complaint}");
            eprintln!("skipped: {complaint}");
            return None;
        };
        let address = begun["listening"].as_str().unwrap().parse().unwrap();
        Some(Server { child, output, address })
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Asks each of its processes to stop, as a service manager does. Gives its counters.
    pub(crate) fn stop(mut self) -> Value {
        kill_process_group(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let rest = rest_of(&mut self.output);
        let status = self.child.wait().unwrap();
        let complaint = rest_of(&mut self.child.stderr.take().unwrap());
        assert!(status.success(), "{status}: {rest}{complaint}");
        let tally: Value =
            serde_json::from_str(&rest).unwrap_or_else(|_| panic!("{rest}{complaint}"));
        assert_eq!(tally["open"], 0, "{tally}");
        tally
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect_timeout(&self.address, LONG).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }
}

/// All that comes until the end.
fn rest_of(source: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tries several designs, all at once: much of it is waiting.
fn each(designs: &[&str], test: impl Fn(&str) + Sync) {
    std::thread::scope(|scope| {
        for design in designs {
            scope.spawn(|| test(design));
        }
    });
}

/// A directory with a small file and a large one.
fn site() -> Home {
    let site = Home::with("index.html", "<h1>hello</h1>\n");
    site.write("large", large());
    site
}

fn large() -> Vec<u8> {
    (0..700_000_u32).map(|at| (at % 253) as u8).collect()
}

/// Sends these bytes and gives all that comes until the server closes.
fn ask(server: &Server, request: &str) -> String {
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).unwrap();
    rest_of(&mut stream)
}

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[test]
fn all_designs_serve_equally() {
    let site = site();
    each(&DESIGNS, |design| {
        let Some(server) = Server::start(&site, &format!("--design {design} --file .")) else {
            return;
        };
        let piped = ask(&server, &format!("{GET}HEAD / HTTP/1.1\r\nHost: x\r\n\r\n{LAST}"));
        assert_eq!(piped.matches("HTTP/1.1 200 OK").count(), 3, "{design}: {piped}");
        assert_eq!(piped.matches("<h1>hello</h1>").count(), 2, "{design}: {piped}");
        let large = "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let mut stream = server.connect();
        stream.write_all(large.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.ends_with(&self::large()), "{design}: {} bytes", answer.len());
        let gone = ask(&server, &GET.replace("GET /", "GET /gone").replace("1.1\r\n", "1.0\r\n"));
        assert!(gone.starts_with("HTTP/1.1 404 "), "{design}: {gone}");
        let tally = server.stop();
        assert_eq!((&tally["requests"], &tally["refused"]), (&5.into(), &1.into()), "{design}");

        let server = Server::start(&site, &format!("--design {design}")).unwrap();
        let mut stream = server.connect();
        let sent = self::large();
        let mut reader = stream.try_clone().unwrap();
        let echoed = std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let mut echoed = Vec::new();
                reader.read_to_end(&mut echoed).map(|_| echoed).unwrap()
            });
            stream.write_all(&sent).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            reading.join().unwrap()
        });
        assert!(echoed == sent, "{design}: {} bytes came back", echoed.len());
        let tally = server.stop();
        assert_eq!(tally["orderly"], 1, "{design}: {tally}");
    });
}

/// The flag, for designs that have a fixed number of workers.
fn workers(design: &str, number: u32) -> String {
    match design {
        "iterative" | "fork" | "thread" => String::new(),
        _ => format!("--workers {number}"),
    }
}

#[test]
fn no_client_crashes_a_server() {
    let site = site();
    each(&DESIGNS, |design| {
        let limits = "--request-timeout '300 ms' --idle-timeout '600 ms'";
        let line = format!("--design {design} --file . {limits} {}", workers(design, 2));
        let Some(server) = Server::start(&site, &line) else { return };
        for garbage in ["\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            let answer = ask(&server, garbage);
            assert!(answer.starts_with("HTTP/1.1 400 "), "{design}: {answer}");
        }
        let huge = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}", "y".repeat(20_000));
        assert!(ask(&server, &huge).starts_with("HTTP/1.1 431 "), "{design}");
        // Resets, before and within a request, and within its answer.
        for begun in ["", "GET / HT", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let mut stream = server.connect();
            stream.write_all(begun.as_bytes()).unwrap();
            sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        }
        // Half a request and the end; a request and the end.
        let mut stream = server.connect();
        stream.write_all(b"GET / HT").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0; 9]).unwrap(), 0, "{design}");
        let mut stream = server.connect();
        stream.write_all(GET.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = rest_of(&mut stream);
        assert!(answer.ends_with("<h1>hello</h1>\n"), "{design}: {answer}");
        // A slow one gets a status, a silent one the end.
        let (mut slow, mut silent) = (server.connect(), server.connect());
        slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let answer = rest_of(&mut slow);
        assert!(answer.starts_with("HTTP/1.1 408 "), "{design}: {answer}");
        drop(slow);
        assert_eq!(silent.read(&mut [0; 9]).unwrap(), 0, "{design}");
        assert!(ask(&server, LAST).ends_with("<h1>hello</h1>\n"), "{design}");
        let tally = server.stop();
        assert_eq!(tally["lost_workers"], 0, "{design}: {tally}");
        assert_eq!(tally["broken"], 0, "{design}: {tally}");
    });
}

#[test]
fn server_waits_for_free_descriptors() {
    each(&["iterative", "fork", "thread", "thread-pool", "epoll", "io-uring"], |design| {
        let line = format!("--design {design} {}", workers(design, 1));
        let Some(server) = Server::start_with_descriptors(24, &line) else { return };
        let mut streams: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
        // As many as can be are accepted; then there is a pause.
        std::thread::sleep(Duration::from_millis(50));
        let mut last = streams.pop().unwrap();
        drop(streams);
        last.write_all(b"still there?").unwrap();
        let mut answer = [0; 12];
        last.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"still there?", "{design}");
        drop(last);
        let tally = server.stop();
        assert_eq!(tally["accepted"], 60, "{design}: {tally}");
        // One connection needs one descriptor, whoever else waits; a process has its own.
        if matches!(design, "thread" | "epoll" | "io-uring") {
            assert!(tally["exhausted"].as_u64() > Some(0), "{design}: {tally}");
        }
    });
}

#[test]
fn stopping_server_answers_accepted_connections() {
    let site = site();
    each(&DESIGNS, |design| {
        let line = format!("--design {design} --file . {}", workers(design, 2));
        let Some(server) = Server::start(&site, &line) else { return };
        // A design that carries one connection at a time cannot serve others that stay open.
        let one_by_one = matches!(design, "iterative" | "prefork" | "thread-pool");
        let is_stopping = AtomicBool::new(false);
        let address = server.address;
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|number| {
                    let (keeps, is_stopping) = (number % 2 == 0 && !one_by_one, &is_stopping);
                    scope.spawn(move || client(address, keeps, is_stopping))
                })
                .collect();
            std::thread::sleep(Duration::from_millis(150));
            is_stopping.store(true, Ordering::Relaxed);
            let tally = server.stop();
            let answered: u64 = clients.into_iter().map(|it| it.join().unwrap()).sum();
            assert!(answered > 8, "{design}: {answered}");
            assert_eq!(tally["requests"], answered, "{design}: {tally}");
            assert_eq!(
                (&tally["cut"], &tally["reset"]),
                (&0.into(), &0.into()),
                "{design}: {tally}"
            );
        });
    });
}

/// Sends requests until connections are refused; each on a connection must be answered. Gives how
/// many were.
fn client(address: SocketAddr, keeps: bool, is_stopping: &AtomicBool) -> u64 {
    let request = if keeps { GET } else { LAST };
    let mut answered = 0;
    loop {
        let Ok(stream) = TcpStream::connect_timeout(&address, LONG) else {
            assert!(is_stopping.load(Ordering::Relaxed), "it was refused before the end");
            return answered;
        };
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut stream = BufReader::new(stream);
        loop {
            stream.get_mut().write_all(request.as_bytes()).expect("a connection takes a request");
            let mut is_last = false;
            let mut lines = 0;
            // The body is one line, after the empty one.
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                assert!(!line.is_empty(), "request {answered} was lost");
                is_last |= line.trim() == "Connection: close";
                lines += usize::from(line.trim().is_empty());
                if lines > 0 && line.starts_with("<h1>") {
                    break;
                }
            }
            answered += 1;
            if is_last {
                break;
            }
        }
    }
}

#[test]
fn datagrams_are_answered() {
    let exchange = |line: &str, request: &[u8]| {
        let server = Server::start(&Home::new(), line).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket.send_to(request, server.address).unwrap();
        let mut answer = [0; 2000];
        let count = socket.recv(&mut answer).unwrap();
        let tally = server.stop();
        assert_eq!(tally["requests"], 1, "{line}: {tally}");
        String::from_utf8_lossy(&answer[..count]).into_owned()
    };
    assert_eq!(exchange("--service echo --udp", b"hello"), "hello");
    let pool = "--service time --design thread-pool --workers 2";
    let time = exchange(pool, b"now");
    assert!(time.split('.').next().unwrap().parse::<u64>().unwrap() > 1_700_000_000, "{time}");
    let answer = exchange("--service users", b"nobody-of-that-name");
    assert!(answer.starts_with("no: ") || answer.starts_with("unknown: "), "{answer}");
}

#[test]
fn load_counts_what_the_server_counts() {
    let site = site();
    let server = Server::start(&site, "--file .").unwrap();
    let url = format!("http://{}/large", server.address);
    for more in ["-c 3", "-c 3 --no-keep-alive", "--rate 1000"] {
        let outcome =
            site.json(&format!("load {url} --requests 50 --expect large --json -q {more}"));
        check(&LOAD_DOCUMENT, &outcome, "load");
        assert_eq!(outcome["requests"], 50, "{more}: {outcome}");
        assert_eq!(outcome["body"]["length"], 700_000, "{more}: {outcome}");
        assert_eq!(outcome["response"]["count"], 50, "{more}: {outcome}");
        if more.contains("--no-keep-alive") {
            assert_eq!(outcome["connections"], 50, "{outcome}");
        }
    }
    let one = site.answer(&format!("load {url} --requests 1 -c 1 --expect large -q"));
    for part in ["1 request in ", "\nexpected body: 700000 bytes", "\n1 connection used"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    // Wrong responses are reported, and are no success.
    let gone = url.replace("large", "gone");
    for (line, errors) in [
        (format!("{url} --expect index.html"), "3 errors: wrong body"),
        (gone.clone(), &format!("3 errors: status 404 for {gone}")),
    ] {
        let Ended { code, stdout, .. } = site.run(&format!("load {line} --requests 3 -q"));
        assert!(code == Some(1) && stdout.contains(errors), "{code:?}: {stdout}");
    }
    let tally = server.stop();
    assert_eq!((&tally["requests"], &tally["refused"]), (&157.into(), &3.into()), "{tally}");
}

#[test]
fn designs_under_the_same_load_are_compared_as_text_and_as_json() {
    let home = site();
    let load = "load --server fork,epoll --serve index.html --requests 20 -q";
    let found = home.json(&format!("{load} --json"));
    check(&SERVERS_LOAD_DOCUMENT, &found, "load --server");
    let servers = found["servers"].as_array().unwrap();
    let of = |key: &str| servers.iter().map(|it| it[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("design"), ["fork", "epoll"]);
    assert_eq!(of("requests"), [20, 20]);
    let text = home.answer(&format!("{load} --json=found.json"));
    assert!(text.contains("fork: 20 requests in ") && text.contains("latency, ms"), "{text}");
    assert!(home.text("found.json").contains("tcplab.servers-load"));
}

#[test]
fn warnings_about_a_load_name_the_design() {
    let line = "load --server thread --rate 1000000 -c 1 --duration 200ms -q";
    let Ended { stdout, stderr, .. } = Home::new().run(line);
    assert!(stderr.contains("tcplab: warning: thread: "), "{stdout}{stderr}");
}

#[test]
fn interrupted_load_of_several_designs_keeps_what_was_measured() {
    let home = Home::new();
    let line = "load --server thread,epoll --duration 30s -q --json=found.json";
    let mut command = home.command(line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let stdout = rest_of(&mut child.stdout.take().unwrap());
    let stderr = rest_of(&mut child.stderr.take().unwrap());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stdout}{stderr}");
    assert!(stdout.contains("thread: ") && stdout.contains(" s (interrupted): "), "{stdout}");
    assert!(stderr.contains("interrupted: 1 of 2 designs tested"), "{stderr}");
    let found: Value = serde_json::from_slice(&home.bytes("found.json")).unwrap();
    check(&SERVERS_LOAD_DOCUMENT, &found, "load --server, interrupted");
    let [one] = &found["servers"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&one["design"], &one["was_stopped"]), (&"thread".into(), &true.into()));
}

#[test]
fn bulk_data_arrives_complete() {
    let home = Home::new();
    for (service, bulk) in [("discard", "upload -c 2"), ("chargen", "download")] {
        let server = Server::start(&home, &format!("--service {service}")).unwrap();
        let address = server.address;
        let outcome = home.json(&format!("load {address} --bulk {bulk} --duration 0.1s --json -q"));
        check(&BULK_DOCUMENT, &outcome, "load --bulk");
        assert!(outcome["bytes"].as_u64() > Some(0), "{service}: {outcome}");
        let tally = server.stop();
        if service == "discard" {
            assert_eq!(tally["received"], outcome["bytes"], "{tally}");
        }
    }
}

#[test]
fn bulk_transfer_that_the_server_ends_early_fails_with_what_it_carried() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream.unwrap().write_all(&[7; 10_000]).unwrap();
        }
    });
    let line = format!("load {address} --bulk download --duration 10s -q");
    let Ended { code, stdout, stderr } = Home::new().run(&line);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.starts_with("10.0 kB in "), "{stdout}");
    assert!(stderr.contains("connection 1 ended early, after 10.0 kB in "), "{stderr}");
    let outcome = serde_json::from_str(&Home::new().run(&format!("{line} --json")).stdout).unwrap();
    check(&BULK_DOCUMENT, &outcome, "load --bulk that ends early");
    let Value::Array(early) = &outcome["early"] else { panic!("{outcome}") };
    assert_eq!((&early[0]["bytes"], &early[0]["cause"]), (&10_000.into(), &"closed".into()));
}

#[test]
fn workers_that_a_design_does_not_have_are_refused() {
    let said = "has no fixed number of them try: leave it out";
    Home::new().refuses(&[
        ("server --design fork --workers 3", said),
        ("server --service time --workers 2", said),
    ]);
}

#[test]
fn server_that_carries_no_bulk_data_is_named() {
    let home = Home::new();
    for (service, bulk, what) in [
        ("echo", "upload", "sends data during an upload: it is no discard server"),
        ("discard", "download", "sent no data to download: it is no chargen server"),
    ] {
        let server = Server::start(&home, &format!("--service {service}")).unwrap();
        let line = format!("load {} --bulk {bulk} --duration 0.1s -q", server.address);
        home.refuses(&[(line.as_str(), what), (line.as_str(), "start one with `tcplab server")]);
        server.stop();
    }
}

#[test]
fn mistakes_are_named() {
    let home = Home::new();
    let server = Server::start(&home, "").unwrap();
    let (ip, port) = (server.address.ip(), server.address.port());
    let busy = format!("server --address {ip} --port {port}");
    let refused = |line: &str, parts: &[&str]| {
        home.refuses(&parts.iter().map(|part| (line, *part)).collect::<Vec<_>>());
    };
    refused(&busy, &["cannot listen on 127.0.0.1:", "another program listens there"]);
    refused("server --address 192.0.2.1", &["use an address of this machine"]);
    refused("server --file /no/such/file", &["cannot serve /no/such/file"]);
    let design = "server --service time --design fork";
    refused(design, &["has the design `iterative` or `thread-pool`"]);
    server.stop();
    let gone = format!("load http://{ip}:{port}/ -q");
    refused(&gone, &["cannot connect to 127.0.0.1:", "no server listens there: start one"]);
    refused("load https://127.0.0.1/", &["unsupported scheme `https`; use http:// or echo://"]);
    refused("load 127.0.0.1:7 -c 4000000000", &["descriptors", "`ulimit -n`"]);
    refused("load 127.0.0.1:7 --rate 0", &["the rate must be above 0"]);
}

#[test]
fn sigusr1_prints_counters() {
    let mut server = Server::start(&Home::new(), "").unwrap();
    let mut stream = server.connect();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    let mut line = String::new();
    let mut complaints = BufReader::new(server.child.stderr.take().unwrap());
    // On a busy machine a worker counts what it has accepted a moment after it has answered.
    for _ in 0..100 {
        line.clear();
        server.signal(Signal::USR1);
        complaints.read_line(&mut line).unwrap();
        if line.contains(" 1 accepted, ") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(line.starts_with("tcplab: 1 open, 1 accepted, "), "{line}");
    server.child.stderr = Some(complaints.into_inner());
    drop(stream);
    server.stop();
}

#[test]
fn shrinking_file_ends_only_its_connection() {
    /// More than the sockets at both ends hold.
    const LENGTH: u64 = 64 << 20;
    each(&["thread", "epoll", "io-uring"], |design| {
        let site = site();
        let shrinking = fs::File::create(site.path("shrinking")).unwrap();
        shrinking.set_len(LENGTH).unwrap();
        let Some(server) = Server::start(&site, &format!("--design {design} --file .")) else {
            return;
        };
        let mut stream = server.connect();
        stream.write_all(GET.replace("GET /", "GET /shrinking").as_bytes()).unwrap();
        let mut begun = [0; 10_000];
        stream.read_exact(&mut begun).unwrap();
        assert!(begun.starts_with(b"HTTP/1.1 200 OK"), "{design}");
        shrinking.set_len(0).unwrap();
        let mut rest = Vec::new();
        // Less than was promised, then the end or a reset: in no case a wait, or other bytes.
        let _ = stream.read_to_end(&mut rest);
        assert!((begun.len() + rest.len()) as u64 <= LENGTH, "{design}: {}", rest.len());
        assert!(rest.iter().all(|byte| *byte == 0), "{design}");
        assert!(ask(&server, LAST).ends_with("<h1>hello</h1>\n"), "{design}");
        let tally = server.stop();
        assert_eq!(tally["broken"], 1, "{design}: {tally}");
    });
}

#[test]
fn ipv6_is_served_and_loaded() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let home = Home::new();
    let server = Server::start(&home, "--address ::1").unwrap();
    home.answer(&format!("load {} --requests 5 -q", server.address));
    let tally = server.stop();
    assert_eq!(tally["requests"], 5, "{tally}");
}
