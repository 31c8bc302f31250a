//! Echo, in each design, and daytime.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::language::{Language, skipped};
use crate::process::{Server, output, run};

/// The designs of the echo server: the program and its role. All but the first serve many at once.
const DESIGNS: [(&str, &[&str]); 5] = [
    ("echo", &["server"]),
    ("echo", &["threads"]),
    ("echo_select", &["127.0.0.1:0"]),
    ("echo_poll", &["127.0.0.1:0"]),
    ("echo_epoll", &["127.0.0.1:0"]),
];

/// Each design in each language that serves many at once.
fn concurrent() -> impl Iterator<Item = (String, Server)> {
    Language::all().into_iter().flat_map(|language| {
        DESIGNS.iter().skip(1).map(move |(program, arguments)| {
            let server = Server::start(&language.program(program), arguments);
            (format!("{language:?} {program}"), server)
        })
    })
}

/// Sends bytes by the client, and checks that they come back.
fn echo_comes_back(client: &PathBuf, server: &Server, len: usize) {
    let mut client = Command::new(client)
        .args(["client", &server.address()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let sent: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let mut stdin = client.stdin.take().unwrap();
    let copy = sent.clone();
    let writer = thread::spawn(move || stdin.write_all(&copy));
    let output = output(client);
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == sent, "{} of {len} bytes came back", output.stdout.len());
}

#[test]
fn echo() {
    for (server, client) in Language::pairs() {
        let client = client.program("echo");
        for (program, arguments) in DESIGNS {
            let server = Server::start(&server.program(program), arguments);
            echo_comes_back(&client, &server, 0);
            // More than all buffers between hold, so that both sides must read while they write.
            echo_comes_back(&client, &server, 10_000_000);
        }
    }
}

#[test]
fn echo_over_ipv6() {
    if TcpListener::bind("[::1]:0").is_err() {
        skipped("this host has no IPv6");
        return;
    }
    for (server, client) in Language::pairs() {
        let server = Server::start(&server.program("echo"), &["threads", "[::1]:0"]);
        assert!(server.address.is_ipv6());
        echo_comes_back(&client.program("echo"), &server, 100);
    }
}

/// Whether a second client is answered while the first is connected.
#[test]
fn only_one_at_a_time_makes_others_wait() {
    for language in Language::all() {
        let server = Server::start(&language.program("echo"), &["server"]);
        let (mut first, mut second) = (server.connect(), server.connect());
        first.write_all(b"1").unwrap();
        first.read_exact(&mut [0]).unwrap();
        second.write_all(b"2").unwrap();
        second.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(second.read_exact(&mut [0]).is_err(), "{language:?}");
        drop(first);
        second.set_read_timeout(Some(crate::process::LONG)).unwrap();
        second.read_exact(&mut [0]).unwrap();
    }
    for (name, server) in concurrent() {
        let mut clients: Vec<_> = (0..50).map(|_| server.connect()).collect();
        for client in clients.iter_mut().rev() {
            client.write_all(b"1").unwrap();
            client.read_exact(&mut [0]).expect(&name);
        }
        // Some go, others come: none is taken for another.
        clients.truncate(25);
        clients.extend((0..25).map(|_| server.connect()));
        for (number, client) in clients.iter_mut().enumerate() {
            client.write_all(&[number as u8]).unwrap();
            let mut byte = [0];
            client.read_exact(&mut byte).expect(&name);
            assert_eq!(usize::from(byte[0]), number, "{name}");
        }
    }
}

/// A client that does not read is pushed back, gets everything later, and nobody waits for it.
#[test]
fn client_that_does_not_read_blocks_only_itself() {
    for (name, server) in concurrent() {
        let mut rude = server.connect();
        rude.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        let block: Vec<u8> = (0..=255).cycle().take(64 * 1_024).collect();
        let mut sent = 0;
        let error = loop {
            match rude.write(&block[sent % block.len()..]) {
                Ok(len) => sent += len,
                Err(error) => break error,
            }
            assert!(sent < 200_000_000, "{name}: nobody pushes back");
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{name}");
        let mut polite = server.connect();
        polite.write_all(b"1").unwrap();
        polite.read_exact(&mut [0]).expect(&name);
        rude.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        rude.read_to_end(&mut back).expect(&name);
        assert_eq!(back.len(), sent, "{name}");
        assert!(back.iter().enumerate().all(|(at, byte)| *byte == at as u8), "{name}");
    }
}

#[test]
fn daytime() {
    for (server, client) in Language::pairs() {
        let server = Server::start(&server.program("daytime"), &["server"]);
        let said = run(&client.program("daytime"), &["client", &server.address()]);
        assert!(said.starts_with("it is 20"), "{said}");
        assert!(server.line().ends_with(" asks"));
    }
}

/// A server can start again at its port while connections that it closed first are in TIME-WAIT.
#[test]
fn server_restarts_at_its_port() {
    for (former, latter) in Language::pairs() {
        let server = Server::start(&former.program("daytime"), &["server"]);
        let address = server.address();
        run(&latter.program("daytime"), &["client", &address]);
        drop(server);
        let again = Server::start(&latter.program("daytime"), &["server", &address]);
        assert_eq!(again.address(), address);
    }
}
