//! Example 2: datagrams. Client and server exchange the time.
//!
//! It teaches: `recvfrom` and `sendto` at the server, where each datagram says who sent it; at the
//! client `connect`, which sends nothing and lets in only what comes from its server; and with
//! `--timeout` what it takes to live with datagrams that are lost: wait for so long only, ask
//! again, and know an answer to this question from a late one to an earlier.
//!
//! `time_exchange server [ADDRESS:PORT]`
//! `time_exchange client ADDRESS:PORT [--count N] [--pause MS] [--timeout MS [--tries N]]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use tcplab_examples::{client_or_server, datagrams_to, option, time_of_day};

fn main() -> io::Result<()> {
    client_or_server(client, server)
}

fn server(address: &str) -> io::Result<()> {
    let socket = UdpSocket::bind(address)?;
    println!("listening on {}", socket.local_addr()?);
    let mut room = [0; 512];
    loop {
        let (len, from) = socket.recv_from(&mut room)?;
        let said = String::from_utf8_lossy(&room[..len]);
        println!("{from} says {said}");
        // The number before the time comes back, so that the client knows what is answered.
        let number = said.split_once(' ').map_or("", |(number, _)| number);
        socket.send_to(format!("{number} {}", time_of_day()).as_bytes(), from)?;
    }
}

fn client(server: &str) -> io::Result<()> {
    let count: u64 = option("--count")?.unwrap_or(3);
    let pause = Duration::from_millis(option("--pause")?.unwrap_or(1_000));
    // As in the course: without a timeout, it waits for ever for an answer that was lost.
    let timeout = option("--timeout")?.map(Duration::from_millis);
    let tries: u32 = option("--tries")?.unwrap_or(3);
    let socket = datagrams_to(server)?;
    socket.set_read_timeout(timeout)?;
    for number in 1..=count {
        match ask(&socket, number, if timeout.is_some() { tries } else { 1 })? {
            Some(answer) => println!("the server says {answer}"),
            None => println!("no answer to {number}"),
        }
        if number < count {
            thread::sleep(pause);
        }
    }
    Ok(())
}

/// The answer to a question that is asked so often at most; none if none came.
fn ask(socket: &UdpSocket, number: u64, tries: u32) -> io::Result<Option<String>> {
    let mut room = [0; 512];
    for _ in 0..tries {
        socket.send(format!("{number} {}", time_of_day()).as_bytes())?;
        loop {
            let len = match socket.recv(&mut room) {
                Ok(len) => len,
                // The time is over.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // An earlier datagram came where nobody listens, and the ICMP message came back.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => break,
                Err(error) => return Err(error),
            };
            let answer = String::from_utf8_lossy(&room[..len]).into_owned();
            // Another number is a late answer to an earlier question.
            if let Some((echoed, time)) = answer.split_once(' ')
                && echoed == number.to_string()
            {
                return Ok(Some(time.to_owned()));
            }
        }
    }
    Ok(None)
}
