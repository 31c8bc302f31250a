//! The sockets of a namespace, from `/proc/net/tcp` and the files beside it (proc(5)).

use std::fs;
use std::net::Ipv4Addr;

use rustix::process::Pid;

/// The sockets of the network namespace that a thread of this process is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sockets {
    thread: Pid,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    port: u16,
    /// As IPv4; an IPv6 address that holds none reads as its last four bytes.
    peer: Ipv4Addr,
    state: u8,
    received: u64,
}

/// States by their numbers in include/net/tcp_states.h.
const FIN_WAIT1: u8 = 4;
const CLOSE_WAIT: u8 = 8;
const LAST_ACK: u8 = 9;
const LISTEN: u8 = 10;
const CLOSING: u8 = 11;
/// How a UDP socket that has a port and no peer is shown.
const UNCONNECTED: u8 = 7;

impl Sockets {
    /// Those in the namespace of the calling thread, for as long as it lives.
    pub(crate) fn here() -> Sockets {
        Sockets { thread: rustix::thread::gettid() }
    }

    /// Whether a socket listens on the TCP port or, without one, on any TCP or UDP port.
    pub(crate) fn is_awaited(self, port: Option<u16>) -> bool {
        let listens =
            |socket: &Socket| socket.state == LISTEN && port.is_none_or(|port| socket.port == port);
        let takes = |socket: &Socket| socket.state == UNCONNECTED && socket.port > 0;
        self.read(["tcp", "tcp6"]).iter().any(listens)
            || port.is_none() && self.read(["udp", "udp6"]).iter().any(takes)
    }

    /// Whether the kernel still has something to deliver for programs that have closed their
    /// sockets, or ended.
    pub(crate) fn has_unfinished(self) -> bool {
        let is_closing = |socket: &Socket| matches!(socket.state, FIN_WAIT1 | CLOSING | LAST_ACK);
        self.read(["tcp", "tcp6"]).iter().any(is_closing)
    }

    /// Whether a program has yet to read what `peer` sent, or to close what `peer` closed.
    pub(crate) fn has_unread(self, peer: Ipv4Addr) -> bool {
        let is_unread = |socket: &Socket| {
            socket.peer == peer && (socket.received > 0 || socket.state == CLOSE_WAIT)
        };
        self.read(["tcp", "tcp6"]).iter().any(is_unread)
    }

    /// Packets that the device of that name dropped on its way out of the namespace.
    pub(crate) fn device_drops(self, device: &str) -> u64 {
        crate::interface_counters::transmit_drops(&self.text("dev"), |name| name == device)
    }

    /// TCP segments that the namespace's kernel has sent once more since there is the namespace
    /// (`RetransSegs`, RFC 4022), SYNs among them; none where the kernel does not say.
    pub(crate) fn retransmitted_segments(self) -> Option<u64> {
        retransmitted_segments(&self.text("snmp"))
    }

    fn read(self, tables: [&str; 2]) -> Vec<Socket> {
        let rows = |table: &str| self.text(table).lines().filter_map(parse).collect::<Vec<_>>();
        tables.into_iter().flat_map(rows).collect()
    }

    fn text(self, table: &str) -> String {
        let thread = self.thread.as_raw_nonzero();
        fs::read_to_string(format!("/proc/self/task/{thread}/net/{table}")).unwrap_or_default()
    }
}

/// A counter of `/proc/net/snmp`, where a line of names precedes one of values.
fn retransmitted_segments(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split(' ').position(|name| name == "RetransSegs")?;
    values.split(' ').nth(place)?.parse().ok()
}

/// A row such as `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 …`; none for the heading.
fn parse(row: &str) -> Option<Socket> {
    let mut fields = row.split_whitespace().skip(1);
    let (_, port) = fields.next()?.split_once(':')?;
    let (peer, _) = fields.next()?.split_once(':')?;
    let state = fields.next()?;
    let (_, received) = fields.next()?.split_once(':')?;
    // The kernel shows 32 bits in the order of its own memory.
    let peer = u32::from_str_radix(peer.get(peer.len().checked_sub(8)?..)?, 16).ok()?;
    Some(Socket {
        port: u16::from_str_radix(port, 16).ok()?,
        peer: Ipv4Addr::from(peer.to_ne_bytes()),
        state: u8::from_str_radix(state, 16).ok()?,
        received: u64::from_str_radix(received, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn rows_are_read() {
        let row = "   1: 0100007F:1F90 0200620A:C350 08 00000000:0000000A 00:00000000 00000000";
        let socket = Socket {
            port: 8080,
            peer: Ipv4Addr::from(0x0200_620a_u32.to_ne_bytes()),
            state: CLOSE_WAIT,
            received: 10,
        };
        assert_eq!(parse(row), Some(socket));
        let heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt";
        assert_eq!((parse(heading), parse("")), (None, None));
    }

    #[test]
    fn retransmissions_are_read_by_name() {
        let table = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn OutSegs RetransSegs InErrs\n\
                     Tcp: 200 -1 90 12 0\nUdp: InDatagrams\nUdp: 4\n";
        assert_eq!(retransmitted_segments(table), Some(12));
        for without in ["", "Tcp: RetransSegs\n", "Tcp: OutSegs\nTcp: 1\n"] {
            assert_eq!(retransmitted_segments(without), None, "{without}");
        }
        assert!(Sockets::here().retransmitted_segments().is_some());
    }

    /// The kernel's own table, about sockets that are known.
    #[test]
    fn kernel_socket_list_is_parsed() {
        let here = Sockets::here();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(here.is_awaited(Some(port)) && here.is_awaited(None));
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (server, _) = listener.accept().unwrap();
        drop((listener, udp));
        assert!(!here.is_awaited(Some(port)));
        let rows = here.read(["tcp", "tcp6"]);
        let mine = rows.iter().find(|socket| socket.port == port).unwrap();
        assert_eq!((mine.peer, mine.received), (Ipv4Addr::LOCALHOST, 0));
        drop(client);
        assert!(here.has_unread(Ipv4Addr::LOCALHOST), "the server's end is to be closed");
        drop(server);
    }
}
