//! Example 5: datagrams, a timeout, and a thread for each answer.
//!
//! It teaches: that a server of datagrams can work on several questions at once though it has one
//! socket, which its threads share; that answers may then come in another order than the questions;
//! what a client's timeout does, and that a late answer still comes.
//!
//! `udp_threads server [ADDRESS:PORT]`
//! `udp_threads client ADDRESS:PORT [--timeout MS] WORK...`: each WORK is a number of milliseconds
//! that the server works on its answer.
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tcplab_examples::{client_or_server, datagrams_to, option};

fn main() -> io::Result<()> {
    client_or_server(client, server)
}

fn server(address: &str) -> io::Result<()> {
    let socket = Arc::new(UdpSocket::bind(address)?);
    println!("listening on {}", socket.local_addr()?);
    let mut room = [0; 64];
    loop {
        let (len, from) = socket.recv_from(&mut room)?;
        let question = String::from_utf8_lossy(&room[..len]).into_owned();
        let socket = Arc::clone(&socket);
        thread::spawn(move || {
            let work = question.split_once(' ').and_then(|(_, work)| work.parse().ok());
            // An invalid request gets an error; a request for years of work gets ten seconds.
            let answer = match work {
                Some(work) => {
                    thread::sleep(Duration::from_millis(u64::min(work, 10_000)));
                    format!("{question} ms done")
                }
                None => "not understood".to_owned(),
            };
            socket.send_to(answer.as_bytes(), from)
        });
    }
}

fn client(server: &str) -> io::Result<()> {
    let timeout = Duration::from_millis(option("--timeout")?.unwrap_or(1_000));
    let socket = datagrams_to(server)?;
    socket.set_read_timeout(Some(timeout))?;
    let mut works: Vec<String> = std::env::args().skip(3).collect();
    if works.first().is_some_and(|first| first == "--timeout") {
        works.drain(..2);
    }
    let mut room = [0; 64];
    for (number, work) in works.iter().enumerate() {
        socket.send(format!("{number} {work}").as_bytes())?;
        match socket.recv(&mut room) {
            Ok(len) => {
                let answer = String::from_utf8_lossy(&room[..len]).into_owned();
                let late = !answer.starts_with(&format!("{number} "));
                println!("{answer}{}", if late { " (late)" } else { "" });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                println!("{number}: no answer within {} ms", timeout.as_millis());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
