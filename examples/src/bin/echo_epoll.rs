//! Example 3 with one thread for all clients: epoll(7), Linux's own.
//!
//! It teaches: that the kernel keeps the list, so that a call costs what is ready, not what is
//! there; that a change (read or write next?) is a call of its own; that an event carries what the
//! program gave it, here the descriptor's number; that closing takes a socket off the list.
//!
//! `echo_epoll [ADDRESS:PORT]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::retry_on_intr;
use tcplab_examples::{CLIENTS, Connection, address};

fn main() -> io::Result<()> {
    let address = address(0);
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("listening on {}", listener.local_addr()?);
    let list = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&list, &listener, data(&listener), EventFlags::IN)?;
    let mut clients: BTreeMap<u64, Connection> = BTreeMap::new();
    let mut events = Vec::with_capacity(64);
    loop {
        events.clear();
        retry_on_intr(|| epoll::wait(&list, spare_capacity(&mut events), None))?;
        for event in &events {
            let key = event.data.u64();
            if let Some(client) = clients.get_mut(&key) {
                let wrote = client.wants_to_write();
                if !client.carry() {
                    clients.remove(&key);
                    // There is room again.
                    if clients.len() == CLIENTS - 1 {
                        epoll::modify(&list, &listener, data(&listener), EventFlags::IN)?;
                    }
                } else if client.wants_to_write() != wrote {
                    let next = if wrote { EventFlags::IN } else { EventFlags::OUT };
                    epoll::modify(&list, &*client, data(client), next)?;
                }
            } else if let Some(client) = Connection::next(&listener)? {
                epoll::add(&list, &client, data(&client), EventFlags::IN)?;
                clients.insert(data(&client).u64(), client);
                if clients.len() == CLIENTS {
                    epoll::modify(&list, &listener, data(&listener), EventFlags::empty())?;
                }
            }
        }
    }
}

fn data(socket: &impl AsFd) -> EventData {
    EventData::new_u64(socket.as_fd().as_raw_fd() as u64)
}
