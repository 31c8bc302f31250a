//! A guest that a script drives: it runs up to the script's time, and stands there.
//!
//! Instants are those of the guest's own clock here.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use tcplab_guests::{Guest, GuestRequest, Sent};
use tcplab_packetdrill::Packet;
use tcplab_recording::GuestReport;
use tcplab_testbed::{CallResult, GuestScript, GuestWork, ScriptOrder, ScriptReport};
use tcplab_units::{Instant, Span};

use crate::error::ConformanceError;

/// How far a guest runs in a turn.
const TURN: Span = Span::from_micros(1);
/// How long after an answer a guest still does what belongs to it.
const SETTLING: Span = Span::from_micros(5);
/// A call that has not returned by then waits for something: what it computes takes no time.
const PATIENCE: Span = Span::from_micros(500);
/// How long a command of a script may take.
const COMMAND: Span = Span::from_secs(600);

/// The guest of a script.
pub(crate) struct ScriptGuest<'a> {
    guest: Guest,
    /// It has not gone beyond this.
    reached: Instant,
    packets: VecDeque<(Instant, Packet)>,
    /// What the application's call returned, and when.
    returned: Option<(Instant, CallResult)>,
    /// The answer to another order.
    answer: Option<ScriptReport>,
    stop: &'a AtomicBool,
    failure: Option<ConformanceError>,
}

impl<'a> ScriptGuest<'a> {
    pub(crate) fn boot(
        request: &GuestRequest<'_>,
        task: GuestScript,
        stop: &'a AtomicBool,
    ) -> Result<ScriptGuest<'a>, ConformanceError> {
        let work =
            serde_json::to_vec(&GuestWork::Script(task)).expect("plain data has a JSON form");
        let (mut guest, answer) = Guest::start(request, &work, stop)?;
        match serde_json::from_slice(&answer) {
            Ok(GuestReport::Ready) => {}
            Ok(GuestReport::Failed { message, remedy }) => {
                return Err(ConformanceError::Failed { message, remedy });
            }
            _ => return Err(guest.over("its first program: a report that nobody expects").into()),
        }
        Ok(ScriptGuest {
            guest,
            reached: Instant::ZERO,
            packets: VecDeque::new(),
            returned: None,
            answer: None,
            stop,
            failure: None,
        })
    }

    /// The time that it has come to.
    pub(crate) fn reached(&self) -> Instant {
        self.reached
    }

    /// Why it cannot go on, if so.
    pub(crate) fn failure(&mut self) -> Option<ConformanceError> {
        self.failure.take()
    }

    /// Hands over an order at `at`, or as soon after as it can hear it, and lets the guest do what
    /// it can do then.
    pub(crate) fn order(&mut self, at: Instant, order: &ScriptOrder) {
        let at = at.max(self.reached);
        let bytes = serde_json::to_vec(order).expect("plain data has a JSON form");
        self.guest.handle_message(at, &bytes);
        let patience = match order {
            ScriptOrder::Shell(_) => COMMAND,
            ScriptOrder::Inject { .. } => SETTLING,
            _ => PATIENCE,
        };
        self.answer = None;
        let has_answer = |guest: &ScriptGuest<'_>| match order {
            ScriptOrder::Call(_) => guest.returned.is_some(),
            _ => guest.answer.is_some(),
        };
        while !has_answer(self) && self.step(at + patience) {}
        let settled = self.reached + SETTLING;
        while self.step(settled) {}
    }

    /// The answer to an order that is no [`ScriptOrder::Call`].
    pub(crate) fn answer(&mut self) -> Option<ScriptReport> {
        self.answer.take()
    }

    /// What the call returned, if it has by `now`; once.
    pub(crate) fn returned(&mut self, now: Instant) -> Option<CallResult> {
        self.returned.take_if(|(at, _)| *at <= now).map(|(_, result)| result)
    }

    /// Lets it do all that is due by `at`.
    pub(crate) fn run_to(&mut self, at: Instant) {
        while self.step(at) {}
    }

    /// The next packet that it has sent by `now`.
    pub(crate) fn packet(&mut self, now: Instant) -> Option<Packet> {
        self.packets.front().filter(|(at, _)| *at <= now)?;
        self.packets.pop_front().map(|(_, packet)| packet)
    }

    /// When something happens next.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        if self.failure.is_some() {
            return None;
        }
        let sent = self.packets.front().map(|(at, _)| *at);
        let returned = self.returned.as_ref().map(|(at, _)| *at);
        [self.guest.poll_at(), sent, returned].into_iter().flatten().min()
    }

    /// Lets it do what is due next, if that is by `limit`.
    fn step(&mut self, limit: Instant) -> bool {
        let next = self.guest.poll_at().filter(|next| *next <= limit);
        let Some(next) = next.filter(|_| self.failure.is_none()) else { return false };
        if let Err(error) = self.turn(next) {
            self.failure = Some(error);
        }
        true
    }

    fn turn(&mut self, at: Instant) -> Result<(), ConformanceError> {
        let until = at + TURN;
        self.guest.run(at, until, self.stop)?;
        self.reached = self.reached.max(until);
        while let Some((at, sent)) = self.guest.poll_sent()? {
            match sent {
                Sent::Message(message) => self.heard(at, &message)?,
                // Its other device carries nothing of a script.
                Sent::Packet(..) | Sent::State(..) => {}
            }
        }
        if self.guest.is_over() { Err(self.guest.over("its process").into()) } else { Ok(()) }
    }

    fn heard(&mut self, at: Instant, message: &[u8]) -> Result<(), ConformanceError> {
        match serde_json::from_slice(message) {
            Ok(ScriptReport::Packet { head, len }) => {
                self.packets.extend(Packet::of_bytes(&head.0, len).map(|packet| (at, packet)));
            }
            Ok(ScriptReport::Returned(result)) => self.returned = Some((at, result)),
            Ok(report) => self.answer = Some(report),
            Err(_) => {
                return match serde_json::from_slice(message) {
                    Ok(GuestReport::Failed { message, remedy }) => {
                        Err(ConformanceError::Failed { message, remedy })
                    }
                    _ => Err(self.guest.over("its first program: a report that is none").into()),
                };
            }
        }
        Ok(())
    }
}
