//! The servers of pages, and the load tester.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::language::{Language, skipped};
use crate::process::{LONG, Server, run};

/// The three servers of pages answer, and the load tester counts their answers.
#[test]
fn servers_of_pages_under_load() {
    for (language, tester) in Language::pairs() {
        for (program, arguments) in [
            ("forking", &["127.0.0.1:0"][..]),
            ("thread_pool", &["127.0.0.1:0", "--threads", "3"]),
            ("preforking", &["127.0.0.1:0", "--children", "3"]),
        ] {
            let server = Server::start(&language.program(program), arguments);
            let page = server.page();
            assert!(page.starts_with("HTTP/1.0 200 OK\r\nContent-Length: 3000\r\n\r\n"), "{page}");
            assert_eq!(page.split_once("\r\n\r\n").unwrap().1.len(), 3_000);
            // Nonsense and silence cost one client, not the server.
            for nonsense in [vec![0xff; 100], vec![b'\r'; 20_000]] {
                let mut rude = TcpStream::connect(server.address).unwrap();
                let _ = rude.write_all(&nonsense);
            }
            let arguments = [&server.address(), "--requests", "50", "--clients", "6"];
            let said = run(&tester.program("load_tester"), &arguments);
            assert!(said.starts_with("50 of 50 requests answered in "), "{program}: {said}");
            for row in ["time to connect", "latency", "response time", "data rate"] {
                assert!(said.contains(row), "{said}");
            }
        }
    }
}

/// The course tests Apache, too.
#[test]
fn apache_under_load() {
    let pages =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{}", std::process::id()));
    std::fs::create_dir_all(&pages).unwrap();
    std::fs::write(pages.join("index.html"), "x".repeat(3_000)).unwrap();
    for processes in ["prefork", "event"] {
        let Some(apache) = Apache::start(&pages, processes) else {
            skipped("apache2 is not installed");
            break;
        };
        for language in Language::all() {
            let arguments = [&apache.address.to_string(), "--requests", "50", "--clients", "6"];
            let said = run(&language.program("load_tester"), &arguments);
            assert!(said.starts_with("50 of 50 requests answered in "), "{processes}: {said}");
        }
    }
    std::fs::remove_dir_all(&pages).unwrap();
}

/// Apache by `examples/apache.conf`; ended, with its processes, when this is dropped.
struct Apache {
    process: Child,
    address: SocketAddr,
}

impl Apache {
    /// None where it is not installed.
    fn start(pages: &Path, processes: &str) -> Option<Apache> {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new("/usr/sbin/apache2")
            .arg("-f")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("apache.conf"))
            .arg("-DFOREGROUND")
            .env("PAGES", pages)
            .env("LISTEN", address.to_string())
            .env("MPM", processes)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Its end signals its whole group.
            .process_group(0)
            .spawn()
            .ok()?;
        let apache = Apache { process, address };
        let begin = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(begin.elapsed() < LONG, "Apache does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Some(apache)
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.process.wait();
    }
}

/// An empty line ends the request, wherever the network cut it.
#[test]
fn request_in_pieces_is_answered() {
    for language in Language::all() {
        let server = Server::start(&language.program("thread_pool"), &["127.0.0.1:0"]);
        for pieces in [&["GET / HTTP/1.0\r", "\n\r", "\n"][..], &["\n"], &["G\n", " \r\n"]] {
            let mut stream = server.connect();
            stream.set_nodelay(true).unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
            }
            let mut answer = String::new();
            std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{language:?} {pieces:?}");
        }
    }
}

#[test]
fn absent_server_is_counted() {
    for language in Language::all() {
        // A port of our own on which nobody listens.
        let held = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = held.local_addr().unwrap().to_string();
        let said = run(&language.program("load_tester"), &[&address, "--requests", "3"]);
        assert!(said.starts_with("0 of 3 requests answered"), "{said}");
        assert!(said.contains("3 failed, the first: Connection refused"), "{said}");
    }
}

/// Children are those who serve, several of them, and none outlives its parent.
#[test]
fn preforked_children_serve_and_end_with_their_parent() {
    for language in Language::all() {
        let mut server = Server::start(&language.program("preforking"), &["127.0.0.1:0"]);
        let parent = server.process.id();
        assert!(server.page().len() > 3_000);
        let line = server.line();
        let child: u32 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert_ne!(child, parent);
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        server.until_silent();
        assert!(TcpStream::connect(server.address).is_err(), "somebody still listens");
    }
}

/// A child of the forking server that has ended is not left as a zombie for long.
#[test]
fn forked_children_are_waited_for() {
    for language in Language::all() {
        let server = Server::start(&language.program("forking"), &[]);
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
}
