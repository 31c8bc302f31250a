//! Example 7: a fixed number of threads, and connections that wait for one of them.
//!
//! It teaches: that threads made beforehand cost nothing when a client comes; that a bounded queue
//! between `accept` and the threads pushes back: when it is full, nobody accepts, and who comes
//! waits in the kernel's queue, then in the network.
//!
//! `thread_pool [ADDRESS:PORT] [--threads N]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]
#![expect(clippy::print_stderr, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use tcplab_examples::{address, option, serve_page};

fn main() -> io::Result<()> {
    let address = address(0);
    let threads: usize = option("--threads")?.unwrap_or(8);
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    // As many may wait as are served at once.
    let (give, take) = sync_channel(threads);
    let take = Arc::new(Mutex::new(take));
    for _ in 0..threads {
        let take = Arc::clone(&take);
        thread::spawn(move || work(&take));
    }
    loop {
        let (stream, _) = listener.accept()?;
        give.send(stream).expect("the threads go on as long as this one");
    }
}

/// Serves one connection after another.
fn work(queue: &Mutex<Receiver<TcpStream>>) {
    loop {
        // The lock is held while this thread waits for a connection, not while it serves one.
        let next = queue.lock().expect("nobody panics while holding it").recv();
        let Ok(stream) = next else { return };
        if let Err(error) = serve_page(&stream) {
            eprintln!("{error}");
        }
    }
}
