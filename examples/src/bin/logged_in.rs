//! Example 4: is a user logged in? A question and an answer in a datagram each.
//!
//! It teaches: a service that is one question; that a server must check what it is sent, since
//! anyone can send anything; where a system writes down who is logged in: utmp(5), or, where that
//! is no longer written (Debian 13, musl), the sessions of systemd-logind. Where there is neither,
//! as in most containers, the answer says so.
//!
//! `logged_in server [ADDRESS:PORT] [--utmp FILE] [--systemd DIR]`
//! `logged_in client USER ADDRESS:PORT`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::mem::offset_of;
use std::net::UdpSocket;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use libc::{USER_PROCESS, utmpx};
use tcplab_examples::{address, argument, datagrams_to, option};

/// A record of utmp(5): its length, and where the kind of the entry and the name are. They differ
/// from machine to machine.
const RECORD: usize = size_of::<utmpx>();
const KIND: usize = offset_of!(utmpx, ut_type);
const NAME: Range<usize> = offset_of!(utmpx, ut_user)..offset_of!(utmpx, ut_user) + 32;

fn main() -> io::Result<()> {
    if argument(0, "`server` or `client`")? == "client" {
        return client(&argument(1, "a user")?, &argument(2, "the server's address and port")?);
    }
    let address = address(1);
    let utmp: String = option("--utmp")?.unwrap_or_else(|| "/var/run/utmp".into());
    let systemd: String = option("--systemd")?.unwrap_or_else(|| "/run/systemd".into());
    let socket = UdpSocket::bind(address)?;
    println!("listening on {}", socket.local_addr()?);
    // No name is longer; of what is, the rest is lost, as datagrams are read whole or not at all.
    let mut room = [0; 64];
    loop {
        let (len, from) = socket.recv_from(&mut room)?;
        let answer = match std::str::from_utf8(&room[..len]) {
            Ok(user) if is_name(user) => {
                match in_utmp(&utmp, user).or_else(|_| in_sessions(systemd.as_ref(), user)) {
                    Ok(true) => format!("{user} is logged in"),
                    Ok(false) => format!("{user} is not logged in"),
                    Err(_) => format!(
                        "nobody knows: there is no {utmp}, and no systemd runs ({systemd}/system)"
                    ),
                }
            }
            _ => "that is no user's name".to_owned(),
        };
        socket.send_to(answer.as_bytes(), from)?;
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=NAME.len()).contains(&text.len()) && text.chars().all(fits)
}

fn in_utmp(utmp: &str, user: &str) -> io::Result<bool> {
    let is_of_user = |record: &[u8]| {
        let name = &record[NAME];
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let kind = i16::from_ne_bytes([record[KIND], record[KIND + 1]]);
        kind == USER_PROCESS && name == user.as_bytes()
    };
    Ok(fs::read(utmp)?.chunks_exact(RECORD).any(is_of_user))
}

/// Each session is a file of lines such as USER=name and CLASS=user (greeters have another class).
/// systemd's own functions, sd_session_get_username(3), read these files. Containers may have the
/// folder and no systemd: it runs where there is `system` (sd_booted(3)).
fn in_sessions(systemd: &Path, user: &str) -> io::Result<bool> {
    fs::metadata(systemd.join("system"))?;
    let wanted = format!("USER={user}");
    for entry in fs::read_dir(systemd.join("sessions"))? {
        // A session may end meanwhile.
        let session = fs::read_to_string(entry?.path()).unwrap_or_default();
        let has = |wanted: &str| session.lines().any(|line| line == wanted);
        if has(&wanted) && has("CLASS=user") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn client(user: &str, server: &str) -> io::Result<()> {
    let socket = datagrams_to(server)?;
    // Where question or answer is lost, it is better to say so than to wait.
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    socket.send(user.as_bytes())?;
    let mut room = [0; 256];
    let len = socket.recv(&mut room)?;
    println!("{}", String::from_utf8_lossy(&room[..len]));
    Ok(())
}
