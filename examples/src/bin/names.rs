//! Example 1: names, addresses and bind.
//!
//! It teaches: what this host is called and what the resolver makes of that, and back; services'
//! names; byte order; that a socket has no name until it is bound; that port 0 lets the kernel
//! choose one; that `connect` binds too, and then to one address instead of all.
//!
//! `names [HOST]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs, UdpSocket};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use tcplab_examples::{host_name, service_port};

fn main() -> io::Result<()> {
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    println!("this host is called {own}");
    let name = std::env::args().nth(1).unwrap_or(own);
    addresses(&name);
    match service_port("daytime") {
        Some(port) => {
            // In C, htons turns the number around where the machine is little-endian, and the
            // program must not forget it. Here a port is a number, and std turns it around.
            let [high, low] = port.to_be_bytes();
            println!("daytime has port {port}, on the wire {high:02x} {low:02x}");
        }
        None => println!("no service is called daytime: there may be no /etc/services"),
    }
    let order = if cfg!(target_endian = "little") { "little" } else { "big" };
    println!("this machine is {order}-endian");
    // std binds where it makes a socket; to look at one in between takes the calls themselves.
    let raw = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    println!("a new socket is called {}", called(&raw)?);
    bind(&raw, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))?;
    println!("bound to any address and port 0 it is called {}", called(&raw)?);
    let datagrams = UdpSocket::from(raw);
    datagrams.connect((Ipv4Addr::LOCALHOST, 9))?;
    println!("connected it is called {}", datagrams.local_addr()?);
    println!("its peer is called {}", datagrams.peer_addr()?);
    Ok(())
}

/// Prints all addresses of a host, and what the first one is called.
fn addresses(name: &str) {
    // std asks with a port, as a socket will need one.
    let addresses: Vec<SocketAddr> = match (name, 0).to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => return println!("{name} has no address: {error}"),
    };
    for address in &addresses {
        println!("{name} has the address {}", address.ip());
    }
    if let Some(first) = addresses.first() {
        let called = host_name(*first).unwrap_or_else(|| "nothing".into());
        println!("{} is called {called}", first.ip());
    }
}

fn called(socket: &impl std::os::fd::AsFd) -> io::Result<SocketAddr> {
    SocketAddr::try_from(getsockname(socket)?).map_err(io::Error::from)
}
