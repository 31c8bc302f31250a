//! Runs a script against a stack in virtual time.
//!
//! The rules are packetdrill's: injected packets and calls happen at their time; an expected packet
//! must be the next that the stack sends, within the tolerance of its time; numbers are compared as
//! the script counts them ([`translation`]). Contiguous segments are joined until they are as long
//! as the script's line.

mod call;
mod descriptors;
mod dialogue;
mod outbound;
mod outcome;
mod rules;
mod translation;
mod values;

use std::cell::RefCell;
use std::collections::VecDeque;

use tcplab_units::{Instant, Span};

use self::descriptors::Descriptors;
use self::dialogue::Dialogue;
pub use self::dialogue::Line;
use self::outcome::Stop;
pub use self::outcome::{Failure, ScriptOutcome, Unsupported};
use self::rules::Rules;
use self::translation::Connection;
use crate::ast::{Action, Body, Call, Event, IcmpSpec, PacketSpec, Quoted, Script, Shell, Time};
use crate::notation::written;
use crate::packet::Packet;
use crate::python::{Names, Stopped, Trouble};
use crate::shell::{Command, DEFAULTS};
use crate::source::Position;
use crate::subject::{Outcome, ShellFailure, Subject};

/// Runs `script` against `subject`, from time zero on.
pub fn run(script: &Script, subject: &mut dyn Subject) -> ScriptOutcome {
    watch(script, subject).0
}

/// Runs `script` and returns everything that happened, too.
pub fn watch(script: &Script, subject: &mut dyn Subject) -> (ScriptOutcome, Vec<Line>) {
    let rules = match Rules::of(&script.options) {
        Ok(rules) => rules,
        Err(stop) => return (stop.into(), Vec::new()),
    };
    let mut runner = Runner {
        rules,
        subject,
        now: Instant::ZERO,
        last: None,
        connection: Connection::none(),
        sent: VecDeque::new(),
        descriptors: Descriptors::default(),
        names: Names::default(),
        blocked: None,
        dialogue: Dialogue::default(),
    };
    let verdict = match runner.script(script) {
        Ok(()) => ScriptOutcome::Passed(runner.leftovers()),
        Err(stop) => stop.into(),
    };
    (verdict, runner.into_dialogue())
}

struct Runner<'a> {
    rules: Rules,
    subject: &'a mut dyn Subject,
    now: Instant,
    last: Option<Last>,
    connection: Connection,
    /// What the stack sent and no line has expected yet.
    sent: VecDeque<Sent>,
    descriptors: Descriptors,
    names: Names,
    blocked: Option<Blocked<'a>>,
    dialogue: Dialogue,
}

/// What the stack has sent.
struct Sent {
    time: Instant,
    packet: Packet,
    /// In the dialogue.
    place: u64,
}

/// The event before.
#[derive(Clone, Copy)]
struct Last {
    /// When the script says it was.
    time: Instant,
    inbound: bool,
}

/// A call that has not returned.
struct Blocked<'a> {
    at: Position,
    call: &'a Call,
    started: Instant,
    until: Instant,
    /// When it returned, and what.
    returned: Option<(Instant, Outcome)>,
}

/// An event's time on the run's clock.
#[derive(Clone, Copy)]
struct Due {
    from: Instant,
    /// Equals `from`, unless a range is given.
    to: Instant,
    any: bool,
}

/// How often in a row a stack may be woken without time passing.
const MOST_WAKES_AT_ONCE: u32 = 100_000;

impl<'a> Runner<'a> {
    fn script(&mut self, script: &'a Script) -> Result<(), Stop> {
        for flag in &script.options {
            let name = match flag.name.as_str() {
                name @ ("ip_version" | "local_ip" | "remote_ip") => format!("host.{name}"),
                "mtu" => "device.mtu".into(),
                _ => continue,
            };
            self.set(flag.at, &name, flag.value.as_deref().unwrap_or_default())?;
        }
        if let Some(init) = &script.init {
            self.shell(init)?;
        }
        for event in &script.events {
            self.event(event)?;
        }
        self.await_blocked()
    }

    fn event(&mut self, event: &'a Event) -> Result<(), Stop> {
        let inbound = matches!(event.action, Action::Inbound(_));
        let (due, anchor) = self.due(event.time, inbound);
        match &event.action {
            Action::Inbound(spec) => {
                self.wait(event.at, due, "the injected packet")?;
                self.inject(event.at, spec)?;
            }
            Action::Outbound(spec) => self.expect(event, spec, due)?,
            Action::Call(call) => {
                self.await_blocked()?;
                self.wait(event.at, due, "the call")?;
                let until = call.until.map(|until| anchor + until);
                self.call(event.at, call, due.from, until)?;
            }
            Action::Shell(shell) => {
                self.wait(event.at, due, "the command")?;
                self.shell(shell)?;
            }
            Action::Code(code) => {
                self.wait(event.at, due, "the code")?;
                self.code(code)?;
            }
        }
        self.last = Some(Last { time: due.from, inbound });
        Ok(())
    }

    /// When an event is due, and what its times count from. Times with `+` count from the end of
    /// the event before; between two injected packets from the time of the first, so that they do
    /// not drift.
    fn due(&self, time: Time, inbound: bool) -> (Due, Instant) {
        let anchor = match self.last {
            Some(last) if last.inbound && inbound => last.time,
            _ => self.now,
        };
        let (start, from, to) = match time {
            Time::At(at) => (Instant::ZERO, at, at),
            Time::Between(from, to) => (Instant::ZERO, from, to),
            Time::After(span) => (anchor, span, span),
            Time::AfterBetween(from, to) => (anchor, from, to),
            Time::Any => (self.now, Span::ZERO, Span::ZERO),
        };
        (Due { from: start + from, to: start + to, any: time == Time::Any }, start)
    }

    /// Lets time pass until an event is due. Earlier events may have been late.
    fn wait(&mut self, at: Position, due: Due, what: &str) -> Result<(), Stop> {
        self.advance(at, due.from)?;
        let since = self.last.map_or(Instant::ZERO, |last| last.time);
        let late = self.now.since(due.from);
        let tolerance = self.rules.tolerance(due.from.since(since));
        if late > tolerance {
            let what = format!(
                "{what} was due at {} but was possible only at {}",
                written(due.from),
                written(self.now)
            );
            return Err(Stop::failed(at, what));
        }
        // A call that waited and has returned counts from then on: its descriptor can be used.
        if self.blocked.as_ref().is_some_and(|blocked| blocked.returned.is_some()) {
            self.await_blocked()?;
        }
        Ok(())
    }

    /// Lets the stack work until `to`.
    fn advance(&mut self, at: Position, to: Instant) -> Result<(), Stop> {
        self.collect();
        while self.wake_before(at, to)? {}
        self.now = self.now.max(to);
        Ok(())
    }

    /// Goes on to the next time the stack wants to be woken, if that is not after `to`.
    fn wake_before(&mut self, at: Position, to: Instant) -> Result<bool, Stop> {
        let mut wakes = 0;
        let Some(mut next) = self.subject.wake_at().filter(|next| *next <= to) else {
            return Ok(false);
        };
        loop {
            self.now = self.now.max(next);
            self.subject.wake(self.now);
            self.collect();
            match self.subject.wake_at() {
                Some(again) if again <= self.now => next = again,
                _ => return Ok(true),
            }
            wakes += 1;
            if wakes == MOST_WAKES_AT_ONCE {
                let what = format!("the stack wakes without end at {}", written(self.now));
                return Err(Stop::failed(at, what));
            }
        }
    }

    /// Takes what the stack sends and what it returns now.
    fn collect(&mut self) {
        while let Some(packet) = self.subject.transmit(self.now) {
            let place = self.dialogue.place();
            self.sent.push_back(Sent { time: self.now, packet, place });
        }
        if let Some(blocked) = self.blocked.as_mut().filter(|blocked| blocked.returned.is_none()) {
            blocked.returned = self.subject.returned(self.now).map(|outcome| (self.now, outcome));
        }
    }

    fn inject_icmp(&mut self, at: Position, icmp: &IcmpSpec) -> Result<(), Stop> {
        let seq = match icmp.quoted {
            Quoted::Unsaid => 0,
            Quoted::Tcp(seq, _) => seq,
            Quoted::Udp(_) | Quoted::Raw(_) => {
                return Err(Stop::unsupported(at, "ICMP about other packets than TCP segments"));
            }
        };
        let message = self.connection.icmp(icmp, seq);
        self.subject
            .receive_icmp(self.now, &message)
            .map_err(|refusal| Stop::unsupported(at, refusal.0))?;
        self.collect();
        Ok(())
    }

    fn inject(&mut self, at: Position, spec: &PacketSpec) -> Result<(), Stop> {
        if let (Body::Icmp(icmp), []) = (&spec.body, spec.encapsulations.as_slice()) {
            self.dialogue.did(self.now, at, format!("< {spec}"));
            return self.inject_icmp(at, icmp);
        }
        let tcp = tcp_alone(at, spec)?;
        let mut packet = self
            .connection
            .inbound(spec, tcp, self.rules.echoes_scaled)
            .map_err(|what| Stop::failed(at, what))?;
        packet.joined = self.rules.joined.filter(|mss| packet.len > *mss);
        self.dialogue.did(self.now, at, format!("< {spec}"));
        self.subject
            .receive(self.now, &packet)
            .map_err(|refusal| Stop::unsupported(at, refusal.0))?;
        self.collect();
        Ok(())
    }

    fn shell(&mut self, shell: &Shell) -> Result<(), Stop> {
        match self.subject.run_shell(self.now, shell) {
            Some(Ok(ended)) => {
                self.now = self.now.max(ended);
                self.collect();
                return Ok(());
            }
            Some(Err(ShellFailure::Refused(refusal))) => {
                return Err(Stop::unsupported(shell.at, refusal.0));
            }
            Some(Err(ShellFailure::Failed(what))) => return Err(Stop::failed(shell.at, what)),
            None => {}
        }
        for command in &shell.commands {
            match command {
                Command::Set(all) => {
                    for (name, value) in all {
                        self.set(shell.at, name, value)?;
                    }
                }
                Command::File(path) if path.ends_with("defaults.sh") => {
                    for (name, value) in DEFAULTS {
                        self.set(shell.at, name, value)?;
                    }
                }
                Command::File(path) => {
                    let construct = format!("the file `{path}`, which is not there");
                    return Err(Stop::unsupported(shell.at, construct));
                }
                Command::Restore | Command::Aside(_) => {}
                Command::Count { state, count, held } => {
                    let found = self.subject.count_in_state(state, *held);
                    let found = found.map_err(|refusal| Stop::unsupported(shell.at, refusal.0))?;
                    if !found.to_string().contains(count.as_str()) {
                        let what = format!("{found} connections are in {state}, expected {count}");
                        return Err(Stop::failed(shell.at, what));
                    }
                }
                Command::Drop(state) => {
                    let done = self.subject.drop_in_state(self.now, state);
                    done.map_err(|refusal| Stop::unsupported(shell.at, refusal.0))?;
                }
                Command::Network(text) => {
                    let program = text.split(' ').next().unwrap_or_default();
                    // A queue that just queues changes nothing where there is none.
                    let flushes = text.contains("tcp_metrics flush");
                    if flushes {
                        // A stack that remembers nothing need not forget.
                        let _ = self.subject.set(self.now, "host.tcp_metrics", "flush");
                    }
                    if text.starts_with("tc qdisc") && text.ends_with("root fq") {
                        self.set(shell.at, "device.qdisc", "fq")?;
                    } else if !flushes && !text.ends_with("root pfifo") {
                        let construct = format!("the command `{program}`");
                        return Err(Stop::unsupported(shell.at, construct));
                    }
                }
                Command::Unknown(text) => {
                    let construct = format!("the command `{text}`");
                    return Err(Stop::unsupported(shell.at, construct));
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, at: Position, name: &str, value: &str) -> Result<(), Stop> {
        let refused = |refusal: crate::Refusal| {
            Stop::unsupported(at, format!("{name} = {value}: {}", refusal.0))
        };
        self.subject.set(self.now, name, value).map_err(refused)
    }

    fn code(&mut self, code: &crate::ast::Code) -> Result<(), Stop> {
        let fd = self.connection.fd();
        let (now, subject) = (self.now, RefCell::new(&mut *self.subject));
        let field = |name: &str| subject.borrow_mut().tcp_info(now, fd?, name);
        let dialogue = &mut self.dialogue;
        let mut print = |text: String| dialogue.did(now, code.at, format!("printed: {text}"));
        let ran = code.program.run(&mut self.names, &field, &mut print);
        ran.map_err(|Stopped { at, trouble }| {
            let at = code.at.behind(&code.text[..at]);
            match trouble {
                Trouble::UnknownName(name) if name.starts_with("tcpi_") => {
                    Stop::unsupported(at, format!("the field `{name}` of tcp_info"))
                }
                Trouble::UnknownName(name) if name.starts_with("SK_MEMINFO_") => {
                    Stop::unsupported(at, format!("the field `{name}` of SO_MEMINFO"))
                }
                trouble @ Trouble::Call(_) => Stop::unsupported(at, trouble.to_string()),
                trouble => Stop::failed(at, trouble.to_string()),
            }
        })
    }

    /// What was sent and not expected.
    fn leftovers(&self) -> Vec<String> {
        let own = self.sent.iter().filter(|sent| self.connection.has_sent(&sent.packet));
        own.map(|sent| {
            format!("{} > {}", written(sent.time), self.connection.outbound(&sent.packet))
        })
        .collect()
    }

    /// Writes down what was sent, as the script counts now.
    fn note_sent(&mut self, sent: &Sent) {
        let Sent { time, packet, place } = sent;
        let text = format!("> {}", self.connection.outbound(packet));
        self.dialogue.put(*place, Line { time: *time, at: None, text, cause: packet.cause });
    }

    fn into_dialogue(mut self) -> Vec<Line> {
        self.collect();
        for sent in std::mem::take(&mut self.sent) {
            self.note_sent(&sent);
        }
        self.dialogue.into_lines()
    }
}

/// The segment of a packet, if the packet has no unsupported parts.
fn tcp_alone(at: Position, spec: &PacketSpec) -> Result<&crate::ast::TcpSpec, Stop> {
    let refused = |construct: &str| Err(Stop::unsupported(at, construct));
    match (&spec.body, spec.encapsulations.first(), spec.psp) {
        (Body::Udp(_), ..) => refused("UDP packets"),
        (Body::Icmp(_), ..) => refused("ICMP packets"),
        (Body::Foreign(name, _), ..) => refused(&format!("{name} packets")),
        (_, Some(_), _) => refused("packets in outer headers"),
        (.., Some(_)) => refused("PSP"),
        _ if spec.udp.is_some() => refused("TCP in UDP"),
        _ if spec.ip.flow_label.is_some() => refused("flow labels"),
        _ if spec.ip.ttl.is_some() => refused("times to live"),
        (Body::Tcp(tcp), ..) => Ok(tcp),
    }
}
