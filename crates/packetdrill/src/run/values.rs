//! Values in the arguments of a script's system calls.

use tcplab_units::{Instant, Span};

use super::outcome::Stop;
use crate::ast::{Expression, Field};
use crate::constants::constant;
use crate::source::Position;
use crate::subject::{ControlData, ControlMessage, OptionValue};

/// Why a call cannot be made.
pub(super) enum CallError {
    /// The stack has no such thing.
    Unsupported(String),
    /// The script is wrong.
    Wrong(String),
}

impl CallError {
    pub(super) fn at(self, at: Position) -> Stop {
        match self {
            CallError::Unsupported(construct) => Stop::unsupported(at, construct),
            CallError::Wrong(what) => Stop::failed(at, what),
        }
    }
}

/// `{events=EPOLLIN, fd=4}`: the bits and the data.
pub(super) fn epoll_event(event: &Expression) -> Result<(i64, i64), CallError> {
    let names = ["fd", "ptr", "u32", "u64"];
    let data = names.iter().find_map(|name| field(event, name).ok());
    Ok((number(field(event, "events")?)?, data.map_or(Ok(0), number)?))
}

/// More than any script moves at once, and little enough to be held.
const MOST_BYTES: i64 = 1 << 26;

pub(super) fn length(bytes: i64) -> Result<u32, CallError> {
    let len = u32::try_from(bytes).ok().filter(|_| bytes <= MOST_BYTES);
    len.ok_or_else(|| CallError::Unsupported(format!("a length of {bytes} bytes")))
}

pub(super) fn number(expression: &Expression) -> Result<i64, CallError> {
    match expression {
        Expression::Integer(value) => Ok(*value),
        Expression::Word(name) => {
            constant(name).ok_or_else(|| CallError::Unsupported(format!("the constant `{name}`")))
        }
        Expression::Or(all) => all.iter().try_fold(0, |bits, part| Ok(bits | number(part)?)),
        Expression::Macro(name, arguments) => match arguments.as_slice() {
            [one] if name == "htons" => Ok(i64::from((number(one)? as u16).to_be())),
            _ => Err(CallError::Unsupported(format!("the macro `{name}`"))),
        },
        _ => Err(CallError::Wrong("expected a number".into())),
    }
}

/// The value of a structure's field.
pub(super) fn field<'a>(
    structure: &'a Expression,
    name: &str,
) -> Result<&'a Expression, CallError> {
    let found = match structure {
        Expression::Structure(fields) => {
            fields.iter().find(|field| field.name.as_deref() == Some(name))
        }
        _ => None,
    };
    let value = found.map(|Field { value, .. }| value);
    value.ok_or_else(|| CallError::Wrong(format!("expected a structure with `{name}`")))
}

/// The control messages of a message.
pub(super) fn control_of(message: &Expression) -> Result<Vec<ControlMessage>, CallError> {
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

pub(super) fn control_data(data: &Expression) -> Result<ControlData, CallError> {
    const ERROR: [&str; 6] = ["ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data"];
    let part = |name| number(field(data, name)?);
    if field(data, "scm_sec").is_ok() {
        let spans = (u64::try_from(part("scm_sec")?), u64::try_from(part("scm_nsec")?));
        let (Ok(seconds), Ok(nanos)) = spans else {
            return Err(CallError::Wrong("a time before the start".into()));
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
            Err(CallError::Unsupported("other control message structures".into()))
        }
        data => Ok(ControlData::Number(number(data)?)),
    }
}

/// The bytes of each part of `[{..., 1000}, {..., 20}]`.
pub(super) fn vectors(array: &Expression) -> Result<Vec<u32>, CallError> {
    let wrong = || CallError::Wrong("expected an array of `{..., length}`".into());
    let Expression::Array(all) = array else { return Err(wrong()) };
    let part = |one: &Expression| match one {
        Expression::Structure(fields) if fields.len() == 2 => length(number(&fields[1].value)?),
        _ => Err(wrong()),
    };
    let parts: Vec<u32> = all.iter().map(part).collect::<Result<_, CallError>>()?;
    length(parts.iter().map(|part| i64::from(*part)).sum())?;
    Ok(parts)
}

pub(super) fn option_value(expression: &Expression) -> Result<OptionValue, CallError> {
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
