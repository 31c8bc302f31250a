//! The TCP sockets of a network namespace, as the kernel lists them to anyone (sock_diag(7)).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr as NetlinkAddr};
use tcplab_units::Span;

/// A TCP socket, also one in TIME-WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSocket {
    /// The end here.
    pub local: SocketAddr,
    /// The other end; without port for one that listens.
    pub remote: SocketAddr,
    /// The state by its number in Linux (include/net/tcp_states.h).
    pub state: u8,
    /// The timer that runs, if one does.
    pub timer: Option<SocketTimer>,
    /// Unread bytes; of a listener, connections not accepted yet.
    pub receive_queue: u32,
    /// Bytes sent or to be sent and not acknowledged; of one that listens, how many connections may
    /// wait to be accepted.
    pub send_queue: u32,
    /// The owner's user ID; 0 also without an owner.
    pub user: u32,
    /// Its number in the file system; 0 where no process has it open any more.
    pub inode: u32,
}

/// A timer of a socket (net/ipv4/inet_diag.c, `inet_sk_diag_fill` and its kin).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketTimer {
    /// Which.
    pub kind: TimerKind,
    /// The time until it expires.
    pub left: Span,
    /// How often it has run out in a row.
    pub tries: u8,
}

/// Which timer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// Retransmission or tail loss probe.
    Retransmission,
    /// The other end is asked whether it is there; in FIN-WAIT-2 it is given up.
    KeepAlive,
    /// TIME-WAIT.
    TimeWait,
    /// The other end's zero window is probed.
    WindowProbe,
}

/// include/uapi/linux/sock_diag.h, include/uapi/linux/netlink.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_AND_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// A header of netlink; what is asked (`struct inet_diag_req_v2`); what is answered (`struct
/// inet_diag_msg`).
const HEADER: usize = 16;
const QUESTION: usize = 56;
const ANSWER: usize = 72;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// include/uapi/linux/inet_diag.h.
const INET_DIAG_INFO: u8 = 2;
/// ESTABLISHED to CLOSING, a bit each.
const ALL_STATES: u32 = 0xfff;

impl TcpSocket {
    /// All of the network namespace that the calling thread is in, in the kernel's order. It needs
    /// no privilege.
    ///
    /// # Errors
    /// When the kernel does not list them: it was built without, or a sandbox forbids it.
    pub fn all() -> io::Result<Vec<TcpSocket>> {
        let mut found = Vec::new();
        Lister::here()?.ask(0, |answer| {
            found.extend(answer.first_chunk().and_then(TcpSocket::read));
        })?;
        Ok(found)
    }

    fn read(answer: &[u8; ANSWER]) -> Option<TcpSocket> {
        let word = |at: usize| u32::from_ne_bytes(part(answer, at));
        let [family, state, timer, tries] = part(answer, 0);
        // In the order of the network.
        let port = |at: usize| u16::from_be_bytes(part(answer, at));
        let address = |at: usize| match family {
            AF_INET => Some(IpAddr::V4(Ipv4Addr::from(part::<4>(answer, at)))),
            // A socket of IPv6 with an IPv4 connection is listed as IPv4.
            AF_INET6 => Some(Ipv6Addr::from(part::<16>(answer, at)).to_canonical()),
            _ => None,
        };
        let kind = match timer {
            1 => Some(TimerKind::Retransmission),
            2 => Some(TimerKind::KeepAlive),
            3 => Some(TimerKind::TimeWait),
            4 => Some(TimerKind::WindowProbe),
            _ => None,
        };
        let left = Span::from_millis(word(52).into());
        Some(TcpSocket {
            local: SocketAddr::new(address(8)?, port(4)),
            remote: SocketAddr::new(address(24)?, port(6)),
            state,
            timer: kind.map(|kind| SocketTimer { kind, left, tries }),
            receive_queue: word(56),
            send_queue: word(60),
            user: word(64),
            inode: word(68),
        })
    }
}

/// Lists the sockets of one network namespace, whichever the thread is in that asks.
#[derive(Debug)]
pub(crate) struct Lister(Socket);

impl Lister {
    /// Of the namespace that the calling thread is in.
    pub(crate) fn here() -> io::Result<Lister> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        socket.connect(&NetlinkAddr::new(0, 0))?;
        Ok(Lister(socket))
    }

    /// All sockets, each with its `struct tcp_info`, which one in TIME-WAIT does not have.
    pub(crate) fn with_info(
        &self,
        mut take: impl FnMut(&TcpSocket, Option<&[u8]>),
    ) -> io::Result<()> {
        self.ask(1 << (INET_DIAG_INFO - 1), |answer| {
            if let Some((fixed, attributes)) = answer.split_first_chunk()
                && let Some(socket) = TcpSocket::read(fixed)
            {
                take(&socket, attribute(attributes, INET_DIAG_INFO));
            }
        })
    }

    /// Asks for these extensions (INET_DIAG_*); hands over each answer.
    fn ask(&self, extensions: u8, mut hand_over: impl FnMut(&[u8])) -> io::Result<()> {
        for family in [AF_INET, AF_INET6] {
            self.0.send(&question(family, extensions), 0)?;
            loop {
                let (answer, _) = self.0.recv_from_full()?;
                if take(&answer, &mut hand_over)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The value of an attribute (`struct rtattr`: length, kind, value), if it is there.
fn attribute(mut bytes: &[u8], wanted: u8) -> Option<&[u8]> {
    while let Some(header) = bytes.first_chunk::<4>() {
        let [len, kind] = [0, 2].map(|at| u16::from_ne_bytes(part(header, at)));
        let value = bytes.get(4..len.into())?;
        if kind == u16::from(wanted) {
            return Some(value);
        }
        bytes = bytes.get(usize::from(len).next_multiple_of(4)..)?;
    }
    None
}

fn question(family: u8, extensions: u8) -> [u8; HEADER + QUESTION] {
    let mut bytes = [0; HEADER + QUESTION];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &((HEADER + QUESTION) as u32).to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &REQUEST_AND_DUMP.to_ne_bytes());
    put(HEADER, &[family, IPPROTO_TCP, extensions]);
    put(HEADER + 4, &ALL_STATES.to_ne_bytes());
    bytes
}

/// Hands over the sockets in one message; whether it was the last.
fn take(mut bytes: &[u8], hand_over: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while let Some(header) = bytes.first_chunk::<HEADER>() {
        let len = u32::from_ne_bytes(part(header, 0)) as usize;
        let Some(message) = bytes.get(HEADER..len) else {
            return Err(io::Error::other("the kernel's list of sockets is cut off"));
        };
        match u16::from_ne_bytes(part(header, 4)) {
            DONE => return Ok(true),
            ERROR => {
                let number = message.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                return Err(io::Error::from_raw_os_error(-number));
            }
            _ => hand_over(message),
        }
        // Each begins at a multiple of four (NLMSG_ALIGN).
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    /// Numbers of include/net/tcp_states.h.
    const ESTABLISHED: u8 = 1;
    const FIN_WAIT_2: u8 = 5;
    const TIME_WAIT: u8 = 6;
    const CLOSE_WAIT: u8 = 8;
    const LISTEN: u8 = 10;

    fn between(local: SocketAddr, remote: Option<SocketAddr>) -> Option<TcpSocket> {
        let is_it = |socket: &TcpSocket| {
            socket.local == local && remote.is_none_or(|remote| socket.remote == remote)
        };
        TcpSocket::all().unwrap().into_iter().find(is_it)
    }

    /// The kernel's own list, about sockets that are known; by whoever runs the test.
    #[test]
    fn sockets_of_a_connection_are_listed_from_both_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let listening = between(server, None).unwrap();
        assert_eq!((listening.state, listening.remote.port()), (LISTEN, 0));
        assert!(listening.send_queue > 0 && listening.inode > 0);
        let stream = TcpStream::connect(server).unwrap();
        let client = stream.local_addr().unwrap();
        assert_eq!(between(server, Some("0.0.0.0:0".parse().unwrap())).unwrap().receive_queue, 1);
        let (mut accepted, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut accepted, &[0; 1_000]).unwrap();
        let here = between(client, Some(server)).unwrap();
        assert_eq!((here.state, here.receive_queue), (ESTABLISHED, 1_000));
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let states = || {
            let both = [between(client, Some(server)), between(server, Some(client))];
            both.map(|socket| socket.map_or(0, |socket| socket.state))
        };
        // The FIN may be acknowledged a little later, as data may.
        let soon = Instant::now() + Duration::from_secs(20);
        while states() != [FIN_WAIT_2, CLOSE_WAIT] && Instant::now() < soon {
            std::thread::yield_now();
        }
        assert_eq!(states(), [FIN_WAIT_2, CLOSE_WAIT]);
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut { accepted }, &mut rest).unwrap();
        // Read before closing, or the unread data would cause an RST.
        std::io::Read::read_exact(&mut &stream, &mut [0; 1_000]).unwrap();
        drop(stream);
        let left = between(client, Some(server)).unwrap();
        let timer = left.timer.unwrap();
        assert_eq!((left.state, timer.kind), (TIME_WAIT, TimerKind::TimeWait));
        // TCP_TIMEWAIT_LEN in include/net/tcp.h.
        assert!(timer.left > Span::ZERO && timer.left <= Span::from_secs(60), "{:?}", timer.left);
        assert_eq!(between(server, Some(client)), None);
    }

    #[test]
    fn attribute_is_found_behind_others_and_never_beyond_the_end() {
        let bytes = [[5_u16, 8].map(u16::to_ne_bytes).concat(), vec![7, 0, 0, 0]].concat();
        let info = [[6_u16, 2].map(u16::to_ne_bytes).concat(), vec![1, 2]].concat();
        let all = [bytes, info].concat();
        assert_eq!(attribute(&all, INET_DIAG_INFO), Some(&[1, 2][..]));
        assert_eq!(attribute(&all, 3), None);
        for end in 0..all.len() {
            assert_eq!(attribute(&all[..end], INET_DIAG_INFO), None);
        }
        assert_eq!(attribute(&[0; 8], INET_DIAG_INFO), None);
    }

    #[test]
    fn kernel_refusal_is_an_error() {
        let mut bytes = [0; HEADER + 4];
        bytes[..4].copy_from_slice(&20_u32.to_ne_bytes());
        bytes[4..6].copy_from_slice(&ERROR.to_ne_bytes());
        bytes[HEADER..].copy_from_slice(&(-2_i32).to_ne_bytes());
        let error = take(&bytes, &mut |_| ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        bytes[..4].copy_from_slice(&400_u32.to_ne_bytes());
        assert!(take(&bytes, &mut |_| ()).is_err());
        bytes[..4].copy_from_slice(&20_u32.to_ne_bytes());
        bytes[4..6].copy_from_slice(&DONE.to_ne_bytes());
        assert!(take(&bytes, &mut |_| ()).unwrap());
        assert!(!take(&[], &mut |_| ()).unwrap());
    }
}
