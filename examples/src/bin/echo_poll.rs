//! Example 3 with one thread for all clients: poll(2).
//!
//! It teaches: a list with a row for each socket, what to wait for and what there is; that nothing
//! may wait but this one call; that the kernel looks at each row of each call.
//!
//! `echo_poll [ADDRESS:PORT]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::TcpListener;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use tcplab_examples::{CLIENTS, Connection, address};

fn main() -> io::Result<()> {
    let address = address(0);
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("listening on {}", listener.local_addr()?);
    let mut clients: Vec<Connection> = Vec::new();
    loop {
        let has_room = clients.len() < CLIENTS;
        let ready: Vec<bool> = {
            let row = |client| {
                let writes = Connection::wants_to_write(client);
                PollFd::new(client, if writes { PollFlags::OUT } else { PollFlags::IN })
            };
            let mut rows: Vec<PollFd<'_>> = clients.iter().map(row).collect();
            // Nobody is accepted for whom is no room.
            if has_room {
                rows.push(PollFd::new(&listener, PollFlags::IN));
            }
            retry_on_intr(|| poll(&mut rows, None))?;
            // Errors come unasked: the read that follows says what they are.
            rows.iter().map(|row| !row.revents().is_empty()).collect()
        };
        let mut of_clients = ready.iter();
        clients.retain_mut(|client| of_clients.next() != Some(&true) || client.carry());
        if has_room && ready.last() == Some(&true) {
            clients.extend(Connection::next(&listener)?);
        }
    }
}
