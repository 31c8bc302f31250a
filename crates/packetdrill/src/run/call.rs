//! System calls of the script.

use std::collections::BTreeMap;

use tcplab_units::{Instant, Span};

use super::{Blocked, Failure, Runner, Stop, Unsupported, written};
use crate::ast::{Call, Expression, Field};
use crate::constants::{constant, error_name};
use crate::notation::Made;
use crate::source::Position;
use crate::subject::{ControlData, ControlMessage, OptionValue, Outcome, Reply, SystemCall};

/// A call that does not return is waited for so long after its time, to tell how late it came.
const PATIENCE: Span = Span::from_secs(1);

/// MSG_FASTOPEN.
const FAST_OPEN: i64 = 0x2000_0000;

/// The script's descriptors, and the stack's.
#[derive(Default)]
pub(super) struct Descriptors {
    live: BTreeMap<i64, i64>,
}

/// Why a call cannot be made.
enum Odd {
    /// The stack's side has no such thing.
    Unsupported(String),
    /// The script is wrong.
    Wrong(String),
}

impl<'a> Runner<'a> {
    pub(super) fn call(
        &mut self,
        at: Position,
        call: &'a Call,
        started: Instant,
        until: Option<Instant>,
    ) -> Result<(), Stop> {
        let system_call = self.descriptors.decode(call).map_err(|odd| match odd {
            Odd::Unsupported(construct) => Stop::Unsupported(Unsupported { at, construct }),
            Odd::Wrong(what) => Stop::failed(at, what),
        })?;
        match system_call {
            SystemCall::Listen { .. } => self.connection.listened(),
            SystemCall::Disconnect { .. } => self.connection.forget_descriptor(),
            // A write may open the connection (MSG_FASTOPEN).
            SystemCall::Send { fd, flags, .. }
                if flags & FAST_OPEN != 0 && self.connection.fd() != Some(fd) =>
            {
                self.connection.connects(fd);
            }
            SystemCall::Connect { fd } if self.connection.fd() != Some(fd) => {
                self.connection.connects(fd);
            }
            _ => {}
        }
        let reply = self.subject.call(self.now, &system_call);
        match (reply, until) {
            (Reply::Refused(refusal), _) => return Err(Stop::unsupported(at, refusal.0)),
            (Reply::Returned(outcome), None) => self.returned(at, call, &outcome)?,
            (Reply::Blocked, None) => {
                let what = format!("{} waits, and the script gives it no time to", call.name);
                return Err(Stop::failed(at, what));
            }
            (Reply::Returned(outcome), Some(until)) => {
                let returned = Some((self.now, outcome));
                self.blocked = Some(Blocked { at, call, started, until, returned });
            }
            (Reply::Blocked, Some(until)) => {
                self.dialogue.did(self.now, at, format!("{} waits", Made(call)));
                self.blocked = Some(Blocked { at, call, started, until, returned: None });
            }
        }
        self.collect();
        Ok(())
    }

    /// Lets time pass until the call that waits has returned, and judges it.
    pub(super) fn await_blocked(&mut self) -> Result<(), Stop> {
        self.collect();
        let Some(blocked) = &self.blocked else { return Ok(()) };
        let (at, deadline) = (blocked.at, blocked.until + PATIENCE);
        while self.blocked.as_ref().is_some_and(|blocked| blocked.returned.is_none()) {
            if !self.wake_before(at, deadline)? {
                break;
            }
        }
        let Some(blocked) = self.blocked.take() else { return Ok(()) };
        let name = &blocked.call.name;
        let Some((time, outcome)) = blocked.returned else {
            let (due, end) = (written(blocked.until), written(deadline));
            let what = format!("{name} was to return at {due} and has not until {end}");
            return Err(Stop::failed(at, what));
        };
        let tolerance = self.rules.tolerance(blocked.until.since(blocked.started));
        if time + tolerance < blocked.until || time > blocked.until + tolerance {
            let (found, due) = (written(time), written(blocked.until));
            let what = format!("{name} returned at {found}, expected at {due}");
            return Err(Stop::failed(at, what));
        }
        self.returned(at, blocked.call, &outcome)
    }

    /// Compares what a call returned with what the script says.
    fn returned(&mut self, at: Position, call: &Call, outcome: &Outcome) -> Result<(), Stop> {
        let difference = |what: &str| {
            let expected = match (number(&call.result), &call.errno) {
                (Ok(value), None) => value.to_string(),
                (Ok(value), Some(errno)) => format!("{value} {errno}"),
                (Err(_), _) => "...".into(),
            };
            let actual = result_of(outcome);
            Stop::Failed(Failure {
                at,
                what: what.to_owned(),
                expected: Some(format!("{} = {expected}", call.name)),
                actual: Some(format!("{} = {actual}", call.name)),
            })
        };
        let opens = matches!(
            call.name.as_str(),
            "socket" | "accept" | "accept4" | "epoll_create" | "epoll_create1"
        );
        let shown = match number(&call.result) {
            Ok(descriptor) if opens && descriptor >= 0 && outcome.result.is_ok() => {
                descriptor.to_string()
            }
            _ => result_of(outcome),
        };
        self.dialogue.did(self.now, at, format!("{} = {shown}", Made(call)));
        if call.result == Expression::Ellipsis {
            return Ok(());
        }
        let expected = number(&call.result).map_err(|odd| odd.at(at))?;
        match outcome.result {
            Ok(live) if opens && expected >= 0 && live >= 0 => {
                self.descriptors.live.insert(expected, live);
                if call.name.starts_with("accept") {
                    self.connection.accepted(live);
                }
            }
            Ok(value) if value != expected => return Err(difference("the call returned another")),
            Ok(_) => {}
            Err(_) if expected != -1 => return Err(difference("the call failed")),
            Err(errno) => {
                let right = call.errno.as_ref().is_none_or(|name| constant(name) == Some(errno));
                if !right {
                    return Err(difference("the call failed for another reason"));
                }
            }
        }
        if call.name == "close" && outcome.result.is_ok() {
            let fd = call.arguments.first().map(number);
            if let Some(Ok(fd)) = fd {
                self.descriptors.live.remove(&fd);
            }
        }
        self.judge_values(at, call, outcome)
    }

    /// Compares what a call wrote into its arguments.
    fn judge_values(&self, at: Position, call: &Call, outcome: &Outcome) -> Result<(), Stop> {
        if outcome.result.is_err() {
            return Ok(());
        }
        if let ("recvmsg", Some(message)) = (call.name.as_str(), call.arguments.get(1)) {
            let expected = control_of(message).map_err(|odd| odd.at(at))?;
            let same = expected.len() == outcome.control.len()
                && expected.iter().zip(&outcome.control).all(|pair| self.is_same_message(pair));
            if !expected.is_empty() && !same {
                let shown = |all: &[ControlMessage]| Some(format!("{all:?}"));
                return Err(Stop::Failed(Failure {
                    at,
                    what: "recvmsg gave other control messages".into(),
                    expected: shown(&expected),
                    actual: shown(&outcome.control),
                }));
            }
        }
        let expected = written_by(call).map_err(|odd| odd.at(at))?;
        for (index, expected) in expected.iter().enumerate() {
            let found = outcome.values.get(index).copied();
            if expected.is_some() && *expected != found {
                let shown = |value: Option<i64>| value.map(|value| value.to_string());
                return Err(Stop::Failed(Failure {
                    at,
                    what: format!("{} gave another value", call.name),
                    expected: shown(*expected),
                    actual: shown(found),
                }));
            }
        }
        Ok(())
    }

    /// Whether the stack gave the message that the script expects. Times have the tolerance of all
    /// others.
    fn is_same_message(&self, (expected, found): (&ControlMessage, &ControlMessage)) -> bool {
        let data = match (&expected.data, &found.data) {
            (ControlData::Time(expected), ControlData::Time(found)) => {
                let tolerance = self.rules.tolerance(Span::ZERO);
                *expected <= *found + tolerance && *found <= *expected + tolerance
            }
            (expected, found) => expected == found,
        };
        data && (expected.level, expected.kind) == (found.level, found.kind)
    }
}

/// What a call returned, as scripts write it.
fn result_of(outcome: &Outcome) -> String {
    match outcome.result {
        Ok(value) => value.to_string(),
        Err(errno) => {
            let name = error_name(errno).map_or_else(|| errno.to_string(), str::to_owned);
            format!("-1 {name}")
        }
    }
}

impl Odd {
    fn at(self, at: Position) -> Stop {
        match self {
            Odd::Unsupported(construct) => Stop::Unsupported(Unsupported { at, construct }),
            Odd::Wrong(what) => Stop::failed(at, what),
        }
    }
}

impl Descriptors {
    fn decode(&self, call: &Call) -> Result<SystemCall, Odd> {
        let arguments = Arguments { call, descriptors: self };
        let integer = |index| arguments.integer(index);
        let fd = || arguments.fd(0);
        let buffered = matches!(
            call.name.as_str(),
            "read" | "recv" | "recvfrom" | "write" | "send" | "sendto"
        );
        let buffer = call.arguments.get(1).filter(|_| buffered);
        if buffer == Some(&Expression::Word("NULL".into())) && arguments.len(2)? > 0 {
            let receives = matches!(call.name.as_str(), "read" | "recv" | "recvfrom");
            return Ok(SystemCall::BadBuffer { fd: fd()?, receives });
        }
        if let Some(Expression::Integer(_) | Expression::Word(_)) = buffer {
            return Err(Odd::Unsupported("a buffer's address".into()));
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
                _ => return Err(Odd::Unsupported("connect to an address of its own".into())),
            },
            "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => receive(&arguments)?,
            "write" | "writev" | "send" | "sendto" | "sendmsg" => send(&arguments)?,
            "close" => SystemCall::Close { fd: fd()? },
            "shutdown" => SystemCall::Shutdown { fd: fd()?, how: integer(1)? },
            "setsockopt" => SystemCall::SetOption {
                fd: fd()?,
                level: integer(1)?,
                name: integer(2)?,
                value: option_value(arguments.get(3)?)?,
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
            name => return Err(Odd::Unsupported(format!("the call `{name}`"))),
        })
    }

    fn live(&self, fd: i64) -> Result<i64, Odd> {
        let live = self.live.get(&fd).copied();
        live.ok_or_else(|| Odd::Wrong(format!("descriptor {fd} is not open in the script")))
    }

    fn poll(&self, arguments: &Arguments<'_>) -> Result<SystemCall, Odd> {
        let Expression::Array(all) = arguments.get(0)? else {
            return Err(Odd::Wrong("poll needs an array of descriptors".into()));
        };
        let one =
            |one| Ok((self.live(number(field(one, "fd")?)?)?, number(field(one, "events")?)?));
        let fds = all.iter().map(one).collect::<Result<_, Odd>>()?;
        let timeout = u64::try_from(arguments.integer(2)?).ok().map(Span::from_millis);
        Ok(SystemCall::Poll { fds, timeout })
    }
}

fn epoll_control(arguments: &Arguments<'_>) -> Result<SystemCall, Odd> {
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

/// `{events=EPOLLIN, fd=4}`: the bits and the data.
fn epoll_event(event: &Expression) -> Result<(i64, i64), Odd> {
    let names = ["fd", "ptr", "u32", "u64"];
    let data = names.iter().find_map(|name| field(event, name).ok());
    Ok((number(field(event, "events")?)?, data.map_or(Ok(0), number)?))
}

struct Arguments<'a> {
    call: &'a Call,
    descriptors: &'a Descriptors,
}

impl<'a> Arguments<'a> {
    fn get(&self, index: usize) -> Result<&'a Expression, Odd> {
        let missing = || Odd::Wrong(format!("{} lacks argument {}", self.call.name, index + 1));
        self.call.arguments.get(index).ok_or_else(missing)
    }

    fn integer(&self, index: usize) -> Result<i64, Odd> {
        number(self.get(index)?)
    }

    fn fd(&self, index: usize) -> Result<i64, Odd> {
        self.descriptors.live(self.integer(index)?)
    }

    /// A length in bytes.
    fn len(&self, index: usize) -> Result<u32, Odd> {
        length(self.integer(index)?)
    }
}

fn receive(arguments: &Arguments<'_>) -> Result<SystemCall, Odd> {
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

fn send(arguments: &Arguments<'_>) -> Result<SystemCall, Odd> {
    let (parts, flags) = match arguments.call.name.as_str() {
        "write" => (vec![arguments.len(2)?], 0),
        "writev" => (vectors(arguments.get(1)?)?, 0),
        "sendmsg" => {
            let message = arguments.get(1)?;
            if !control_of(message)?.is_empty() {
                return Err(Odd::Unsupported("control messages to be sent".into()));
            }
            (vectors(field(message, "msg_iov")?)?, arguments.integer(2)?)
        }
        _ => (vec![arguments.len(2)?], arguments.integer(3)?),
    };
    let nobody = Expression::Word("AF_UNSPEC".into());
    if flags & FAST_OPEN != 0 && arguments.call.arguments.get(4) == Some(&nobody) {
        return Err(Odd::Unsupported("a write that connects to nobody".into()));
    }
    Ok(SystemCall::Send { fd: arguments.fd(0)?, flags, parts })
}

fn integer_or(arguments: &Arguments<'_>, index: usize, otherwise: i64) -> Result<i64, Odd> {
    match arguments.get(index)? {
        Expression::Ellipsis => Ok(otherwise),
        given => number(given),
    }
}

/// More than any script moves at once, and little enough to be held.
const MOST_BYTES: i64 = 1 << 26;

fn length(bytes: i64) -> Result<u32, Odd> {
    let len = u32::try_from(bytes).ok().filter(|_| bytes <= MOST_BYTES);
    len.ok_or_else(|| Odd::Unsupported(format!("a length of {bytes} bytes")))
}

fn number(expression: &Expression) -> Result<i64, Odd> {
    match expression {
        Expression::Integer(value) => Ok(*value),
        Expression::Word(name) => {
            constant(name).ok_or_else(|| Odd::Unsupported(format!("the constant `{name}`")))
        }
        Expression::Or(all) => all.iter().try_fold(0, |bits, part| Ok(bits | number(part)?)),
        Expression::Macro(name, arguments) => match arguments.as_slice() {
            [one] if name == "htons" => Ok(i64::from((number(one)? as u16).to_be())),
            _ => Err(Odd::Unsupported(format!("the macro `{name}`"))),
        },
        _ => Err(Odd::Wrong("a number was expected".into())),
    }
}

/// The value of a structure's field.
fn field<'a>(structure: &'a Expression, name: &str) -> Result<&'a Expression, Odd> {
    let found = match structure {
        Expression::Structure(fields) => {
            fields.iter().find(|field| field.name.as_deref() == Some(name))
        }
        _ => None,
    };
    let value = found.map(|Field { value, .. }| value);
    value.ok_or_else(|| Odd::Wrong(format!("a structure with `{name}` was expected")))
}

/// The control messages of a message.
fn control_of(message: &Expression) -> Result<Vec<ControlMessage>, Odd> {
    let Ok(Expression::Array(all)) = field(message, "msg_control") else { return Ok(Vec::new()) };
    let one = |one| {
        let part = |name| number(field(one, name)?);
        Ok(ControlMessage {
            level: part("cmsg_level")?,
            kind: part("cmsg_type")?,
            data: control_data(field(one, "cmsg_data")?)?,
        })
    };
    all.iter().map(one).collect()
}

fn control_data(data: &Expression) -> Result<ControlData, Odd> {
    const ERROR: [&str; 6] = ["ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data"];
    let part = |name| number(field(data, name)?);
    if field(data, "scm_sec").is_ok() {
        let spans = (u64::try_from(part("scm_sec")?), u64::try_from(part("scm_nsec")?));
        let (Ok(seconds), Ok(nanos)) = spans else {
            return Err(Odd::Wrong("a time before the start".into()));
        };
        let seconds = Span::from_secs(seconds.min(u64::from(u32::MAX)));
        return Ok(ControlData::Time(Instant::ZERO + seconds + Span::from_nanos(nanos)));
    }
    if field(data, ERROR[0]).is_ok() {
        let mut all = [0; 6];
        for (value, name) in all.iter_mut().zip(ERROR) {
            *value = part(name)?;
        }
        return Ok(ControlData::Error(all));
    }
    match data {
        Expression::Structure(_) => {
            Err(Odd::Unsupported("control messages of other structures".into()))
        }
        data => Ok(ControlData::Number(number(data)?)),
    }
}

/// The bytes of each part of `[{..., 1000}, {..., 20}]`.
fn vectors(array: &Expression) -> Result<Vec<u32>, Odd> {
    let wrong = || Odd::Wrong("an array of `{..., length}` was expected".into());
    let Expression::Array(all) = array else { return Err(wrong()) };
    let part = |one: &Expression| match one {
        Expression::Structure(fields) if fields.len() == 2 => length(number(&fields[1].value)?),
        _ => Err(wrong()),
    };
    let parts: Vec<u32> = all.iter().map(part).collect::<Result<_, Odd>>()?;
    length(parts.iter().map(|part| i64::from(*part)).sum())?;
    Ok(parts)
}

fn option_value(expression: &Expression) -> Result<OptionValue, Odd> {
    Ok(match expression {
        Expression::Array(all) if all.len() == 1 => OptionValue::Integer(number(&all[0])?),
        Expression::Text(text) => OptionValue::Text(text.clone()),
        Expression::Structure(_) if field(expression, "onoff").is_ok() => OptionValue::Linger {
            on: number(field(expression, "onoff")?)? != 0,
            seconds: number(field(expression, "linger")?)?,
        },
        other => OptionValue::Integer(number(other)?),
    })
}

/// What the script says that a call writes into its arguments; `None` where it does not care.
fn written_by(call: &Call) -> Result<Vec<Option<i64>>, Odd> {
    let all = |expression: Option<&Expression>| match expression {
        Some(Expression::Array(all)) => all
            .iter()
            .map(|one| match one {
                Expression::Ellipsis => Ok(None),
                one => number(one).map(Some),
            })
            .collect(),
        _ => Ok(Vec::new()),
    };
    match call.name.as_str() {
        "getsockopt" => all(call.arguments.get(3)),
        "ioctl" => all(call.arguments.get(2)),
        "poll" => match call.arguments.first() {
            Some(Expression::Array(fds)) => {
                let revents =
                    |fd| field(fd, "revents").map_or(Ok(Some(0)), |r| number(r).map(Some));
                fds.iter().map(revents).collect()
            }
            _ => Ok(Vec::new()),
        },
        "epoll_wait" => {
            let events = match call.arguments.get(1) {
                Some(Expression::Array(all)) => all.as_slice(),
                Some(one @ Expression::Structure(_)) => std::slice::from_ref(one),
                _ => &[],
            };
            let told = usize::try_from(number(&call.result)?).unwrap_or(0);
            let mut all = Vec::new();
            for event in events.iter().take(told) {
                let (bits, data) = epoll_event(event)?;
                all.extend([Some(bits), Some(data)]);
            }
            Ok(all)
        }
        "recvmsg" => {
            let flags = call.arguments.get(1).map(|message| field(message, "msg_flags"));
            match flags {
                Some(Ok(Expression::Ellipsis) | Err(_)) | None => Ok(Vec::new()),
                Some(Ok(flags)) => Ok(vec![Some(number(flags)?)]),
            }
        }
        _ => Ok(Vec::new()),
    }
}
