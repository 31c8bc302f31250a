//! The system calls of a script as a guest makes them.

use tcplab_packetdrill::{Addresses, LOCAL_PORT, OptionValue, REMOTE_PORT, Refusal, SystemCall};
use tcplab_testbed::{CallArgument, CallMemory, GuestCall};
use tcplab_units::Span;

use crate::bytes::{Message, bytes, no_address, plain, returned, socket_address, vectors, zeros};

const AF_INET: i64 = 2;
const AF_INET6: i64 = 10;
/// AT_FDCWD.
const CURRENT_DIRECTORY: i64 = -100;
const MSG_FASTOPEN: i64 = 0x2000_0000;
const MSG_ZEROCOPY: i64 = 0x400_0000;
/// Room for control messages, bytes.
const CONTROL: u32 = 512;
/// Room for the value of an option, bytes.
pub(crate) const OPTION: u32 = 512;
/// Bytes of `struct epoll_event`, which is packed, and of `struct pollfd`.
pub(crate) const EPOLL_EVENT: usize = 12;
pub(crate) const POLL_FD: usize = 8;

/// What calls need to know of their host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) addresses: Addresses,
    /// Whether its sockets are IPv6.
    pub(crate) has_v6_sockets: bool,
}

impl Calls {
    /// A script's call, whose descriptors are the guest's already.
    pub(crate) fn encode(self, call: &SystemCall) -> Result<GuestCall, Refusal> {
        Ok(match call {
            SystemCall::Socket { domain, kind, protocol } => {
                let is_v6 = self.has_v6_sockets && *domain == AF_INET;
                let domain = if is_v6 { AF_INET6 } else { *domain };
                plain("socket", &[domain, *kind, *protocol])
            }
            SystemCall::Bind { fd } => {
                let local = self.socket_address(self.addresses.local, LOCAL_PORT);
                with_memory("bind", *fd, local)
            }
            SystemCall::Listen { fd, backlog } => plain("listen", &[*fd, *backlog]),
            SystemCall::Accept { fd } => plain("accept", &[*fd, 0, 0]),
            SystemCall::Connect { fd } => with_memory("connect", *fd, self.peer()),
            SystemCall::Disconnect { fd } => with_memory("connect", *fd, no_address()),
            SystemCall::Receive { fd, len, flags, message } => receive(*fd, *len, *flags, *message),
            SystemCall::Send { fd, flags, parts, to_nobody } => {
                let address = if *to_nobody {
                    no_address()
                } else if flags & MSG_FASTOPEN != 0 {
                    self.peer()
                } else {
                    Vec::new()
                };
                send(*fd, *flags, parts, address)
            }
            SystemCall::BadBuffer { fd, receives, len, flags } => {
                let name = if *receives { "recvfrom" } else { "sendto" };
                plain(name, &[*fd, 0, i64::from(*len), *flags, 0, 0])
            }
            SystemCall::Close { fd } => plain("close", &[*fd]),
            SystemCall::Shutdown { fd, how } => plain("shutdown", &[*fd, *how]),
            SystemCall::SetOption { fd, level, name, value, len } => {
                set_option([*fd, *level, *name], value, *len)
            }
            SystemCall::GetOption { fd, level, name } => option([*fd, *level, *name]),
            SystemCall::Control { fd, command, argument } => {
                plain("fcntl", &[*fd, *command, *argument])
            }
            SystemCall::Request { fd, request } => GuestCall {
                memory: vec![returned(zeros(4))],
                arguments: vec![number(*fd), number(*request), CallArgument::Memory(0)],
                ..plain("ioctl", &[])
            },
            other => return of_files(other),
        })
    }

    fn socket_address(self, address: std::net::IpAddr, port: u16) -> Vec<u8> {
        socket_address(address, port, self.has_v6_sockets)
    }

    fn peer(self) -> Vec<u8> {
        self.socket_address(self.addresses.remote, REMOTE_PORT)
    }
}

/// Writes to a pipe, which is no socket.
pub(crate) fn write_to_pipe(fd: i64, parts: &[u32]) -> GuestCall {
    let parts: Vec<CallMemory> = parts.iter().copied().map(zeros).collect();
    let count = parts.len() as i64;
    GuestCall {
        arguments: vec![number(fd), CallArgument::Memory(0), number(count)],
        memory: vectors(&parts, 0),
        ..plain("writev", &[])
    }
}

fn send(fd: i64, flags: i64, parts: &[u32], address: Vec<u8>) -> GuestCall {
    let parts: Vec<CallMemory> = parts.iter().copied().map(zeros).collect();
    let Message { memory } = Message::new(&parts, address, zeros(0));
    GuestCall {
        arguments: vec![number(fd), CallArgument::Memory(0), number(flags)],
        memory,
        keeps_memory: flags & MSG_ZEROCOPY != 0,
        ..plain("sendmsg", &[])
    }
}

/// Has a feature of a network device switched by `control`, a socket: `command` is ETHTOOL_STSO and
/// so on.
pub(crate) fn switch_feature(control: i64, device: &str, command: u32, on: bool) -> GuestCall {
    /// SIOCETHTOOL (`linux/sockios.h`), and the bytes of `struct ifreq` and of a name in it.
    const SIOCETHTOOL: i64 = 0x8946;
    const REQUEST: usize = 40;
    const NAME: usize = 16;
    let mut request = device.as_bytes().to_vec();
    request.resize(REQUEST, 0);
    let value = [command.to_ne_bytes(), u32::from(on).to_ne_bytes()].concat();
    GuestCall {
        arguments: vec![number(control), number(SIOCETHTOOL), CallArgument::Memory(0)],
        memory: vec![CallMemory { pointers: vec![(NAME, 1)], ..bytes(request) }, bytes(value)],
        ..plain("ioctl", &[])
    }
}

/// Reads the value of an option, whatever its length.
pub(crate) fn option([fd, level, name]: [i64; 3]) -> GuestCall {
    GuestCall {
        arguments: vec![
            number(fd),
            number(level),
            number(name),
            CallArgument::Memory(0),
            CallArgument::Memory(1),
        ],
        memory: vec![returned(zeros(OPTION)), returned(bytes(OPTION.to_ne_bytes().to_vec()))],
        ..plain("getsockopt", &[])
    }
}

fn number(number: i64) -> CallArgument {
    CallArgument::Number(number)
}

/// A call with a descriptor, memory, and the memory's length.
fn with_memory(name: &str, fd: i64, head: Vec<u8>) -> GuestCall {
    let len = head.len() as i64;
    GuestCall {
        arguments: vec![number(fd), CallArgument::Memory(0), number(len)],
        memory: vec![bytes(head)],
        ..plain(name, &[])
    }
}

fn receive(fd: i64, len: u32, flags: i64, takes_control: bool) -> GuestCall {
    if takes_control {
        let control = returned(zeros(CONTROL));
        let Message { memory } = Message::new(&[zeros(len)], Vec::new(), control);
        return GuestCall {
            arguments: vec![number(fd), CallArgument::Memory(0), number(flags)],
            memory,
            ..plain("recvmsg", &[])
        };
    }
    // Not for sockets alone.
    let name = if flags == 0 { "read" } else { "recvfrom" };
    let mut arguments = vec![number(fd), CallArgument::Memory(0), number(i64::from(len))];
    if flags != 0 {
        arguments.extend([flags, 0, 0].map(number));
    }
    GuestCall { arguments, memory: vec![zeros(len)], ..plain(name, &[]) }
}

fn set_option([fd, level, name]: [i64; 3], value: &OptionValue, len: u32) -> GuestCall {
    let mut value = match value {
        OptionValue::Integer(value) if len == 8 => value.to_ne_bytes().to_vec(),
        OptionValue::Integer(value) => (*value as i32).to_ne_bytes().to_vec(),
        OptionValue::Linger { on, seconds } => {
            [i32::from(*on).to_ne_bytes(), (*seconds as i32).to_ne_bytes()].concat()
        }
        OptionValue::Text(text) => unescaped(text),
    };
    // A length that is longer than the value reads zeros behind it.
    value.resize(value.len().max(len as usize), 0);
    GuestCall {
        arguments: vec![
            number(fd),
            number(level),
            number(name),
            CallArgument::Memory(0),
            number(i64::from(len)),
        ],
        memory: vec![bytes(value)],
        ..plain("setsockopt", &[])
    }
}

/// The bytes of a string in which `\xa1` stands for the byte a1.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.strip_prefix(b"x").and_then(|behind| behind.get(..2));
        let digits = digits.filter(|_| *first == b'\\');
        let escaped = digits.and_then(|digits| str::from_utf8(digits).ok());
        if let Some(byte) = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &behind[3..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    bytes
}

fn of_files(call: &SystemCall) -> Result<GuestCall, Refusal> {
    Ok(match call {
        SystemCall::Open { path } => {
            let path = [path.as_bytes(), &[0]].concat();
            GuestCall {
                arguments: vec![number(CURRENT_DIRECTORY), CallArgument::Memory(0), number(0)],
                memory: vec![bytes(path)],
                ..plain("openat", &[])
            }
        }
        SystemCall::SendFile { to, from, offset, len } => {
            let offset = offset.map(|offset| bytes(offset.to_ne_bytes().to_vec()));
            let place = offset.as_ref().map_or(number(0), |_| CallArgument::Memory(0));
            GuestCall {
                arguments: vec![number(*to), number(*from), place, number(i64::from(*len))],
                memory: offset.into_iter().collect(),
                ..plain("sendfile", &[])
            }
        }
        SystemCall::Pipe => GuestCall {
            arguments: vec![CallArgument::Memory(0), number(0)],
            memory: vec![returned(zeros(8))],
            ..plain("pipe2", &[])
        },
        SystemCall::Splice { from, to, len } => {
            plain("splice", &[*from, 0, *to, 0, i64::from(*len), 0])
        }
        other => return of_readiness(other),
    })
}

fn of_readiness(call: &SystemCall) -> Result<GuestCall, Refusal> {
    Ok(match call {
        SystemCall::EpollCreate => plain("epoll_create1", &[0]),
        SystemCall::EpollControl { epoll, operation, fd, events, data } => {
            let event = [&(*events as u32).to_ne_bytes()[..], &data.to_ne_bytes()].concat();
            GuestCall {
                arguments: vec![
                    number(*epoll),
                    number(*operation),
                    number(*fd),
                    CallArgument::Memory(0),
                ],
                memory: vec![bytes(event)],
                ..plain("epoll_ctl", &[])
            }
        }
        SystemCall::EpollWait { epoll, most, timeout } => GuestCall {
            arguments: vec![
                number(*epoll),
                CallArgument::Memory(0),
                number(*most as i64),
                number(timeout.map_or(-1, |timeout| (timeout.as_micros() / 1_000) as i64)),
                number(0),
                number(0),
            ],
            memory: vec![returned(zeros((most.min(&1_000) * EPOLL_EVENT) as u32))],
            ..plain("epoll_pwait", &[])
        },
        SystemCall::Poll { fds, timeout } => {
            let one = |(fd, events): &(i64, i64)| {
                [&(*fd as i32).to_ne_bytes()[..], &(*events as i16).to_ne_bytes(), &[0; 2]].concat()
            };
            let timeout = timeout.map(|timeout| bytes(timespec(timeout)));
            let place = timeout.as_ref().map_or(number(0), |_| CallArgument::Memory(1));
            let mut memory = vec![returned(bytes(fds.iter().flat_map(one).collect()))];
            memory.extend(timeout);
            GuestCall {
                arguments: vec![
                    CallArgument::Memory(0),
                    number(fds.len() as i64),
                    place,
                    number(0),
                    number(0),
                ],
                memory,
                ..plain("ppoll", &[])
            }
        }
        other => return Err(Refusal(format!("the call {other:?}"))),
    })
}

/// `struct timespec`.
fn timespec(span: Span) -> Vec<u8> {
    let nanos = span.as_nanos();
    let parts = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    parts.iter().flat_map(|part| part.to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(has_v6_sockets: bool) -> Calls {
        let [local, remote] = ["192.168.0.1", "192.0.2.1"].map(|it| it.parse().unwrap());
        Calls { addresses: Addresses { local, remote }, has_v6_sockets }
    }

    #[test]
    fn socket_has_version_of_host_unless_script_names_one() {
        let domain = |has_v6: bool, domain: i64| {
            let call = SystemCall::Socket { domain, kind: 1, protocol: 6 };
            calls(has_v6).encode(&call).unwrap().arguments[0]
        };
        assert_eq!(domain(false, AF_INET), number(AF_INET));
        assert_eq!(domain(true, AF_INET), number(AF_INET6));
        assert_eq!(domain(false, AF_INET6), number(AF_INET6));
    }

    #[test]
    fn fast_open_names_the_peer_and_zero_copy_keeps_memory() {
        let send = |flags: i64| {
            let to_nobody = false;
            let call = SystemCall::Send { fd: 3, flags, parts: vec![10, 20], to_nobody };
            calls(false).encode(&call).unwrap()
        };
        let plain = send(0);
        assert_eq!((plain.name.as_str(), plain.memory.len()), ("sendmsg", 4));
        let fast = send(MSG_FASTOPEN | MSG_ZEROCOPY);
        assert_eq!((fast.name.as_str(), fast.memory.len()), ("sendmsg", 5));
        assert_eq!(fast.memory[4].head.0[4..8], [192, 0, 2, 1]);
        assert!(fast.keeps_memory && !plain.keeps_memory);
        assert_eq!(write_to_pipe(3, &[10]).name, "writev");
    }

    #[test]
    fn option_value_has_the_length_that_the_script_gives() {
        let set = |value: OptionValue, len: u32| {
            let call = SystemCall::SetOption { fd: 3, level: 6, name: 1, value, len };
            let call = calls(false).encode(&call).unwrap();
            (call.memory[0].head.0.clone(), call.arguments[4])
        };
        assert_eq!(set(OptionValue::Integer(-1), 4), (vec![0xff; 4], number(4)));
        assert_eq!(set(OptionValue::Integer(1), 8).0.len(), 8);
        let key = OptionValue::Text(r"\xa1b\\".into());
        assert_eq!(set(key, 3), (vec![0xa1, b'b', b'\\', b'\\'], number(3)));
        assert_eq!(set(OptionValue::Text(String::new()), 3).0, [0; 3]);
        let linger = OptionValue::Linger { on: true, seconds: 2 };
        assert_eq!(set(linger, 8).0, [1, 0, 0, 0, 2, 0, 0, 0]);
    }
}
