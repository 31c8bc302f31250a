//! A program at work, as a state machine.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use tcplab_units::{Bytes, Endpoint, Instant, Span};

use crate::log::{Log, Returned};
use crate::report::{AT_MARK, END, NOT_AT_MARK, OK, UrgentReport, WAITING};
use crate::shared_payload::SharedPayload;
use crate::step::{Half, Read, Step, Toggle, Until, Write};
use crate::stream::{self, Check, Stream};
use crate::{AppReport, Digest, Payload, Role, WorkloadSpec};

mod output;
mod words;

use output::{Output, Source};
use words::{asked, name};

/// What an application would do next on its connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Want<'a> {
    /// Open the connection; report with `did`.
    Connect,
    /// Wait for the connection that a client opens; report with `did`.
    Accept,
    /// Write these bytes; report with `wrote` how many the socket took.
    Write {
        /// What the call is given, or what is left of it.
        bytes: &'a [u8],
        /// MSG_MORE.
        more: bool,
        /// MSG_OOB: the last of them is urgent.
        urgent: bool,
        /// Whether the call waits for room; otherwise (MSG_DONTWAIT) report `returned` when it took
        /// less, and `failed` with EAGAIN when it took nothing.
        waits: bool,
    },
    /// Read at most this many bytes; report with `received` or `end_of_stream`.
    Read(usize),
    /// Wait until the urgent byte has come; report with `did`, or with `end_of_stream`.
    AwaitUrgent,
    /// Read the urgent byte out of band; report with `received_urgent`.
    ReadUrgent,
    /// Ask whether the next byte is the urgent one; report with `marked`.
    AtMark,
    /// Close a half of the connection, or both; report with `did`.
    ShutDown(Half),
    /// Set a socket option; report with `did`.
    Set(Toggle, bool),
    /// Nothing until then; ask again.
    Sleep(Instant),
    /// Close the connection; report with `did`.
    Close,
    /// Hear and say nothing any more; there is nothing to report.
    Vanish,
    /// Nothing any more.
    Nothing,
}

/// One end of a [`WorkloadSpec`]. See the crate's documentation for how to drive one.
#[derive(Debug, Clone)]
pub struct Application {
    role: Role,
    may_fail: bool,
    is_stream: bool,
    /// Whether the other end has anything to send.
    expects: bool,
    operations: Vec<Operation>,
    /// The operation at hand.
    at: usize,
    doing: Doing,
    output: Output,
    written: Stream,
    read: Stream,
    started: Option<Instant>,
    finished: Option<Instant>,
    /// From then on nothing more is written.
    stops: Option<Instant>,
    urgent: u64,
    log: Log,
}

/// A step, or the end of a repetition.
#[derive(Debug, Clone)]
struct Operation {
    what: What,
    /// Behind all repetitions that it is in; none where it is in none.
    way_out: Option<usize>,
}

#[derive(Debug, Clone)]
enum What {
    Step(Step),
    /// Jump back to `from`, `left` more times.
    Again {
        from: usize,
        times: u64,
        left: u64,
    },
}

/// How far the operation at hand is.
#[derive(Debug, Clone, Default)]
struct Doing {
    /// Whether anything of it is known.
    begun: bool,
    /// The rest of an amount.
    left: u64,
    /// When it is over, where it is a sleep; when a write that does not wait tries again.
    until: Option<Instant>,
    /// When the call began that has not returned, and how much it has moved.
    call: Option<Instant>,
    moved: u64,
}

impl Doing {
    /// An amount is to be moved, if it is not begun already.
    fn begin(&mut self, amount: Bytes) {
        if !self.begun {
            *self = Doing { begun: true, left: amount.as_u64(), ..Doing::default() };
        }
    }
}

impl Application {
    /// The application at one end of `spec`; `seed` makes the payload.
    pub fn new(side: Endpoint, spec: &WorkloadSpec, seed: u64) -> Application {
        let (program, peer, role) =
            (spec.program(side), spec.program(side.other()), spec.role(side));
        let payload = match role {
            Role::Sender => Payload::new(seed),
            Role::Receiver => Payload::answering(seed),
        };
        // A stream that nothing is mixed into is one payload from its beginning to its end.
        let (written, read) = match role {
            _ if !spec.is_stream() => (Stream::new(), Stream::new()),
            Role::Sender => (Stream::with(Check::Drawn(payload.clone())), Stream::new()),
            Role::Receiver => {
                let sent = Payload::new(seed);
                (Stream::new(), Stream::with(Check::Compared(sent.clone(), sent)))
            }
        };
        let mut operations = Vec::new();
        lay_out(program.steps(), &mut operations);
        Application {
            role,
            may_fail: spec.may_fail(),
            is_stream: spec.is_stream(),
            expects: peer.writes() > Bytes::ZERO,
            operations,
            at: 0,
            doing: Doing::default(),
            output: Output::new(payload),
            written,
            read,
            started: None,
            finished: None,
            stops: None,
            urgent: 0,
            log: Log::default(),
        }
    }

    /// As [`new`](Self::new), but sends zeros without digests. For measuring what
    /// a world costs by itself.
    pub fn of_zeros(side: Endpoint, spec: &WorkloadSpec) -> Application {
        let mut application = Application::new(side, spec, 0);
        application.written.check = Check::Nobody;
        application.read.check = Check::Nobody;
        application.output.source = Source::Zeros;
        application
    }

    /// Both ends of a connection whose workload is `spec`, before they begin: if one sends a stream
    /// to the other, they draw and hash it together from now on.
    pub fn share_payload(spec: &WorkloadSpec, [client, server]: [&mut Application; 2]) {
        let (side, sender, receiver) = match client.role {
            Role::Sender => (Endpoint::Client, client, server),
            Role::Receiver => (Endpoint::Server, server, client),
        };
        if let (Check::Drawn(payload), Check::Compared(..)) =
            (&sender.written.check, &receiver.read.check)
        {
            let length = spec.program(side).writes().as_u64();
            let shared = SharedPayload::new(payload.clone(), length);
            sender.output.source = Source::Shared(shared.clone());
            sender.written.check = Check::Shared(shared.clone());
            receiver.read.check = Check::Shared(shared);
        }
    }

    /// This application, but it starts no write from `at` on, as if all were written.
    #[must_use]
    pub fn stopping(self, at: Option<Instant>) -> Application {
        Application { stops: at, ..self }
    }

    /// Whether all it writes is zeros.
    pub fn writes_zeros(&self) -> bool {
        matches!(self.output.source, Source::Zeros)
    }

    /// Whether its calls may fail; else a trial in which one does is no trial.
    pub fn may_fail(&self) -> bool {
        self.may_fail
    }

    /// Whether it does nothing but write or read a stream: then a world in which calls take no time
    /// may do many of them before anything leaves.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// What it does next. The first call starts the operation; asking again changes nothing.
    pub fn want(&mut self, now: Instant) -> Want<'_> {
        let Some(at) = self.settle(now) else { return Want::Nothing };
        let What::Step(step) = &self.operations[at].what else { return Want::Nothing };
        if let (Step::Sleep(_) | Step::Write(_), Some(until)) = (step, self.doing.until) {
            return Want::Sleep(until);
        }
        self.doing.call.get_or_insert(now);
        match step {
            Step::Connect => {
                self.started.get_or_insert(now);
                Want::Connect
            }
            Step::Accept => Want::Accept,
            Step::Write(Write { more, urgent, retry, .. }) => Want::Write {
                bytes: self.output.left(),
                more: *more,
                urgent: *urgent && self.doing.left == 0,
                waits: retry.is_none(),
            },
            Step::Read(Read { until, piece }) => {
                let most = match until {
                    Until::Amount(_) => piece.as_u64().min(self.doing.left),
                    Until::End | Until::Once => piece.as_u64(),
                };
                Want::Read(most as usize)
            }
            Step::AwaitUrgent => Want::AwaitUrgent,
            Step::ReadUrgent => Want::ReadUrgent,
            Step::AtMark => Want::AtMark,
            Step::Shutdown(half) => Want::ShutDown(*half),
            Step::Set(toggle, on) => Want::Set(*toggle, *on),
            Step::Close => Want::Close,
            Step::Vanish => Want::Vanish,
            Step::Sleep(_) | Step::BeginRequest | Step::EndResponse | Step::Repeat { .. } => {
                unreachable!("no call, and settled")
            }
        }
    }

    /// The block that the bytes of [`Want::Write`] are a part of, and which, if they need not be
    /// copied: it does not change as long as anybody else has it.
    pub fn block(&self) -> Option<(&Arc<[u8]>, Range<usize>)> {
        self.output.shared()
    }

    /// Bytes that it will still read whatever comes, each call asking for as many as
    /// [`Want::Read`] says; none where it does not read on.
    pub fn reads_on(&self) -> Option<u64> {
        match &self.operations.get(self.at)?.what {
            What::Step(Step::Read(Read { until: Until::End, .. })) => Some(u64::MAX),
            What::Step(Step::Read(Read { until: Until::Amount(_), .. })) => Some(self.doing.left),
            _ => None,
        }
    }

    /// When the call began that the world is asked for and has not reported; none where there is
    /// none. Also, how much it has moved: what a time-out of it turns on.
    pub fn call(&self) -> Option<(Instant, u64)> {
        Some((self.doing.call?, self.doing.moved))
    }

    /// Goes on to the next operation that something outside must happen for; none at the end.
    fn settle(&mut self, now: Instant) -> Option<usize> {
        loop {
            let at = self.at;
            match &mut self.operations.get_mut(at)?.what {
                What::Again { from, times, left } => {
                    *left -= 1;
                    let back = *from;
                    if *left > 0 {
                        self.go_to(back);
                    } else {
                        *left = *times;
                        self.next();
                    }
                }
                What::Step(step) => {
                    let doing = &mut self.doing;
                    match step {
                        Step::Write(Write { amount, piece, .. }) => {
                            doing.begin(*amount);
                            doing.until = doing.until.filter(|until| *until > now);
                            let size = doing.left.min(piece.as_u64());
                            if !self.output.is_taken() {
                                return Some(at);
                            }
                            if size > 0 && self.stops.is_none_or(|stops| now < stops) {
                                doing.left -= size;
                                self.output.draw(size as usize);
                                return Some(at);
                            }
                            self.next();
                        }
                        Step::Read(Read { until: Until::Amount(amount), .. }) => {
                            doing.begin(*amount);
                            if doing.left > 0 {
                                return Some(at);
                            }
                            self.next();
                        }
                        Step::Sleep(span) => {
                            let span = *span;
                            let until = *doing.until.get_or_insert(now + span);
                            if until > now {
                                return Some(at);
                            }
                            self.has_slept(span, until);
                        }
                        Step::BeginRequest => {
                            self.log.ask(now);
                            self.next();
                        }
                        Step::EndResponse => {
                            self.log.answer(now);
                            self.next();
                        }
                        _ => return Some(at),
                    }
                }
            }
        }
    }

    fn next(&mut self) {
        self.go_to(self.at + 1);
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        self.doing = Doing::default();
    }

    /// A sleep has a row where it stands alone: between repeated calls it would split their rows.
    fn has_slept(&mut self, span: Span, until: Instant) {
        if self.operations[self.at].way_out.is_none() {
            let (began, step) = (Instant::from_nanos(until.as_nanos() - span.as_nanos()), self.at);
            let returned =
                Returned { step, call: "sleep", result: OK.into(), bytes: 0, began, ended: until };
            self.log.write(returned, || span.to_string());
        }
        self.next();
    }

    /// The socket took the first `count` bytes of what [`Want::Write`] offered. The call has
    /// returned when it took all, or when [`Application::returned`] says so.
    ///
    /// # Panics
    /// When nothing, or less, was offered.
    pub fn wrote(&mut self, count: usize, now: Instant) {
        let is_urgent = self.doing.left == 0
            && matches!(&self.operations[self.at].what, What::Step(Step::Write(it)) if it.urgent);
        let bytes = &self.output.left()[..count];
        let marks = is_urgent && count == self.output.left().len();
        self.written.moved(bytes, now, marks);
        self.output.take(count);
        self.urgent += u64::from(marks);
        self.doing.moved += count as u64;
        if self.output.is_taken() {
            self.returned(now);
        }
    }

    /// A write returned although the socket has not taken all that it was given.
    pub fn returned(&mut self, now: Instant) {
        self.record_result(OK.into(), now);
        self.try_later(now);
    }

    /// Whether the call at hand is a write that does not wait and has something left to write,
    /// which it does later.
    fn try_later(&mut self, now: Instant) -> bool {
        let What::Step(Step::Write(Write { retry: Some(span), .. })) =
            &self.operations[self.at].what
        else {
            return false;
        };
        let later = !self.output.is_taken();
        self.doing.until = later.then_some(now + *span);
        later
    }

    /// A read gave `bytes`, at least one.
    pub fn received(&mut self, bytes: &[u8], now: Instant) {
        self.received_in_parts([bytes], now);
    }

    /// A read gave at least one byte, in parts.
    pub fn received_in_parts<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a [u8]>,
        now: Instant,
    ) {
        let mut count = 0;
        for part in parts {
            self.read.take_in(part, false);
            count += part.len() as u64;
        }
        self.read.returned(now);
        self.doing.moved += count;
        self.doing.left = self.doing.left.saturating_sub(count);
        self.record_result(OK.into(), now);
        if let What::Step(Step::Read(Read { until: Until::Once, .. })) =
            &self.operations[self.at].what
        {
            self.next();
        }
    }

    /// A read gave nothing: the other end has closed its sending half.
    pub fn end_of_stream(&mut self, now: Instant) {
        self.finished.get_or_insert(now);
        self.record_result(END.into(), now);
        self.leave();
    }

    /// The urgent byte was read out of band.
    pub fn received_urgent(&mut self, _byte: u8, now: Instant) {
        self.urgent += 1;
        self.doing.moved += 1;
        self.did(now);
    }

    /// Whether the next byte is the urgent one.
    pub fn marked(&mut self, is_at_mark: bool, now: Instant) {
        self.record_result(if is_at_mark { AT_MARK } else { NOT_AT_MARK }.into(), now);
        self.next();
    }

    /// What [`Want`] asked for was done, and there is nothing else to report.
    pub fn did(&mut self, now: Instant) {
        self.started.get_or_insert(now);
        self.record_result(OK.into(), now);
        self.next();
    }

    /// The call failed, with the name of its error as `errno.h` has it.
    pub fn failed(&mut self, errno: impl Into<Cow<'static, str>>, now: Instant) {
        let errno = errno.into();
        let (connects, waits) = match &self.operations[self.at].what {
            What::Step(step) => (matches!(step, Step::Connect | Step::Accept), errno == "EAGAIN"),
            What::Again { .. } => (false, false),
        };
        self.record_result(errno, now);
        if waits && self.try_later(now) {
            return;
        }
        self.output.give_up();
        if connects {
            // There is nothing to do anything with.
            let is_close =
                |operation: &Operation| matches!(operation.what, What::Step(Step::Close));
            let close = self.operations.iter().position(is_close);
            self.go_to(close.unwrap_or(self.operations.len()));
        } else if waits {
            self.next();
        } else {
            self.leave();
        }
    }

    /// The trial's time is over: the pending call gets no result, and no step follows.
    pub fn ran_out(&mut self, now: Instant) {
        if self.settle(now).is_none() {
            return;
        }
        if let Some(until) = self.doing.until
            && let What::Step(Step::Sleep(span)) = &self.operations[self.at].what
        {
            self.doing.call = Some(Instant::from_nanos(until.as_nanos() - span.as_nanos()));
        }
        self.record_result(WAITING.into(), now);
        self.go_to(self.operations.len());
    }

    /// Continues behind this step, and behind all repetitions that enclose it.
    fn leave(&mut self) {
        match self.operations[self.at].way_out {
            Some(out) => self.go_to(out),
            None => self.next(),
        }
    }

    /// The call at hand has returned.
    fn record_result(&mut self, result: Cow<'static, str>, now: Instant) {
        let began = self.doing.call.take().unwrap_or(now);
        let bytes = std::mem::take(&mut self.doing.moved);
        let What::Step(step) = &self.operations[self.at].what else { return };
        let call = name(step);
        let asked = || asked(step);
        let returned = Returned { step: self.at, call, result, bytes, began, ended: now };
        self.log.write(returned, asked);
    }

    /// The reports of both ends of a connection. Of a payload that they share, what has arrived is
    /// hashed first, then the rest of what was sent.
    pub fn reports([client, server]: [&Application; 2]) -> [AppReport; 2] {
        if client.role == Role::Receiver {
            return [client.report(), server.report()];
        }
        let server = server.report();
        [client.report(), server]
    }

    /// Its report so far.
    pub fn report(&self) -> AppReport {
        let mut report = AppReport {
            started: self.started,
            finished: self.finished,
            urgent: (self.urgent > 0).then(|| UrgentReport {
                count: self.urgent,
                rest: self.written.rest.as_ref().map(Digest::hex),
            }),
            log: self.log.rows(),
            exchanges: self.log.exchanges.clone(),
            exchanges_left_out: self.log.exchanges_left_out,
            ..stream::report(self.role, &self.written, &self.read)
        };
        if self.role == Role::Sender && !self.expects {
            report.stray = report.back.take().map_or(Bytes::ZERO, |back| back.bytes);
        }
        report
    }
}

/// Flattens steps into one list, with a jump back at the end of each repetition.
fn lay_out(steps: &[Step], operations: &mut Vec<Operation>) {
    let push = |operations: &mut Vec<Operation>, what| {
        operations.push(Operation { what, way_out: None });
    };
    for step in steps {
        let Step::Repeat { times, steps } = step else {
            push(operations, What::Step(step.clone()));
            continue;
        };
        let from = operations.len();
        lay_out(steps, operations);
        push(operations, What::Again { from, times: *times, left: *times });
        // The outer repetition overwrites what the inner ones said.
        let out = operations.len();
        for operation in &mut operations[from..] {
            operation.way_out = Some(out);
        }
    }
}

#[cfg(test)]
mod tests;
