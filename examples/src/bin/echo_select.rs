//! Example 3 with one thread for all clients: select(2).
//!
//! It teaches: a set of bits, one for each descriptor, that says what to wait for, and is changed
//! into what is ready, so that it is made anew each time; that both program and kernel look at all
//! bits. In C, a descriptor of 1,024 or more writes beyond the set; here the set grows.
//!
//! `echo_select [ADDRESS:PORT]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::collections::BTreeSet;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use rustix::event::{FdSetElement, FdSetIter, fd_set_insert, fd_set_num_elements, select};
use rustix::io::retry_on_intr;
use tcplab_examples::{CLIENTS, Connection, address};

fn main() -> io::Result<()> {
    let address = address(0);
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("listening on {}", listener.local_addr()?);
    let mut clients: Vec<Connection> = Vec::new();
    loop {
        let numbers = clients.iter().map(number).chain([listener.as_raw_fd()]);
        // One more than the last: how many bits the kernel looks at.
        let bits = numbers.max().map_or(0, |last| last + 1);
        let wanted = || {
            let mut to_read = vec![FdSetElement::default(); fd_set_num_elements(0, bits)];
            let mut to_write = to_read.clone();
            if clients.len() < CLIENTS {
                fd_set_insert(&mut to_read, listener.as_raw_fd());
            }
            for client in &clients {
                let set = if client.wants_to_write() { &mut to_write } else { &mut to_read };
                fd_set_insert(set, number(client));
            }
            (to_read, to_write)
        };
        let (to_read, to_write) = retry_on_intr(|| {
            let (mut to_read, mut to_write) = wanted();
            #[expect(unsafe_code, reason = "the numbers in a set could be of closed descriptors")]
            // SAFETY: all are open: `clients` and `listener` own them.
            unsafe { select(bits, Some(&mut to_read), Some(&mut to_write), None, None) }
                .map(|_| (to_read, to_write))
        })?;
        // What is ready of both sets.
        let ready: BTreeSet<RawFd> =
            FdSetIter::new(&to_read).chain(FdSetIter::new(&to_write)).collect();
        clients.retain_mut(|client| !ready.contains(&number(client)) || client.carry());
        if ready.contains(&listener.as_raw_fd()) {
            clients.extend(Connection::next(&listener)?);
        }
    }
}

fn number(client: &Connection) -> RawFd {
    client.as_fd().as_raw_fd()
}
