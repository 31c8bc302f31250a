//! Carrying one connection until it is over, and nothing else meanwhile: what a process or a thread
//! of its own does.

use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::calendar::Clock;
use crate::context::{Drain, ServerContext, wait};
use crate::conversation::{Conversation, End, until};
use crate::counters::Slot;
use crate::pump::{self, Moved, Now};

/// Who carries: its buffer and its clock, for one connection after the other.
pub(crate) struct Carrier {
    buffer: Vec<u8>,
    clock: Clock,
    /// Set once the server is asked to stop.
    drain: Option<Drain>,
}

impl Carrier {
    pub(crate) fn new() -> Carrier {
        Carrier { buffer: vec![0; pump::PIECE], clock: Clock::new(), drain: None }
    }

    /// Carries a connection that was just accepted. `tick` is called now and then.
    ///
    /// A mistake in what is served ends the connection, not the server.
    pub(crate) fn carry(
        &mut self,
        context: &ServerContext<'_>,
        socket: &OwnedFd,
        slot: Slot<'_>,
        tick: &mut dyn FnMut(),
    ) {
        let carried = AssertUnwindSafe(|| self.carry_on(context, socket, slot, tick));
        slot.ended(catch_unwind(carried).unwrap_or(End::Broken));
    }

    fn carry_on(
        &mut self,
        context: &ServerContext<'_>,
        socket: &OwnedFd,
        slot: Slot<'_>,
        tick: &mut dyn FnMut(),
    ) -> End {
        let session = context.service.open();
        let mut conversation = Conversation::begin(session, Instant::now(), self.clock.moment());
        let mut is_readable = false;
        loop {
            let now = Now { instant: Instant::now(), moment: self.clock.moment() };
            if let Some(drain) = &self.drain {
                conversation.stop(now.instant);
                if drain.is_over(context.stop) {
                    conversation.cut(pump::has_unread(socket.as_fd()));
                }
            }
            if is_readable {
                pump::read(&mut conversation, socket.as_fd(), &mut self.buffer, now, slot);
            }
            conversation.check(now.instant, now.moment, context.limits());
            match pump::write(&mut conversation, socket.as_fd(), now, slot) {
                Moved::Over(end) => return end,
                Moved::Again => is_readable = true,
                Moved::Waits { read, write } => {
                    let deadline = conversation.deadline(context.limits());
                    let longest = until(deadline, now.instant);
                    is_readable = self.wait(context, socket, (read, write), longest);
                }
            }
            tick();
        }
    }

    /// Waits for the socket; whether it may be read. Notices the wish to stop.
    fn wait(
        &mut self,
        context: &ServerContext<'_>,
        socket: &OwnedFd,
        (read, write): (bool, bool),
        longest: Duration,
    ) -> bool {
        /// While the server is stopping, and when an observer waits for a report.
        const LONGEST: Duration = Duration::from_millis(200);
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, read);
        flags.set(PollFlags::OUT, write);
        let mut fds = [PollFd::new(socket, flags), PollFd::new(context.stop, PollFlags::IN)];
        // Once it is known, the wish to stop is no news.
        let count = if self.drain.is_some() { 1 } else { 2 };
        wait(&mut fds[..count], longest.min(LONGEST));
        if !fds[1].revents().is_empty() {
            self.note_stop(context);
        }
        let ready = fds[0].revents();
        ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
    }

    /// Whether the wish to stop was noticed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.drain.is_some()
    }

    /// From now on connections are finished instead of carried on.
    pub(crate) fn note_stop(&mut self, context: &ServerContext<'_>) {
        self.drain.get_or_insert_with(|| Drain::begin(context.limits()));
    }
}
