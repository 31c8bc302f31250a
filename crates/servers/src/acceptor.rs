//! Accepts one connection after the other, for the designs without an event loop.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::context::{Drain, Observer, ServerContext, wait};
use crate::counters::{Count, Slot};
use crate::error::{ServeError, system};
use crate::listener::{AcceptResult, Listener, Pause};

/// Waits at the listening socket, and for the request to stop.
pub(crate) struct Acceptor<'a> {
    context: &'a ServerContext<'a>,
    listener: Listener,
    slot: Slot<'a>,
    epoll: OwnedFd,
    pause: Pause,
}

/// What happened while it waited.
pub(crate) enum AcceptEvent {
    /// A connection was accepted.
    Connection(OwnedFd),
    /// No connection within the time limit.
    Idle,
    /// The server is asked to stop.
    Stop,
}

const LISTENER: u64 = 0;
const STOP: u64 = 1;

impl<'a> Acceptor<'a> {
    pub(crate) fn new(
        context: &'a ServerContext<'a>,
        listener: Listener,
        slot: Slot<'a>,
    ) -> Result<Acceptor<'a>, ServeError> {
        let epoll = watch(context, &listener).map_err(system("watch the listening socket"))?;
        Ok(Acceptor { context, listener, slot, epoll, pause: Pause::default() })
    }

    /// Waits for a connection, up to a time limit.
    pub(crate) fn next(&mut self) -> AcceptEvent {
        /// Until a connection has ended.
        const FULL: Duration = Duration::from_millis(5);
        let paused = self.pause.left(Instant::now());
        if paused.is_some() || !self.context.has_room() {
            let mut fds = [PollFd::new(self.context.stop, PollFlags::IN)];
            wait(&mut fds, paused.unwrap_or(FULL).min(Observer::TICK));
            return if fds[0].revents().is_empty() { AcceptEvent::Idle } else { AcceptEvent::Stop };
        }
        let mut events =
            [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 2];
        let longest = Observer::TICK.subsec_nanos().into();
        let timeout = Timespec { tv_sec: 0, tv_nsec: longest };
        let count = match epoll::wait(&self.epoll, &mut events, Some(&timeout)) {
            Ok(count) => count,
            Err(error) => {
                if error != Errno::INTR {
                    self.pause.failed(Instant::now());
                }
                return AcceptEvent::Idle;
            }
        };
        if events[..count].iter().any(|event| event.data.u64() == STOP) {
            return AcceptEvent::Stop;
        }
        if count == 0 {
            AcceptEvent::Idle
        } else {
            self.accept().map_or(AcceptEvent::Idle, AcceptEvent::Connection)
        }
    }

    fn accept(&mut self) -> Option<OwnedFd> {
        if !self.context.reserve(self.slot) {
            return None;
        }
        match self.listener.accept() {
            AcceptResult::Connection(socket) => {
                self.pause.succeeded();
                self.slot.accepted();
                Some(socket)
            }
            AcceptResult::NoneWaiting => {
                self.slot.give_back(1);
                None
            }
            AcceptResult::Exhausted => {
                self.slot.give_back(1);
                self.pause.failed(Instant::now());
                self.slot.add(Count::Exhausted, 1);
                None
            }
        }
    }

    /// Pauses: something else than accepting failed, and would fail again at once.
    pub(crate) fn pause(&mut self) {
        self.pause.failed(Instant::now());
        self.slot.add(Count::Exhausted, 1);
    }

    /// Refuses new connections. Those in the kernel's queue are still [accepted](Self::rest).
    pub(crate) fn close_to_new(&self) {
        self.listener.close_to_new();
    }

    /// The next connection of the kernel's queue; none when it is empty or time is over.
    pub(crate) fn rest(&mut self, drain: &Drain) -> Option<OwnedFd> {
        loop {
            if drain.is_over(self.context.stop) {
                return None;
            }
            if let Some(left) = self.pause.left(Instant::now()) {
                std::thread::sleep(left);
            } else if !self.context.has_room() {
                std::thread::sleep(Duration::from_millis(5));
            } else if let Some(socket) = self.accept() {
                return Some(socket);
            } else if self.pause.left(Instant::now()).is_none() {
                let mut fds = [PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN)];
                wait(&mut fds, Listener::LATE_HANDSHAKES);
                if fds[0].revents().is_empty() {
                    return None;
                }
            }
        }
    }
}

/// Watches the listener and the request to stop. The kernel wakes one of several watchers.
fn watch(context: &ServerContext<'_>, listener: &Listener) -> Result<OwnedFd, Errno> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
    epoll::add(&epoll, listener.as_fd(), EventData::new_u64(LISTENER), flags)?;
    epoll::add(&epoll, context.stop, EventData::new_u64(STOP), EventFlags::IN)?;
    Ok(epoll)
}
