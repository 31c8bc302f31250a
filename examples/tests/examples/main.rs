//! Each example is started, talked to, and ended, in Rust and in C, and each client with the
//! servers in both languages. Ports are the system's choice; everything stays on this host.

mod experiments;
mod handshakes;
mod language;
mod pages;
mod process;
mod streams;

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;

use language::{HAS_COMPILER, Language, compile, skipped, sources};
use process::{LONG, Server, run};

/// The names of the programs in a folder.
fn programs(folder: &Path, extension: &str) -> BTreeSet<String> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn each_program_exists_in_both_languages() {
    let rust = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin"), "rs");
    assert!(rust.len() > 9, "{rust:?}");
    assert_eq!(programs(&sources(), "c"), rust);
}

#[test]
fn c_programs_compile_without_a_warning() {
    if !*HAS_COMPILER {
        return;
    }
    for name in programs(&sources(), "c") {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("warnings-{name}"));
        assert_eq!(compile(&name, &to), "", "{name}");
        std::fs::remove_file(to).unwrap();
    }
}

#[test]
fn names() {
    for language in Language::all() {
        let program = language.program("names");
        let said = run(&program, &["localhost"]);
        assert!(said.contains("localhost has the address 127.0.0.1"), "{said}");
        assert!(said.contains(" is called localhost\n"), "{said}");
        assert!(said.contains("a new socket is called 0.0.0.0:0\n"), "{said}");
        assert!(said.contains("its peer is called 127.0.0.1:9\n"), "{said}");
        let order = if cfg!(target_endian = "little") { "little" } else { "big" };
        assert!(said.contains(&format!("this machine is {order}-endian\n")), "{said}");
        let services = std::fs::read_to_string("/etc/services").unwrap_or_default();
        if services.lines().any(|line| line.starts_with("daytime") && line.contains("13/tcp")) {
            assert!(said.contains("daytime has port 13, on the wire 00 0d\n"), "{said}");
        }
        let port = |line: &str| -> u16 { line.rsplit(':').next().unwrap().parse().unwrap() };
        let bound = said.lines().find(|line| line.starts_with("bound")).unwrap();
        let connected = said.lines().find(|line| line.starts_with("connected")).unwrap();
        assert!(port(bound) > 0);
        assert!(bound.contains(" 0.0.0.0:") && connected.contains(" 127.0.0.1:"), "{said}");
        assert_eq!(port(bound), port(connected));
        let said = run(&program, &["no-such-host.invalid"]);
        assert!(said.contains("no-such-host.invalid has no address"), "{said}");
    }
}

#[test]
fn names_are_the_same_in_both_languages() {
    let said = Language::all().into_iter().map(|language| {
        let said = run(&language.program("names"), &["localhost"]);
        // But for the port that the kernel chose.
        said.lines().filter(|line| !line.contains(" it is called ")).map(String::from).collect()
    });
    let said: Vec<Vec<String>> = said.collect();
    assert!(said.iter().all(|one| *one == said[0]), "{said:#?}");
}

#[test]
fn time_exchange() {
    for (server, client) in Language::pairs() {
        let server = Server::start(&server.program("time_exchange"), &["server"]);
        let arguments = ["client", &server.address(), "--count", "2", "--pause", "1"];
        let said = run(&client.program("time_exchange"), &arguments);
        assert_eq!(said.matches("the server says 20").count(), 2, "{said}");
        let heard = server.line();
        assert!(heard.contains("says 1 20"), "{heard}");
    }
}

/// Nobody answers: with a timeout, the client gives up, after as many tries as configured.
#[test]
fn time_exchange_without_answer() {
    for language in Language::all() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap().to_string();
        let arguments = ["client", &address, "--count", "1", "--timeout", "20", "--tries", "3"];
        assert_eq!(run(&language.program("time_exchange"), &arguments), "no answer to 1\n");
        let mut room = [0; 64];
        silent.set_nonblocking(true).unwrap();
        let asked = std::iter::from_fn(|| silent.recv(&mut room).ok()).count();
        assert_eq!(asked, 3, "as often as configured");
    }
}

#[test]
fn datagrams_over_ipv6() {
    if UdpSocket::bind("[::1]:0").is_err() {
        skipped("this host has no IPv6");
        return;
    }
    for (server, client) in Language::pairs() {
        let server = Server::start(&server.program("time_exchange"), &["server", "[::1]:0"]);
        assert!(server.address.is_ipv6());
        let arguments =
            ["client", &server.address(), "--count", "1", "--timeout", "20000", "--tries", "1"];
        let said = run(&client.program("time_exchange"), &arguments);
        assert!(said.starts_with("the server says 20"), "{said}");
        assert!(server.line().starts_with("[::1]:"));
    }
}

/// Records of utmp(5): one who is logged in, one who was (DEAD_PROCESS).
fn utmp() -> Vec<u8> {
    let size = size_of::<libc::utmpx>();
    let mut records = vec![0; 2 * size];
    for (record, (kind, name)) in
        records.chunks_exact_mut(size).zip([(libc::USER_PROCESS, "ann"), (8, "bob")])
    {
        let (kind_at, name_at) =
            (offset_of!(libc::utmpx, ut_type), offset_of!(libc::utmpx, ut_user));
        record[kind_at..kind_at + 2].copy_from_slice(&kind.to_ne_bytes());
        record[name_at..name_at + name.len()].copy_from_slice(name.as_bytes());
    }
    records
}

#[test]
fn logged_in() {
    for (server, client) in Language::pairs() {
        let name = format!("logged-in-{server:?}-{client:?}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let (file, sessions) = (folder.join("utmp"), folder.join("sessions"));
        std::fs::create_dir_all(&sessions).unwrap();
        std::fs::write(&file, utmp()).unwrap();
        let (utmp, systemd) = (file.to_str().unwrap(), folder.to_str().unwrap());
        let arguments = ["server", "127.0.0.1:0", "--utmp", utmp, "--systemd", systemd];
        let server = Server::start(&server.program("logged_in"), &arguments);
        let client = client.program("logged_in");
        let ask = |user: &str| run(&client, &["client", user, &server.address()]);
        assert_eq!(ask("ann"), "ann is logged in\n");
        assert_eq!(ask("bob"), "bob is not logged in\n");
        assert_eq!(ask("an"), "an is not logged in\n");
        assert_eq!(ask("../etc"), "that is no user's name\n");
        assert_eq!(ask(&"a".repeat(33)), "that is no user's name\n");
        // Without utmp, systemd is asked; a greeter is nobody who is logged in.
        std::fs::remove_file(&file).unwrap();
        let said = ask("ann");
        assert!(said.starts_with("nobody knows: there is no /"), "{said}");
        assert!(said.contains(", and no systemd runs (/"), "{said}");
        std::fs::create_dir(folder.join("system")).unwrap();
        for (name, class) in [("eve", "user"), ("gdm", "greeter")] {
            let lines = format!("# This is private data.\nUID=1\nUSER={name}\nCLASS={class}\n");
            std::fs::write(sessions.join(name), lines).unwrap();
        }
        assert_eq!(ask("eve"), "eve is logged in\n");
        assert_eq!(ask("gdm"), "gdm is not logged in\n");
        assert_eq!(ask("ann"), "ann is not logged in\n");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn udp_threads() {
    for (server, client) in Language::pairs() {
        let server = Server::start(&server.program("udp_threads"), &["server"]);
        let client = client.program("udp_threads");
        let address = server.address();
        let said = run(&client, &["client", &address, "--timeout", "20000", "0", "nonsense", "1"]);
        assert_eq!(said, "0 0 ms done\nnot understood (late)\n2 1 ms done\n");
        let said = run(&client, &["client", &address, "--timeout", "30", "10000"]);
        assert_eq!(said, "0: no answer within 30 ms\n");
    }
}

/// Two clients' questions at once, over the server's one socket: the short one overtakes.
#[test]
fn udp_threads_answer_in_another_order() {
    for language in Language::all() {
        let server = Server::start(&language.program("udp_threads"), &["server"]);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        for question in ["7 400", "8 0"] {
            socket.send_to(question.as_bytes(), server.address).unwrap();
        }
        let answers = [(); 2].map(|()| answer(&socket).0);
        assert_eq!(answers, ["8 0 ms done", "7 400 ms done"]);
    }
}

/// Servers of datagrams answer nonsense of any length, and live.
#[test]
fn nonsense_in_datagrams_is_survived() {
    for (language, program) in Language::all()
        .into_iter()
        .flat_map(|language| ["time_exchange", "logged_in", "udp_threads"].map(|p| (language, p)))
    {
        let server = Server::start(&language.program(program), &["server"]);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        let (long, spaces) = (vec![b'9'; 60_000], vec![b' '; 700]);
        for question in [&b""[..], b"\0", b"ann\0", b"\xff \xff%s%n", b" -1", &long, &spaces] {
            socket.send_to(question, server.address).unwrap();
            let (text, from) = answer(&socket);
            assert_eq!(from, server.address, "{language:?} {program}: {text}");
        }
    }
}

fn answer(socket: &UdpSocket) -> (String, SocketAddr) {
    let mut room = [0; 1_000];
    let (len, from) = socket.recv_from(&mut room).unwrap();
    (String::from_utf8_lossy(&room[..len]).into_owned(), from)
}
