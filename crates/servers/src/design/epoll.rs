//! Event loops on readiness (epoll(7)): one thread carries thousands of
//! connections, as many threads as there are workers.

use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec};
use tcplab_units::ServerDesign;

use super::event_loops;
use crate::calendar::Clock;
use crate::context::{Observer, ServerContext, Stopping};
use crate::conversation::{Conversation, End};
use crate::counters::{Count, Slot};
use crate::error::ServeError;
use crate::listener::{AcceptResult, Listener, Pause};
use crate::pump::{self, Moved, Now, has_unread};

/// Names of what is watched, above all connections.
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const MAILBOX: u64 = u64::MAX - 2;
/// Events per `epoll_wait`.
const EVENTS: usize = 256;
/// Connections accepted in a row before the connected clients get their turn.
const ACCEPTED: usize = 64;
/// A worker keeps what it accepts until it has so many connections more than another: handing over
/// costs a wake-up.
const SLACK: usize = 2;

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: &Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let refused =
        |source: std::io::Error| ServeError::Design { design: ServerDesign::Epoll, source };
    let mailboxes: Vec<Mailbox> = (0..context.config.workers)
        .map(|_| Mailbox::new())
        .collect::<Result<_, _>>()
        .map_err(|error| refused(error.into()))?;
    let open = |number| Ok(Worker::new(context, listener, &mailboxes, number)?);
    event_loops::run(context, observer, open, |worker| {
        worker.work();
        Ok(())
    })
}

/// Where a worker finds connections that another one has accepted for it.
struct Mailbox {
    sockets: Mutex<Vec<OwnedFd>>,
    wake_up: OwnedFd,
    /// Connections that the worker has, with those in the box.
    load: AtomicUsize,
}

impl Mailbox {
    fn new() -> rustix::io::Result<Mailbox> {
        let wake_up = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Mailbox { sockets: Mutex::default(), wake_up, load: AtomicUsize::new(0) })
    }

    fn post(&self, socket: OwnedFd) {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        let _ = rustix::io::write(&self.wake_up, &1_u64.to_ne_bytes());
    }

    fn empty(&self) -> Vec<OwnedFd> {
        let _ = rustix::io::read(&self.wake_up, &mut [0; 8]);
        std::mem::take(&mut *self.sockets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Connection {
    socket: OwnedFd,
    conversation: Conversation,
    /// The events that epoll reports for it.
    watched: EventFlags,
}

struct Worker<'a> {
    context: &'a ServerContext<'a>,
    listener: &'a Listener,
    mailboxes: &'a [Mailbox],
    own: &'a Mailbox,
    slot: Slot<'a>,
    epoll: OwnedFd,
    connections: Vec<Option<Connection>>,
    /// Places in `connections` that are free.
    free: Vec<usize>,
    /// Connections that can go on at once.
    again: Vec<usize>,
    buffer: Vec<u8>,
    clock: Clock,
    is_watching_listener: bool,
    pause: Pause,
    swept: Instant,
    stopping: Option<Stopping>,
}

impl<'a> Worker<'a> {
    fn new(
        context: &'a ServerContext<'a>,
        listener: &'a Listener,
        mailboxes: &'a [Mailbox],
        number: usize,
    ) -> rustix::io::Result<Worker<'a>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let own = &mailboxes[number];
        epoll::add(&epoll, context.stop, EventData::new_u64(STOP), EventFlags::IN)?;
        epoll::add(&epoll, own.wake_up.as_fd(), EventData::new_u64(MAILBOX), EventFlags::IN)?;
        let mut worker = Worker {
            context,
            listener,
            mailboxes,
            own,
            slot: context.counters.slot(number),
            epoll,
            connections: Vec::new(),
            free: Vec::new(),
            again: Vec::new(),
            buffer: vec![0; pump::PIECE],
            clock: Clock::new(),
            is_watching_listener: false,
            pause: Pause::default(),
            swept: Instant::now(),
            stopping: None,
        };
        worker.watch_listener(true);
        Ok(worker)
    }

    fn work(mut self) {
        let mut events =
            vec![Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
        while !self.is_done() {
            let timeout = self.timeout();
            let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
            // A signal, or no memory for a moment: epoll reports what is ready the next time.
            let count = epoll::wait(&self.epoll, &mut events[..], Some(&timeout)).unwrap_or(0);
            for index in std::mem::take(&mut self.again) {
                self.turn(index, true);
            }
            for event in &events[..count] {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    STOP => self.begin_to_stop(),
                    MAILBOX => {
                        for socket in self.own.empty() {
                            self.admit(socket);
                        }
                    }
                    index => {
                        let flags = EventFlags::IN | EventFlags::HUP | EventFlags::ERR;
                        let ready = event.flags;
                        self.turn(index as usize, ready.intersects(flags));
                    }
                }
            }
            self.sweep();
        }
        self.leave();
    }

    /// How long nothing has to be done.
    fn timeout(&self) -> Duration {
        if self.again.is_empty() { self.period() } else { Duration::ZERO }
    }

    /// How often to check for connections that exceed a limit.
    fn period(&self) -> Duration {
        self.context.sweep_period(self.stopping.is_some())
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED {
            if !self.context.reserve(self.slot) {
                self.watch_listener(false);
                return;
            }
            match self.listener.accept() {
                AcceptResult::Connection(socket) => {
                    self.pause.succeeded();
                    self.slot.accepted();
                    self.hand_out(socket);
                    if let Some(stopping) = &mut self.stopping {
                        stopping.latest = Instant::now();
                    }
                }
                AcceptResult::NoneWaiting => return self.slot.give_back(1),
                AcceptResult::Exhausted => {
                    self.slot.give_back(1);
                    self.slot.add(Count::Exhausted, 1);
                    self.pause.failed(Instant::now());
                    self.watch_listener(false);
                    return;
                }
            }
        }
    }

    /// Gives a connection to the worker with the fewest, if that has clearly fewer than this one.
    fn hand_out(&mut self, socket: OwnedFd) {
        let load = |mailbox: &Mailbox| mailbox.load.load(Ordering::Relaxed);
        let least = self.mailboxes.iter().min_by_key(|mailbox| load(mailbox)).unwrap_or(self.own);
        // Another one may be done already, once the server is stopping.
        if self.stopping.is_none() && load(least) + SLACK <= load(self.own) {
            least.load.fetch_add(1, Ordering::Relaxed);
            least.post(socket);
        } else {
            self.own.load.fetch_add(1, Ordering::Relaxed);
            self.admit(socket);
        }
    }

    /// Begins the conversation.
    fn admit(&mut self, socket: OwnedFd) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let watched = EventFlags::IN;
        let data = EventData::new_u64(index as u64);
        if epoll::add(&self.epoll, socket.as_fd(), data, watched).is_err() {
            // No memory, or fs.epoll.max_user_watches.
            self.free.push(index);
            self.own.load.fetch_sub(1, Ordering::Relaxed);
            self.slot.add(Count::Exhausted, 1);
            self.slot.ended(End::Broken);
            return;
        }
        let session = self.context.service.open();
        let conversation = Conversation::begin(session, Instant::now(), self.clock.moment());
        self.connections[index] = Some(Connection { socket, conversation, watched });
        // Most clients send at once, so there is something to read already.
        self.turn(index, true);
    }

    /// Moves a connection on. A mistake in what is served ends the connection, not the server.
    fn turn(&mut self, index: usize, is_readable: bool) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let now = Now { instant: Instant::now(), moment: self.clock.moment() };
        let is_stopping = self.stopping.is_some();
        let (buffer, slot) = (&mut self.buffer, self.slot);
        let moved = catch_unwind(AssertUnwindSafe(|| {
            let Connection { socket, conversation, .. } = connection;
            if is_stopping {
                conversation.stop(now.instant);
            }
            if is_readable {
                pump::read(conversation, socket.as_fd(), buffer, now, slot);
            }
            pump::write(conversation, socket.as_fd(), now, slot)
        }));
        match moved.unwrap_or(Moved::Over(End::Broken)) {
            Moved::Over(end) => self.dismiss(index, end),
            Moved::Again => self.again.push(index),
            Moved::Waits { read, write } => self.watch(index, read, write),
        }
    }

    /// Has epoll report what a connection waits for.
    fn watch(&mut self, index: usize, read: bool, write: bool) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, read);
        flags.set(EventFlags::OUT, write);
        if flags == connection.watched {
            return;
        }
        connection.watched = flags;
        let data = EventData::new_u64(index as u64);
        if epoll::modify(&self.epoll, connection.socket.as_fd(), data, flags).is_err() {
            self.dismiss(index, End::Broken);
        }
    }

    fn dismiss(&mut self, index: usize, end: End) {
        if self.connections[index].take().is_some() {
            self.free.push(index);
            self.own.load.fetch_sub(1, Ordering::Relaxed);
            self.slot.ended(end);
        }
    }

    /// Checks all connections periodically for timeouts.
    fn sweep(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.swept) < self.period() {
            return;
        }
        self.swept = now;
        if !self.is_watching_listener && self.pause.left(now).is_none() && self.context.has_room() {
            self.watch_listener(true);
        }
        let is_cut = self.stopping.as_ref().is_some_and(|it| it.drain.is_over(self.context.stop));
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else { continue };
            let moment = self.clock.moment();
            let cut = is_cut.then(|| has_unread(connection.socket.as_fd()));
            if connection.conversation.look(cut, now, moment, self.context.limits()) {
                self.turn(index, false);
            }
        }
    }

    /// Whether epoll reports new connections: the kernel wakes one worker for each.
    fn watch_listener(&mut self, there: bool) {
        if there == self.is_watching_listener {
            return;
        }
        let listener = self.listener.as_fd();
        let done = if there {
            let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
            epoll::add(&self.epoll, listener, EventData::new_u64(LISTENER), flags)
        } else {
            epoll::delete(&self.epoll, listener)
        };
        if done.is_ok() {
            self.is_watching_listener = there;
        }
    }

    fn begin_to_stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        // It stays readable, and is no news any more.
        let _ = epoll::delete(&self.epoll, self.context.stop);
        self.listener.close_to_new();
        self.stopping = Some(Stopping::begin(self.context.limits()));
        for index in 0..self.connections.len() {
            self.turn(index, false);
        }
    }

    /// Whether the last connection is closed and accepting has ended, or time is over.
    fn is_done(&self) -> bool {
        let Some(stopping) = &self.stopping else { return false };
        let is_empty =
            self.free.len() == self.connections.len() && self.own.load.load(Ordering::Relaxed) == 0;
        let is_over = stopping.drain.is_over(self.context.stop);
        let is_quiet =
            self.is_watching_listener && stopping.latest.elapsed() >= Listener::LATE_HANDSHAKES;
        is_over || is_empty && is_quiet
    }

    fn leave(mut self) {
        for socket in self.own.empty() {
            drop(socket);
            self.slot.ended(End::Cut);
        }
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else { continue };
            connection.conversation.cut(has_unread(connection.socket.as_fd()));
            self.turn(index, false);
        }
    }
}
