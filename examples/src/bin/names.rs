//! Example 1: names and bind.
//!
//! It teaches: what this host is called and what the resolver makes of that; that a socket has no
//! name until it is bound; that port 0 lets the kernel choose one; that `connect` binds too, and
//! then to one address instead of all.
//!
//! `names [HOST]`
#![expect(clippy::print_stdout, reason = "a program at the terminal speaks by printing")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs, UdpSocket};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

fn main() -> io::Result<()> {
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    println!("this host is called {own}");
    let name = std::env::args().nth(1).unwrap_or(own);
    // std asks with a port, as a socket will need one.
    match (name.as_str(), 0).to_socket_addrs() {
        Ok(addresses) => {
            for address in addresses {
                println!("{name} has the address {}", address.ip());
            }
        }
        Err(error) => println!("{name} has no address: {error}"),
    }
    // std binds where it makes a socket; to look at one in between takes the calls themselves.
    let raw = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    println!("a new socket is called {}", called(&raw)?);
    bind(&raw, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))?;
    println!("bound to any address and port 0 it is called {}", called(&raw)?);
    let datagrams = UdpSocket::from(raw);
    datagrams.connect((Ipv4Addr::LOCALHOST, 9))?;
    println!("connected it is called {}", datagrams.local_addr()?);
    Ok(())
}

fn called(socket: &impl std::os::fd::AsFd) -> io::Result<SocketAddr> {
    SocketAddr::try_from(getsockname(socket)?).map_err(io::Error::from)
}
