//! A connection apart from its socket: what was read and not yet used, what is to be sent, and when
//! it has taken too long. Every design carries these.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::calendar::Moment;
use crate::config::Limits;
use crate::output::{After, Output};
use crate::service::{Phase, Session};

/// A client that sent data this recently is not done yet.
const QUIET: Duration = Duration::from_millis(100);

/// One connection, without its socket and without a clock.
pub(crate) struct Conversation {
    session: Box<dyn Session>,
    /// Received, and not yet taken by the session.
    unread: Vec<u8>,
    output: Output,
    stage: Stage,
    has_ended: bool,
    /// Output was [taken](Conversation::take), and is not sent yet.
    is_in_flight: bool,
    /// When a byte last moved.
    moved: Instant,
    /// When the request that is arriving began to.
    arriving_since: Option<Instant>,
    /// The server is stopping: until when it may wait for another request.
    last_request: Option<Instant>,
    is_late: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// All is sent, and so is our end; what the client still sends is thrown away until then.
    Lingering(Instant),
    Over(End),
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As both sides wanted.
    Orderly,
    /// It took too long.
    TimedOut,
    /// The client reset it.
    Reset,
    /// It could not go on: a file has become shorter, the network is gone.
    Broken,
    /// The server had to stop before it was finished.
    Cut,
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To read, to write, or both.
    Go {
        /// There is room for what the client sends.
        read: bool,
        /// There is something to be sent.
        write: bool,
    },
    /// To end its own direction: then [`Conversation::hung_up`].
    HangUp,
    /// To be closed.
    Close(End),
}

impl Conversation {
    /// A connection that was just made.
    pub(crate) fn begin(mut session: Box<dyn Session>, now: Instant, moment: &Moment) -> Self {
        let mut output = Output::default();
        session.advance(&[], moment, &mut output);
        Conversation {
            session,
            unread: Vec::new(),
            output,
            stage: Stage::Open,
            has_ended: false,
            is_in_flight: false,
            moved: now,
            arriving_since: None,
            last_request: None,
            is_late: false,
        }
    }

    pub(crate) fn wish(&self) -> Wish {
        match self.stage {
            Stage::Over(end) => Wish::Close(end),
            Stage::Lingering(_) => Wish::Go { read: true, write: false },
            Stage::Open if self.output.is_empty() => match self.output.after() {
                After::Close => Wish::Close(End::Orderly),
                After::Linger if self.has_ended => Wish::Close(End::Orderly),
                After::Linger => Wish::HangUp,
                After::Continue => Wish::Go { read: !self.has_ended, write: false },
            },
            Stage::Open => {
                let listens = self.session.always_listens();
                Wish::Go { read: listens && !self.has_ended, write: true }
            }
        }
    }

    /// These bytes were received.
    pub(crate) fn received(&mut self, bytes: &[u8], now: Instant, moment: &Moment) {
        if self.stage != Stage::Open {
            return;
        }
        self.moved = now;
        if self.unread.is_empty() {
            let taken = self.session.advance(bytes, moment, &mut self.output);
            self.unread.extend_from_slice(&bytes[taken..]);
        } else {
            self.unread.extend_from_slice(bytes);
            self.advance(moment);
        }
        self.note_arrival(now);
    }

    /// The client has ended its direction.
    pub(crate) fn received_end(&mut self, now: Instant, moment: &Moment) {
        self.moved = now;
        self.has_ended = true;
        match self.stage {
            Stage::Open => self.end_if_used_up(moment),
            Stage::Lingering(_) => self.stage = Stage::Over(End::Orderly),
            Stage::Over(_) => {}
        }
    }

    /// The bytes to send; [`sent`](Self::sent) says that some were sent.
    pub(crate) fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// Takes all output but files, to be sent whole before [`sent`](Self::sent) is called.
    pub(crate) fn take(&mut self) -> Cow<'static, [u8]> {
        self.is_in_flight = true;
        self.output.take_pending()
    }

    /// Some of the output was sent; when that was all, the session continues.
    pub(crate) fn sent(&mut self, now: Instant, moment: &Moment) {
        self.moved = now;
        self.is_in_flight = false;
        if self.output.is_empty() && self.output.after() == After::Continue {
            self.advance(moment);
            self.note_arrival(now);
            if self.has_ended {
                self.end_if_used_up(moment);
            }
        }
    }

    /// Our direction is ended, as [`Wish::HangUp`] asked.
    pub(crate) fn hung_up(&mut self, now: Instant) {
        if self.stage == Stage::Open {
            self.stage = Stage::Lingering(now + Limits::LINGER);
        }
    }

    /// It cannot go on.
    pub(crate) fn fail(&mut self, end: End) {
        // A client that resets after the whole answer has lost nothing.
        let is_told_all = matches!(self.stage, Stage::Lingering(_));
        self.stage = Stage::Over(if is_told_all { End::Orderly } else { end });
    }

    /// The server is about to stop: the connection ends with the next answer, and soon if there is
    /// nothing to be answered.
    pub(crate) fn stop(&mut self, now: Instant) {
        if self.last_request.is_none() {
            self.session.stop();
            self.last_request = Some(now + Limits::LAST_REQUEST);
        }
    }

    /// When it next needs attention without an event.
    pub(crate) fn deadline(&self, limits: &Limits) -> Instant {
        match (self.stage, self.arriving_since, self.last_request) {
            (Stage::Lingering(until), _, _) => until,
            (_, Some(since), _) if !self.is_late && self.output.is_empty() => {
                since + limits.request
            }
            (_, _, Some(until)) if self.is_idle() => until.max(self.moved + QUIET),
            _ => self.moved + limits.idle,
        }
    }

    /// Ends it, if it is cut off, or does what it is time for; whether there was anything to do. Of
    /// a connection that is cut off, `cut` says whether its socket holds something unread.
    pub(crate) fn look(
        &mut self,
        cut: Option<bool>,
        now: Instant,
        moment: &Moment,
        limits: &Limits,
    ) -> bool {
        if let Some(has_unread) = cut {
            self.cut(has_unread);
        } else if now < self.deadline(limits) {
            return false;
        }
        self.check(now, moment, limits);
        true
    }

    /// Does it, if the time has come.
    pub(crate) fn check(&mut self, now: Instant, moment: &Moment, limits: &Limits) {
        if now < self.deadline(limits) || matches!(self.stage, Stage::Over(_)) {
            return;
        }
        let is_arriving = self.arriving_since.is_some();
        if self.stage == Stage::Open && is_arriving && !self.is_late && self.output.is_empty() {
            self.is_late = true;
            self.moved = now;
            self.session.late(moment, &mut self.output);
            if !self.output.is_empty() {
                return;
            }
        }
        let is_open = self.stage == Stage::Open;
        if is_open && self.last_request.is_some() && self.is_idle() {
            // Its next request may be in flight, and must not reset the connection.
            self.output.end(After::Linger);
            return;
        }
        // Without a pending response, the client loses nothing.
        let is_orderly = !is_open || self.is_idle();
        self.stage = Stage::Over(if is_orderly { End::Orderly } else { End::TimedOut });
    }

    /// The server cannot wait any longer. What the socket holds unread, the kernel resets.
    pub(crate) fn cut(&mut self, has_unread: bool) {
        let is_orderly = self.stage != Stage::Open || self.is_idle() && !has_unread;
        self.fail(if is_orderly { End::Orderly } else { End::Cut });
    }

    /// Whether it owes its client nothing.
    fn is_idle(&self) -> bool {
        let is_all_sent = self.output.is_empty() && !self.is_in_flight;
        is_all_sent && self.unread.is_empty() && self.session.phase() == Phase::Idle
    }

    fn advance(&mut self, moment: &Moment) {
        let taken = self.session.advance(&self.unread, moment, &mut self.output);
        if taken == self.unread.len() {
            self.unread = Vec::new();
        } else {
            self.unread.drain(..taken);
        }
    }

    /// Once the client has ended and the session waits for more, there will be no more.
    fn end_if_used_up(&mut self, moment: &Moment) {
        if self.output.is_empty() && self.output.after() == After::Continue {
            self.session.end(&self.unread, moment, &mut self.output);
            self.unread = Vec::new();
        } else if self.session.always_listens() {
            self.session.end(&[], moment, &mut self.output);
        }
    }

    fn note_arrival(&mut self, now: Instant) {
        if self.session.phase() == Phase::Request {
            self.arriving_since.get_or_insert(now);
        } else {
            self.arriving_since = None;
        }
    }
}

/// How long to wait until `deadline`, at least a little, to avoid a busy loop.
pub(crate) fn until(deadline: Instant, now: Instant) -> Duration {
    deadline.saturating_duration_since(now).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Service;
    use crate::service::chargen::{Chargen, characters};
    use crate::service::inetd::{Daytime, Discard, Echo};

    const LIMITS: Limits = Limits {
        connections: 1,
        idle: Duration::from_secs(60),
        request: Duration::from_secs(10),
        drain: Duration::from_secs(5),
    };

    fn moment() -> Moment {
        Moment::at(784_111_777)
    }

    fn begin(service: &dyn Service, now: Instant) -> Conversation {
        Conversation::begin(service.open(), now, &moment())
    }

    const READ: Wish = Wish::Go { read: true, write: false };
    const WRITE: Wish = Wish::Go { read: false, write: true };

    /// Sends all there is.
    fn drain(conversation: &mut Conversation, now: Instant) -> Vec<u8> {
        let bytes = conversation.take();
        conversation.sent(now, &moment());
        bytes.into_owned()
    }

    #[test]
    fn connection_that_is_cut_unread_is_not_orderly() {
        let now = Instant::now();
        for (has_unread, end) in [(false, End::Orderly), (true, End::Cut)] {
            let mut echo = begin(&Echo, now);
            assert!(echo.look(Some(has_unread), now, &moment(), &LIMITS));
            assert_eq!(echo.wish(), Wish::Close(end));
        }
        // Who has all of its answer loses nothing.
        let mut daytime = begin(&Daytime, now);
        drain(&mut daytime, now);
        daytime.hung_up(now);
        daytime.cut(true);
        assert_eq!(daytime.wish(), Wish::Close(End::Orderly));
    }

    #[test]
    fn echo_answers_before_it_reads_more() {
        let now = Instant::now();
        let mut echo = begin(&Echo, now);
        assert_eq!(echo.wish(), READ);
        let much = vec![7; 3 * Output::FULL];
        echo.received(&much, now, &moment());
        assert_eq!(echo.wish(), WRITE, "who does not read is not read from");
        echo.received_end(now, &moment());
        for _ in 0..3 {
            assert_eq!(echo.wish(), WRITE);
            assert_eq!(drain(&mut echo, now), vec![7; Output::FULL]);
        }
        assert_eq!(echo.wish(), Wish::Close(End::Orderly));
    }

    #[test]
    fn daytime_says_it_and_hangs_up() {
        let now = Instant::now();
        let mut daytime = begin(&Daytime, now);
        assert_eq!(daytime.wish(), WRITE);
        assert_eq!(drain(&mut daytime, now), b"Sun Nov  6 08:49:37 1994\r\n");
        assert_eq!(daytime.wish(), Wish::HangUp);
        daytime.hung_up(now);
        assert_eq!(daytime.wish(), READ);
        daytime.received(b"what else?", now, &moment());
        assert_eq!(daytime.deadline(&LIMITS), now + Limits::LINGER);
        daytime.received_end(now, &moment());
        assert_eq!(daytime.wish(), Wish::Close(End::Orderly));
    }

    #[test]
    fn chargen_never_ends_and_discards_input() {
        let now = Instant::now();
        let mut chargen = begin(&Chargen, now);
        let mut stream = Vec::new();
        for _ in 0..3 {
            assert_eq!(chargen.wish(), Wish::Go { read: true, write: true });
            chargen.received(&[1; 5000], now, &moment());
            stream.extend(drain(&mut chargen, now));
        }
        // RFC 864, "Data Syntax": 72 printing characters a line, each line one character further.
        assert!(stream.starts_with(b" !\"#$%&'()*+,-./0123456789:;<=>?@ABC"));
        for (number, line) in stream.chunks(74).enumerate() {
            assert_eq!(line[0], b' ' + (number % 95) as u8);
            assert_eq!(&line[72..], b"\r\n");
        }
        assert!(stream.starts_with(characters(500)));
        chargen.received_end(now, &moment());
        drain(&mut chargen, now);
        assert_eq!(chargen.wish(), Wish::Close(End::Orderly));
    }

    #[test]
    fn silent_client_is_closed_sooner_when_stopping() {
        let now = Instant::now();
        let mut discard = begin(&Discard, now);
        let later = now + Duration::from_secs(50);
        discard.received(b"x", later, &moment());
        assert_eq!(discard.deadline(&LIMITS), later + LIMITS.idle);
        discard.check(now + LIMITS.idle, &moment(), &LIMITS);
        assert_eq!(discard.wish(), READ);
        discard.stop(later);
        assert_eq!(discard.deadline(&LIMITS), later + Limits::LAST_REQUEST);
        discard.check(later + Limits::LAST_REQUEST, &moment(), &LIMITS);
        assert_eq!(discard.wish(), Wish::HangUp);
    }

    #[test]
    fn client_that_does_not_read_is_closed() {
        let now = Instant::now();
        let mut echo = begin(&Echo, now);
        echo.received(b"hello", now, &moment());
        echo.check(now + LIMITS.idle, &moment(), &LIMITS);
        assert_eq!(echo.wish(), Wish::Close(End::TimedOut));
    }
}
