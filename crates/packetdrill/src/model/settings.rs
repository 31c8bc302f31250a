//! Options of sockets: `setsockopt`, `getsockopt`, `fcntl`, `ioctl`.

use tcplab_stack::SocketOption;
use tcplab_units::{Bytes, Instant};

use super::Model;
use super::fast_open::FastOpen;
use super::flags::{NONBLOCK, READ_WRITE};
use super::options::{self, Setting};
use super::socket::{Socket, Stage};
use crate::constants::constant;
use crate::subject::{OptionValue, Outcome, Refusal};

/// What a segment holds until something better is known.
const TCP_MSS_DEFAULT: u16 = 536;

impl Model {
    pub(super) fn set_option(
        &mut self,
        now: Instant,
        fd: i64,
        (level, name): (i64, i64),
        value: &OptionValue,
    ) -> Result<Outcome, Refusal> {
        let Some(socket) = self.sockets.get_mut(&fd) else { return Ok(Outcome::error("EBADF")) };
        if let (options::IP, options::IP_TOS) = (level, name) {
            return set_tos(socket, value);
        }
        if let (OptionValue::Text(control), options::TCP, options::TCP_CONGESTION) =
            (value, level, name)
        {
            if tcplab_stack::congestion::by_name(control).is_none() {
                return Err(Refusal(format!("the congestion control {control}")));
            }
            if let Stage::Open(_) = socket.stage {
                return Err(Refusal("changing the congestion control of a connection".into()));
            }
            socket.congestion.clone_from(control);
            return Ok(Outcome::value(0));
        }
        if let (
            options::TCP,
            options::TCP_FASTOPEN
            | options::TCP_FASTOPEN_CONNECT
            | options::TCP_FASTOPEN_KEY
            | options::TCP_FASTOPEN_NO_COOKIE,
        ) = (level, name)
        {
            return Ok(match set_fast_open(socket, &self.fast, name, value) {
                Ok(()) => Outcome::value(0),
                Err(errno) => Outcome::error(errno),
            });
        }
        if let (options::SOCKET, options::SO_TIMESTAMPING, OptionValue::Integer(bits)) =
            (level, name, value)
        {
            return set_timestamping(socket, *bits);
        }
        let own = match (level, name) {
            (options::TCP, options::TCP_INQ) => Some(&mut socket.reports_unread),
            (options::SOCKET, options::SO_ZEROCOPY) => Some(&mut socket.zero_copy),
            _ => None,
        };
        if let Some(own) = own {
            *own = match value {
                OptionValue::Integer(on @ 0..=1) => *on == 1,
                _ => return Ok(Outcome::error("EINVAL")),
            };
            return Ok(Outcome::value(0));
        }
        apply(socket, now, &options::read(level, name, value)?)
    }

    pub(super) fn option(&mut self, fd: i64, level: i64, name: i64) -> Result<Outcome, Refusal> {
        if (level, name) == (options::TCP, options::TCP_FASTOPEN) {
            let queue = self.sockets.get(&fd).map(|socket| socket.fast.queue.unwrap_or(0));
            return Ok(match queue {
                Some(queue) => Outcome { values: vec![queue.into()], ..Outcome::value(0) },
                None => Outcome::error("EBADF"),
            });
        }
        let given = |value: i64| Outcome { values: vec![value], ..Outcome::value(0) };
        let config = &self.config;
        let Some(socket) = self.sockets.get_mut(&fd) else { return Ok(Outcome::error("EBADF")) };
        let options = socket.options(config);
        if let Stage::Open(open) = &mut socket.stage {
            match (level, name) {
                (options::SOCKET, options::SO_ERROR) => {
                    let error = match open.take_error() {
                        // Linux reports what ICMP said, too (`sk_err_soft`).
                        None if config.freebsd.is_none() => open.connection.take_soft_error(),
                        error => error,
                    };
                    let error = error.and_then(|error| constant(error.errno()));
                    return Ok(given(error.unwrap_or(0)));
                }
                (options::SOCKET, options::SO_SNDBUF) => {
                    return Ok(given(open.connection.send_buffer().as_u64() as i64));
                }
                (options::SOCKET, options::SO_RCVBUF) => {
                    return Ok(given(open.connection.receive_buffer().as_u64() as i64));
                }
                (options::TCP, options::TCP_MAXSEG) => {
                    return Ok(given(open.connection.mss().into()));
                }
                (options::TCP, options::TCP_WINDOW_CLAMP) => {
                    return Ok(given(open.connection.window_clamp().as_u64() as i64));
                }
                _ => {}
            }
        } else if (level, name) == (options::SOCKET, options::SO_ERROR) {
            return Ok(given(0));
        } else if (level, name) == (options::TCP, options::TCP_MAXSEG) {
            return Ok(given(options.max_segment.unwrap_or(TCP_MSS_DEFAULT).into()));
        }
        if (level, name) == (options::SOCKET, options::SO_RCVBUF) && config.freebsd.is_some() {
            let asked = options.receive_buffer.unwrap_or(config.receiving.buffer[0]);
            return Ok(given(asked.as_u64() as i64));
        }
        options::value(&options, level, name).map(given)
    }

    /// `fcntl`.
    pub(super) fn control(
        &mut self,
        fd: i64,
        command: i64,
        argument: i64,
    ) -> Result<Outcome, Refusal> {
        let Some(socket) = self.sockets.get_mut(&fd) else { return Ok(Outcome::error("EBADF")) };
        match constant("F_GETFL").zip(constant("F_SETFL")) {
            Some((read, _)) if command == read => {
                let nonblock = if socket.nonblocking { NONBLOCK } else { 0 };
                Ok(Outcome::value(READ_WRITE | nonblock))
            }
            Some((_, set)) if command == set => {
                socket.nonblocking = argument & NONBLOCK != 0;
                Ok(Outcome::value(0))
            }
            _ => Err(Refusal(format!("fcntl with command {command}"))),
        }
    }

    /// `ioctl`.
    pub(super) fn request(&mut self, fd: i64, request: i64) -> Result<Outcome, Refusal> {
        let open = match self.open(fd) {
            Ok(open) => open,
            Err(outcome) => return Ok(outcome),
        };
        let value = match request {
            0x541b => open.connection.unread().as_u64() as i64,
            0x5411 => open.connection.unacknowledged().as_u64() as i64,
            0x8905 => open.connection.is_at_mark().into(),
            _ => return Err(Refusal(format!("ioctl with request {request:#x}"))),
        };
        Ok(Outcome { values: vec![value], ..Outcome::value(0) })
    }
}

/// Sets what `setsockopt` was read as.
fn apply(socket: &mut Socket, now: Instant, setting: &Setting) -> Result<Outcome, Refusal> {
    Ok(match setting {
        Setting::Of(SocketOption::MaxSegment(_)) if matches!(socket.stage, Stage::Open(_)) => {
            return Err(Refusal("TCP_MAXSEG on a connection".into()));
        }
        // It is only taken back before there is a state (`tcp_set_window_clamp`).
        Setting::Of(SocketOption::WindowClamp(Bytes::ZERO))
            if !matches!(socket.stage, Stage::Fresh) =>
        {
            Outcome::error("EINVAL")
        }
        Setting::Of(option) => {
            socket.set_option(now, *option);
            Outcome::value(0)
        }
        Setting::Nothing => Outcome::value(0),
        Setting::Invalid => Outcome::error("EINVAL"),
    })
}

fn set_timestamping(socket: &mut Socket, bits: i64) -> Result<Outcome, Refusal> {
    let Stage::Open(open) = &mut socket.stage else {
        return Err(Refusal("SO_TIMESTAMPING before connecting".into()));
    };
    let acknowledged = open.acknowledged();
    if !open.errors.set_timestamping(bits, acknowledged) {
        return Err(Refusal(format!("SO_TIMESTAMPING with {bits:#x}")));
    }
    Ok(Outcome::value(0))
}

/// IP_TOS, but for its two bits of ECN.
fn set_tos(socket: &mut Socket, value: &OptionValue) -> Result<Outcome, Refusal> {
    let (Stage::Open(open), OptionValue::Integer(tos)) = (&mut socket.stage, value) else {
        return Err(Refusal("IP_TOS before connecting".into()));
    };
    open.dscp = (*tos as u8) & !3;
    Ok(Outcome::value(0))
}

/// The options of Fast Open (`do_tcp_setsockopt`).
fn set_fast_open(
    socket: &mut Socket,
    host: &FastOpen,
    name: i64,
    value: &OptionValue,
) -> Result<(), &'static str> {
    let fresh = matches!(socket.stage, Stage::Fresh);
    let opens = fresh || matches!(socket.stage, Stage::Listening(_));
    let number = match value {
        OptionValue::Integer(number) => *number,
        OptionValue::Text(text) if name == options::TCP_FASTOPEN_KEY => {
            socket.fast.keys = keys(text).ok_or("EINVAL")?;
            return Ok(());
        }
        _ => return Err("EINVAL"),
    };
    match name {
        options::TCP_FASTOPEN if number >= 0 && opens => {
            socket.fast.queue = u32::try_from(number).ok();
        }
        options::TCP_FASTOPEN_CONNECT if (0..=1).contains(&number) => {
            if !host.clients_may() {
                return Err("EOPNOTSUPP");
            }
            if !fresh {
                return Err("EINVAL");
            }
            socket.fast.connects_later = number == 1;
        }
        options::TCP_FASTOPEN_NO_COOKIE if (0..=1).contains(&number) && opens => {
            socket.fast.without_cookie = number == 1;
        }
        _ => return Err("EINVAL"),
    }
    Ok(())
}

/// One key or two of 16 bytes, written as `\\xf7\\x63…`.
fn keys(text: &str) -> Option<Vec<[u8; 16]>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(hex) = rest.strip_prefix("\\x") {
            bytes.push(u8::from_str_radix(hex.get(..2)?, 16).ok()?);
            rest = &hex[2..];
        } else {
            bytes.push(u8::try_from(c).ok()?);
            rest = &rest[c.len_utf8()..];
        }
    }
    let (keys, odd) = bytes.as_chunks::<16>();
    (odd.is_empty() && (1..=2).contains(&keys.len())).then(|| keys.to_vec())
}
