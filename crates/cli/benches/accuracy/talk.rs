//! The programs at both ends: this program inside `tcplab shell`.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::account;
use crate::cases::{Recorded, Talk, Version, cases};

const PORT: u16 = 5_001;
/// Each end's counters, in the common directory.
pub(crate) const NEAR: &str = "near.json";
const FAR: &str = "far.json";
/// Bytes of an answer.
const ANSWER: usize = 300;
/// The large packets at the sender's device.
pub(crate) const PIECES: &str = "pieces.pcap";

pub(crate) const CLIENT: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(10, 98, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1)),
];
const SERVER: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(10, 98, 0, 2)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2)),
];

pub(crate) fn play(end: &str, case: usize) {
    let case = cases().nth(case).expect("a case of that number");
    prepare(&case, end == "near");
    let version = usize::from(case.version == Version::Six);
    if end == "near" {
        let pieces = case.pieces.then(record_pieces);
        client(SERVER[version], &case);
        wait_for(Path::new(FAR));
        if let Some(mut recorder) = pieces.flatten() {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_child(&recorder),
                rustix::process::Signal::INT,
            );
            let _ = recorder.wait();
        }
        leave(NEAR);
    } else {
        server(SERVER[version], case.talk);
        leave(FAR);
        // The end of the shell ends it.
        thread::sleep(Duration::from_secs(60));
    }
}

/// Configures this end's kernel and IPv6 address.
fn prepare(case: &Recorded, near: bool) {
    // A namespace begins with the machine's default congestion control, and allows few others.
    // After BBR, even for a moment, the socket would pace with any other one (`bbr_init`).
    let plain = ("ipv4/tcp_congestion_control", "reno");
    for (name, value) in [&plain].into_iter().chain(case.settings) {
        fs::write(format!("/proc/sys/net/{name}"), value).unwrap();
    }
    if case.version == Version::Six {
        fs::write("/proc/sys/net/ipv6/conf/tcplab0/disable_ipv6", "0").unwrap();
        let address = if near { CLIENT[1] } else { SERVER[1] };
        let added = Command::new("ip")
            .args(["-6", "addr", "add", &format!("{address}/64"), "dev", "tcplab0", "nodad"])
            .status();
        assert!(added.is_ok_and(|status| status.success()), "no address of IPv6");
    }
}

fn client(server: IpAddr, case: &Recorded) {
    let connect = |server| {
        let stream = connect(server);
        sockopt::set_tcp_congestion(&stream, case.congestion).unwrap();
        stream
    };
    match case.talk {
        Talk::Upload(bytes) => {
            let mut stream = connect(server);
            stream.write_all(&vec![0; bytes]).unwrap();
            finish(stream);
        }
        Talk::Exchange(rounds) => {
            let mut stream = connect(server);
            let mut byte = [7];
            for _ in 0..rounds {
                stream.write_all(&byte).unwrap();
                stream.read_exact(&mut byte).unwrap();
            }
            finish(stream);
        }
        Talk::Short(times, bytes) => {
            for _ in 0..times {
                let mut stream = connect(server);
                stream.write_all(&vec![0; bytes]).unwrap();
                close(stream);
            }
        }
        Talk::Slow => {
            let mut stream = connect(server);
            stream.write_all(&vec![0; 8_000_000]).unwrap();
            finish(stream);
        }
        Talk::Bites(times, bytes, pause) => {
            let mut stream = connect(server);
            for _ in 0..times {
                stream.write_all(&vec![0; bytes]).unwrap();
                thread::sleep(Duration::from_millis(pause));
            }
            finish(stream);
        }
        Talk::Requests(times, bytes) => {
            let mut stream = connect(server);
            stream.set_nodelay(true).unwrap();
            for _ in 0..times {
                stream.write_all(&vec![0; bytes]).unwrap();
                stream.read_exact(&mut [0; ANSWER]).unwrap();
            }
            finish(stream);
        }
        Talk::Idle => {
            let stream = connect(server);
            keep_alive(&stream);
            thread::sleep(Duration::from_millis(4_500));
            finish(stream);
        }
    }
}

fn server(address: IpAddr, talk: Talk) {
    let listener = TcpListener::bind((address, PORT)).unwrap();
    let accept = || listener.accept().unwrap().0;
    match talk {
        Talk::Upload(_) | Talk::Bites(..) => drain_and_wait(accept()),
        Talk::Requests(times, bytes) => {
            let mut stream = accept();
            stream.set_nodelay(true).unwrap();
            for _ in 0..times {
                stream.read_exact(&mut vec![0; bytes]).unwrap();
                stream.write_all(&[0; ANSWER]).unwrap();
            }
            drain_and_wait(stream);
        }
        Talk::Exchange(rounds) => {
            let mut stream = accept();
            let mut byte = [0];
            for _ in 0..rounds {
                stream.read_exact(&mut byte).unwrap();
                stream.write_all(&byte).unwrap();
            }
            drain_and_wait(stream);
        }
        Talk::Short(times, _) => (0..times).for_each(|_| drain(&mut accept())),
        Talk::Slow => {
            let stream = accept();
            thread::sleep(Duration::from_secs(3));
            drain_and_wait(stream);
        }
        Talk::Idle => {
            let stream = accept();
            keep_alive(&stream);
            drain_and_wait(stream);
        }
    }
    // Wait for the last ACKs and retransmissions.
    thread::sleep(Duration::from_millis(700));
}

fn connect(server: IpAddr) -> TcpStream {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        match TcpStream::connect((server, PORT)) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < patience, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Closes, and waits for the other end to close.
fn close(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    let _ = stream.read(&mut [0; 16]);
}

/// Also writes the kernel's account of the socket.
fn finish(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    leave_account();
    let _ = stream.read(&mut [0; 16]);
}

/// Writes the kernel's account of the socket once all data is acknowledged: the other end waits for
/// that before it closes and the socket is gone.
fn leave_account() {
    let patience = Instant::now() + Duration::from_secs(30);
    while Instant::now() < patience {
        let Some(said) = account::sockets(PORT) else { return };
        if said.starts_with("FIN-WAIT-2") {
            let _ = fs::write(account::FILE, said);
            return;
        }
        if !said.starts_with("ESTAB") && !said.starts_with("FIN-WAIT-1") {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Reads to the end, and waits until the other end has queried its kernel.
fn drain_and_wait(mut stream: TcpStream) {
    drain(&mut stream);
    thread::sleep(Duration::from_millis(300));
}

fn drain(stream: &mut TcpStream) {
    let mut room = vec![0; 1 << 16];
    while stream.read(&mut room).is_ok_and(|read| read > 0) {}
}

fn keep_alive(stream: &TcpStream) {
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(1)).unwrap();
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(1)).unwrap();
    sockopt::set_socket_keepalive(stream, true).unwrap();
}

fn record_pieces() -> Option<Child> {
    let recorder = Command::new("tcpdump")
        .args(["-i", "tcplab0", "-s", "128", "-B", "8192", "-w", PIECES, "tcp"])
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // It creates this file when it listens.
    wait_for(Path::new(PIECES));
    Some(recorder)
}

fn wait_for(file: &Path) {
    let patience = Instant::now() + Duration::from_secs(40);
    while !file.exists() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Writes the counters of this process's network namespace.
fn leave(file: &str) {
    let counters: std::collections::BTreeMap<String, u64> =
        ["snmp", "netstat"].iter().flat_map(|table| counters(table)).collect();
    fs::write(format!("{file}.part"), serde_json::to_vec(&counters).unwrap()).unwrap();
    fs::rename(format!("{file}.part"), file).unwrap();
}

/// From pairs of lines with names and numbers, as `nstat` names them.
fn counters(table: &str) -> Vec<(String, u64)> {
    let text = fs::read_to_string(format!("/proc/self/net/{table}")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2).flat_map(|pair| {
        let (prefix, names) = pair[0].split_once(':').unwrap();
        let (_, numbers) = pair[1].split_once(':').unwrap();
        let named = names.split_whitespace().map(move |name| format!("{prefix}{name}"));
        named.zip(numbers.split_whitespace().map(|number| number.parse().unwrap_or(0)))
    });
    pairs.collect()
}

/// The counters of the client's kernel.
pub(crate) fn counters_of_client(directory: &Path) -> std::collections::BTreeMap<String, u64> {
    let bytes = fs::read(directory.join(NEAR)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
