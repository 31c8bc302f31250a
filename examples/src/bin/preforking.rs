//! Example 9: processes that were made beforehand, each of which accepts.
//!
//! It teaches: that several processes may call `accept` on one listening socket, and the kernel
//! gives each connection to one of them; that no client waits for a `fork`; that a parent that only
//! watches can replace a child that died, so that one bad request costs one child and nothing else.
//!
//! `preforking [ADDRESS:PORT] [--children N]`: example 8 shows the difference to example 6.
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]
#![expect(clippy::print_stderr, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::TcpListener;

use rustix::process::{
    Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, wait,
};
use tcplab_examples::{address, fork, option, serve_page};

fn main() -> io::Result<()> {
    let address = address(0);
    let children: usize = option("--children")?.unwrap_or(4);
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    for _ in 0..children {
        start(&listener)?;
    }
    while wait(WaitOptions::empty())?.is_some() {
        eprintln!("a child died: another takes its place");
        start(&listener)?;
    }
    Ok(())
}

/// Starts a child that accepts and serves for ever.
fn start(listener: &TcpListener) -> io::Result<()> {
    let parent = getpid();
    if fork()?.is_some() {
        return Ok(());
    }
    // A child does not outlive its parent, however that ends, be it just now.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if getppid() != Some(parent) {
        std::process::exit(0);
    }
    loop {
        let (stream, from) = listener.accept()?;
        println!("process {} serves {from}", std::process::id());
        if let Err(error) = serve_page(&stream) {
            eprintln!("{from}: {error}");
        }
    }
}
