//! Options of sockets: `setsockopt`, `getsockopt`, `fcntl`, `ioctl`.

use tcplab_stack::SocketOption;
use tcplab_units::Instant;

use super::Model;
use super::calls::{NONBLOCK, READ_WRITE};
use super::options::{self, Setting};
use super::socket::Stage;
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
        if let (OptionValue::Text(control), options::TCP, options::TCP_CONGESTION) =
            (value, level, name)
        {
            if tcplab_stack::congestion::by_name(control).is_none() {
                return Err(Refusal(format!("the congestion control {control}")));
            }
            if let Stage::Open(_) = socket.stage {
                return Err(Refusal("another congestion control for a connection".into()));
            }
            socket.congestion.clone_from(control);
            return Ok(Outcome::value(0));
        }
        let own = match (level, name) {
            (options::TCP, options::TCP_INQ) => Some(&mut socket.tells_unread),
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
        Ok(match options::read(level, name, value)? {
            Setting::Of(SocketOption::MaxSegment(_)) if matches!(socket.stage, Stage::Open(_)) => {
                return Err(Refusal("TCP_MAXSEG for a connection".into()));
            }
            Setting::Of(option) => {
                socket.set_option(now, option);
                Outcome::value(0)
            }
            Setting::Nothing => Outcome::value(0),
            Setting::Invalid => Outcome::error("EINVAL"),
        })
    }

    pub(super) fn option(&mut self, fd: i64, level: i64, name: i64) -> Result<Outcome, Refusal> {
        let given = |value: i64| Outcome { values: vec![value], ..Outcome::value(0) };
        let config = &self.config;
        let Some(socket) = self.sockets.get_mut(&fd) else { return Ok(Outcome::error("EBADF")) };
        let options = socket.options(config);
        if let Stage::Open(open) = &mut socket.stage {
            match (level, name) {
                (options::SOCKET, options::SO_ERROR) => {
                    let error = open.take_error().and_then(|error| constant(error.errno()));
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
                _ => {}
            }
        } else if (level, name) == (options::SOCKET, options::SO_ERROR) {
            return Ok(given(0));
        } else if (level, name) == (options::TCP, options::TCP_MAXSEG) {
            return Ok(given(options.max_segment.unwrap_or(TCP_MSS_DEFAULT).into()));
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
