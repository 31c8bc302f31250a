//! Descriptors of a script, and its system calls as the stack takes them.

use std::collections::BTreeMap;

use tcplab_units::Span;

use super::values::{
    CallError, control_of, epoll_event, field, length, number, option_value, vectors,
};
use crate::ast::{Call, Expression};
use crate::subject::SystemCall;

/// MSG_FASTOPEN.
pub(super) const FAST_OPEN: i64 = 0x2000_0000;

/// The script's descriptors and the stack's.
#[derive(Default)]
pub(super) struct Descriptors {
    pub(super) live: BTreeMap<i64, i64>,
}

impl Descriptors {
    pub(super) fn decode(&self, call: &Call) -> Result<SystemCall, CallError> {
        let arguments = Arguments { call, descriptors: self };
        let integer = |index| arguments.integer(index);
        let fd = || arguments.fd(0);
        let buffered = matches!(
            call.name.as_str(),
            "read" | "recv" | "recvfrom" | "write" | "send" | "sendto"
        );
        let buffer = call.arguments.get(1).filter(|_| buffered);
        if buffer == Some(&Expression::Word("NULL".into())) && arguments.len(2)? > 0 {
            return bad_buffer(&arguments);
        }
        if let Some(Expression::Integer(_) | Expression::Word(_)) = buffer {
            return Err(CallError::Unsupported("a buffer's address".into()));
        }
        Ok(match call.name.as_str() {
            "socket" => SystemCall::Socket {
                domain: integer_or(&arguments, 0, 2)?,
                kind: integer(1)?,
                protocol: integer(2)?,
            },
            "bind" => SystemCall::Bind { fd: fd()? },
            "listen" => SystemCall::Listen { fd: fd()?, backlog: integer(1)? },
            "accept" => SystemCall::Accept { fd: fd()? },
            "connect" => match arguments.get(1)? {
                Expression::Ellipsis => SystemCall::Connect { fd: fd()? },
                Expression::Word(family) if family == "AF_UNSPEC" => {
                    SystemCall::Disconnect { fd: fd()? }
                }
                _ => return Err(CallError::Unsupported("connect to a given address".into())),
            },
            "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => receive(&arguments)?,
            "write" | "writev" | "send" | "sendto" | "sendmsg" => send(&arguments)?,
            "close" => SystemCall::Close { fd: fd()? },
            "open" | "pipe" | "sendfile" | "splice" => of_files(&arguments)?,
            "shutdown" => SystemCall::Shutdown { fd: fd()?, how: integer(1)? },
            "setsockopt" => SystemCall::SetOption {
                fd: fd()?,
                level: integer(1)?,
                name: integer(2)?,
                value: option_value(arguments.get(3)?)?,
                len: if call.arguments.len() > 4 { arguments.len(4)? } else { 4 },
            },
            "getsockopt" => {
                SystemCall::GetOption { fd: fd()?, level: integer(1)?, name: integer(2)? }
            }
            "fcntl" => SystemCall::Control {
                fd: fd()?,
                command: integer(1)?,
                argument: if call.arguments.len() > 2 { integer(2)? } else { 0 },
            },
            "ioctl" => SystemCall::Request { fd: fd()?, request: integer(1)? },
            "poll" => self.poll(&arguments)?,
            "epoll_create" | "epoll_create1" => SystemCall::EpollCreate,
            "epoll_ctl" => epoll_control(&arguments)?,
            "epoll_wait" => SystemCall::EpollWait {
                epoll: fd()?,
                most: usize::try_from(integer(2)?).unwrap_or(0),
                timeout: u64::try_from(integer(3)?).ok().map(Span::from_millis),
            },
            name => return Err(CallError::Unsupported(format!("the call `{name}`"))),
        })
    }

    fn live(&self, fd: i64) -> Result<i64, CallError> {
        let live = self.live.get(&fd).copied();
        live.ok_or_else(|| CallError::Wrong(format!("descriptor {fd} is not open in the script")))
    }

    fn poll(&self, arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
        let Expression::Array(all) = arguments.get(0)? else {
            return Err(CallError::Wrong("poll needs an array of descriptors".into()));
        };
        let one =
            |one| Ok((self.live(number(field(one, "fd")?)?)?, number(field(one, "events")?)?));
        let fds = all.iter().map(one).collect::<Result<_, CallError>>()?;
        let timeout = u64::try_from(arguments.integer(2)?).ok().map(Span::from_millis);
        Ok(SystemCall::Poll { fds, timeout })
    }
}

/// A call with NULL for a buffer.
fn bad_buffer(arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
    let name = arguments.call.name.as_str();
    Ok(SystemCall::BadBuffer {
        fd: arguments.fd(0)?,
        receives: matches!(name, "read" | "recv" | "recvfrom"),
        len: arguments.len(2)?,
        flags: if matches!(name, "read" | "write") { 0 } else { arguments.integer(3)? },
    })
}

fn epoll_control(arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
    let event = arguments.call.arguments.get(3);
    let (events, data) = event.map_or(Ok((0, 0)), epoll_event)?;
    Ok(SystemCall::EpollControl {
        epoll: arguments.fd(0)?,
        operation: arguments.integer(1)?,
        fd: arguments.fd(2)?,
        events,
        data,
    })
}

struct Arguments<'a> {
    call: &'a Call,
    descriptors: &'a Descriptors,
}

impl<'a> Arguments<'a> {
    fn get(&self, index: usize) -> Result<&'a Expression, CallError> {
        let missing =
            || CallError::Wrong(format!("{} lacks argument {}", self.call.name, index + 1));
        self.call.arguments.get(index).ok_or_else(missing)
    }

    fn integer(&self, index: usize) -> Result<i64, CallError> {
        number(self.get(index)?)
    }

    fn fd(&self, index: usize) -> Result<i64, CallError> {
        self.descriptors.live(self.integer(index)?)
    }

    /// A length in bytes.
    fn len(&self, index: usize) -> Result<u32, CallError> {
        length(self.integer(index)?)
    }
}

fn of_files(arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
    Ok(match arguments.call.name.as_str() {
        "open" => match arguments.get(0)? {
            Expression::Text(path) => SystemCall::Open { path: path.clone() },
            _ => return Err(CallError::Wrong("open needs a path".into())),
        },
        "pipe" => SystemCall::Pipe,
        "sendfile" => SystemCall::SendFile {
            to: arguments.fd(0)?,
            from: arguments.fd(1)?,
            offset: match arguments.get(2)? {
                Expression::Array(at) if at.len() == 1 => u64::try_from(number(&at[0])?).ok(),
                _ => None,
            },
            len: arguments.len(3)?,
        },
        _ => SystemCall::Splice {
            from: arguments.fd(0)?,
            to: arguments.fd(2)?,
            len: arguments.len(4)?,
        },
    })
}

fn receive(arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
    let message = arguments.call.name == "recvmsg";
    let (len, flags) = match arguments.call.name.as_str() {
        "read" => (arguments.len(2)?, 0),
        "readv" => (vectors(arguments.get(1)?)?.iter().sum(), 0),
        "recvmsg" => {
            let parts = vectors(field(arguments.get(1)?, "msg_iov")?)?;
            (parts.iter().sum(), arguments.integer(2)?)
        }
        _ => (arguments.len(2)?, arguments.integer(3)?),
    };
    Ok(SystemCall::Receive { fd: arguments.fd(0)?, len, flags, message })
}

fn send(arguments: &Arguments<'_>) -> Result<SystemCall, CallError> {
    let (parts, flags) = match arguments.call.name.as_str() {
        "write" => (vec![arguments.len(2)?], 0),
        "writev" => (vectors(arguments.get(1)?)?, 0),
        "sendmsg" => {
            let message = arguments.get(1)?;
            if !control_of(message)?.is_empty() {
                return Err(CallError::Unsupported("sending control messages".into()));
            }
            (vectors(field(message, "msg_iov")?)?, arguments.integer(2)?)
        }
        _ => (vec![arguments.len(2)?], arguments.integer(3)?),
    };
    let nobody = Expression::Word("AF_UNSPEC".into());
    let to_nobody = arguments.call.arguments.get(4) == Some(&nobody);
    Ok(SystemCall::Send { fd: arguments.fd(0)?, flags, parts, to_nobody })
}

fn integer_or(arguments: &Arguments<'_>, index: usize, otherwise: i64) -> Result<i64, CallError> {
    match arguments.get(index)? {
        Expression::Ellipsis => Ok(otherwise),
        given => number(given),
    }
}
