//! Each example is started, talked to, and ended. Ports are the system's choice.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// Longer than anything here takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(20);

/// A server; ended when this is dropped.
struct Server {
    process: Child,
    address: SocketAddr,
    says: BufReader<ChildStdout>,
}

impl Server {
    fn start(program: &str, arguments: &[&str]) -> Server {
        let mut process = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ").unwrap().parse().unwrap();
        Server { process, address, says }
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn address(&self) -> String {
        self.address.to_string()
    }

    /// The page that it serves.
    fn page(&self) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(b"GET / HTTP/1.0\r\nHost: here\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a program prints that ends by itself.
fn run(program: &str, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } =
        Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let (said, complained) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{program} {arguments:?}: {said}{complained}");
    said
}

#[test]
fn names() {
    let said = run(env!("CARGO_BIN_EXE_names"), &["localhost"]);
    assert!(said.contains("localhost has the address 127.0.0.1"), "{said}");
    assert!(said.contains("a new socket is called 0.0.0.0:0\n"), "{said}");
    let port = |line: &str| -> u16 { line.rsplit(':').next().unwrap().parse().unwrap() };
    let bound = said.lines().find(|line| line.starts_with("bound")).unwrap();
    let connected = said.lines().find(|line| line.starts_with("connected")).unwrap();
    assert!(port(bound) > 0);
    assert!(bound.contains(" 0.0.0.0:") && connected.contains(" 127.0.0.1:"), "{said}");
    assert_eq!(port(bound), port(connected));
    let said = run(env!("CARGO_BIN_EXE_names"), &["no-such-host.invalid"]);
    assert!(said.contains("no-such-host.invalid has no address"), "{said}");
}

#[test]
fn time_exchange() {
    let program = env!("CARGO_BIN_EXE_time_exchange");
    let mut server = Server::start(program, &["server"]);
    let said = run(program, &["client", &server.address(), "--count", "2", "--pause", "1"]);
    assert_eq!(said.matches("the server says 20").count(), 2, "{said}");
    let heard = server.line();
    assert!(heard.contains("says 1 20"), "{heard}");
    // Nobody answers: with a timeout, the client gives up.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let arguments = ["client", &address, "--count", "1", "--timeout", "20", "--tries", "3"];
    assert_eq!(run(program, &arguments), "no answer to 1\n");
    let mut room = [0; 64];
    silent.set_nonblocking(true).unwrap();
    let asked = std::iter::from_fn(|| silent.recv(&mut room).ok()).count();
    assert_eq!(asked, 3, "as often as configured");
}

#[test]
fn echo() {
    let program = env!("CARGO_BIN_EXE_echo");
    for role in ["server", "threads"] {
        let server = Server::start(program, &[role]);
        let mut client = Command::new(program)
            .args(["client", &server.address()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // More than all buffers between hold, so that both sides must read while they write.
        let sent = vec![b'x'; 10_000_000];
        let mut stdin = client.stdin.take().unwrap();
        let copy = sent.clone();
        let writer = std::thread::spawn(move || stdin.write_all(&copy));
        let output = client.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.stdout == sent, "{role}: {} bytes came back", output.stdout.len());
    }
}

/// Whether a second client is answered while the first is connected.
#[test]
fn only_with_threads_nobody_waits() {
    for (role, answered) in [("threads", true), ("server", false)] {
        let server = Server::start(env!("CARGO_BIN_EXE_echo"), &[role]);
        let mut first = TcpStream::connect(server.address).unwrap();
        first.write_all(b"1").unwrap();
        first.read_exact(&mut [0]).unwrap();
        let mut second = TcpStream::connect(server.address).unwrap();
        second.write_all(b"2").unwrap();
        let patience = if answered { LONG } else { Duration::from_millis(100) };
        second.set_read_timeout(Some(patience)).unwrap();
        assert_eq!(second.read_exact(&mut [0]).is_ok(), answered, "{role}");
        drop(first);
        second.set_read_timeout(Some(LONG)).unwrap();
        if !answered {
            second.read_exact(&mut [0]).unwrap();
        }
    }
}

#[test]
fn daytime() {
    let program = env!("CARGO_BIN_EXE_daytime");
    let mut server = Server::start(program, &["server"]);
    let said = run(program, &["client", &server.address()]);
    assert!(said.starts_with("it is 20"), "{said}");
    assert!(server.line().ends_with(" asks"));
}

#[test]
fn logged_in() {
    let program = env!("CARGO_BIN_EXE_logged_in");
    // Two records of utmp(5): one who is logged in, one who was (DEAD_PROCESS).
    let mut records = vec![0_u8; 2 * 384];
    for (index, (kind, name)) in [(7_u16, "ann"), (8, "bob")].into_iter().enumerate() {
        let record = &mut records[index * 384..];
        record[..2].copy_from_slice(&kind.to_ne_bytes());
        record[44..44 + name.len()].copy_from_slice(name.as_bytes());
    }
    let name = format!("tcplab-utmp-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, records).unwrap();
    let server =
        Server::start(program, &["server", "127.0.0.1:0", "--utmp", file.to_str().unwrap()]);
    let ask = |user: &str| run(program, &["client", user, &server.address()]);
    assert_eq!(ask("ann"), "ann is logged in\n");
    assert_eq!(ask("bob"), "bob is not logged in\n");
    assert_eq!(ask("an"), "an is not logged in\n");
    assert_eq!(ask("../etc"), "that is no user's name\n");
    std::fs::remove_file(&file).unwrap();
    assert!(ask("ann").starts_with("nobody knows: "));
}

#[test]
fn udp_threads() {
    let program = env!("CARGO_BIN_EXE_udp_threads");
    let server = Server::start(program, &["server"]);
    let address = server.address();
    let said = run(program, &["client", &address, "--timeout", "20000", "0", "nonsense", "1"]);
    assert_eq!(said, "0 0 ms done\nnot understood (late)\n2 1 ms done\n");
    let said = run(program, &["client", &address, "--timeout", "30", "10000"]);
    assert_eq!(said, "0: no answer within 30ms\n");
    // Two clients' questions at once, over the server's one socket: the short one overtakes.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    for question in ["7 400", "8 0"] {
        socket.send_to(question.as_bytes(), server.address).unwrap();
    }
    let mut room = [0; 64];
    let answers = [(); 2].map(|()| {
        let len = socket.recv(&mut room).unwrap();
        String::from_utf8_lossy(&room[..len]).into_owned()
    });
    assert_eq!(answers, ["8 0 ms done", "7 400 ms done"]);
}

/// The three servers of pages answer, and the load tester counts their answers.
#[test]
fn servers_of_pages_under_load() {
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_forking"), &["127.0.0.1:0"][..]),
        (env!("CARGO_BIN_EXE_thread_pool"), &["127.0.0.1:0", "--threads", "3"]),
        (env!("CARGO_BIN_EXE_preforking"), &["127.0.0.1:0", "--children", "3"]),
    ] {
        let server = Server::start(program, arguments);
        let page = server.page();
        assert!(page.starts_with("HTTP/1.0 200 OK\r\nContent-Length: 3000\r\n\r\n"), "{page}");
        assert_eq!(page.split_once("\r\n\r\n").unwrap().1.len(), 3_000);
        // Nonsense and silence cost one client, not the server.
        let mut rude = TcpStream::connect(server.address).unwrap();
        rude.write_all(&[0xff; 100]).unwrap();
        drop(rude);
        let tester = env!("CARGO_BIN_EXE_load_tester");
        let said = run(tester, &[&server.address(), "--requests", "50", "--clients", "6"]);
        assert!(said.starts_with("50 of 50 requests answered in "), "{program}: {said}");
        for row in ["time to connect", "latency", "response time", "data rate"] {
            assert!(said.contains(row), "{said}");
        }
    }
}

#[test]
fn absent_server_is_counted() {
    // A port of our own on which nobody listens.
    let held = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let said = run(env!("CARGO_BIN_EXE_load_tester"), &[&address, "--requests", "3"]);
    assert!(said.starts_with("0 of 3 requests answered") && said.contains("3 failed"), "{said}");
}

/// Children are those who serve, several of them, and none outlives its parent.
#[test]
fn preforked_children_serve_and_end_with_their_parent() {
    let mut server = Server::start(env!("CARGO_BIN_EXE_preforking"), &["127.0.0.1:0"]);
    let parent = server.process.id();
    assert!(server.page().len() > 3_000);
    let line = server.line();
    let child: u32 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert_ne!(child, parent);
    let address = server.address;
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    // All copies of the pipe are closed when the last child has ended.
    server.says.read_to_end(&mut Vec::new()).unwrap();
    assert!(TcpStream::connect(address).is_err(), "somebody still listens");
}

/// A child of the forking server that has ended is not left as a zombie for long.
#[test]
fn forked_children_are_waited_for() {
    let server = Server::start(env!("CARGO_BIN_EXE_forking"), &[]);
    for _ in 0..10 {
        server.page();
    }
    let parent = server.process.id();
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    // The last few may not have been waited for: that is done when the next client comes.
    if let Ok(children) = children {
        let count = children.split_whitespace().count();
        assert!(count < 10, "{count} children of ten clients are left");
    }
}
