//! System calls of the script.

use tcplab_units::{Instant, Span};

use super::descriptors::FAST_OPEN;
use super::outcome::{Failure, Stop};
use super::values::{CallError, control_of, epoll_event, field, number};
use super::{Blocked, Runner};
use crate::ast::{Call, Expression};
use crate::constants::{constant, error_name};
use crate::notation::{Made, written};
use crate::source::Position;
use crate::subject::{ControlData, ControlMessage, Outcome, Reply, SystemCall};

/// How long to wait for a late call after its time, to report how late it was.
const PATIENCE: Span = Span::from_secs(1);

/// The time that packetdrill and a kernel take for a write. No stack's work takes time here, but
/// scripts rely on this: the RTT of data is a little longer if several writes follow it.
const WRITE: Span = Span::from_micros(4);

impl<'a> Runner<'a> {
    pub(super) fn call(
        &mut self,
        at: Position,
        call: &'a Call,
        started: Instant,
        until: Option<Instant>,
    ) -> Result<(), Stop> {
        let system_call = self.descriptors.decode(call).map_err(|error| error.at(at))?;
        match system_call {
            SystemCall::Listen { .. } => self.connection.listened(),
            SystemCall::Disconnect { .. } => self.connection.disconnected(),
            // A write may open the connection (MSG_FASTOPEN).
            SystemCall::Send { fd, flags, to_nobody: false, .. }
                if flags & FAST_OPEN != 0 && self.connection.is_new_to(fd) =>
            {
                self.connection.connects(fd);
            }
            SystemCall::Connect { fd } if self.connection.is_new_to(fd) => {
                self.connection.connects(fd);
            }
            _ => {}
        }
        let reply = self.subject.call(self.now, &system_call);
        // A write to an address may connect too (FreeBSD, with TCP_FASTOPEN set before).
        if let SystemCall::Send { fd, flags, .. } = system_call
            && call.name == "sendto"
            && flags & FAST_OPEN == 0
            && self.connection.fd() != Some(fd)
            && matches!(&reply, Reply::Returned(outcome) if outcome.result.is_ok())
        {
            self.connection.connects(fd);
        }
        match (reply, until) {
            (Reply::Refused(refusal), _) => return Err(Stop::unsupported(at, refusal.0)),
            (Reply::Returned(outcome), None) => self.returned(at, call, &outcome)?,
            (Reply::Blocked, None) => {
                let what = format!("{} blocks, but the script gives no return time", call.name);
                return Err(Stop::failed(at, what));
            }
            (Reply::Returned(outcome), Some(until)) => {
                let returned = Some((self.now, outcome));
                self.blocked = Some(Blocked { at, call, started, until, returned });
            }
            (Reply::Blocked, Some(until)) => {
                self.dialogue.did(self.now, at, format!("{} blocks", Made(call)));
                self.blocked = Some(Blocked { at, call, started, until, returned: None });
            }
        }
        self.collect();
        if matches!(system_call, SystemCall::Send { .. }) {
            self.now += WRITE;
        }
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
            let what = format!("{name} did not return by {end}, expected at {due}");
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
            "socket" | "accept" | "accept4" | "epoll_create" | "epoll_create1" | "open"
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
        let expected = number(&call.result).map_err(|error| error.at(at))?;
        match outcome.result {
            Ok(live) if opens && expected >= 0 && live >= 0 => {
                self.descriptors.live.insert(expected, live);
                if call.name.starts_with("accept") {
                    self.connection.accepted(live);
                }
            }
            Ok(value) if value != expected => {
                return Err(difference("the call returned another value"));
            }
            Ok(_) if call.name == "pipe" => self.name_ends(call, outcome),
            Ok(_) => {}
            Err(_) if expected != -1 => return Err(difference("the call failed")),
            Err(errno) => {
                let right = call.errno.as_ref().is_none_or(|name| constant(name) == Some(errno));
                if !right {
                    return Err(difference("the call failed for another reason"));
                }
            }
        }
        self.conclude(call, outcome);
        self.judge_values(at, call, outcome)
    }

    /// What a call that returned means for its descriptor.
    fn conclude(&mut self, call: &Call, outcome: &Outcome) {
        let goes_on = ["EINPROGRESS", "EALREADY", "EISCONN"].map(constant);
        match (call.name.as_str(), outcome.result) {
            // It is free for another try.
            ("connect", Err(errno)) if !goes_on.contains(&Some(errno)) => {
                self.connection.disconnected();
            }
            ("close", Ok(_)) => {
                if let Some(Ok(fd)) = call.arguments.first().map(number) {
                    self.descriptors.live.remove(&fd);
                }
            }
            _ => {}
        }
    }

    /// The script calls the ends of a pipe as it writes them: `pipe([5, 6])`.
    fn name_ends(&mut self, call: &Call, outcome: &Outcome) {
        if let Some(Expression::Array(ends)) = call.arguments.first() {
            for (end, live) in ends.iter().zip(&outcome.values) {
                if let Ok(end) = number(end) {
                    self.descriptors.live.insert(end, *live);
                }
            }
        }
    }

    /// Compares what a call wrote into its arguments.
    fn judge_values(&self, at: Position, call: &Call, outcome: &Outcome) -> Result<(), Stop> {
        if outcome.result.is_err() {
            return Ok(());
        }
        if let ("recvmsg", Some(message)) = (call.name.as_str(), call.arguments.get(1)) {
            let expected = control_of(message).map_err(|error| error.at(at))?;
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
        let expected = written_by(call).map_err(|error| error.at(at))?;
        for (index, expected) in expected.iter().enumerate() {
            let found = outcome.values.get(index).copied();
            // Scripts write an option of 32 bits with a sign or without.
            let is_option = call.name == "getsockopt";
            let same = |a: i64, b: i64| a == b || (is_option && a as u32 == b as u32);
            if expected.is_some_and(|expected| found.is_none_or(|found| !same(expected, found))) {
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

/// What the script says that a call writes into its arguments; `None` where it does not care.
fn written_by(call: &Call) -> Result<Vec<Option<i64>>, CallError> {
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
            let count = usize::try_from(number(&call.result)?).unwrap_or(0);
            let mut all = Vec::new();
            for event in events.iter().take(count) {
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
