//! A guest: its turns, its frames and its messages.

use std::collections::VecDeque;
use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as RealInstant;

use tcplab_units::{Instant, Span};

use crate::calendar::{self, Calendar, LOOK, Turn};
use crate::console::Console;
use crate::error::GuestError;
use crate::launch::{BOOT_UNIX_NANOS, Process, ZERO_NANOS};
use crate::memory::SharedMemory;
use crate::request::GuestRequest;
use crate::ring::{self, Content, Record};
use crate::sent::Sent;
use crate::watch::{Fault, Watch};

/// How long its turns are while it boots.
const BOOT_STEP: Span = Span::from_millis(4);

/// A kernel that runs in a process of its own, when its owner says so.
///
/// All instants are those of the trial, whose zero is a second after the guest's start.
#[derive(Debug)]
pub struct Guest {
    // Ended first: a kernel whose clock is gone panics.
    process: Process,
    memory: SharedMemory,
    calendar: Calendar,
    /// What is still to arrive and not in the ring yet, in order of time.
    arrivals: VecDeque<(Instant, Arrival)>,
    /// The beginning of a message that it sends.
    incoming: Vec<u8>,
    /// Whether its process has closed the connection.
    is_gone: bool,
    /// The time of its last turn, and until when it might run in it.
    at: Instant,
    until: Instant,
    watch: Watch,
}

#[derive(Debug)]
enum Arrival {
    Packet(Vec<u8>, bool),
    Message(Vec<u8>),
}

/// A message is one or more records that begin with one of these: there are more, or this is the
/// last.
const MORE: u8 = 0;
const LAST: u8 = 1;
/// Bytes of a message in a record.
const PIECE: usize = 64 << 10;
/// The longest message, bytes.
const MOST: usize = 64 << 20;

impl Guest {
    /// Starts a guest, lets it boot until its first program sends a message, answers that with the
    /// `task`, and gives the message that comes then. Packets that it sends before are lost.
    ///
    /// # Errors
    /// When it cannot be started, ends before that, or takes longer than the second that it has;
    /// [`GuestError::Stopped`] soon after `stop` is set.
    pub fn start(
        request: &GuestRequest<'_>,
        task: &[u8],
        stop: &AtomicBool,
    ) -> Result<(Guest, Vec<u8>), GuestError> {
        let memory = SharedMemory::new(ring::SIZE).map_err(GuestError::setup("share memory"))?;
        calendar::lay_out(&memory, ring::SIZE);
        ring::lay_out(&memory, request.cuts, request.response);
        let connecting = || GuestError::setup("connect the clock");
        let (mut process, socket) = Process::start(request)?;
        let mut watch = Watch::new(request.longest_turn, RealInstant::now());
        while !calendar::is_readable(socket.as_fd(), LOOK).map_err(connecting())? {
            if stop.load(Ordering::Relaxed) {
                return Err(GuestError::Stopped);
            }
            judge(&mut process, &mut watch, Instant::ZERO)?;
        }
        let calendar = match Calendar::begin(socket, &memory) {
            // Its end of the connection went with it.
            Err(error) if matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe) => {
                let (status, said) = process.ended_by_itself();
                return Err(GuestError::Ended { at: Instant::ZERO, status, said });
            }
            begun => begun.map_err(connecting())?,
        };
        let mut guest = Guest {
            memory,
            calendar,
            process,
            arrivals: VecDeque::new(),
            incoming: Vec::new(),
            is_gone: false,
            at: Instant::ZERO,
            until: Instant::ZERO,
            watch,
        };
        guest.await_turn(stop)?;
        guest.boot(stop)?;
        let now = guest.next_turn();
        for piece in pieces(task) {
            let put = ring::put(&guest.memory, now, Content::Message(&piece));
            if !put.map_err(GuestError::setup("hand over its task"))? {
                return Err(guest.over("its task is too long"));
            }
        }
        let answer = guest.boot(stop)?;
        // What is due before the trial begins.
        let zero = Instant::from_nanos(ZERO_NANOS);
        while let Some(at) = calendar::request(&guest.memory).filter(|at| *at < zero) {
            guest.turn(at, zero, stop)?;
        }
        Ok((guest, answer))
    }

    /// Lets it run until it sends a message.
    fn boot(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, GuestError> {
        let zero = Instant::from_nanos(ZERO_NANOS);
        loop {
            while let Some((_, sent)) = self.take()? {
                if let Sent::Message(message) = sent {
                    return Ok(message);
                }
            }
            let request = calendar::request(&self.memory);
            // What is in the ring is noticed in the next turn.
            let waits = ring::holds_arrivals(&self.memory);
            let next = if waits { Some(self.next_turn()) } else { request };
            match next {
                Some(at) if at < zero && !self.is_gone => {
                    self.turn(at, (at + BOOT_STEP).min(zero), stop)?;
                }
                _ => return Err(self.over("it sent no message in the second that it boots in")),
            }
        }
    }

    /// A time that it has not come to yet, and for which it need not have asked.
    fn next_turn(&self) -> Instant {
        calendar::request(&self.memory).map_or(self.until, |at| at.min(self.until))
    }

    /// When it wants to run next, or something arrives; never if it has ended.
    pub fn poll_at(&self) -> Option<Instant> {
        if self.is_gone {
            return None;
        }
        let wish = calendar::request(&self.memory).map(of_trial);
        let arrival = self.arrivals.front().map(|(at, _)| *at);
        wish.into_iter().chain(arrival).min()
    }

    /// Whether its process has ended.
    pub fn is_over(&self) -> bool {
        self.is_gone
    }

    /// An IP packet is to arrive at `at`, not before what is to arrive already. Its checksum is
    /// right if it is `checked`, so that the guest need not look.
    pub fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, checked: bool) {
        self.arrivals.push_back((at, Arrival::Packet(packet, checked)));
    }

    /// A message for the first program is to arrive at `at`, as [`Guest::handle_packet`].
    pub fn handle_message(&mut self, at: Instant, message: &[u8]) {
        self.arrivals.extend(pieces(message).map(|piece| (at, Arrival::Message(piece))));
    }

    /// Lets it run from `at`, which is [`Guest::poll_at`], to all of its events before `until`, or
    /// before an answer may come to what it sends meanwhile. All that arrives before `until` is
    /// known.
    ///
    /// # Errors
    /// When it broke a protocol or does not stop to compute; [`GuestError::Stopped`] soon after
    /// `stop` is set.
    pub fn run(
        &mut self,
        at: Instant,
        until: Instant,
        stop: &AtomicBool,
    ) -> Result<(), GuestError> {
        // What happens at one instant needs no turn each.
        let until = until.max(at + Span::from_nanos(1));
        while let Some((due, arrival)) = self.arrivals.front()
            && *due < until
        {
            let content = match arrival {
                Arrival::Packet(bytes, checked) => Content::Packet(bytes, *checked),
                Arrival::Message(bytes) => Content::Message(bytes),
            };
            let put = ring::put(&self.memory, of_guest(*due), content);
            if !put.map_err(GuestError::setup("hand over a packet"))? {
                break;
            }
            self.arrivals.pop_front();
            self.watch.exchange(RealInstant::now());
        }
        // What found no room comes with a later turn.
        let until = self.arrivals.front().map_or(until, |(due, _)| until.min(*due));
        self.turn(of_guest(at), of_guest(until), stop)
    }

    /// The next thing that it has sent, and when.
    ///
    /// # Errors
    /// When it broke the protocol of its rings.
    pub fn poll_sent(&mut self) -> Result<Option<(Instant, Sent)>, GuestError> {
        self.take().map(|taken| taken.map(|(at, sent)| (of_trial(at), sent)))
    }

    /// Records that it could not send, as its ring was full.
    pub fn dropped(&self) -> u64 {
        ring::dropped(&self.memory)
    }

    /// What its kernel prints on its console.
    pub fn console(&self) -> Console {
        self.process.console()
    }

    /// The last that it said on its console, for an error.
    pub fn over(&mut self, what: &str) -> GuestError {
        if self.is_gone {
            let (status, said) = self.process.ended_by_itself();
            return GuestError::Ended { at: of_trial(self.at), status, said };
        }
        let (_, said) = self.process.end();
        GuestError::Protocol { what: what.into(), said }
    }

    fn turn(&mut self, at: Instant, until: Instant, stop: &AtomicBool) -> Result<(), GuestError> {
        (self.at, self.until) = (at, until);
        let now = RealInstant::now();
        self.watch.turn(at, now);
        if self.watch.is_due(now) {
            judge(&mut self.process, &mut self.watch, of_trial(at))?;
        }
        let ran = self.calendar.run(&self.memory, at, until);
        ran.map_err(GuestError::setup("let it run"))?;
        self.await_turn(stop)
    }

    fn await_turn(&mut self, stop: &AtomicBool) -> Result<(), GuestError> {
        loop {
            let turn = self.calendar.turn(&self.memory, BOOT_UNIX_NANOS);
            match turn.map_err(GuestError::setup("read its clock"))? {
                Turn::Waits => return Ok(()),
                Turn::Gone => {
                    self.is_gone = true;
                    return Ok(());
                }
                Turn::Restarts => {
                    self.is_gone = true;
                    self.process.end_as("it began again: it was rebooted");
                    return Ok(());
                }
                Turn::Runs => {}
            }
            if stop.load(Ordering::Relaxed) {
                return Err(GuestError::Stopped);
            }
            judge(&mut self.process, &mut self.watch, of_trial(self.at))?;
        }
    }

    /// The next whole thing that it has sent, by its own clock.
    fn take(&mut self) -> Result<Option<(Instant, Sent)>, GuestError> {
        let taken = self.take_whole()?;
        if taken.is_some() {
            self.watch.exchange(RealInstant::now());
        }
        Ok(taken)
    }

    fn take_whole(&mut self) -> Result<Option<(Instant, Sent)>, GuestError> {
        let failed = |guest: &mut Guest, what| {
            let (_, said) = guest.process.end();
            Err(GuestError::Protocol { what: format!("its network device: {what}"), said })
        };
        loop {
            match ring::take(&self.memory) {
                Err(what) => return failed(self, what),
                Ok(None) => return Ok(None),
                Ok(Some((at, Record::Packet(header, packet)))) => {
                    return Ok(Some((at, Sent::Packet(header, packet))));
                }
                Ok(Some((at, Record::State(watch, info)))) => {
                    return Ok(Some((at, Sent::State(watch, info))));
                }
                Ok(Some((at, Record::Message(piece)))) => match piece.split_first() {
                    Some((&MORE, bytes)) => self.incoming.extend_from_slice(bytes),
                    Some((&LAST, bytes)) => {
                        self.incoming.extend_from_slice(bytes);
                        return Ok(Some((at, Sent::Message(std::mem::take(&mut self.incoming)))));
                    }
                    _ => return failed(self, "a message without a beginning".into()),
                },
            }
            if self.incoming.len() > MOST {
                return failed(self, "a message without an end".into());
            }
        }
    }
}

/// Ends a guest that computes without end; `at` is its clock's time in the trial.
fn judge(process: &mut Process, watch: &mut Watch, at: Instant) -> Result<(), GuestError> {
    let Some(fault) = watch.look(RealInstant::now(), || process.computed()) else { return Ok(()) };
    let (_, said) = process.end();
    Err(match fault {
        Fault::Spins(computed) => {
            let computed = Span::from_millis(computed.as_millis() as u64);
            GuestError::Spins { at, computed, said }
        }
        Fault::Stuck(real) => {
            let what = format!("its clock: it has neither computed nor waited for {real:.0?}");
            GuestError::Protocol { what, said }
        }
    })
}

/// The records that carry a message.
fn pieces(message: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let count = message.len().div_ceil(PIECE).max(1);
    (0..count).map(move |nth| {
        let bytes = &message[nth * PIECE..message.len().min((nth + 1) * PIECE)];
        [&[if nth + 1 == count { LAST } else { MORE }], bytes].concat()
    })
}

fn of_guest(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_add(ZERO_NANOS))
}

fn of_trial(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(ZERO_NANOS))
}
