//! Event loops on completion (io_uring(7)): what is to be accepted,
//! received and sent is put into a queue, and one system call hands over all of it and waits for
//! results. As many threads as there are workers.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::Shutdown;
use tcplab_units::ServerDesign;

use super::event_loops;
use crate::calendar::Clock;
use crate::context::{Observer, ServerContext, Stopping};
use crate::conversation::{Conversation, End, Wish};
use crate::counters::{Count, Slot};
use crate::error::ServeError;
use crate::listener::{Listener, Pause, is_passing};
use crate::pump::{end_of, has_unread};
use crate::sys::{Chunk, Done, Ring};

/// Connections that a worker is ready to accept at once.
const ACCEPTS: usize = 16;
/// Bytes of a file that are read at once: io_uring has no `sendfile`.
const FILE_PIECE: u64 = 128 << 10;

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: &Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let refused = |source: io::Error| ServeError::Design { design: ServerDesign::IoUring, source };
    // Of a socket that does not block, io_uring asks once and does not wait.
    rustix::io::ioctl_fionbio(listener, false).map_err(|error| refused(error.into()))?;
    let open = |number| Worker::new(context, listener, number);
    event_loops::run(context, observer, open, Worker::work)
}

struct Connection {
    socket: OwnedFd,
    conversation: Conversation,
    is_receiving: bool,
    /// Bytes of the operation that sends, none when there is none.
    sending: usize,
    /// It is to be closed once its operations are done.
    is_over: bool,
}

struct Worker<'a> {
    context: &'a ServerContext<'a>,
    listener: &'a Listener,
    slot: Slot<'a>,
    ring: Ring,
    connections: Vec<Option<Connection>>,
    /// Places in `connections` that are free.
    free: Vec<usize>,
    /// Connections that this worker is ready to accept.
    accepts: usize,
    clock: Clock,
    pause: Pause,
    swept: Instant,
    stopping: Option<Stopping>,
}

impl<'a> Worker<'a> {
    fn new(
        context: &'a ServerContext<'a>,
        listener: &'a Listener,
        number: usize,
    ) -> io::Result<Worker<'a>> {
        let mut ring = Ring::new()?;
        ring.poll(context.stop.as_fd());
        Ok(Worker {
            context,
            listener,
            slot: context.counters.slot(number),
            ring,
            connections: Vec::new(),
            free: Vec::new(),
            accepts: 0,
            clock: Clock::new(),
            pause: Pause::default(),
            swept: Instant::now(),
            stopping: None,
        })
    }

    fn work(mut self) -> io::Result<()> {
        while !self.is_done() {
            self.watch_listener();
            self.ring.wait(self.period())?;
            let now = Instant::now();
            while let Some(done) = self.ring.next() {
                match done {
                    Done::Accepted(result) => self.accepted(result),
                    Done::Received(index, result) => self.received(index, result, now),
                    Done::Sent(index, result) => self.sent(index, result, now),
                    Done::Ready => self.begin_to_stop(),
                }
            }
            self.sweep(now);
        }
        self.leave();
        Ok(())
    }

    /// How often to check for connections that exceed a limit.
    fn period(&self) -> Duration {
        self.context.sweep_period(self.stopping.is_some())
    }

    /// Is ready to accept, if there is room.
    fn watch_listener(&mut self) {
        if self.pause.left(Instant::now()).is_some() {
            return;
        }
        // A worker leaves the others their share of the places.
        let share = self.context.limits().connections / self.context.config.workers;
        while self.accepts < ACCEPTS.min(share.max(1)) && self.context.reserve(self.slot) {
            self.ring.accept(self.listener.as_fd());
            self.accepts += 1;
        }
    }

    fn accepted(&mut self, result: io::Result<OwnedFd>) {
        self.accepts -= 1;
        let socket = match result {
            Ok(socket) => socket,
            Err(error) => {
                self.slot.give_back(1);
                if !Errno::from_io_error(&error).is_some_and(is_passing) {
                    self.slot.add(Count::Exhausted, 1);
                    self.pause.failed(Instant::now());
                }
                return;
            }
        };
        self.pause.succeeded();
        self.slot.accepted();
        if let Some(stopping) = &mut self.stopping {
            stopping.latest = Instant::now();
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let session = self.context.service.open();
        let now = Instant::now();
        let mut conversation = Conversation::begin(session, now, self.clock.moment());
        if self.stopping.is_some() {
            conversation.stop(now);
        }
        let connection =
            Connection { socket, conversation, is_receiving: false, sending: 0, is_over: false };
        self.connections[index] = Some(connection);
        self.turn(index, now);
    }

    fn received(&mut self, index: usize, result: io::Result<Option<Chunk>>, now: Instant) {
        let connection = self.connections[index].as_mut().expect("it waits for this");
        connection.is_receiving = false;
        let conversation = &mut connection.conversation;
        let moment = self.clock.moment();
        match result {
            Ok(Some(chunk)) => {
                let bytes = self.ring.bytes(&chunk);
                self.slot.add(Count::Received, bytes.len() as u64);
                // A mistake in what is served ends the connection, not the server.
                let taken =
                    catch_unwind(AssertUnwindSafe(|| conversation.received(bytes, now, moment)));
                if taken.is_err() {
                    conversation.fail(End::Broken);
                }
                self.ring.give_back(chunk);
            }
            Ok(None) => conversation.received_end(now, moment),
            // All buffers are in use for a moment; or a signal came.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => {}
                Some(errno) => conversation.fail(end_of(errno)),
                None => conversation.fail(End::Broken),
            },
        }
        self.turn(index, now);
    }

    fn sent(&mut self, index: usize, result: io::Result<usize>, now: Instant) {
        let connection = self.connections[index].as_mut().expect("it waits for this");
        let length = std::mem::take(&mut connection.sending);
        let conversation = &mut connection.conversation;
        match result {
            Ok(count) => {
                self.slot.add(Count::Sent, count as u64);
                if count == length {
                    let moment = self.clock.moment();
                    conversation.sent(now, moment);
                } else {
                    // All was to be sent: the next call reports the error that stopped it.
                    conversation.fail(End::Reset);
                }
            }
            Err(error) => {
                conversation.fail(Errno::from_io_error(&error).map_or(End::Broken, end_of));
            }
        }
        self.turn(index, now);
    }

    /// Asks for what the connection wishes.
    fn turn(&mut self, index: usize, now: Instant) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let (requests, refusals) = connection.conversation.output().take_counts();
        self.slot.add(Count::Requests, requests);
        self.slot.add(Count::Refused, refusals);
        if connection.conversation.wish() == Wish::HangUp && connection.sending == 0 {
            if rustix::net::shutdown(&connection.socket, Shutdown::Write).is_err() {
                connection.conversation.fail(End::Reset);
            }
            connection.conversation.hung_up(now);
        }
        match connection.conversation.wish() {
            Wish::Go { read, write } => {
                if write && connection.sending == 0 {
                    let bytes = piece(&mut connection.conversation);
                    if bytes.is_empty() {
                        connection.conversation.fail(End::Broken);
                        return self.turn(index, now);
                    }
                    connection.sending = bytes.len();
                    self.ring.send(connection.socket.as_fd(), index, bytes);
                }
                if read && !connection.is_receiving {
                    connection.is_receiving = true;
                    self.ring.receive(connection.socket.as_fd(), index);
                }
            }
            // What is being sent comes first.
            Wish::HangUp => {}
            Wish::Close(End::Orderly) if connection.sending > 0 => {}
            Wish::Close(end) => self.dismiss(index, end),
        }
    }

    /// Closes a connection, at once or when its operations are done, which this brings about.
    fn dismiss(&mut self, index: usize, end: End) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        if !std::mem::replace(&mut connection.is_over, true) {
            self.slot.ended(end);
        }
        if connection.is_receiving || connection.sending > 0 {
            let _ = rustix::net::shutdown(&connection.socket, Shutdown::Both);
        } else {
            self.connections[index] = None;
            self.free.push(index);
        }
    }

    /// Checks all connections periodically for timeouts.
    fn sweep(&mut self, now: Instant) {
        if now.duration_since(self.swept) < self.period() {
            return;
        }
        self.swept = now;
        let is_cut = self.stopping.as_ref().is_some_and(|it| it.drain.is_over(self.context.stop));
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else { continue };
            let moment = self.clock.moment();
            let cut = is_cut.then(|| has_unread(connection.socket.as_fd()));
            if connection.conversation.look(cut, now, moment, self.context.limits()) {
                self.turn(index, now);
            }
        }
    }

    fn begin_to_stop(&mut self) {
        self.listener.close_to_new();
        let stopping = self.stopping.insert(Stopping::begin(self.context.limits()));
        for connection in self.connections.iter_mut().flatten() {
            connection.conversation.stop(stopping.latest);
        }
    }

    /// Whether the last connection is closed and accepting has ended, or time is over.
    fn is_done(&self) -> bool {
        let Some(stopping) = &self.stopping else { return false };
        let is_empty = self.free.len() == self.connections.len();
        let is_quiet = self.accepts > 0 && stopping.latest.elapsed() >= Listener::LATE_HANDSHAKES;
        stopping.drain.is_over(self.context.stop) || is_empty && is_quiet
    }

    fn leave(mut self) {
        self.slot.give_back(self.accepts);
        for connection in self.connections.iter_mut().flatten().filter(|it| !it.is_over) {
            connection.conversation.cut(has_unread(connection.socket.as_fd()));
            if let Wish::Close(end) = connection.conversation.wish() {
                self.slot.ended(end);
            }
        }
    }
}

/// What is to be sent next: bytes, with the beginning of the file that follows them.
fn piece(conversation: &mut Conversation) -> Cow<'static, [u8]> {
    let bytes = conversation.take();
    let Some(part) = conversation.output().file() else { return bytes };
    let mut bytes = bytes.into_owned();
    let from = bytes.len();
    let length = part.left().min(FILE_PIECE) as usize;
    bytes.resize(from + length, 0);
    let mut read = 0;
    while read < length {
        match rustix::io::pread(part, &mut bytes[from + read..], part.offset() + read as u64) {
            Ok(count @ 1..) => read += count,
            Err(Errno::INTR) => {}
            // It has become shorter than was promised: nothing can make up for that.
            Ok(0) | Err(_) => return Cow::default(),
        }
    }
    conversation.output().file_sent(length as u64);
    Cow::Owned(bytes)
}
