//! Accepting one connection after the other: what the designs without an event loop begin with.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::counters::{Count, Slot};
use crate::door::{Door, Knock, Pause};
use crate::error::{ServeError, system};
use crate::hall::{Drain, Hall, Watch, wait};

/// Who stands at the door.
pub(crate) struct Entrance<'a> {
    hall: &'a Hall<'a>,
    door: Door,
    slot: Slot<'a>,
    epoll: OwnedFd,
    pause: Pause,
}

/// What happened at the door.
pub(crate) enum Next {
    /// Somebody came.
    Came(OwnedFd),
    /// Nobody, for a while.
    Nobody,
    /// The server is asked to stop.
    Stop,
}

const DOOR: u64 = 0;
const STOP: u64 = 1;

impl<'a> Entrance<'a> {
    pub(crate) fn new(
        hall: &'a Hall<'a>,
        door: Door,
        slot: Slot<'a>,
    ) -> Result<Entrance<'a>, ServeError> {
        let epoll = watch(hall, &door).map_err(system("watch the listening socket"))?;
        Ok(Entrance { hall, door, slot, epoll, pause: Pause::default() })
    }

    /// Waits for a connection, for a while.
    pub(crate) fn next(&mut self) -> Next {
        /// Until a place has become free.
        const FULL: Duration = Duration::from_millis(5);
        let paused = self.pause.left(Instant::now());
        if paused.is_some() || !self.hall.has_room() {
            let mut fds = [PollFd::new(self.hall.stop, PollFlags::IN)];
            wait(&mut fds, paused.unwrap_or(FULL).min(Watch::TICK));
            return if fds[0].revents().is_empty() { Next::Nobody } else { Next::Stop };
        }
        let mut events =
            [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 2];
        let longest = Watch::TICK.subsec_nanos().into();
        let timeout = Timespec { tv_sec: 0, tv_nsec: longest };
        let count = match epoll::wait(&self.epoll, &mut events, Some(&timeout)) {
            Ok(count) => count,
            Err(error) => {
                if error != Errno::INTR {
                    self.pause.failed(Instant::now());
                }
                return Next::Nobody;
            }
        };
        if events[..count].iter().any(|event| event.data.u64() == STOP) {
            return Next::Stop;
        }
        if count == 0 { Next::Nobody } else { self.accept().map_or(Next::Nobody, Next::Came) }
    }

    fn accept(&mut self) -> Option<OwnedFd> {
        match self.door.accept() {
            Knock::Came(socket) => {
                self.pause.succeeded();
                self.slot.accepted();
                Some(socket)
            }
            Knock::Nobody => None,
            Knock::Exhausted => {
                self.pause.failed(Instant::now());
                self.slot.add(Count::Exhausted, 1);
                None
            }
        }
    }

    /// Something else than accepting failed, and will again if it is tried at once.
    pub(crate) fn pause(&mut self) {
        self.pause.failed(Instant::now());
        self.slot.add(Count::Exhausted, 1);
    }

    /// Lets nobody new come. Those who wait are to be [finished](Self::rest).
    pub(crate) fn close_to_new(&self) {
        self.door.close_to_new();
    }

    /// The next of those who still wait; none when there are no more, or no time.
    pub(crate) fn rest(&mut self, drain: &Drain) -> Option<OwnedFd> {
        loop {
            if drain.is_over(self.hall.stop) {
                return None;
            }
            if let Some(left) = self.pause.left(Instant::now()) {
                std::thread::sleep(left);
            } else if !self.hall.has_room() {
                std::thread::sleep(Duration::from_millis(5));
            } else if let Some(socket) = self.accept() {
                return Some(socket);
            } else if self.pause.left(Instant::now()).is_none() {
                let mut fds = [PollFd::from_borrowed_fd(self.door.as_fd(), PollFlags::IN)];
                wait(&mut fds, Door::LATECOMERS);
                if fds[0].revents().is_empty() {
                    return None;
                }
            }
        }
    }
}

/// Watches the door and the wish to stop. Of several who watch the same door, one is told.
fn watch(hall: &Hall<'_>, door: &Door) -> Result<OwnedFd, Errno> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
    epoll::add(&epoll, door.as_fd(), EventData::new_u64(DOOR), flags)?;
    epoll::add(&epoll, hall.stop, EventData::new_u64(STOP), EventFlags::IN)?;
    Ok(epoll)
}
