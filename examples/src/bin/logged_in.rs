//! Example 4: is a user logged in? A question and an answer in a datagram each.
//!
//! It teaches: a service that is one question; that a server must check what it is sent, since
//! anyone can send anything; where a system writes down who is logged in (utmp(5)).
//!
//! `logged_in server [ADDRESS:PORT] [--utmp FILE]`, `logged_in client USER ADDRESS:PORT`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::net::UdpSocket;
use std::time::Duration;
use std::{fs, io};

use tcplab_examples::{argument, option};

/// A record of utmp(5) on Linux, of which the kind of the entry, a number of two bytes, comes first
/// and the name at this place.
const RECORD: usize = 384;
const NAME: std::ops::Range<usize> = 44..76;
/// The kind that says: somebody is logged in.
const USER_PROCESS: u16 = 7;

fn main() -> io::Result<()> {
    if argument(0, "`server` or `client`")? == "client" {
        return client(&argument(1, "a user")?, &argument(2, "the server's address and port")?);
    }
    let address = argument(1, "where").unwrap_or_else(|_| "127.0.0.1:0".into());
    let utmp: String = option("--utmp")?.unwrap_or_else(|| "/var/run/utmp".into());
    let socket = UdpSocket::bind(address)?;
    println!("listening on {}", socket.local_addr()?);
    // No name is longer; of what is, the rest is lost, as datagrams are read whole or not at all.
    let mut room = [0; 64];
    loop {
        let (len, from) = socket.recv_from(&mut room)?;
        let answer = match std::str::from_utf8(&room[..len]) {
            Ok(user) if is_name(user) => match is_logged_in(&utmp, user) {
                Ok(true) => format!("{user} is logged in"),
                Ok(false) => format!("{user} is not logged in"),
                Err(error) => format!("nobody knows: {error}"),
            },
            _ => "that is no user's name".to_owned(),
        };
        socket.send_to(answer.as_bytes(), from)?;
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=NAME.len()).contains(&text.len()) && text.chars().all(fits)
}

fn is_logged_in(utmp: &str, user: &str) -> io::Result<bool> {
    let is_of_user = |record: &[u8]| {
        let name = &record[NAME];
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        u16::from_ne_bytes([record[0], record[1]]) == USER_PROCESS && name == user.as_bytes()
    };
    Ok(fs::read(utmp)?.chunks_exact(RECORD).any(is_of_user))
}

fn client(user: &str, server: &str) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(server)?;
    // Where question or answer is lost, it is better to say so than to wait.
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    socket.send(user.as_bytes())?;
    let mut room = [0; 128];
    let len = socket.recv(&mut room)?;
    println!("{}", String::from_utf8_lossy(&room[..len]));
    Ok(())
}
